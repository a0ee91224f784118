"""One run of one arm: a file of a tool, or some rows of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ledger.errors import RefusedError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from ledger.ingest.adapter import Row


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One file, or some rows of it: one run of one arm. The order of the runs is their order in time.

    Attributes:
        role: of the arm.
        name: of the file.
        raw: its bytes.
        rows: rows that belong to the run.
        left_out: number of rows of the file that do not.
        companions: contents of the files that it names, by their names there.
    """

    role: str
    name: str
    raw: bytes
    rows: Sequence[Row]
    left_out: int = 0
    companions: Mapping[str, bytes] = field(default_factory=dict)

    def select(self, numbers: Collection[int]) -> Run:
        """The run of some rows only.

        Raises:
            RefusedError: ``E_ROW``: there is none of such a number.
        """
        unknown = sorted(set(numbers) - {row.number for row in self.rows})
        if unknown:
            found = ", ".join(str(row.number) for row in self.rows)
            raise RefusedError("E_ROW", f"{self.name} has no row {unknown[0]}; it has {found}", where="--row")
        rows = [row for row in self.rows if row.number in numbers]
        return replace(self, rows=rows, left_out=len(self.rows) - len(rows))

    def with_starts(self, starts: Sequence[str]) -> Run:
        """The run with other starts of its rows, in their order."""
        if [*starts] == [row.started_at for row in self.rows]:
            return self
        return replace(
            self, rows=[replace(row, started_at=start) for row, start in zip(self.rows, starts, strict=True)]
        )
