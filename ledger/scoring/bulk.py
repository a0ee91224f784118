"""Re-scoring very many figures from an index of their numbers, without reading the receipts again.

A replay looks at everything a receipt says. An index holds a few numbers of each rung, and that is enough for the rules
that most histories have: parity bars, a frontier of main's figures, a significant share, a denominator that is a
number, a cap, bands. `needs_replay` says what else a rule asks for; such a rule needs `ledger.scoring.replay`.

The labels are those of a replay, exactly. Numbers are compared as doubles, and whenever a comparison is closer than
doubles can tell, the exact values are fetched and `ledger.scoring.tier` decides.
"""

from __future__ import annotations

from bisect import bisect
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from ledger.scoring.tier import NONE, Bands, Number, judge_gain, read_bands, reader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from fractions import Fraction

    from ledger.rule import Rule

    Exact: TypeAlias = Callable[[int], "ExactRow"]

Row: TypeAlias = tuple[int, float, float | None, float | None, float | None]
"""Numbers of a rung as doubles: name of the row, value, base, worst KL, worst top-1; none for what a receipt lacks.

Exact numbers are fetched by the name, the index of the receipt. The value is the candidate's figure. The base is what
it is held against at least: main's figure in the same session, or the frontier that was recorded.
"""

INFINITE = float("inf")
DOUBT = 1e-9
"""Distance below which doubles do not decide: shares of about 1 are right to 1e-15, four operations later to 1e-14."""

FAR = 1e6
"""Frontier, in denominators, from which doubles decide no tier: a small difference has lost too many digits there."""


class ExactRow(NamedTuple):
    """The numbers of a row, exact."""

    value: Fraction
    base: Fraction | None
    kl: Fraction | None
    top1: Fraction | None


def needs_replay(rule: Rule) -> list[str]:
    """Parts of a rule that an index cannot answer; empty when it can be re-scored from one."""
    parts = {
        "guards": bool(rule.guards),
        "noise": rule.noise != "ignored",
        "ratchet": rule.parity is not None and rule.parity.ratchet is not None,
        "parity path": rule.parity is not None and rule.parity.path is not None,
        "parity depths": rule.parity is not None and bool(rule.parity.depths),
        "denominator receipt": rule.reference is not None,
        "plausibility": rule.ceiling is not None or rule.wall_over is not None or rule.wall_under is not None,
        "frontier alarm": rule.alarm is not None,
        "frontier agreement": rule.agree is not None,
        "boost": rule.boost is not None,
    }
    return [name for name, asked in parts.items() if asked]


def rescore_slot(rows: Iterable[Row], rule: Rule, exact: Exact, *, lower: bool = False) -> list[str]:
    """Labels of one slot's rungs under a rule for which `needs_replay` is empty.

    Args:
        rows: the rungs in the order of the receipts, all of evidence that the rule judges; such as a cursor gives them.
        rule: the rule.
        exact: gives the exact numbers of a row; it is asked while `rows` is being read.
        lower: whether less is better in this slot.
    """
    return _SlotScorer(rule, exact, lower=lower).run(rows)


class _Doubles(NamedTuple):
    """A rule's numbers, each so far on the sure side that doubles decide.

    Attributes:
        kl_max: KL below which parity surely holds.
        top1_min: top-1 above which parity surely holds.
        none: values between which there is surely no gain, as multiples of the frontier.
        gain: the same where there surely is one.
        denominator: what a gain is credited over at least; 0 when the rule has none.
        multiple: the same in frontiers: 1 without a denominator, and what a cap makes of it.
        edges: credited gains at which the tier becomes doubtful, sure, doubtful and so on.
        tiers: the tier below, between and above these; empty for a doubtful one.
    """

    kl_max: float
    top1_min: float
    none: tuple[float, float]
    gain: tuple[float, float]
    denominator: float
    multiple: float
    edges: list[float]
    tiers: list[str]


def _read_doubles(rule: Rule, bands: Bands, *, lower: bool) -> _Doubles:
    share, uncapped = float(bands.share), 0.0 if bands.cap is None else 1 / float(bands.cap)
    doubt = DOUBT * (1 + share)
    edges, tiers = _read_steps(bands)
    return _Doubles(
        kl_max=float(rule.parity.kl_max) - DOUBT if rule.parity else INFINITE,
        top1_min=float(rule.parity.top1_min) + DOUBT if rule.parity else -INFINITE,
        none=(1 - share + doubt, INFINITE) if lower else (-INFINITE, 1 + share - doubt),
        gain=(-INFINITE, 1 - share - doubt) if lower else (1 + share + doubt, INFINITE),
        denominator=float(rule.unattested or 0),
        multiple=uncapped if rule.unattested else max(1.0, uncapped),
        edges=edges,
        tiers=tiers,
    )


def _read_steps(bands: Bands) -> tuple[list[float], list[str]]:
    edges, tiers = [], [bands.floor_tier]
    for tier, number in reversed(bands.bands):
        edge = float(number)
        doubt = DOUBT * (1 + edge)
        edges += [edge - doubt, edge + doubt]
        tiers += ["", tier]
    return [*accumulate(edges, max)], tiers  # bands may be closer than a doubt: what is between them is doubtful


class _SlotScorer:
    """One pass over the rows: most are decided on doubles where they are met, the others are looked at one by one.

    Of a row nothing is kept but its label, and its name while its base may be the best: what stays in memory is
    touched again, and costs more than all of the arithmetic.
    """

    def __init__(self, rule: Rule, exact: Exact, *, lower: bool) -> None:
        self._rule = rule
        self._exact = exact
        self._lower = lower
        self._read = reader(rule.numbers)
        self._bands = read_bands(rule)
        self._reference: Number | None = None if rule.unattested is None else self._read(rule.unattested)
        self._best = INFINITE if lower else -INFINITE
        self._near: list[int] = []  # rows whose bases doubles cannot tell from the best, not fetched yet
        self._fetched: list[Fraction] = []  # the best of those that were

    def run(self, rows: Iterable[Row]) -> list[str]:
        """The labels. A frontier of 0 or less makes both intervals of values empty, so that it is looked at."""
        labels: list[str] = []
        doubles = _read_doubles(self._rule, self._bands, lower=self._lower)
        kl_max, top1_min, (none_from, none_to), (gain_from, gain_to), denominator, multiple, edges, tiers = doubles
        recorded, parity = self._rule.recorded, self._rule.parity is not None
        far = FAR * denominator or INFINITE
        best = low = high = 0.0
        stays_from, stays_to = INFINITE, -INFINITE
        for at, value, base, kl, top1 in rows:
            if base is not None and not stays_from <= base <= stays_to:
                if recorded:
                    best = stays_from = stays_to = base
                else:
                    best, stays_from, stays_to = self._raise_frontier(at, base)
                low, high = best * none_from, best * none_to
            label = ""
            if base is None or (parity and (kl is None or top1 is None or kl >= kl_max or top1 <= top1_min)):
                pass  # `_look` says what it lacks, or whether it fails
            elif low < value < high:
                label = NONE
            elif best < far and best * gain_from < value < best * gain_to:
                over = best * multiple
                over = over if over > denominator else denominator  # noqa: FURB136 - a call costs a tenth of this loop
                label = tiers[bisect(edges, abs(value - best) / over)]
            labels.append(label or self._look(at, base, kl, top1))
        return labels

    def _raise_frontier(self, at: int, base: float) -> tuple[float, float, float]:
        """The best of main so far, `base` included, and the bases between which it and the rows near it stay."""
        best = min(base, self._best) if self._lower else max(base, self._best)
        if abs(best - self._best) > DOUBT * abs(best):
            self._near, self._fetched = [], []
        self._near.append(at)
        self._best = best
        return (best, best * (1 + DOUBT), INFINITE) if self._lower else (best, -INFINITE, best * (1 - DOUBT))

    def _look(self, at: int, base: float | None, kl: float | None, top1: float | None) -> str:
        if base is None:
            return "UNRESOLVED"
        stopped = self._parity(at, kl, top1)
        if stopped:
            return stopped
        if (base if self._rule.recorded else self._best) <= 0:
            return "BASELINE"
        return self._tier_exactly(at)

    def _parity(self, at: int, kl: float | None, top1: float | None) -> str:
        """Label of a rung that parity stops; empty for the others."""
        bars, read = self._rule.parity, self._read
        if bars is None:
            return ""
        if kl is None or top1 is None:
            return "UNRESOLVED"
        kl_max, top1_min = float(bars.kl_max), float(bars.top1_min)
        if abs(kl - kl_max) > DOUBT and abs(top1 - top1_min) > DOUBT:
            return "REJECT" if kl > kl_max or top1 < top1_min else ""
        row = self._exact(at)
        fails = read(_known(row.kl)) > read(bars.kl_max) or read(_known(row.top1)) < read(bars.top1_min)
        return "REJECT" if fails else ""

    def _tier_exactly(self, at: int) -> str:
        row = self._exact(at)
        value, base = self._read(row.value), self._read(_known(row.base) if self._rule.recorded else self._frontier())
        return judge_gain(value, base, self._reference, self._bands, lower=self._lower).tier

    def _frontier(self) -> Fraction:
        """The best of main so far: of the figures that doubles cannot tell from the best, the best one."""
        figures = self._fetched + [_known(self._exact(at).base) for at in self._near]
        best = min(figures) if self._lower else max(figures)
        self._near, self._fetched = [], [best]
        return best


def _known(number: Fraction | None) -> Fraction:
    if number is None:
        raise AssertionError("an exact row has what its doubles were made of")
    return number
