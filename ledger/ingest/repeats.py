"""Runs and requests that stand in a file twice: each is one measurement, and no second sample."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.errors import MalformedError
from ledger.ingest.plain_text import compact_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_FEWEST_TIMES = 3


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
