"""An older copy of a ledger, a second history, a foreign key: the writer refuses before it writes anything."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ledger.errors import ChainError, LedgerError, PolicyError, RootMismatchError, StorageError
from ledger.log import Log
from ledger.store.anchor import FileAnchor
from ledger.store.directory import DirectoryStore
from ledger.verify import verify
from tests.support import commands
from tests.support.attacker import Forgery, dump
from tests.support.files import checkpoint_path, read_receipts, receipt_path, snapshot
from tests.support.ledgers import (
    LEDGER,
    NOTE_KEY,
    ORIGIN,
    SCORER_1,
    MemoryAnchor,
    genesis_draft,
    make_key,
    open_log,
    round_draft,
    start_small_ledger,
)
from tests.support.rounds import round_body


@pytest.fixture
def anchor() -> MemoryAnchor:
    """What this machine signed last."""
    return MemoryAnchor()


@pytest.fixture
def folder(tmp_path: Path, anchor: MemoryAnchor) -> Path:
    """Genesis, grant and two rounds; the state before the second one is kept beside it as `older`."""
    ledger = tmp_path / "ledger"
    log = open_log(ledger, anchor)
    start_small_ledger(log)
    log.append([round_draft("first")])
    shutil.copytree(ledger, tmp_path / "older")
    log.append([round_draft("second")])
    return ledger


def restore_older(folder: Path) -> None:
    """Put the older copy in the ledger's place."""
    shutil.rmtree(folder)
    shutil.copytree(folder.with_name("older"), folder)


def fork(folder: Path, count: int = 1) -> None:
    """Another history behind the first round, signed with the ledger's key."""
    forgery = Forgery.of(folder)
    forgery.drop(3)
    for number in range(count):
        forgery.add(forgery.state("round", round_body(f"other-{number}"), SCORER_1))
    forgery.seal()


def test_a_restored_older_copy_is_not_extended(folder: Path, anchor: MemoryAnchor) -> None:
    restore_older(folder)
    before = snapshot(folder)
    with pytest.raises(ChainError) as caught:
        open_log(folder, anchor).append([round_draft("third")])
    assert caught.value.code == "E_ROLLBACK"
    assert "4 receipts" in caught.value.message
    assert snapshot(folder) == before


def test_a_writer_that_lives_on_notices_the_restored_copy(folder: Path, anchor: MemoryAnchor) -> None:
    log = open_log(folder, anchor)
    log.append([round_draft("third")])
    restore_older(folder)
    before = snapshot(folder)
    with pytest.raises(ChainError) as caught:
        log.append([round_draft("fourth")])
    assert caught.value.code == "E_ROLLBACK"
    assert snapshot(folder) == before


@pytest.mark.parametrize("count", [1, 2, 5])
def test_a_second_history_is_not_extended(folder: Path, anchor: MemoryAnchor, count: int) -> None:
    fork(folder, count)
    before = snapshot(folder)
    with pytest.raises(RootMismatchError) as caught:
        open_log(folder, anchor).append([round_draft("third")])
    assert caught.value.code == "E_FORK"
    assert snapshot(folder) == before


@pytest.mark.parametrize("count", [1, 2])
def test_a_writer_that_lives_on_says_that_there_are_two_histories(
    folder: Path, anchor: MemoryAnchor, count: int
) -> None:
    # It holds the other history in memory; blaming the receipts or the checkpoint would send people the wrong way.
    log = open_log(folder, anchor)
    log.append([])
    fork(folder, count)
    before = snapshot(folder)
    with pytest.raises(LedgerError) as caught:
        log.append([round_draft("third")])
    assert caught.value.code == "E_FORK"
    assert snapshot(folder) == before


def test_a_ledger_extended_elsewhere_is_taken_up(folder: Path, anchor: MemoryAnchor) -> None:
    # Another machine with the same key appended, and its receipts were pulled: no rollback, no fork.
    open_log(folder, MemoryAnchor()).append([round_draft("elsewhere")])
    (sealed,) = open_log(folder, anchor).append([round_draft("here")])
    assert sealed.index == 5
    assert anchor.checkpoint == checkpoint_path(folder).read_bytes()


def test_a_foreign_ledger_key_is_told_apart_from_a_forged_checkpoint(folder: Path, anchor: MemoryAnchor) -> None:
    before = snapshot(folder)
    with pytest.raises(PolicyError) as caught:
        open_log(folder, anchor, key=make_key("other")).append([round_draft("third")])
    assert caught.value.code == "E_LEDGER_KEY"
    assert LEDGER.public.openssh in caught.value.message
    assert snapshot(folder) == before


def test_a_second_ledger_of_one_name_and_key_is_not_begun(folder: Path, anchor: MemoryAnchor, tmp_path: Path) -> None:
    with pytest.raises(ChainError) as caught:
        open_log(tmp_path / "second", anchor).create(ORIGIN, genesis_draft())
    assert caught.value.code == "E_ROLLBACK"
    assert read_receipts(tmp_path / "second") == []
    assert len(read_receipts(folder)) == 4


def test_the_command_exits_3_on_a_restored_copy_and_on_a_fork(folder: Path, tmp_path: Path) -> None:
    key = commands.write_key(tmp_path / "scorer", SCORER_1)
    ledger_key = commands.write_key(tmp_path / "ledger-key", LEDGER)
    path = tmp_path / "round.json"
    path.write_bytes(dump(round_body("third")))
    words = ("append", path, "--key", key, "--ledger-key", ledger_key, "-C", folder, "--json")
    assert commands.run(*words).status == 0
    fork(folder, 2)
    done = commands.run(*words)
    assert (done.status, done.document()["error"]["code"]) == (3, "E_FORK")
    restore_older(folder)
    done = commands.run(*words)
    assert (done.status, done.document()["error"]["code"]) == (3, "E_ROLLBACK")
    assert "anchors" in done.document()["error"]["message"]  # the way out is named


# ---- The anchor itself.


def file_log(folder: Path, state: Path, notices: list[str] | None = None) -> Log:
    """A writer whose anchor is a file."""
    return Log(
        DirectoryStore(folder),
        LEDGER,
        lambda key: FileAnchor(state, key.vkey),
        notice=(notices if notices is not None else []).append,
    )


def test_a_state_folder_that_cannot_be_written_stops_the_writer_before_it_writes(folder: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.write_text("a file is in the way")
    receipt_path(folder, 4).write_bytes(b"somebody's tail")
    before = snapshot(folder)
    with pytest.raises(StorageError) as caught:
        file_log(folder, state).append([round_draft("third")])
    assert "XDG_STATE_HOME" in caught.value.message
    assert snapshot(folder) == before


class ForgetfulAnchor(MemoryAnchor):
    """An anchor whose folder fills up after some writes."""

    def __init__(self, writes: int) -> None:
        super().__init__()
        self.left = writes

    def write(self, checkpoint: bytes) -> None:
        if not self.left:
            raise StorageError("E_DISK_FULL", "cannot remember the checkpoint: no space left")
        self.left -= 1
        super().write(checkpoint)


def test_an_anchor_that_fails_after_the_commit_does_not_take_the_receipt_back(folder: Path) -> None:
    notices: list[str] = []
    log = open_log(folder, ForgetfulAnchor(writes=1), notice=notices.append)
    (sealed,) = log.append([round_draft("third")])
    assert notices == ["sealed, but cannot remember the checkpoint: no space left"]
    result = verify(DirectoryStore(folder))
    assert result.log is not None
    assert result.log.entries[sealed.index].digest == sealed.digest


def test_an_anchor_that_fell_back_still_guards_what_it_remembers(folder: Path) -> None:
    anchor = ForgetfulAnchor(writes=1)
    open_log(folder, anchor).append([round_draft("third")])  # remembers 4 receipts, of 5
    restore_older(folder)
    with pytest.raises(ChainError) as caught:
        open_log(folder, anchor).append([round_draft("third")])
    assert caught.value.code == "E_ROLLBACK"


def test_a_damaged_anchor_is_named_and_nothing_is_written(folder: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    file_log(folder, state).append([])
    path = FileAnchor(state, NOTE_KEY.vkey).path
    path.write_bytes(path.read_bytes().replace(b"\n4\n", b"\n3\n"))
    before = snapshot(folder)
    with pytest.raises(StorageError) as caught:
        file_log(folder, state).append([round_draft("third")])
    assert (caught.value.code, caught.value.where) == ("E_ANCHOR", str(path))
    assert snapshot(folder) == before


def test_removing_the_anchor_gives_the_newer_receipts_up(folder: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    file_log(folder, state).append([])
    restore_older(folder)
    anchor = FileAnchor(state, NOTE_KEY.vkey)
    with pytest.raises(ChainError) as caught:
        file_log(folder, state).append([round_draft("third")])
    assert anchor.describe() in caught.value.message
    Path(anchor.describe()).unlink()
    assert [item.index for item in file_log(folder, state).append([round_draft("third")])] == [3]
