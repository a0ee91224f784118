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

from ledger.canonical import parse_json
from ledger.errors import MalformedError
from ledger.ingest.adapter import Row
from ledger.ingest.values import printed_number
from ledger.metrics import NS_PER_MS, NS_PER_S
from ledger.strict import format_time

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ledger.canonical import JsonObject

_MEASURED = "profiling"
_WARM_UP = "warmup"
_UNITS = {"ms": ("ms",), "count": ("count", "tokens", "requests")}
_LAST_INSTANT = 2**63
_LONGEST_ERROR = 4096
_LONGEST = 200
# The tool divides in doubles: sixteen digits, of which a few are lost.
_PRINTED_TOLERANCE = Fraction(1, 10**9)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Request:
    """One line. A number that the line lacks is none."""

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
    printed: dict[str, object]

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
        for at, line in enumerate(raw.split(b"\n"), 1):
            if line.strip():
                request = _read_request(parse_json(line, what=f"{what}, line {at}", fractions=True), f"{what}/{at}")
                phases[request.phase].append(request)
        if not phases[_MEASURED]:
            raise MalformedError("E_EMPTY_RESULTS", f"no request of the phase {_MEASURED!r}", where=what)
        return [_row(number, phases[phase], what) for number, phase in enumerate(phases) if phases[phase]]


# One line.


def _read_request(line: object, where: str) -> _Request:
    metadata, metrics, error = _parts(line, where)
    phase = metadata.get("benchmark_phase")
    if phase not in (_MEASURED, _WARM_UP):
        raise MalformedError(
            "E_FIELD",
            f"expected the phase {_MEASURED!r} or {_WARM_UP!r}, found {phase!r}",
            where=f"{where}/metadata/benchmark_phase",
        )
    start, end = (_instant(metadata, name, where) for name in ("request_start_ns", "request_end_ns"))
    if end <= start:
        raise MalformedError("E_ZERO_TIME", "a request that ended when it began", where=f"{where}/metadata")
    count = _reader(metrics, "count", where)
    times = _reader(metrics, "ms", where)
    prompt = count("usage_prompt_tokens")
    return _Request(
        phase=phase,
        start_ns=start,
        end_ns=end,
        error=error,
        ttft_ns=times("time_to_first_token"),
        e2e_ns=times("request_latency"),
        prompt_tokens=count("input_sequence_length") if prompt is None else prompt,
        cached_tokens=count("usage_prompt_cache_read_tokens"),
        served_tokens=count("usage_completion_tokens"),
        counted_tokens=count("output_sequence_length"),
        chunks=count("http_req_chunks_received"),
        printed={name: metrics[name].get("value") for name in _PRINTED if isinstance(metrics.get(name), dict)},
    )


def _parts(line: object, where: str) -> tuple[JsonObject, JsonObject, str | None]:
    """Metadata and metrics of a request, and why it gave nothing that counts; none when it succeeded."""
    if isinstance(line, dict):
        metadata, metrics, error = line.get("metadata"), line.get("metrics"), line.get("error")
        if isinstance(metadata, dict) and isinstance(metrics, dict):
            if not error:
                return metadata, metrics, "cancelled" if metadata.get("was_cancelled") else None
            message = error.get("message") if isinstance(error, dict) else error
            return metadata, metrics, str(message or error)[:_LONGEST_ERROR]
    raise MalformedError("E_FORMAT", "expected an AIPerf record: metadata and metrics of one request", where=where)


def _instant(metadata: JsonObject, name: str, where: str) -> int:
    value = metadata.get(name)
    if type(value) is not int or not 0 < value < _LAST_INSTANT:
        raise MalformedError(
            "E_FIELD", f"expected nanoseconds since 1970, found {value!r}", where=f"{where}/metadata/{name}"
        )
    return value


def _reader(metrics: JsonObject, unit: str, where: str) -> Callable[[str], int | None]:
    """Reads a metric in its unit: counts as they are, milliseconds as nanoseconds; none where it is absent."""

    def read(name: str) -> int | None:
        item = metrics.get(name)
        if item is None:
            return None
        number = printed_number(item.get("value")) if isinstance(item, dict) else None
        if not isinstance(item, dict) or item.get("unit") not in _UNITS[unit] or number is None or number < 0:
            raise MalformedError(
                "E_FIELD", f"expected a number in {unit}, found {item!r}"[:_LONGEST], where=f"{where}/{name}"
            )
        if unit == "ms":
            return round(number * NS_PER_MS)
        if number.denominator != 1:
            raise MalformedError("E_FIELD", f"expected a whole number, found {item!r}", where=f"{where}/{name}")
        return number.numerator

    return read


# All lines of a phase.


def _row(number: int, requests: Sequence[_Request], what: str) -> Row:
    succeeded = [each for each in requests if each.error is None]
    if not succeeded:
        raise MalformedError("E_ALL_FAILED", "every request failed: there is nothing measured", where=what)
    if any(each.ttft_ns is None or each.e2e_ns is None for each in succeeded):
        raise MalformedError(
            "E_NO_SAMPLES", "a request without the time to its first token: run with --streaming", where=what
        )
    known = [each.prompt_tokens for each in succeeded if each.prompt_tokens is not None]
    if not known:
        raise MalformedError(
            "E_FIELD", "no request has the length of its prompt", where=f"{what}/input_sequence_length"
        )
    first = min(each.start_ns for each in requests)
    return Row(
        number=number,
        metrics=("decode_tok_s", "ttft"),
        context=round(Fraction(sum(known), len(known))),
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
        notes=tuple(_notes(succeeded, len(known))),
        warmup=requests[0].phase == _WARM_UP,
    )


def _records(requests: Sequence[_Request], first: int) -> JsonObject:
    """Columns. One that no request has is left out, and so is the outcome where all succeeded."""
    names = ("prompt_tokens", "cached_tokens", "completion_tokens", "ttft_ns", "e2e_ns", "chunks")
    columns: JsonObject = {name: [getattr(each, name) for each in requests] for name in names}
    columns = {name: column for name, column in columns.items() if any(value is not None for value in column)}
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
    found = {
        f"F_PREFIX_CACHE: a cache supplied tokens of {cached} of {len(requests)} prompts": cached,
        f"F_CHUNKED: {pieces} answers came in another number of pieces than they have tokens": pieces,
        f"F_RETOKENIZED: the server and the client count other tokens in {counted} answers": counted,
        f"F_CONTEXT_PARTIAL: {known} of {len(requests)} requests have the length of their prompt": len(requests)
        - known,
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
    number, exact = printed_number(printed), formula(tokens, first, end)
    return number is None or abs(number - exact) > exact * _PRINTED_TOLERANCE
