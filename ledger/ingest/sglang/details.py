"""SGLang ``bench_serving --output-details``: a record for each request of a run.

A request has the time to its first token and the gaps behind it, in seconds. The gaps add up to the time from the
first token to the last, however many tokens came in a piece: a rate is worked out from that sum and the count of
tokens, never from one gap. Older builds print a gap for each piece; newer ones divide it by the tokens of the piece and
repeat it. So neither the number of gaps nor their size is a measurement of its own, and neither is kept. A list that
begins with the time to the first token counts that time twice, and gives no rate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from ledger.canonical import MAX_INT
from ledger.errors import MalformedError
from ledger.ingest.checks.records import EMPTY_ANSWER
from ledger.ingest.checks.times import begins_with_first_token
from ledger.ingest.fields import Fields, error_text, read_duration
from ledger.ingest.printed import find_mismatches
from ledger.ingest.repeats import refuse_same_times
from ledger.ingest.statistics import between_ranks
from ledger.ingest.values import as_decimal, as_text, printed_number
from ledger.ingest.words import counted
from ledger.metrics import NS_PER_MS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger.canonical import JsonObject

DETAILS = ("input_lens", "output_lens", "ttfts", "itls", "generated_texts", "errors")
"""Names of the lists with one entry per request."""

_ENDS = ("latencies", "e2e_latencies")
"""Names of a list of the ends of requests, where a build prints one."""
_SILENT = "no token came"
_PERCENTS = {"median": 50, "p90": 90, "p95": 95, "p99": 99}
# The tool takes the end of a request when the connection says so, a little later than its last token.
_END_SLACK_MS = Fraction(5)
_NANOSECOND_MS = Fraction(1, NS_PER_MS)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Request:
    """One request. What the file lacks is none; a request that failed has neither times nor tokens."""

    prompt_tokens: int | None
    completion_tokens: int | None
    ttft_ns: int | None
    e2e_ns: int | None
    gaps: tuple[int, ...]
    error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stream:
    """The times of an answer, in nanoseconds, and its tokens."""

    first: int
    gaps: tuple[int, ...]
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Details:
    """The requests of a run.

    Attributes:
        metrics: what can be worked out of them.
        context: mean tokens of the prompts that were answered; none when the file has no lengths.
        records: the requests in columns.
        notes: see `ledger.ingest.adapter.Row`.
    """

    metrics: tuple[str, ...]
    context: Fraction | None
    records: JsonObject
    notes: tuple[str, ...]


def read_details(run: Fields) -> Details:
    """Read the lists of a run that has them.

    Raises:
        MalformedError: ``E_FIELD`` when they are of several lengths or an entry is no count, ``E_SAMPLE`` when one is
            no duration, ``E_ALL_FAILED`` when no request was answered, ``E_ZERO_TIME`` for an answer whose first token
            took no time, ``E_ITL_SUM`` for gaps of which the first is the time to the first token, or that end after
            the request, ``E_COPIED_SAMPLES`` when a request is there twice.
    """
    requests = _read_requests(run)
    answered = [each for each in requests if each.error is None]
    if not answered:
        raise MalformedError(
            "E_ALL_FAILED", "no request was answered: there is nothing measured", where=run.at("errors")
        )
    refuse_same_times(
        (f"{run.at('itls')}/{at}", (each.ttft_ns, *each.gaps)) for at, each in enumerate(requests) if each.error is None
    )
    steps = any((each.completion_tokens or 0) > 1 and each.e2e_ns != each.ttft_ns for each in answered)
    known = [each.prompt_tokens for each in answered if each.prompt_tokens is not None]
    return Details(
        metrics=("decode_tok_s", "ttft") if steps else ("ttft",),
        context=Fraction(sum(known), len(known)) if known else None,
        records=_columns(requests),
        notes=tuple(_notes(run, requests, answered)),
    )


def _read_requests(run: Fields) -> list[_Request]:
    lists = {name: run.entries(name) for name in ("ttfts", "itls", "output_lens")}
    lists |= {name: run.entries(name) for name in ("input_lens", "errors", *_ENDS) if run.has(name)}
    count = len(lists["ttfts"])
    for name, values in lists.items():
        if len(values) != count:
            raise run.refusal(name, f"{count} entries, one per request,")
    found = [_read_request(run, {name: values[at] for name, values in lists.items()}, at) for at in range(count)]
    if run.count("completed") <= sum(each.error is None for each in found):
        return found
    return [replace(each, error=EMPTY_ANSWER) if each.error == _SILENT else each for each in found]


def _read_request(run: Fields, item: dict[str, object], at: int) -> _Request:
    prompt = _count(item["input_lens"], f"{run.at('input_lens')}/{at}") if "input_lens" in item else None
    written = _count(item["output_lens"], f"{run.at('output_lens')}/{at}")
    first = read_duration(item["ttfts"], "s", f"{run.at('ttfts')}/{at}")
    gaps = _gaps(item["itls"], f"{run.at('itls')}/{at}")
    error = _error(item.get("errors"), f"{run.at('errors')}/{at}")
    if error is None and written and not first:
        raise MalformedError("E_ZERO_TIME", "a first token after 0 s: not a stream", where=f"{run.at('ttfts')}/{at}")
    if error is None and not written:
        error = _SILENT
    answered, end = error is None, first + sum(gaps)
    if end > MAX_INT:
        raise MalformedError("E_SAMPLE", "gaps that no clock can add up to", where=f"{run.at('itls')}/{at}")
    if answered:
        _check_gaps(run, item, at, _Stream(first=first, gaps=gaps, tokens=written))
    return _Request(
        prompt_tokens=prompt,
        completion_tokens=written if answered else None,
        ttft_ns=first if answered else None,
        e2e_ns=end if answered else None,
        gaps=gaps,
        error=error,
    )


def _check_gaps(run: Fields, item: dict[str, object], at: int, stream: _Stream) -> None:
    """Refuse a first token's time among the gaps, and gaps that end after the request."""
    place, last = f"{run.at('itls')}/{at}", stream.first + sum(stream.gaps)
    if begins_with_first_token(stream.first, stream.gaps, stream.tokens):
        raise MalformedError(
            "E_ITL_SUM",
            f"request {at}: {len(stream.gaps)} gaps between {stream.tokens} tokens, and the first of {stream.gaps[0]} "
            "ns is the time to the first token",
            where=f"{place}/0",
        )
    for name in (name for name in _ENDS if item.get(name) is not None):
        said = read_duration(item[name], "s", f"{run.at(name)}/{at}")
        if last > said + len(stream.gaps) + 1:  # each time is rounded to a nanosecond
            raise MalformedError(
                "E_ITL_SUM",
                f"request {at}: first token and gaps end after {last} ns, the request after {said} ns",
                where=place,
            )


def _count(value: object, where: str) -> int:
    number = as_decimal(value, where)
    if not 0 <= number <= MAX_INT or number != number.to_integral_value():
        raise MalformedError("E_FIELD", f"expected a count, found {value!r}"[:100], where=where)
    return int(number)


def _gaps(value: object, where: str) -> tuple[int, ...]:
    if not isinstance(value, list):
        raise MalformedError("E_FIELD", f"expected a list of gaps, found {value!r}"[:100], where=where)
    return tuple(read_duration(gap, "s", f"{where}/{at}") for at, gap in enumerate(value))


def _error(value: object, where: str) -> str | None:
    """Why a request failed; none when it did not."""
    return None if value is None or value == "" else error_text(as_text(value, where))


def _columns(requests: Sequence[_Request]) -> JsonObject:
    names = ("prompt_tokens", "completion_tokens", "ttft_ns", "e2e_ns")
    columns: JsonObject = {name: [getattr(each, name) for each in requests] for name in names}
    if all(value is None for value in columns["prompt_tokens"]):
        del columns["prompt_tokens"]
    if any(each.error is not None for each in requests):
        columns["ok"] = [each.error is None for each in requests]
        columns["error"] = [each.error for each in requests]
    return columns


def _notes(run: Fields, requests: Sequence[_Request], answered: Sequence[_Request]) -> list[str]:
    failed, empty = len(requests) - len(answered), sum(each.error == EMPTY_ANSWER for each in requests)
    notes = ["F_N1: one request, of which no deviation is known"] if len(answered) == 1 else []
    if empty:
        notes.append(f"F_EMPTY_OUTPUT: {counted(empty, 'request')} that the tool counts as completed gave no token")
    if failed:
        notes.append(f"F_REQUESTS_FAILED: {failed} of {len(requests)} requests failed")
    pieces = sum(len(each.gaps) + 1 != each.completion_tokens for each in answered)
    accepted = printed_number(run.values.get("accept_length"))
    if pieces:
        notes.append(f"F_CHUNKED: {pieces} answers came in another number of pieces than they have tokens")
    elif accepted is not None and accepted > 1:
        notes.append(
            f"F_CHUNKED: {run.values['accept_length']} tokens of a draft were accepted at a time, in one piece"
        )
    return notes + _mismatches(run, answered)


def _mismatches(run: Fields, answered: Sequence[_Request]) -> list[str]:
    totals = {
        "completed": Fraction(len(answered)),
        "total_output_tokens": Fraction(sum(each.completion_tokens or 0 for each in answered)),
    }
    if run.has("input_lens"):
        totals["total_input_tokens"] = Fraction(sum(each.prompt_tokens or 0 for each in answered))
    firsts = sorted(each.ttft_ns for each in answered if each.ttft_ns is not None)
    ends = sorted(each.e2e_ns for each in answered if each.e2e_ns is not None)
    return [
        *find_mismatches(run, totals),
        *find_mismatches(run, _statistics(firsts, "ttft_ms"), _NANOSECOND_MS),
        *find_mismatches(run, _statistics(ends, "e2e_latency_ms"), _END_SLACK_MS),
    ]


def _statistics(ordered: Sequence[int], name: str) -> dict[str, Fraction]:
    """Mean, median and percentiles of sorted nanoseconds, in milliseconds, by the tool's names."""
    found = {f"{word}_{name}": between_ranks(ordered, percent) / NS_PER_MS for word, percent in _PERCENTS.items()}
    return found | {f"mean_{name}": Fraction(sum(ordered), len(ordered) * NS_PER_MS)}
