from __future__ import annotations

import gc
import re
import signal
import sqlite3
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import inspect
from sqlalchemy.engine import make_url
from sqlalchemy.schema import CreateTable

from ledger.errors import ConflictError, PolicyError, RefusedError, StorageError, VerificationError
from ledger.metrics import METRICS
from ledger.scoring.facts import decimal_text, exact_text, median, record_values, round_facts
from ledger.store.directory import DirectoryStore
from ledger.verify import verify
from ledger.views import build, projection, query
from ledger.views.build import ViewStatus, extend, rebuild, status
from ledger.views.database import default_url, open_database, sqlite_url
from ledger.views.query import ask
from ledger.views.rows import body_rows, incident_row
from ledger.views.tables import LADDER, LADDER_VIEW, MODELS, TABLES
from tests.support.ledgers import (
    ORIGIN,
    genesis_draft,
    open_log,
)
from tests.support.views import (
    ALL,
    IMPORT_AT,
    IMPORTED,
    INCIDENT,
    MEASURED,
    MEASURED_NS,
    REJECTED,
    REJECTED_NS,
    REVIEWED,
    REVIEWED_NS,
    Sample,
    built,
    contents,
    new_sample,
    score_body,
)

if TYPE_CHECKING:
    from pathlib import Path

    from ledger.verified import VerifiedLog


@pytest.fixture
def sample(tmp_path: Path) -> Sample:
    return new_sample(tmp_path / "ledger")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> VerifiedLog:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        return new_sample(tmp_path_factory.mktemp("whole")).grow(ALL)


def refused(file: Path, log: VerifiedLog, sql: str) -> str:
    with pytest.raises(RefusedError) as caught:
        ask(open_database(sqlite_url(file), "read"), log, sql)
    return caught.value.code


# Extending equals building.


def test_extending_after_every_append_gives_the_rows_that_building_gives(sample: Sample, tmp_path: Path) -> None:
    grown = tmp_path / "grown.sqlite"
    log = sample.read()
    built(grown, log)
    engine = open_database(sqlite_url(grown), "write")
    labels = set()
    for size in range(2, ALL + 1):
        log = sample.grow(size)
        before = extend(engine, log)
        assert (before.state, before.behind, before.tree_size) == ("behind", 1, size - 1)
        rows = contents(grown)
        assert rows == built(tmp_path / "new.sqlite", log)
        labels |= {str(row["label"]) for row in rows["verdicts"]}
    assert labels >= {"REJECT", "REVIEW", "none", "m"}


def test_extending_over_many_receipts_gives_the_rows_that_building_gives(sample: Sample, tmp_path: Path) -> None:
    for start in (1, 5, 9, 11):
        built(tmp_path / f"{start}.sqlite", sample.grow(start))
    log = sample.grow(ALL)
    expected = built(tmp_path / "new.sqlite", log)
    for start in (1, 5, 9, 11):
        file = tmp_path / f"{start}.sqlite"
        assert extend(open_database(sqlite_url(file), "write"), log).behind == ALL - start
        assert contents(file) == expected


def test_rows_are_written_in_batches(whole: VerifiedLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = built(tmp_path / "at-once.sqlite", whole)
    monkeypatch.setattr(projection, "STEP", 3)
    assert built(tmp_path / "in-batches.sqlite", whole) == expected


def test_extending_writes_no_row_that_has_not_changed(sample: Sample, tmp_path: Path) -> None:
    file = tmp_path / "views.sqlite"
    built(file, sample.grow(ALL - 1))
    with sqlite3.connect(file) as direct:
        direct.execute("UPDATE reps SET started_at = 'kept' WHERE receipt = 3")
    direct.close()
    log = sample.grow(ALL)
    extend(open_database(sqlite_url(file), "write"), log)
    assert {row["started_at"] for row in contents(file)["reps"] if row["receipt"] == 3} == {"kept"}


def test_extending_what_is_up_to_date_changes_nothing(whole: VerifiedLog, tmp_path: Path) -> None:
    file = tmp_path / "views.sqlite"
    built(file, whole)
    before = file.read_bytes()
    assert extend(open_database(sqlite_url(file), "write"), whole).state == "fresh"
    assert file.read_bytes() == before


# What the rows say.


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_every_column_is_documented(model: type) -> None:
    documented = re.findall(r"^        (\w+): ", model.__doc__ or "", re.MULTILINE)
    table = TABLES[getattr(model, "__tablename__")]  # noqa: B009 - declared by the class that all models extend
    assert sorted(documented) == sorted(column.name for column in table.columns)


def test_every_table_and_column_is_there(whole: VerifiedLog, tmp_path: Path) -> None:
    rows = built(tmp_path / "views.sqlite", whole)
    assert {name for name, found in rows.items() if not found} == set()
    assert list(rows[LADDER_VIEW][0]) == [name for names in LADDER.values() for name in names]
    assert {row["receipt"] for row in rows["receipts"]} == set(range(ALL))


def test_an_attempt_that_failed_stands_beside_the_round_that_was_measured_later(
    whole: VerifiedLog, tmp_path: Path
) -> None:
    rows = built(tmp_path / "views.sqlite", whole)
    (incident,) = rows["incidents"]
    assert incident == {
        **INCIDENT["slot"],
        "receipt": ALL - 2,
        "round_id": "retried",
        "attempt": 1,
        "outcome": "infra",
        "diagnosis": "out of memory",
        "log_sha256": INCIDENT["log"]["sha256"],
        "gone_at": None,
    }
    assert {row["id"]: row["attempt"] for row in rows["rounds"]}["retried"] == 2
    assert {row["attempt"] for row in rows["rounds"] if row["id"] != "retried"} == {1}


def test_an_incident_may_leave_open_why() -> None:
    row = incident_row(7, {name: value for name, value in INCIDENT.items() if name not in ("diagnosis", "log")})
    assert (row["receipt"], row["diagnosis"], row["log_sha256"]) == (7, None, None)


def test_exact_numbers_stand_beside_those_for_sorting(whole: VerifiedLog, tmp_path: Path) -> None:
    facts = built(tmp_path / "views.sqlite", whole)["facts"]
    (fact,) = (row for row in facts if row["receipt"] == 3 and row["arm"] == "candidate")
    assert (fact["median"], fact["reps"], fact["spread_pct"]) == ("102400/19", 2, "0")
    assert fact["median_real"] == pytest.approx(102400 / 19)


def test_repetitions_have_the_facts_of_their_own_records() -> None:
    body = score_body("mixed", 95_000_000)
    for at, rep in enumerate(body["reps"]):
        rep["order"] = 0  # as rows of one run, which nothing but their place tells apart
        rep["metrics"] = ["prefill_tok_s", "wall"]
        rep["records"] = {
            "prompt_tokens": [512, 0 if at else None],
            "wall_ns": [10**8 + at, 10**8],
            "ok": [at != 0, True],
        }
    rows = [row for table, row in body_rows(9, "round", body, round_facts(body)) if table == "reps"]
    assert len(rows) == 2 * len(body["reps"])
    for row in rows:
        rep = body["reps"][int(str(row["entry"]))]
        values = record_values(METRICS[str(row["metric"])], rep["records"]) if not rep["warmup"] else ()
        assert row["records"] == len(values)
        assert row["median"] == (str(median(values)) if values else None)
        expected = (float(min(values)), float(max(values)), float(sum(values) / len(values))) if values else (None,) * 3
        assert (row["lowest_real"], row["highest_real"], row["mean_real"]) == expected
    assert [row["records"] for row in rows] == [0, 1, 1, 2, 1, 2, 1, 2, 0, 0, 0, 0]


def test_a_fraction_of_ten_thousand_digits_is_written_whole() -> None:
    value = Fraction(10**9000 + 1, 10**8999 + 1)
    above, _, below = exact_text(value).partition("/")
    assert (len(above), len(below)) == (len("1" * 9001), len("1" * 9000))
    assert exact_text(Fraction(-3)) == "-3"


def spellings(value: Fraction, *others: object) -> list[str]:
    short = decimal_text(value).rstrip("0").rstrip(".")
    return [str(value), short, f"{float(value):.6g}", repr(float(value)), *map(str, others)]


def test_the_speed_of_what_was_stopped_is_a_diagnostic_and_nothing_else(sample: Sample, tmp_path: Path) -> None:
    secrets = {
        REJECTED: spellings(Fraction(512 * 10**9, REJECTED_NS), REJECTED_NS),
        REVIEWED: spellings(Fraction(512 * 10**9, REVIEWED_NS), REVIEWED_NS),
        MEASURED: spellings(Fraction(512 * 10**9, MEASURED_NS), MEASURED_NS),
        IMPORT_AT: spellings(Fraction(IMPORTED), IMPORTED),
    }
    for size in range(REJECTED + 1, ALL + 1):
        rows = built(tmp_path / "views.sqlite", sample.grow(size))
        stopped = {row["receipt"] for row in rows["verdicts"] if row["label"] in ("REJECT", "REVIEW")}
        cells = [
            (name, column, str(value))
            for name, found in rows.items()
            for row in found
            for column, value in row.items()
            if column != "diagnostic" and not re.fullmatch("[0-9a-f]{64}", str(value))
        ]
        for index in stopped:
            hits = [cell for cell in cells if any(secret in cell[2] for secret in secrets[int(str(index))])]
            assert hits == [], (size, index)
            verdict = next(row for row in rows["verdicts"] if row["receipt"] == index)
            assert secrets[int(str(index))][1] in str(verdict["diagnostic"])
    assert stopped == {REJECTED, REVIEWED, MEASURED, IMPORT_AT}


def test_a_review_brings_the_speed_back(sample: Sample, tmp_path: Path) -> None:
    rows = built(tmp_path / "views.sqlite", sample.grow(10))
    speed = str(Fraction(512 * 10**9, REVIEWED_NS))
    assert next(row for row in rows["rounds"] if row["receipt"] == REVIEWED)["value"] == speed
    (current,) = (row for row in rows["frontier"] if row["is_current"])
    assert (current["value"], current["since"], current["commit_id"]) == (speed, 9, "merged-1")


# The stamp.


def test_the_views_of_another_history_are_refused(whole: VerifiedLog, tmp_path: Path) -> None:
    file = tmp_path / "views.sqlite"
    built(file, whole)
    writer = open_log(tmp_path / "other")
    writer.create(ORIGIN, genesis_draft())
    other = verify(DirectoryStore(tmp_path / "other")).require_log()
    engine = open_database(sqlite_url(file), "write")
    before = file.read_bytes()
    assert status(engine, other).state == "fork"
    for attempt in (lambda: extend(engine, other), lambda: ask(engine, other, "SELECT 1")):
        with pytest.raises(VerificationError) as caught:
            attempt()
        assert caught.value.code == "E_VIEWS_FORK"
    assert file.read_bytes() == before
    assert rebuild(engine, other).state == "fresh"


@pytest.mark.parametrize("column", ["schema_version", "program_version"])
def test_the_views_of_another_version_are_to_be_built_again(whole: VerifiedLog, tmp_path: Path, column: str) -> None:
    file = tmp_path / "views.sqlite"
    built(file, whole)
    with sqlite3.connect(file) as direct:
        direct.execute(f"UPDATE stamp SET {column} = 99")  # noqa: S608 - two fixed names
    direct.close()
    engine = open_database(sqlite_url(file), "write")
    assert status(engine, whole).state == "version"
    with pytest.raises(PolicyError) as caught:
        extend(engine, whole)
    assert caught.value.code == "E_VIEWS_VERSION"
    assert rebuild(engine, whole).state == "fresh"


def test_a_stamp_that_was_edited_is_refused(whole: VerifiedLog, tmp_path: Path) -> None:
    file = tmp_path / "views.sqlite"
    built(file, whole)
    engine = open_database(sqlite_url(file), "write")
    for edit in ("root_hash = 'ab'", "tree_size = 3", "tree_size = -1", f"tree_size = {ALL + 1}"):
        built(file, whole)
        with sqlite3.connect(file) as direct:
            direct.execute(f"UPDATE stamp SET {edit}")  # noqa: S608 - fixed texts
        direct.close()
        assert status(engine, whole).state == "fork", edit
    for edit in ("UPDATE stamp SET tree_size = 'x'", "DELETE FROM stamp"):
        with sqlite3.connect(file) as direct:
            direct.execute(edit)
        direct.close()
        assert status(engine, whole).state == "absent"


@pytest.mark.parametrize(
    "definition",
    [
        "CREATE TABLE receipts (amount INTEGER)",
        "CREATE TABLE stamp (tree_size INTEGER)",
        "CREATE TABLE ladder (length INTEGER)",
        "CREATE VIEW ladder AS SELECT 1 AS length",
    ],
)
def test_tables_that_are_no_views_are_not_dropped(whole: VerifiedLog, tmp_path: Path, definition: str) -> None:
    file = tmp_path / "shop.sqlite"
    with sqlite3.connect(file) as direct:
        direct.execute(definition)
    direct.close()
    before = file.read_bytes()
    engine = open_database(sqlite_url(file), "create")
    assert status(engine, whole).state == "foreign"
    for attempt in (rebuild, extend):
        with pytest.raises(RefusedError) as caught:
            attempt(engine, whole)
        assert caught.value.code == "E_VIEWS_FOREIGN"
    assert file.read_bytes() == before


def test_without_a_file_there_are_no_views_and_none_are_made(whole: VerifiedLog, tmp_path: Path) -> None:
    file = tmp_path / "views.sqlite"
    engine = open_database(sqlite_url(file), "write")
    assert status(engine, whole) == ViewStatus(state="absent")
    for attempt in (lambda: extend(engine, whole), lambda: ask(engine, whole, "SELECT 1")):
        with pytest.raises(PolicyError, match="rungbook views rebuild") as caught:
            attempt()
        assert caught.value.code == "E_VIEWS_ABSENT"
    assert not file.exists()


def test_an_empty_database_has_no_views(whole: VerifiedLog, tmp_path: Path) -> None:
    file = tmp_path / "views.sqlite"
    file.touch()
    engine = open_database(sqlite_url(file), "write")
    assert status(engine, whole) == ViewStatus(state="absent")
    with pytest.raises(PolicyError):
        extend(engine, whole)
    with pytest.raises(PolicyError):
        ViewStatus(state="absent").require()


def test_a_build_that_fails_leaves_the_views_that_were_there(
    whole: VerifiedLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "views.sqlite"
    before = built(file, whole)

    def fail(*_: object) -> None:
        raise StorageError("E_IO", "the disk says no")

    monkeypatch.setattr(build, "Projection", fail)
    with pytest.raises(StorageError):
        rebuild(open_database(sqlite_url(file), "create"), whole)
    assert contents(file) == before


def test_a_quick_verification_is_not_enough(whole: VerifiedLog, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="in full"):
        rebuild(open_database(sqlite_url(tmp_path / "views.sqlite"), "create"), replace(whole, mode="quick"))


def test_a_writer_is_waited_for_and_then_named(
    whole: VerifiedLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ledger.views.database.WAIT_S", 0.05)
    file = tmp_path / "views.sqlite"
    built(file, whole)
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(ConflictError) as caught:
        rebuild(open_database(sqlite_url(file), "create"), whole)
    assert caught.value.code == "E_VIEWS_LOCKED"
    assert ask(open_database(sqlite_url(file), "read"), whole, "SELECT count(*) FROM stamp").rows == [[1]]
    other.close()


# Questions.


def test_a_question_is_answered_in_text_integers_and_nulls(whole: VerifiedLog, tmp_path: Path) -> None:
    file = tmp_path / "views.sqlite"
    built(file, whole)
    engine = open_database(sqlite_url(file), "read")
    answer = ask(
        engine, whole, "/* a */ -- b\n WITH x AS (SELECT 1.5, 2, NULL, 'a;b', x'00ff', ':c %s') SELECT * FROM x;"
    )
    assert answer.rows == [["1.5", 2, None, "a;b", "00ff", ":c %s"]]
    ladder = ask(engine, whole, "SELECT receipt, label FROM ladder")
    assert ladder.columns == ["receipt", "label"]
    assert ladder.rows[:3] == [[5, "REJECT"], [6, "REJECT"], [10, "none"]]
    assert [receipt for receipt, _ in ladder.rows] == [5, 6, 10, 12, ALL - 1]


def test_no_name_needs_quotes(whole: VerifiedLog, tmp_path: Path) -> None:
    file = tmp_path / "views.sqlite"
    built(file, whole)
    engine = open_database(sqlite_url(file), "read")
    for name, table in TABLES.items():
        columns = [column.name for column in table.columns]
        assert ask(engine, whole, f"SELECT {', '.join(columns)} FROM {name}").columns == columns  # noqa: S608 - our names


def test_a_question_without_end_can_be_interrupted(whole: VerifiedLog, tmp_path: Path) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    file = tmp_path / "views.sqlite"
    built(file, whole)
    endless = "WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x) SELECT count(*) FROM x"
    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        with pytest.raises(KeyboardInterrupt):
            ask(open_database(sqlite_url(file), "read"), whole, endless)
    finally:
        signal.signal(signal.SIGALRM, before)


WRITES = (
    "INSERT INTO stamp VALUES (2)",
    "WITH x AS (SELECT 1) DELETE FROM stamp",
    "WITH x AS (SELECT 1) UPDATE stamp SET tree_size = 0",
    "ATTACH 'other.sqlite' AS other",
    "PRAGMA writable_schema = ON",
    "PRAGMA query_only = OFF",
    "SELECT 1; DELETE FROM stamp",
    "SELECT load_extension('x')",
    "SELECT * FROM pragma_query_only",
    "VACUUM INTO 'other.sqlite'",
    "CREATE TEMP TABLE x (y)",
    "EXPLAIN DELETE FROM stamp",
    "COMMIT",
    "",
    "SELECT",
    "SELECT nothing FROM stamp",
    "SELECT '\udcff'",
    "SELECT '\0'",
)


@pytest.mark.parametrize("sql", WRITES)
def test_what_does_not_only_read_is_refused(
    whole: VerifiedLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sql: str
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "views.sqlite"
    built(file, whole)
    before = file.read_bytes()
    assert refused(file, whole, sql) == "E_SQL"
    assert file.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["views.sqlite"]


def test_on_a_server_a_question_is_one_statement(whole: VerifiedLog, tmp_path: Path) -> None:
    file = tmp_path / "views.sqlite"
    built(file, whole)
    with open_database(sqlite_url(file), "read").connect() as connection:
        assert query._run_alone(connection, "SELECT 1 AS x; ").rows == [[1]]
        for sql in ("SELECT 1; COMMIT", "SELECT ';'", "SELECT 1;;"):
            with pytest.raises(RefusedError):
                query._run_alone(connection, sql)


def test_a_database_that_cannot_promise_to_only_read_is_not_asked(
    whole: VerifiedLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "views.sqlite"
    built(file, whole)
    engine = open_database(sqlite_url(file), "read")
    monkeypatch.setattr(engine.dialect, "name", "another")
    with pytest.raises(StorageError, match="SET") as caught:
        ask(engine, whole, "SELECT 1")
    assert caught.value.code == "E_VIEWS_DATABASE"


def test_the_tables_are_defined_for_servers_too() -> None:
    dialect = make_url("postgresql://host/name").get_dialect()()
    definitions = {name: str(CreateTable(table).compile(dialect=dialect)) for name, table in TABLES.items()}
    assert "wall_ns BIGINT" in definitions["reps"]
    assert "median_real FLOAT" in definitions["facts"]
    assert not any("SERIAL" in each for each in definitions.values())


def test_views_that_moved_on_are_not_asked(sample: Sample, tmp_path: Path) -> None:
    file = tmp_path / "views.sqlite"
    built(file, sample.grow(3))
    log = sample.grow(4)
    with pytest.raises(ConflictError) as caught:
        ask(open_database(sqlite_url(file), "read"), log, "SELECT 1")
    assert caught.value.code == "E_VIEWS_MOVED"


# Databases.


@pytest.mark.parametrize("junk", [b"no database at all" * 100, b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_file_that_is_no_database_is_named_and_building_is_advised(
    whole: VerifiedLog, tmp_path: Path, junk: bytes
) -> None:
    file = tmp_path / "views.sqlite"
    file.write_bytes(junk)
    for attempt in (status, extend):
        with pytest.raises(StorageError, match="rungbook views rebuild") as caught:
            attempt(open_database(sqlite_url(file), "write"), whole)
        assert caught.value.code == "E_VIEWS_CORRUPT"


def test_damaged_pages_are_not_an_answer(whole: VerifiedLog, tmp_path: Path) -> None:
    file = tmp_path / "views.sqlite"
    built(file, whole)
    with sqlite3.connect(file) as direct:
        (page,) = direct.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'facts'").fetchone()
        (size,) = direct.execute("PRAGMA page_size").fetchone()
    direct.close()
    data = bytearray(file.read_bytes())
    data[(page - 1) * size : page * size] = b"\xff" * size
    file.write_bytes(data)
    with pytest.raises(StorageError) as caught:
        ask(open_database(sqlite_url(file), "read"), whole, "SELECT * FROM facts")
    assert caught.value.code == "E_VIEWS_CORRUPT"


@pytest.mark.parametrize(
    ("url", "error", "code"),
    [
        ("", RefusedError, "E_VIEWS_URL"),
        ("nonsense", RefusedError, "E_VIEWS_URL"),
        ("sqlite://", RefusedError, "E_VIEWS_URL"),
        ("sqlite:///:memory:", RefusedError, "E_VIEWS_URL"),
        ("sqlite:////tmp/x?mode=memory", RefusedError, "E_VIEWS_URL"),
        ("nosuchdatabase://host/name", RefusedError, "E_VIEWS_URL"),
    ],
)
def test_urls_of_no_use_are_refused(url: str, error: type[Exception], code: str) -> None:
    with pytest.raises(error) as caught:
        open_database(url, "read")
    assert getattr(caught.value, "code", "") == code


def test_a_driver_that_is_missing_is_named() -> None:
    with pytest.raises(PolicyError) as caught:
        open_database("oracle+cx_oracle://host/name", "read")
    assert caught.value.code == "E_VIEWS_DRIVER"


def test_odd_names_of_files_are_taken_as_they_are(whole: VerifiedLog, tmp_path: Path) -> None:
    folder = tmp_path / "a?mode=memory#b %20"
    folder.mkdir()
    rebuild(open_database(default_url(folder), "create"), whole)
    assert [path.name for path in folder.iterdir()] == ["views.sqlite"]
    with open_database(default_url(folder), "read").connect() as connection:
        assert set(inspect(connection).get_table_names()) == TABLES.keys()


def test_a_folder_that_is_missing_is_not_made(whole: VerifiedLog, tmp_path: Path) -> None:
    with pytest.raises(StorageError) as caught:
        rebuild(open_database(sqlite_url(tmp_path / "no" / "views.sqlite"), "create"), whole)
    assert caught.value.code == "E_VIEWS_DATABASE"


@pytest.mark.parametrize("enabled", [True, False])
def test_the_garbage_collector_is_left_as_it_was(whole: VerifiedLog, tmp_path: Path, *, enabled: bool) -> None:
    was_enabled = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        built(tmp_path / "views.sqlite", whole)
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if was_enabled else gc.disable)()
