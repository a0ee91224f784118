"""Views that follow their ledger: each time they are brought up to date, only what is new is verified and replayed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.views.build import compare_stamp, read_status, write
from ledger.views.database import database_errors
from ledger.views.projection import Projection

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from ledger.following import Following
    from ledger.verified import VerifiedLog
    from ledger.verify import Progress
    from ledger.views.build import ViewStatus


class Follower:
    """Keeps views beside a ledger that grows.

    Args:
        engine: from `ledger.views.database.open_database`, to ``write``; the views are there.
        ledger: the ledger, followed.
    """

    def __init__(self, engine: Engine, ledger: Following) -> None:
        self._engine = engine
        self._ledger = ledger
        self._projection: Projection | None = None

    def catch_up(self, progress: Progress | None = None) -> ViewStatus:
        """Bring the views up to the ledger as it is now.

        Returns:
            The status that they had before; with ``fresh`` nothing was written.

        Raises:
            VerificationError: the ledger does not verify, is not the one of the last time, or ``E_VIEWS_FORK``.
            PolicyError: ``E_VIEWS_VERSION`` or ``E_VIEWS_ABSENT``, or the ledger holds what cannot be judged.
            RefusedError: ``E_VIEWS_FOREIGN``.
            StorageError: the ledger cannot be read, or the database not written.
            ConflictError: another process writes the views.
        """
        log = self._ledger.look(progress)
        before = self._write(log)
        if (before.tree_size or 0) > len(log.entries):  # another process has seen more, and written it
            before = self._write(self._ledger.look(progress))
        before.require()
        return before

    def _write(self, log: VerifiedLog) -> ViewStatus:
        """Write what the views lack, if they are views of this ledger."""
        # What fails in the middle is rolled back in the database, but not in the replay.
        known, self._projection = self._projection, None
        with database_errors(), self._engine.begin() as connection:
            before = (compare_stamp if known else read_status)(connection, log, lock=True)
            if before.state not in ("fresh", "behind"):
                return before
            size = before.tree_size or 0
            projection = known if known and known.size <= size else Projection()
            projection.skip(log, size)
            if before.state == "behind":
                write(connection, log, projection)
        self._projection = projection
        return before
