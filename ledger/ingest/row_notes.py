"""Notes of rows as faults: a sentence about a file once, with the rows that it holds for.

An adapter puts what holds for a whole file on every row, so that no choice of rows drops it. Whoever reads the round
is told it once.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from ledger.ingest.faults import Fault, read_note

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from ledger.ingest.adapter import Row

_LONGEST = 120


def join_notes(rows: Iterable[tuple[str, bytes, Row]]) -> list[Fault]:
    """The notes of rows, each sentence once per file, in the order in which they are met.

    Args:
        rows: each with the name and the bytes of its file: two files may have one name.
    """
    numbers: dict[tuple[str, bytes, str], list[int]] = {}
    for name, raw, row in rows:
        for note in row.notes:
            numbers.setdefault((name, raw, note), []).append(row.number)
    return [read_note(note, f"{name}, {name_rows(found)}") for (name, _, note), found in numbers.items()]


def name_rows(numbers: Collection[int]) -> str:
    """Rows by their numbers, ``row 3`` or ``rows 0-2, 5``; where these are many, how many there are."""
    ordered = sorted(set(numbers))
    if len(ordered) == 1:
        return f"row {ordered[0]}"
    breaks = [at for at, (one, other) in enumerate(pairwise(ordered), 1) if other != one + 1]
    spans = [ordered[start:end] for start, end in pairwise((0, *breaks, len(ordered)))]
    text = ", ".join(f"{span[0]}-{span[-1]}" if len(span) > 1 else str(span[0]) for span in spans)
    return f"rows {text}" if len(text) <= _LONGEST else f"{len(ordered)} rows from {ordered[0]} to {ordered[-1]}"
