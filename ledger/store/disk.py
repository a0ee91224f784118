"""The few steps by which bytes reach the disk, each one method, so that tests can make each one fail.

The order that makes a new file durable: write it under a temporary name, fsync it, link it to its final name, fsync the
folder. ``link`` fails when the name exists, which ``rename`` would not: a receipt can never be overwritten. After an
fsync that failed nothing is retried: the kernel may have dropped the data and report success the second time.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from ledger.errors import ConflictError, MalformedError, RefusedError, StorageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_DENIED = {errno.EACCES, errno.EPERM, errno.EROFS}
_BLOCK = 1 << 20


@contextmanager
def storage_errors(action: str, path: Path) -> Iterator[None]:
    """Turn an OSError into a `StorageError` that says what was tried and what would help."""
    try:
        yield
    except OSError as err:
        reason = err.strerror or str(err)
        if err.errno in _FULL:
            raise StorageError(
                "E_DISK_FULL", f"cannot {action}: {reason}; free some space and try again", where=str(path)
            ) from err
        if err.errno in _DENIED:
            raise StorageError("E_READ_ONLY", f"cannot {action}: {reason}", where=str(path)) from err
        raise StorageError("E_IO", f"cannot {action}: {reason}", where=str(path)) from err


class Disk:
    """Durable steps on a local file system."""

    def write(self, path: Path, data: bytes) -> None:
        """Create a file that does not exist yet, write it whole and fsync it."""
        with storage_errors("write", path):
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
            try:
                view = memoryview(data)
                while view:
                    view = view[os.write(handle, view) :]
                os.fsync(handle)
            finally:
                os.close(handle)

    def link(self, temporary: Path, final: Path) -> None:
        """Give a written file its final name; fails when the name is taken."""
        with storage_errors("create", final):
            try:
                os.link(temporary, final)
            except FileExistsError as err:
                raise ConflictError("E_EXISTS", "the file exists and is never overwritten", where=str(final)) from err

    def replace(self, temporary: Path, final: Path) -> None:
        """Give a written file its final name, in place of the file that has it."""
        with storage_errors("replace", final):
            temporary.replace(final)

    def remove(self, path: Path) -> None:
        """Remove a file; it may be gone already."""
        with storage_errors("remove", path):
            path.unlink(missing_ok=True)

    def make_folder(self, path: Path) -> None:
        """Create a folder and its parents, durably."""
        if path.is_dir():
            return
        self.make_folder(path.parent)
        with storage_errors("create the folder", path):
            path.mkdir(exist_ok=True)
        self.sync_folder(path.parent)

    def sync_folder(self, path: Path) -> None:
        """Make the names in a folder durable."""
        with storage_errors("fsync the folder", path):
            handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)


class DisposableFile:
    """A local file that only saves time: unreadable is absent, and a write that fails is forgotten."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> bytes | None:
        """Its bytes; none when there are none."""
        try:
            return self.path.read_bytes()
        except OSError:
            return None

    def write(self, data: bytes) -> None:
        """Replace its bytes."""
        temporary = self.path.with_name(f".tmp-{os.getpid()}-{self.path.name}")
        with suppress(OSError):
            temporary.write_bytes(data)
            temporary.replace(self.path)


def read_file(path: Path, limit: int) -> bytes:
    """A file's bytes, at most `limit` and one more (so that a parser sees that there were too many).

    Raises:
        StorageError: it could not be read.
    """
    with storage_errors("read", path):
        return _read(path, limit)


def read_file_if_any(path: Path, limit: int) -> bytes | None:
    """Like `read_file`; none when there is no file."""
    with storage_errors("read", path), suppress(FileNotFoundError, NotADirectoryError):
        return _read(path, limit)
    return None


def read_regular_file(path: Path, limit: int) -> bytes:
    """All bytes of a file that somebody names and that this program may know nothing of.

    A pipe is not waited for and a device is not read: what came out of it could not be looked at again.

    Raises:
        StorageError: it could not be read; ``E_BEING_WRITTEN`` when it changed meanwhile.
        RefusedError: ``E_NOT_A_FILE``.
        MalformedError: ``E_SIZE`` for more bytes than `limit`, none of which is read.
    """
    with storage_errors("read", path):
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
        try:
            before = os.fstat(handle)
            _check_regular(before, path, limit)
            raw = _read_all(handle, before.st_size)
            after = os.fstat(handle)
        finally:
            os.close(handle)
    if len({len(raw), before.st_size, after.st_size}) > 1 or before.st_mtime_ns != after.st_mtime_ns:
        raise StorageError(
            "E_BEING_WRITTEN", "the file changes while it is read; wait until the tool has ended", where=str(path)
        )
    return raw


def _check_regular(found: os.stat_result, path: Path, limit: int) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, "it is a folder; name the files in it")
    if not stat.S_ISREG(found.st_mode):
        raise RefusedError(
            "E_NOT_A_FILE", "a pipe or a device; write what comes out of it to a file first", where=str(path)
        )
    if found.st_size > limit:
        raise MalformedError(
            "E_SIZE",
            f"{found.st_size} bytes, at most {limit} are read at once; split the run, or attach the file by its digest",
            where=str(path),
        )


def _read(path: Path, limit: int) -> bytes:
    with path.open("rb", buffering=0) as handle:
        return _read_all(handle.fileno(), limit)


def _read_all(handle: int, limit: int) -> bytes:
    """All bytes of an open file, at most `limit` and one more; its size is where to begin, and nothing to rely on."""
    wanted = min(os.fstat(handle).st_size, limit) + 1
    data = os.read(handle, wanted)
    while len(data) <= limit and (more := os.read(handle, min(_BLOCK, limit + 1 - len(data)))):
        data += more
    return data
