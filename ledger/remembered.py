"""What this machine signed last, held against the ledger as it is now: rollback and fork."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.checkpoint import open_checkpoint
from ledger.errors import ChainError, MalformedError, RootMismatchError, SignatureError, StorageError

if TYPE_CHECKING:
    from ledger.admission import State
    from ledger.note import NoteKey
    from ledger.store import Anchor


def check_remembered(anchor: Anchor, note_key: NoteKey, state: State) -> None:
    """Check that the checkpoint that this machine signed last is a prefix of a ledger.

    Raises:
        ChainError: ``E_ROLLBACK``: the ledger is shorter.
        RootMismatchError: ``E_FORK``: it has another history.
        StorageError: ``E_ANCHOR``: the memory is damaged.
    """
    raw = anchor.read()
    if raw is None:
        return
    try:
        last = open_checkpoint(raw, note_key)
    except (MalformedError, SignatureError) as err:
        raise StorageError(
            "E_ANCHOR", f"the remembered checkpoint is damaged: {err.message}", where=anchor.describe()
        ) from err
    if last.size > state.size:
        raise ChainError(
            "E_ROLLBACK",
            f"this machine has signed {last.size} receipts, the ledger has {state.size}: an older copy "
            f"was restored. Find the newer one; to give its receipts up, remove {anchor.describe()}",
        )
    if state.root_at(last.size) != last.root:
        raise RootMismatchError(
            "E_FORK",
            f"the first {last.size} receipts are not those that this machine signed: two histories exist. "
            f"Keep both as evidence; {anchor.describe()} holds the checkpoint of the other one",
        )
