"""The only writer.

`Log.append` seals statements and commits them as one group: it admits each (`ledger.admission`), writes the receipt
files, and swaps the checkpoint. Before the swap nothing has happened; after it the group is in the ledger, whole.

The writer never extends what it has not checked. It refuses when the checkpoint is not signed by its own key, when the
receipts do not hash to it, and when the checkpoint that this machine signed last (`ledger.store.Anchor`) is not a
prefix of it: somebody restored an older copy (rollback) or signed another history (fork).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from ledger import snapshot as snapshots
from ledger.admission import State, read_genesis
from ledger.caches import NO_CACHES, Caches
from ledger.checkpoint import Checkpoint, open_checkpoint, parse_checkpoint, sign_checkpoint
from ledger.copies import Copies
from ledger.draft import Draft, sign_draft
from ledger.errors import (
    ChainError,
    ConflictError,
    LedgerError,
    MalformedError,
    PolicyError,
    RefusedError,
    SignatureError,
    StorageError,
    evidence,
)
from ledger.examine import Claim, examine
from ledger.loading import find_figure, load_state, open_state, read_again
from ledger.note import NoteKey
from ledger.receipt import Receipt, Seal, decode_receipt_bytes, encode_receipt, file_digest
from ledger.remembered import check_remembered
from ledger.round import says_the_same
from ledger.sealed import Sealed, Taken
from ledger.statement import Basis, SignedStatement
from ledger.strict import format_time

if TYPE_CHECKING:
    from ledger.keys import PrivateKey
    from ledger.store import Anchor, Store

Clock: TypeAlias = Callable[[], dt.datetime]

LOCK_TIMEOUT_S = 30.0
MAX_GROUP = 10_000


def system_clock() -> dt.datetime:
    """Now, by the system's clock."""
    return dt.datetime.now(dt.UTC)


class Log:
    """A ledger that this process may extend.

    Args:
        store: where it is.
        key: the ledger's private key.
        anchor: memory of what this machine signed last.
        clock: time of sealing.
        caches: what this machine keeps to save time; without them, opening reads the whole ledger.
        lock_timeout_s: how long to wait for other writers.
        notice: receives a sentence about everything that was repaired.

    Attributes:
        watch: receives what was committed, such as `ledger.following.Following.take`; it must not raise.
    """

    def __init__(
        self,
        store: Store,
        key: PrivateKey,
        anchor: Callable[[NoteKey], Anchor],
        *,
        clock: Clock = system_clock,
        caches: Caches = NO_CACHES,
        lock_timeout_s: float = LOCK_TIMEOUT_S,
        notice: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._store = store
        self._key = key
        self._anchor_of = anchor
        self._clock = clock
        self._lock_timeout_s = lock_timeout_s
        self._notice = notice
        self.watch: Callable[[Sequence[Taken]], None] = lambda _: None
        self._state = State()
        self._checkpoint: bytes | None = None
        self._note_key: NoteKey | None = None
        self._snapshot = caches.snapshot
        self._snapshot_size = 0
        self._copies = Copies(store, caches.copies)

    def create(self, origin: str, genesis: Draft) -> Sealed:
        """Start a ledger with its genesis statement.

        Raises:
            RefusedError: ``E_LEDGER_EXISTS`` when there is one here.
        """
        with self._store.lock(self._lock_timeout_s):
            if self._store.read_checkpoint() is not None:
                raise RefusedError("E_LEDGER_EXISTS", "there is a ledger here already")
            note_key = NoteKey(name=origin, public=self._key.public)
            anchor = self._anchor_of(note_key).read()
            if anchor is not None:
                raise ChainError(
                    "E_ROLLBACK",
                    f"this key has signed a ledger {origin!r} before; a second one would fork it. "
                    f"Take another key or origin, or remove {self._anchor_of(note_key).describe()}",
                )
            self._repair(0)
            group: list[Taken] = []
            try:
                sealed = self._take(genesis, self._state.basis(), group, "")
                self._commit(group, note_key)
            except BaseException:
                self._forget()
                raise
            return sealed

    def append(self, items: Sequence[SignedStatement | Draft]) -> list[Sealed]:
        """Seal statements as one group: all of them, or none.

        A statement that is in the ledger already, and a drafted round that says what the round of the same id says, are
        not sealed again: the receipt that exists is returned.

        Raises:
            RefusedError: a statement is not admissible; ``where`` starts with its position when there are several.
            MalformedError: a statement is outside its schema.
            VerificationError: the ledger itself does not hold: ``E_ROLLBACK``, ``E_FORK``, ``E_ROOT``, ``E_CHAIN`` or a
                checkpoint by a foreign key.
            PolicyError: ``E_LEDGER_KEY`` when `key` is not this ledger's.
            ConflictError: somebody else holds the lock.
            StorageError: nothing was committed, or the outcome shows when the ledger is opened again.
        """
        if len(items) > MAX_GROUP:
            raise RefusedError("E_GROUP", f"{len(items)} statements in one group, at most {MAX_GROUP} are accepted")
        with self._store.lock(self._lock_timeout_s):
            note_key = self._synchronise()
            basis = self._state.basis()
            self._copies.begin(self._state)
            group: list[Taken] = []
            try:
                results = [
                    self._take(item, basis, group, f"/{at}" if len(items) > 1 else "") for at, item in enumerate(items)
                ]
                self._commit(group, note_key)
            except BaseException as err:
                # It holds receipts that are not in the ledger, or half of one: an interrupt may have come in between.
                if self._state.size != basis.tree_size or not isinstance(err, LedgerError):
                    self._forget()
                raise
            return results

    def _take(self, item: SignedStatement | Draft, basis: Basis, group: list[Taken], where: str) -> Sealed:
        """Admit one statement and seal it in memory."""
        try:
            existing = self._find_existing(item, group)
            if existing is not None:
                return existing
            signed = item if isinstance(item, SignedStatement) else sign_draft(self._state, item, basis)
            claim = examine(signed, self._state.keys)
            self._state.admit(claim)
            self._copies.take(self._state, claim.kind, signed.statement.body)
            return self._seal(signed, claim, group)
        except SignatureError as err:  # of what was handed in: the ledger itself is not in doubt
            raise RefusedError(err.code, err.message, where=where + err.where) from err
        except (MalformedError, RefusedError) as err:
            raise err.at(where=where) from err

    def _seal(self, signed: SignedStatement, claim: Claim, group: list[Taken]) -> Sealed:
        index = self._state.size
        seal = Seal(index=index, prev=self._state.prev, sealed_at=format_time(self._clock()))
        receipt = Receipt(seal=seal, signed=signed)
        raw = encode_receipt(receipt)
        digest = file_digest(raw)
        self._state.add(digest, claim)
        group.append(Taken(raw, receipt, digest, claim))
        return Sealed(index=index, digest=digest, identity=signed.statement.identity, existed=False)

    def _find_existing(self, item: SignedStatement | Draft, group: list[Taken]) -> Sealed | None:
        """The receipt of this statement, or of a round that says the same by the same keys."""
        if isinstance(item, SignedStatement):
            index = self._state.identities.get(item.statement.identity)
            if index is not None:
                return self._sealed_at(index, group)
            kind, body = item.statement.kind, item.statement.predicate.get(item.statement.kind)
            signers = {signature.keyid for signature in item.signatures}
        else:
            kind, body, signers = item.kind, item.body, {key.public.keyid for key in item.signers}
        index = find_figure(self._state, kind, body)
        if index is None:
            return None
        receipt, _ = decode_receipt_bytes(self._raw_at(index, group))
        found = {signature.keyid for signature in receipt.signed.signatures}
        same = isinstance(body, dict) and says_the_same(receipt.statement.body, body) and found == signers
        return self._sealed_at(index, group) if same else None  # else `State.admit` says what is wrong

    def _sealed_at(self, index: int, group: list[Taken]) -> Sealed:
        raw = self._raw_at(index, group)
        receipt, _ = decode_receipt_bytes(raw)
        return Sealed(index=index, digest=file_digest(raw), identity=receipt.statement.identity, existed=True)

    def _raw_at(self, index: int, group: list[Taken]) -> bytes:
        """A receipt file of the ledger, or of the group that is being sealed."""
        pending = index - (self._state.size - len(group))
        return group[pending].raw if pending >= 0 else read_again(self._store, self._state, index)

    def _commit(self, group: list[Taken], note_key: NoteKey) -> None:
        if not group:
            return
        start, files = self._state.size - len(group), [taken.raw for taken in group]
        try:
            self._store.put_receipts(start, files)
        except ConflictError:  # another process died between its receipts and its checkpoint
            if self._store.read_checkpoint() != self._checkpoint:
                raise ConflictError("E_HEAD_MOVED", "the ledger was replaced while it was locked; try again") from None
            self._repair(start)
            self._store.put_receipts(start, files)
        checkpoint = Checkpoint(origin=note_key.name, size=self._state.size, root=self._state.root_at(self._state.size))
        signed = sign_checkpoint(checkpoint, self._key)
        self._store.swap_checkpoint(self._checkpoint, signed)
        self._checkpoint, self._note_key = signed, note_key
        try:
            self._anchor_of(note_key).write(signed)
        except StorageError as err:  # committed all the same: the older anchor still guards what came before
            self._notice(f"sealed, but {err.message}")
        self._keep_snapshot()
        self._copies.keep(self._state)
        self.watch(group)

    def _synchronise(self) -> NoteKey:
        """Check the ledger as it is now, and bring the state up to it."""
        raw = self._store.read_checkpoint()
        if raw is None:
            raise StorageError("E_NO_LEDGER", "there is no ledger here: no checkpoint")
        with evidence():
            if self._note_key and raw == self._checkpoint:
                return self._note_key
            note_key = NoteKey(name=parse_checkpoint(raw).origin, public=self._key.public)
            self._check_own_key(note_key)
            checkpoint = open_checkpoint(raw, note_key)
        self._load(checkpoint)
        anchor = self._anchor_of(note_key)
        check_remembered(anchor, note_key, self._state)
        anchor.write(raw)  # now, not after the commit: a folder that cannot be written must stop us before
        self._repair(checkpoint.size)
        self._checkpoint, self._note_key = raw, note_key
        return note_key

    def _load(self, checkpoint: Checkpoint) -> None:
        if self._state.size == 0 or self._state.size > checkpoint.size:
            self._state, self._snapshot_size = open_state(self._store, checkpoint, self._snapshot)
            return
        try:
            load_state(self._store, checkpoint, self._state)
        except LedgerError:
            # Perhaps another history than the one in memory: read it whole, and let the anchor tell a fork.
            self._forget()
            self._state, self._snapshot_size = open_state(self._store, checkpoint, self._snapshot)

    def _keep_snapshot(self) -> None:
        if self._snapshot and self._state.size - self._snapshot_size >= snapshots.EVERY:
            self._snapshot.write(snapshots.encode_snapshot(self._state))
            self._snapshot_size = self._state.size

    def _check_own_key(self, note_key: NoteKey) -> None:
        """Tell a wrong key file from a forged checkpoint before the signature is judged."""
        named = read_genesis(self._store.read_receipt(0)).ledger.public
        if named != note_key.public:
            raise PolicyError(
                "E_LEDGER_KEY",
                f"this is not the ledger's key: the ledger names {named.openssh}, the key file holds "
                f"{note_key.public.openssh}",
            )

    def _repair(self, size: int) -> None:
        for sentence in self._store.repair(size):
            self._notice(sentence)

    def _forget(self) -> None:
        self._state = State()
        self._copies.forget()
        self._checkpoint = None
