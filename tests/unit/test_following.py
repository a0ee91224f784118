"""A ledger that grows is verified by what was added, and what was verified once cannot be exchanged."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from ledger.errors import LedgerError, PolicyError, StorageError, VerificationError
from ledger.following import Following
from ledger.note import NoteKey
from ledger.store.directory import DirectoryStore
from ledger.verified import Pins, VerifiedLog
from ledger.verify import verify
from tests.support.attacker import Forgery
from tests.support.files import receipt_path
from tests.support.ledgers import (
    ORIGIN,
    SCORER_1,
    SCORER_2,
    build_ledger,
    grant,
    keys_draft,
    make_key,
    open_log,
    round_draft,
    start_small_ledger,
)
from tests.support.rounds import round_body

if TYPE_CHECKING:
    from pathlib import Path

    from ledger.log import Log


class CountingStore(DirectoryStore):
    """Remembers which receipts were read."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.read: list[int] = []

    def read_receipt(self, index: int) -> bytes:
        self.read.append(index)
        return super().read_receipt(index)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "ledger"


@pytest.fixture
def writer(folder: Path) -> Log:
    log = open_log(folder)
    start_small_ledger(log)
    log.append([round_draft("first")])
    return log


def whole(folder: Path) -> VerifiedLog:
    return verify(DirectoryStore(folder)).require_log()


def same(one: VerifiedLog, other: VerifiedLog) -> bool:
    return (one.mode, one.key, one.checkpoint, one.entries) == (other.mode, other.key, other.checkpoint, other.entries)


def test_every_look_finds_what_a_verification_finds(folder: Path, writer: Log) -> None:
    following = Following(DirectoryStore(folder))
    assert same(following.look(), whole(folder))
    for number in range(5):
        writer.append([round_draft(f"more-{number}-{at}") for at in range(number)])
        assert same(following.look(), whole(folder))


def test_roles_that_were_granted_between_two_looks_hold_from_their_index_on(folder: Path, writer: Log) -> None:
    following = Following(DirectoryStore(folder))
    following.look()
    writer.append([keys_draft(grant(SCORER_2.public, "n2"))])
    writer.append([round_draft("by-the-new-one", SCORER_2, node="n2")])
    assert [entry.attested for entry in following.look().entries] == [entry.attested for entry in whole(folder).entries]


def test_only_what_is_new_is_read(folder: Path, writer: Log) -> None:
    store = CountingStore(folder)
    following = Following(store)
    following.look()
    writer.append([round_draft("second"), round_draft("third")])
    store.read.clear()
    following.look()
    assert sorted(set(store.read)) == [0, 3, 4]  # the genesis names the key


@pytest.mark.usefixtures("writer")
def test_a_look_at_what_has_not_changed_reads_no_receipt(folder: Path) -> None:
    store = CountingStore(folder)
    following = Following(store)
    before = following.look()
    store.read.clear()
    assert following.look() is before
    assert store.read == []


def test_a_large_addition_is_examined_by_several_processes(
    folder: Path, writer: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ledger.examined.CHUNK", 2)
    following = Following(DirectoryStore(folder), jobs=2)
    following.look()
    writer.append([round_draft(f"round-{number}") for number in range(7)])
    assert same(following.look(), whole(folder))


def test_an_older_copy_is_a_rollback_now_and_later(folder: Path, writer: Log, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "older")
    writer.append([round_draft("second")])
    following = Following(DirectoryStore(folder))
    following.look()
    shutil.rmtree(folder)
    shutil.copytree(tmp_path / "older", folder)
    for _ in range(3):
        with pytest.raises(VerificationError) as caught:
            following.look()
        assert caught.value.code == "E_ROLLBACK"


@pytest.mark.parametrize("more", [0, 1, 3])
def test_another_history_is_found_now_and_later(folder: Path, writer: Log, more: int) -> None:
    writer.append([round_draft("second")])
    following = Following(DirectoryStore(folder))
    following.look()
    forgery = Forgery.of(folder)
    forgery.drop(3)
    for number in range(1 + more):
        forgery.add(forgery.state("round", round_body(f"other-{number}"), SCORER_1))
    forgery.seal()
    whole(folder)  # nothing is wrong with it for somebody who never saw the first one
    for codes in ({"E_ROOT", "E_CHAIN"}, {"E_FORK"}, {"E_FORK"}):
        with pytest.raises(VerificationError) as caught:
            following.look()
        assert caught.value.code in codes


def test_after_the_right_copy_is_back_it_goes_on(folder: Path, writer: Log, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "older")
    writer.append([round_draft("second")])
    following = Following(DirectoryStore(folder))
    following.look()
    shutil.move(folder, tmp_path / "newer")
    shutil.copytree(tmp_path / "older", folder)
    with pytest.raises(VerificationError):
        following.look()
    shutil.rmtree(folder)
    shutil.move(tmp_path / "newer", folder)
    assert same(following.look(), whole(folder))


def test_a_new_receipt_that_does_not_hold_is_named(folder: Path, writer: Log) -> None:
    following = Following(DirectoryStore(folder))
    following.look()
    writer.append([round_draft("second"), round_draft("third")])
    path = receipt_path(folder, 4)
    path.write_bytes(path.read_bytes().replace(b"third", b"thirD"))
    with pytest.raises(VerificationError) as caught:
        following.look()
    assert caught.value.index == 4


def test_an_old_receipt_that_was_altered_later_is_never_handed_out(folder: Path, writer: Log) -> None:
    following = Following(DirectoryStore(folder))
    following.look()
    path = receipt_path(folder, 2)
    path.write_bytes(path.read_bytes().replace(b"first", b"firsT"))
    writer.append([round_draft("second")])
    log = following.look()
    with pytest.raises(LedgerError) as caught:
        log.receipt(2)
    assert caught.value.code == "E_CHANGED"


def test_what_is_pinned_holds_for_every_look(tmp_path: Path) -> None:
    build_ledger(tmp_path)
    wrong = Pins(key=NoteKey(name=ORIGIN, public=make_key("another").public))
    following = Following(DirectoryStore(tmp_path), wrong)
    for _ in range(2):
        with pytest.raises(VerificationError) as caught:
            following.look()
        assert caught.value.code == "E_PIN_VKEY"


def test_an_empty_folder_is_no_ledger_until_there_is_one(folder: Path) -> None:
    following = Following(DirectoryStore(folder))
    with pytest.raises(StorageError):
        following.look()
    start_small_ledger(open_log(folder))
    assert len(following.look().entries) == 2


@pytest.mark.usefixtures("writer")
def test_what_a_newer_release_has_sealed_is_not_refuted(folder: Path) -> None:
    following = Following(DirectoryStore(folder))
    following.look()
    forgery = Forgery.of(folder)
    forgery.add(forgery.state("ticket", {"id": "later"}, SCORER_1))
    forgery.seal()
    with pytest.raises(PolicyError) as caught:
        following.look()
    assert caught.value.code == "E_KIND_UNKNOWN"


def test_what_the_writer_hands_over_counts_only_as_far_as_the_checkpoint_goes(folder: Path, writer: Log) -> None:
    following = Following(DirectoryStore(folder))
    following.look()
    before = (folder / "receipts" / "checkpoint").read_bytes()
    writer.watch = following.take
    writer.append([round_draft("second")])
    after = (folder / "receipts" / "checkpoint").read_bytes()
    writer.append([round_draft("third")])
    (folder / "receipts" / "checkpoint").write_bytes(after)  # as a reader sees it who looked a moment earlier
    log = following.look()
    assert before != after
    assert (len(log.entries), sorted(log.fresh)) == (4, [3])
    with pytest.raises(IndexError):
        log.receipt(4)
