"""Between the commands and the views: which database, and what is done about one that is broken or behind.

Everything that needs SQL stands here, so that a command which needs none does not wait for it.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from cli import output
from cli.context import find_ledger
from cli.history import open_log
from ledger.errors import ConflictError, StorageError
from ledger.following import Following
from ledger.views import build
from ledger.views.build import ViewStatus
from ledger.views.check import Comparison
from ledger.views.check import check as compare_with
from ledger.views.database import default_url, discard_sqlite, open_database
from ledger.views.follow import Follower
from ledger.views.query import Answer, ask, check_sql

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from cli.context import Ledger
    from ledger.verified import VerifiedLog


def rebuild(ledger: Path | None, url: str) -> ViewStatus:
    """Verify the ledger and make its views anew. A broken file of our own is replaced, another one never.

    Args:
        ledger: folder to look from.
        url: database; empty for the ledger's own.

    Raises:
        LedgerError: whatever `ledger.views.build.rebuild` and the verification raise.
    """
    found = find_ledger(ledger)
    log = open_log(found)
    where = url or default_url(found.store.local)
    if not url:
        found.store.prepare_local()
    try:
        return build.rebuild(open_database(where, "create"), log)
    except StorageError as err:
        if err.code != "E_VIEWS_CORRUPT":
            raise
        if url:
            raise StorageError(
                err.code, "this file is no database that can be read: remove it first", where="--url"
            ) from err
        discard_sqlite(where)
        return build.rebuild(open_database(where, "create"), log)


def extend(ledger: Path | None, url: str) -> tuple[ViewStatus, int]:
    """Verify the ledger and bring its views up to date.

    Returns:
        What they are worth now, and how many receipts they lacked.
    """
    found = find_ledger(ledger)
    log = open_log(found)
    engine = open_database(url or default_url(found.store.local), "write")
    before = build.extend(engine, log)
    return build.status(engine, log), before.behind


def follow(ledger: Path | None, url: str, every_s: float) -> ViewStatus:
    """Keep the views up to date until the process is told to end, by Ctrl-C or SIGTERM; what was begun is finished.

    Args:
        ledger: folder to look from.
        url: database; empty for the ledger's own.
        every_s: time between two looks at the ledger.

    Returns:
        What they are worth at the end.
    """
    found = find_ledger(ledger)
    engine = open_database(url or default_url(found.store.local), "write")
    following = Following(found.store)
    follower = Follower(engine, following)
    _tell(follower.catch_up(output.progress_line), following.look())
    output.say("following the ledger; Ctrl-C ends it")
    with _told_to_end() as ends:
        while not ends.wait(every_s):
            try:
                _tell(follower.catch_up(), following.look())
            except ConflictError as err:  # somebody builds them anew; the next look finds what they are then
                output.notice(str(err))
    return build.status(engine, following.look())


@contextmanager
def _told_to_end() -> Iterator[Event]:
    """Set by Ctrl-C and SIGTERM, which interrupt nothing meanwhile."""
    ends = Event()
    before = {number: signal.signal(number, lambda *_: ends.set()) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield ends
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _tell(before: ViewStatus, log: VerifiedLog) -> None:
    if before.behind:
        output.say(f"{output.receipts(before.behind)} added, {len(log.entries)} in all")


def status(ledger: Path | None, url: str) -> ViewStatus:
    """Verify the ledger and look what its views are worth beside it."""
    found = find_ledger(ledger)
    log = open_log(found)
    return build.status(open_database(url or default_url(found.store.local), "write"), log)


def check(ledger: Path | None, url: str) -> Comparison:
    """Verify the ledger and compare every row of its views with those that it gives. Nothing is written."""
    found = find_ledger(ledger)
    engine = open_database(url or default_url(found.store.local), "read")
    log, _ = _open_beside(engine, found)
    return compare_with(engine, log)


def query(ledger: Path | None, url: str, statement: str) -> Answer:
    """Ask the views, brought up to date first; a notice says so.

    Raises:
        LedgerError: whatever `ledger.views.query.check_sql` and `ask`, `extend` and the verification raise.
    """
    check_sql(statement)
    found = find_ledger(ledger)
    where = url or default_url(found.store.local)
    engine = open_database(where, "write")
    log, state = _open_beside(engine, found)
    state.require()
    if state.behind:
        build.extend(engine, log)
        output.notice(f"the views lacked {output.receipts(state.behind)} and were brought up to date")
    return ask(open_database(where, "read"), log, statement)


def _open_beside(engine: Engine, found: Ledger) -> tuple[VerifiedLog, ViewStatus]:
    """Verify a ledger that other processes may append to, and look what views are worth beside it."""
    log = open_log(found)
    state = build.status(engine, log)
    if (state.tree_size or 0) > len(log.entries):  # somebody has appended and extended in between
        log = open_log(found)
        state = build.status(engine, log)
    return log, state
