"""Whether two sides were measured in turn: base, other, base, other, close to each other, one at a time.

Only then does what drifts over the hours (temperature, other tenants, a cache that fills) fall on both alike.

Starts are whole seconds, so short runs share one. The repetitions of one round have their order from the round. Other
runs are alternated when their starts allow it: what began in one second, in whatever order, met the same conditions.
Then the place in the file decides, and the digest of the file, but never the order in which somebody names the files.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from ledger.metrics import NS_PER_S
from ledger.strict import parse_time

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from ledger.scoring.compare.side import CompareRun

LONGEST_GAP_S = 3600
"""Time between the end of a run and the start of the next above which both are of another hour."""
_CLOCK_NS = NS_PER_S
"""Starts are cut to whole seconds: a run began less than this after what it says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """The runs of both sides in time, as ratios of neighbours, other over base.

    Attributes:
        pairs: of the two runs of each pair, in time order.
        between: of the second run of a pair and the first of the next: the same comparison with the order turned round.
    """

    pairs: tuple[Fraction, ...]
    between: tuple[Fraction, ...]


def order_faults(base: Sequence[CompareRun], other: Sequence[CompareRun]) -> list[tuple[str, str]]:
    """Why the order of two sides confounds them, as codes and sentences; nothing when it does not."""
    silent = [run.name for run in (*base, *other) if not run.started_at]
    if silent:
        return [("E_ORDER_UNKNOWN", f"nobody says when {silent[0]} started: the order of the runs is not known")]
    if len(base) != len(other):
        return [("E_UNPAIRED", f"{len(base)} runs of base and {len(other)} of the other side make no pairs")]
    ordered = _in_turn(base, other)
    if ordered is None:
        word = "".join("O" if timed.is_other else "B" for timed in sorted(_timed(base, other), key=attrgetter("place")))
        return [("E_ORDER_CONFOUNDED", f"the runs are not alternated (B base, O other): {word}")]
    gaps, overlaps, ended = [], [], 0
    for at, (start, _, _, run) in enumerate(ordered):
        before = ordered[at - 1].run.name if at else ""
        if start + _CLOCK_NS <= ended:
            overlaps.append(f"{before} was not done when {run.name} started")
        elif at and start - ended > LONGEST_GAP_S * NS_PER_S:
            gaps.append(f"{(start - ended) // (60 * NS_PER_S)} minutes passed between {before} and {run.name}")
        ended = max(start, ended) + run.wall_ns
    return [(code, _first(found)) for code, found in (("E_OVERLAP", overlaps), ("E_GAP", gaps)) if found]


def _first(said: Sequence[str]) -> str:
    return said[0] + (f", and {len(said) - 1} more like it" if len(said) > 1 else "")


def steps(base: Sequence[tuple[CompareRun, Fraction]], other: Sequence[tuple[CompareRun, Fraction]]) -> Steps:
    """The ratios of neighbours of two sides without `order_faults`, given the value of each run."""
    values = {id(run): value for run, value in (*base, *other)}
    ordered = _in_turn([run for run, _ in base], [run for run, _ in other]) or []
    ratios = []
    for timed, following in pairwise(ordered):
        one, two = values[id(timed.run)], values[id(following.run)]
        ratios.append(one / two if timed.is_other else two / one)
    return Steps(pairs=tuple(ratios[::2]), between=tuple(ratios[1::2]))


class _Timed(NamedTuple):
    """A run in time.

    Attributes:
        start: nanoseconds since 1970.
        place: what must not fall from one run to the next: the start, and within one round the order in it.
        is_other: whether it is of the other side.
        run: itself.
    """

    start: int
    place: tuple[int, int]
    is_other: bool
    run: CompareRun


def _in_turn(base: Sequence[CompareRun], other: Sequence[CompareRun]) -> list[_Timed] | None:
    """The runs in the alternated order that their starts allow; none when they allow none."""
    timed = _timed(base, other)
    sides = [[each for each in timed if each.is_other is is_other] for is_other in (False, True)]
    for first, second in (sides, sides[::-1]):
        ordered = [each for pair in zip(first, second, strict=True) for each in pair]
        if all(one.place <= two.place for one, two in pairwise(ordered)):
            return ordered
    return None


def _timed(base: Sequence[CompareRun], other: Sequence[CompareRun]) -> list[_Timed]:
    """The runs in the order of their starts, and where these are equal in that of their files."""
    runs = [(run, False) for run in base] + [(run, True) for run in other]
    sessions = {run.session for run, _ in runs}
    one_round = len(sessions) == 1 and "" not in sessions
    found = []
    for run, is_other in sorted(runs, key=lambda item: (_start_ns(item[0]), item[0].order, item[0].source)):
        start = _start_ns(run)
        found.append(_Timed(start, (start, run.order if one_round else 0), is_other, run))
    return found


def _start_ns(run: CompareRun) -> int:
    return int(parse_time(run.started_at, what=run.name).timestamp()) * NS_PER_S
