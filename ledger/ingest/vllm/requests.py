"""vLLM ``bench serve --save-detailed``: what the file holds of each request, in lists of one length.

Three things are not said and follow from the lists:

* The end of a request is its first token and all gaps after it. A file that has ``latencies`` says the end itself, and
  then the gaps must fit into it.
* Which requests failed. One with an error did; one without a token measured nothing, whatever its status was: where
  the tool counts it as completed, that is said.
* How many pieces an answer had: a gap stands before every piece but the first. There may be more of them than between
  tokens: a server may send a piece before the first token (the role of a chat) and one behind the last (why it ended),
  and a client that counts tokens with a tokenizer of its own may find fewer than came. A longer list that begins with
  the time to the first token is no list of gaps.

Source: ``RequestFuncOutput`` and the request functions in vllm/benchmarks/lib of github.com/vllm-project/vllm.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from ledger.canonical import MAX_INT
from ledger.errors import MalformedError
from ledger.ingest.checks.records import EMPTY_ANSWER
from ledger.ingest.checks.times import begins_with_first_token
from ledger.ingest.fields import error_text
from ledger.ingest.repeats import refuse_same_times
from ledger.ingest.values import as_text
from ledger.ingest.vllm.fields import as_count, bad_field, count_if_said, count_of, nanoseconds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger.canonical import JsonObject

_NEEDED = ("input_lens", "output_lens", "ttfts", "itls", "errors")
_OPTIONAL = ("latencies", "start_times", "queue_times", "generated_texts")
LISTS = (*_NEEDED, *_OPTIONAL)
"""Members with one entry per request."""

_SILENT = "no token came"
_LAST_START = 2**63  # a clock may count from 1970 or from when the node was started


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request; times in nanoseconds, none where they were not measured.

    Attributes:
        prompt_tokens: tokens of the prompt.
        completion_tokens: tokens of the answer.
        ttft_ns: time to the first piece.
        gaps_ns: times between pieces.
        end_ns: time to the last piece, or as the file says it.
        start_ns: start, by a clock of its own.
        error: why it gave nothing that counts; none when it succeeded.
        empty: it has no error, and no token either.
    """

    prompt_tokens: int
    completion_tokens: int
    ttft_ns: int | None
    gaps_ns: tuple[int, ...]
    end_ns: int | None
    start_ns: int | None
    error: str | None
    empty: bool

    @property
    def pieces(self) -> int | None:
        """Pieces in which the answer came."""
        return None if self.ttft_ns is None else len(self.gaps_ns) + 1

    @property
    def per_token_ns(self) -> int | None:
        """Nanoseconds per token after the first; none without a second token."""
        if self.end_ns is None or self.ttft_ns is None or self.completion_tokens <= 1:
            return None
        return round(Fraction(self.end_ns - self.ttft_ns, self.completion_tokens - 1))


def has_details(run: JsonObject) -> bool:
    """Whether the file holds requests, or at least part of what there is to know of them."""
    return any(name in run for name in _NEEDED)


def read_requests(run: JsonObject, where: str) -> list[Request]:
    """The requests of a run that has details, in the order in which they were sent.

    Raises:
        MalformedError: a list is missing, of another length or holds what is no such value; an interval is negative
            (``E_NEG_INTERVAL``); gaps do not fit (``E_ITL_SUM``); the counts are others (``E_REQUEST_COUNT``); a
            request is there twice (``E_COPIED_SAMPLES``).
    """
    lists = _read_lists(run, where)
    requests = [_read_request(lists, at, where) for at in range(len(lists["ttfts"]))]
    _check_counts(run, requests, where)
    refuse_same_times(
        (f"{where}/itls/{at}", (each.start_ns, each.ttft_ns, *each.gaps_ns)) for at, each in enumerate(requests)
    )
    if count_of(run, "completed", where) == sum(each.error is None for each in requests):
        return requests
    return [replace(each, error=EMPTY_ANSWER) if each.empty else each for each in requests]


def _read_lists(run: JsonObject, where: str) -> dict[str, list[object]]:
    lists: dict[str, list[object]] = {}
    for name in LISTS:
        if name not in run and name in _OPTIONAL:
            continue
        column = run.get(name)
        if not isinstance(column, list):
            raise bad_field(f"expected a list of one {name} per request, found {column!r}", where, name)
        lists[name] = column
    count = len(lists["input_lens"])
    for name, column in lists.items():
        if len(column) != count:
            raise MalformedError(
                "E_COLUMN_LENGTH",
                f"{name} has {len(column)} requests, input_lens has {count}",
                where=f"{where}/{name}",
            )
    if not count:
        raise MalformedError("E_EMPTY_RESULTS", "the lists hold no request", where=f"{where}/input_lens")
    return lists


def _read_request(lists: dict[str, list[object]], at: int, where: str) -> Request:
    tokens = _tokens(lists, "output_lens", at, where)
    error = _error(lists["errors"][at], f"{where}/errors/{at}")
    failed = bool(error) or not tokens
    ttft, gaps = _time(lists, "ttfts", at, where), _gaps(lists["itls"][at], at, where)
    request = Request(
        prompt_tokens=_tokens(lists, "input_lens", at, where),
        completion_tokens=tokens,
        ttft_ns=ttft,
        gaps_ns=gaps,
        end_ns=_end(lists, at, where, first=ttft, gaps=gaps, failed=failed),
        start_ns=_time(lists, "start_times", at, where, most=_LAST_START) if "start_times" in lists else None,
        error=(error or _SILENT) if failed else None,
        empty=failed and not error,
    )
    if not failed:
        _check_stream(request, at, where)
    return request


def _tokens(lists: dict[str, list[object]], name: str, at: int, where: str) -> int:
    return as_count(lists[name][at], f"{where}/{name}/{at}")


def _error(value: object, where: str) -> str:
    """Why it failed; empty when it did not."""
    return "" if value is None else error_text(as_text(value, where))


def _time(lists: dict[str, list[object]], name: str, at: int, where: str, *, most: int = MAX_INT) -> int | None:
    """A time; the tool's 0 is "not measured"."""
    found = nanoseconds(lists[name][at], f"{where}/{name}/{at}", most=most)
    if found < 0:
        raise MalformedError(
            "E_NEG_INTERVAL", f"request {at}: {found} ns in {name}: a clock was set", where=f"{where}/{name}/{at}"
        )
    return found or None


def _gaps(value: object, at: int, where: str) -> tuple[int, ...]:
    place = f"{where}/itls/{at}"
    if not isinstance(value, list):
        raise MalformedError("E_FIELD", f"request {at}: expected a list of gaps, found {value!r}"[:200], where=place)
    gaps = tuple(nanoseconds(item, f"{place}/{gap}") for gap, item in enumerate(value))
    for gap, ns in enumerate(gaps):
        if ns < 0:
            raise MalformedError(
                "E_NEG_INTERVAL", f"request {at}, gap {gap}: {ns} ns: a clock was set", where=f"{place}/{gap}"
            )
    return gaps


def _end(
    lists: dict[str, list[object]], at: int, where: str, *, first: int | None, gaps: Sequence[int], failed: bool
) -> int | None:
    """The end, as the file says it or as the last piece came; none for a request that failed."""
    last = None if first is None else first + sum(gaps)
    said = _time(lists, "latencies", at, where) if "latencies" in lists else None
    if failed or said is None:
        return said if failed else last
    if first is not None and first > said:
        raise MalformedError(
            "E_TTFT_AFTER_END",
            f"request {at}: first token after {first} ns, end after {said} ns",
            where=f"{where}/ttfts/{at}",
        )
    if last is not None and last > said + len(gaps) + 1:  # each time is rounded to a nanosecond
        raise MalformedError(
            "E_ITL_SUM",
            f"request {at}: first token and gaps end after {last} ns, the request after {said} ns",
            where=f"{where}/itls/{at}",
        )
    return said


def _check_stream(request: Request, at: int, where: str) -> None:
    first, gaps, tokens = request.ttft_ns, request.gaps_ns, request.completion_tokens
    if first is None:
        raise MalformedError(
            "E_ZERO_TIME", f"request {at}: a first token after 0 s: not a stream", where=f"{where}/ttfts/{at}"
        )
    if begins_with_first_token(first, gaps, tokens):
        raise MalformedError(
            "E_ITL_SUM",
            f"request {at}: {len(gaps)} gaps between {tokens} tokens, and the first of {gaps[0]} ns is the time to the "
            "first token",
            where=f"{where}/itls/{at}/0",
        )


def _check_counts(run: JsonObject, requests: Sequence[Request], where: str) -> None:
    """What the file counts, held against its lists. One without a token may have been counted as completed."""
    good = sum(request.error is None for request in requests)
    empty = sum(request.empty for request in requests)
    completed, failed = count_of(run, "completed", where), count_if_said(run, "failed", where)
    if not good <= completed <= good + empty:
        raise _contradiction("completed", completed, f"{good} with tokens and {empty} without", where)
    if failed is not None and failed != len(requests) - completed:
        raise _contradiction("failed", failed, f"{len(requests)}, of which {completed} are completed", where)
    written, total = sum(request.completion_tokens for request in requests), count_of(run, "total_output_tokens", where)
    if total != written:
        raise _contradiction("total_output_tokens", total, f"{written} tokens", where)


def _contradiction(name: str, count: int, found: str, where: str) -> MalformedError:
    return MalformedError(
        "E_REQUEST_COUNT", f"{name} is {count}; the lists of requests hold {found}", where=f"{where}/{name}"
    )
