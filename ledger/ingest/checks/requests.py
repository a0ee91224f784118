"""Accounting of requests: how many failed, and which were called successes without being any."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from ledger.ingest.checks.notes import Note
from ledger.ingest.checks.records import EMPTY_ANSWER, empty_answers, length, measured, succeeded
from ledger.scoring.facts import reading_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ledger.canonical import JsonObject


def fail_empty_answers(rep: JsonObject) -> JsonObject:
    """The repetition with requests marked as failed that were called successes and gave no token."""
    empty, records = empty_answers(rep), rep["records"]
    if not empty:
        return rep
    count = length(records)
    ok, error = [*records.get("ok", [True] * count)], [*records.get("error", [None] * count)]
    for at in empty:
        ok[at], error[at] = False, error[at] or EMPTY_ANSWER
    return rep | {"records": records | {"ok": ok, "error": error}}


def note_requests(body: JsonObject) -> Iterator[Note]:
    """Requests that failed, and those that were called successes."""
    for at, rep in measured(body):
        records, counted = rep["records"], succeeded(rep)
        total, failed = len(counted), counted.count(False)
        unmarked = len(empty_answers(rep))
        empty = unmarked + records.get("error", []).count(EMPTY_ANSWER)
        if empty:
            advice = "; mark them as failed, so that no time of theirs counts" if unmarked else ""
            yield Note(
                "F_EMPTY_OUTPUT",
                f"{empty} of {total} requests were called successes and gave no token{advice}",
                f"/reps/{at}/records/completion_tokens",
                at,
            )
        if failed:
            share = reading_text(Fraction(failed, total))
            yield Note(
                "F_REQUESTS_FAILED",
                f"{failed} of {total} requests failed, a share of {share}",
                f"/reps/{at}/records",
                at,
            )
