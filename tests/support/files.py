"""The files of a ledger as bytes, behind the back of the writer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.errors import StorageError
from ledger.store import MissingReceiptError
from ledger.store.directory import receipt_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path


def receipt_path(folder: Path, index: int) -> Path:
    """File of a receipt."""
    return folder / "receipts" / receipt_name(index)


def checkpoint_path(folder: Path) -> Path:
    """File of the checkpoint."""
    return folder / "receipts" / "checkpoint"


def read_receipts(folder: Path) -> list[bytes]:
    """All receipt files, from 0 to the first that is missing."""
    return list(_read_on(folder))


def _read_on(folder: Path) -> Iterator[bytes]:
    index = 0
    while (path := receipt_path(folder, index)).exists():
        yield path.read_bytes()
        index += 1


def write_receipts(folder: Path, files: Sequence[bytes]) -> None:
    """These receipt files and no others; the checkpoint stays."""
    for path in (folder / "receipts").rglob("*.json"):
        path.unlink()
    for index, raw in enumerate(files):
        path = receipt_path(folder, index)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(raw)


def edit_receipt(folder: Path, index: int, edit: Callable[[bytes], bytes]) -> None:
    """Change one receipt file; the edit must change it."""
    path = receipt_path(folder, index)
    before = path.read_bytes()
    path.write_bytes(changed(before, edit(before)))


def edit_checkpoint(folder: Path, edit: Callable[[bytes], bytes]) -> None:
    """Change the checkpoint; the edit must change it."""
    path = checkpoint_path(folder)
    before = path.read_bytes()
    path.write_bytes(changed(before, edit(before)))


def changed(before: bytes, after: bytes) -> bytes:
    """`after`, which must not be `before`: a test that alters nothing would prove nothing."""
    if before == after:
        raise AssertionError("the edit changed nothing")
    return after


def swap_text(old: str, new: str) -> Callable[[bytes], bytes]:
    """An edit that puts `new` where `old` stands first."""

    def edit(raw: bytes) -> bytes:
        if old.encode() not in raw:
            raise AssertionError(f"{old!r} is not in the file")
        return raw.replace(old.encode(), new.encode(), 1)

    return edit


def flip_bit(raw: bytes, at: int, bit: int = 0) -> bytes:
    """The bytes with one bit flipped; a negative position counts from the end."""
    position = at % len(raw)
    return raw[:position] + bytes([raw[position] ^ (1 << bit)]) + raw[position + 1 :]


_COMPARED = 1 << 20


def snapshot(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Size and first megabyte of every file below `receipts`, temporary ones included."""
    found = {}
    for path in sorted((folder / "receipts").rglob("*")):
        if path.is_file():
            with path.open("rb") as file:
                found[str(path)] = path.stat().st_size, file.read(_COMPARED)
    return found


class MemoryStore:
    """A store without a disk: for tests that verify one ledger thousands of times."""

    def __init__(self, checkpoint: bytes, receipts: Sequence[bytes]) -> None:
        self.checkpoint = checkpoint
        self.receipts = list(receipts)

    @classmethod
    def of(cls, folder: Path) -> MemoryStore:
        """A copy of the ledger in a folder."""
        return cls(checkpoint_path(folder).read_bytes(), read_receipts(folder))

    def read_checkpoint(self) -> bytes | None:
        return self.checkpoint

    def read_receipt(self, index: int) -> bytes:
        if index >= len(self.receipts):
            raise MissingReceiptError(index, "memory")
        return self.receipts[index]

    def put_receipts(self, start: int, files: Sequence[bytes]) -> None:
        raise StorageError("E_READ_ONLY", f"asked to write {len(files)} receipts from {start} on")

    def swap_checkpoint(self, old: bytes | None, new: bytes) -> None:
        raise StorageError("E_READ_ONLY", f"asked to replace {old!r} by {new!r}")

    def lock(self, timeout_s: float) -> AbstractContextManager[None]:
        from contextlib import nullcontext  # noqa: PLC0415 - only the writer's tests need it

        _ = timeout_s
        return nullcontext()

    def tail(self, size: int) -> list[int]:
        return list(range(size, len(self.receipts)))

    def repair(self, size: int) -> list[str]:
        return [f"{len(self.receipts) - size} receipts are behind the checkpoint"] if self.tail(size) else []

    def strays(self) -> list[str]:
        return []
