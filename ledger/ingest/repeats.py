"""Runs and requests that stand in a file twice: each is one measurement, and no second sample.

Tools that append write a line for each run. A line that is there again, byte for byte, was copied by whoever put files
together, or written by a retry: nothing was measured, so the run is read once and that is said. The same run in other
bytes was written by somebody, and is refused.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from ledger.errors import MalformedError
from ledger.ingest.plain_text import compact_json
from ledger.ingest.row_notes import name_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ledger.ingest.adapter import Row

_FEWEST_TIMES = 3


class RunLine(NamedTuple):
    """The line of a run.

    Attributes:
        row: position among the lines that are not empty, from 0.
        number: of the line in the file, from 1.
        raw: the line.
        repeats: rows of the lines that are this one again.
    """

    row: int
    number: int
    raw: bytes
    repeats: tuple[int, ...] = ()

    def note(self, row: Row) -> Row:
        """The row of the run, with a note of the lines that repeat it."""
        if not self.repeats:
            return row
        again = name_rows(self.repeats)
        each = "repeats" if len(self.repeats) == 1 else "each repeat"
        note = f"F_ROWS_REPEATED: {again} {each} row {self.row}, byte for byte: it is one run, and read once"
        return replace(row, notes=(*row.notes, note))


def run_lines(raw: bytes) -> list[RunLine]:
    """The lines of a file in JSON Lines that are not empty, each once however often it is there."""
    found: dict[bytes, RunLine] = {}
    lines = [(number, line) for number, line in enumerate(raw.split(b"\n"), 1) if line.strip()]
    for row, (number, line) in enumerate(lines):
        first = found.setdefault(line, RunLine(row, number, line))
        if first.row != row:
            found[line] = first._replace(repeats=(*first.repeats, row))
    return [*found.values()]


def refuse_repeats(runs: Sequence[tuple[object, str]]) -> None:
    """Refuse a file that holds a run twice. No two runs have the same times to the last digit of a clock.

    Args:
        runs: everything that the file says of each, as JSON values of no more than `ledger.canonical.MAX_DEPTH` levels,
            and its place.

    Raises:
        MalformedError: ``E_COPIED_SAMPLES`` at the second one.
    """
    seen: dict[str, str] = {}
    for run, where in runs:
        first = seen.setdefault(compact_json(run), where)
        if first != where:
            raise MalformedError("E_COPIED_SAMPLES", f"the run of {first} again, to the last digit", where=where)


def refuse_same_times(requests: Iterable[tuple[str, Sequence[int | None]]]) -> None:
    """Refuse requests of which two have the same times. Chance does not give three different ones again.

    Args:
        requests: place and times in nanoseconds of each.

    Raises:
        MalformedError: ``E_COPIED_SAMPLES`` at the second one.
    """
    seen: dict[tuple[int | None, ...], str] = {}
    for where, times in requests:
        if len({*times} - {None}) < _FEWEST_TIMES:
            continue
        first = seen.setdefault(tuple(times), where)
        if first != where:
            raise MalformedError("E_COPIED_SAMPLES", f"the request of {first} again, to the nanosecond", where=where)
