"""TandemLLM's block A/B, ``block_ab``: states of one code in turn, over the same prompts, pair by pair.

A row is one answer: its number of rounds, and the mean of their times, from which the time of all of them is made
exactly. A state is an arm, and a workload a round of its own, so rows are selected. Pairs that the tool discarded are
warm-ups; where it kept only their mean, that is what it printed, and no sample.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from ledger.errors import MalformedError
from ledger.ingest.adapter import Row
from ledger.ingest.direction import read_tool_json
from ledger.ingest.plain_text import as_plain_text, flatten
from ledger.ingest.tandem.block_checks import check_answer, check_runs, check_verdicts, first_difference
from ledger.ingest.tandem.code import read_code
from ledger.ingest.values import as_decimal, as_label, as_object, as_text, look
from ledger.metrics import NS_PER_MS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ledger.canonical import JsonObject

_METRICS = ("ms_per_round", "tokens_per_round")
_NO_SETTINGS = (
    *("label", "code", "seconds", "runs", "discarded", "greedy", "tokens", "verdicts"),
    *("states", "state_specs", "workloads", "pairs"),
)
_MOST = 2**53 - 1
_SHORT = 128
_DRIFT = Fraction(2, 100)


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockRun:
    """One answer of one state.

    Attributes:
        pair: number of the pair, from 0.
        state: what was switched on.
        workload: name of the prompt.
        block_ms: mean time of a round, as printed.
        blocks: number of rounds; none for a discarded answer whose number was not kept.
        tokens: tokens after the first one; none as for `blocks`.
        out: the tokens themselves; empty as for `blocks`.
        printed: the whole entry.
    """

    pair: int
    state: str
    workload: str
    block_ms: Fraction
    blocks: int | None
    tokens: int | None
    out: tuple[int, ...]
    printed: JsonObject

    @property
    def decode_ns(self) -> int | None:
        """Time of all rounds."""
        return None if self.blocks is None else round(self.block_ms * self.blocks * NS_PER_MS)


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockAb:
    """A result whose figures are those of its runs.

    Attributes:
        body: the whole of it.
        states: names, in their order within a pair.
        base: the state that the others are held against.
        workloads: names of the prompts.
        runs: measured answers, in time order.
        discarded: answers of the pairs before.
    """

    body: JsonObject
    states: tuple[str, ...]
    base: str
    workloads: tuple[str, ...]
    runs: tuple[BlockRun, ...]
    discarded: tuple[BlockRun, ...]


class TandemBlockAb:
    """The adapter (see `ledger.ingest.adapter.Adapter`)."""

    name = "tandem-block-ab"
    about = "the result of TandemLLM's block A/B"

    def recognises(self, raw: bytes) -> bool:
        """See `Adapter`."""
        return raw.lstrip()[:1] == b"{" and b'"state_specs"' in raw and b'"block_ms"' in raw

    def read(self, raw: bytes, what: str) -> list[Row]:
        """See `Adapter`. Rows are the measured answers, and after them the discarded ones."""
        result = read_block_ab(raw, what)
        differing = first_difference(result)
        if differing:
            raise MalformedError("E_TOKENS_DIFFER", differing, where=f"{what}/runs")
        notes, code = _notes(result), read_code(result.body.get("code"), f"{what}/code")
        settings = _settings(result, what)
        rows = [
            replace(_row(result, run, at, settings), code_sha256=code)
            for at, run in enumerate((*result.runs, *result.discarded))
        ]
        # What holds for the whole result is said of each answer, which the caller selects alone.
        return [row if row.warmup else replace(row, notes=notes) for row in rows]


def read_block_ab(raw: bytes, what: str) -> BlockAb:
    """Read a result and hold its figures against its runs. Whether all states gave one text is left open.

    Raises:
        MalformedError: the first thing that does not add up.
    """
    body = as_object(read_tool_json(raw, what), what)
    states, workloads = (_names(body, name, what) for name in ("states", "workloads"))
    base = as_text(look(body, "base", what), f"{what}/base")
    if base not in states:
        raise MalformedError("E_FIELD", f"there is no state {base!r}"[:200], where=f"{what}/base")
    result = BlockAb(
        body=body,
        states=states,
        base=base,
        workloads=workloads,
        runs=tuple(_read_runs(look(body, "runs", what), f"{what}/runs", measured=True)),
        discarded=tuple(_read_runs(body.get("discarded") or [], f"{what}/discarded", measured=False)),
    )
    check_runs(result, what)
    check_verdicts(result, what)
    return result


def _names(body: JsonObject, name: str, what: str) -> tuple[str, ...]:
    listed = look(body, name, what)
    if not isinstance(listed, list) or not listed:
        raise MalformedError("E_EMPTY_RESULTS", f"there are no {name}", where=f"{what}/{name}")
    names = tuple(as_label(item, f"{what}/{name}/{at}") for at, item in enumerate(listed))
    if len(set(names)) != len(names):
        raise MalformedError("E_FIELD", "a name stands twice", where=f"{what}/{name}")
    return names


def _read_runs(listed: object, where: str, *, measured: bool) -> list[BlockRun]:
    if not isinstance(listed, list) or (measured and not listed):
        raise MalformedError("E_EMPTY_RESULTS", "there is no run in the result", where=where)
    return [_read_run(as_object(item, f"{where}/{at}"), f"{where}/{at}", measured) for at, item in enumerate(listed)]


def _read_run(item: JsonObject, where: str, measured: bool) -> BlockRun:  # noqa: FBT001 - one reader, two kinds of entry
    whole = measured or "blocks" in item
    block_ms = Fraction(as_decimal(look(item, "block_ms", where), f"{where}/block_ms"))
    if block_ms <= 0:
        raise MalformedError("E_ZERO_TIME", "a round that took no time", where=f"{where}/block_ms")
    run = BlockRun(
        pair=_count(item, "pair", where, 0),
        state=as_text(look(item, "state", where), f"{where}/state"),
        workload=as_text(look(item, "workload", where), f"{where}/workload"),
        block_ms=block_ms,
        blocks=_count(item, "blocks", where, 1) if whole else None,
        tokens=_count(item, "tokens", where, 1) if whole else None,
        out=_read_out(item, where) if measured else (),
        printed=item,
    )
    if not block_ms * (run.blocks or 1) * NS_PER_MS <= _MOST:
        raise MalformedError("E_SAMPLE", "not a duration", where=f"{where}/block_ms")
    if measured:
        check_answer(run, where)
    return run


def _count(item: JsonObject, name: str, where: str, least: int) -> int:
    value = look(item, name, where)
    if type(value) is not int or value < least:
        raise MalformedError("E_FIELD", f"expected a count, found {value!r}"[:200], where=f"{where}/{name}")
    return value


def _read_out(item: JsonObject, where: str) -> tuple[int, ...]:
    out = look(item, "out", where)
    if not isinstance(out, list) or any(type(token) is not int for token in out):
        raise MalformedError("E_FIELD", "expected a list of tokens", where=f"{where}/out")
    return tuple(out)


# Rows.


def _row(result: BlockAb, run: BlockRun, number: int, settings: Mapping[str, dict[str, str]]) -> Row:
    max_new = result.body.get("max_new")
    workload: JsonObject = {"dataset": run.workload} | ({"gen_tokens": max_new} if type(max_new) is int else {})
    decode = run.decode_ns
    return Row(
        number=number,
        metrics=_METRICS,
        context=None,
        workload=workload,
        records={
            "rounds": [run.blocks],
            "decode_ns": [decode],
            "completion_tokens": [None if run.tokens is None else run.tokens + 1],
        },
        wall_ns=max(1, round(run.block_ms * NS_PER_MS) if decode is None else decode),
        started_at="",
        reported={name: as_plain_text(value) for name, value in run.printed.items() if name != "out"},
        settings=settings[run.state],
        environment={},
        weights={},
        harness={"name": "block_ab"},
        commit=None,
        warmup=number >= len(result.runs),
    )


def _settings(result: BlockAb, what: str) -> dict[str, dict[str, str]]:
    """Settings by state: those of the whole result, and what the state switches."""
    specs = result.body.get("state_specs")
    named: dict[str, object] = {}
    for spec in specs if isinstance(specs, list) else []:
        name, equals, _ = str(spec).partition("=")
        if equals:
            named.setdefault(name, spec)
    common = flatten(result.body, what, skip=_NO_SETTINGS)
    states = {run.state for run in (*result.runs, *result.discarded)}
    return {state: common | flatten({"state": state, "state_spec": named.get(state)}, what) for state in states}


def _notes(result: BlockAb) -> tuple[str, ...]:
    short = sum((run.tokens or 0) + 1 < _SHORT for run in result.runs)
    discard = result.body.get("discard")
    found = {
        "F_TOTALS_ONLY: the mean over the rounds of an answer is kept, and no round": True,
        f"F_SHORT_OUTPUT: {short} of {len(result.runs)} answers have fewer than {_SHORT} tokens": short * 10
        > len(result.runs),
        "F_CAPTURE: no pair was discarded: the first one pays for what is made once": discard == 0
        or (not result.discarded and result.body.get("proc") is False),
        "F_LEARNING: costs were learned, and one text took another number of rounds from pair to pair": bool(
            result.body.get("learn_cost")
        )
        and _drifted(result),
    }
    return tuple(note for note, holds in found.items() if holds)


def _drifted(result: BlockAb) -> bool:
    """Whether the rounds of one text are more than 2 % apart."""
    counts: dict[tuple[str, tuple[int, ...]], list[int]] = {}
    for run in result.runs:
        counts.setdefault((run.state, run.out), []).append(run.blocks or 0)
    return any(max(found) - min(found) > _DRIFT * min(found) for found in counts.values())
