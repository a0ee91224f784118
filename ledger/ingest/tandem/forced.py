"""TandemLLM's forced bench: every configuration drafts for itself and commits one given text.

The raw data are the rounds, ``[rows, is_chain, ms]``. A step that the drafter declined is no round, so an answer may
have fewer of them than steps. A row is one answer; a configuration is an arm, and a workload a round of its own.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING

from ledger.errors import MalformedError
from ledger.ingest.adapter import Row
from ledger.ingest.direction import read_tool_json
from ledger.ingest.plain_text import as_plain_text, flatten
from ledger.ingest.statistics import mean, median
from ledger.ingest.tandem.statistics import check_statistics
from ledger.ingest.values import as_decimal, as_label, as_object, look
from ledger.metrics import NS_PER_MS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger.canonical import JsonObject

_PRINTED = ("tokens", "ms", "blocks", "tok_s", "tpb", "mspb", "rows", "report", "arms", "median_round_ms", "repeat")
_READ_ELSEWHERE = ("rounds", "workload", "prompt")
_MOST = 2**53 - 1
_ROUND = 3


class TandemForced:
    """The adapter (see `ledger.ingest.adapter.Adapter`)."""

    name = "tandem-forced"
    about = "the rounds of TandemLLM's forced bench"

    def recognises(self, raw: bytes) -> bool:
        """See `Adapter`."""
        return raw.lstrip()[:1] == b"{" and b'"median_round_ms"' in raw and b'"mspb"' in raw

    def read(self, raw: bytes, what: str) -> list[Row]:
        """See `Adapter`. A row is one answer of one configuration."""
        body = as_object(read_tool_json(raw, what), what)
        listed = look(body, "rows", what)
        if not isinstance(listed, list) or not listed:
            raise MalformedError("E_EMPTY_RESULTS", "there is no row in the result", where=f"{what}/rows")
        items = [as_object(item, f"{what}/rows/{at}") for at, item in enumerate(listed)]
        rows = [_read_row(item, at, f"{what}/rows/{at}") for at, item in enumerate(items)]
        _check_texts(items, what)
        _check_copies(items, rows, what)
        return rows


def _read_row(item: JsonObject, number: int, where: str) -> Row:
    tokens, blocks, prompt = (
        _count(item, name, where, least) for name, least in (("tokens", 1), ("blocks", 1), ("prompt", 0))
    )
    wall = _duration(look(item, "ms", where), f"{where}/ms")
    rounds = _read_rounds(item, where)
    times = [round(ms * NS_PER_MS) for _, ms in rounds]
    if sum(times) > wall + len(times):  # each is rounded by half a nanosecond at most
        raise MalformedError("E_WALL", "the rounds took longer than the whole answer", where=f"{where}/rounds")
    if len(rounds) > blocks:
        raise MalformedError("E_REPORTED_MISMATCH", f"{len(rounds)} rounds in {blocks} steps", where=f"{where}/blocks")
    _check_printed(item, rounds, where)
    partial = f"F_ROUNDS_PARTIAL: {len(rounds)} of {blocks} steps are listed as rounds"
    alone = "F_N1: one round, of which no deviation is known"
    return Row(
        number=number,
        metrics=("ms_per_round",),
        context=prompt,
        workload={
            "dataset": as_label(look(item, "workload", where), f"{where}/workload"),
            "prompt_tokens": prompt,
            "gen_tokens": tokens + 1,
        },
        records={"rounds": [1] * len(times), "decode_ns": times},
        wall_ns=wall,
        started_at="",
        reported={name: as_plain_text(item[name]) for name in _PRINTED if item.get(name) is not None},
        settings={"forced": "true", **flatten(item, where, skip=(*_PRINTED, *_READ_ELSEWHERE))},
        environment={},
        weights={},
        harness={"name": "forced_bench"},
        commit=None,
        notes=tuple(note for note, holds in ((partial, len(rounds) < blocks), (alone, len(rounds) == 1)) if holds),
    )


def _count(item: JsonObject, name: str, where: str, least: int) -> int:
    value = look(item, name, where)
    if type(value) is not int or value < least:
        raise MalformedError("E_FIELD", f"expected a count, found {value!r}"[:200], where=f"{where}/{name}")
    return value


def _duration(value: object, where: str) -> int:
    ns = round(Fraction(as_decimal(value, where)) * NS_PER_MS)
    if ns == 0:
        raise MalformedError("E_ZERO_TIME", "it took no time", where=where)
    if not 0 < ns <= _MOST:
        raise MalformedError("E_SAMPLE", f"{value!r} ms is no duration"[:200], where=where)
    return ns


def _read_rounds(item: JsonObject, where: str) -> list[tuple[Fraction, Fraction]]:
    """Verified rows and milliseconds of each round."""
    listed = look(item, "rounds", where)
    if not isinstance(listed, list) or not listed:
        raise MalformedError("E_NO_SAMPLES", "no round is listed", where=f"{where}/rounds")
    found = []
    for at, each in enumerate(listed):
        place = f"{where}/rounds/{at}"
        if not isinstance(each, list) or len(each) != _ROUND:
            raise MalformedError("E_FIELD", "expected rows, is_chain and milliseconds", where=place)
        _duration(each[2], f"{place}/2")
        found.append((Fraction(as_decimal(each[0], f"{place}/0")), Fraction(as_decimal(each[2], f"{place}/2"))))
    return found


def _check_printed(item: JsonObject, rounds: Sequence[tuple[Fraction, Fraction]], where: str) -> None:
    tokens, blocks, wall = (Fraction(as_decimal(item[name], where)) for name in ("tokens", "blocks", "ms"))
    exact = {
        "tok_s": 1000 * tokens / wall,
        "tpb": tokens / blocks,
        "mspb": wall / blocks,
        "median_round_ms": median([ms for _, ms in rounds]),
    }
    if len(rounds) == blocks:
        exact["rows"] = mean([rows for rows, _ in rounds])
    check_statistics(item, exact, where)


def _check_texts(items: Sequence[JsonObject], what: str) -> None:
    """One workload is one text, whatever the configuration: the tool keeps no digest of it, but its length."""
    lengths: dict[object, object] = {}
    for at, item in enumerate(items):
        shape = (item["tokens"], item["prompt"])
        if lengths.setdefault(item["workload"], shape) != shape:
            raise MalformedError(
                "E_TOKENS_DIFFER", "a workload has another text than before", where=f"{what}/rows/{at}/tokens"
            )


def _check_copies(items: Sequence[JsonObject], rows: Sequence[Row], what: str) -> None:
    names = Counter(
        (row.settings.get("config"), item["workload"], str(item.get("repeat")))
        for item, row in zip(items, rows, strict=True)
    )
    times = Counter(str(item["ms"]) for item in items)
    for counts, meaning in (
        (names, "one repeat stands twice"),
        (times, "two rows took the same time to the last digit"),
    ):
        if max(counts.values()) > 1:
            raise MalformedError("E_COPIED_SAMPLES", meaning, where=f"{what}/rows")
