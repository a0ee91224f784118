"""Steps 5 to 7 of verification: the tree as a whole, and what was not checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ledger.checkpoint import Checkpoint, open_checkpoint, parse_checkpoint
from ledger.errors import ChainError, LedgerError, MalformedError, RootMismatchError, VerificationError
from ledger.verified import Finding, Pins, Verification

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger.admission import State
    from ledger.note import NoteKey
    from ledger.store import Store

CHECKPOINT = "checkpoint"
_CHAIN_CODES = {"E_CHAIN", "E_INDEX", "E_RECEIPT", "E_JSON", "E_CANONICAL", "E_RECEIPT_MISSING"}
_MOST_RUNS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """A ledger whose receipts have been gone through.

    Attributes:
        store: where it is.
        pins: what the caller knows from elsewhere.
        key: name and key of the ledger; none when nothing names one.
        state: what the receipts add up to.
        result: receives what is found.
        missing: whether receipt files are missing.
    """

    store: Store
    pins: Pins
    key: NoteKey | None
    state: State
    result: Verification
    missing: bool

    def check(self, checkpoint: Checkpoint) -> None:
        """Take steps 5 and 6."""
        self._check_root(checkpoint)
        self._check_since(checkpoint)

    def report(self, checkpoint: Checkpoint) -> None:
        """Take step 7, after `check`."""
        self._flag_gaps()
        self._say_what_was_not_checked(checkpoint)

    def _find(self, error: LedgerError, index: int | None = None) -> None:
        self.result.findings.append(Finding.of(error, index))

    def _check_root(self, checkpoint: Checkpoint) -> None:
        if self.missing:
            return  # reported already, and no root can come out of it
        root = self.state.tree.root()
        if root == checkpoint.root:
            return
        # With an unbroken chain, every file but the last is held by its successor's prev.
        chained = not any(item.code in _CHAIN_CODES or item.where == CHECKPOINT for item in self.result.findings)
        self._find(
            RootMismatchError(
                "E_ROOT",
                f"the receipts hash to root {root.hex()}, the checkpoint commits to {checkpoint.root.hex()}"
                + ("; the chain is unbroken, so it is the last receipt that differs" if chained else ""),
                where=CHECKPOINT,
            ),
            checkpoint.size - 1 if chained and checkpoint.size else None,
        )

    def _check_since(self, checkpoint: Checkpoint) -> None:
        if self.pins.since is None:
            return
        try:
            old = open_checkpoint(self.pins.since, self.key) if self.key else parse_checkpoint(self.pins.since)
        except (MalformedError, VerificationError) as err:
            self._find(type(err)(err.code, f"the older checkpoint: {err.message}", where="since"))
            return
        if old.size > checkpoint.size:
            self._find(
                ChainError(
                    "E_ROLLBACK",
                    f"the older checkpoint commits to {old.size} receipts, this one to {checkpoint.size}",
                    where="since",
                )
            )
        elif old.size <= self.state.size and self.state.tree.root(old.size) != old.root:
            self._find(
                RootMismatchError(
                    "E_FORK",
                    f"the first {old.size} receipts hash to {self.state.tree.root(old.size).hex()}, "
                    f"the older checkpoint commits to {old.root.hex()}: keep both checkpoints as evidence",
                    where="since",
                )
            )

    def _flag_gaps(self) -> None:
        if self.result.findings or self.result.unknown:
            return  # an altered receipt, and one that cannot be judged, look like a gap
        for keyid, numbering in sorted(self.state.producers.items()):
            gaps = numbering.gaps()
            if gaps:
                self.result.flags.append(
                    Finding(
                        code="F_SEQ_GAP",
                        message=f"{keyid} signed statements {_list_runs(gaps)} that are not in the ledger: "
                        "dropped, or never handed in",
                    )
                )

    def _say_what_was_not_checked(self, checkpoint: Checkpoint) -> None:
        say = self.result.not_checked.append
        if self.pins.key is None and not self.pins.genesis:
            say("whose ledger this is: no pinned key or genesis digest was given (--vkey, --genesis)")
        if self.pins.since is None:
            say("whether receipts were cut off at the end: no older checkpoint was given (--since), and no witness")
        else:
            say("whether receipts behind the older checkpoint were cut off at the end: there is no witness")
        say("whether others were shown another ledger under the same key: there is no witness")
        say("when anything happened: times are the writers' own clocks")
        if not self.state.intact:
            say("on which states the statements behind the first altered receipt were made")
        if self.result.mode == "quick":
            say("signatures of producers, their roles, schemas and the rounds themselves: --quick was given")
        tail = self.store.tail(checkpoint.size)
        if tail:
            say(f"{len(tail)} receipt file(s) from index {tail[0]} on, behind the checkpoint: never committed")
        strays = self.store.strays()
        if strays:
            say(f"{len(strays)} file(s) that are no part of the ledger, such as receipts/{strays[0]}")


def _list_runs(runs: Sequence[tuple[int, int]]) -> str:
    texts = [str(first) if first == last else f"{first} to {last}" for first, last in runs[:_MOST_RUNS]]
    return ", ".join(texts) + (f" and {len(runs) - _MOST_RUNS} more runs" if len(runs) > _MOST_RUNS else "")
