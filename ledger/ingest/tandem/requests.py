"""A runner's record of one row of requests, read whole or refused.

The raw data are the requests: time to the first token and to the end, on the client's clock, in milliseconds with three
decimals, and the server's counts of tokens. The record holds a digest of them and names made of its own contents; what
does not fit them was changed after the run.

Source: the record model of github.com/0xBakeer/inference-atlas, schema version 1.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from ledger.errors import MalformedError
from ledger.ingest.direction import read_tool_json
from ledger.ingest.tandem.identity import check_identity
from ledger.ingest.values import as_decimal, as_object, as_text, look
from ledger.metrics import NS_PER_MS, NS_PER_S

if TYPE_CHECKING:
    from collections.abc import Sequence
    from decimal import Decimal

    from ledger.canonical import JsonObject

_ID = re.compile(r"i(?P<iteration>0|[1-9][0-9]{0,3})-[rw][0-9]+", re.ASCII)
_MOST = 2**53 - 1
_LONGEST_ERROR = 4096
_COUNTED_BY_SERVER = "usage"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request. What the record does not say is none.

    Attributes:
        at: position in the record.
        iteration: repetition of the workload that it belongs to, from 0.
        prompt_id: name of the prompt.
        warmup: kept, but never part of a fact.
        error: why it failed; none when it succeeded.
        ttft_ns: time to the first token.
        e2e_ns: time to the end.
        prompt_tokens: tokens of the prompt.
        tokens: tokens of the answer, the first one included.
        finish: why the answer ended.
    """

    at: int
    iteration: int
    prompt_id: str
    warmup: bool
    error: str | None
    ttft_ns: int | None
    e2e_ns: int | None
    prompt_tokens: int | None
    tokens: int | None
    finish: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A measured request from which every figure can be worked out."""

    request: Request
    prompt_tokens: int | None
    tokens: int
    ttft_ns: int
    e2e_ns: int

    @property
    def rate(self) -> Fraction:
        """Tokens a second after the first one."""
        return Fraction((self.tokens - 1) * NS_PER_S, self.e2e_ns - self.ttft_ns)


@dataclass(frozen=True, slots=True, kw_only=True)
class Iteration:
    """One repetition of the workload.

    Attributes:
        number: from 0.
        printed: what the runner printed about it.
        duration: seconds that the measured requests took together, as printed.
        samples: the measured requests.
    """

    number: int
    printed: JsonObject
    duration: Decimal
    samples: tuple[Sample, ...]

    @property
    def wall_ns(self) -> int:
        """The same in nanoseconds."""
        return round(Fraction(self.duration) * NS_PER_S)


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A record.

    Attributes:
        body: the whole of it.
        digest: SHA-256 of its payload.
        requests: every request, warm-ups included.
        iterations: repetitions of the workload, in time order.
        selected: number of the one that the record's own statistics are about.
    """

    body: JsonObject
    digest: str
    requests: tuple[Request, ...]
    iterations: tuple[Iteration, ...]
    selected: int

    def asked(self, name: str) -> object:
        """A parameter of the workload; none when the record does not say it."""
        value: object = self.body
        for step in ("workload", "resolved_params", name):
            value = value.get(step) if isinstance(value, dict) else None
        return value


def read_record(raw: bytes, what: str) -> Record:
    """Read a record: integrity first, then every request, then whether all were measured.

    Raises:
        MalformedError: the first thing that forbids to use it.
    """
    body = as_object(read_tool_json(raw, what), what)
    payload = as_object(look(body, "raw/payload", what), f"{what}/raw/payload")
    if look(body, "raw/truncated", what) is not False or "requests_truncated_from" in payload:
        raise MalformedError(
            "E_TRUNCATED", "the runner cut the list of requests: the last ones are missing", where=f"{what}/raw"
        )
    digest = check_identity(body, what)
    where = f"{what}/raw/payload"
    listed = look(body, "raw/payload/requests", what)
    if not isinstance(listed, list) or not listed:
        raise MalformedError("E_EMPTY_RESULTS", "there is no request in the record", where=f"{where}/requests")
    blocks = look(body, "raw/payload/iterations", what)
    if not isinstance(blocks, list) or not blocks:
        raise MalformedError("E_EMPTY_RESULTS", "there is no iteration in the record", where=f"{where}/iterations")
    selected = look(body, "raw/payload/selected_iteration", what)
    if type(selected) is not int or not 0 <= selected < len(blocks):
        raise MalformedError(
            "E_FIELD", f"expected the number of an iteration, found {selected!r}", where=f"{where}/selected_iteration"
        )
    requests = tuple(_read_request(item, at, len(blocks), where) for at, item in enumerate(listed))
    measured = defaultdict[int, list[Request]](list)
    for request in requests:
        if not request.warmup:
            measured[request.iteration].append(request)
    iterations = tuple(_read_iteration(block, at, measured[at], where) for at, block in enumerate(blocks))
    record = Record(body=body, digest=digest, requests=requests, iterations=iterations, selected=selected)
    _check_workload(record, what)
    return record


# One request.


def _read_request(item: object, at: int, iterations: int, payload: str) -> Request:
    where = f"{payload}/requests/{at}"
    line = as_object(item, where)
    status, warmup = look(line, "status", where), look(line, "warmup", where)
    if status not in ("ok", "error") or not isinstance(warmup, bool):
        raise MalformedError("E_FIELD", "expected a status ok or error, and warmup true or false", where=where)
    if status == "ok" and not warmup and line.get("token_source") != _COUNTED_BY_SERVER:
        raise MalformedError(
            "E_TOKEN_SOURCE",
            f"tokens must be the server's count, {_COUNTED_BY_SERVER!r}; found {line.get('token_source')!r}"[:200],
            where=f"{where}/token_source",
        )
    category = line.get("error_category")
    failed = (as_text(category, f"{where}/error_category") if category else "failed")[:_LONGEST_ERROR]
    return Request(
        at=at,
        iteration=_iteration(line, iterations, where),
        prompt_id=as_text(line.get("prompt_id", ""), f"{where}/prompt_id"),
        warmup=warmup,
        error=None if status == "ok" else failed,
        ttft_ns=_time(line, "ttft_ms", where),
        e2e_ns=_time(line, "e2e_ms", where),
        prompt_tokens=_count(line, "prompt_tokens", where),
        tokens=_count(line, "completion_tokens", where),
        finish=as_text(line.get("finish_reason") or "", f"{where}/finish_reason"),
    )


def _iteration(line: JsonObject, iterations: int, where: str) -> int:
    """Which repetition a request belongs to: its name begins with it."""
    found = _ID.fullmatch(as_text(line.get("id", ""), f"{where}/id"))
    number = int(found["iteration"]) if found else 0
    if (iterations > 1 and not found) or number >= iterations:
        raise MalformedError(
            "E_FIELD", f"the request names none of the {iterations} iterations it could be of", where=f"{where}/id"
        )
    return number


def _time(line: JsonObject, name: str, where: str) -> int | None:
    value = line.get(name)
    if value is None:
        return None
    ns = round(Fraction(as_decimal(value, f"{where}/{name}")) * NS_PER_MS)
    if not 0 <= ns <= _MOST:
        raise MalformedError("E_SAMPLE", f"{value!r} ms is no duration"[:200], where=f"{where}/{name}")
    return ns


def _count(line: JsonObject, name: str, where: str) -> int | None:
    value = line.get(name)
    if value is not None and (type(value) is not int or value < 0):
        raise MalformedError("E_FIELD", f"expected a count of tokens, found {value!r}"[:200], where=f"{where}/{name}")
    return value


# One iteration.


def _read_iteration(block: object, number: int, own: Sequence[Request], payload: str) -> Iteration:
    where = f"{payload}/iterations/{number}"
    printed = as_object(block, where)
    duration = as_decimal(look(printed, "duration_s", where), f"{where}/duration_s")
    ns = round(Fraction(duration) * NS_PER_S)
    if not 0 <= ns <= _MOST:
        raise MalformedError("E_SAMPLE", f"{duration} s is no duration"[:200], where=f"{where}/duration_s")
    if ns == 0:
        raise MalformedError("E_ZERO_TIME", "a run that took no time", where=f"{where}/duration_s")
    if not own:
        raise MalformedError("E_EMPTY_RESULTS", "no request of the iteration was measured", where=where)
    if all(request.error is not None for request in own):
        raise MalformedError("E_ALL_FAILED", "no request of the iteration succeeded", where=where)
    samples = tuple(_sample(request, f"{payload}/requests/{request.at}") for request in own)
    return Iteration(number=number, printed=printed, duration=duration, samples=samples)


def _sample(request: Request, where: str) -> Sample:
    """A request without a failure, and with a first token, a second one and time between them.

    Where one is left out, the statistics are those of the others: of the prompts that the server found easy.
    """
    if request.error is not None:
        raise MalformedError("E_UNUSABLE", f"a measured request failed: {request.error}"[:200], where=where)
    if request.ttft_ns is None:
        raise MalformedError(
            "E_TTFT_MISSING", "a request succeeded without a first token: it called a tool", where=f"{where}/ttft_ms"
        )
    if request.ttft_ns == 0:
        raise MalformedError("E_ZERO_TIME", "a first token after no time at all", where=f"{where}/ttft_ms")
    if request.tokens is None or request.tokens < 2 or request.e2e_ns is None or request.e2e_ns <= request.ttft_ns:  # noqa: PLR2004
        raise MalformedError("E_UNUSABLE", "no second token, or no time for it: no rate can be told", where=where)
    return Sample(
        request=request,
        prompt_tokens=request.prompt_tokens,
        tokens=request.tokens,
        ttft_ns=request.ttft_ns,
        e2e_ns=request.e2e_ns,
    )


# The workload.


def _check_workload(record: Record, what: str) -> None:
    """All requests that were asked for are there, and answers are those of a greedy decoder."""
    for iteration in record.iterations:
        where = f"{what}/raw/payload/iterations/{iteration.number}"
        for wanted in (record.asked("num_requests"), iteration.printed.get("requests_total")):
            _check_number(len(iteration.samples), wanted, where)
    warm = sum(request.warmup for request in record.requests)
    _check_number(warm, record.asked("warmup_requests"), f"{what}/raw/payload/requests")
    temperature = record.asked("temperature")
    if temperature is not None and as_decimal(temperature, f"{what}/workload/resolved_params/temperature") != 0:
        raise MalformedError(
            "E_SAMPLING",
            f"a temperature of {temperature}: answers, and with them the work, differ from run to run",
            where=f"{what}/workload/resolved_params/temperature",
        )


def _check_number(found: int, wanted: object, where: str) -> None:
    if wanted is None or wanted == found:
        return
    fewer = type(wanted) is int and found < wanted
    raise MalformedError(
        "E_TRUNCATED" if fewer else "E_REPORTED_MISMATCH",
        f"{found} requests are in the record, {wanted!r} is said"[:200],
        where=where,
    )
