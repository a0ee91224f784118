"""A runner's record, ``run.json``: one row of requests, one after the other, against one server.

A row of the ledger is an iteration of the record; warm-ups are one of their own. See `ledger.ingest.tandem.requests`
for what is read and what refused, `ledger.ingest.tandem.flags` for what is flagged.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ledger.errors import MalformedError
from ledger.ingest.adapter import Row
from ledger.ingest.plain_text import as_time, flatten
from ledger.ingest.tandem.flags import mean_prompt, prompt_notes, record_notes
from ledger.ingest.tandem.printed import check_printed
from ledger.ingest.tandem.requests import Record, Request, Sample, read_record
from ledger.ingest.values import as_label, as_object, as_text, printed_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger.canonical import JsonObject

METRICS = ("decode_tok_s", "ttft")

_READ_ELSEWHERE = (
    *("schema_version", "run_id", "config_id", "cell_id", "workload_id", "args_canonical"),
    *("model", "hardware", "workload", "metrics", "raw", "provenance"),
    *("failures", "gotchas", "derived", "verification"),
)
"""Members that are no settings, or become settings under other names."""
_HOST = {"cpu": "cpu", "os": "os", "kernel": "kernel"}
_GIB = 2**30
_MOST_GPUS = 4096


class TandemRecord:
    """The adapter (see `ledger.ingest.adapter.Adapter`)."""

    name = "tandem-record"
    about = "run.json of TandemLLM's row runner, with its requests"

    def recognises(self, raw: bytes) -> bool:
        """See `Adapter`."""
        return raw.lstrip()[:1] == b"{" and b'"selected_iteration"' in raw and b'"payload"' in raw

    def read(self, raw: bytes, what: str) -> list[Row]:
        """See `Adapter`. A row is an iteration; the warm-ups are the last one."""
        record = read_record(raw, what)
        check_printed(record, what)
        return record_rows(record, what, notes=(*record_notes(record), *prompt_notes([record])))


def record_rows(record: Record, what: str, notes: Sequence[str] = ()) -> list[Row]:
    """The rows of a record: its iterations, which all have its notes, and its warm-ups.

    Raises:
        MalformedError: ``E_FIELD`` or ``E_TIME``.
    """
    rows = [_row(record, what, at, notes) for at in range(len(record.iterations))]
    warm = [request for request in record.requests if request.warmup]
    return rows + ([_warm_up(rows[0], warm, len(rows))] if warm else [])


def columns(samples: Sequence[Sample]) -> JsonObject:
    """Records of measured requests. Lengths of prompts are left out where none is known."""
    found: JsonObject = {
        "prompt_tokens": [sample.prompt_tokens for sample in samples],
        "completion_tokens": [sample.tokens for sample in samples],
        "ttft_ns": [sample.ttft_ns for sample in samples],
        "e2e_ns": [sample.e2e_ns for sample in samples],
    }
    return {name: column for name, column in found.items() if any(value is not None for value in column)}


def _row(record: Record, what: str, number: int, notes: Sequence[str]) -> Row:
    iteration = record.iterations[number]
    context = mean_prompt(iteration.samples)
    printed = flatten(iteration.printed, f"{what}/raw/payload/iterations/{number}")
    return Row(
        number=number,
        metrics=METRICS,
        context=None if context is None else round(context),
        workload=_workload(record, what),
        records=columns(iteration.samples),
        wall_ns=iteration.wall_ns,
        started_at=_started_at(record.body, what),
        reported={**printed, "raw.sha256": record.digest},
        settings=_settings(record.body, what),
        environment=_environment(record.body, what),
        weights=_weights(record.body, what),
        harness=_harness(record.body, what),
        commit=_commit(record.body, what),
        notes=tuple(notes),
        mean_context=True,
    )


def _warm_up(row: Row, requests: Sequence[Request], number: int) -> Row:
    """Warm-ups are kept whatever became of them: nothing is ever worked out from them."""
    records: JsonObject = {
        "prompt_tokens": [request.prompt_tokens for request in requests],
        "completion_tokens": [request.tokens for request in requests],
        "ttft_ns": [request.ttft_ns for request in requests],
        "e2e_ns": [request.e2e_ns or None for request in requests],
    }
    if any(request.error for request in requests):
        records["ok"] = [request.error is None for request in requests]
        records["error"] = [request.error for request in requests]
    taken = sum(request.e2e_ns or 0 for request in requests)
    return replace(row, number=number, records=records, wall_ns=max(taken, 1), reported={}, notes=(), warmup=True)


# What the record says beside its requests.


def _part(body: JsonObject, name: str, what: str) -> JsonObject:
    """A member that is an object; empty when it is missing or null."""
    return as_object(body.get(name) or {}, f"{what}/{name}")


def _workload(record: Record, what: str) -> JsonObject:
    found: JsonObject = {"dataset": as_text(record.body.get("workload_id", "not named"), f"{what}/workload_id")}
    for theirs, ours in (
        ("input_tokens", "prompt_tokens"),
        ("output_tokens", "gen_tokens"),
        ("concurrency", "concurrency"),
        ("seed", "seed"),
    ):
        value = record.asked(theirs)
        if value is None:
            continue
        if type(value) is not int or value < (ours == "concurrency"):
            raise MalformedError(
                "E_FIELD", f"expected a count, found {value!r}"[:200], where=f"{what}/workload/resolved_params/{theirs}"
            )
        found[ours] = value
    return found


def _settings(body: JsonObject, what: str) -> dict[str, str]:
    engine = {name: value for name, value in _part(body, "engine", what).items() if name not in {"commit", "container"}}
    found = flatten({"engine": engine}, what)
    found |= flatten({"model": _part(body, "model", what)}, what)
    found |= flatten(_part(_part(body, "workload", what), "resolved_params", what), what, prefix="workload.")
    return found | flatten(body, what, skip=(*_READ_ELSEWHERE, "engine"))


def _environment(body: JsonObject, what: str) -> JsonObject:
    hardware, where = _part(body, "hardware", what), f"{what}/hardware"
    host = _part(hardware, "host", where)
    texts = {
        "gpu": hardware.get("id"),
        "driver": hardware.get("driver"),
        "runtime": f"CUDA {as_text(hardware['cuda'], f'{where}/cuda')}" if hardware.get("cuda") else None,
        "container": _part(body, "engine", what).get("container"),
    } | {ours: host.get(theirs) for theirs, ours in _HOST.items()}
    found: JsonObject = {name: as_text(value, f"{where}/{name}") for name, value in texts.items() if value}
    for name, value, most in (("gpus", hardware.get("count"), _MOST_GPUS), ("cores", host.get("cpu_cores"), 2**53 - 1)):
        if value is not None:
            if type(value) is not int or not 1 <= value <= most:
                raise MalformedError("E_FIELD", f"expected a count, found {value!r}"[:200], where=f"{where}/{name}")
            found[name] = value
    memory = printed_number(host.get("ram_gb"))
    if memory is not None and 1 <= round(memory * _GIB) < 2**53:
        found["memory_bytes"] = round(memory * _GIB)
    extra = flatten({"fingerprint": hardware.get("fingerprint"), "arch": host.get("arch")}, where)
    return found | ({"extra": extra} if extra else {})


def _weights(body: JsonObject, what: str) -> JsonObject:
    model = _part(body, "model", what)
    names = {"name": model.get("hf_id") or model.get("id"), "type": model.get("quant_id")}
    return {name: as_text(value, f"{what}/model") for name, value in names.items() if value}


def _harness(body: JsonObject, what: str) -> JsonObject:
    raw = _part(body, "raw", what)
    found: JsonObject = {"name": as_text(raw.get("harness") or "atlas-bench", f"{what}/raw/harness")}
    version = raw.get("harness_version")
    return found | ({"version": as_text(version, f"{what}/raw/harness_version")} if version else {})


def _commit(body: JsonObject, what: str) -> str | None:
    commit = _part(body, "engine", what).get("commit")
    return as_label(commit, f"{what}/engine/commit") if commit else None


def _started_at(body: JsonObject, what: str) -> str:
    start = _part(body, "provenance", what).get("started_at")
    return as_time(start, f"{what}/provenance/started_at") if start else ""
