"""Timing and tables. Machines are shared and their clocks move, so nothing is ever compared across runs.

What is compared runs in turns, A B A B, within one process; a ratio is the median of the ratios of neighbours. CPU time
is user and system time of this process and of the processes that it waited for.
"""

from __future__ import annotations

import os
import resource
import statistics
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


RECOVERY_S = 5.5
"""Time to wait before files are written that are measured.

ext4 does not give out an inode again for five seconds after it was freed, and looks at each of them before every new
file. Git frees several a commit: nobody must pay for what another one removed.
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """What one run took, in seconds."""

    cpu: float
    wall: float


def number(variable: str, default: int) -> int:
    """A size that the environment may change."""
    return int(os.environ.get(variable, default))


def cost(action: Callable[[], object]) -> Cost:
    """Run something once."""
    cpu, wall = _cpu(), time.perf_counter()
    action()
    return Cost(_cpu() - cpu, time.perf_counter() - wall)


def in_turns(sides: Mapping[str, Callable[[], object]], repeats: int) -> dict[str, list[Cost]]:
    """Run every side once, and so on."""
    costs: dict[str, list[Cost]] = {name: [] for name in sides}
    for _ in range(repeats):
        for name, action in sides.items():
            costs[name].append(cost(action))
    return costs


def cpu_time(costs: Sequence[Cost]) -> float:
    """Median CPU time in seconds."""
    return statistics.median(each.cpu for each in costs)


def wall_time(costs: Sequence[Cost]) -> float:
    """Median time on the clock in seconds."""
    return statistics.median(each.wall for each in costs)


def cpu_ratio(ours: Sequence[Cost], theirs: Sequence[Cost]) -> float:
    """How many times the CPU time of `theirs` ours takes."""
    return statistics.median(a.cpu / b.cpu for a, b in zip(ours, theirs, strict=True))


def wall_ratio(ours: Sequence[Cost], theirs: Sequence[Cost]) -> float:
    """How many times the time on the clock of `theirs` ours takes."""
    return statistics.median(a.wall / b.wall for a, b in zip(ours, theirs, strict=True))


def _cpu() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


HEADER = ("what", "ours", "floor or peer", "ratio", "target")


def table(title: str, rows: Sequence[tuple[str, str, str, str, str]]) -> None:
    """Print a table, at once: the whole takes minutes."""
    lines = [HEADER, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADER))]
    print(f"\n{title}")
    for line in lines:
        print("  " + "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
    sys.stdout.flush()


def micro(seconds: float, count: float = 1) -> str:
    """Seconds for `count` things, as microseconds each."""
    return f"{seconds / count * 1e6:.1f} us"


def milli(seconds: float, count: float = 1) -> str:
    """Seconds for `count` things, as milliseconds each."""
    return f"{seconds / count * 1e3:.2f} ms"
