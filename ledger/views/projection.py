"""The rows of all views, from a verified ledger, a few hundred receipts at a time.

A step reads its receipts once, lets the replay take them in, and tells which rows to write and which earlier ones to
drop, because a later ruling has changed what they say. Building the views is a number of steps from the first receipt
on, extending them the steps that are left, so both give the same rows. What is kept from step to step is the replay:
a thousand bodies of receipts take a hundred times the memory of a thousand verdicts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ledger.kinds import FIGURE_KINDS
from ledger.scoring.facts import round_facts
from ledger.scoring.replay import REPLAYED_KINDS, Replay
from ledger.views.rows import body_rows, hide_stopped, incident_row, receipt_row
from ledger.views.scored import Scored

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ledger.canonical import JsonObject
    from ledger.receipt import Receipt
    from ledger.scoring.facts import ArmFact
    from ledger.scoring.rung import Slot
    from ledger.verified import Entry, VerifiedLog
    from ledger.views.rows import Row

STEP = 256
"""Receipts of one step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What is to be written.

    Attributes:
        replaced: earlier receipts whose rows are to be dropped first.
        moved: slots whose pins are to be dropped first, with the first move of the frontier that is to be dropped.
        rows: every row to be written, with the name of its table.
    """

    replaced: Sequence[int]
    moved: Sequence[tuple[Slot, int]]
    rows: Sequence[tuple[str, Row]]


class Projection:
    """A replay of the first receipts of a ledger, and the rows that follow from it.

    Attributes:
        size: number of these receipts.
    """

    def __init__(self) -> None:
        self.size = 0
        self._fold = Replay()
        self._scored = Scored(self._fold.judged)
        self._moves: dict[Slot, int] = {}
        self._incidents: dict[str, int] = {}
        self._gone: dict[int, int] = {}

    def skip(self, log: VerifiedLog, size: int) -> None:
        """Take in receipts whose rows there are already, up to a size.

        Raises:
            ValueError: the log was verified quickly only.
            VerificationError: a file has changed since it was verified.
        """
        _require_full(log)
        for index in range(self.size, size):
            entry = log.entries[index]
            self._take(index, entry, log.receipt(index).statement.body if entry.kind in REPLAYED_KINDS else {})
        self._fold.take_changes()
        self._moves = {slot: len(state.moves) for slot, state in self._fold.slots.items()}
        self.size = size

    def steps(self, log: VerifiedLog) -> Iterator[Step]:
        """Take in what is left of a ledger, which begins with the receipts taken in so far.

        Raises:
            ValueError: the log was verified quickly only.
            VerificationError: a file has changed since it was verified.
        """
        _require_full(log)
        while self.size < len(log.entries):
            yield self._step(log, range(self.size, min(self.size + STEP, len(log.entries))))

    def receipt_rows(self, log: VerifiedLog, indices: range) -> Iterator[tuple[str, Row]]:
        """Rows that belong to receipts taken in: what views have of these that were made from as many receipts.

        Raises:
            VerificationError: a file has changed since it was verified.
        """
        return self._new_rows(log, _read(log, indices))

    def slots(self) -> list[Slot]:
        """Slots of which something is known."""
        return sorted(self._fold.slots)

    def slot_rows(self, slot: Slot) -> Iterator[tuple[str, Row]]:
        """Rows that belong to a slot, as `receipt_rows` those of receipts."""
        return self._slot_rows([(slot, 0)])

    def _step(self, log: VerifiedLog, indices: range) -> Step:
        read = list(_read(log, indices))
        voided: list[int] = []
        for index, receipt, facts in read:
            entry = log.entries[index]
            voided += self._take(index, entry, receipt.statement.body if entry.kind in REPLAYED_KINDS else {}, facts)
        changes = self._fold.take_changes()
        replaced = self._replaced({index for index in (*changes.ruled, *voided) if index < indices.start})
        # A ruling can hide or show again what a move says that was written long ago.
        again = {slot for index in changes.ruled for slot in self._fold.judged[index].rung.slots()}
        moved = [(slot, 0 if slot in again else max(self._moves.get(slot, 0) - 1, 0)) for slot in sorted(changes.slots)]
        rows = [*self._new_rows(log, read), *self._replaced_rows(log, replaced), *self._slot_rows(moved)]
        self._moves.update((slot, len(self._fold.slots[slot].moves)) for slot in changes.slots)
        self.size = indices.stop
        return Step(replaced=replaced, moved=moved, rows=rows)

    def _take(
        self, index: int, entry: Entry, body: JsonObject, facts: Sequence[ArmFact] | None = None
    ) -> Sequence[int]:
        """Take in a receipt.

        Returns:
            The incident that it voids, if it is the first to.
        """
        digest = entry.digest.hex()
        if entry.kind == "incident":
            self._incidents[digest] = index
        elif entry.kind == "ruling" and body["receipt"] in self._incidents:  # the replay knows of figures only
            incident = self._incidents[body["receipt"]]
            if body["action"] == "void" and self._gone.setdefault(incident, index) == index:
                return (incident,)
        else:
            self._fold.feed(index, entry.kind, body, digest=digest, attested=entry.attested, facts=facts)
        return ()

    def _replaced(self, ruled: set[int]) -> list[int]:
        """Earlier receipts of which a ruling has said something, and rungs that were held against one of these."""
        if not ruled:
            return []
        leaning = {
            index
            for index, judged in self._fold.judged.items()
            if judged.context is not None and judged.context.basis.receipt in ruled and index < self.size
        }
        return sorted(ruled | leaning)

    def _new_rows(
        self, log: VerifiedLog, read: Iterable[tuple[int, Receipt, Sequence[ArmFact]]]
    ) -> Iterator[tuple[str, Row]]:
        for index, receipt, facts in read:
            yield "receipts", receipt_row(log.entries[index], receipt)
            yield from self._ruled_rows(index, log.entries[index].kind, receipt, facts)

    def _replaced_rows(self, log: VerifiedLog, replaced: Sequence[int]) -> Iterator[tuple[str, Row]]:
        for index, receipt, facts in _read(log, replaced):
            yield from self._ruled_rows(index, log.entries[index].kind, receipt, facts)

    def _ruled_rows(
        self, index: int, kind: str, receipt: Receipt, facts: Sequence[ArmFact]
    ) -> Iterator[tuple[str, Row]]:
        """Rows of a receipt that a ruling can change; none for one of a kind that no ruling names."""
        if kind == "incident":
            yield "incidents", incident_row(index, receipt.statement.body, self._gone.get(index))
        elif kind in FIGURE_KINDS:
            yield from self._rung_rows(index, kind, receipt, facts)

    def _rung_rows(
        self, index: int, kind: str, receipt: Receipt, facts: Sequence[ArmFact]
    ) -> Iterator[tuple[str, Row]]:
        body, is_stopped = receipt.statement.body, self._scored.is_stopped(index)
        for table, row in body_rows(index, kind, body, facts):
            if is_stopped:
                hide_stopped(table, row)
            yield table, row
        yield from self._scored.rung_rows(index, body)

    def _slot_rows(self, moved: Sequence[tuple[Slot, int]]) -> Iterator[tuple[str, Row]]:
        for slot, first in moved:
            state = self._fold.slots[slot]
            yield from (("frontier", row) for row in self._scored.frontier_rows(state, first))
            yield from (("pins", row) for row in self._scored.pin_rows(state))


def _require_full(log: VerifiedLog) -> None:
    if log.mode != "full":
        raise ValueError("views need a ledger that was verified in full")


def _read(log: VerifiedLog, indices: Iterable[int]) -> Iterator[tuple[int, Receipt, Sequence[ArmFact]]]:
    """Receipts with the facts of rounds, one at a time."""
    for index in indices:
        receipt = log.receipt(index)
        yield index, receipt, round_facts(receipt.statement.body) if log.entries[index].kind == "round" else ()
