"""SGLang ``bench_serving``, JSON Lines: the tool appends a line for every run to one file.

Without ``--output-details`` the totals of a run are its only raw sample: tokens of all requests, and the time that
they took together. With it there is a record for each request (`ledger.ingest.sglang.details`). The context is the
mean of the real prompts, never ``random_input_len``: with a range ratio of 0 that is the upper end of a range, and it
is echoed for data sets that do not use it. ``request_rate`` of "all at once" is the bare word ``Infinity``.

Source: ``benchmark`` and ``calculate_metrics`` of python/sglang/bench_serving.py in github.com/sgl-project/sglang.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING

from ledger.errors import MalformedError
from ledger.ingest.adapter import Row
from ledger.ingest.direction import refuse_directions
from ledger.ingest.fields import Fields, as_printed, flatten, limited
from ledger.ingest.printed import apart, find_mismatches, is_first_token_cold
from ledger.ingest.repeats import refuse_repeats, run_lines
from ledger.ingest.sglang.details import DETAILS, read_details
from ledger.ingest.values import printed_number, read_json_lenient
from ledger.json_input import NonFinite

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ledger.canonical import JsonObject
    from ledger.ingest.repeats import RunLine

_PRINTED = re.compile(
    r"(mean|median|std|min|max|p\d+)_.*_ms|\w+_throughput(_retokenized)?|total_\w+|duration|concurrency|accept_length"
    r"|max_output_tokens_per_s|max_concurrent_requests",
    re.ASCII,
)
"""Names of what the tool measured. Everything else is a setting, known or not."""

_TOTALS_ONLY = ("F_TOTALS_ONLY: no latency of a request can be worked out; run with --output-details",)
_SERVER = "server_info"
# What a server says of itself beside its arguments: what it did, where it listens, a seed that it draws anew at every
# start, and what nobody may read.
_NO_SETTING = frozenset(
    (
        *("internal_states", "load", "status", "last_receive_tstamp", "random_seed"),
        *("host", "port", "nccl_port", "dist_init_addr", "api_key", "admin_api_key", "file_storage_path"),
    )
)


class SglangServing:
    """The adapter (see `ledger.ingest.adapter.Adapter`)."""

    name = "sglang-serving"
    about = "SGLang bench_serving --output-file, one line per run"

    def recognises(self, raw: bytes) -> bool:
        """See `Adapter`."""
        line = raw.lstrip().split(b"\n", 1)[0]
        return line[:1] == b"{" and b'"total_output_tokens_retokenized"' in line and b'"sharegpt_output_len"' in line

    def read(self, raw: bytes, what: str) -> list[Row]:
        """See `Adapter`. A row is a line."""
        runs = list(_read_runs(raw, what))
        if not runs:
            raise MalformedError("E_EMPTY_RESULTS", "the file holds no run", where=what)
        rows = [line.note(_read_row(run, places, line.row)) for line, run, places in runs]
        refuse_repeats([(run.values, run.where) for _, run, _ in runs])
        return rows


def _read_runs(raw: bytes, what: str) -> Iterator[tuple[RunLine, Fields, tuple[str, ...]]]:
    for line in run_lines(raw):
        run, places = read_json_lenient(line.raw, f"{what}, line {line.number}")
        refuse_directions(run, f"{what}/{line.row}")
        if not isinstance(run, dict) or "total_output_tokens" not in run:
            raise MalformedError("E_FORMAT", "expected a run with total_output_tokens", where=f"{what}/{line.row}")
        yield line, Fields(values=run, where=f"{what}/{line.row}"), places


def _read_row(run: Fields, nonfinite: tuple[str, ...], number: int) -> Row:
    completed = run.count("completed")
    if not completed:
        raise MalformedError("E_ALL_FAILED", "completed is 0: there is nothing measured", where=run.at("completed"))
    wall = run.duration("duration", "s")
    details = read_details(run) if run.has("ttfts") else None
    context = details.context if details else None
    mean = Fraction(run.count("total_input_tokens"), completed) if context is None else context
    return Row(
        number=number,
        metrics=details.metrics if details else ("output_tok_s",),
        context=round(mean),
        workload=_workload(run),
        records=details.records if details else _totals(run, wall),
        wall_ns=wall,
        started_at="",
        reported={name: _reported(run, name) for name in run.values if _PRINTED.fullmatch(name)},
        settings=_settings(run),
        environment={},
        weights=_weights(run),
        harness={"name": "sglang.bench_serving"},
        commit=None,
        notes=(*_notes(run, mean, nonfinite), *(details.notes if details else _TOTALS_ONLY)),
        mean_context=True,
    )


def _totals(run: Fields, wall: int) -> JsonObject:
    tokens = run.count("total_output_tokens")
    if not tokens:
        raise MalformedError("E_NO_SAMPLES", "no token was generated", where=run.at("total_output_tokens"))
    return {"completion_tokens": [tokens], "prompt_tokens": [run.count("total_input_tokens")], "wall_ns": [wall]}


def _workload(run: Fields) -> JsonObject:
    workload: JsonObject = {}
    if run.has("dataset_name"):
        workload["dataset"] = run.text("dataset_name")
    if run.has("max_concurrency"):
        concurrency = run.count("max_concurrency")
        workload |= {"concurrency": concurrency} if concurrency else {}
    return workload


def _settings(run: Fields) -> dict[str, str]:
    """What the number may depend on. How many requests there were is a part of it: a long queue is another load."""
    measured = {name for name in run.values if _PRINTED.fullmatch(name)}
    requests = _detail_lists(run)
    plain = run.settings({*measured, *requests, *DETAILS, _SERVER})
    server = run.recordable(flatten(run.inner(_SERVER).values, "server", _NO_SETTING))
    return plain | limited(server, _SERVER)


def _detail_lists(run: Fields) -> set[str]:
    """Names of lists with one entry per request, also of those that only a newer build prints."""
    if not run.has("ttfts"):
        return set()
    count = len(run.entries("ttfts"))
    return {name for name, value in run.values.items() if isinstance(value, list) and len(value) == count}


def _weights(run: Fields) -> JsonObject:
    """The model, where the server said of itself what it serves."""
    server = run.inner(_SERVER)
    names = {"name": "model_path", "type": "quantization"}
    return {ours: server.text(theirs) for ours, theirs in names.items() if server.has(theirs)}


def _reported(run: Fields, name: str) -> object:
    value = run.values[name]
    if isinstance(value, NonFinite):
        raise MalformedError("E_NONFINITE", f"{name} is {value}: no measurement", where=run.at(name))
    if isinstance(value, dict | list):
        raise run.refusal(name, "a plain value")
    return run.recordable({name: value})[name] if type(value) is str else as_printed(value)


def _notes(run: Fields, mean: Fraction, nonfinite: tuple[str, ...]) -> list[str]:
    notes = [f"F_NONFINITE: no JSON number stands at {', '.join(nonfinite[:3])}; kept as text"] if nonfinite else []
    declared = printed_number(run.values.get("random_input_len"))
    if declared is not None and apart(mean, declared):
        notes.append(
            f"F_CONTEXT_DECLARED: random_input_len is {declared}, prompts have {round(mean)} tokens on average"
        )
    server, client = (
        printed_number(run.values.get(name)) for name in ("total_output_tokens", "total_output_tokens_retokenized")
    )
    if client is not None and server != client:
        notes.append(
            f"F_RETOKENIZED: the server counts {server} tokens, a second tokenizer {client}; ours is the first"
        )
    if is_first_token_cold(*(printed_number(run.values.get(name)) for name in ("p99_ttft_ms", "median_ttft_ms"))):
        notes.append("F_COLD_FIRST: the 99th time to a first token is more than ten times the median")
    return notes + find_mismatches(run, _exact(run))


def _exact(run: Fields) -> dict[str, Fraction]:
    """What the tool prints of a run, from its totals and the digits of its duration."""
    wall = run.number("duration")
    prompt, written = (run.count(name) for name in ("total_input_tokens", "total_output_tokens"))
    return {
        "output_throughput": written / wall,
        "input_throughput": prompt / wall,
        "total_throughput": (prompt + written) / wall,
        "request_throughput": run.count("completed") / wall,
    }
