"""Fingerprints of timing: how a run that is filed twice is told from two runs.

Nobody measures the same nanoseconds again and again. What may well come again is one sample, a short list, times that
a coarse clock printed in whole milliseconds, or a few times so short that a nanosecond is much of them; none of these
is called a copy.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from ledger import canonical

if TYPE_CHECKING:
    from ledger.canonical import JsonObject

_TIMES = ("wall_ns", "ttft_ns", "e2e_ns")
_TIMING = (*_TIMES, "completion_tokens")
_COARSE_NS = 10**6
# Times of 0.1 ms or more with 0.1 % of noise are spread over hundreds of nanoseconds: three agree once in 10^7 times.
_FEWEST, _LONG_NS = 3, 10**5
_MANY = 20


def timing_digest(records: JsonObject) -> bytes | None:
    """SHA-256 of the columns that say how long things took, in canonical form.

    Returns:
        None when they hold too little to call it a copy: of times finer than a millisecond, fewer than three different
        ones of at least 0.1 ms, and fewer than twenty of any length.
    """
    columns = {name: records[name] for name in _TIMING if name in records}
    times = {time for name in _TIMES for time in columns.get(name, ()) if time is not None and time % _COARSE_NS}
    enough = len(times) >= _MANY or sum(time >= _LONG_NS for time in times) >= _FEWEST
    return hashlib.sha256(canonical.encode(columns)).digest() if enough else None


def round_timings(body: JsonObject) -> dict[int, bytes]:
    """The fingerprint of every repetition of a round that has one, by its position."""
    found = {at: timing_digest(rep["records"]) for at, rep in enumerate(body["reps"])}
    return {at: digest for at, digest in found.items() if digest is not None}


def round_prints(body: JsonObject) -> dict[int, bytes]:
    """What every repetition of a round is known again by, by its position: its timing, or its place in a tool's file.

    A repetition of too few times, such as the totals of a whole run, has the digest of its attached file and its row
    there; one that has neither has none.
    """
    files = {item["name"]: item["sha256"] for item in body.get("attachments", ())}
    found = round_timings(body)
    for at, rep in enumerate(body["reps"]):
        source = rep.get("source")
        if at not in found and source and source["attachment"] in files:
            place = f"{files[source['attachment']]} {source['row']}"
            found[at] = hashlib.sha256(place.encode()).digest()
    return dict(sorted(found.items()))
