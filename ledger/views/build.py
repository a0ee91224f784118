"""Making the views, extending them, and telling what they were made from.

Rows and stamp change in one transaction, so a reader finds the views of one tree or of another, never a mixture. The
database must be one that includes definitions of tables in its transactions, as SQLite and PostgreSQL do.
"""

from __future__ import annotations

import gc
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING, Literal, TypeAlias

from sqlalchemy import bindparam, delete, insert, inspect, select, text

from ledger import __version__
from ledger.errors import PolicyError, RefusedError, VerificationError
from ledger.rule import AXES
from ledger.scoring.history import SCORED
from ledger.views.database import ONLY_READS, database_errors, no_views
from ledger.views.projection import Projection
from ledger.views.tables import LADDER, LADDER_VIEW, RULED_TABLES, SCHEMA_VERSION, SLOT_TABLES, STAMP, TABLES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy import Connection, Delete, Dialect, Engine, Table

    from ledger.verified import VerifiedLog
    from ledger.views.projection import Step
    from ledger.views.rows import Row

State: TypeAlias = Literal["fresh", "behind", "fork", "version", "foreign", "absent"]

_STAMP_COLUMNS = {"schema_version", "program_version", "tree_size", "root_hash"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewStatus:
    """What views are worth beside a verified ledger.

    Attributes:
        state: ``fresh``; ``behind`` the ledger; ``fork``, made from another history; ``version``, made by another
            version; ``foreign``, tables of the same names that are no views; ``absent``.
        tree_size: receipts they were made from; none without a stamp.
        root_hash: root over these, in hexadecimal; empty without a stamp.
        behind: receipts that they lack.
    """

    state: State
    tree_size: int | None = None
    root_hash: str = ""
    behind: int = 0

    def require(self) -> None:
        """Refuse what is neither fresh nor behind.

        Raises:
            VerificationError: ``E_VIEWS_FORK``.
            PolicyError: ``E_VIEWS_VERSION`` or ``E_VIEWS_ABSENT``.
            RefusedError: ``E_VIEWS_FOREIGN``.
        """
        if self.state == "fork":
            raise VerificationError(
                "E_VIEWS_FORK",
                f"the views were made from {self.tree_size} receipts with root {self.root_hash}, which this ledger "
                "never had; if the ledger is the one you mean, run rungbook views rebuild",
            )
        if self.state == "version":
            raise PolicyError("E_VIEWS_VERSION", "another version made these views; run rungbook views rebuild")
        if self.state == "foreign":
            raise RefusedError("E_VIEWS_FOREIGN", "the database has tables of the same names that are no views")
        if self.state == "absent":
            raise no_views("there are none yet")


def status(engine: Engine, log: VerifiedLog) -> ViewStatus:
    """What the views in a database are worth beside a ledger.

    Raises:
        StorageError: the database cannot be read.
    """
    try:
        with database_errors(), engine.connect().execution_options(**{ONLY_READS: True}) as connection:
            return read_status(connection, log)
    except PolicyError:  # no file
        return ViewStatus(state="absent")


def rebuild(engine: Engine, log: VerifiedLog) -> ViewStatus:
    """Make the views anew from a ledger, in place of those that are there.

    Args:
        engine: from `ledger.views.database.open_database`, to ``create``.
        log: verified in full.

    Raises:
        RefusedError: ``E_VIEWS_FOREIGN``: what is there is not ours to drop.
        StorageError: the database cannot be written.
        ConflictError: another process writes it.
    """
    with database_errors(creates=True), engine.begin() as connection:
        if read_status(connection, log).state == "foreign":
            ViewStatus(state="foreign").require()
        views = set(inspect(connection).get_view_names())
        for name in (LADDER_VIEW, *TABLES):  # an editor may have put one kind in the place of the other
            connection.execute(text(f"DROP {'VIEW' if name in views else 'TABLE'} IF EXISTS {name}"))
        for table in TABLES.values():
            table.create(connection)
        _create_ladder(connection)
        write(connection, log, Projection())
        return read_status(connection, log)


def extend(engine: Engine, log: VerifiedLog) -> ViewStatus:
    """Bring the views up to date: the same rows as `rebuild`, of which only those are written that differ.

    Returns:
        The status that they had before.

    Raises:
        VerificationError: ``E_VIEWS_FORK``.
        PolicyError: ``E_VIEWS_VERSION`` or ``E_VIEWS_ABSENT``.
        RefusedError: ``E_VIEWS_FOREIGN``.
        StorageError: the database cannot be written.
        ConflictError: another process writes it.
    """
    with database_errors(), engine.begin() as connection:
        before = read_status(connection, log, lock=True)
        before.require()
        if before.state == "behind":
            projection = Projection()
            projection.skip(log, before.tree_size or 0)
            write(connection, log, projection)
        return before


def read_status(connection: Connection, log: VerifiedLog, *, lock: bool = False) -> ViewStatus:
    """Like `status`, within a transaction. With `lock` no other one can extend the views before it ends."""
    inspector = inspect(connection)
    names = {*inspector.get_table_names(), *inspector.get_view_names()}
    if names.isdisjoint({*TABLES, LADDER_VIEW}):
        return ViewStatus(state="absent")
    if STAMP not in names or _STAMP_COLUMNS - {column["name"] for column in inspector.get_columns(STAMP)}:
        return ViewStatus(state="foreign")
    return compare_stamp(connection, log, lock=lock)


def compare_stamp(connection: Connection, log: VerifiedLog, *, lock: bool = False) -> ViewStatus:
    """Like `read_status`, where the tables are known to be views."""
    stamp = TABLES[STAMP].c
    query = select(stamp.tree_size, stamp.root_hash, stamp.schema_version, stamp.program_version)
    row = connection.execute(query.with_for_update() if lock else query).first()
    if row is None or not isinstance(row[0], int):  # nobody's doing but an editor's
        return ViewStatus(state="absent")
    size, root, *made_by = row
    found = ViewStatus(state="fresh", tree_size=size, root_hash=root, behind=max(len(log.entries) - size, 0))
    if not 0 <= size <= len(log.entries) or log.root_at(size).hex() != root:
        return replace(found, state="fork")
    if made_by != [SCHEMA_VERSION, __version__]:
        return replace(found, state="version")
    return replace(found, state="behind") if found.behind else found


def write(connection: Connection, log: VerifiedLog, projection: Projection) -> None:
    """Write what views lack that hold what a projection has taken in, and the stamp, in the caller's transaction."""
    with _collector_paused():
        for step in projection.steps(log):
            _drop(connection, step)
            rows: dict[str, list[Row]] = {}
            for name, row in step.rows:
                rows.setdefault(name, []).append(row)
            for name, of_table in rows.items():
                _insert(connection, name, of_table)
    connection.execute(delete(TABLES[STAMP]))
    connection.execute(insert(TABLES[STAMP]), [stamp_row(log, len(log.entries))])


def stamp_row(log: VerifiedLog, size: int) -> Row:
    """The stamp of views that were made from so many receipts of a ledger."""
    return {
        "id": 1,
        "schema_version": SCHEMA_VERSION,
        "program_version": __version__,
        "origin": log.checkpoint.origin,
        "tree_size": size,
        "root_hash": log.root_at(size).hex(),
    }


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Spare the garbage collector to walk, again and again, what a replay keeps anyway and what is in no cycle."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _insert(connection: Connection, name: str, rows: Sequence[Row]) -> None:
    """Insert rows as the driver takes them: making parameters of dictionaries costs more than inserting them."""
    statement, columns = _inserter(name, connection.dialect)
    if columns:
        in_order = itemgetter(*columns)
        connection.exec_driver_sql(statement, [in_order(row) for row in rows])
    else:
        connection.execute(insert(TABLES[name]), rows)


@lru_cache
def _inserter(name: str, dialect: Dialect) -> tuple[str, tuple[str, ...]]:
    """Text that inserts a row, and the columns in its order; none where a driver takes parameters by name."""
    compiled = insert(TABLES[name]).compile(dialect=dialect)
    return str(compiled), tuple(compiled.positiontup or ())


def _drop(connection: Connection, step: Step) -> None:
    """Delete the rows that a step writes again."""
    if step.replaced:
        gone = [{"gone": index} for index in step.replaced]
        for name in RULED_TABLES:
            connection.execute(delete(TABLES[name]).where(TABLES[name].c.receipt == bindparam("gone")), gone)
    if step.moved:
        slots = [
            {f"of_{axis}": value for axis, value in slot._asdict().items()} | {"first": first}
            for slot, first in step.moved
        ]
        frontier, pins = (_of_slot(TABLES[name]) for name in SLOT_TABLES)
        connection.execute(frontier.where(TABLES["frontier"].c.number >= bindparam("first")), slots)
        connection.execute(pins, slots)


def _of_slot(table: Table) -> Delete:
    """Deletes the rows of the slot that parameters name."""
    return delete(table).where(*(table.c[axis] == bindparam(f"of_{axis}") for axis in AXES))


def _create_ladder(connection: Connection) -> None:
    connection.execute(text(f"CREATE VIEW {LADDER_VIEW} AS {ladder_select()} ORDER BY rounds.receipt"))


def ladder_select() -> str:
    """The question that the view ``ladder`` stands for, but for the order of its rows."""
    columns = ", ".join(f"{table}.{name}" for table, names in LADDER.items() for name in names)
    purposes = ", ".join(f"'{purpose}'" for purpose in SCORED)
    return (
        f"SELECT {columns} FROM rounds "  # noqa: S608 - made of names in this program
        "LEFT JOIN verdicts ON verdicts.receipt = rounds.receipt "
        f"WHERE rounds.gone_at IS NULL AND rounds.purpose IN ({purposes})"
    )
