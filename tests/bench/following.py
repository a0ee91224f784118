"""Appending with SQL views that follow, against appending without; both sides append the same rounds, in turns."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ledger.following import Following
from ledger.store.directory import DirectoryStore
from ledger.verify import verify
from ledger.views.build import rebuild
from ledger.views.database import open_database, sqlite_url
from ledger.views.follow import Follower
from tests.bench.measure import Cost, cost, cpu_ratio, cpu_time, milli, table, wall_ratio, wall_time
from tests.bench.rounds import draft, start_ledger

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ledger.draft import Draft

_TURN = 250
"""Receipts between two looks of the follower, which is also how long a turn is."""


def run(folder: Path, receipts: int) -> None:
    """Print the table. `folder` is empty and ours."""
    table(
        f"Append {receipts} rounds of 10 kB with views that follow every {_TURN}, against without views",
        [
            *_rows(folder / "single", receipts, 1, "one by one"),
            *_rows(folder / "groups", receipts, _TURN, f"groups of {_TURN}"),
        ],
    )


def _rows(folder: Path, receipts: int, group: int, name: str) -> list[tuple[str, str, str, str, str]]:
    with_views, without = _Side(folder / "views", follows=True), _Side(folder / "plain", follows=False)
    costs: tuple[list[Cost], list[Cost]] = [], []
    for first in range(0, receipts, _TURN):
        drafts = [draft(number) for number in range(first, first + _TURN)]
        for side, found in zip((with_views, without), costs, strict=True):
            found.append(cost(partial(side.append, drafts, group)))
    return [
        (
            f"{name}, {label}",
            milli(median(costs[0]), _TURN),
            milli(median(costs[1]), _TURN),
            f"{ratio(*costs):.2f}",
            "<= 1.3" if label == "CPU" else "",
        )
        for label, median, ratio in (("CPU", cpu_time, cpu_ratio), ("on the clock", wall_time, wall_ratio))
    ]


class _Side:
    """A ledger, with or without views beside it."""

    def __init__(self, folder: Path, *, follows: bool) -> None:
        folder.mkdir(parents=True)
        self._log = start_ledger(folder)
        self._follower: Follower | None = None
        if follows:
            store, url = DirectoryStore(folder), sqlite_url(folder / "views.sqlite")
            rebuild(open_database(url, "create"), verify(store).require_log())
            following = Following(store)
            self._log.watch = following.take
            self._follower = Follower(open_database(url, "write"), following)
            self._follower.catch_up()

    def append(self, drafts: Sequence[Draft], group: int) -> None:
        for first in range(0, len(drafts), group):
            self._log.append(drafts[first : first + group])
        if self._follower:
            self._follower.catch_up()
