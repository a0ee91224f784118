"""Views are compared with their ledger row by row: whatever an editor does to them is found, and nothing else is."""

# ruff: noqa: N802 - the names of cases have capitals

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from ledger.errors import ConflictError, PolicyError, RefusedError, StorageError, VerificationError
from ledger.following import Following
from ledger.store.directory import DirectoryStore
from ledger.views import check as checking
from ledger.views import projection
from ledger.views.build import extend, ladder_select, rebuild
from ledger.views.check import MOST, Comparison, check
from ledger.views.database import open_database, sqlite_url
from ledger.views.follow import Follower
from ledger.views.tables import LADDER_VIEW, SLOT_TABLES, STAMP, TABLES
from tests.support.views import ALL, IMPORT_AT, REJECTED, Sample, built, contents, new_sample

if TYPE_CHECKING:
    from pathlib import Path

    from ledger.verified import VerifiedLog
    from ledger.views.check import Difference


@pytest.fixture
def sample(tmp_path: Path) -> Sample:
    return new_sample(tmp_path / "ledger")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> VerifiedLog:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        return new_sample(tmp_path_factory.mktemp("whole")).grow(ALL)


@pytest.fixture
def file(whole: VerifiedLog, tmp_path: Path) -> Path:
    """Views of the whole."""
    built(tmp_path / "views.sqlite", whole)
    return tmp_path / "views.sqlite"


def compared(file: Path, log: VerifiedLog) -> Comparison:
    before = file.read_bytes()
    found = check(open_database(sqlite_url(file), "read"), log)
    assert file.read_bytes() == before
    assert [path.name for path in file.parent.iterdir() if path.name.startswith(f"{file.name}-")] == []
    return found


def edit(file: Path, *statements: str) -> None:
    """Do something to the database that leaves its stamp as it is."""
    with closing(sqlite3.connect(file, isolation_level=None)) as direct:
        for statement in statements:
            direct.execute(statement)


def one(file: Path, log: VerifiedLog, *statements: str) -> Difference:
    """The one difference that an edit makes."""
    edit(file, *statements)
    found = compared(file, log)
    assert (found.count, len(found.differences), found.status.state) == (1, 1, "fresh")
    return found.differences[0]


def rows_of(file: Path, table: str) -> int:
    return len(contents(file)[table])


# Sound views.


def assert_exact(file: Path, log: VerifiedLog) -> None:
    found = compared(file, log)
    assert (found.status.state, found.differences, found.count) == ("fresh", [], 0)
    assert found.rows == sum(len(rows) for rows in contents(file).values())


@pytest.mark.parametrize("step", [1, 4, 256])
def test_C35_views_that_were_built_are_exactly_those_of_the_ledger(
    whole: VerifiedLog, file: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    monkeypatch.setattr(projection, "STEP", step)
    assert_exact(file, whole)


def test_C35_views_that_were_extended_in_steps_are_too(sample: Sample, tmp_path: Path) -> None:
    file = tmp_path / "views.sqlite"
    built(file, sample.read())
    for size in (2, 3, 7, 9, 10, 11, 14, ALL):
        log = sample.grow(size)
        extend(open_database(sqlite_url(file), "write"), log)
        assert_exact(file, log)


def test_C35_views_that_followed_are_too(sample: Sample, tmp_path: Path) -> None:
    file = tmp_path / "views.sqlite"
    built(file, sample.read())
    follower = Follower(open_database(sqlite_url(file), "write"), Following(DirectoryStore(sample.folder)))
    for size in (2, 5, 6, 11, ALL):
        log = sample.grow(size)
        follower.catch_up()
        assert_exact(file, log)


def test_C35_two_rebuilds_give_the_same_rows_in_the_same_order(whole: VerifiedLog, tmp_path: Path) -> None:
    dumps = []
    for name in ("one.sqlite", "two.sqlite", "one.sqlite"):
        built(tmp_path / name, whole)
        with closing(sqlite3.connect(tmp_path / name)) as direct:
            dumps.append("\n".join(direct.iterdump()))
    assert dumps[0] == dumps[1] == dumps[2]
    assert dumps[0].count("INSERT INTO") == sum(
        len(rows) for name, rows in contents(tmp_path / "one.sqlite").items() if name != LADDER_VIEW
    )


def test_views_that_are_behind_are_compared_as_far_as_they_go(sample: Sample, tmp_path: Path) -> None:
    file = tmp_path / "views.sqlite"
    built(file, sample.grow(9))
    log = sample.grow(ALL)
    found = compared(file, log)
    assert (found.status.state, found.status.behind, found.count) == ("behind", ALL - 9, 0)
    edit(file, "DELETE FROM receipts WHERE receipt = 4")
    assert compared(file, log).count == 1


# What an editor did.


def test_C35_a_receipt_that_is_not_in_the_index_is_a_gap(whole: VerifiedLog, file: Path) -> None:
    found = one(file, whole, "DELETE FROM receipts WHERE receipt = 1")
    assert (found.code, found.table, found.receipt, found.key) == ("E_INDEX_GAP", "receipts", 1, {"receipt": 1})
    rebuild(open_database(sqlite_url(file), "create"), whole)
    assert_exact(file, whole)


@pytest.mark.parametrize("table", sorted(TABLES.keys() - {STAMP}))
def test_C35_every_row_that_was_deleted_is_found_in_every_table(whole: VerifiedLog, file: Path, table: str) -> None:
    rows = rows_of(file, table)
    edit(file, f"DELETE FROM {table}")  # noqa: S608 - our names
    found = compared(file, whole)
    of_table = [each for each in found.differences if each.table == table]
    assert {each.code for each in of_table} == {"E_INDEX_GAP"}
    assert len(of_table) == min(rows, MOST)
    assert found.count == rows
    assert found.status.state == "fresh"


@pytest.mark.parametrize("table", sorted(TABLES.keys() - {STAMP}))
def test_C35_a_row_that_nobody_sealed_is_one_too_many(whole: VerifiedLog, file: Path, table: str) -> None:
    columns = [column.name for column in TABLES[table].columns]
    key, other = ("project", "another") if table in SLOT_TABLES else ("receipt", ALL + 3)
    chosen = ", ".join(f"{other!r}" if name == key else name for name in columns)
    found = one(file, whole, f"INSERT INTO {table} SELECT {chosen} FROM {table} LIMIT 1")  # noqa: S608 - our names
    assert (found.code, found.table) == ("E_INDEX_EXTRA", table)
    assert found.key[key] == other


CELLS = [
    ("receipts", f"receipt = {REJECTED}", "sealed_at"),
    ("receipts", f"receipt = {REJECTED}", "attested"),
    ("incidents", f"receipt = {ALL - 2}", "diagnosis"),
    ("incidents", f"receipt = {ALL - 2}", "gone_at"),
    ("rounds", f"receipt = {IMPORT_AT}", "evidence"),
    ("rounds", f"receipt = {REJECTED}", "value"),
    ("arms", "receipt = 3 AND role = 'main'", "commit_id"),
    ("reps", "receipt = 3 AND entry = 2", "mean_real"),
    ("facts", "receipt = 3 AND arm = 'main'", "reps"),
    ("verdicts", "receipt = 5", "label"),
    ("verdicts", "receipt = 5", "diagnostic"),
    ("frontier", "number = 0", "value"),
    ("frontier", "number = 0", "is_current"),
    ("pins", "role = 'basis'", "value_real"),
    ("pins", "role = 'basis'", "receipt"),
    ("pins", "role = 'guard'", "stale"),
    ("findings", f"receipt = {IMPORT_AT} AND number = 1", "code"),
]


@pytest.mark.parametrize(("table", "where", "column"), CELLS)
@pytest.mark.parametrize("value", ["7", "'seven'", "x'ff'", "CAST(x'ff' AS TEXT)", "-1e999"])
def test_C35_one_cell_that_was_changed_is_named(
    whole: VerifiedLog, file: Path, table: str, where: str, column: str, value: str
) -> None:
    found = one(file, whole, f"UPDATE {table} SET {column} = {value} WHERE {where}")  # noqa: S608 - our names
    assert (found.code, found.table, list(found.columns)) == ("E_INDEX_DIFFERS", table, [column])
    keys = {column.name for column in TABLES[table].primary_key}
    assert found.key.keys() == keys
    assert isinstance(found.receipt, int)


def test_several_cells_of_a_row_are_one_difference(whole: VerifiedLog, file: Path) -> None:
    found = one(file, whole, "UPDATE facts SET reps = 9, unit = 'x', diagnostic = '{}' WHERE rowid = 1")
    assert list(found.columns) == ["unit", "reps", "diagnostic"]


def test_a_row_under_another_key_is_missing_and_one_too_many(whole: VerifiedLog, file: Path) -> None:
    edit(file, "UPDATE receipts SET receipt = 4.5 WHERE receipt = 4")
    edit(file, "UPDATE pins SET role = x'00ff' WHERE role = 'guard'")
    found = compared(file, whole)
    assert {(each.code, each.table, each.receipt) for each in found.differences if each.table == "receipts"} == {
        ("E_INDEX_GAP", "receipts", 4),
        ("E_INDEX_EXTRA", "receipts", None),
    }
    assert {each.key.get("receipt") for each in found.differences if each.table == "receipts"} == {4, "4.5"}
    assert {each.key["role"] for each in found.differences if each.table == "pins"} == {"guard", "00ff"}


@pytest.mark.parametrize("receipt", ["-1", str(ALL), "'text'", "x'00'", "NULL", "0.5"])
def test_rows_of_no_receipt_are_found_wherever_they_hide(whole: VerifiedLog, file: Path, receipt: str) -> None:
    edit(file, "ALTER TABLE arms RENAME TO old", "CREATE TABLE arms AS SELECT * FROM old", "DROP TABLE old")
    assert compared(file, whole).count == 0
    found = one(file, whole, f"INSERT INTO arms (receipt, role) VALUES ({receipt}, 'main')")  # noqa: S608 - fixed texts
    assert (found.code, found.table) == ("E_INDEX_EXTRA", "arms")


def test_a_row_that_is_there_twice_is_found(whole: VerifiedLog, file: Path) -> None:
    found = one(
        file,
        whole,
        "ALTER TABLE reps RENAME TO old",
        "CREATE TABLE reps AS SELECT * FROM old UNION ALL SELECT * FROM old WHERE receipt = 3 AND entry = 0",
        "DROP TABLE old",
    )
    assert (found.code, found.table, found.receipt) == ("E_INDEX_EXTRA", "reps", 3)


def test_a_second_stamp_and_another_name_in_the_first_are_found(whole: VerifiedLog, file: Path) -> None:
    edit(file, "UPDATE stamp SET origin = 'example.org/other'")
    edit(file, "INSERT INTO stamp SELECT 2, schema_version, program_version, origin, tree_size, root_hash FROM stamp")
    found = compared(file, whole)
    assert {(each.code, each.table, *each.columns) for each in found.differences} == {
        ("E_INDEX_DIFFERS", STAMP, "origin"),
        ("E_INDEX_EXTRA", STAMP),
    }


@pytest.mark.parametrize("table", ["receipts", "rounds", "pins", "incidents"])
def test_a_table_that_is_gone_is_a_gap_and_is_built_again(whole: VerifiedLog, file: Path, table: str) -> None:
    found = one(file, whole, f"DROP TABLE {table}")
    assert (found.code, found.table, found.key, found.columns) == ("E_INDEX_GAP", table, {}, ())
    rebuild(open_database(sqlite_url(file), "create"), whole)
    assert_exact(file, whole)


def test_columns_that_are_gone_or_new_are_named(whole: VerifiedLog, file: Path) -> None:
    edit(file, "ALTER TABLE facts DROP COLUMN unit", "ALTER TABLE facts ADD COLUMN price")
    found = compared(file, whole)
    assert [(each.code, each.table, list(each.columns)) for each in found.differences] == [
        ("E_INDEX_EXTRA", "facts", ["price"]),
        ("E_INDEX_GAP", "facts", ["unit"]),
    ]


@pytest.mark.parametrize(
    ("definition", "codes"),
    [
        ("CREATE VIEW ladder AS {} AND rounds.receipt > 5", {"E_INDEX_GAP"}),
        ("CREATE VIEW ladder AS {} UNION ALL {}", {"E_INDEX_EXTRA"}),
        ("CREATE TABLE ladder AS {}", {"E_INDEX_GAP"}),
        ("CREATE VIEW other AS {}", {"E_INDEX_GAP"}),
    ],
)
def test_a_ladder_that_is_defined_otherwise_is_found(
    whole: VerifiedLog, file: Path, definition: str, codes: set[str]
) -> None:
    by_definition = ladder_select()
    edit(file, "DROP VIEW ladder", definition.format(by_definition, by_definition))
    found = compared(file, whole)
    assert {each.table for each in found.differences} == {LADDER_VIEW}
    assert {each.code for each in found.differences} == codes
    rebuild(open_database(sqlite_url(file), "create"), whole)
    assert_exact(file, whole)


def test_a_table_that_became_a_view_is_a_gap_and_is_built_again(whole: VerifiedLog, file: Path) -> None:
    edit(file, "ALTER TABLE facts RENAME TO kept", "CREATE VIEW facts AS SELECT * FROM kept")
    assert [each.table for each in compared(file, whole).differences] == ["facts"]
    rebuild(open_database(sqlite_url(file), "create"), whole)
    assert_exact(file, whole)


def test_only_the_first_differences_are_kept(whole: VerifiedLog, file: Path) -> None:
    reps = rows_of(file, "reps")
    assert reps > MOST
    edit(file, "UPDATE reps SET started_at = 'then'")
    found = compared(file, whole)
    assert (len(found.differences), found.count) == (MOST, reps)


def test_a_key_without_end_is_told_in_part(whole: VerifiedLog, file: Path) -> None:
    found = one(file, whole, "INSERT INTO arms (receipt, role) VALUES (3, printf('%.*c', 1000000, 'x'))")
    assert len(str(found.key["role"])) < 1000


def test_no_finding_repeats_what_a_row_says(whole: VerifiedLog, file: Path) -> None:
    edit(file, "UPDATE rounds SET value = 'secret', diagnostic = NULL")
    assert "secret" not in repr(compared(file, whole))
    assert "77777777" not in repr(compared(file, whole))


def test_a_row_that_an_index_does_not_have_is_damage(whole: VerifiedLog, file: Path) -> None:
    with closing(sqlite3.connect(file, isolation_level=None)) as direct:
        direct.execute("PRAGMA writable_schema = ON")
        name, *index = direct.execute(
            "SELECT name, type, tbl_name, rootpage, sql FROM sqlite_schema WHERE tbl_name = 'arms' AND type = 'index'"
        ).fetchone()
        (made,) = direct.execute("SELECT sql FROM sqlite_schema WHERE name = 'arms'").fetchone()
        direct.execute("DELETE FROM sqlite_schema WHERE name = ?", (name,))
        unkeyed = made.partition(", \n\tPRIMARY KEY")[0] + ")"
        direct.execute("UPDATE sqlite_schema SET sql = ? WHERE name = 'arms'", (unkeyed,))
    edit(file, "INSERT INTO arms (receipt, role, commit_id) VALUES (3, 'reference', 'hidden')")
    with closing(sqlite3.connect(file, isolation_level=None)) as direct:
        direct.execute("PRAGMA writable_schema = ON")
        direct.execute("UPDATE sqlite_schema SET sql = ? WHERE name = 'arms'", (made,))
        direct.execute(
            "INSERT INTO sqlite_schema (name, type, tbl_name, rootpage, sql) VALUES (?, ?, ?, ?, ?)", (name, *index)
        )
    with closing(sqlite3.connect(file)) as direct:
        assert direct.execute("SELECT count(*) FROM arms WHERE commit_id = 'hidden'").fetchone() == (1,)
    with pytest.raises(StorageError) as caught:
        compared(file, whole)
    assert caught.value.code == "E_VIEWS_CORRUPT"


# Views that cannot be compared.


def test_views_of_another_history_or_version_and_those_that_are_none(
    whole: VerifiedLog, file: Path, tmp_path: Path
) -> None:
    cases: list[tuple[str, type[Exception], str]] = [
        ("UPDATE stamp SET program_version = '0'", PolicyError, "E_VIEWS_VERSION"),
        ("DELETE FROM stamp", PolicyError, "E_VIEWS_ABSENT"),
        ("DROP TABLE stamp", RefusedError, "E_VIEWS_FOREIGN"),
    ]
    for statement, error, code in cases:
        edit(file, statement)
        with pytest.raises(error) as caught:
            compared(file, whole)
        assert getattr(caught.value, "code", "") == code
    built(tmp_path / "other.sqlite", whole)
    edit(tmp_path / "other.sqlite", "UPDATE stamp SET tree_size = 3")
    with pytest.raises(VerificationError) as fork:
        compared(tmp_path / "other.sqlite", whole)
    assert fork.value.code == "E_VIEWS_FORK"
    with pytest.raises(PolicyError) as absent:
        check(open_database(sqlite_url(tmp_path / "none.sqlite"), "read"), whole)
    assert absent.value.code == "E_VIEWS_ABSENT"
    assert not (tmp_path / "none.sqlite").exists()


def test_views_that_move_meanwhile_are_not_judged(
    sample: Sample, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "views.sqlite"
    built(file, sample.grow(3))
    log = sample.grow(5)
    skip = projection.Projection.skip

    def slow(self: projection.Projection, log: VerifiedLog, size: int) -> None:
        skip(self, log, size)
        if size == 3:
            with monkeypatch.context() as patch:
                patch.setattr(projection.Projection, "skip", skip)
                extend(open_database(sqlite_url(file), "write"), log)

    monkeypatch.setattr(projection.Projection, "skip", slow)
    with pytest.raises(ConflictError) as caught:
        check(open_database(sqlite_url(file), "read"), log)
    assert caught.value.code == "E_VIEWS_MOVED"


def test_a_database_that_is_no_sqlite_must_promise_one_state(
    whole: VerifiedLog, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = open_database(sqlite_url(file), "read")
    monkeypatch.setattr(engine.dialect, "name", "another")
    with pytest.raises(StorageError, match="SET"):
        check(engine, whole)
    with engine.connect() as connection:
        checking._check_integrity(connection)  # and has no such question
