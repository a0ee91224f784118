"""Files that are none, are empty, are being written or have strange names: a clear error, and nothing is written."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.program import OK, REFUSED, UNAVAILABLE, run, run_process
from tests.cli.samples import BINARY, CODE, RUNS, WEIGHTS, slot_text, tool_words

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.cli.conftest import Desk

REAL = RUNS / "round1_1a_main.json"
OTHER = RUNS / "round1_1b_candidate.json"
PATIENCE_S = 10


def given() -> list[str]:
    """What a round of a file of the tool needs, but for the tool and the file."""
    digests = ["--code", f"main={CODE['main']}", "--weights", WEIGHTS, "--harness", BINARY]
    return ["--slot", slot_text(), *digests]


def both_commands(desk: Desk, path: Path) -> list[list[str | Path]]:
    """To show a file, and to seal it."""
    return [["ingest", path], ["append", path, *given(), "--key", desk.key("scorer")]]


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


def make_loop(path: Path) -> None:
    path.with_name("other").symlink_to(path)
    path.symlink_to(path.with_name("other"))


ODD: dict[str, tuple[Callable[[Path], object], int, str]] = {
    "empty": (lambda path: path.write_bytes(b""), REFUSED, "E_EMPTY_RESULTS"),
    "white space": (lambda path: path.write_bytes(b" \n\t\n"), REFUSED, "E_EMPTY_RESULTS"),
    "folder": (Path.mkdir, UNAVAILABLE, "E_IO"),
    "pipe": (make_pipe, REFUSED, "E_NOT_A_FILE"),
    "device": (lambda path: path.symlink_to("/dev/zero"), REFUSED, "E_NOT_A_FILE"),
    "link to nothing": (lambda path: path.symlink_to("nowhere"), UNAVAILABLE, "E_IO"),
    "link to itself": (make_loop, UNAVAILABLE, "E_IO"),
    "nothing": (lambda _: None, UNAVAILABLE, "E_IO"),
}
"""What makes it, and how it is refused."""


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("tool", [[], ["--from", "llama-bench"]], ids=["recognised", "named"])
def test_what_is_no_file_is_named_and_nothing_is_sealed(desk: Desk, tmp_path: Path, odd: str, tool: list[str]) -> None:
    make, status, code = ODD[odd]
    path = tmp_path / "result.json"
    make(path)
    receipts = sorted(desk.root.rglob("*"))
    done = run_process(
        "append", *tool, path, *given(), "--key", desk.key("scorer"), cwd=desk.root, timeout_s=PATIENCE_S
    )
    assert (done.status, done.code()) == (status, code), done
    assert str(path) in done.err
    assert "Traceback" not in done.err
    assert desk.size == 3
    assert sorted(desk.root.rglob("*")) == receipts


@pytest.mark.parametrize("odd", ODD)
def test_it_is_shown_as_it_would_be_refused(tmp_path: Path, odd: str) -> None:
    make, status, code = ODD[odd]
    path = tmp_path / "result.json"
    make(path)
    done = run_process("ingest", path, "--json", cwd=tmp_path, timeout_s=PATIENCE_S)
    assert done.status == status, done
    found = done.document("error") if status == UNAVAILABLE else done.document("ingest")["files"][0]
    error = found["error"]
    assert error["code"] == code
    assert error["where"] == str(path)


@pytest.mark.parametrize("option", ["--parity", "--extra", "--weights", "--harness", "--code"])
def test_no_option_waits_for_a_pipe(desk: Desk, tmp_path: Path, option: str) -> None:
    pipe = tmp_path / "pipe"
    make_pipe(pipe)
    value = f"main={pipe}" if option in {"--parity", "--code"} else str(pipe)
    words: list[str | Path] = [*tool_words(("main", REAL)), option, value]
    if option == "--code":
        at = words.index("--code")
        del words[at : at + 2]
    done = run_process("append", *words, "--key", desk.key("scorer"), cwd=desk.root, timeout_s=PATIENCE_S)
    expected = "E_NOT_A_FILE" if option in {"--parity", "--extra"} else "E_DIGEST_OR_PATH"
    assert (done.status, done.code()) == (REFUSED, expected), done
    assert str(pipe) in done.err
    assert desk.size == 3


@pytest.mark.parametrize(
    "command", [["compare", "{}", "--", "{}"], ["attest", "{}"], ["seal", "{}"]], ids=lambda c: c[0]
)
def test_no_command_waits_for_a_pipe(desk: Desk, tmp_path: Path, command: list[str]) -> None:
    pipe = tmp_path / "pipe"
    make_pipe(pipe)
    words: list[str | Path] = [word.format(pipe) for word in command]
    words += ["--key", desk.key("scorer")] if command[0] == "attest" else []
    done = run_process(*words, cwd=desk.root, timeout_s=PATIENCE_S)
    assert (done.status, done.code()) == (REFUSED, "E_NOT_A_FILE"), done
    assert desk.size == 3


def test_a_file_that_the_system_does_not_give_is_named(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "result.json"
    shutil.copy(REAL, path)
    whole = os.open

    def refuse(name: str | Path, *rest: int) -> int:
        if Path(name) == path:
            raise PermissionError(13, "Permission denied")
        return whole(name, *rest)

    monkeypatch.setattr("os.open", refuse)
    done = desk.run("append", path, *given(), "--key", desk.key("scorer"), status=UNAVAILABLE)
    assert f"cannot read: Permission denied (at {path})" in done.err
    assert desk.size == 3


def test_a_file_that_grows_while_it_is_read_is_refused(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "result.jsonl"
    path.write_bytes((RUNS / "noise_1a_main.jsonl").read_bytes())
    inode, whole = path.stat().st_ino, os.read

    def write_meanwhile(handle: int, count: int) -> bytes:
        data = whole(handle, count)
        if data and os.fstat(handle).st_ino == inode:
            with path.open("ab") as file:
                file.write(b"\n")
        return data

    with monkeypatch.context() as patch:  # `undo` would also forget where this test keeps its state
        patch.setattr("os.read", write_meanwhile)
        for words in both_commands(desk, path):
            done = desk.run(*words, status=UNAVAILABLE)
            assert done.code() == "E_BEING_WRITTEN"
            assert str(path) in done.err
            assert "wait until the tool has ended" in done.err
    assert desk.size == 3
    desk.run("append", path, *given(), "--key", desk.key("scorer"))


def test_a_file_that_is_cut_where_the_tool_is_still_writing_is_refused(desk: Desk, tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    path.write_bytes(REAL.read_bytes()[:-200])
    done = desk.run("append", path, *given(), "--key", desk.key("scorer"), status=REFUSED)
    assert done.code() == "E_JSON"
    assert str(path) in done.err
    assert desk.size == 3


# Names.

STRANGE = os.fsdecode(b"caf\xe9 \xff.json")
"""A name that is not UTF-8, as an old disk has it."""


@pytest.fixture
def strange(tmp_path: Path) -> Path:
    path = tmp_path / STRANGE
    try:
        shutil.copy(REAL, path)
    except OSError:
        pytest.skip("names are text on this file system")
    return path


def test_a_file_whose_name_is_no_text_is_sealed_under_a_name_that_is(desk: Desk, strange: Path) -> None:
    done = run_process("append", strange, *given(), "--key", desk.key("scorer"), "--json", cwd=desk.root)
    assert done.status == OK, done
    done.document("append")
    body = json.loads(desk.receipt(3).read_bytes())["statement"]["predicate"]["round"]
    assert [item["name"] for item in body["attachments"]] == ["caf---.json"]
    assert run_process("append", strange, *given(), "--key", desk.key("scorer"), cwd=desk.root).status == OK
    assert desk.size == 4


@pytest.mark.parametrize("terminal", ["utf-8:strict", "ascii:strict", "utf-8:surrogateescape"])
def test_its_name_is_shown_on_every_terminal(strange: Path, terminal: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", terminal)
    shown = run_process("ingest", strange.name, cwd=strange.parent)
    assert shown.status == OK, shown
    assert "llama-bench" in shown.out
    document = run_process("ingest", strange.name, "--json", cwd=strange.parent).document("ingest")
    assert document["files"][0]["file"] == r"caf\udce9 \udcff.json"


def test_an_error_about_it_is_one_of_the_file(tmp_path: Path) -> None:
    done = run_process("ingest", STRANGE, "--json", cwd=tmp_path)
    assert done.status == UNAVAILABLE, done
    error = done.document("error")["error"]
    assert (error["code"], error["where"]) == ("E_IO", r"caf\udce9 \udcff.json")


# One file for two arms.


def link(path: Path) -> Path:
    other = path.with_name("link.json")
    other.symlink_to(path)
    return other


def hard_link(path: Path) -> Path:
    other = path.with_name("hard.json")
    other.hardlink_to(path)
    return other


def copy(path: Path) -> Path:
    return Path(shutil.copy(path, path.with_name("copy.json")))


@pytest.mark.parametrize("again", [lambda path: path, link, hard_link, copy], ids=["itself", "link", "inode", "copy"])
def test_one_file_is_no_two_arms_under_whatever_name(desk: Desk, tmp_path: Path, again: Callable[[Path], Path]) -> None:
    path = tmp_path / "result.json"
    shutil.copy(REAL, path)
    words = tool_words(("main", path), ("candidate", again(path)))
    shown = run("ingest", *words, cwd=tmp_path)
    assert (shown.status, "E_COPIED_SAMPLES" in shown.out) == (REFUSED, True), shown
    done = desk.run("append", *words, "--key", desk.key("scorer"), status=REFUSED)
    assert done.code() == "E_COPIED_SAMPLES"
    assert desk.size == 3


def test_two_files_of_one_name_in_two_folders_are_two_runs_and_their_names_must_differ(
    desk: Desk, tmp_path: Path
) -> None:
    paths = []
    for folder, source in (("a", REAL), ("b", OTHER)):
        (tmp_path / folder).mkdir()
        paths.append(Path(shutil.copy(source, tmp_path / folder / "result.json")))
    words = tool_words(("main", paths[0]), ("candidate", paths[1]))
    done = desk.run("append", *words, "--key", desk.key("scorer"), status=REFUSED)
    assert done.code() == "E_ATTACHMENT"
    assert "result.json" in done.err
    assert desk.size == 3
