"""The load of one run of vLLM's ``bench serve``: its totals, its requests where the file holds them, and what to know.

Nothing printed is used. What can be worked out from totals or requests is compared, and the hint says what a wrong
figure is instead where it is one of the usual mistakes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from ledger.errors import MalformedError
from ledger.ingest.checks.records import EMPTY_ANSWER
from ledger.ingest.printed import is_first_token_cold
from ledger.ingest.statistics import between_ranks
from ledger.ingest.values import as_decimal, exponent_of, printed_number
from ledger.ingest.vllm.fields import count_if_said, count_of, duration_of
from ledger.ingest.vllm.figures import MEDIAN, OVER_ALL, Printed, compare, compare_rate, compare_statistics
from ledger.ingest.vllm.requests import Request, has_details, read_requests
from ledger.ingest.words import counted
from ledger.metrics import NS_PER_MS, NS_PER_S

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ledger.canonical import JsonObject

_CALLED = "that over all that the tool counts as completed, those without a token too"
_STATISTIC = re.compile(r"(mean|median|std|p(?P<percent>\d{1,3}(\.\d{1,9})?))_(?P<of>ttft|tpot|itl|e2el)_ms", re.ASCII)
_PERCENT = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What one run asked of a server, and what came of it.

    Attributes:
        requests: all of them, none where the file holds totals alone.
        good: requests that succeeded and gave a token; by the tool's count where there are totals alone.
        completed: requests that the tool counts as completed, also those without a token.
        failed: requests that it counts as failed.
        input_tokens: of the prompts of completed requests, as the tool counts them.
        output_tokens: of all answers.
        seconds: the duration as printed.
        wall_ns: the same in nanoseconds.
    """

    requests: tuple[Request, ...]
    good: int
    completed: int
    failed: int
    input_tokens: int
    output_tokens: int
    seconds: Fraction
    wall_ns: int

    @property
    def answered(self) -> list[Request]:
        """The requests that count."""
        return [request for request in self.requests if request.error is None]

    def mean_prompt(self) -> Fraction:
        """Mean length of a prompt that was answered."""
        if not self.requests:
            return Fraction(self.input_tokens, self.good)
        return Fraction(_prompt_tokens(self.answered), self.good)


def _prompt_tokens(requests: Sequence[Request]) -> int:
    return sum(request.prompt_tokens for request in requests)


def read_load(run: JsonObject, where: str) -> Load:
    """The load of a run.

    Raises:
        MalformedError: ``E_ALL_FAILED`` when nothing came of it, ``E_WALL`` when a request took longer than the run,
            or what `ledger.ingest.vllm.requests.read_requests` raises.
    """
    completed, failed = count_of(run, "completed", where), count_if_said(run, "failed", where)
    written = count_of(run, "total_output_tokens", where)
    requests = tuple(read_requests(run, where)) if completed and has_details(run) else ()
    good = sum(request.error is None for request in requests) if requests else completed
    if not good or not written:
        raise MalformedError("E_ALL_FAILED", "no request gave a token: there is nothing measured", where=where)
    if failed is None:  # versions that do not count them
        asked = run.get("num_prompts")
        sent = len(requests) or (asked if type(asked) is int else completed)
        failed = max(0, sent - completed)
    load = Load(
        requests=requests,
        good=good,
        completed=completed,
        failed=failed,
        input_tokens=count_of(run, "total_input_tokens", where),
        output_tokens=written,
        wall_ns=duration_of(run, "duration", where),
        seconds=Fraction(as_decimal(run["duration"], f"{where}/duration")),
    )
    _check_fits(load, run["duration"], where)
    return load


def _check_fits(load: Load, printed: object, where: str) -> None:
    """No request took longer than the run, within the rounding of both."""
    rounded = round(Fraction(10) ** min(0, exponent_of(as_decimal(printed, where))) * NS_PER_S / 2)
    starts = offsets_ns(load.requests)
    for at, (start, request) in enumerate(zip(starts, load.requests, strict=True)):
        end = (start or 0) + (request.end_ns or 0)
        if end > load.wall_ns + rounded + len(request.gaps_ns) + 1:
            raise MalformedError(
                "E_WALL", f"request {at} ends after {end} ns of a run of {load.wall_ns} ns", where=f"{where}/duration"
            )


def offsets_ns(requests: Sequence[Request]) -> list[int | None]:
    """When each request began, from the first on; none where the file does not say it."""
    first = min((request.start_ns for request in requests if request.start_ns is not None), default=0)
    return [None if request.start_ns is None else request.start_ns - first for request in requests]


# What a row holds of it.


def metrics_of(load: Load) -> tuple[str, ...]:
    """What the run measured."""
    if not load.requests:
        return ("output_tok_s",)
    streamed = any(request.per_token_ns for request in load.answered)
    return ("decode_tok_s", "ttft") if streamed else ("ttft",)


def records_of(load: Load) -> JsonObject:
    """Columns: of requests, or of the run as one record. Outcomes are left out where all succeeded."""
    if not load.requests:
        return {
            "completion_tokens": [load.output_tokens],
            "prompt_tokens": [load.input_tokens],
            "wall_ns": [load.wall_ns],
        }
    records: JsonObject = {
        "prompt_tokens": [request.prompt_tokens for request in load.requests],
        "completion_tokens": [
            request.completion_tokens if request.completion_tokens or request.empty else None
            for request in load.requests
        ],
        "ttft_ns": [request.ttft_ns for request in load.requests],
        "e2e_ns": [request.end_ns for request in load.requests],
        "itl_ns": [None if request.ttft_ns is None else list(request.gaps_ns) for request in load.requests],
        "chunks": [request.pieces for request in load.requests],
    }
    starts = offsets_ns(load.requests)
    if any(start is not None for start in starts):
        records["start_ns"] = starts
    if load.good < len(load.requests):
        records["ok"] = [request.error is None for request in load.requests]
        records["error"] = [request.error for request in load.requests]
    return records


# What to know of it.


def notes_of(run: JsonObject, load: Load, where: str) -> list[str]:
    """Everything that does not add up or that a reader must know.

    Raises:
        MalformedError: ``E_REPORTED_MISMATCH`` for a printed mean or rate that is over failed requests too.
    """
    rate = Fraction(load.output_tokens) / load.seconds
    peak = printed_number(run.get("max_output_tokens_per_s"))
    found = {
        "F_TOTALS_ONLY: totals of a run without its requests; run it with --save-detailed": not load.requests,
        "F_N1: one request, which has no deviation": load.requests and load.good == 1,
        f"F_REQUESTS_FAILED: {load.failed} of {load.failed + load.completed} requests failed": load.failed,
        "F_COLD_FIRST: the slowest first token took more than ten times as long as the median": _is_cold(run, load),
        "F_PEAK_LT_MEAN: max_output_tokens_per_s counts pieces in one second of the clock": peak is not None
        and peak < rate,
    }
    return [note for note, holds in found.items() if holds] + _notes_of_requests(load) + _compare(run, load, where)


def _notes_of_requests(load: Load) -> list[str]:
    pieces = sum(request.pieces != request.completion_tokens for request in load.answered)
    empty = load.completed - load.good
    found = {
        f"F_CHUNKED: {pieces} answers came in another number of pieces than they have tokens": pieces,
        f"F_EMPTY_OUTPUT: {counted(empty, 'request')} that the tool counts as completed gave no token": empty,
    }
    return [note for note, holds in found.items() if holds]


def _is_cold(run: JsonObject, load: Load) -> bool:
    """Whether the first tokens spread as they do when the first requests met a cold server."""
    firsts = sorted(_times_to_first(load.answered))
    if firsts:
        return is_first_token_cold(Fraction(firsts[-1]), between_ranks(firsts, MEDIAN))
    return is_first_token_cold(*(printed_number(run.get(name)) for name in ("p99_ttft_ms", "median_ttft_ms")))


def _compare(run: JsonObject, load: Load, where: str) -> list[str]:
    asked, sent = run.get("num_prompts"), len(load.requests) or load.completed + load.failed
    notes = compare("num_prompts", asked, Fraction(sent)) if load.requests or "failed" in run else []
    both, seconds = load.input_tokens + load.output_tokens, load.seconds
    totals = {
        "output_throughput": (load.output_tokens, {"(in+out)/duration": both / seconds}),
        "total_token_throughput": (both, {"out/duration": load.output_tokens / seconds}),
        "input_throughput": (load.input_tokens, {"(in+out)/duration": both / seconds}),
        "request_throughput": (load.good, {_CALLED: load.completed / seconds, OVER_ALL: sent / seconds}),
    }
    for name, (count, others) in totals.items():
        notes += compare_rate(name, run.get(name), count / seconds, others, where=where)
    return notes + (_compare_requests(run, load, where) if load.requests else [])


def _compare_requests(run: JsonObject, load: Load, where: str) -> list[str]:
    answered = load.answered
    counted = [request for request in load.requests if request.error in {None, EMPTY_ANSWER}]
    notes = compare(
        "total_input_tokens",
        load.input_tokens,
        Fraction(_prompt_tokens(counted)),
        {OVER_ALL: Fraction(_prompt_tokens(load.requests))},
    )
    longest = max(len(request.gaps_ns) for request in answered)  # each gap is rounded to a nanosecond
    for of, times in _TIMES.items():
        notes += compare_statistics(
            times(answered),
            _printed(run, of),
            NS_PER_MS,
            others={_CALLED: times(counted), OVER_ALL: times(load.requests)},
            slack_ns=2 + (longest if of == "e2el" else 0),
            where=where,
        )
    return notes


def _printed(run: JsonObject, of: str) -> list[Printed]:
    """The statistics of one kind of time that the file holds."""
    found = []
    for name, value in run.items():
        match = _STATISTIC.fullmatch(name)
        if match and match["of"] == of and value is not None:
            kind = match[1]
            percent = MEDIAN if kind == "median" else Fraction(match["percent"] or 0)
            if percent <= _PERCENT:
                found.append(Printed(name, value, "mean" if kind == "mean" else "std" if kind == "std" else percent))
    return found


def _times_to_first(requests: Sequence[Request]) -> list[int]:
    return [request.ttft_ns or 0 for request in requests]


def _times_per_token(requests: Sequence[Request]) -> list[int]:
    return [each for each in (request.per_token_ns for request in requests) if each is not None]


_TIMES: dict[str, Callable[[Sequence[Request]], list[int]]] = {
    "ttft": _times_to_first,
    "tpot": _times_per_token,
    "itl": lambda requests: [gap for request in requests for gap in request.gaps_ns],
    "e2el": lambda requests: [request.end_ns or 0 for request in requests],
}
"""Times that the tool prints statistics of, in nanoseconds; a failed request has 0 where nothing was measured."""
