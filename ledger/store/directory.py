"""The ledger as a folder: one file per receipt, readable by people and by git.

    receipts/000/000/042.json   receipt 42
    receipts/checkpoint         the signed checkpoint: swapping it commits
    .rungbook/                  local to this machine, ignored by git: lock, key file name, set-aside files

Appending writes and fsyncs every new receipt under a temporary name, links the final names, fsyncs the folders, and
then replaces the checkpoint. Before that last step nothing has happened: receipt files behind the checkpoint's size are
a tail that the next writer sets aside. After it there is nothing left to do.
"""

from __future__ import annotations

import os
import re
import time
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING

from ledger import note, receipt
from ledger.errors import ConflictError, StorageError
from ledger.store import MissingReceiptError
from ledger.store.copy_index import DiskCopyIndex
from ledger.store.disk import Disk, DisposableFile, read_file_if_any, storage_errors

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from filelock import FileLock

RECEIPTS = "receipts"
CHECKPOINT = "checkpoint"
LOCAL = ".rungbook"
MAX_INDEX = 10**9 - 1

_TEMPORARY = ".tmp-"
_RECEIPT = re.compile(r"([0-9]{3})/([0-9]{3})/([0-9]{3})\.json", re.ASCII)


def receipt_name(index: int) -> str:
    """Path of a receipt below ``receipts``, such as ``000/000/042.json``.

    Raises:
        StorageError: ``E_INDEX_RANGE`` beyond 10^9 receipts.
    """
    if not 0 <= index <= MAX_INDEX:
        raise StorageError("E_INDEX_RANGE", f"a folder holds receipts 0 to {MAX_INDEX}", index=index)
    return f"{index // 10**6:03d}/{index // 1000 % 1000:03d}/{index % 1000:03d}.json"


class DirectoryStore:
    """A `ledger.store.Store` in a folder.

    Args:
        root: folder that holds ``receipts``.
        disk: the steps to the disk; tests hand in one that fails.
    """

    def __init__(self, root: Path, disk: Disk | None = None) -> None:
        self.root = root
        self.receipts = root / RECEIPTS
        self.local = root / LOCAL
        self._checkpoint = self.receipts / CHECKPOINT
        self._disk = disk or Disk()
        self._prefix = f"{self.receipts}{os.sep}"

    def read_checkpoint(self) -> bytes | None:
        """See `Store`."""
        return read_file_if_any(self._checkpoint, note.MAX_BYTES)

    def read_receipt(self, index: int) -> bytes:
        """See `Store`."""
        path = self._prefix + receipt_name(index)
        try:
            handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)  # a file object costs as much as the read
            try:
                return _read(handle, receipt.MAX_BYTES)
            finally:
                os.close(handle)
        except FileNotFoundError as err:
            raise MissingReceiptError(index, path) from err
        except OSError as err:
            raise StorageError("E_IO", f"cannot read: {err.strerror}", where=path, index=index) from err

    def put_receipts(self, start: int, files: Sequence[bytes]) -> None:
        """See `Store`."""
        targets = [self.receipts / receipt_name(start + at) for at in range(len(files))]
        folders = list(dict.fromkeys(path.parent for path in targets))
        for folder in folders:
            self._disk.make_folder(folder)
        temporaries = [path.with_name(f"{_TEMPORARY}{os.getpid()}-{path.name}") for path in targets]
        for temporary, data in zip(temporaries, files, strict=True):
            self._disk.write(temporary, data)
        for temporary, target in zip(temporaries, targets, strict=True):
            self._disk.link(temporary, target)
            self._disk.remove(temporary)
        for folder in folders:
            self._disk.sync_folder(folder)

    def swap_checkpoint(self, old: bytes | None, new: bytes) -> None:
        """See `Store`. The caller holds the lock."""
        if self.read_checkpoint() != old:
            raise ConflictError("E_HEAD_MOVED", "the checkpoint has been replaced by somebody else")
        self._disk.make_folder(self.receipts)
        temporary = self.receipts / f"{_TEMPORARY}{os.getpid()}-{CHECKPOINT}"
        self._disk.write(temporary, new)
        # The commit point: before this line nothing has happened, after it the receipts are in the ledger.
        self._disk.replace(temporary, self._checkpoint)
        self._disk.sync_folder(self.receipts)

    @contextmanager
    def lock(self, timeout_s: float) -> Iterator[None]:
        """See `Store`. The lock is advisory and per machine: see LIMITS.md for network file systems."""
        from filelock import Timeout  # noqa: PLC0415 - slow to import, and readers do not need it

        self.prepare_local()
        guard = self._guard
        with storage_errors("lock the ledger", self.local / "lock"):
            try:
                guard.acquire(timeout=timeout_s)
            except Timeout as err:
                raise ConflictError(
                    "E_LOCKED", f"another process is writing; waited {timeout_s:g} s", where=guard.lock_file
                ) from err
        try:
            yield
        finally:
            guard.release()

    @cached_property
    def _guard(self) -> FileLock:
        """Made once: registering a lock takes longer than to acquire it."""
        from filelock import FileLock  # noqa: PLC0415 - slow to import, and readers do not need it

        return FileLock(self.local / "lock")

    def prepare_local(self) -> None:
        """Make the folder of local files, which ignores itself in git."""
        self._disk.make_folder(self.local)
        ignore = self.local / ".gitignore"
        if not ignore.exists():
            with storage_errors("write", ignore):
                ignore.write_text("*\n")

    def snapshot_file(self) -> DisposableFile:
        """Where a snapshot of the state may be kept."""
        return DisposableFile(self.local / "state")

    def copy_index(self) -> DiskCopyIndex:
        """Where the fingerprints of repetitions may be kept."""
        return DiskCopyIndex(self.local / "copies.sqlite")

    def tail(self, size: int) -> list[int]:
        """See `Store`."""
        files = self._files_from(size)
        return sorted(index for name in files if (index := _index_of(name)) is not None and index >= size)

    def repair(self, size: int) -> list[str]:
        """See `Store`. Nothing is deleted but temporary files: a tail may be all that is left of somebody's work."""
        done = []
        for name in self._files_from(size):
            if name.rpartition("/")[2].startswith(_TEMPORARY):
                self._disk.remove(self.receipts / name)
                done.append(f"removed the unfinished file {RECEIPTS}/{name}")
        tail = self.tail(size)
        if not tail:
            return done
        aside = self.local / "uncommitted" / f"{time.time_ns()}"
        self._disk.make_folder(aside)
        for index in reversed(tail):  # from the end, so that an interrupted repair leaves a tail and no gap
            path = self.receipts / receipt_name(index)
            target = aside / receipt_name(index).replace("/", "")
            self._disk.link(path, target)
            self._disk.remove(path)
            done.append(f"receipt file {index} was never committed; moved to {target.relative_to(self.root)}")
        self._disk.sync_folder(aside)
        for folder in {(self.receipts / receipt_name(index)).parent for index in tail}:
            self._disk.sync_folder(folder)
        return done

    def strays(self) -> list[str]:
        """See `Store`."""
        return [
            name
            for name in self._files_from(0)
            if not _RECEIPT.fullmatch(name)
            and name != CHECKPOINT
            and not name.rpartition("/")[2].startswith(_TEMPORARY)
        ]

    def _files_from(self, index: int) -> list[str]:
        """Files below ``receipts``, without the folders that only hold receipts before `index`."""
        first = receipt_name(min(index, MAX_INDEX))
        found = []
        for folder, folders, names in os.walk(self.receipts):
            base = "" if folder == str(self.receipts) else folder[len(self._prefix) :] + "/"
            found += [base + name for name in names]
            folders[:] = [name for name in folders if base + name >= first[: len(base + name)]]
        return sorted(found)


def _read(handle: int, limit: int) -> bytes:
    """All bytes of an open file, at most `limit` and one more, so that a parser sees that there were too many."""
    size = min(os.fstat(handle).st_size, limit + 1)
    data = os.read(handle, size)
    while len(data) < size and (more := os.read(handle, size - len(data))):
        data += more
    return data


def _index_of(name: str) -> int | None:
    """Inverse of `receipt_name`; none for any other name."""
    found = _RECEIPT.fullmatch(name)
    return int("".join(found.groups())) if found else None
