"""A server's log of one run: how many draft-and-verify rounds each answer took.

The log has lines of its own for requests, ``[req] …``, and no name that the record has too. A line belongs to a request
when its counts of tokens do, in the order of both; where another pairing would fit as well, none is made.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from ledger.errors import MalformedError
from ledger.metrics import NS_PER_MS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ledger.ingest.tandem.requests import Record, Request

_NUMBER, _DECIMAL = r"\d{1,12}", r"\d{1,12}(?:\.\d{1,9})?"
_LINE = re.compile(
    rf"\[req\] \S+ (?:stream|json) prompt=(?P<prompt>{_NUMBER}) completion=(?P<tokens>{_NUMBER}) finish=\S+ "
    rf"{_NUMBER} ms {_DECIMAL} tok/s"
    rf"(?: blocks=(?P<blocks>{_NUMBER}) committed=(?P<committed>{_NUMBER})"
    rf" decode_ms=(?P<decode>{_DECIMAL}) accept=(?P<accept>[\d:x,|]+|-))?"
    rf"(?: temp=(?P<temp>{_DECIMAL}))?",
    re.ASCII,
)
_DEPTH = re.compile(r"(?P<depth>\d{1,9}):(?P<counts>\d{1,9}x\d{1,12}(?:,\d{1,9}x\d{1,12})*)", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounds:
    """The rounds of one answer.

    Attributes:
        blocks: number of rounds, at least 1.
        committed: tokens after the first one.
        decode_ns: time from the first token to the last round.
        accept: rounds by depth of the draft and accepted tokens.
    """

    blocks: int
    committed: int
    decode_ns: int
    accept: Mapping[tuple[int, int], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLog:
    """What the log of a run says of its record's requests.

    Attributes:
        lines: number of lines about requests.
        by_request: rounds by the request's position in the record, where the log has them.
        fault: what of the log and the record does not fit; empty when all does.
    """

    lines: int
    by_request: Mapping[int, Rounds]
    fault: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    prompt: int
    tokens: int
    rounds: Rounds | None


def read_log(raw: bytes, record: Record, what: str) -> RunLog:
    """Read the part of a log that was written during one run.

    Raises:
        MalformedError: ``E_SAMPLING`` when a line says that its answer was sampled.
    """
    texts = [text for text in raw.decode("utf-8", "replace").splitlines() if text.startswith("[req] ")]
    lines = [line for at, text in enumerate(texts) if (line := _read_line(text, f"{what}/{at}"))]
    requests = record.requests
    if not lines:
        fault = f"F_LOG_EMPTY: the log has no line for {len(requests)} requests: it was buffered, or is of another run"
        return RunLog(lines=0, by_request={}, fault=fault)
    pairs = _pair(lines, requests)
    found = {at: line.rounds for at, line in pairs.items() if line.rounds is not None}
    fault = ""
    if len(pairs) < len(requests):
        fault = f"{len(lines)} lines for {len(requests)} requests, {len(pairs)} of which are told by their tokens"
    elif any(requests[at].tokens != each.committed + 1 for at, each in found.items()):
        fault = "rounds committed another number of tokens than the answer has"
    return RunLog(lines=len(lines), by_request=found, fault=fault and f"F_LOG_MISMATCH: {fault}")


def _read_line(text: str, where: str) -> _Line | None:
    """A line about a request; none when it was cut or says something else."""
    found = _LINE.fullmatch(text.rstrip())
    if not found:
        return None
    if found["temp"] and Fraction(found["temp"]) > 0:
        raise MalformedError("E_SAMPLING", f"an answer was sampled at {found['temp']}", where=where)
    rounds = None
    if found["blocks"] and int(found["blocks"]):
        rounds = Rounds(
            blocks=int(found["blocks"]),
            committed=int(found["committed"]),
            decode_ns=round(Fraction(found["decode"]) * NS_PER_MS),
            accept=_read_accept(found["accept"]),
        )
    return _Line(prompt=int(found["prompt"]), tokens=int(found["tokens"]), rounds=rounds)


def _read_accept(text: str) -> dict[tuple[int, int], int]:
    """``depth:acceptedxcount,…|…``; what has another form is left out, and a sum of counts shows it."""
    found: dict[tuple[int, int], int] = {}
    for group in text.split("|"):
        part = _DEPTH.fullmatch(group)
        for count in part["counts"].split(",") if part else ():
            accepted, _, number = count.partition("x")
            key = (int(part["depth"]) if part else 0, int(accepted))
            found[key] = found.get(key, 0) + int(number)
    return found


def _pair(lines: Sequence[_Line], requests: Sequence[Request]) -> dict[int, _Line]:
    """Lines by the position of their request: as early as the order allows, if as late as it allows is the same."""
    early = _embed(lines, requests)
    late = _embed(lines[::-1], requests[::-1])
    last = len(requests) - 1
    if early is None or late is None or early != [last - at for at in reversed(late)]:
        return {}
    return dict(zip(early, lines, strict=True))


def _embed(lines: Sequence[_Line], requests: Sequence[Request]) -> list[int] | None:
    """For each line the first request after that of the line before that has its tokens; none when one has none."""
    places, at = [], 0
    for line in lines:
        while at < len(requests) and (requests[at].prompt_tokens, requests[at].tokens) != (line.prompt, line.tokens):
            at += 1
        if at == len(requests):
            return None
        places.append(at)
        at += 1
    return places
