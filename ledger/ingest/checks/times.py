"""Times of a stream: what no clock can have measured, and what is no time of a token."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from ledger.errors import RefusedError
from ledger.ingest.checks.notes import Note
from ledger.ingest.checks.records import everything, length, measured, rows
from ledger.metrics import NS_PER_MS, NS_PER_S
from ledger.scoring.facts import reading_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ledger.canonical import JsonObject

# Gaps are taken one by one and rounded one by one.
_SUM_TOLERANCE = Fraction(2, 100)
_SHORT = Fraction(5, 100)
_SAME_TIME = 100  # a first gap within one part of so many of the time to the first token is that time


def begins_with_first_token(first: int, gaps: Sequence[int], tokens: int) -> bool:
    """Whether a list of gaps begins with the time to the first token: it is one too long, and the first is that time.

    A list that is too long for another reason is honest: a server sends empty pieces, and a client that counts tokens
    with a tokenizer of its own may find fewer than there were pieces.
    """
    return len(gaps) > max(tokens - 1, 0) and abs(gaps[0] - first) * _SAME_TIME <= first


def check_times(body: JsonObject) -> None:
    """Refuse gaps that go backwards, that are more than there is between tokens, or that take longer than the request.

    Raises:
        RefusedError: ``E_NEG_INTERVAL`` or ``E_ITL_SUM``, naming the record.
    """
    for at, rep in enumerate(body["reps"]):
        for record, gaps in rows(rep, "itl_ns", among=everything):
            for number, gap in enumerate(gaps):
                if gap < 0:
                    raise RefusedError(
                        "E_NEG_INTERVAL",
                        f"{gap} ns between two pieces: two clocks, or one that was set meanwhile",
                        where=f"/reps/{at}/records/itl_ns/{record}/{number}",
                    )
        _check_sums(rep, f"/reps/{at}/records/itl_ns")
        _check_numbers(rep, f"/reps/{at}/records/itl_ns")


def _check_sums(rep: JsonObject, where: str) -> None:
    """Gaps may add up to less than the rest of the request, which ends when the connection does; never to more."""
    for record, gaps, first, end in rows(rep, "itl_ns", "ttft_ns", "e2e_ns"):
        total = first + sum(gaps)
        if total > end + max(end * _SUM_TOLERANCE, NS_PER_MS):
            inside = bool(gaps) and gaps[0] == first
            hint = "; the first gap is the time to the first token, which is no gap" if inside else ""
            raise RefusedError(
                "E_ITL_SUM",
                f"first token and gaps make {total} ns, the request took {end} ns{hint}",
                where=f"{where}/{record}",
            )


def _check_numbers(rep: JsonObject, where: str) -> None:
    """There is one gap fewer than tokens; a longer list is of pieces, and they are counted beside the tokens."""
    counted = rep["records"].get("chunks") or [None] * length(rep["records"])
    firsts = rep["records"].get("ttft_ns") or [None] * length(rep["records"])
    for record, gaps, tokens in rows(rep, "itl_ns", "completion_tokens"):
        between, first = max(tokens - 1, 0), firsts[record]
        if len(gaps) <= between:
            continue
        is_first = first is not None and begins_with_first_token(first, gaps, tokens)
        if is_first or counted[record] != len(gaps) + 1:
            hint = "; the first gap is the time to the first token, which is no gap" if is_first else ""
            raise RefusedError(
                "E_ITL_SUM",
                f"{len(gaps)} gaps between {tokens} tokens, at most {between}{hint}",
                where=f"{where}/{record}",
            )


def note_times(body: JsonObject) -> Iterator[Note]:
    """Answers that came at once, in another number of pieces than tokens, or with gaps that end before them."""
    for at, rep in measured(body):
        whole = [
            record for record, first, end in rows(rep, "ttft_ns", "e2e_ns") if first == end and _is_long(rep, record)
        ]
        if whole:
            yield Note(
                "F_NOT_STREAMED",
                f"{len(whole)} answers came in one piece at the end: they have no decode rate",
                f"/reps/{at}/records/ttft_ns/{whole[0]}",
                at,
            )
        yield from _note_short(rep, at)
        pieces = _pieces(rep)
        if pieces:
            record, chunks, tokens = pieces[0]
            yield Note(
                "F_CHUNKED",
                f"{len(pieces)} answers came in another number of pieces than they have tokens, the first of them "
                f"{tokens} tokens in {chunks} pieces{_time_per_token(rep, record)}",
                f"/reps/{at}/records",
                at,
            )


def _note_short(rep: JsonObject, at: int) -> Iterator[Note]:
    """Gaps that end well before the stream: the connection may close late, or gaps may be missing; nobody can tell."""
    short = [
        (record, end - first - sum(gaps))
        for record, gaps, first, end in rows(rep, "itl_ns", "ttft_ns", "e2e_ns")
        if _is_long(rep, record) and end - first - sum(gaps) > max(end * _SHORT, NS_PER_MS)
    ]
    if short:
        record, missing = short[0]
        yield Note(
            "F_ITL_SHORT",
            f"the gaps of {len(short)} answers end before their streams do, those of the first by "
            f"{reading_text(Fraction(missing, NS_PER_MS))} ms",
            f"/reps/{at}/records/itl_ns/{record}",
            at,
        )


def _is_long(rep: JsonObject, record: int) -> bool:
    """Whether the answer has more than one token, or an unknown number: a single token is its own end."""
    tokens = rep["records"].get("completion_tokens")
    return tokens is None or tokens[record] != 1


def _pieces(rep: JsonObject) -> list[tuple[int, int, int]]:
    """Record, pieces and tokens of every answer in which they differ. Gaps are one fewer than pieces."""
    if "chunks" in rep["records"]:
        found = [(record, chunks, tokens) for record, chunks, tokens in rows(rep, "chunks", "completion_tokens")]
    else:
        found = [(record, len(gaps) + 1, tokens) for record, gaps, tokens in rows(rep, "itl_ns", "completion_tokens")]
    return [each for each in found if each[1] != each[2]]


def _time_per_token(rep: JsonObject, record: int) -> str:
    """Time per token of one answer from its totals, which pieces do not change."""
    for at, first, end, tokens in rows(rep, "ttft_ns", "e2e_ns", "completion_tokens"):
        if at == record and tokens > 1 and end > first:
            per_token = reading_text(Fraction(end - first, (tokens - 1) * NS_PER_MS))
            rate = reading_text(Fraction((tokens - 1) * NS_PER_S, end - first))
            return f": {per_token} ms a token, {rate} tok/s"
    return ""
