"""Samples that are those of another repetition of the round: a run that was filed twice, not two runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.errors import RefusedError
from ledger.timing import round_timings

if TYPE_CHECKING:
    from ledger.canonical import JsonObject


def check_copies(body: JsonObject) -> None:
    """Refuse a round in which two repetitions have the same samples, of whatever arm and with or without warm-up.

    Raises:
        RefusedError: ``E_COPIED_SAMPLES`` naming both.
    """
    seen: dict[bytes, int] = {}
    for at, digest in round_timings(body).items():
        first = seen.setdefault(digest, at)
        if first != at:
            raise RefusedError(
                "E_COPIED_SAMPLES",
                f"every sample is that of /reps/{first}, to the nanosecond: it is one measurement",
                where=f"/reps/{at}/records",
            )
