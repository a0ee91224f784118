"""The index of timing fingerprints on the disk: see `ledger.copies`."""

from __future__ import annotations

from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ledger.errors import StorageError

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence
    from collections.abc import Set as AbstractSet

_TABLES = """
CREATE TABLE IF NOT EXISTS copies (digest BLOB, receipt INTEGER, PRIMARY KEY (digest, receipt)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS covered (size INTEGER NOT NULL, last TEXT NOT NULL);
"""
TIMEOUT_S = 5.0
"""How long to wait for another process that writes it."""

_BUSY_LOCKED_READONLY_IO_FULL_CANTOPEN = frozenset({5, 6, 8, 10, 13, 14})
"""Primary result codes of SQLite that say nothing against the file."""


class DiskCopyIndex:
    """A small SQLite file, local and disposable (see `ledger.copies.CopyIndex`)."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection: sqlite3.Connection | None = None

    def covered(self) -> tuple[int, str]:
        """See `CopyIndex`."""
        import sqlite3  # noqa: PLC0415 - only writers of rounds need it

        try:
            found = self._open().execute("SELECT size, last FROM covered").fetchone()
        except sqlite3.Error as err:
            # A file that another process is writing must stay where it is, and its journal beside it.
            if err.sqlite_errorcode & 0xFF not in _BUSY_LOCKED_READONLY_IO_FULL_CANTOPEN:
                self.clear()
            return 0, ""
        return found or (0, "")

    def find(self, digest: bytes) -> Sequence[int]:
        """See `CopyIndex`."""
        import sqlite3  # noqa: PLC0415 - as above

        try:
            found = self._open().execute("SELECT receipt FROM copies WHERE digest = ?", (digest,)).fetchall()
        except sqlite3.Error as err:
            message = f"the index of samples cannot be read ({err}); remove it, it will be made again"
            raise StorageError("E_COPY_INDEX", message, where=str(self.path)) from err
        return [index for (index,) in found]

    def extend(self, size: int, last: str, added: Mapping[bytes, Sequence[int]], freed: AbstractSet[int]) -> bool:
        """See `CopyIndex`."""
        import sqlite3  # noqa: PLC0415 - as above

        try:
            with self._open() as connection:
                if freed:  # in one pass: there is no way to a receipt but through all of them
                    connection.execute(
                        "DELETE FROM copies WHERE receipt IN (SELECT value FROM json_each(?))", (str(sorted(freed)),)
                    )
                kept = [(digest, index) for digest, own in added.items() for index in own if index not in freed]
                connection.executemany("INSERT OR IGNORE INTO copies VALUES (?, ?)", kept)
                connection.execute("DELETE FROM covered")
                connection.execute("INSERT INTO covered VALUES (?, ?)", (size, last))
        except sqlite3.Error:
            return False
        return True

    def clear(self) -> None:
        """See `CopyIndex`."""
        if self._connection is not None:
            with closing(self._connection):
                self._connection = None
        for path in (Path(f"{self.path}-journal"), self.path):  # a journal would be played back into the next file
            with suppress(OSError):
                path.unlink(missing_ok=True)

    def _open(self) -> sqlite3.Connection:
        import sqlite3  # noqa: PLC0415 - as above

        if self._connection is None:
            # Synced as SQLite does by default: what `covered` says must not be on the disk before what it is about.
            connection = sqlite3.connect(self.path, timeout=TIMEOUT_S, isolation_level="IMMEDIATE")
            try:
                connection.executescript(_TABLES)
            except sqlite3.Error:
                connection.close()
                raise
            self._connection = connection
        return self._connection
