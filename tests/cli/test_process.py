"""The program as a process: an empty folder to a verified round, pipes that close, Ctrl-C, writers side by side."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import pytest

from cli import entry
from tests.cli.program import (
    CRASH,
    INTERRUPTED,
    OK,
    PROGRAM,
    REFUSED,
    REFUTED,
    UNAVAILABLE,
    Result,
    run_process,
    writing_elsewhere,
)
from tests.cli.samples import BINARY, REAL_ROUND, WEIGHTS, slot_text, write_round

if TYPE_CHECKING:
    from tests.cli.conftest import Desk


FULL = Path("/dev/full")


def test_the_program_is_the_one_of_this_environment() -> None:
    assert shutil.which(PROGRAM) == PROGRAM


# From nothing to a verified round.


def medians_of(role: str, row: int, tokens: int) -> list[Fraction]:
    """Median rate of every run of an arm, from the files of the tool alone: nothing of the program is used."""
    files = [json.loads(path.read_bytes()) for arm, path in REAL_ROUND if arm == role]
    return [median(Fraction(tokens * 10**9, ns) for ns in rows[row]["samples_ns"]) for rows in files]


def reckon(medians: list[Fraction]) -> dict[str, Fraction]:
    low, high, middle = min(medians), max(medians), median(medians)
    return {"median": middle, "lowest": low, "highest": high, "spread_pct": 100 * (high - low) / middle}


def test_in_an_empty_folder_a_real_round_is_sealed_and_its_facts_are_those_of_the_raw_samples(tmp_path: Path) -> None:
    def do(*words: str | Path) -> Result:
        done = run_process(*words, cwd=tmp_path)
        assert done.status == OK, done
        return done

    for name in ("root", "ledger", "scorer"):
        do("key", "new", name)
    do("init", "--origin", "example.org/bench", "--root-key", "root", "--ledger-key", "ledger")
    do("grant", "scorer.pub", "--role", "scorer", "--node", "node-1", "--key", "root")
    arms = [word for role, path in REAL_ROUND for word in ("--arm", f"{role}={path}")]
    code = ["--code", f"main={BINARY}", "--code", f"candidate={BINARY}"]
    given = ["--slot", slot_text(), *code, "--weights", WEIGHTS, "--harness", BINARY]
    do("append", "--from", "llama-bench", *arms, *given, "--key", "scorer")

    verified = do("verify", "--json").document("verify")
    assert (verified["verdict"], verified["kinds"]) == ("verified", {"genesis": 1, "keys": 1, "round": 1})
    shown = do("show", "2", "--json").document("show")
    assert shown["standing"] == "attested"
    facts = {(fact["arm"], fact["metric"]): fact for fact in shown["facts"]}
    tests = {"prefill_tok_s": (0, 512), "gen_tok_s": (1, 64)}
    assert facts.keys() == {(role, metric) for role in ("main", "candidate") for metric in tests}
    for (role, metric), fact in facts.items():
        medians = medians_of(role, *tests[metric])
        expected = reckon(medians)
        assert [Fraction(rep["median_exact"]) for rep in fact["reps"]] == medians
        assert Fraction(fact["median_exact"]) == expected["median"]
        for name, value in expected.items():
            assert abs(Fraction(fact[name]) - value) <= Fraction(1, 2 * 10**6), (role, metric, name)


def test_steps_in_the_wrong_order_say_what_is_missing(tmp_path: Path, keys: Path) -> None:
    key = ("--key", keys / "scorer")
    wrong: list[tuple[tuple[str | Path, ...], str]] = [
        (("append", write_round(tmp_path), *key), "rungbook init"),
        (("grant", keys / "scorer.pub", "--role", "contributor", *key), "rungbook init"),
        (("seal", "inbox"), "rungbook init"),
        (("verify",), "rungbook init"),
    ]
    for words, hint in wrong:
        done = run_process(*words, cwd=tmp_path)
        assert (done.status, done.out) == (UNAVAILABLE, "")
        assert hint in done.err


# A reader that goes away.


def run_into_closed_pipe(*words: str | Path, cwd: Path, err: int = subprocess.PIPE) -> Result:
    """Run the program with a stdout that nobody reads any more."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run([PROGRAM, *words], cwd=cwd, stdout=writer, stderr=err, text=True, check=False, timeout=60)
    finally:
        os.close(writer)
    return Result(status=done.returncode, out="", err=done.stderr or "")


@pytest.mark.parametrize(
    "words", [("log",), ("show", "1"), ("verify",), ("export", "1"), ("log", "--json"), ("--help",)]
)
def test_output_that_is_closed_early_ends_the_program_without_a_traceback(desk: Desk, words: tuple[str, ...]) -> None:
    done = run_into_closed_pipe(*words, cwd=desk.root)
    assert "Traceback" not in done.err
    assert "Exception ignored" not in done.err
    assert done.status not in (REFUTED, UNAVAILABLE, REFUSED)


def test_head_takes_the_first_line_of_a_long_log(desk: Desk) -> None:
    paths = [write_round(desk.root, number) for number in range(40)]
    desk.run("append", *paths, "--key", desk.key("scorer"))
    command = f"set -o pipefail; '{PROGRAM}' log | head -n 1"
    done = subprocess.run(
        ["bash", "-c", command], cwd=desk.root, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stdout.split()[:2] == ["index", "sealed"]
    assert done.stderr == ""


def test_a_refuted_ledger_is_never_status_0_because_nobody_read_the_verdict(desk: Desk) -> None:
    raw = desk.receipt(1).read_bytes()
    desk.receipt(1).write_bytes(raw.replace(b'"scorer"', b'"sc0rer"'))
    assert run_into_closed_pipe("verify", cwd=desk.root).status != OK
    assert run_into_closed_pipe("verify", "--json", cwd=desk.root).status != OK


def test_what_seal_left_unsealed_is_never_status_0_because_nobody_read_it(desk: Desk) -> None:
    (desk.root / "cut.json").write_text("{")
    desk.run("attest", write_round(desk.root), "--key", desk.key("scorer"))
    done = run_into_closed_pipe("seal", "inbox", "cut.json", "--skip-refused", cwd=desk.root)
    assert desk.size == 4
    assert done.status != OK


def test_an_error_whose_object_nobody_reads_is_not_status_0(desk: Desk) -> None:
    done = run_into_closed_pipe("show", "99", "--json", cwd=desk.root)
    assert done.status != OK
    assert "Traceback" not in done.err


@pytest.mark.parametrize("words", [("log",), ("log", "--json"), ("verify",)])
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_behind_stdout_is_not_status_0(desk: Desk, words: tuple[str, ...], unbuffered: str) -> None:
    if not FULL.exists():
        pytest.skip("there is no /dev/full here")
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}  # it decides when a buffer meets the full disk
    with FULL.open("w") as full:
        done = subprocess.run(
            [PROGRAM, *words],
            cwd=desk.root,
            env=environment,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == UNAVAILABLE
    assert "No space left" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


# Ctrl-C.


TELLING = """
import fcntl
import sys
from cli.main import main

flock = fcntl.flock

def tell_and_lock(*args):
    fcntl.flock = flock
    print("at the lock", file=sys.stderr, flush=True)
    return flock(*args)

fcntl.flock = tell_and_lock
main()
"""


def test_ctrl_c_while_waiting_for_another_writer_seals_nothing(desk: Desk) -> None:
    path = write_round(desk.root)
    command: list[str | Path]
    command = [sys.executable, "-c", TELLING, "append", path, "--key", desk.key("scorer")]
    with (
        writing_elsewhere(desk.root),
        subprocess.Popen(command, cwd=desk.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process,
    ):
        assert process.stderr is not None
        assert process.stderr.readline() == "at the lock\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (INTERRUPTED, "")
    assert err.startswith("interrupted: ")
    assert "Traceback" not in err
    assert desk.size == 3
    desk.run("verify")
    desk.run("append", path, "--key", desk.key("scorer"))


@pytest.mark.parametrize("delay", [0.0, 0.05, 0.1, 0.2, 0.3, 0.4])
def test_ctrl_c_at_any_moment_leaves_a_ledger_that_verifies(desk: Desk, delay: float) -> None:
    paths = [write_round(desk.root, number) for number in range(5)]
    command: list[str | Path] = [PROGRAM, "append", *paths, "--key", desk.key("scorer")]
    with subprocess.Popen(command, cwd=desk.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    assert process.returncode not in (REFUTED, UNAVAILABLE, REFUSED)
    assert desk.size in (3, 8)
    if process.returncode == OK:
        assert (out.count("sealed receipt"), desk.size) == (5, 8)
    desk.run("verify")
    desk.run("append", *paths, "--key", desk.key("scorer"))
    assert desk.size == 8
    desk.run("verify")


def test_an_append_that_is_killed_leaves_a_ledger_that_verifies_and_can_be_extended(desk: Desk) -> None:
    paths = [write_round(desk.root, number) for number in range(5)]
    command: list[str | Path] = [PROGRAM, "append", *paths, "--key", desk.key("scorer")]
    with subprocess.Popen(command, cwd=desk.root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        time.sleep(0.25)
        process.kill()
    desk.run("verify")
    desk.run("append", *paths, "--key", desk.key("scorer"))
    assert desk.size == 8
    desk.run("verify")


# Many writers, and what nobody foresaw.


def test_writers_side_by_side_lose_nothing(desk: Desk) -> None:
    paths = [write_round(desk.root, number) for number in range(4)]
    commands: list[list[str | Path]] = [[PROGRAM, "append", path, "--key", desk.key("scorer")] for path in paths]
    processes = [subprocess.Popen(command, cwd=desk.root, stdout=subprocess.DEVNULL) for command in commands]
    assert [process.wait(timeout=60) for process in processes] == [OK] * 4
    assert desk.size == 7
    desk.run("verify")


BROKEN = """
import sys
import cli.commands.check
from cli.main import main

def explode(*_, **__):
    raise ValueError("nobody foresaw this")

cli.commands.check.verify_ledger = explode
sys.argv = ["rungbook", "verify", *sys.argv[1:]]
main()
"""


def test_as_a_process_an_unforeseen_error_is_status_1_with_a_traceback(desk: Desk) -> None:
    done = run_process(cwd=desk.root, command=[sys.executable, "-c", BROKEN])
    assert (done.status, done.out) == (CRASH, "")
    assert done.err.rstrip().endswith("ValueError: nobody foresaw this")


def test_without_a_home_folder_a_ledger_can_be_read(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/nonexistent")
    monkeypatch.delenv("XDG_STATE_HOME")
    assert run_process("verify", cwd=desk.root).status == OK


def test_in_a_locale_without_unicode_nothing_crashes(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.run("append", write_round(desk.root), "--key", desk.key("scorer"))
    for name, value in {
        "LC_ALL": "C",
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
        "PYTHONIOENCODING": "ascii",
    }.items():
        monkeypatch.setenv(name, value)
    for words in (("log",), ("show", "3"), ("verify",), ("log", "--json"), ("--help",)):
        done = run_process(*words, cwd=desk.root)
        assert done.status == OK, done


def test_ctrl_c_before_a_command_has_begun_is_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("cli.main.main", interrupted)
    with pytest.raises(SystemExit) as caught:
        entry.main()
    assert caught.value.code == INTERRUPTED
    assert capsys.readouterr().err == "interrupted\n"
