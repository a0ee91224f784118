"""Files to which a tool appends its runs: one that stands there twice is one measurement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.errors import MalformedError
from ledger.ingest.plain_text import compact_json

if TYPE_CHECKING:
    from collections.abc import Sequence


def refuse_repeats(runs: Sequence[object], what: str) -> None:
    """Refuse a file that holds a run twice. No two runs have the same times to the last digit of a clock.

    Args:
        runs: everything that the file says of each, as JSON values of no more than `ledger.canonical.MAX_DEPTH` levels.
        what: name of the file, for errors.

    Raises:
        MalformedError: ``E_COPIED_SAMPLES`` at the second one.
    """
    seen: dict[str, int] = {}
    for at, run in enumerate(runs):
        first = seen.setdefault(compact_json(run), at)
        if first != at:
            raise MalformedError(
                "E_COPIED_SAMPLES", f"the run of {what}/{first} again, to the last digit", where=f"{what}/{at}"
            )
