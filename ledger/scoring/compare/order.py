"""Whether two sides were measured in turn: base, other, base, other, close to each other, one at a time.

Only then does what drifts over the hours (temperature, other tenants, a cache that fills) fall on both alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from ledger.metrics import NS_PER_S
from ledger.strict import parse_time

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from ledger.scoring.compare.side import CompareRun

LONGEST_GAP_S = 3600
"""Time between the end of a run and the start of the next above which both are of another hour."""
_CLOCK_NS = NS_PER_S
"""Starts are whole seconds: two runs that touch may seem to overlap by one."""


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
    ordered = _in_time(base, other)
    faults = []
    sides = [is_other for _, is_other, _ in ordered]
    if any(one == two for one, two in pairwise(sides)):
        word = "".join("O" if is_other else "B" for is_other in sides)
        faults.append(("E_ORDER_CONFOUNDED", f"the runs are not alternated (B base, O other): {word}"))
    for (start, _, run), (after, _, following) in pairwise(ordered):
        gap = after - (start + run.wall_ns)
        if start == after or gap < -_CLOCK_NS:
            faults.append(("E_OVERLAP", f"{run.name} was not done when {following.name} started"))
        elif gap > LONGEST_GAP_S * NS_PER_S:
            minutes = gap // (60 * NS_PER_S)
            faults.append(("E_GAP", f"{minutes} minutes passed between {run.name} and {following.name}"))
    return faults


def steps(base: Sequence[tuple[CompareRun, Fraction]], other: Sequence[tuple[CompareRun, Fraction]]) -> Steps:
    """The ratios of neighbours of two sides without `order_faults`, given the value of each run."""
    values = {id(run): value for run, value in (*base, *other)}
    ordered = _in_time([run for run, _ in base], [run for run, _ in other])
    ratios = []
    for (_, is_other, run), (_, _, following) in pairwise(ordered):
        one, two = values[id(run)], values[id(following)]
        ratios.append(one / two if is_other else two / one)
    return Steps(pairs=tuple(ratios[::2]), between=tuple(ratios[1::2]))


def _in_time(base: Sequence[CompareRun], other: Sequence[CompareRun]) -> list[tuple[int, bool, CompareRun]]:
    """Start in nanoseconds since 1970, whether it is of the other side, and the run; in the order of the starts."""
    runs = [(run, False) for run in base] + [(run, True) for run in other]
    timed = [(_start_ns(run), is_other, run) for run, is_other in runs]
    return sorted(timed, key=lambda item: item[0])


def _start_ns(run: CompareRun) -> int:
    return int(parse_time(run.started_at, what=run.name).timestamp()) * NS_PER_S
