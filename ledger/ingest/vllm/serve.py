"""vLLM ``bench serve --save-result``: one run, a list of them (a sweep), or one per line (``--append-result``).

A run is a row. Without ``--save-detailed`` its only raw sample is its total: the tokens of all requests over the
duration of the run, which is `output_tok_s` and nothing else. With details every request is a record, and the totals
are only compared. ``total_token_throughput`` counts prompts too, ``max_output_tokens_per_s`` counts pieces per second
of the clock: neither is a rate of anything here.

The tool takes the time when it writes the file, in the node's zone: a run began its duration before that.

Source: ``main_async`` and ``calculate_metrics`` in vllm/benchmarks/serve.py of github.com/vllm-project/vllm.
"""

from __future__ import annotations

import datetime as dt
import re
from contextlib import suppress
from fractions import Fraction
from typing import TYPE_CHECKING

from ledger.errors import MalformedError
from ledger.ingest.adapter import Row
from ledger.ingest.direction import refuse_directions
from ledger.ingest.printed import apart
from ledger.ingest.repeats import RunLine, refuse_repeats, run_lines
from ledger.ingest.vllm.fields import bad_field, check_texts, reported_of, settings_of
from ledger.ingest.vllm.load import metrics_of, notes_of, read_load, records_of
from ledger.ingest.vllm.requests import LISTS
from ledger.json_input import parse_json
from ledger.metrics import NS_PER_S

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ledger.canonical import JsonObject

_MARKS = (b'"tokenizer_id"', b'"num_prompts"', b'"request_throughput"', b'"total_output_tokens"')
_SGLANG = b'"total_output_tokens_retokenized"'
_PRINTED = re.compile(
    r"(mean|median|std|p\d+(\.\d+)?)_.+|.+_(throughput|goodput)|spec_decode_.+|total_(input|output)_tokens|duration"
    r"|completed|failed|date|run_number|rps_change_events|max_output_tokens_per_s|max_concurrent_requests|rtfx",
    re.ASCII,
)
"""Names of what was measured or differs from run to run; everything else is a setting."""
_LENGTHS = {
    "prompt_tokens": ("random_input_len", "input_len"),
    "gen_tokens": ("random_output_len", "output_len"),
}
"""What the tool does not write itself but a sweep or ``--metadata`` may add, by the schema's name."""
_DATE = re.compile(r"(20\d{6})-(([01]\d|2[0-3])\d{4})", re.ASCII)
_LENGTH = re.compile(r"\d{1,15}", re.ASCII)


class VllmServe:
    """The adapter (see `ledger.ingest.adapter.Adapter`)."""

    name = "vllm-serve"
    about = "vllm bench serve --save-result, with or without --save-detailed and --append-result"

    def recognises(self, raw: bytes) -> bool:
        """See `Adapter`."""
        return raw.lstrip()[:1] in {b"{", b"["} and all(mark in raw for mark in _MARKS) and _SGLANG not in raw

    def read(self, raw: bytes, what: str) -> list[Row]:
        """See `Adapter`."""
        runs = list(_parse_runs(raw, what))
        if not runs:
            raise MalformedError("E_EMPTY_RESULTS", "the file holds no run", where=what)
        rows = [line.note(_read_run(run, line.row, where)) for line, run, where in runs]
        refuse_repeats([(run, where) for _, run, where in runs])
        return rows


def _parse_runs(raw: bytes, what: str) -> Iterator[tuple[RunLine, JsonObject, str]]:
    """The runs of a file with their places in it: one, a list, or with ``--append-result`` one a line."""
    lines = run_lines(raw)
    if sum(1 + len(line.repeats) for line in lines) > 1 and all(line.raw.startswith(b"{") for line in lines):
        for line in lines:
            run = parse_json(line.raw, what=f"{what}, line {line.number}", fractions=True)
            refuse_directions(run, f"{what}/{line.row}")
            yield line, _as_run(run, f"{what}/{line.row}"), f"{what}/{line.row}"
        return
    found = parse_json(raw, what=what, fractions=True)
    refuse_directions(found, what)
    if isinstance(found, list):
        for at, run in enumerate(found):
            yield RunLine(at, at, b""), _as_run(run, f"{what}/{at}"), f"{what}/{at}"
    else:
        yield RunLine(0, 0, b""), _as_run(found, what), what


def _as_run(run: object, where: str) -> JsonObject:
    if not isinstance(run, dict) or not all(mark.decode().strip('"') in run for mark in _MARKS):
        raise MalformedError("E_FORMAT", "expected a result of vllm bench serve --save-result", where=where)
    return run


def _read_run(run: JsonObject, number: int, where: str) -> Row:
    check_texts({name: value for name, value in run.items() if name not in LISTS}, where)
    load = read_load(run, where)
    prompt, workload = load.mean_prompt(), _workload(run)
    return Row(
        number=number,
        metrics=metrics_of(load),
        context=round(prompt),
        workload=workload,
        records=records_of(load),
        wall_ns=load.wall_ns,
        started_at=_started_at(run, load.wall_ns, where),
        reported=reported_of(run, LISTS, _is_printed, where),
        settings=settings_of(run, LISTS, _is_printed, where),
        environment={},
        weights={},
        harness={"name": "vllm bench serve"},
        commit=None,
        notes=(
            f"F_TZ_MISSING: the run ended at {run['date']}, a local time without a zone",
            *_declared(workload, prompt),
            *notes_of(run, load, where),
        ),
        mean_context=not load.requests or len({request.prompt_tokens for request in load.answered}) > 1,
    )


def _is_printed(name: str) -> bool:
    return _PRINTED.fullmatch(name) is not None


def _started_at(run: JsonObject, wall_ns: int, where: str) -> str:
    """When the run began: it had ended when the tool took the time."""
    said = run.get("date")
    found = _DATE.fullmatch(said) if type(said) is str else None
    if found:
        with suppress(ValueError):  # a date that the calendar does not have
            ended = dt.datetime.fromisoformat(f"{found[1]}T{found[2]}")
            return (ended - dt.timedelta(seconds=-(-wall_ns // NS_PER_S))).isoformat(timespec="seconds")
    raise bad_field(f"expected a time like 20291231-235959, found {said!r}", where, "date")


def _workload(run: JsonObject) -> JsonObject:
    """What the file says of it, as number or as text; what cannot be read as that stays a setting alone."""
    said = {ours: next((str(run[name]) for name in names if name in run), "") for ours, names in _LENGTHS.items()}
    found: JsonObject = {ours: int(text) for ours, text in said.items() if _LENGTH.fullmatch(text)}
    dataset, at_once = run.get("dataset_name") or run.get("dataset"), run.get("max_concurrency")
    found |= {"dataset": dataset} if type(dataset) is str and dataset else {}
    return found | ({"concurrency": at_once} if type(at_once) is int and at_once > 0 else {})


def _declared(workload: JsonObject, prompt: Fraction) -> list[str]:
    """Whether the settings name another context than was measured."""
    asked = workload.get("prompt_tokens")
    if asked is None or not apart(prompt, Fraction(asked)):
        return []
    return [f"F_CONTEXT_DECLARED: prompts of {asked} tokens were asked for, they have {round(prompt)} on average"]
