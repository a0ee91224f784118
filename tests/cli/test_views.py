"""``rungbook views`` and ``rungbook sql``."""

from __future__ import annotations

import csv
import io
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from cli.context import find_ledger
from cli.history import open_log
from ledger.errors import ConflictError
from ledger.views.follow import Follower
from tests.cli.program import OK, PROGRAM, REFUSED, REFUTED, UNAVAILABLE, Result, run
from tests.cli.samples import write_round

if TYPE_CHECKING:
    from pathlib import Path

    from ledger.views.build import ViewStatus
    from tests.cli.conftest import Desk


def add_round(desk: Desk, number: int) -> None:
    path = write_round(desk.keys, number)
    desk.run("append", path, "--key", desk.key("scorer"), "--ledger-key", desk.key("ledger"))
    path.unlink()


def views_file(desk: Desk) -> Path:
    return desk.root / ".rungbook" / "views.sqlite"


@pytest.fixture
def viewed(desk: Desk) -> Desk:
    """A ledger with a round, and its views."""
    add_round(desk, 0)
    desk.run("views", "rebuild")
    return desk


# The life of views.


def test_views_are_built_extended_and_looked_at(desk: Desk) -> None:
    absent = desk.run("views", "status", "--json", status=UNAVAILABLE).document("views")
    assert absent == {"rungbook": "views/v1", "state": "absent", "tree_size": None, "root_hash": None, "behind": 0}
    assert not views_file(desk).exists()
    made = desk.run("views", "rebuild", "--json").document("views")
    assert (made["state"], made["tree_size"]) == ("fresh", 3)
    add_round(desk, 0)
    assert desk.run("views", "status", "--json").document("views")["behind"] == 1
    assert "behind the ledger" in desk.run("views", "status").out
    assert desk.run("views", "extend").out.endswith(": 1 receipt added\n")
    assert desk.run("views", "extend", "--json").document("views")["state"] == "fresh"
    assert desk.run("views", "status").out.startswith("4 receipts, root ")


def test_views_are_local_and_ignored_by_git(viewed: Desk) -> None:
    assert (viewed.root / ".rungbook" / ".gitignore").read_text() == "*\n"
    assert views_file(viewed).is_file()
    viewed.run("verify")


@pytest.mark.parametrize("words", [("sql", "SELECT 1"), ("views", "extend"), ("views", "check")])
def test_without_views_the_program_says_how_to_make_them(desk: Desk, words: tuple[str, ...]) -> None:
    done = desk.run(*words, status=UNAVAILABLE)
    assert done.code() == "E_VIEWS_ABSENT"
    assert "rungbook views rebuild" in done.err
    assert not views_file(desk).exists()


def test_a_question_first_brings_the_views_up_to_date_and_says_so(viewed: Desk) -> None:
    add_round(viewed, 1)
    done = viewed.run("sql", "SELECT id FROM rounds ORDER BY receipt", "--csv")
    assert done.out == "id\nround-0\nround-1\n"
    assert "note: the views lacked 1 receipt and were brought up to date" in done.err
    assert viewed.run("sql", "SELECT 1").err == ""


def test_a_ledger_that_was_rolled_back_or_replaced_does_not_fit_its_views(viewed: Desk, tmp_path: Path) -> None:
    shutil.copytree(viewed.root / "receipts", tmp_path / "older")
    add_round(viewed, 1)
    viewed.run("views", "extend")
    shutil.rmtree(viewed.root / "receipts")
    shutil.move(tmp_path / "older", viewed.root / "receipts")
    for words in (("sql", "SELECT 1"), ("views", "extend"), ("views", "check")):
        assert viewed.run(*words, status=REFUTED).code() == "E_VIEWS_FORK"
    assert viewed.run("views", "status", "--json", status=REFUTED).document("views")["state"] == "fork"
    viewed.run("views", "rebuild")
    assert viewed.run("sql", "SELECT tree_size FROM stamp", "--csv").out == "tree_size\n4\n"


def test_a_ledger_that_does_not_verify_gives_no_views(viewed: Desk) -> None:
    viewed.receipt(3).write_bytes(viewed.receipt(3).read_bytes().replace(b"round-0", b"round-9"))
    for words in (
        ("sql", "SELECT 1"),
        ("views", "extend"),
        ("views", "rebuild"),
        ("views", "status"),
        ("views", "check"),
    ):
        viewed.run(*words, status=REFUTED)


# Damage.


def test_a_corrupt_file_is_no_answer_and_is_built_again(viewed: Desk) -> None:
    views_file(viewed).write_bytes(b"not a database " * 1000)
    for words in (("sql", "SELECT 1"), ("views", "extend"), ("views", "status"), ("views", "check")):
        done = viewed.run(*words, status=UNAVAILABLE)
        assert done.code() == "E_VIEWS_CORRUPT"
        assert "rungbook views rebuild" in done.err
    viewed.run("views", "rebuild")
    assert viewed.run("sql", "SELECT count(*) AS n FROM rounds", "--csv").out == "n\n1\n"


def test_a_file_of_somebody_else_is_neither_read_nor_replaced(viewed: Desk, tmp_path: Path) -> None:
    file = tmp_path / "letter.txt"
    file.write_text("Dear reader, " * 1000)
    done = viewed.run("views", "rebuild", "--url", f"sqlite:///{file}", status=UNAVAILABLE)
    assert done.code() == "E_VIEWS_CORRUPT"
    assert file.read_text() == "Dear reader, " * 1000


def test_a_database_of_somebody_else_keeps_its_tables(viewed: Desk, tmp_path: Path) -> None:
    file = tmp_path / "shop.sqlite"
    with sqlite3.connect(file) as direct:
        direct.execute("CREATE TABLE receipts (amount INTEGER)")
    direct.close()
    before = file.read_bytes()
    url = f"sqlite:///{file}"
    assert viewed.run("views", "rebuild", "--url", url, status=REFUSED).code() == "E_VIEWS_FOREIGN"
    assert viewed.run("sql", "SELECT 1", "--url", url, status=REFUSED).code() == "E_VIEWS_FOREIGN"
    assert viewed.run("views", "check", "--url", url, status=REFUSED).code() == "E_VIEWS_FOREIGN"
    assert "no views" in viewed.run("views", "status", "--url", url, status=UNAVAILABLE).out
    assert file.read_bytes() == before


# Rows that somebody has edited, under a stamp that is right.


def edit(desk: Desk, *statements: str) -> None:
    with sqlite3.connect(views_file(desk)) as direct:
        for statement in statements:
            direct.execute(statement)
    direct.close()


def test_C35_a_receipt_that_the_views_do_not_list_is_found_and_comes_back(viewed: Desk) -> None:  # noqa: N802 - a case
    rows = viewed.run("views", "check").out
    assert rows.startswith("4 receipts, root ")
    assert rows.endswith("rows are those of the ledger\n")
    edit(viewed, "DELETE FROM receipts WHERE receipt = 1")
    assert "up to date" in viewed.run("views", "status").out
    before = views_file(viewed).read_bytes()
    done = viewed.run("views", "check", status=REFUTED)
    assert done.out.splitlines()[0] == "E_INDEX_GAP: receipts: receipt 1: missing"
    assert "1 difference from the " in done.out
    assert "rungbook views rebuild" in done.out
    assert views_file(viewed).read_bytes() == before
    viewed.run("views", "rebuild")
    assert viewed.run("views", "check").out == rows


def test_what_was_edited_is_told_in_json_with_table_receipt_and_column(viewed: Desk) -> None:
    edit(
        viewed,
        "UPDATE facts SET median = '9999' WHERE arm = 'main'",
        "UPDATE rounds SET value = '9999', value_real = 9999",
        "INSERT INTO findings (receipt, number, source, code) VALUES (3, 9, 'verdict', 'F_MADE_UP')",
        "INSERT INTO pins (project, node, quant, context, metric, role, value, receipt, stale) "
        "VALUES ('p', 'n', 'q', 0, 'm', 'basis', '9999', 3, 0)",
    )
    document = viewed.run("views", "check", "--json", status=REFUTED).document("views-check")
    assert (document["state"], document["tree_size"], document["behind"]) == ("fresh", 4, 0)
    found = {(each["code"], each["table"], each["receipt"], *each["columns"]) for each in document["findings"]}
    assert found == {
        ("E_INDEX_DIFFERS", "facts", 3, "median"),
        ("E_INDEX_DIFFERS", "rounds", 3, "value", "value_real"),
        ("E_INDEX_EXTRA", "findings", 3),
        ("E_INDEX_EXTRA", "pins", 3),
    }
    assert document["count"] == len(document["findings"])
    lines = viewed.run("views", "check", status=REFUTED).out
    assert "E_INDEX_EXTRA: findings: receipt 3, number 9: not of the ledger\n" in lines
    assert "E_INDEX_DIFFERS: rounds: receipt 3: differs: value, value_real\n" in lines
    assert (
        "E_INDEX_EXTRA: pins: project p, node n, quant q, context 0, metric m, role basis, of receipt 3: not" in lines
    )
    assert "9999" not in lines


def test_twenty_differences_are_told_and_the_others_counted(viewed: Desk) -> None:
    edit(viewed, "UPDATE receipts SET sealed_at = 'then'")
    more = "WITH RECURSIVE n(at) AS (SELECT 1 UNION ALL SELECT at + 1 FROM n WHERE at < 30) SELECT 3, at FROM n"
    edit(viewed, f"INSERT INTO arms (receipt, role) {more}")
    lines = viewed.run("views", "check", status=REFUTED).out.splitlines()
    assert sum(line.startswith("E_INDEX_") for line in lines) == 20
    assert lines[-2] == "… and 14 more"
    assert ": 34 differences from the " in lines[-1]
    document = viewed.run("views", "check", "--json", status=REFUTED).document("views-check")
    assert (len(document["findings"]), document["count"]) == (20, 34)


def test_what_an_editor_wrote_cannot_steer_the_terminal(viewed: Desk) -> None:
    edit(viewed, "INSERT INTO arms (receipt, role) VALUES (3, char(27) || '[2J' || CAST(x'ff' AS TEXT))")
    assert "role \\x1b[2J\\udcff: not of the ledger" in viewed.run("views", "check", status=REFUTED).out
    (found,) = viewed.run("views", "check", "--json", status=REFUTED).document("views-check")["findings"]
    assert found["key"]["role"].endswith("[2J\\udcff")


def test_a_table_that_somebody_dropped_is_named(viewed: Desk) -> None:
    edit(viewed, "DROP TABLE incidents")
    assert "E_INDEX_GAP: incidents: missing\n" in viewed.run("views", "check", status=REFUTED).out
    edit(viewed, "ALTER TABLE arms DROP COLUMN toolchain")
    assert "E_INDEX_GAP: arms: missing: toolchain\n" in viewed.run("views", "check", status=REFUTED).out


def test_views_that_are_behind_are_no_refutation_and_not_exact_either(viewed: Desk) -> None:
    add_round(viewed, 1)
    done = viewed.run("views", "check", status=UNAVAILABLE)
    assert "rows are those of the ledger so far; behind the ledger: run rungbook views extend\n" in done.out
    document = viewed.run("views", "check", "--json", status=UNAVAILABLE).document("views-check")
    assert (document["state"], document["behind"], document["findings"]) == ("behind", 1, [])
    edit(viewed, "DELETE FROM arms")
    assert viewed.run("views", "check", "--json", status=REFUTED).document("views-check")["count"] == 2
    viewed.run("views", "rebuild")
    viewed.run("views", "check")


def test_views_that_were_extended_while_the_ledger_was_verified_are_no_fork(
    viewed: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_round(viewed, 1)
    viewed.run("views", "extend")
    log = open_log(find_ledger(viewed.root))
    looks = iter([replace(log, entries=log.entries[:4]), log])
    monkeypatch.setattr("cli.tables.open_log", lambda _: next(looks))
    assert viewed.run("views", "check").out.startswith("5 receipts, root ")


# Questions.


def test_answers_are_a_table_csv_or_json(viewed: Desk) -> None:
    question = "SELECT receipt, arm, median, median_real, spread_pct, NULL AS empty FROM facts ORDER BY arm"
    document = viewed.run("sql", question, "--json").document("sql")
    assert document["columns"] == ["receipt", "arm", "median", "median_real", "spread_pct", "empty"]
    assert document["rows"] == [
        [3, "candidate", "4608", "4608.0", None, None],
        [3, "main", "4608", "4608.0", None, None],
    ]
    rows = list(csv.reader(io.StringIO(viewed.run("sql", question, "--csv").out)))
    assert rows[1] == ["3", "candidate", "4608", "4608.0", "", ""]
    lines = viewed.run("sql", question).out.splitlines()
    assert lines[0].split() == document["columns"]
    assert lines[1].split() == ["3", "candidate", "4608", "4608.0"]


def test_an_answer_without_rows_shows_its_columns(viewed: Desk) -> None:
    assert viewed.run("sql", "SELECT receipt, label FROM ladder WHERE 0").out == "receipt  label\n"


def test_an_answer_cannot_steer_the_terminal(viewed: Desk) -> None:
    assert viewed.run("sql", "SELECT char(27) || '[2J' || char(10) AS x").out == "x\n\\x1b[2J\\n\n"


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO stamp SELECT * FROM stamp",
        "ATTACH 'other.sqlite' AS other",
        "PRAGMA writable_schema = ON",
        "WITH x AS (SELECT 1) DELETE FROM rounds",
        "SELECT 1; DELETE FROM rounds",
        "SELECT nothing FROM rounds",
    ],
)
def test_a_statement_that_does_more_than_read_changes_nothing(viewed: Desk, statement: str) -> None:
    before = views_file(viewed).read_bytes()
    done = viewed.run("sql", statement, status=REFUSED)
    assert (done.code(), done.out) == ("E_SQL", "")
    assert viewed.run("sql", statement, "--json", status=REFUSED).document("error")["error"]["code"] == "E_SQL"
    assert views_file(viewed).read_bytes() == before
    assert not (viewed.root / "other.sqlite").exists()


def test_another_database_is_named_by_url(viewed: Desk, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'elsewhere.sqlite'}"
    views_file(viewed).unlink()
    viewed.run("views", "rebuild", "--url", url)
    add_round(viewed, 1)
    viewed.run("views", "extend", "--url", url)
    assert viewed.run("views", "status", "--url", url, "--json").document("views")["tree_size"] == 5
    assert viewed.run("views", "check", "--url", url, "--json").document("views-check")["tree_size"] == 5
    assert viewed.run("sql", "SELECT count(*) AS n FROM rounds", "--url", url, "--csv").out == "n\n2\n"
    assert not views_file(viewed).exists()


@pytest.mark.parametrize("url", ["nonsense", "sqlite://", "nosuchdatabase://user:secret@host/name"])
def test_a_url_of_no_use_is_refused_without_its_password(viewed: Desk, url: str) -> None:
    done = viewed.run("views", "rebuild", "--url", url, status=REFUSED)
    assert done.code() == "E_VIEWS_URL"
    assert "secret" not in done.err


# Following.


class Follow:
    """``rungbook views follow`` as a process."""

    def __init__(self, desk: Desk, *words: str) -> None:
        self.desk = desk
        command = [PROGRAM, "views", "follow", "--every", "0.05", *words]
        self.process = subprocess.Popen(
            command, cwd=desk.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def wait_for(self, text: str) -> None:
        """Read what it says up to a line."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            if text in line:
                return
        raise AssertionError(f"it ended without {text!r}")

    def end(self, number: int = signal.SIGTERM) -> Result:
        """Tell it to end."""
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=60)
        return Result(status=self.process.returncode, out=out, err=err)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_views_follow_the_ledger_until_told_to_end(viewed: Desk, number: int) -> None:
    add_round(viewed, 1)
    following = Follow(viewed, "--json")
    following.wait_for("1 receipt added, 5 in all")
    following.wait_for("following the ledger; Ctrl-C ends it")
    for at in (2, 3):
        add_round(viewed, at)
        following.wait_for(f"1 receipt added, {4 + at} in all")
        with sqlite3.connect(views_file(viewed)) as direct:
            assert direct.execute("SELECT count(*) FROM rounds").fetchone() == (at + 1,)
        direct.close()
    done = following.end(number)
    assert (done.status, done.err) == (OK, "")
    document = done.document("views")
    assert (document["state"], document["tree_size"]) == ("fresh", 7)
    before = viewed.run("sql", "SELECT * FROM rounds", "--json").out
    viewed.run("views", "rebuild")
    assert viewed.run("sql", "SELECT * FROM rounds", "--json").out == before


def test_following_survives_that_the_views_are_built_anew_and_the_wait_for_them(viewed: Desk) -> None:
    following = Follow(viewed)
    following.wait_for("following")
    viewed.run("views", "rebuild")
    add_round(viewed, 1)
    following.wait_for("1 receipt added, 5 in all")
    assert following.end().out.startswith("5 receipts, root ")


def test_following_ends_with_status_3_when_the_ledger_is_rolled_back(viewed: Desk, tmp_path: Path) -> None:
    shutil.copytree(viewed.root / "receipts", tmp_path / "older")
    add_round(viewed, 1)
    following = Follow(viewed)
    following.wait_for("following")
    shutil.rmtree(viewed.root / "receipts")
    shutil.copytree(tmp_path / "older", viewed.root / "receipts")
    _, err = following.process.communicate(timeout=60)
    assert following.process.returncode == REFUTED
    assert "E_ROLLBACK" in err


def test_following_without_views_says_how_to_make_them(desk: Desk) -> None:
    done = desk.run("views", "follow", status=UNAVAILABLE)
    assert done.code() == "E_VIEWS_ABSENT"


def test_following_in_this_process_leaves_its_signals_as_they_were(
    viewed: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = iter([ConflictError("E_VIEWS_LOCKED", "somebody builds them"), None])
    catch_up = Follower.catch_up

    def sometimes_locked(self: Follower, *args: object) -> ViewStatus:
        problem = next(looks, None) if not args else None
        if problem:
            raise problem
        if not args:
            os.kill(os.getpid(), signal.SIGTERM)
        return catch_up(self)

    monkeypatch.setattr(Follower, "catch_up", sometimes_locked)
    handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    add_round(viewed, 1)
    done = viewed.run("views", "follow", "--every", "0.05")
    assert "somebody builds them" in done.err
    assert done.out.endswith(": up to date\n")
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == handlers


# Several processes.


def test_processes_that_build_extend_and_ask_at_once_do_not_disturb_each_other(viewed: Desk) -> None:
    add_round(viewed, 1)
    add_round(viewed, 2)
    question = ("sql", "SELECT count(*) AS n FROM rounds", "--csv")
    commands = [question, ("views", "extend"), ("views", "rebuild"), question]
    running = [
        subprocess.Popen([PROGRAM, *words], cwd=viewed.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for words in commands
    ]
    done = [(*process.communicate(timeout=120), process.returncode) for process in running]
    assert [status for *_, status in done] == [OK] * len(commands), done
    assert [out for (out, *_), words in zip(done, commands, strict=True) if words is question] == ["n\n3\n"] * 2
    before = viewed.run("sql", "SELECT * FROM reps", "--json").out
    viewed.run("views", "rebuild")
    assert viewed.run("sql", "SELECT * FROM reps", "--json").out == before


def test_other_commands_do_not_import_sql(viewed: Desk) -> None:
    code = (
        "import sys; from cli.main import build_app; build_app(['views']); build_app(['log']); "
        "sys.exit('sqlalchemy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=viewed.root, check=False)
    assert done.returncode == OK


def test_the_ledger_is_found_from_outside(viewed: Desk, tmp_path: Path) -> None:
    done = run("sql", "SELECT count(*) AS n FROM arms", "--csv", "-C", viewed.root, cwd=tmp_path)
    assert (done.status, done.out) == (OK, "n\n2\n")
