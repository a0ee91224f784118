"""Samples that the ledger has already: the writer refuses a round whose repetition is one of another receipt.

`Copies` knows the fingerprint (`ledger.timing`) of every repetition in the ledger: the older ones from an index
on the disk, one look-up each, the latest in memory. The index is disposable: it is rebuilt from the receipts when it is
missing or of another ledger. A receipt that was voided or superseded frees its samples, so that a round that was filed
wrongly can be filed again.

Only the writer asks. Whoever holds the ledger's key can seal a copy all the same (LIMITS.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ledger.errors import RefusedError
from ledger.loading import read_again
from ledger.receipt import decode_receipt_bytes
from ledger.timing import round_prints

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from ledger.admission import State
    from ledger.canonical import JsonObject
    from ledger.store import Store

EVERY = 256
"""The index is extended when it lacks this many receipts: until then they are read again by a new process."""


class CopyIndex(Protocol):
    """Where fingerprints are kept between two processes."""

    def covered(self) -> tuple[int, str]:
        """Number of receipts that it knows, and the SHA-256 (hex) of the last of them; 0 when it is empty or broken."""
        ...

    def find(self, digest: bytes) -> Sequence[int]:
        """Indices of the receipts that have a repetition of this fingerprint.

        Raises:
            StorageError: it cannot be read.
        """
        ...

    def extend(self, size: int, last: str, added: Mapping[bytes, Sequence[int]], freed: AbstractSet[int]) -> bool:
        """Cover `size` receipts, the last of them with this SHA-256; returns whether that was possible."""
        ...

    def clear(self) -> None:
        """Forget everything."""
        ...


class Copies:
    """The fingerprints of a ledger, for its writer.

    Args:
        store: the ledger.
        index: where to keep them; without one they are read from the receipts by every process.
    """

    def __init__(self, store: Store, index: CopyIndex | None) -> None:
        self._store = store
        self._index = index
        self._committed = 0
        self._size = 0  # receipts that are known: the first `_indexed` of them from the index, the others in `_recent`
        self._indexed = 0
        self._recent: dict[bytes, list[int]] = {}
        self._freed: set[int] = set()
        self._pending: dict[bytes, int] = {}
        self._pending_freed: set[int] = set()

    def begin(self, state: State) -> None:
        """Start a group behind a state of the ledger: what was pending of a group that failed is forgotten."""
        self._committed = state.size
        self._pending.clear()
        self._pending_freed.clear()

    def take(self, state: State, kind: str, body: JsonObject) -> None:
        """Take in a statement that is about to be sealed behind a state.

        Raises:
            RefusedError: ``E_COPIED_SAMPLES`` naming the receipt that has the same samples.
            StorageError: ledger or index cannot be read.
        """
        if kind == "ruling":
            self._pending_freed |= _freed_by(state, body)
            return
        timings = round_prints(body) if kind == "round" else {}
        if timings:
            self._bring_up(state)
        for at, digest in timings.items():
            index = self._find(digest)
            if index is not None:
                raise RefusedError(
                    "E_COPIED_SAMPLES",
                    f"these samples are those of receipt {index}: it is one measurement; if that "
                    "receipt was filed wrongly, void it first",
                    where=f"/predicate/round/reps/{at}/records",
                )
        self._pending.update(dict.fromkeys(timings.values(), state.size))

    def keep(self, state: State) -> None:
        """The group is in the ledger, and `state` is the one behind it."""
        if self._size != self._committed:
            return  # nothing has been asked so far: the receipts of the group will be read when something is
        for digest, index in self._pending.items():
            self._recent.setdefault(digest, []).append(index)
        self._freed |= self._pending_freed
        self._size = state.size
        if self._index is None or self._size - self._indexed < EVERY:
            return
        if self._index.extend(self._size, state.digests[self._size - 1].hex(), self._recent, self._freed):
            self._recent.clear()
            self._freed.clear()
            self._indexed = self._size

    def forget(self) -> None:
        """The ledger may be another one than it was."""
        self._size = self._indexed = 0
        self._recent.clear()
        self._freed.clear()

    def _find(self, digest: bytes) -> int | None:
        """The first receipt that has it and was not freed."""
        found = [*self._recent.get(digest, ())]
        found += [self._pending[digest]] if digest in self._pending else []
        found += self._index.find(digest) if self._index and self._indexed else []
        return min((index for index in found if not self._is_freed(index)), default=None)

    def _is_freed(self, index: int) -> bool:
        return index in self._freed or index in self._pending_freed

    def _bring_up(self, state: State) -> None:
        """Read what the ledger has and this object does not: at first, and what other writers have sealed."""
        if self._size == 0 and self._index is not None:
            size, last = self._index.covered()
            if size and (size > self._committed or state.digests[size - 1].hex() != last):
                self._index.clear()
                size = 0
            self._size = self._indexed = size
        for index in range(self._size, self._committed):
            receipt, _ = decode_receipt_bytes(read_again(self._store, state, index))
            self._learn(state, index, receipt.statement.kind, receipt.statement.body)
        self._size = self._committed

    def _learn(self, state: State, index: int, kind: str, body: JsonObject) -> None:
        if kind == "ruling":
            self._freed |= _freed_by(state, body)
        elif kind == "round":
            for digest in round_prints(body).values():  # several receipts have it where a release did not look
                self._recent.setdefault(digest, []).append(index)


def _freed_by(state: State, body: JsonObject) -> set[int]:
    """Receipts whose samples may be filed again after a ruling."""
    if body["action"] not in ("void", "supersede"):
        return set()
    return {state.digests.index(bytes.fromhex(body["receipt"]))}
