"""Following a ledger that grows: verified whole once, and from then on by what was added.

A process that looks at a ledger again and again need not verify it again and again: the hashes of the receipts that it
has verified lead, with those of the new ones, to the root that the new checkpoint commits to, or the history has
changed. `VerifiedLog` hashes what it hands out in any case.

A process that writes the ledger itself need not even read what it has just written: its writer has examined every
statement before it sealed it, by the rules of the verifier. It hands them over (`take`), and what is left to do is to
admit them here too and to compare the root.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ledger.verified import Pins
from ledger.verify import Auditor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger.sealed import Taken
    from ledger.store import Store
    from ledger.verified import VerifiedLog
    from ledger.verify import Progress


class Following:
    """One ledger, followed.

    Args:
        store: where it is.
        pins: what is known from elsewhere. Every look pins the checkpoint of the one before.
        jobs: see `ledger.verify.verify`.
    """

    def __init__(self, store: Store, pins: Pins | None = None, *, jobs: int | None = None) -> None:
        self._store = store
        self._pins = pins or Pins()
        self._jobs = jobs
        self._auditor: Auditor | None = None
        self._checkpoint: bytes | None = None
        self._log: VerifiedLog | None = None
        self._taken: dict[int, Taken] = {}

    def take(self, group: Sequence[Taken]) -> None:
        """Receipts that a writer in this process has committed: give this method to `ledger.log.Log` as its watch."""
        self._taken.update((each.receipt.seal.index, each) for each in group)

    def look(self, progress: Progress | None = None) -> VerifiedLog:
        """The ledger as it is now, verified in full. When it does not verify, the next look starts from the beginning.

        Raises:
            VerificationError: it does not hold: ``E_ROLLBACK`` and ``E_FORK`` when it is not the one of the last look.
            PolicyError: it holds something that this release cannot judge.
            StorageError: it could not be read, or there is no ledger.
        """
        raw = self._store.read_checkpoint()
        if self._log is not None and raw == self._checkpoint:
            return self._log
        pins = replace(self._pins, since=self._checkpoint or self._pins.since)
        auditor, self._auditor, self._log = self._auditor, None, None
        taken, self._taken = self._taken, {}
        if auditor is None:
            auditor, taken = Auditor(self._store, "full", self._jobs, reports=False), {}
        log = auditor.run(pins, progress, taken).require_log()
        self._auditor, self._log, self._checkpoint = auditor, log, auditor.signed
        return log
