"""Databases for views: how they are opened, and what their errors mean here."""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from sqlalchemy import create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from ledger.errors import ConflictError, PolicyError, RefusedError, StorageError
from ledger.store.disk import storage_errors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sqlalchemy import Connection, Engine

    from ledger.errors import LedgerError

Access: TypeAlias = Literal["create", "write", "read"]

FILE = "views.sqlite"
WAIT_S = 30.0
"""How long to wait for another process that writes the same file."""

ONLY_READS = "rungbook_only_reads"
"""Option of a connection whose transaction takes no lock before it writes."""

_MODES: dict[Access, str] = {"create": "rwc", "write": "rw", "read": "ro"}
_CORRUPT = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_UNREADABLE = {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY}


def default_url(folder: Path) -> str:
    """URL of the file in a ledger's local folder."""
    return sqlite_url(folder / FILE)


def sqlite_url(path: Path) -> str:
    """URL of a SQLite file."""
    return URL.create("sqlite", database=str(path.absolute())).render_as_string()


def sqlite_path(url: str) -> Path | None:
    """The file that a URL names; none when it names another kind of database.

    Raises:
        RefusedError: ``E_VIEWS_URL``.
    """
    parsed = _parse(url)
    if parsed.drivername not in ("sqlite", "sqlite+pysqlite"):
        return None
    if not parsed.database or parsed.database == ":memory:" or parsed.query:
        raise RefusedError(
            "E_VIEWS_URL", "expected a file without options, such as sqlite:////folder/views.sqlite", where="--url"
        )
    return Path(parsed.database)


def open_database(url: str, access: Access) -> Engine:
    """A database, not yet connected to. A SQLite file is only made for ``create``.

    Every transaction is one of the database's own, definitions of tables included.

    Raises:
        RefusedError: ``E_VIEWS_URL``.
        PolicyError: ``E_VIEWS_DRIVER`` when the Python package that speaks to it is not installed.
    """
    path = sqlite_path(url)
    try:
        if path is None:
            return create_engine(_parse(url), poolclass=NullPool)
        engine = create_engine("sqlite://", creator=_opener(path, access), poolclass=NullPool)
    except (ArgumentError, NoSuchModuleError) as err:
        raise RefusedError("E_VIEWS_URL", f"no such kind of database: {err}", where="--url") from err
    except ImportError as err:
        raise PolicyError("E_VIEWS_DRIVER", f"install the driver of this database: {err}", where="--url") from err
    event.listen(engine, "begin", _begin)
    return engine


def discard_sqlite(url: str) -> None:
    """Remove the SQLite file of a URL, and what SQLite keeps beside it.

    Raises:
        StorageError: it cannot be removed.
    """
    path = sqlite_path(url)
    for suffix in ("-journal", "-wal", "-shm", "") if path else ():
        with storage_errors("remove", Path(f"{path}{suffix}")):
            Path(f"{path}{suffix}").unlink(missing_ok=True)


def _parse(url: str) -> URL:
    try:
        return make_url(url)
    except (ArgumentError, ValueError) as err:  # its message would repeat a password
        raise RefusedError("E_VIEWS_URL", "expected a URL such as sqlite:////folder/file", where="--url") from err


def _opener(path: Path, access: Access) -> Callable[[], sqlite3.Connection]:
    uri = f"{path.absolute().as_uri()}?mode={_MODES[access]}"
    # Without an isolation level the driver leaves transactions to `_begin`, which includes DROP and CREATE in them.
    return lambda: sqlite3.connect(uri, uri=True, timeout=WAIT_S, isolation_level=None)


def _begin(connection: Connection) -> None:
    only_reads = connection.get_execution_options().get(ONLY_READS)
    # A writer that first reads would be refused, not kept waiting, when another one writes in between.
    connection.exec_driver_sql("BEGIN" if only_reads else "BEGIN IMMEDIATE")


@contextmanager
def database_errors(*, creates: bool = False) -> Iterator[None]:
    """Turn the errors of a database into ours.

    Args:
        creates: a SQLite file that is not there would have been made.

    Raises:
        StorageError: ``E_VIEWS_CORRUPT``, ``E_VIEWS_DATABASE``.
        PolicyError: ``E_VIEWS_ABSENT`` when there is no file.
        ConflictError: ``E_VIEWS_LOCKED``.
    """
    try:
        yield
    except DBAPIError as err:
        if primary_code(err) == sqlite3.SQLITE_CANTOPEN and not creates:
            raise no_views(str(err.orig)) from err
        raise of_driver(err) from err
    except SQLAlchemyError as err:
        raise StorageError("E_VIEWS_DATABASE", str(err)) from err


def of_driver(err: DBAPIError) -> LedgerError:
    """What a driver's error means."""
    reason = primary_code(err)
    if reason in _CORRUPT:
        return StorageError(
            "E_VIEWS_CORRUPT",
            f"the views cannot be read: {err.orig}; nothing is lost: run rungbook views rebuild",
        )
    if reason in _BUSY:
        return ConflictError("E_VIEWS_LOCKED", f"another process writes the views: {err.orig}")
    return StorageError("E_VIEWS_DATABASE", f"the database of the views says: {err.orig}")


def primary_code(err: DBAPIError) -> int:
    """Result code of SQLite behind an error; 0 for other databases and for errors of the driver itself."""
    code: int = getattr(err.orig, "sqlite_errorcode", 0)
    return code & 0xFF


def no_views(reason: str) -> PolicyError:
    """There is nothing to read yet."""
    return PolicyError("E_VIEWS_ABSENT", f"no views: {reason}; run rungbook views rebuild")


def is_of_storage(err: DBAPIError) -> bool:
    """Whether the database is to blame, not the statement."""
    return err.connection_invalidated or primary_code(err) in _CORRUPT | _BUSY | _UNREADABLE
