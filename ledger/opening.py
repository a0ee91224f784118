"""Steps 1 to 3 of verification: checkpoint, genesis, and the key that the checkpoint was signed with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ledger.admission import read_genesis
from ledger.checkpoint import Checkpoint, open_checkpoint, parse_checkpoint
from ledger.errors import LedgerError, MalformedError, RefusedError, StorageError, VerificationError
from ledger.receipt import file_digest
from ledger.store import MissingReceiptError
from ledger.verified import Finding, Pins, Verification
from ledger.whole import CHECKPOINT

if TYPE_CHECKING:
    from ledger.note import NoteKey
    from ledger.store import Store


@dataclass(slots=True, kw_only=True)
class Opening:
    """A ledger of which no receipt but the first has been read.

    Attributes:
        store: where it is.
        pins: what the caller knows from elsewhere.
        result: receives what is found.
        key: name and key of the ledger; the genesis names them when nothing else does.
        signed: the checkpoint as it was read; none when there is none.
    """

    store: Store
    pins: Pins
    result: Verification
    key: NoteKey | None
    signed: bytes | None = None

    def open(self) -> Checkpoint | None:
        """Take steps 1 to 3.

        Returns:
            The checkpoint; none when it cannot be read.

        Raises:
            StorageError: ``E_NO_LEDGER``: there is nothing here.
        """
        self.signed = self._read_checkpoint()
        if self.signed is None:
            return None
        self._read_genesis()
        return self._open_checkpoint(self.signed)

    def _find(self, error: LedgerError, index: int | None = None) -> None:
        self.result.findings.append(Finding.of(error, index))

    def _read_checkpoint(self) -> bytes | None:
        raw = self.store.read_checkpoint()
        if raw is not None:
            return raw
        if not self.store.tail(0):
            raise StorageError("E_NO_LEDGER", "there is no ledger here: no checkpoint and no receipts")
        self._find(VerificationError("E_CHECKPOINT_MISSING", "there are receipts, but no checkpoint", where=CHECKPOINT))
        return None

    def _read_genesis(self) -> None:
        try:
            raw = self.store.read_receipt(0)
        except MissingReceiptError:
            return  # step 4 reports it
        self.result.genesis = file_digest(raw).hex()
        if self.pins.genesis and self.pins.genesis != self.result.genesis:
            self._find(
                VerificationError(
                    "E_PIN_GENESIS",
                    f"the genesis receipt is {self.result.genesis}, pinned is {self.pins.genesis}",
                ),
                0,
            )
        try:
            named = read_genesis(raw).ledger
        except (MalformedError, RefusedError):
            return  # step 4 reports what is wrong with it
        if self.key is None:
            self.key = named
        elif self.key != named:
            self._find(
                VerificationError("E_PIN_VKEY", f"the genesis names the key {named.vkey}, pinned is {self.key.vkey}"),
                0,
            )

    def _open_checkpoint(self, raw: bytes) -> Checkpoint | None:
        try:
            checkpoint = parse_checkpoint(raw)
            if self.key is None:
                self._find(
                    VerificationError(
                        "E_LEDGER_KEY",
                        "no key to verify the checkpoint with: the genesis names none",
                        where=CHECKPOINT,
                    )
                )
                return checkpoint
            self.result.vkey = self.key.vkey
            open_checkpoint(raw, self.key)
        except MalformedError as err:
            self._find(err.at(where=CHECKPOINT))
            return None
        except VerificationError as err:
            self._find(err.at(where=CHECKPOINT))
        return checkpoint
