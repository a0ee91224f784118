"""Questions to the views in SQL: one statement that reads, over views that are of the ledger at hand."""

from __future__ import annotations

import re
import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, cast

from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from ledger.errors import ConflictError, RefusedError
from ledger.views.build import compare_stamp
from ledger.views.database import ONLY_READS, database_errors, is_of_storage, primary_code

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection, Engine

    from ledger.verified import VerifiedLog

Cell: TypeAlias = "str | int | None"

_READS = re.compile(r"(?:\s|--[^\n]*\n|/\*.*?\*/)*(?:select|with)\b", re.IGNORECASE | re.DOTALL)
_ALLOWED = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
_STEPS_BETWEEN_SIGNALS = 100_000
"""Steps of SQLite's machine between two looks at signals: without any, Ctrl-C would not end a long question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a query gave: names of the columns, and rows of cells. A number that is not whole is text."""

    columns: list[str]
    rows: list[list[Cell]]


def ask(engine: Engine, log: VerifiedLog, sql: str) -> Answer:
    """Run one SELECT over the views. Nothing that it says can change the database.

    Args:
        engine: from `ledger.views.database.open_database`, to ``read``.
        log: the ledger that the views must have been made from.
        sql: one statement, SELECT or WITH.

    Raises:
        RefusedError: ``E_SQL``: it is something else, or the database does not accept it.
        ConflictError: ``E_VIEWS_MOVED``: another process has changed the views since they were looked at.
        VerificationError: ``E_VIEWS_FORK``.
        PolicyError: ``E_VIEWS_VERSION`` or ``E_VIEWS_ABSENT``.
        StorageError: the database cannot be read.
    """
    check_sql(sql)
    with database_errors(), engine.connect().execution_options(**{ONLY_READS: True}) as connection:
        is_sqlite = connection.dialect.name == "sqlite"
        if not is_sqlite:
            connection.execute(text("SET TRANSACTION READ ONLY"))
        found = compare_stamp(connection, log)
        found.require()
        if found.state != "fresh":
            raise ConflictError("E_VIEWS_MOVED", "another process has changed the views; run it again")
        return _run_guarded(connection, sql) if is_sqlite else _run_alone(connection, sql)


def check_sql(sql: str) -> None:
    """Refuse what is not one statement that reads, as far as its text can tell.

    Raises:
        RefusedError: ``E_SQL``.
    """
    if not sql.isascii():
        _check_encodable(sql)
    if "\0" in sql or not _READS.match(sql):
        raise RefusedError("E_SQL", "expected one SELECT or WITH statement")


def _check_encodable(sql: str) -> None:
    try:
        sql.encode()
    except UnicodeEncodeError as err:
        raise RefusedError("E_SQL", "the statement is not UTF-8") from err


def _run_alone(connection: Connection, sql: str) -> Answer:
    """On a server, a second statement could end the transaction that only reads."""
    if ";" in sql.rstrip().removesuffix(";"):
        raise RefusedError("E_SQL", "expected one statement: no ';' but at its end; write chr(59) for one in a text")
    return _run(connection, sql)


def _run_guarded(connection: Connection, sql: str) -> Answer:
    """On SQLite, the driver takes one statement only, and every step of it must be one that reads."""
    connection.exec_driver_sql("PRAGMA query_only = ON")
    driver = cast("sqlite3.Connection", connection.connection.driver_connection)
    driver.set_authorizer(_authorise)
    driver.set_progress_handler(lambda: 0, _STEPS_BETWEEN_SIGNALS)
    try:
        return _run(connection, sql)
    finally:
        driver.set_authorizer(None)
        driver.set_progress_handler(None, 0)


def _authorise(action: int, _: str | None, name: str | None, *_rest: str | None) -> int:
    loads = action == sqlite3.SQLITE_FUNCTION and name == "load_extension"
    return sqlite3.SQLITE_OK if action in _ALLOWED and not loads else sqlite3.SQLITE_DENY


def _run(connection: Connection, sql: str) -> Answer:
    try:
        result = connection.execution_options(no_parameters=True).exec_driver_sql(sql)
        return Answer(columns=list(result.keys()), rows=[list(_cells(row)) for row in result])
    except DBAPIError as err:
        if primary_code(err) == sqlite3.SQLITE_INTERRUPT:
            raise KeyboardInterrupt from err  # SQLite has swallowed it in the progress handler
        if is_of_storage(err):
            raise
        raise RefusedError("E_SQL", f"the database says: {err.orig}") from err


def _cells(row: Iterator[object]) -> Iterator[Cell]:
    for value in row:
        if value is None or isinstance(value, str):
            yield value
        elif isinstance(value, int):
            yield int(value)  # a truth value is a number, as it is in SQLite
        elif isinstance(value, bytes):
            yield value.hex()
        else:
            yield str(value)
