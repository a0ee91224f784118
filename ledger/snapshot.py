"""A snapshot of a ledger's state, so that a new process need not read the whole ledger to append one receipt.

A snapshot is disposable and local: never published, never used by `verify`, rebuilt from the receipts when it is
missing, damaged or ahead. What it says of the receipt files is checked against the signed checkpoint like the files
themselves; what it says of identities, round ids and numbering is protected by a digest against accidents only: whoever
can write to this folder of the ledger's holder needs no snapshot to do harm (LIMITS.md).
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Protocol

import orjson

from ledger.admission import Numbering, State, read_genesis
from ledger.attempts import Attempts
from ledger.errors import LedgerError
from ledger.receipt import decode_receipt, file_digest
from ledger.strict import b64decode, b64encode

if TYPE_CHECKING:
    from ledger.store import Store

EVERY = 256
"""A snapshot is written when it would spare the next process this many receipts."""

_VERSION = 3
_SIZE = 32


class SnapshotFile(Protocol):
    """Where a snapshot is kept."""

    def read(self) -> bytes | None:
        """The bytes that were written last; none when there are none."""
        ...

    def write(self, data: bytes) -> None:
        """Keep some bytes. May fail silently: a snapshot only saves time."""
        ...


def encode_snapshot(state: State) -> bytes:
    """A state as bytes."""
    body = orjson.dumps(
        {
            "version": _VERSION,
            "digests": b64encode(b"".join(state.digests)),
            "identities": {identity.hex(): index for identity, index in state.identities.items()},
            "figures": state.figures,
            "attempts": state.attempts.to_rows(),
            "keys": state.keys_at,
            "producers": {
                keyid: [[seq, identity.hex(), item.claims[seq]] for seq, identity in item.identities.items()]
                for keyid, item in state.producers.items()
            },
        }
    )
    return hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def decode_snapshot(raw: bytes, store: Store) -> State | None:
    """Inverse of `encode_snapshot`: the state, or none when the bytes are not a snapshot of this ledger.

    Roles are replayed from the receipts themselves. The caller must compare the state's root with a checkpoint.
    """
    checksum, _, body = raw.partition(b"\n")
    if hashlib.sha256(body).hexdigest().encode() != checksum:
        return None
    try:
        value = orjson.loads(body)
        return _restore(value, store) if value["version"] == _VERSION else None
    except (LedgerError, ValueError, KeyError, TypeError, IndexError, AttributeError):
        return None  # another release's, or another ledger's: the receipts say it all


def _restore(value: dict[str, Any], store: Store) -> State:
    state = State()
    digests = b64decode(value["digests"])
    for at in range(0, len(digests), _SIZE):
        state.add_file(digests[at : at + _SIZE])
    state.identities = {bytes.fromhex(identity): index for identity, index in value["identities"].items()}
    state.figures = value["figures"]
    state.attempts = Attempts.from_rows(*value["attempts"])
    state.keys_at = value["keys"]
    for keyid, items in value["producers"].items():
        numbering = state.producers.setdefault(keyid, Numbering())
        for seq, identity, claim in items:
            numbering.add(seq, claim, bytes.fromhex(identity))
    genesis, *changes = (_read(store, index, state) for index in [0, *state.keys_at])
    state.trust = read_genesis(genesis)
    for raw in changes:
        state.trust.apply_keys(decode_receipt(raw).statement.body)
    return state


def _read(store: Store, index: int, state: State) -> bytes:
    raw = store.read_receipt(index)
    if file_digest(raw) != state.digests[index]:
        raise LedgerError("E_SNAPSHOT", "the snapshot is of another ledger")
    return raw
