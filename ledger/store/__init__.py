"""Where receipts live. `Store` is the seam; `ledger.store.directory` is the store that git and people see.

Nothing that a store returns is trusted: readers hash what they get. A store only has to keep two promises: a receipt is
never overwritten, and the checkpoint is swapped in one step that survives a crash once it has returned.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ledger.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager


class MissingReceiptError(StorageError):
    """There is no receipt at this index."""

    def __init__(self, index: int, where: str) -> None:
        super().__init__("E_RECEIPT_MISSING", "there is no such receipt", where=where, index=index)


class Store(Protocol):
    """The storage of one ledger."""

    def read_checkpoint(self) -> bytes | None:
        """The current checkpoint; none when nothing has been committed yet."""
        ...

    def read_receipt(self, index: int) -> bytes:
        """One receipt file.

        Raises:
            MissingReceiptError: there is none.
            StorageError: it could not be read.
        """
        ...

    def put_receipts(self, start: int, files: Sequence[bytes]) -> None:
        """Store receipt files at `start` and behind, durably, never over an existing one.

        Raises:
            ConflictError: ``E_EXISTS`` when one exists.
            StorageError: nothing may be committed after this.
        """
        ...

    def swap_checkpoint(self, old: bytes | None, new: bytes) -> None:
        """Replace the checkpoint `old` by `new` in one durable step. This is the commit point.

        Raises:
            ConflictError: ``E_HEAD_MOVED`` when the checkpoint is not `old` any more.
            StorageError: it may or may not have happened; read again.
        """
        ...

    def lock(self, timeout_s: float) -> AbstractContextManager[None]:
        """Exclude other writers.

        Raises:
            ConflictError: ``E_LOCKED`` when the lock is held for longer than `timeout_s` seconds.
        """
        ...

    def tail(self, size: int) -> list[int]:
        """Indices from `size` on at which a receipt file exists: writes that were never committed."""
        ...

    def repair(self, size: int) -> list[str]:
        """Move aside what was never committed. Call it only under the lock.

        Returns:
            One sentence for everything that was moved.
        """
        ...

    def strays(self) -> list[str]:
        """Names of files among the receipts that are no part of the ledger."""
        ...


class Anchor(Protocol):
    """Memory of the last checkpoint that this machine signed, kept away from the ledger.

    A ledger that was restored from an older copy does not know what it has forgotten; the anchor does.
    """

    def read(self) -> bytes | None:
        """The last signed checkpoint; none when this machine has not signed one."""
        ...

    def write(self, checkpoint: bytes) -> None:
        """Remember a checkpoint."""
        ...

    def describe(self) -> str:
        """Where it is kept, for messages."""
        ...
