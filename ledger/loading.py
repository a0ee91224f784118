"""Bringing a `State` up to a signed checkpoint, from a snapshot and the receipts behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.admission import State
from ledger.checkpoint import Checkpoint, open_checkpoint, parse_checkpoint
from ledger.errors import ChainError, RootMismatchError, StorageError, VerificationError, evidence
from ledger.examine import examine
from ledger.kinds import FIGURE_KINDS
from ledger.receipt import decode_receipt_bytes, file_digest, seal_head
from ledger.snapshot import decode_snapshot

if TYPE_CHECKING:
    from ledger.snapshot import SnapshotFile
    from ledger.store import Store


def open_state(store: Store, checkpoint: Checkpoint, snapshot: SnapshotFile | None) -> tuple[State, int]:
    """The state at a checkpoint that the caller trusts; a snapshot only saves the time to read its receipts.

    Returns:
        The state, and how many receipts of it came from the snapshot.

    Raises:
        As `load_state`.
    """
    saved = snapshot.read() if snapshot else None
    state = decode_snapshot(saved, store) if saved else None
    if state is not None and state.size <= checkpoint.size:
        try:
            saved_size = state.size
            load_state(store, checkpoint, state)
        except VerificationError:
            pass  # a snapshot of another history: the receipts decide, not it
        else:
            return state, saved_size
    state = State()
    load_state(store, checkpoint, state)
    return state, 0


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
    digests = _check_hashes(store, checkpoint, state)
    for index, digest in enumerate(digests, state.size):
        raw = store.read_receipt(index)
        if file_digest(raw) != digest:
            raise VerificationError("E_CHANGED", "the file changes while it is read", index=index)
        with evidence(index):
            receipt, in_domain = decode_receipt_bytes(raw)
            state.add(digest, examine(receipt.signed, None, in_domain=in_domain))


def _check_hashes(store: Store, checkpoint: Checkpoint, state: State) -> list[bytes]:
    """Chain and root, before anything in the files is believed.

    Returns:
        SHA-256 of every receipt file behind `state`.
    """
    tree, prev, digests = state.tree.copy(), state.prev, []
    for index in range(state.size, checkpoint.size):
        raw = store.read_receipt(index)
        if not raw.startswith(seal_head(index, prev)):
            raise ChainError("E_CHAIN", "the receipt does not follow from the one before it", index=index)
        digest = file_digest(raw)
        tree.append(digest)
        digests.append(digest)
        prev = digest.hex()
    if len(tree) != checkpoint.size or tree.root() != checkpoint.root:
        raise RootMismatchError("E_ROOT", "the receipts do not hash to the root of the checkpoint; run rungbook verify")
    return digests


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
        state, _ = open_state(store, parse_checkpoint(raw), snapshot)
        open_checkpoint(raw, state.require_trust().ledger)
    return state


def find_figure(state: State, kind: str, body: object) -> int | None:
    """Index of the receipt that has the id of this figure, or the end of this attempt; none for what is new.

    The body may be anything: it has not been held against its schema yet.
    """
    if not isinstance(body, dict):
        return None
    if kind != "incident":
        return state.figures.get(str(body.get("id"))) if kind in FIGURE_KINDS else None
    slot, attempt, round_id = body.get("slot"), body.get("attempt"), body.get("round")
    if not isinstance(slot, dict) or not isinstance(attempt, int) or not isinstance(round_id, str):
        return None
    return state.attempts.find(body) if isinstance(slot.get("node"), str) else None


def read_again(store: Store, state: State, index: int) -> bytes:
    """A receipt file that a state has taken in, the same that it was then.

    Raises:
        VerificationError: ``E_CHANGED``.
        StorageError: it cannot be read.
    """
    raw = store.read_receipt(index)
    if file_digest(raw) != state.digests[index]:
        raise VerificationError("E_CHANGED", "the file has changed since it was read", index=index)
    return raw
