"""Verification: from files that nobody trusts to a `VerifiedLog`.

`verify` takes these steps, in this order, and reports everything that does not hold, with code and index:

1. read the checkpoint;
2. read the genesis receipt; compare it with the pinned digest, if one is given;
3. take the ledger's key from the pin, else from the genesis; verify the checkpoint's signature under it;
4. for every receipt of the checkpoint's size: its bytes are canonical, its seal follows from the file before it,
   its signatures verify, and it was admissible at its index (`ledger.admission`);
5. the files hash to the signed root;
6. an older checkpoint, if one is given, is a prefix of this tree;
7. say what was not checked.

The quick mode does 1 to 3, the chain of 4, and 5 to 7: no producer's signature, no schema.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, TypeAlias

from ledger.admission import State
from ledger.errors import ChainError, LedgerError, MalformedError, PolicyError, RefusedError, VerificationError
from ledger.examined import Examined, default_jobs, examine_all
from ledger.opening import Opening
from ledger.receipt import NO_PREV, Seal, decode_receipt, file_digest, peek_kind, seal_head
from ledger.store import MissingReceiptError, Store
from ledger.verified import MAKER, Entry, Finding, Mode, Pins, Verification, VerifiedLog
from ledger.whole import CHECKPOINT, Whole

if TYPE_CHECKING:
    from ledger.note import NoteKey
    from ledger.sealed import Taken

Progress: TypeAlias = Callable[[int, int], None]


def verify(
    store: Store,
    *,
    mode: Mode = "full",
    pins: Pins | None = None,
    progress: Progress | None = None,
    jobs: int | None = None,
) -> Verification:
    """Verify a ledger.

    Args:
        store: where it is.
        mode: ``full``, or ``quick`` for hashes, root and checkpoint only.
        pins: what is known from elsewhere.
        progress: called with the number of receipts done and the total.
        jobs: number of processes that examine receipts; by default as many as pay for the size.

    Returns:
        Everything that was found. Not holding is an outcome, not an exception.

    Raises:
        StorageError: something could not be read, or there is no ledger.
    """
    return Auditor(store, mode, jobs).run(pins or Pins(), progress)


class Auditor:
    """Takes the steps. Run again, it goes on behind the receipts that it has gone through, when all of them held.

    Args:
        store: where the ledger is.
        mode: see `verify`.
        jobs: see `verify`.
        reports: whether to take step 7, which looks at everything again.

    Attributes:
        signed: checkpoint as it was read last; none when there was none.
    """

    def __init__(self, store: Store, mode: Mode, jobs: int | None = None, *, reports: bool = True) -> None:
        self._store = store
        self._state = State()
        self._key: NoteKey | None = None
        self._entries: list[Entry] = []
        self._last_sealed_at = ""
        self._missing = False
        self._taken: Mapping[int, Taken] = {}
        self._jobs = jobs
        self._reports = reports
        self._result = Verification(mode=mode)
        self.signed: bytes | None = None

    def run(
        self, pins: Pins, progress: Progress | None = None, taken: Mapping[int, Taken] | None = None
    ) -> Verification:
        """Take the steps, for all receipts behind those of the last run.

        Args:
            pins: see `verify`.
            progress: see `verify`.
            taken: receipts that the writer in this process has examined and sealed, by index. Whether they are those
                of the ledger shows in the root, as ever.
        """
        result = self._result = Verification(mode=self._result.mode)
        self._key, self._taken = pins.key or self._key, taken or {}
        opening = Opening(store=self._store, pins=pins, key=self._key, result=result)
        checkpoint = opening.open()
        self._key, self.signed = opening.key, opening.signed
        result.checkpoint = checkpoint
        if checkpoint is None:
            return result
        if checkpoint.size == 0:
            self._find(VerificationError("E_NO_GENESIS", "the checkpoint counts no receipt", where=CHECKPOINT))
        if checkpoint.size < len(self._entries):
            self._find(ChainError("E_ROLLBACK", f"there were {len(self._entries)} receipts, now {checkpoint.size}"))
            return result
        start = len(self._entries)
        self._go_through(checkpoint.size, progress)
        whole = Whole(
            store=self._store, pins=pins, key=self._key, state=self._state, result=result, missing=self._missing
        )
        whole.check(checkpoint)
        if self._reports:
            whole.report(checkpoint)
        if self._key and not result.findings and not result.unknown:
            result.log = VerifiedLog(
                mode=result.mode,
                key=self._key,
                checkpoint=checkpoint,
                entries=tuple(self._entries),
                tree=self._state.tree,
                store=self._store,
                fresh={index: each.receipt for index, each in self._taken.items() if start <= index < checkpoint.size},
                maker=MAKER,
            )
        return result

    def _go_through(self, size: int, progress: Progress | None) -> None:
        run = self._run_quick if self._result.mode == "quick" else self._run_full
        for index in run(range(len(self._entries), size)):
            if progress and (index + 1) % _PROGRESS_EVERY == 0:
                progress(index + 1, size)
        if progress:
            progress(size, size)

    def _find(self, error: LedgerError, index: int | None = None) -> None:
        self._result.findings.append(Finding.of(error, index))

    # Step 4: receipt by receipt.

    def _run_quick(self, indices: range) -> Iterator[int]:
        read, state = self._store.read_receipt, self._state
        for index in indices:
            try:
                raw = read(index)
            except MissingReceiptError as err:
                if not self._take_missing(index, Finding.of(err)):
                    return
                continue
            if not raw.startswith(seal_head(index, state.prev)):
                self._explain_seal(index, raw)
            self._take_in(Entry(file_digest(raw), peek_kind(raw)))
            yield index

    def _explain_seal(self, index: int, raw: bytes) -> None:
        try:
            self._check_seal(index, decode_receipt(raw).seal)
        except MalformedError as err:
            self._find(err, index)

    def _run_full(self, indices: range) -> Iterator[int]:
        jobs = self._jobs or default_jobs(indices.stop - indices.start)
        found = examine_all(self._store, indices, lambda: self._state.keys, jobs, self._taken)
        for index, item in zip(indices, found, strict=False):  # what is missing at the end is found once
            if item.digest:
                self._judge(index, item)
            elif item.problem and not self._take_missing(index, item.problem):
                return
            yield index

    def _judge(self, index: int, item: Examined) -> None:
        if item.seal is None:
            self._state.intact = False
        else:
            self._check_seal(index, item.seal)
            self._check_time(index, item.seal.sealed_at)
            self._result.kinds[item.kind] = self._result.kinds.get(item.kind, 0) + 1
        attested = self._take_claim(index, item)
        self._entries.append(Entry(digest=item.digest, kind=item.kind, identity=item.identity, attested=attested))

    def _take_claim(self, index: int, item: Examined) -> bool:
        """Take a receipt into the state, whole or as a file; returns whether it is attested."""
        if item.claim is not None:
            try:
                attested = self._state.admit(item.claim)
                self._state.add(item.digest, item.claim)
            except (MalformedError, RefusedError) as err:
                self._find(err, index)
            else:
                return attested
        elif item.problem is not None:
            unknown = item.problem.error == PolicyError.__name__
            (self._result.unknown if unknown else self._result.findings).append(item.problem)
        self._state.add_file(item.digest)
        return False

    def _take_missing(self, index: int, problem: Finding) -> bool:
        """Go on behind a hole; stop at the end of a truncated ledger."""
        more = bool(self._store.tail(index + 1))
        text = "this receipt" if more else "this receipt and all behind it"
        self._find(ChainError(problem.code, f"the checkpoint counts {text}, but the file is missing"), index)
        self._missing = True
        self._state.intact = False
        self._take_in(Entry(digest=bytes(32)))
        self._state.prev = ""  # the next receipt cannot be held against a file that is not there
        return more

    def _take_in(self, entry: Entry) -> None:
        """Count a receipt of which only the file's digest is to be believed."""
        self._state.add_file(entry.digest)
        self._entries.append(entry)

    def _check_seal(self, index: int, seal: Seal) -> None:
        expected = self._state.prev
        if seal.index == index and seal.prev == expected:
            return
        self._state.intact = False
        if seal.index != index:
            self._find(
                ChainError(
                    "E_INDEX",
                    f"the seal says index {seal.index}, the file is number {index}",
                    where="/seal/index",
                ),
                index,
            )
        if expected and seal.prev != expected:
            what = "nothing (64 zeros)" if expected == NO_PREV else f"SHA-256 {expected} of receipt {index - 1}"
            self._find(
                ChainError("E_CHAIN", f"expected prev to be {what}, found {seal.prev}", where="/seal/prev"),
                index,
            )

    def _check_time(self, index: int, sealed_at: str) -> None:
        if sealed_at < self._last_sealed_at:
            self._result.flags.append(
                Finding(
                    code="F_CLOCK_BACK",
                    message=f"sealed at {sealed_at}, after a receipt sealed at {self._last_sealed_at}; "
                    "the order is the index",
                    where="/seal/sealed_at",
                    index=index,
                )
            )
        self._last_sealed_at = max(sealed_at, self._last_sealed_at)


_PROGRESS_EVERY = 512
