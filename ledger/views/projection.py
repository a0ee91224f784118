"""The rows of all views, from a verified ledger: one replay, and a look at what it changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.kinds import FIGURE_KINDS
from ledger.scoring.replay import Replay
from ledger.views.rows import body_rows, hide_stopped, receipt_row
from ledger.views.scored import Scored

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ledger.canonical import JsonObject
    from ledger.scoring.history import Judged
    from ledger.verified import VerifiedLog
    from ledger.views.rows import Row


class Projection:
    """What is to be written to views that hold the first `since` receipts of a ledger.

    The receipts are read twice: once to replay them from the beginning, because nothing else is a source and only the
    last of them settles the verdicts, and those to be written once more, because a thousand of their bodies take a
    hundred times the memory of a thousand verdicts.

    Args:
        log: verified in full.
        since: receipts whose rows there are already.

    Attributes:
        replaced: earlier receipts whose rows are to be dropped first, because a later ruling has changed them.

    Raises:
        ValueError: the log was verified quickly only.
        VerificationError: a file has changed since it was verified.
    """

    def __init__(self, log: VerifiedLog, since: int = 0) -> None:
        self._log = log
        self._since = since
        fold = Replay()
        fold.read(log, range(since))
        before = Scored(fold.history(since))
        fold.read(log, range(since, len(log.entries)))
        self._scored = Scored(fold.history(len(log.entries)))
        self.replaced = _changed(before.rungs, self._scored.rungs)

    def rows(self) -> Iterator[tuple[str, Row]]:
        """Every row to be written, with the name of its table."""
        for index in (*self.replaced, *range(self._since, len(self._log.entries))):
            entry, receipt = self._log.entries[index], self._log.receipt(index)
            if index >= self._since:
                yield "receipts", receipt_row(entry, receipt)
            if entry.kind in FIGURE_KINDS:
                yield from self._rung_rows(index, entry.kind, receipt.statement.body)
        yield from (("frontier", row) for row in self._scored.frontier_rows())
        yield from (("pins", row) for row in self._scored.pin_rows())

    def _rung_rows(self, index: int, kind: str, body: JsonObject) -> Iterator[tuple[str, Row]]:
        is_stopped = self._scored.is_stopped(index)
        for table, row in body_rows(index, kind, body):
            if is_stopped:
                hide_stopped(table, row)
            yield table, row
        yield from self._scored.rung_rows(index, body)


def _changed(before: Mapping[int, Judged], after: Mapping[int, Judged]) -> list[int]:
    """Earlier rungs of which a ruling has said something, and those that were held against one of these."""
    ruled = {index for index, judged in before.items() if after[index] is not judged}
    leaning = {
        index
        for index, judged in before.items()
        if judged.context is not None and judged.context.basis.receipt in ruled
    }
    return sorted(ruled | leaning)
