"""Every case of the table: the library finds it, the command exits 3 and names it, the writer does not go on."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from cli.status import status_of
from ledger.errors import LedgerError, MalformedError, RefusedError
from ledger.note import parse_vkey
from ledger.receipt import decode_receipt
from ledger.schema import validate
from ledger.store.directory import DirectoryStore
from ledger.verified import Pins
from ledger.verify import verify
from tests.support import commands
from tests.support.files import checkpoint_path, read_receipts, snapshot
from tests.support.ledgers import SIZE, MemoryAnchor, open_log, round_draft
from tests.tampered.cases import CASES, Case, Known

if TYPE_CHECKING:
    from pathlib import Path

    from ledger.statement import SignedStatement
    from ledger.verified import Mode, Verification

IN_A_PROCESS = {
    "one_bit_of_a_raw_sample",
    "the_last_receipt_removed",
    "a_checkpoint_by_another_key",
    "files_and_checkpoint_of_an_older_state",
    "a_round_by_a_revoked_key",
}
# Where a file is gone, the writer could not tell; a genesis that names another ledger key reads as a wrong key file.
WRITER_CANNOT_TELL = {
    "another_ledger_key_in_the_genesis",
    "a_receipt_removed_in_the_middle",
    "the_last_receipt_removed",
    "the_last_three_receipts_removed",
    "two_receipts_removed_apart",
    "the_genesis_removed",
    "all_receipts_removed",
    "all_receipts_removed_and_the_key_is_known",
    "the_checkpoint_removed",
}
EVERY = pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
WITHOUT_KEY = [case for case in CASES if not case.sealed]


def examine(folder: Path, known: Known | None, mode: Mode = "full", jobs: int = 1) -> Verification:
    """What verification says, given what the auditor knows."""
    known = known or Known()
    pins = Pins(key=parse_vkey(known.vkey) if known.vkey else None, genesis=known.genesis, since=known.since or None)
    return verify(DirectoryStore(folder), mode=mode, pins=pins, jobs=jobs)


def command_words(folder: Path, known: Known | None, spare: Path) -> list[str | Path]:
    """The same as words of the command."""
    words: list[str | Path] = ["verify", "--json", "-C", folder]
    known = known or Known()
    if known.vkey:
        words += ["--vkey", known.vkey]
    if known.genesis:
        words += ["--genesis", known.genesis]
    if known.since:
        since = spare / "since"
        since.write_bytes(known.since)
        words += ["--since", since]
    return words


def test_the_table_is_large_and_names_each_case_once() -> None:
    assert len(CASES) >= 60
    assert len({case.name for case in CASES}) == len(CASES)
    assert {case.name for case in CASES} >= IN_A_PROCESS | WRITER_CANNOT_TELL


@pytest.mark.parametrize("mode", ["full", "quick"])
def test_the_healthy_ledger_verifies(ledger_folder: Path, mode: Mode) -> None:
    result = examine(ledger_folder, None, mode)
    assert (result.findings, result.unknown, result.flags) == ([], [], [])
    assert result.log is not None
    assert result.log.checkpoint.size == SIZE
    done = commands.run(*command_words(ledger_folder, None, ledger_folder))
    assert done.status == 0, done.stderr
    assert done.document()["verdict"] == "verified"


@EVERY
def test_the_library_names_class_code_and_index(case: Case, ledger_folder: Path) -> None:
    result = examine(ledger_folder, case.make(ledger_folder))
    found = [(item.error, item.code, item.index) for item in result.findings]
    assert (case.error, case.code, case.index) in (found[:1] if case.first else found[1:])
    assert result.log is None


@EVERY
def test_the_command_exits_3_and_names_code_and_index(case: Case, ledger_folder: Path, tmp_path: Path) -> None:
    words = command_words(ledger_folder, case.make(ledger_folder), tmp_path)
    done = (commands.run_process if case.name in IN_A_PROCESS else commands.run)(*words)
    assert done.status == 3, done.stderr
    document = done.document()
    validate("output-verify", document)
    assert document["verdict"] == "refuted"
    expected = {"class": case.error, "code": case.code, "index": case.index}
    found = [{name: item[name] for name in expected} for item in document["findings"]]
    assert expected in (found[:1] if case.first else found[1:])


@pytest.mark.parametrize("case", WITHOUT_KEY, ids=[case.name for case in WITHOUT_KEY])
def test_hashes_alone_refute_what_was_done_without_the_ledgers_key(case: Case, ledger_folder: Path) -> None:
    result = examine(ledger_folder, case.make(ledger_folder), "quick")
    assert result.findings
    assert result.log is None


@pytest.mark.parametrize("case", WITHOUT_KEY, ids=[case.name for case in WITHOUT_KEY])
def test_the_writer_adds_nothing_to_a_tampered_ledger(case: Case, ledger_folder: Path) -> None:
    anchor = MemoryAnchor(checkpoint_path(ledger_folder).read_bytes())
    case.make(ledger_folder)
    before = snapshot(ledger_folder)
    with pytest.raises(LedgerError) as caught:
        open_log(ledger_folder, anchor).append([round_draft("next")])
    assert status_of(caught.value) == (4 if case.name in WRITER_CANNOT_TELL else 3), caught.value
    assert snapshot(ledger_folder) == before


@EVERY
def test_no_command_that_reads_falls_over_a_tampered_ledger(case: Case, ledger_folder: Path) -> None:
    # They look at hashes only, so they may show what an attacker with the ledger's key wrote; they may not crash on it.
    case.make(ledger_folder)
    shown = case.index if case.index is not None else SIZE - 1
    for words in (["log"], ["show", str(shown)], ["export", str(shown)]):
        for as_json in ([], ["--json"]):
            done = commands.run(*words, "-C", ledger_folder, *as_json)
            assert done.status in {0, 3, 4, 5}, (words, done.stderr)
            assert done.status == 0 or "E_" in done.stderr
    if not case.sealed:
        assert done.status != 0


class Threads(ThreadPoolExecutor):
    """Threads in the place of processes: the same hand-over of chunks, a hundred times as quickly."""

    def __init__(self, max_workers: int, initializer: object) -> None:
        super().__init__(max_workers)
        self.initializer = initializer


def outcome(result: Verification) -> tuple[object, ...]:
    """All that a verification says."""
    return result.findings, result.unknown, result.flags, result.kinds, result.not_checked, result.log is None


@EVERY
def test_several_workers_say_the_same_in_the_same_order(
    case: Case, ledger_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Chunks of two: a role is granted in one and used in the next, which was handed out before.
    known = case.make(ledger_folder)
    alone = examine(ledger_folder, known)
    monkeypatch.setattr("ledger.examined.CHUNK", 2)
    monkeypatch.setattr("concurrent.futures.ProcessPoolExecutor", Threads)
    assert outcome(examine(ledger_folder, known, jobs=2)) == outcome(alone)


@pytest.mark.parametrize("name", ["", *sorted(IN_A_PROCESS)])
def test_several_processes_say_the_same(name: str, ledger_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = None
    for case in CASES:
        if case.name == name:
            known = case.make(ledger_folder)
    alone = examine(ledger_folder, known)
    monkeypatch.setattr("ledger.examined.CHUNK", 2)
    several = examine(ledger_folder, known, jobs=2)
    assert outcome(several) == outcome(alone)
    assert (several.log is None) == bool(name)


# What the writer does with a statement that is there already is another matter: it returns the receipt.
SAID_BEFORE = {
    "a_statement_sealed_twice",
    "a_statement_sealed_twice_with_other_signatures",
    "an_earlier_round_said_again",
}


def last_statement(folder: Path) -> SignedStatement | None:
    """What was sealed behind the healthy ledger's end; none when it cannot be handed to a writer."""
    try:
        return decode_receipt(read_receipts(folder)[SIZE]).signed
    except (MalformedError, IndexError):
        return None


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.sealed and case.index == SIZE], ids=lambda case: case.name
)
def test_the_writer_refuses_with_the_code_of_the_verifier(
    case: Case, healthy_folder: Path, ledger_folder: Path
) -> None:
    case.make(ledger_folder)
    signed = last_statement(ledger_folder)
    if signed is None:
        assert case.error in {"MalformedError", "ChainError"}
        return
    shutil.rmtree(ledger_folder)
    shutil.copytree(healthy_folder, ledger_folder)
    before = snapshot(ledger_folder)
    if case.name in SAID_BEFORE:
        assert [item.existed for item in open_log(ledger_folder).append([signed])] == [True]
    else:
        with pytest.raises((MalformedError, RefusedError)) as caught:
            open_log(ledger_folder).append([signed])
        assert caught.value.code == case.code
    assert snapshot(ledger_folder) == before
