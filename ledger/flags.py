"""Flags that keep a sealed round out of frontier and pins: the codes of quarantine.

A round carries its flags in ``faults``. What each code means stands in `ledger.ingest.faults`; which of them quarantine
stands here, below everything that judges, so that a round cannot say of itself how serious its faults are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ledger.canonical import JsonObject

QUARANTINE = frozenset(
    {
        # Work that was not done, or not for all.
        "F_EMPTY_OUTPUT",
        "F_PREFIX_CACHE",
        "F_REQUESTS_FAILED",
        # Figures that depend on when they were taken.
        "F_CAPTURE",
        "F_COLD_FIRST",
        "F_CONFOUNDED",  # and what no review lets count: `ledger.scoring.unscorable`
        "F_LEARNING",
        "F_THROTTLED",
        # Records that do not fit each other, or the machine.
        "F_CLOCK_GAP",
        "F_FACTORS",
        "F_LOG_MISMATCH",
        "F_PLAUSIBILITY",
        "F_PROMPT_DRIFT",
        "F_REFERENCE",
        "F_SETTINGS_DIFFER",
        # Something that only the producer could say.
        "F_CODE_UNTIED",
        "F_DEPTH_UNPROVEN",
        "F_STORE_UNKNOWN",
    }
)
"""Codes under which a figure may be right and nobody can tell from the round: a maintainer's review lets it count."""


REQUESTS_FAILED = "F_REQUESTS_FAILED"
CONFOUNDED = "F_CONFOUNDED"

CANCELLED = "cancelled"
"""Error of a request that the client gave up because the run was over: no refusal of what was measured."""


def quarantine_codes(body: JsonObject) -> tuple[str, ...]:
    """Codes that quarantine a round, each once, in order; empty for a round that counts.

    They are those of its faults, and those of failed requests and of a cache that supplied tokens, which its records
    tell whatever its faults are.
    """
    codes = {fault["code"] for fault in body.get("faults", ())} & QUARANTINE
    records = [rep["records"] for rep in body["reps"] if not rep["warmup"]]
    if any(False in each["ok"] for each in records if "ok" in each):
        codes.add(REQUESTS_FAILED)
    if any(any(each["cached_tokens"]) for each in records if "cached_tokens" in each):
        codes.add("F_PREFIX_CACHE")
    return tuple(sorted(codes))


def failed_requests(body: JsonObject, arm: str) -> tuple[int, int]:
    """Requests of an arm that failed, and all of them; warm-up and what the client itself cancelled aside."""
    failed = asked = 0
    for rep in body["reps"]:
        if rep["arm"] != arm or rep["warmup"]:
            continue
        records = rep["records"]
        count = len(next(iter(records.values())))
        oks = records.get("ok", [True] * count)
        errors = records.get("error", [None] * count)
        cancelled = sum(ok is False and error == CANCELLED for ok, error in zip(oks, errors, strict=True))
        failed += oks.count(False) - cancelled
        asked += count - cancelled
    return failed, asked
