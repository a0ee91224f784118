"""Samples that are those of another repetition: a run that was filed twice, not two runs.

Nobody measures the same nanoseconds again and again. What may well come again is one sample, a short list, or times
that a coarse clock printed in whole milliseconds; none of these is called a copy.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from ledger import canonical
from ledger.errors import RefusedError

if TYPE_CHECKING:
    from ledger.canonical import JsonObject

_TIMES = ("wall_ns", "ttft_ns", "e2e_ns")
_TIMING = (*_TIMES, "completion_tokens")
_FEWEST = 3
_COARSE_NS = 10**6


def timing_digest(records: JsonObject) -> str | None:
    """SHA-256 (hex) of the columns that say how long things took, in canonical form.

    Returns:
        None when they hold fewer than three different times finer than a millisecond: too little to call it a copy.
    """
    columns = {name: records[name] for name in _TIMING if name in records}
    times = {time for name in _TIMES for time in columns.get(name, ()) if time is not None and time % _COARSE_NS}
    return hashlib.sha256(canonical.encode(columns)).hexdigest() if len(times) >= _FEWEST else None


def check_copies(body: JsonObject) -> None:
    """Refuse a round in which two repetitions have the same samples, of whatever arm and with or without warm-up.

    Raises:
        RefusedError: ``E_COPIED_SAMPLES`` naming both.
    """
    seen: dict[str, int] = {}
    for at, rep in enumerate(body["reps"]):
        digest = timing_digest(rep["records"])
        first = at if digest is None else seen.setdefault(digest, at)
        if first != at:
            raise RefusedError(
                "E_COPIED_SAMPLES",
                f"every sample is that of /reps/{first}, to the nanosecond: it is one measurement",
                where=f"/reps/{at}/records",
            )
