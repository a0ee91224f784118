"""SGLang ``bench_one_batch``, JSON Lines: a line for every combination of batch, prompt and answer, run once.

The raw data are two durations: of the prefill, which gives the first token of every sequence, and of prefill and steps
together. They become two records, the prefill with its prompt and the generation behind it. All sequences of a batch
run in step, so a rate is that of one sequence. The median step is of steps that the file does not hold: it is reported.

Source: ``latency_test_run_once`` of python/sglang/bench_one_batch.py in github.com/sgl-project/sglang.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.errors import MalformedError
from ledger.ingest.adapter import Row
from ledger.ingest.direction import refuse_directions
from ledger.ingest.fields import Fields, as_printed
from ledger.ingest.printed import find_mismatches
from ledger.ingest.repeats import refuse_repeats, run_lines
from ledger.ingest.values import read_json

if TYPE_CHECKING:
    from fractions import Fraction

    from ledger.canonical import JsonObject

_WORKLOAD = ("batch_size", "input_len", "output_len")
_PRINTED = (
    *("prefill_latency", "prefill_throughput", "median_decode_latency", "median_decode_throughput"),
    *("total_latency", "overall_throughput"),
)


class SglangOneBatch:
    """The adapter (see `ledger.ingest.adapter.Adapter`)."""

    name = "sglang-one-batch"
    about = "SGLang bench_one_batch --result-filename, one line per batch"

    def recognises(self, raw: bytes) -> bool:
        """See `Adapter`."""
        line = raw.lstrip().split(b"\n", 1)[0]
        return line[:1] == b"{" and b'"prefill_latency"' in line and b'"overall_throughput"' in line

    def read(self, raw: bytes, what: str) -> list[Row]:
        """See `Adapter`. A row is a line."""
        lines = run_lines(raw)
        if not lines:
            raise MalformedError("E_EMPTY_RESULTS", "the file holds no batch", where=what)
        batches = [(read_json(line.raw, f"{what}, line {line.number}"), f"{what}/{line.row}") for line in lines]
        found = zip(lines, batches, strict=True)
        rows = [line.note(_read_row(batch, line.row, where)) for line, (batch, where) in found]
        refuse_repeats(batches)
        return rows


def _read_row(line: object, number: int, where: str) -> Row:
    refuse_directions(line, where)
    if not isinstance(line, dict) or "prefill_latency" not in line:
        raise MalformedError("E_FORMAT", "expected a batch with prefill_latency", where=where)
    batch = Fields(values=line, where=where)
    size, prompt, written = (_above_zero(batch, name) for name in _WORKLOAD)
    first, end = batch.duration("prefill_latency", "s"), batch.duration("total_latency", "s")
    metrics, records = _records(prompt, written, first, end, batch)
    return Row(
        number=number,
        metrics=metrics,
        context=prompt,
        workload={"batch": size, "prompt_tokens": prompt, "gen_tokens": written},
        records=records,
        wall_ns=end,
        started_at="",
        reported={name: _reported(batch, name) for name in _PRINTED if name in line},
        settings=batch.settings((*_WORKLOAD, *_PRINTED)),
        environment={},
        weights={},
        harness={"name": "sglang.bench_one_batch"},
        commit=None,
        notes=("F_N1: one run, of which no deviation is known", *find_mismatches(batch, _exact(batch))),
    )


def _above_zero(batch: Fields, name: str) -> int:
    count = batch.count(name)
    if not count:
        raise batch.refusal(name, "a number above 0")
    return count


def _records(prompt: int, written: int, first: int, end: int, batch: Fields) -> tuple[tuple[str, ...], JsonObject]:
    """Two records, so that no rate mixes the two: each has the columns of one metric, and nothing in the others."""
    if end < first or (written > 1 and end == first):
        raise MalformedError(
            "E_TTFT_AFTER_END", f"a prefill of {first} ns in {end} ns altogether", where=batch.at("total_latency")
        )
    if written == 1:
        return ("prefill_tok_s",), {"prompt_tokens": [prompt], "wall_ns": [first]}
    return ("prefill_tok_s", "decode_tok_s"), {
        "prompt_tokens": [prompt, prompt],
        "wall_ns": [first, None],
        "completion_tokens": [None, written],
        "ttft_ns": [None, first],
        "e2e_ns": [None, end],
    }


def _reported(batch: Fields, name: str) -> object:
    value = batch.values[name]
    if isinstance(value, dict | list):
        raise batch.refusal(name, "a plain value")
    return as_printed(value)


def _exact(batch: Fields) -> dict[str, Fraction]:
    """What the tool prints of all sequences together, from the digits of its durations."""
    size, prompt, written = (batch.count(name) for name in _WORKLOAD)
    exact = {
        "prefill_throughput": size * prompt / batch.number("prefill_latency"),
        "overall_throughput": size * (prompt + written) / batch.number("total_latency"),
    }
    if batch.has("median_decode_latency"):
        batch.duration("median_decode_latency", "s")  # above 0
        exact["median_decode_throughput"] = size / batch.number("median_decode_latency")
    return exact
