"""Re-scoring very many figures from an index of their numbers, without reading the receipts again.

A replay looks at everything a receipt says. An index holds a few numbers of each rung, and that is enough for the rules
that most histories have: parity bars, a frontier of main's figures, a significant share, a denominator that is a
number, a cap, bands. `needs_replay` says what else a rule asks for; such a rule needs `ledger.scoring.replay`.

The labels are those of a replay, exactly. Numbers are compared as doubles, and whenever a comparison is closer than
doubles can tell, the exact values are fetched and `ledger.scoring.tier` decides.
"""

from __future__ import annotations

from bisect import bisect
from itertools import accumulate, islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from ledger.scoring.tier import NONE, Number, judge_gain, read_bands, reader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from fractions import Fraction

    from ledger.rule import Rule

    Exact: TypeAlias = Callable[[int], "ExactRow"]

INFINITE = float("inf")
_CHUNK = 2048
DOUBT = 1e-9
"""Distance below which doubles do not decide: shares of about 1 are right to 1e-15, four operations later to 1e-14."""


class Columns(NamedTuple):
    """Numbers of one slot's rungs as doubles, in the order of the receipts; none where a receipt has no such number.

    Attributes:
        at: name of the row, by which exact numbers are fetched; the index of its receipt.
        value: candidate's figure.
        base: what it is held against at least: main's figure in the same session, or the frontier that was recorded.
        kl: worst KL.
        top1: worst top-1.
    """

    at: Sequence[int]
    value: Sequence[float]
    base: Sequence[float | None]
    kl: Sequence[float | None]
    top1: Sequence[float | None]


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


def read_columns(rows: Iterator[tuple[int, float, float | None, float | None, float | None]]) -> Columns:
    """Columns from rows in the order of `Columns`, such as a cursor gives them, a few thousand at a time."""
    columns: tuple[list[Any], ...] = ([], [], [], [], [])
    while chunk := [*islice(rows, _CHUNK)]:
        for column, values in zip(columns, zip(*chunk, strict=True), strict=True):
            column.extend(values)
    return Columns(*columns)


def rescore_slot(columns: Columns, rule: Rule, exact: Exact, *, lower: bool = False) -> list[str]:
    """Labels of one slot's rungs under a rule for which `needs_replay` is empty.

    Args:
        columns: the rungs; all of evidence that the rule judges.
        rule: the rule.
        exact: gives the exact numbers of a row.
        lower: whether less is better in this slot.
    """
    return _SlotScorer(columns, rule, exact, lower=lower).run()


class _SlotScorer:
    """Most rungs of most histories are no gain, and a comprehension says so; the others are looked at one by one."""

    def __init__(self, columns: Columns, rule: Rule, exact: Exact, *, lower: bool) -> None:
        self._columns = columns
        self._rule = rule
        self._exact = exact
        self._lower = lower
        self._read = reader(rule.numbers)
        self._bands = read_bands(rule)
        self._share = float(self._bands.share)
        self._cap = INFINITE if self._bands.cap is None else float(self._bands.cap)
        self._edges = [float(edge) for _, edge in reversed(self._bands.bands)]
        self._tiers = [self._bands.floor_tier, *(tier for tier, _ in reversed(self._bands.bands))]
        self._reference: Number | None = None if rule.unattested is None else self._read(rule.unattested)
        self._kl_max = float(rule.parity.kl_max) if rule.parity else INFINITE
        self._top1_min = float(rule.parity.top1_min) if rule.parity else -INFINITE
        self._frontier = list(columns.base) if rule.recorded else self._raise_only()

    def _raise_only(self) -> list[float | None]:
        """The best of main so far, itself included, at every rung that has a main."""
        better: Callable[[float, float], float] = min if self._lower else max
        known = [base for base in self._columns.base if base is not None]
        if len(known) == len(self._columns.base):
            return [*accumulate(known, better)]
        worst = INFINITE if self._lower else -INFINITE
        best = accumulate((worst if base is None else base for base in self._columns.base), better)
        return [None if base is None else so_far for base, so_far in zip(self._columns.base, best, strict=True)]

    def run(self) -> list[str]:
        return [label or self._label(place) for place, label in enumerate(self._plain_labels())]

    def _plain_labels(self) -> list[str]:
        """``none`` for what is surely no gain, and empty for what must be looked at."""
        columns, below = self._columns, 1 + self._share - DOUBT
        if self._lower:
            return [""] * len(columns.at)
        rows = zip(columns.value, self._frontier, strict=True)
        if self._rule.parity is None:
            return [NONE if base and 0 < value < base * below else "" for value, base in rows]
        kl_max, top1_min = self._kl_max - DOUBT, self._top1_min + DOUBT
        return [
            NONE
            if base and 0 < value < base * below and kl is not None and kl < kl_max and top1 and top1 > top1_min
            else ""
            for (value, base), kl, top1 in zip(rows, columns.kl, columns.top1, strict=True)
        ]

    def _label(self, place: int) -> str:
        base = self._frontier[place]
        if base is None:
            return "UNRESOLVED"
        if self._rule.parity is not None:
            failed = self._parity(self._columns.kl[place], self._columns.top1[place], place)
            if failed:
                return failed
        if base <= 0:
            return "BASELINE"
        delta = self._columns.value[place] - base
        gain = (-delta if self._lower else delta) / base
        credited = gain if self._reference is None else gain * base / float(self._reference)
        credited = min(credited, self._cap * gain)
        band = bisect(self._edges, credited - DOUBT)
        if abs(gain - self._share) <= DOUBT or band != bisect(self._edges, credited + DOUBT):
            return self._tier_exactly(place)
        return self._tiers[band] if gain > self._share else NONE

    def _parity(self, kl: float | None, top1: float | None, place: int) -> str:
        """Label of a rung that parity stops; empty for the others."""
        if kl is None or top1 is None:
            return "UNRESOLVED"
        if abs(kl - self._kl_max) > DOUBT and abs(top1 - self._top1_min) > DOUBT:
            return "REJECT" if kl > self._kl_max or top1 < self._top1_min else ""
        row, read, bars = self._exact(self._columns.at[place]), self._read, self._rule.parity
        if bars is None or row.kl is None or row.top1 is None:
            raise AssertionError("an exact row has what its doubles were made of")
        return "REJECT" if read(row.kl) > read(bars.kl_max) or read(row.top1) < read(bars.top1_min) else ""

    def _tier_exactly(self, place: int) -> str:
        value, base = self._exact(self._columns.at[place]).value, self._frontier_exactly(place)
        return judge_gain(self._read(value), self._read(base), self._reference, self._bands, lower=self._lower).tier

    def _frontier_exactly(self, place: int) -> Fraction:
        """The frontier at a rung: of the figures that doubles cannot tell from the best, the best one."""
        near = self._frontier[place]
        if near is None:
            raise AssertionError("asked only of a rung that has a frontier")
        first = place if self._rule.recorded else 0
        figures = [
            self._exact(at).base
            for at, base in zip(self._columns.at[first : place + 1], self._columns.base[first : place + 1], strict=True)
            if base is not None and abs(base - near) <= DOUBT * near
        ]
        known = [figure for figure in figures if figure is not None]
        return min(known) if self._lower else max(known)
