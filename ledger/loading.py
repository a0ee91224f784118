"""Bringing a `State` up to a signed checkpoint, from a snapshot and the receipts behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.admission import State
from ledger.checkpoint import Checkpoint, open_checkpoint, parse_checkpoint
from ledger.errors import ChainError, RootMismatchError, StorageError, VerificationError, evidence
from ledger.examine import examine
from ledger.receipt import decode_receipt_bytes, file_digest, seal_head
from ledger.snapshot import decode_snapshot

if TYPE_CHECKING:
    from ledger.snapshot import SnapshotFile
    from ledger.store import Store


def open_state(store: Store, checkpoint: Checkpoint, snapshot: SnapshotFile | None) -> State:
    """The state at a checkpoint that the caller trusts; a snapshot only saves the time to read its receipts.

    Raises:
        As `load_state`.
    """
    saved = snapshot.read() if snapshot else None
    state = decode_snapshot(saved, store) if saved else None
    if state is not None and state.size <= checkpoint.size:
        try:
            load_state(store, checkpoint, state)
        except VerificationError:
            pass  # a snapshot of another history: the receipts decide, not it
        else:
            return state
    state = State()
    load_state(store, checkpoint, state)
    return state


def load_state(store: Store, checkpoint: Checkpoint, state: State) -> None:
    """Bring a state up to a checkpoint that the caller trusts, and check that the receipts hash to it.

    Producers' signatures are not verified again: whoever signed the checkpoint has done that.

    Raises:
        ChainError: ``E_CHAIN`` where a receipt does not follow.
        RootMismatchError: ``E_ROOT``.
        VerificationError: a file is not a receipt, or not one that this ledger could hold.
        PolicyError: ``E_KIND_UNKNOWN`` for a receipt that only a newer release can judge.
        StorageError: a file is missing or unreadable.
    """
    for index in range(state.size, checkpoint.size):
        raw = store.read_receipt(index)
        if not raw.startswith(seal_head(index, state.prev)):
            raise ChainError("E_CHAIN", "the receipt does not follow from the one before it", index=index)
        with evidence(index):
            receipt, in_domain = decode_receipt_bytes(raw)
            state.add(file_digest(raw), examine(receipt.signed, None, in_domain=in_domain))
    if state.size != checkpoint.size or state.root_at(state.size) != checkpoint.root:
        raise RootMismatchError("E_ROOT", "the receipts do not hash to the root of the checkpoint; run rungbook verify")


def read_state(store: Store, snapshot: SnapshotFile | None = None) -> State:
    """The state of a ledger for somebody who signs on top of it without sealing.

    The checkpoint is verified under the key that the genesis names; producers' signatures are not verified again.

    Raises:
        VerificationError: the ledger does not hold.
        StorageError: there is no ledger, or it cannot be read.
    """
    raw = store.read_checkpoint()
    if raw is None:
        raise StorageError("E_NO_LEDGER", "there is no ledger here: no checkpoint")
    with evidence():
        state = open_state(store, parse_checkpoint(raw), snapshot)
        open_checkpoint(raw, state.require_trust().ledger)
    return state
