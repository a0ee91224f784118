"""AIPerf, ``profile_export.jsonl``: one line per request.

The raw data are the times of each request and the counts that came with it. They stand in milliseconds, made of whole
nanoseconds, and are read back as these; the instants are nanoseconds since 1970, above 2**53, and are never doubles.
The rates and gaps that the tool prints beside them are only compared. A request ends when its answer does
(``request_latency``): ``request_end_ns`` is when the connection was done, about a millisecond later.

Source: the record models of github.com/ai-dynamo/aiperf (``metadata`` and ``metrics`` of a record).
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from ledger.errors import MalformedError
from ledger.ingest.adapter import Row
from ledger.ingest.direction import refuse_directions
from ledger.ingest.fields import Fields, error_text, read_duration
from ledger.ingest.printed import differs, is_first_token_cold
from ledger.ingest.repeats import refuse_same_times
from ledger.ingest.statistics import between_ranks
from ledger.json_input import parse_json
from ledger.metrics import NS_PER_MS, NS_PER_S
from ledger.strict import format_time

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ledger.canonical import JsonObject

_MEASURED = "profiling"
_WARM_UP = "warmup"
_COUNTED_IN = ("count", "tokens", "requests")
_LAST_INSTANT = 2**63
_METRICS = ("decode_tok_s", "ttft")
_COLUMNS = ("completion_tokens", "ttft_ns", "e2e_ns")
_OPTIONAL_COLUMNS = ("prompt_tokens", "cached_tokens", "chunks")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Request:
    """One line. What it lacks is none.

    Attributes:
        where: its place in the file.
        phase: of the run that it belongs to.
        start_ns: nanoseconds since 1970; so is `end_ns`, when the connection was done.
        end_ns: see `start_ns`.
        error: why it gave nothing that counts; none when it succeeded.
        ttft_ns: time to the first token.
        e2e_ns: time to the end of the answer.
        prompt_tokens: tokens of the prompt, by the server's count where there is one.
        cached_tokens: of these, tokens that a cache supplied.
        served_tokens: tokens of the answer, as the server counts them.
        counted_tokens: the same, as the client does.
        chunks: pieces in which the answer came.
        printed: figures of `_PRINTED` as printed.
    """

    where: str
    phase: str
    start_ns: int
    end_ns: int
    error: str | None
    ttft_ns: int | None
    e2e_ns: int | None
    prompt_tokens: int | None
    cached_tokens: int | None
    served_tokens: int | None
    counted_tokens: int | None
    chunks: int | None
    printed: Mapping[str, object]

    @property
    def completion_tokens(self) -> int | None:
        """Tokens of the answer: the server's count, or the client's where it gave none."""
        return self.counted_tokens if self.served_tokens is None else self.served_tokens


class Aiperf:
    """The adapter (see `ledger.ingest.adapter.Adapter`)."""

    name = "aiperf"
    about = "AIPerf profile_export.jsonl, one line per request"

    def recognises(self, raw: bytes) -> bool:
        """See `Adapter`."""
        line = raw.lstrip().split(b"\n", 1)[0]
        return line[:1] == b"{" and b'"benchmark_phase"' in line and b'"request_start_ns"' in line

    def read(self, raw: bytes, what: str) -> list[Row]:
        """See `Adapter`. A row is a phase of the run; warm-up is a row of its own."""
        phases: dict[str, list[_Request]] = defaultdict(list)
        lines = [(number, line) for number, line in enumerate(raw.split(b"\n"), 1) if line.strip()]
        for at, (number, line) in enumerate(lines):
            found = parse_json(line, what=f"{what}, line {number}", fractions=True)
            refuse_directions(found, f"{what}/{at}")
            request = _read_request(found, f"{what}/{at}")
            phases[request.phase].append(request)
        if not phases[_MEASURED]:
            raise MalformedError("E_EMPTY_RESULTS", f"no request of the phase {_MEASURED!r}", where=what)
        _check_measured(phases[_MEASURED], what)
        return [_row(number, phases[phase]) for number, phase in enumerate(phases) if phases[phase]]


# One line.


def _read_request(line: object, where: str) -> _Request:
    if not isinstance(line, dict) or not all(isinstance(line.get(part), dict) for part in ("metadata", "metrics")):
        raise MalformedError("E_FORMAT", "expected an AIPerf record: metadata and metrics of one request", where=where)
    record = Fields(values=line, where=where)
    metadata, metrics = record.inner("metadata"), record.inner("metrics")
    phase = metadata.values.get("benchmark_phase")
    if phase not in (_MEASURED, _WARM_UP):
        raise metadata.refusal("benchmark_phase", f"{_MEASURED!r} or {_WARM_UP!r}")
    start, end = (_instant(metadata, name) for name in ("request_start_ns", "request_end_ns"))
    if end <= start:
        raise MalformedError("E_ZERO_TIME", "a request that ended when it began", where=metadata.where)
    prompt = _count(metrics, "usage_prompt_tokens")
    return _Request(
        where=where,
        phase=str(phase),
        start_ns=start,
        end_ns=end,
        error=_error(record, metadata),
        ttft_ns=_time(metrics, "time_to_first_token"),
        e2e_ns=_time(metrics, "request_latency"),
        prompt_tokens=_count(metrics, "input_sequence_length") if prompt is None else prompt,
        cached_tokens=_count(metrics, "usage_prompt_cache_read_tokens"),
        served_tokens=_count(metrics, "usage_completion_tokens"),
        counted_tokens=_count(metrics, "output_sequence_length"),
        chunks=_count(metrics, "http_req_chunks_received"),
        printed={name: block.get("value") for name in _PRINTED if isinstance(block := metrics.values.get(name), dict)},
    )


def _error(record: Fields, metadata: Fields) -> str | None:
    """Why a request gave nothing that counts; none when it succeeded."""
    error = record.values.get("error")
    if not error:
        return "cancelled" if metadata.values.get("was_cancelled") else None
    message = error.get("message") if isinstance(error, dict) else None
    return error_text(str(message or error))


def _instant(metadata: Fields, name: str) -> int:
    value = metadata.values.get(name)
    if type(value) is not int or not 0 < value < _LAST_INSTANT:
        raise metadata.refusal(name, "nanoseconds since 1970")
    return value


def _time(metrics: Fields, name: str) -> int | None:
    """A time in nanoseconds; none where it is absent."""
    block = metrics.inner(name)
    return read_duration(block.values.get("value"), block.unit(), block.at("value")) if metrics.has(name) else None


def _count(metrics: Fields, name: str) -> int | None:
    """A count; none where it is absent."""
    block = metrics.inner(name)
    if not metrics.has(name):
        return None
    if block.values.get("unit") not in _COUNTED_IN:
        raise block.refusal("unit", f"one of {', '.join(_COUNTED_IN)}")
    return block.count("value")


# All lines of a phase.


def _check_measured(requests: Sequence[_Request], what: str) -> None:
    """Every measured request that succeeded is one stream, and none is there twice."""
    succeeded = [each for each in requests if each.error is None]
    if not succeeded:
        raise MalformedError("E_ALL_FAILED", "every request failed: there is nothing measured", where=what)
    for each in succeeded:
        if each.ttft_ns is None or each.e2e_ns is None:
            raise MalformedError(
                "E_NO_SAMPLES", "a request without the time to its first token: run with --streaming", where=each.where
            )
        if not each.ttft_ns:
            raise MalformedError("E_ZERO_TIME", "a first token after 0 ns: not a stream", where=each.where)
    refuse_same_times((each.where, (each.start_ns, each.end_ns, each.ttft_ns, each.e2e_ns)) for each in succeeded)
    if all(each.prompt_tokens is None for each in succeeded):
        raise MalformedError(
            "E_FIELD", "no request has the length of its prompt", where=f"{what}/input_sequence_length"
        )


def _row(number: int, requests: Sequence[_Request]) -> Row:
    warmup, first = requests[0].phase == _WARM_UP, min(each.start_ns for each in requests)
    succeeded = [each for each in requests if each.error is None]
    known = [each.prompt_tokens for each in succeeded if each.prompt_tokens is not None]
    return Row(
        number=number,
        metrics=_METRICS,
        context=round(Fraction(sum(known), len(known))) if known else None,
        workload={},
        records=_records(requests, first),
        wall_ns=max(each.end_ns for each in requests) - first,
        started_at=format_time(dt.datetime.fromtimestamp(first // NS_PER_S, dt.UTC)),
        reported=_reported(requests),
        settings={},
        environment={},
        weights={},
        harness={"name": "aiperf"},
        commit=None,
        notes=() if warmup else tuple(_notes(succeeded, len(known))),
        warmup=warmup,
        mean_context=len(set(known)) > 1,
    )


def _records(requests: Sequence[_Request], first: int) -> JsonObject:
    """Columns. What no request has is left out, and so is the outcome where all succeeded."""
    columns: JsonObject = {name: [getattr(each, name) for each in requests] for name in _COLUMNS}
    for name in _OPTIONAL_COLUMNS:
        column = [getattr(each, name) for each in requests]
        if any(value is not None for value in column):
            columns[name] = column
    columns["start_ns"] = [each.start_ns - first for each in requests]
    if any(each.error is not None for each in requests):
        columns["ok"] = [each.error is None for each in requests]
        columns["error"] = [each.error for each in requests]
    return columns


_PRINTED: dict[str, Callable[[int, int, int], Fraction]] = {
    "inter_token_latency": lambda tokens, first, end: Fraction(end - first, (tokens - 1) * NS_PER_MS),
    "output_token_throughput_per_user": lambda tokens, first, end: Fraction((tokens - 1) * NS_PER_S, end - first),
    "e2e_output_token_throughput": lambda tokens, _, end: Fraction(tokens * NS_PER_S, end),
}
"""Figures that the tool prints of a request, from its tokens, its first token and its end."""


def _reported(requests: Sequence[_Request]) -> JsonObject:
    values = {
        name: [None if each.printed.get(name) is None else str(each.printed[name]) for each in requests]
        for name in _PRINTED
    }
    printed: JsonObject = {name: column for name, column in values.items() if any(column)}
    return printed | {"request_start_ns": [str(each.start_ns) for each in requests]}  # as text: above 2**53


def _notes(requests: Sequence[_Request], known: int) -> list[str]:
    cached = sum(bool(each.cached_tokens) for each in requests)
    pieces = sum(each.chunks is not None and each.chunks != each.completion_tokens for each in requests)
    counted = sum(
        None not in (each.served_tokens, each.counted_tokens) and each.served_tokens != each.counted_tokens
        for each in requests
    )
    firsts = sorted(each.ttft_ns or 0 for each in requests)
    found = {
        "F_N1: one request, of which no deviation is known": len(requests) == 1,
        f"F_PREFIX_CACHE: a cache supplied tokens of {cached} of {len(requests)} prompts": cached,
        f"F_CHUNKED: {pieces} answers came in another number of pieces than they have tokens": pieces,
        f"F_RETOKENIZED: the server and the client count other tokens in {counted} answers": counted,
        f"F_CONTEXT_PARTIAL: {known} of {len(requests)} requests have the length of their prompt": (
            known < len(requests)
        ),
        "F_COLD_FIRST: the highest time to a first token is more than ten times the median": is_first_token_cold(
            Fraction(firsts[-1]), between_ranks(firsts, 50)
        ),
    }
    return [note for note, holds in found.items() if holds] + _compare_printed(requests)


def _compare_printed(requests: Sequence[_Request]) -> list[str]:
    """What the tool printed, held against its own times and its own count of tokens."""
    notes = []
    for name, formula in _PRINTED.items():
        wrong = [each for each in requests if _differs(each, name, formula)]
        if wrong:
            notes.append(f"F_REPORTED_MISMATCH: {name} is not that of the times in {len(wrong)} requests")
    return notes


def _differs(request: _Request, name: str, formula: Callable[[int, int, int], Fraction]) -> bool:
    printed = request.printed.get(name)
    tokens = request.served_tokens if request.counted_tokens is None else request.counted_tokens
    first, end = request.ttft_ns, request.e2e_ns
    if printed is None or tokens is None or tokens < 2 or first is None or end is None or end <= first:  # noqa: PLR2004
        return False
    return differs(printed, formula(tokens, first, end), rounded=False)
