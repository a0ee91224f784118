"""As `test_flag_edges`, for the codes of a comparison: two sides that just have a code, and two that just have not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ledger.flags import QUARANTINE
from ledger.scoring.compare.answer import compare_pairs, compare_rows
from ledger.scoring.compare.side import Side
from tests.support.compare import made_up_run, made_up_sides
from tests.support.edges import Edge
from tests.support.examined import S, codes

BASE, OTHER = (1000, 1002, 1004), (1001, 1003, 1005)
"""Milliseconds of runs between which nothing can be told, and which all take other times."""


def with_run(side: Side, at: int, **changes: Any) -> Side:  # noqa: ANN401 - any field
    """A side with changes to one of its runs."""
    runs = [replace(run, **changes) if place == at else run for place, run in enumerate(side.runs)]
    return replace(side, runs=tuple(runs))


def flags(base: Side, other: Side) -> list[str]:
    return codes(compare_rows(base, other, "noworse").flags)


def one_code(base: str, other: str) -> list[str]:
    """Two sides of one code with these values of one choice."""
    sides = zip(made_up_sides(BASE, OTHER), (base, other), strict=True)
    one, two = (replace(side, code="c0", choices={"GRAPH": value}) for side, value in sides)
    return flags(one, two)


def last_driver(**axes: str) -> list[str]:
    """Six runs with one driver, of which the last one says this of its node."""
    base, other = made_up_sides(BASE, OTHER, axes={"node/driver": "580"})
    return flags(base, with_run(other, 2, axes=axes))


def last_start(**changes: str) -> list[str]:
    base, other = made_up_sides(BASE, OTHER)
    return flags(base, with_run(other, 2, **changes))


def hour_after(wall_ns: int) -> list[str]:
    """Runs that start 61 minutes after each other and take one, of which the first takes another time."""
    base, other = made_up_sides(BASE, OTHER, every=61, wall_ns=60 * S)
    return flags(with_run(base, 0, wall_ns=wall_ns), other)


def noise(wall_ns: int) -> list[str]:
    """A session of noise whose runs start each minute, of which the first takes this time."""
    first, second = made_up_sides((1100, 1102, 1104), (1101, 1103, 1105), every=1)
    answer = compare_pairs(*made_up_sides(BASE, OTHER), [(with_run(first, 0, wall_ns=wall_ns), second)])
    return codes(answer.flags)


def middle(ms: int) -> list[str]:
    """Runs of one answer each: the middle one of the base takes this time, that of the other side 1000 ms."""
    sides = []
    for label, times, first in (("base", (1028, ms, 1031), 0), ("other", (999, 1000, 1001), 1)):
        runs = [made_up_run(f"{label}-{at}", [time], at=5 * (2 * at + first)) for at, time in enumerate(times)]
        sides.append(Side(label=label, runs=tuple(runs)))
    return flags(*sides)


def wall_of(*other: int) -> list[str]:
    """Three runs of a minute, against three of these durations."""
    base, theirs = made_up_sides(BASE, OTHER, wall_ns=60 * S)
    runs = [replace(run, wall_ns=wall) for run, wall in zip(theirs.runs, other, strict=True)]
    return flags(base, replace(theirs, runs=tuple(runs)))


EDGES: dict[str, Edge] = {
    "F_SAME_CODE": Edge(lambda: one_code("1", "1"), lambda: one_code("1", "2")),
    "F_AXIS_UNKNOWN": Edge(last_driver, lambda: last_driver(**{"node/driver": "580"})),
    "F_ORDER_UNKNOWN": Edge(lambda: last_start(started_at=""), last_start),
    # Between the end of the first run and the start of the next an hour passes, and a nanosecond.
    "F_NOT_IN_TURN": Edge(lambda: hour_after(60 * S - 1), lambda: hour_after(60 * S)),
    # Starts are cut to seconds: a run that takes less than 61 s may have ended before the next one began.
    "F_NOISE_LEFT": Edge(lambda: noise(61 * S), lambda: noise(61 * S - 1)),
    # 1030 ms against 1000 are a gain of 3 % in the rate.
    "F_BELOW_RESOLUTION": Edge(lambda: middle(1029), lambda: middle(1030)),
    # A median apart by a nanosecond, and ranges that do not touch, or do.
    "F_WALL_GATED": Edge(
        lambda: wall_of(60 * S + 1, 60 * S + 1, 60 * S + 1), lambda: wall_of(60 * S, 60 * S + 1, 60 * S + 1)
    ),
}


@pytest.mark.parametrize("code", sorted(EDGES))
def test_a_flag_of_a_comparison_is_given_and_just_not_given(code: str) -> None:
    assert EDGES[code].apart() == ({code}, set())  # and nothing else is said of one side only
    assert QUARANTINE.isdisjoint(EDGES[code].has_not())
