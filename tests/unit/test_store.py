"""The ledger as a folder: names, durable steps, what is set aside, the lock, and the anchor beside it."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ledger.errors import ConflictError, MalformedError, RefusedError, StorageError
from ledger.note import MAX_BYTES as NOTE_BYTES
from ledger.receipt import MAX_BYTES
from ledger.store import MissingReceiptError
from ledger.store.anchor import FileAnchor
from ledger.store.directory import MAX_INDEX, DirectoryStore, receipt_name
from ledger.store.disk import Disk, DisposableFile, read_file, read_regular_file
from tests.support.faults import FaultyDisk
from tests.support.files import snapshot

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def store(tmp_path: Path) -> DirectoryStore:
    """An empty folder."""
    return DirectoryStore(tmp_path)


class TestNames:
    @pytest.mark.parametrize(
        ("index", "name"),
        [
            (0, "000/000/000.json"),
            (42, "000/000/042.json"),
            (999, "000/000/999.json"),
            (1000, "000/001/000.json"),
            (1_234_567, "001/234/567.json"),
            (MAX_INDEX, "999/999/999.json"),
        ],
    )
    def test_an_index_has_one_name(self, store: DirectoryStore, index: int, name: str) -> None:
        assert receipt_name(index) == name
        store.put_receipts(index, [b"x"])
        assert store.tail(index) == [index]
        assert store.strays() == []

    @pytest.mark.parametrize("index", [-1, MAX_INDEX + 1, 10**18])
    def test_an_index_out_of_range_has_none(self, index: int) -> None:
        with pytest.raises(StorageError) as caught:
            receipt_name(index)
        assert (caught.value.code, caught.value.index) == ("E_INDEX_RANGE", index)

    @pytest.mark.parametrize(
        "name",
        [
            "000/000/1.json",
            "000/000/0001.json",
            "000/000/001.JSON",
            "000/000/001.json~",
            "000/000/\u0660\u0660\u0661.json",
            "000/0000/001.json",
            "000/001.json",
            "000/000/000/001.json",
            "README",
            "000/000/-01.json",
        ],
    )
    def test_every_other_name_is_a_stray(self, store: DirectoryStore, name: str) -> None:
        path = store.receipts / name
        path.parent.mkdir(parents=True)
        path.write_bytes(b"")
        assert store.strays() == [name]
        assert store.tail(0) == []
        assert store.repair(0) == []
        assert path.exists()

    def test_the_checkpoint_and_unfinished_files_are_no_strays(self, store: DirectoryStore) -> None:
        store.put_receipts(0, [b"x"])
        store.swap_checkpoint(None, b"c")
        (store.receipts / ".tmp-7-checkpoint").write_bytes(b"")
        (store.receipts / "000" / "000" / ".tmp-7-001.json").write_bytes(b"")
        assert store.strays() == []


class TestPut:
    def test_what_was_put_is_read(self, store: DirectoryStore) -> None:
        store.put_receipts(998, [b"a", b"b", b"c"])
        assert [store.read_receipt(index) for index in (998, 999, 1000)] == [b"a", b"b", b"c"]
        assert sorted(snapshot(store.root)) == [
            str(store.receipts / name) for name in ("000/000/998.json", "000/000/999.json", "000/001/000.json")
        ]

    def test_a_receipt_is_never_overwritten_and_the_rest_of_the_group_is_told_apart(
        self, store: DirectoryStore
    ) -> None:
        store.put_receipts(5, [b"old"])
        with pytest.raises(ConflictError) as caught:
            store.put_receipts(4, [b"new 4", b"new 5"])
        assert caught.value.code == "E_EXISTS"
        assert store.read_receipt(5) == b"old"

    def test_everyone_may_read_it(self, store: DirectoryStore) -> None:
        before = os.umask(0o022)
        try:
            store.put_receipts(0, [b"x"])
        finally:
            os.umask(before)
        assert stat.S_IMODE((store.receipts / receipt_name(0)).stat().st_mode) == 0o644

    def test_the_bytes_are_durable_before_the_name_and_the_name_before_it_returns(self, tmp_path: Path) -> None:
        disk = FaultyDisk()
        DirectoryStore(tmp_path, disk).put_receipts(0, [b"a", b"b"])
        steps = [step for step, _ in disk.steps]
        first_link = steps.index("link")
        assert steps.count("write") == 2
        assert "write" not in steps[first_link:]
        assert steps[-1] == "sync_folder"
        assert disk.steps[-1] == ("sync_folder", "000")

    def test_a_folder_is_durable_before_anything_is_in_it(self, tmp_path: Path) -> None:
        disk = FaultyDisk()
        DirectoryStore(tmp_path / "new", disk).put_receipts(0, [b"a"])
        made = [name for step, name in disk.steps if step == "make_folder"]
        synced = [name for step, name in disk.steps[: disk.steps.index(("write", disk.steps[-4][1]))]]
        assert set(made) == {"new", "receipts", "000"}
        assert {tmp_path.name, "new", "receipts", "000"} <= set(synced)

    def test_a_missing_receipt_is_told_from_one_that_cannot_be_read(self, store: DirectoryStore) -> None:
        with pytest.raises(MissingReceiptError) as missing:
            store.read_receipt(0)
        assert (missing.value.code, missing.value.index) == ("E_RECEIPT_MISSING", 0)
        (store.receipts / receipt_name(0)).mkdir(parents=True)
        with pytest.raises(StorageError) as unreadable:
            store.read_receipt(0)
        assert (unreadable.value.code, unreadable.value.index) == ("E_IO", 0)

    def test_no_more_is_read_than_a_receipt_may_have(self, store: DirectoryStore) -> None:
        path = store.receipts / receipt_name(0)
        path.parent.mkdir(parents=True)
        with path.open("wb") as file:
            file.truncate(1 << 40)
        assert len(store.read_receipt(0)) == MAX_BYTES + 1


class TestCheckpoint:
    def test_there_is_none_at_first(self, store: DirectoryStore) -> None:
        assert store.read_checkpoint() is None

    def test_it_is_swapped_from_what_it_was(self, store: DirectoryStore) -> None:
        store.swap_checkpoint(None, b"one")
        store.swap_checkpoint(b"one", b"two")
        assert store.read_checkpoint() == b"two"
        assert [path.name for path in store.receipts.iterdir()] == ["checkpoint"]

    @pytest.mark.parametrize("old", [None, b"zero", b""])
    def test_it_is_not_swapped_from_something_else(self, store: DirectoryStore, old: bytes | None) -> None:
        store.swap_checkpoint(None, b"one")
        with pytest.raises(ConflictError) as caught:
            store.swap_checkpoint(old, b"two")
        assert caught.value.code == "E_HEAD_MOVED"
        assert store.read_checkpoint() == b"one"

    def test_it_is_durable_before_it_gets_its_name_and_after(self, tmp_path: Path) -> None:
        disk = FaultyDisk()
        store = DirectoryStore(tmp_path, disk)
        store.swap_checkpoint(None, b"one")
        assert [step for step, _ in disk.steps[-3:]] == ["write", "replace", "sync_folder"]

    def test_no_more_is_read_than_a_note_may_have(self, store: DirectoryStore) -> None:
        store.receipts.mkdir()
        with (store.receipts / "checkpoint").open("wb") as file:
            file.truncate(1 << 40)
        assert len(store.read_checkpoint() or b"") == NOTE_BYTES + 1


class TestTail:
    @pytest.mark.parametrize("size", [0, 1, 2, 999, 1000, 1001, 5000])
    def test_it_is_what_lies_behind_a_size(self, store: DirectoryStore, size: int) -> None:
        present = [0, 1, 998, 999, 1000, 1001, 4711]
        for index in present:
            store.put_receipts(index, [b"x"])
        assert store.tail(size) == [index for index in present if index >= size]

    def test_it_needs_no_folder(self, store: DirectoryStore) -> None:
        assert (store.tail(0), store.strays(), store.repair(0)) == ([], [], [])

    def test_a_repair_moves_it_aside_and_keeps_the_rest(self, store: DirectoryStore) -> None:
        store.put_receipts(0, [b"kept"])
        store.put_receipts(1, [b"one", b"two"])
        store.put_receipts(1000, [b"thousand"])
        told = store.repair(1)
        assert store.tail(0) == [0]
        assert len(told) == 3
        aside = {path.name: path.read_bytes() for path in (store.local / "uncommitted").rglob("*.json")}
        assert aside == {"000000001.json": b"one", "000000002.json": b"two", "000001000.json": b"thousand"}

    def test_two_repairs_keep_both_tails(self, store: DirectoryStore) -> None:
        for data in (b"first", b"second"):
            store.put_receipts(0, [data])
            store.repair(0)
        aside = sorted(path.read_bytes() for path in (store.local / "uncommitted").rglob("*.json"))
        assert aside == [b"first", b"second"]

    def test_a_repair_removes_unfinished_files_only(self, store: DirectoryStore) -> None:
        store.put_receipts(0, [b"kept"])
        unfinished = [store.receipts / ".tmp-7-checkpoint", store.receipts / "000" / "000" / ".tmp-7-001.json"]
        for path in unfinished:
            path.write_bytes(b"half")
        told = store.repair(1)
        assert not any(path.exists() for path in unfinished)
        assert sorted(told) == [
            "removed the unfinished file receipts/.tmp-7-checkpoint",
            "removed the unfinished file receipts/000/000/.tmp-7-001.json",
        ]
        assert store.read_receipt(0) == b"kept"

    def test_a_repair_of_a_healthy_ledger_does_nothing(self, store: DirectoryStore) -> None:
        store.put_receipts(0, [b"kept"])
        assert store.repair(1) == []
        assert not (store.local / "uncommitted").exists()


class TestLock:
    def test_it_excludes_other_stores_of_the_same_folder(self, tmp_path: Path) -> None:
        with DirectoryStore(tmp_path).lock(1), pytest.raises(ConflictError) as caught:  # noqa: SIM117 - two locks
            with DirectoryStore(tmp_path).lock(0.05):
                pytest.fail("two writers at once")
        assert caught.value.code == "E_LOCKED"
        assert caught.value.where == str(tmp_path / ".rungbook" / "lock")

    def test_it_excludes_other_threads(self, tmp_path: Path) -> None:
        inside: list[int] = []
        most: list[int] = []

        def work() -> None:
            for _ in range(5):
                with DirectoryStore(tmp_path).lock(60):
                    inside.append(1)
                    most.append(len(inside))
                    inside.pop()

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert most == [1] * 20

    def test_it_is_free_again_after_an_error(self, store: DirectoryStore) -> None:
        with pytest.raises(KeyError), store.lock(0):
            raise KeyError
        with store.lock(0):
            pass

    def test_its_folder_hides_itself_from_git(self, store: DirectoryStore) -> None:
        with store.lock(0):
            pass
        assert (store.local / ".gitignore").read_text() == "*\n"

    def test_a_folder_that_is_a_file_is_told_as_such(self, tmp_path: Path) -> None:
        (tmp_path / ".rungbook").write_text("in the way")
        with pytest.raises(StorageError) as caught, DirectoryStore(tmp_path).lock(0):
            pytest.fail("locked a file")
        assert not isinstance(caught.value, ConflictError)


class TestDisk:
    def test_a_file_is_created_and_never_written_over(self, tmp_path: Path) -> None:
        Disk().write(tmp_path / "a", b"one")
        with pytest.raises(StorageError) as caught:
            Disk().write(tmp_path / "a", b"two")
        assert caught.value.code == "E_IO"
        assert (tmp_path / "a").read_bytes() == b"one"

    def test_short_writes_are_completed(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        whole = os.write
        monkeypatch.setattr("os.write", lambda handle, data: whole(handle, bytes(data)[:3]))
        Disk().write(tmp_path / "a", b"0123456789")
        assert (tmp_path / "a").read_bytes() == b"0123456789"

    def test_removing_what_is_gone_is_no_error(self, tmp_path: Path) -> None:
        Disk().remove(tmp_path / "nothing")

    def test_no_more_than_the_limit_and_one_byte_is_read(self, tmp_path: Path) -> None:
        (tmp_path / "a").write_bytes(b"0123456789")
        assert [len(read_file(tmp_path / "a", limit)) for limit in (3, 9, 10, 11)] == [4, 10, 10, 10]

    def test_a_regular_file_is_read_whole_or_not_at_all(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "a").write_bytes(b"0123456789")
        assert [read_regular_file(tmp_path / "a", limit) for limit in (10, 11)] == [b"0123456789"] * 2
        (tmp_path / "empty").write_bytes(b"")
        assert read_regular_file(tmp_path / "empty", 0) == b""
        monkeypatch.setattr("os.read", None)  # of what is too large nothing is read
        with pytest.raises(MalformedError) as caught:
            read_regular_file(tmp_path / "a", 9)
        assert (caught.value.code, caught.value.where) == ("E_SIZE", str(tmp_path / "a"))
        assert caught.value.message.startswith("10 bytes, at most 9 are read at once; split the run")

    def test_short_reads_are_completed(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "a").write_bytes(b"0123456789")
        whole = os.read
        monkeypatch.setattr("os.read", lambda handle, count: whole(handle, min(count, 3)))
        assert read_regular_file(tmp_path / "a", 10) == b"0123456789"
        assert read_file(tmp_path / "a", 6) == b"0123456"

    @pytest.mark.parametrize(
        "meanwhile",
        [
            pytest.param(lambda path: path.write_bytes(b"01234567890"), id="longer"),
            pytest.param(lambda path: path.write_bytes(b"012345678"), id="shorter"),
            pytest.param(lambda path: os.utime(path, ns=(1, 1)), id="written"),
        ],
    )
    def test_a_file_that_changes_while_it_is_read_is_refused(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, meanwhile: Callable[[Path], object]
    ) -> None:
        path = tmp_path / "a"
        path.write_bytes(b"0123456789")
        whole = os.read

        def read(handle: int, count: int) -> bytes:
            data = whole(handle, count)
            meanwhile(path)
            return data

        monkeypatch.setattr("os.read", read)
        with pytest.raises(StorageError) as caught:
            read_regular_file(path, 100)
        assert (caught.value.code, caught.value.where) == ("E_BEING_WRITTEN", str(path))

    def test_what_is_no_regular_file_is_not_waited_for(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe")
        for path in (tmp_path / "pipe", Path("/dev/zero")):
            with pytest.raises(RefusedError) as refused:
                read_regular_file(path, 10)
            assert (refused.value.code, refused.value.where) == ("E_NOT_A_FILE", str(path))
        with pytest.raises(StorageError) as folder:
            read_regular_file(tmp_path, 10)
        assert folder.value.message == "cannot read: it is a folder; name the files in it"

    def test_a_path_through_a_file_is_an_error_of_the_disk(self, tmp_path: Path) -> None:
        (tmp_path / "a").write_bytes(b"")
        with pytest.raises(StorageError) as caught:
            Disk().make_folder(tmp_path / "a" / "b")
        assert caught.value.where == str(tmp_path / "a")

    def test_a_file_that_only_saves_time_never_fails(self, tmp_path: Path) -> None:
        (tmp_path / "folder").mkdir()
        for path in (tmp_path / "folder", tmp_path / "nowhere" / "file"):
            DisposableFile(path).write(b"x")
            assert DisposableFile(path).read() is None
        file = DisposableFile(tmp_path / "file")
        file.write(b"one")
        file.write(b"two")
        assert file.read() == b"two"


class TestAnchor:
    def test_it_remembers_the_last_one(self, tmp_path: Path) -> None:
        anchor = FileAnchor(tmp_path / "state", "origin+00000000+AZ==")
        assert anchor.read() is None
        for data in (b"one", b"two"):
            anchor.write(data)
            assert anchor.read() == data
        assert [path.name for path in anchor.path.parent.iterdir()] == [anchor.path.name]
        assert anchor.describe() == str(anchor.path)

    def test_ledgers_are_told_apart_by_their_verification_key(self, tmp_path: Path) -> None:
        one, other = (FileAnchor(tmp_path, f"origin/{name}+00000000+AZ==") for name in "ab")
        one.write(b"one")
        assert other.read() is None
        assert FileAnchor(tmp_path, "origin/a+00000000+AZ==").read() == b"one"

    def test_a_name_cannot_leave_the_folder(self, tmp_path: Path) -> None:
        anchor = FileAnchor(tmp_path, "../../../etc/passwd+00000000+AZ==")
        assert anchor.path.parent == tmp_path / "anchors"

    def test_a_folder_that_cannot_be_made_says_what_to_set(self, tmp_path: Path) -> None:
        (tmp_path / "state").write_text("in the way")
        with pytest.raises(StorageError) as caught:
            FileAnchor(tmp_path / "state", "o+00000000+AZ==").write(b"one")
        assert "XDG_STATE_HOME" in caught.value.message

    def test_a_failed_write_keeps_the_old_one(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        anchor = FileAnchor(tmp_path, "o+00000000+AZ==")
        anchor.write(b"one")

        def fail(*_: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("pathlib.Path.replace", fail)
        with pytest.raises(StorageError) as caught:
            anchor.write(b"two")
        assert caught.value.code == "E_DISK_FULL"
        assert anchor.read() == b"one"
