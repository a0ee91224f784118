"""Records of a repetition, row by row: only those that succeeded and in which everything asked for was observed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ledger.canonical import JsonObject

EMPTY_ANSWER = "the answer has no token"
"""Why a request failed that its server called a success."""

_OF_PROMPTS = {"prefill_tok_s"}


def measured(body: JsonObject) -> Iterator[tuple[int, JsonObject]]:
    """Position and contents of every repetition but warm-up."""
    return ((at, rep) for at, rep in enumerate(body["reps"]) if not rep["warmup"])


def length(records: JsonObject) -> int:
    """Number of records."""
    return len(next(iter(records.values())))


def succeeded(rep: JsonObject) -> list[bool]:
    """By record: whether it counts. An answer without a token is no success, whatever the server called it."""
    records = rep["records"]
    oks = [*(records.get("ok") or [True] * length(records))]
    for at in empty_answers(rep):
        oks[at] = False
    return oks


def empty_answers(rep: JsonObject) -> list[int]:
    """Positions of requests that were called successes and were asked for tokens, and gave none."""
    records, workload = rep["records"], rep.get("workload") or {}
    tokens = records.get("completion_tokens", ())
    if 0 not in tokens or workload.get("gen_tokens") == 0 or {*rep["metrics"]} <= _OF_PROMPTS:
        return []
    oks = records.get("ok") or [True] * length(records)
    return [at for at, (ok, count) in enumerate(zip(oks, tokens, strict=True)) if ok and count == 0]


def called_successes(rep: JsonObject) -> list[bool]:
    """By record: whether its server called it a success, with a token or without one."""
    records = rep["records"]
    count = length(records)
    oks, errors = records.get("ok") or [True] * count, records.get("error") or [None] * count
    return [ok or error == EMPTY_ANSWER for ok, error in zip(oks, errors, strict=True)]


def everything(rep: JsonObject) -> list[bool]:
    """By record: that it is there."""
    return [True] * length(rep["records"])


def rows(
    rep: JsonObject, *names: str, among: Callable[[JsonObject], list[bool]] = succeeded
) -> Iterator[tuple[Any, ...]]:
    """Position and cells of every record that has all of these columns, among those that succeeded or others."""
    records = rep["records"]
    if all(name in records for name in names):
        columns = [records[name] for name in names]
        for at, (counted, *cells) in enumerate(zip(among(rep), *columns, strict=True)):
            if counted and None not in cells:
                yield at, *cells
