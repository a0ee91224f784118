"""llama-bench, JSON (``-o json``) and JSON Lines (``-o jsonl``).

A row is one test: ``pp`` (only a prompt), ``tg`` (only generation) or ``pg`` (both). The raw data is ``samples_ns``,
the duration of every sample. ``samples_ts`` and the averages are rounded by the tool and only kept as reported. Every
column that is neither a measurement nor a fact of node, weights or build is taken as a setting, known or not: a column
that a newer build adds may be part of what the number depends on.

Source: tools/llama-bench in github.com/ggml-org/llama.cpp, the fields of ``struct test``.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from ledger.canonical import MAX_INT, JsonObject
from ledger.errors import MalformedError
from ledger.ingest.adapter import Row
from ledger.ingest.direction import refuse_directions
from ledger.ingest.fields import plain_text
from ledger.ingest.llama_bench_text import is_text_output, refuse_text
from ledger.ingest.repeats import RunLine, refuse_repeats, run_lines
from ledger.ingest.values import printed_number
from ledger.json_input import NumberText, parse_json
from ledger.metrics import NS_PER_S
from ledger.strict import parse_time

_STATISTICS = ("avg_", "stddev_", "samples_")
"""How the names of measurements begin, also of those that only a fork prints. What of them is raw is `samples_ns`."""
_WORKLOAD = ("n_prompt", "n_gen", "n_depth")
_ENVIRONMENT = {"cpu_info": "cpu", "gpu_info": "gpu", "backends": "backends"}
_BUILD = ("build_commit", "build_number")
_MODEL = ("model_filename", "model_type", "model_size", "model_n_params")
_OTHER = ("test_time", "samples_ns")
_NO_SETTINGS = frozenset({*_WORKLOAD, *_ENVIRONMENT, *_BUILD, *_MODEL, *_OTHER})
# Rates are added up in billionths: as fractions of as many denominators as there are samples they would take minutes.
_FINE = 10**9
# samples_ts has six significant digits, the averages have six decimals.
_PRINTED_TOLERANCE = Fraction(1, 100_000)


class LlamaBench:
    """The adapter (see `ledger.ingest.adapter.Adapter`)."""

    name = "llama-bench"
    about = "llama-bench -o json or -o jsonl"

    def recognises(self, raw: bytes) -> bool:
        """See `Adapter`. Its outputs for people are recognised too, and refused when they are read."""
        return is_text_output(raw) or (b'"samples_ns"' in raw and b'"build_commit"' in raw)

    def read(self, raw: bytes, what: str) -> list[Row]:
        """See `Adapter`."""
        parsed = _parse_rows(raw, what)
        rows = [line.note(_read_row(row, line.row, what)) for line, row in parsed]
        refuse_repeats(
            [(_said(row), f"{what}/{row.number}") for (line, _), row in zip(parsed, rows, strict=True) if line.raw]
        )
        return rows


def _said(row: Row) -> list[object]:
    """Everything that a line says of its run."""
    return [
        row.records,
        row.reported,
        row.settings,
        row.workload,
        row.started_at,
        row.commit,
        row.environment,
        row.weights,
    ]


def _parse_rows(raw: bytes, what: str) -> list[tuple[RunLine, JsonObject]]:
    """Every row with its line, which is empty for a row of an array."""
    refuse_text(raw, what)
    rows: list[tuple[RunLine, Any]]
    start = raw.lstrip()
    if start[:1] == b"[":
        rows = _unlined(parse_json(raw, what=what, fractions=True))
    elif start[:1] == b"{" and not start.split(b"\n", 1)[0].rstrip().endswith(b"}"):
        rows = _unlined([parse_json(raw, what=what, fractions=True)])  # one object over several lines: no JSON Lines
    else:
        rows = [
            (line, parse_json(line.raw, what=f"{what}, line {line.number}", fractions=True)) for line in run_lines(raw)
        ]
    if not rows:
        raise MalformedError("E_EMPTY_RESULTS", "the file holds no test", where=what)
    for line, row in rows:
        refuse_directions(row, f"{what}/{line.row}")
        if not isinstance(row, dict) or "samples_ns" not in row:
            raise MalformedError(
                "E_FORMAT",
                "expected llama-bench tests with samples_ns (-o json or -o jsonl)",
                where=f"{what}/{line.row}",
            )
    return rows


def _unlined(rows: list[Any]) -> list[tuple[RunLine, Any]]:
    return [(RunLine(at, at, b""), row) for at, row in enumerate(rows)]


def _read_row(row: JsonObject, number: int, what: str) -> Row:
    where = f"{what}/{number}"
    prompt, gen = _count(row, "n_prompt", where), _count(row, "n_gen", where)
    depth = _count(row, "n_depth", where) if "n_depth" in row else 0  # builds without the option measured at 0
    samples = _samples(row, where)
    metrics, records = _records(prompt, gen, samples, where)
    return Row(
        number=number,
        metrics=metrics,
        context=depth + prompt,
        workload={"depth": depth, "prompt_tokens": prompt, "gen_tokens": gen},
        records=records,
        wall_ns=sum(samples),
        started_at=_text(row, "test_time", where),
        reported={name: _plain(row[name]) for name in row if name.startswith(_STATISTICS) and name != "samples_ns"},
        settings=_settings(row, where),
        environment={ours: row[theirs] for theirs, ours in _ENVIRONMENT.items() if row.get(theirs)},
        weights=_weights(row, where),
        harness={"name": "llama-bench", "version": f"build {row['build_number']}"}
        if "build_number" in row
        else {"name": "llama-bench"},
        commit=_text(row, "build_commit", where),
        notes=_compare_reported(row, prompt + gen, samples),
    )


def _records(prompt: int, gen: int, samples: list[int], where: str) -> tuple[tuple[str, ...], JsonObject]:
    records: JsonObject = {"wall_ns": samples}
    if prompt:
        records["prompt_tokens"] = [prompt] * len(samples)
    if gen:
        records["completion_tokens"] = [gen] * len(samples)
    if prompt and gen:
        return ("wall",), records  # one duration over both: neither rate can be told
    if prompt:
        return ("prefill_tok_s",), records
    if gen:
        return ("gen_tok_s",), records
    raise MalformedError("E_WORKLOAD", "n_prompt and n_gen are both 0: nothing was measured", where=where)


def _samples(row: JsonObject, where: str) -> list[int]:
    samples = row["samples_ns"]
    if not isinstance(samples, list) or not samples:
        raise MalformedError("E_EMPTY_RESULTS", "samples_ns holds no sample", where=f"{where}/samples_ns")
    for at, sample in enumerate(samples):
        if type(sample) is not int or not 0 <= sample <= MAX_INT:
            raise MalformedError(
                "E_SAMPLE", f"expected nanoseconds, found {sample!r}"[:100], where=f"{where}/samples_ns/{at}"
            )
        if not sample:
            raise MalformedError("E_ZERO_TIME", "a sample took no time at all", where=f"{where}/samples_ns/{at}")
    if sum(samples) > MAX_INT:
        raise MalformedError("E_SAMPLE", "all samples together take longer than can be recorded", where=where)
    return samples


def _count(row: JsonObject, name: str, where: str) -> int:
    value = row.get(name)
    if type(value) is not int or value < 0:
        raise MalformedError("E_FIELD", f"expected a count in {name}, found {value!r}", where=f"{where}/{name}")
    return value


def _text(row: JsonObject, name: str, where: str) -> str:
    value = row.get(name)
    if type(value) is not str or not value:
        raise MalformedError("E_FIELD", f"expected text in {name}, found {value!r}", where=f"{where}/{name}")
    if name == "test_time":
        parse_time(value, what=f"{where}/{name}")
    return value


def _settings(row: JsonObject, where: str) -> dict[str, str]:
    settings = {}
    for name, value in row.items():
        if name in _NO_SETTINGS or name.startswith(_STATISTICS):
            continue
        if isinstance(value, (dict, list)):
            raise MalformedError("E_FIELD", f"the column {name} is not a plain value", where=f"{where}/{name}")
        settings[name] = plain_text(value)
    return settings


def _weights(row: JsonObject, where: str) -> JsonObject:
    weights: JsonObject = {
        "name": _text(row, "model_filename", where).replace("\\", "/").rpartition("/")[2],
        "type": _text(row, "model_type", where),
    }
    for theirs, ours in (("model_size", "size"), ("model_n_params", "params")):
        count = _count(row, theirs, where)
        if count:  # 0 is "not known"
            weights[ours] = count
    return weights


def _plain(value: object) -> object:
    """A reported value as the ledger keeps it: fractions stay text, as printed; so does what is no plain value."""
    if isinstance(value, list):
        return [str(item) if isinstance(item, NumberText | dict | list) else item for item in value]
    return str(value) if isinstance(value, NumberText | dict) else value


def _compare_reported(row: JsonObject, tokens: int, samples: list[int]) -> tuple[str, ...]:
    """What the tool printed, held against its own samples."""
    rates = [(2 * tokens * NS_PER_S * _FINE + sample) // (2 * sample) for sample in samples if sample]
    notes = ["F_N1: one sample, which has no deviation"] if len(samples) == 1 else []
    if rates and _differs(row.get("avg_ts"), Fraction(sum(rates), len(rates) * _FINE)):
        notes.append(f"F_REPORTED_MISMATCH: avg_ts {row['avg_ts']} is not the mean rate of samples_ns")
    if _differs(row.get("avg_ns"), Fraction(sum(samples), len(samples))):
        notes.append(f"F_REPORTED_MISMATCH: avg_ns {row['avg_ns']} is not the mean of samples_ns")
    return tuple(notes)


def _differs(printed: object, computed: Fraction) -> bool:
    if printed is None:
        return False
    number = printed_number(printed)
    if number is None:
        return True
    if isinstance(printed, int):  # a whole number may be cut off
        return abs(number - computed) >= 1
    return abs(number - computed) > computed * _PRINTED_TOLERANCE
