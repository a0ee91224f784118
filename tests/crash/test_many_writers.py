"""Many processes write to one ledger at once: one chain, nothing lost, nothing twice."""

from __future__ import annotations

import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import orjson
import pytest

from ledger.statement import export_envelope
from ledger.store.directory import DirectoryStore
from ledger.verify import verify
from tests.support import commands
from tests.support.attacker import Forgery, dump
from tests.support.ledgers import (
    LEDGER,
    SCORER_1,
    MemoryAnchor,
    grant,
    keys_draft,
    make_key,
    open_log,
    round_draft,
    start_small_ledger,
)
from tests.support.rounds import round_body
from tests.support.worker import Worker, append_each, seal_envelopes

if TYPE_CHECKING:
    from pathlib import Path

    from ledger.verified import Mode

PROCESSES = 8
EACH = 50
FIRST = 3  # behind genesis and two grants
MODES: list[Mode] = ["quick", "full"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A ledger with a scorer for each process."""
    ledger = tmp_path / "ledger"
    log = open_log(ledger)
    start_small_ledger(log)
    scorers = [grant(make_key(f"scorer of process {number}").public, "n1") for number in range(PROCESSES)]
    log.append([keys_draft(*scorers)])
    return ledger


def race(workers: list[Worker]) -> list[list[tuple[str, int, str, bool]]]:
    """Let all work at once; what was acknowledged to each."""
    for worker in workers:
        worker.go()
    return [worker.acknowledged() for worker in workers]


def check_one_chain(folder: Path, told: list[list[tuple[str, int, str, bool]]], each: int) -> None:
    """Every acknowledgement names another receipt of one verified chain, and each worker's own are in its order."""
    result = verify(DirectoryStore(folder))
    assert result.findings == []
    assert {flag.code for flag in result.flags} <= {"F_CLOCK_BACK"}  # it is the machine's clock
    assert result.log is not None
    assert result.log.checkpoint.size == FIRST + PROCESSES * each
    assert [len(lines) for lines in told] == [each] * PROCESSES
    indices = sorted(index for lines in told for _, index, _, _ in lines)
    assert indices == list(range(FIRST, FIRST + PROCESSES * each))
    for lines in told:
        assert [index for _, index, _, _ in lines] == sorted(index for _, index, _, _ in lines)
        for name, index, digest, existed in lines:
            assert result.log.entries[index].digest.hex() == digest
            assert result.log.receipt(index).statement.body["id"] == name
            assert result.log.entries[index].attested
            assert not existed


@pytest.mark.parametrize("keys", ["a key for each", "one key for all"])
def test_8_processes_of_50_appends_make_400_receipts_in_one_chain(folder: Path, keys: str) -> None:
    names = ["scorer 1" if keys == "one key for all" else f"scorer of process {n}" for n in range(PROCESSES)]
    workers = [Worker(append_each, folder, name, f"p{number}", EACH) for number, name in enumerate(names)]
    check_one_chain(folder, race(workers), EACH)


@pytest.mark.soak
@pytest.mark.parametrize("keys", ["a key for each", "one key for all"])
def test_8_processes_of_200_appends_make_one_chain(folder: Path, keys: str) -> None:
    names = ["scorer 1" if keys == "one key for all" else f"scorer of process {n}" for n in range(PROCESSES)]
    workers = [Worker(append_each, folder, name, f"p{number}", 200) for number, name in enumerate(names)]
    check_one_chain(folder, race(workers), 200)


def check_once(folder: Path, told: list[list[tuple[str, int, str, bool]]], count: int) -> None:
    """Each statement is sealed once, and everybody was told the same receipt."""
    result = verify(DirectoryStore(folder))
    assert result.findings == []
    assert {flag.code for flag in result.flags} <= {"F_CLOCK_BACK"}  # it is the machine's clock
    assert result.log is not None
    assert result.log.checkpoint.size == FIRST + count
    first = [(name, index, digest) for name, index, digest, _ in told[0]]
    assert len(first) == count
    for lines in told:
        assert [(name, index, digest) for name, index, digest, _ in lines] == first
    for at in range(count):
        assert sum(not lines[at][3] for lines in told) == 1  # exactly one of them wrote it


def test_the_same_attested_statements_from_8_processes_are_sealed_once(folder: Path, tmp_path: Path) -> None:
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    forgery = Forgery.of(folder)
    for number in range(10):
        forgery.add(forgery.state("round", round_body(f"same-{number}"), SCORER_1, basis=Forgery.of(folder).basis()))
        (inbox / f"{number}.json").write_bytes(export_envelope(forgery.signed[-1]))
    told = race([Worker(seal_envelopes, folder, str(inbox), "", 0) for _ in range(PROCESSES)])
    check_once(folder, told, 10)


def test_the_same_rounds_from_8_processes_are_sealed_once(folder: Path) -> None:
    told = race([Worker(append_each, folder, "scorer 1", "same", 10) for _ in range(PROCESSES)])
    check_once(folder, told, 10)


def test_8_commands_that_append_one_file_make_one_receipt(folder: Path, tmp_path: Path) -> None:
    key = commands.write_key(tmp_path / "scorer", SCORER_1)
    ledger_key = commands.write_key(tmp_path / "ledger-key", LEDGER)
    path = tmp_path / "round.json"
    path.write_bytes(dump(round_body("same")))
    words: list[str | Path] = [
        "append",
        path,
        "--key",
        key,
        "--ledger-key",
        ledger_key,
        "-C",
        folder,
        "--json",
        "--lock-timeout",
        "120",
    ]
    running = [subprocess.Popen([commands.PROGRAM, *words], stdout=subprocess.PIPE) for _ in range(PROCESSES)]
    answers = [orjson.loads(each.communicate(timeout=120)[0]) for each in running]
    assert [each.returncode for each in running] == [0] * PROCESSES
    receipts = [answer["receipts"][0] for answer in answers]
    assert {(receipt["index"], receipt["sha256"]) for receipt in receipts} == {(FIRST, receipts[0]["sha256"])}
    assert sorted(receipt["existed"] for receipt in receipts) == [False, *[True] * (PROCESSES - 1)]
    result = verify(DirectoryStore(folder))
    assert result.log is not None
    assert result.log.checkpoint.size == FIRST + 1


def test_whoever_verifies_beside_the_writers_is_never_told_that_it_does_not_hold(folder: Path) -> None:
    workers = [Worker(append_each, folder, "scorer 1", f"p{number}", 30) for number in range(2)]
    for worker in workers:
        worker.go()
    sizes = [FIRST]
    deadline = time.monotonic() + 120
    while sizes[-1] < FIRST + 60:
        assert time.monotonic() < deadline
        for mode in MODES:
            result = verify(DirectoryStore(folder), mode=mode)
            assert result.findings == []
            assert result.log is not None
            sizes.append(result.log.checkpoint.size)
    assert sizes == sorted(sizes)
    assert len(set(sizes)) > 3  # it really was beside them
    assert [len(worker.acknowledged()) for worker in workers] == [30, 30]


def test_threads_with_writers_of_their_own_make_one_chain(ram_path: Path) -> None:
    anchor = MemoryAnchor()
    start_small_ledger(open_log(ram_path, anchor))
    told: list[int] = []

    def work(number: int) -> None:
        log = open_log(ram_path, anchor, lock_timeout_s=120)
        for turn in range(10):
            told.extend(item.index for item in log.append([round_draft(f"t{number}-{turn}")]))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert sorted(told) == list(range(2, 42))
    result = verify(DirectoryStore(ram_path))
    assert result.findings == []
    assert {flag.code for flag in result.flags} <= {"F_CLOCK_BACK"}  # each writer's clock starts anew
