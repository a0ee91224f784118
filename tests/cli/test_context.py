"""Where a command finds its ledger, and what ``rungbook.toml`` may say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.conftest import ORIGIN, Desk
from tests.cli.program import OK, REFUSED, UNAVAILABLE, run
from tests.cli.samples import write_round

if TYPE_CHECKING:
    from pathlib import Path


def origin_seen(*words: str | Path, cwd: Path) -> str:
    done = run("log", *words, "--json", cwd=cwd)
    assert done.status == OK, done
    return str(done.document("log")["origin"])


def test_a_ledger_is_found_upward_from_a_folder_below_it(desk: Desk) -> None:
    below = desk.root / "results" / "today"
    below.mkdir(parents=True)
    assert origin_seen(cwd=below) == ORIGIN
    done = run("append", write_round(below), "--key", desk.key("scorer"), cwd=below)
    assert done.status == OK
    assert desk.size == 4


@pytest.mark.parametrize("option", ["--ledger", "-C"])
def test_a_ledger_is_named_by_option_from_anywhere(desk: Desk, tmp_path: Path, option: str) -> None:
    assert origin_seen(option, desk.root, cwd=tmp_path) == ORIGIN
    assert origin_seen(option, "ledger", cwd=tmp_path) == ORIGIN
    assert origin_seen(option, desk.root / "receipts", cwd=tmp_path) == ORIGIN


def test_a_named_ledger_comes_before_the_one_around(desk: Desk, tmp_path: Path) -> None:
    other = tmp_path / "other"
    words = ("--origin", "example.org/other", "--root-key", desk.key("root"), "--ledger-key", desk.key("ledger"))
    desk.run("init", other, *words)
    assert origin_seen("-C", other, cwd=desk.root) == "example.org/other"


def test_a_named_folder_that_is_not_there_never_means_the_ledger_around(desk: Desk) -> None:
    done = run("verify", "--ledger", "typo", cwd=desk.root)
    assert (done.status, done.out) == (UNAVAILABLE, "")
    assert "typo" in done.err


def test_files_are_named_from_where_the_command_runs(desk: Desk, tmp_path: Path) -> None:
    write_round(tmp_path)
    done = run("attest", "round-0.json", "--key", desk.key("scorer"), "-C", desk.root, "-o", "here.json", cwd=tmp_path)
    assert done.status == OK
    assert (tmp_path / "here.json").exists()


def test_the_inbox_is_the_ledgers(desk: Desk, tmp_path: Path) -> None:
    write_round(tmp_path)
    assert run("attest", "round-0.json", "--key", desk.key("scorer"), "-C", desk.root, cwd=tmp_path).status == OK
    assert len(list((desk.root / "inbox").iterdir())) == 1


@pytest.mark.parametrize("left", ["receipts/checkpoint", "receipts/000/000/000.json", "rungbook.toml"])
def test_each_mark_of_a_ledger_is_enough_to_find_it(desk: Desk, left: str) -> None:
    for name in ("receipts/checkpoint", "receipts/000/000/000.json", "rungbook.toml"):
        if name != left:
            (desk.root / name).unlink()
    below = desk.root / "below"
    below.mkdir()
    done = run("verify", cwd=below)
    assert done.status != OK
    assert "there is no ledger in this folder or above it" not in done.err


def test_a_path_that_no_file_system_takes_is_unavailable(desk: Desk) -> None:
    assert desk.run("log", "-C", "n" * 5000, status=UNAVAILABLE).code() == "E_IO"


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        pytest.param('origin = "a"\nowner = "me"\n', "owner", id="unknown-name"),
        pytest.param('[slots]\nnode = "n"\n', "slots", id="unknown-table"),
        pytest.param('[slot]\ngpu = "h200"\n', "context, metric, node, project, quant", id="unknown-axis"),
        pytest.param('[round]\ncode = "x"\n', "harness, weights", id="unknown-default"),
        pytest.param('slot = "node-1"\n', "[slot]", id="no-table"),
        pytest.param("origin = 3\n", "origin", id="origin-number"),
        pytest.param("[slot]\nnode = true\n", "slot.node", id="boolean"),
        pytest.param("[slot]\nquant = 4.5\n", "slot.quant", id="fraction"),
        pytest.param('[round]\nweights = ["a"]\n', "round.weights", id="list"),
        pytest.param("origin = nonsense\n", "not TOML", id="no-toml"),
        pytest.param('origin = "a"\norigin = "b"\n', "not TOML", id="twice"),
    ],
)
def test_a_configuration_that_is_wrong_is_refused_by_every_command(desk: Desk, text: str, hint: str) -> None:
    (desk.root / "rungbook.toml").write_text(text)
    for words in (("verify",), ("log",), ("append", write_round(desk.root), "--key", desk.key("scorer"))):
        done = desk.run(*words, status=REFUSED)
        assert done.code() == "E_CONFIG"
        assert hint in done.err
        assert "rungbook.toml" in done.err
    assert desk.size == 3


def test_a_configuration_that_is_no_text_is_refused(desk: Desk) -> None:
    (desk.root / "rungbook.toml").write_bytes(b'origin = "\xff"\n')
    assert desk.run("verify", status=REFUSED).code() == "E_CONFIG"


def test_a_local_file_that_is_no_toml_is_refused_and_named(desk: Desk) -> None:
    (desk.root / ".rungbook" / "local.toml").write_text("nonsense\n")
    done = desk.run("append", write_round(desk.root), "--key", desk.key("scorer"), status=REFUSED)
    assert done.code() == "E_CONFIG"
    assert "local.toml" in done.err
    desk.run("verify")


def test_the_example_in_a_new_configuration_is_one_that_is_accepted(desk: Desk) -> None:
    path = desk.root / "rungbook.toml"
    example = [line.removeprefix("# ") for line in path.read_text().splitlines() if line.startswith("# ")]
    start = example.index("[slot]")
    path.write_text(path.read_text() + "\n".join(example[start:]) + "\n")
    desk.run("verify")
