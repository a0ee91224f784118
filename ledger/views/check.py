"""Whether views hold the rows that their ledger gives, and no others.

A stamp says what views were made from, and nothing about what an editor has done to their rows since. `check` therefore
makes every row anew and compares it with the one in the database, which it never writes:

1. the stamp must be of this ledger, as for every other use of the views;
2. the replay takes in the receipts that the stamp covers;
3. tables and columns must be there, and no further column;
4. rows of receipts are compared a few hundred receipts at a time, those of slots a slot at a time;
5. the ladder must answer what its definition answers;
6. the database must find nothing wrong with its own indexes, through which the rows were read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

from sqlalchemy import inspect, text

from ledger.errors import ConflictError, StorageError
from ledger.rule import AXES
from ledger.views import projection as projections
from ledger.views.build import ladder_select, read_status, stamp_row, status
from ledger.views.database import ONLY_READS, database_errors
from ledger.views.tables import LADDER, LADDER_VIEW, RULED_TABLES, SLOT_TABLES, STAMP, TABLES

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Sequence

    from sqlalchemy import Connection, Engine

    from ledger.scoring.rung import Slot
    from ledger.verified import VerifiedLog
    from ledger.views.build import ViewStatus
    from ledger.views.projection import Projection
    from ledger.views.rows import Row

Code: TypeAlias = Literal["E_INDEX_GAP", "E_INDEX_EXTRA", "E_INDEX_DIFFERS"]
Cells: TypeAlias = "tuple[object, ...]"

MOST = 20
"""Differences that are told one by one; the others are counted."""

_LONGEST = 200
_KEYS = {name: [column.name for column in table.primary_key] for name, table in TABLES.items()} | {
    LADDER_VIEW: ["receipt"]
}
_COLUMNS = {name: [column.name for column in table.columns] for name, table in TABLES.items()} | {
    LADDER_VIEW: [name for names in LADDER.values() for name in names]
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One row, or one table, that is not as the ledger has it. No values: a speed that was stopped is shown nowhere.

    Attributes:
        code: ``E_INDEX_GAP`` for what is missing, ``E_INDEX_EXTRA`` for what should not be there, ``E_INDEX_DIFFERS``
            for a row that says something else.
        table: name of the table, or of the view ``ladder``.
        receipt: that the row is about; none for a whole table, and for a pin or a move without a value.
        key: what tells the row from the others of its table; empty for a whole table.
        columns: that are missing, or more than there should be, or say something else; none for a whole row.
    """

    code: Code
    table: str
    receipt: int | None = None
    key: dict[str, str | int | None] = field(default_factory=dict)
    columns: Sequence[str] = ()


@dataclass(slots=True, kw_only=True)
class Comparison:
    """Views beside their ledger.

    Attributes:
        status: what the stamp says.
        rows: how many the ledger gives.
        count: differences.
        differences: the first `MOST` of them.
    """

    status: ViewStatus
    rows: int = 0
    count: int = 0
    differences: list[Difference] = field(default_factory=list)

    def add(self, found: Difference) -> None:
        """Count a difference, and keep it if it is one of the first."""
        self.count += 1
        if len(self.differences) < MOST:
            self.differences.append(found)

    def compare(self, table: str, expected: Iterable[Cells], found: Iterable[Cells]) -> None:
        """Compare rows, of which the expected ones fit in memory.

        Args:
            table: that they are of.
            expected: cells of each row, in the order of the columns.
            found: likewise, as the database has them.
        """
        key_of = _cells_of(table, _KEYS[table])
        missing = {key_of(cells): cells for cells in expected}
        self.rows += len(missing)
        for cells in found:
            known = missing.pop(key_of(cells), None)  # a row that is there twice is one too many
            if known is None:
                self.add(_of_row("E_INDEX_EXTRA", table, cells))
            elif known != cells:
                pairs = zip(_COLUMNS[table], known, cells, strict=True)
                columns = [name for name, ours, theirs in pairs if ours != theirs]
                self.add(_of_row("E_INDEX_DIFFERS", table, known, columns))
        for cells in missing.values():
            self.add(_of_row("E_INDEX_GAP", table, cells))


def check(engine: Engine, log: VerifiedLog) -> Comparison:
    """Compare views with the ledger that they were made from, row by row. Those that are behind, as far as they go.

    Args:
        engine: from `ledger.views.database.open_database`, to ``read``.
        log: verified in full.

    Raises:
        VerificationError: ``E_VIEWS_FORK``, or a receipt has changed since it was verified.
        PolicyError: ``E_VIEWS_VERSION`` or ``E_VIEWS_ABSENT``.
        RefusedError: ``E_VIEWS_FOREIGN``.
        ConflictError: ``E_VIEWS_MOVED``: another process has changed the views meanwhile.
        StorageError: the database cannot be read, or is damaged.
    """
    before = status(engine, log)
    before.require()
    projection = projections.Projection()
    projection.skip(log, before.tree_size or 0)
    options = {ONLY_READS: True, "stream_results": True}
    with database_errors(), engine.connect().execution_options(**options) as connection:
        _prepare(connection)
        if read_status(connection, log) != before:
            raise ConflictError("E_VIEWS_MOVED", "another process has changed the views; run it again")
        comparison = Comparison(status=before)
        _compare_all(comparison, connection, log, projection)
        if not comparison.count:
            _check_integrity(connection)
    return comparison


def _prepare(connection: Connection) -> None:
    """See one state of the database to the end, whatever bytes it holds."""
    if connection.dialect.name != "sqlite":
        connection.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"))
        return
    driver = cast("sqlite3.Connection", connection.connection.driver_connection)
    driver.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")


def _compare_all(comparison: Comparison, connection: Connection, log: VerifiedLog, projection: Projection) -> None:
    whole = _whole_tables(comparison, connection)
    if STAMP in whole:
        expected = [_cells(STAMP, stamp_row(log, projection.size))]
        comparison.compare(STAMP, expected, _select(connection, STAMP))
    of_receipts = [name for name in ("receipts", *RULED_TABLES, LADDER_VIEW) if name in whole]
    for first in range(0, projection.size, projections.STEP):
        indices = range(first, min(first + projections.STEP, projection.size))
        expected_rows = _by_table(projection.receipt_rows(log, indices))
        within = f"WHERE receipt >= {indices.start} AND receipt < {indices.stop}"
        for name in of_receipts:
            rows = _ladder(connection, within) if name == LADDER_VIEW else expected_rows.get(name, ())
            comparison.compare(name, rows, _select(connection, name, within))
    for name in of_receipts:
        beyond = f"WHERE receipt < 0 OR receipt >= {projection.size} OR receipt IS NULL"
        rows = _ladder(connection, beyond) if name == LADDER_VIEW else ()
        comparison.compare(name, rows, _select(connection, name, beyond))
    for name in SLOT_TABLES:
        if name in whole:
            _compare_slots(comparison, connection, projection, name)


def _compare_slots(comparison: Comparison, connection: Connection, projection: Projection, name: str) -> None:
    """Compare a table of slots: one slot after the other, in the order in which the database has them."""
    left: dict[object, Slot] = {tuple(slot): slot for slot in projection.slots()}
    found = _select(connection, name, f"ORDER BY {', '.join(AXES)}")
    for axes, group in groupby(found, key=_cells_of(name, AXES)):
        slot = left.pop(axes, None)
        expected = _by_table(projection.slot_rows(slot)) if slot is not None else {}
        comparison.compare(name, expected.get(name, ()), group)
    for slot in left.values():
        comparison.compare(name, _by_table(projection.slot_rows(slot)).get(name, ()), ())


def _whole_tables(comparison: Comparison, connection: Connection) -> set[str]:
    """Tables that have all their columns; the ladder only beside the tables that it is made of."""
    inspector = inspect(connection)
    names = {*inspector.get_table_names()} - {LADDER_VIEW} | {*inspector.get_view_names()} & {LADDER_VIEW}
    whole: set[str] = set()
    for name, columns in _COLUMNS.items():
        if name == LADDER_VIEW and LADDER.keys() - whole:
            continue
        if name not in names:
            comparison.add(Difference(code="E_INDEX_GAP", table=name))
            continue
        there = [column["name"] for column in inspector.get_columns(name)]
        if extra := [each for each in there if each not in columns]:
            comparison.add(Difference(code="E_INDEX_EXTRA", table=name, columns=extra))
        if missing := [each for each in columns if each not in there]:
            comparison.add(Difference(code="E_INDEX_GAP", table=name, columns=missing))
        else:
            whole.add(name)
    return whole


def _select(connection: Connection, name: str, rest: str = "") -> Iterator[Cells]:
    """Rows as the database has them, whatever types an editor gave them."""
    return _rows(connection, f"SELECT {', '.join(_COLUMNS[name])} FROM {name} {rest}")  # noqa: S608 - our names


def _ladder(connection: Connection, rest: str) -> Iterator[Cells]:
    """Rows that the ladder must have, by its definition, over the tables that are there."""
    columns = ", ".join(_COLUMNS[LADDER_VIEW])
    return _rows(connection, f"SELECT {columns} FROM ({ladder_select()}) AS defined {rest}")  # noqa: S608 - our names


def _rows(connection: Connection, sql: str) -> Iterator[Cells]:
    return map(tuple, connection.exec_driver_sql(sql))


def _by_table(rows: Iterable[tuple[str, Row]]) -> dict[str, list[Cells]]:
    tables: dict[str, list[Cells]] = {}
    for name, row in rows:
        tables.setdefault(name, []).append(_cells(name, row))
    return tables


def _cells(name: str, row: Row) -> Cells:
    return tuple(row[column] for column in _COLUMNS[name])


def _cells_of(table: str, names: Sequence[str]) -> itemgetter[object]:
    return itemgetter(*[_COLUMNS[table].index(name) for name in names])


def _of_row(code: Code, table: str, cells: Cells, columns: Sequence[str] = ()) -> Difference:
    row = dict(zip(_COLUMNS[table], cells, strict=True))
    receipt = row.get("receipt")
    return Difference(
        code=code,
        table=table,
        receipt=receipt if isinstance(receipt, int) else None,
        key={name: _told(row[name]) for name in _KEYS[table]},
        columns=columns,
    )


def _told(cell: object) -> str | int | None:
    """A cell of a key, as it can be told: an editor may have put anything there, of any length."""
    if cell is None or isinstance(cell, int):
        return cell
    return (cell.hex() if isinstance(cell, bytes) else str(cell))[:_LONGEST]


def _check_integrity(connection: Connection) -> None:
    """Ask SQLite about its indexes: a row that stands in the table and in no index is found by some questions only."""
    if connection.dialect.name != "sqlite":
        return
    (answer,) = connection.exec_driver_sql("PRAGMA integrity_check(1)").one()
    if answer != "ok":
        raise StorageError("E_VIEWS_CORRUPT", f"the views are damaged: {answer}; run rungbook views rebuild")
