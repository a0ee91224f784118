"""Prompts that came again, and tokens of prompts that nobody computed."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING

from ledger.ingest.checks.notes import Note
from ledger.ingest.checks.records import length, measured, rows
from ledger.metrics import NS_PER_S
from ledger.scoring.facts import reading_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ledger.canonical import JsonObject


def note_prompts(body: JsonObject) -> Iterator[Note]:
    """Prompts that a cache answered in part, and prompts that came more than once in a repetition."""
    for at, rep in measured(body):
        cached = [record for record, tokens in rows(rep, "cached_tokens") if tokens]
        if cached:
            total = length(rep["records"])
            yield Note(
                "F_PREFIX_CACHE",
                f"a cache supplied tokens of {len(cached)} of {total} prompts{_prefill(rep, cached[0])}",
                f"/reps/{at}/records/cached_tokens/{cached[0]}",
                at,
            )
        prompts = Counter(digest for _, digest in rows(rep, "prompt_sha256"))
        again = prompts.total() - len(prompts)
        if again:
            yield Note(
                "F_REPEATED_PROMPT",
                f"{again} of {prompts.total()} prompts had come before in the same repetition",
                f"/reps/{at}/records/prompt_sha256",
                at,
            )


def _prefill(rep: JsonObject, record: int) -> str:
    """Prefill rate of one prompt over the tokens that were computed, up to its first token."""
    for at, prompt, cached, first in rows(rep, "prompt_tokens", "cached_tokens", "ttft_ns"):
        if at == record and prompt > cached and first:
            new, every = (reading_text(Fraction(count * NS_PER_S, first)) for count in (prompt - cached, prompt))
            return f", in record {at} all but {prompt - cached} of {prompt}: it was read at {new} tok/s, not at {every}"
    return ""
