"""The index of timing fingerprints on the disk: see `ledger.copies`."""

from __future__ import annotations

from contextlib import closing, suppress
from typing import TYPE_CHECKING

from ledger.errors import StorageError

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping
    from collections.abc import Set as AbstractSet
    from pathlib import Path

_TABLES = """
CREATE TABLE IF NOT EXISTS copies (digest BLOB PRIMARY KEY, receipt INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS covered (size INTEGER NOT NULL, last TEXT NOT NULL);
"""


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
        except sqlite3.Error:
            self.clear()
            return 0, ""
        return found or (0, "")

    def find(self, digest: bytes) -> int | None:
        """See `CopyIndex`."""
        import sqlite3  # noqa: PLC0415 - as above

        try:
            found = self._open().execute("SELECT receipt FROM copies WHERE digest = ?", (digest,)).fetchone()
        except sqlite3.Error as err:
            message = f"the index of samples cannot be read ({err}); remove it, it will be made again"
            raise StorageError("E_COPY_INDEX", message, where=str(self.path)) from err
        return found[0] if found else None

    def extend(self, size: int, last: str, added: Mapping[bytes, int], freed: AbstractSet[int]) -> bool:
        """See `CopyIndex`."""
        import sqlite3  # noqa: PLC0415 - as above

        try:
            with self._open() as connection:
                connection.executemany("DELETE FROM copies WHERE receipt = ?", [(index,) for index in freed])
                kept = [(digest, index) for digest, index in added.items() if index not in freed]
                connection.executemany("INSERT OR REPLACE INTO copies VALUES (?, ?)", kept)
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
        with suppress(OSError):
            self.path.unlink(missing_ok=True)

    def _open(self) -> sqlite3.Connection:
        import sqlite3  # noqa: PLC0415 - as above

        if self._connection is None:
            connection = sqlite3.connect(self.path, isolation_level="IMMEDIATE")
            # What a power cut leaves of it is found to be broken, or too short, and made again from the receipts.
            connection.execute("PRAGMA synchronous = OFF")
            connection.executescript(_TABLES)
            self._connection = connection
        return self._connection
