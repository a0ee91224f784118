"""TensorRT-LLM ``trtllm-bench --report_json``: one run, in totals.

The report has no place for requests. The tokens of all of them over the time from the first start to the last end is
its only raw sample. Rates of a request are of pieces that arrive bunched, up to a hundred times what the whole request
allows, so they are reported and never used. How fast requests were issued is measured too, and no setting.

Source: ``ReportUtility.get_statistics_dict`` in tensorrt_llm/bench of github.com/NVIDIA/TensorRT-LLM.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from ledger.canonical import MAX_INT
from ledger.ingest.adapter import Row
from ledger.ingest.direction import read_tool_json
from ledger.ingest.fields import Fields, as_printed, plain_text
from ledger.ingest.printed import find_mismatches, is_first_token_cold, mean_rate_notes
from ledger.ingest.values import as_object, printed_number

if TYPE_CHECKING:
    from ledger.canonical import JsonObject

_MS = 1000
# Pieces that arrive together give rates that no request can have had.
_IMPOSSIBLE = 100
# A mean went through a double, so that the sum is whole only within its digits.
_WHOLE = Fraction(1, 10**13)
_MEASURED = ("request_info", "performance", "energy", "streaming_metrics")
_LENGTHS = {"prompt_tokens": "isl_stats", "gen_tokens": "osl_stats"}


class TrtllmBench:
    """The adapter (see `ledger.ingest.adapter.Adapter`)."""

    name = "trtllm-bench"
    about = "trtllm-bench --report_json"

    def recognises(self, raw: bytes) -> bool:
        """See `Adapter`."""
        parts = (b'"world_info"', b'"request_info"', b'"performance"')
        return raw.lstrip()[:1] == b"{" and all(part in raw for part in parts)

    def read(self, raw: bytes, what: str) -> list[Row]:
        """See `Adapter`. The report is one row."""
        return [_read_row(Fields(values=as_object(read_tool_json(raw, what), what), where=what))]


def _read_row(report: Fields) -> Row:
    info, speed = report.inner("request_info"), report.inner("performance")
    wall = speed.duration("total_latency_ms", "ms")
    tokens = _total(info, "avg_output_length")
    workload = _workload(report.inner("dataset"))
    return Row(
        number=0,
        metrics=("output_tok_s",),
        context=round(info.number("avg_input_length")),
        workload=workload,
        records={
            "completion_tokens": [tokens],
            "prompt_tokens": [_total(info, "avg_input_length")],
            "wall_ns": [wall],
        },
        wall_ns=wall,
        started_at="",
        reported=_reported(report),
        settings=_settings(report),
        environment=_environment(report),
        weights=_weights(report.inner("engine")),
        harness=_harness(report.inner("engine")),
        commit=None,
        notes=tuple(_notes(report)),
        mean_context="prompt_tokens" not in workload,
    )


def _total(info: Fields, name: str) -> int:
    """Tokens of all requests, from their mean."""
    total = info.count("num_requests") * info.number(name)
    if not total:
        raise info.refusal(name if info.count("num_requests") else "num_requests", "a number above 0")
    if total > MAX_INT or abs(total - round(total)) > total * _WHOLE:
        raise info.refusal(name, "a mean of whole numbers of tokens")
    return round(total)


def _workload(dataset: Fields) -> JsonObject:
    """What was asked for: lengths, where all requests have the same."""
    workload: JsonObject = {}
    for ours, theirs in _LENGTHS.items():
        lengths = dataset.inner(theirs)
        if lengths.has("minimum") and lengths.count("minimum") == lengths.count("maximum"):
            workload[ours] = lengths.count("minimum")
    if dataset.has("dataset_path"):
        workload["dataset"] = dataset.text("dataset_path").replace("\\", "/").rpartition("/")[2]
    return workload


def _settings(report: Fields) -> dict[str, str]:
    """Everything but what was measured, under names with dots. The number of requests is a part of it."""
    settings = {"request_info.num_requests": str(report.inner("request_info").count("num_requests"))}
    settings |= report.settings({*_MEASURED, "machine", "engine", "world_info", "dataset", "decoding_stats"})
    left_out = {"world_info": {"issue_rate"}, "dataset": {*_LENGTHS.values(), "seq_len_stats"}}
    for part in ("engine", "world_info", "dataset"):
        members = report.inner(part).settings(left_out.get(part, ()))
        settings |= {f"{part}.{name}": text for name, text in members.items()}
    decoding = report.inner("decoding_stats")
    return settings | ({"decoding_stats.mode": decoding.text("mode")} if decoding.has("mode") else {})


def _environment(report: Fields) -> JsonObject:
    machine, world = report.inner("machine"), report.inner("world_info")
    environment: JsonObject = {"gpu": machine.text("name")} if machine.has("name") else {}
    if world.has("world_size"):
        environment["gpus"] = world.count("world_size")
    facts = {name: text for name, text in machine.settings(("name",)).items() if text}
    clocks = [f"{name} {text}" for name, text in facts.items() if name.startswith("clocks.")]
    extra = {name: text for name, text in facts.items() if not name.startswith("clocks.")}
    environment |= {"clocks": ", ".join(clocks)} if clocks else {}
    return environment | ({"extra": extra} if extra else {})


def _weights(engine: Fields) -> JsonObject:
    names = {"name": "model", "type": "quantization" if engine.has("quantization") else "dtype"}
    return {ours: engine.text(theirs) for ours, theirs in names.items() if engine.has(theirs)}


def _harness(engine: Fields) -> JsonObject:
    """The tool comes with the package. An engine that was built before keeps the version that built it."""
    harness: JsonObject = {"name": "trtllm-bench"}
    own = engine.has("version") and plain_text(engine.values.get("backend")).lower() == "pytorch"
    return harness | ({"version": engine.text("version")} if own else {})


def _reported(report: Fields) -> JsonObject:
    """All that was measured, under names with dots."""
    found: JsonObject = {}
    stack = [(part, report.inner(part)) for part in (*_MEASURED, "decoding_stats")]
    while stack:
        path, fields = stack.pop(0)
        for name, value in fields.values.items():
            if isinstance(value, list):
                raise fields.refusal(name, "a plain value")
            if isinstance(value, dict):
                stack.append((f"{path}.{name}", fields.inner(name)))
            else:
                found[f"{path}.{name}"] = as_printed(value)
    rate = report.inner("world_info").values.get("issue_rate")
    return found if rate is None else found | {"world_info.issue_rate": plain_text(rate)}


def _notes(report: Fields) -> list[str]:
    stream = report.inner("streaming_metrics")
    firsts, rates = stream.inner("ttft_percentiles"), stream.inner("gen_tps_percentiles")
    notes = ["F_TOTALS_ONLY: no latency of a request can be worked out; the report has no place for them"]
    if report.inner("request_info").count("num_requests") == 1:
        notes.append("F_N1: one request, of which no deviation is known")
    highest, possible = printed_number(rates.values.get("maximum")), _fastest(report)
    if highest is not None and possible is not None and highest > _IMPOSSIBLE * possible:
        notes.append(f"F_RATE_IMPOSSIBLE: up to {round(highest)} tok/s; a whole request had {round(possible)} at most")
    if is_first_token_cold(printed_number(firsts.values.get("maximum")), printed_number(firsts.values.get("p50"))):
        notes.append("F_COLD_FIRST: the highest time to a first token is more than ten times the median")
    step, speed = _mean_step_ms(report), stream.values.get("token_output_speed_tok_s")
    if step is not None and step > 0:
        notes += mean_rate_notes("streaming_metrics.token_output_speed_tok_s", speed, _MS / step)
    return notes + find_mismatches(report, _exact(report))


def _fastest(report: Fields) -> Fraction | None:
    """Tokens of a request over the shortest whole time of one, per second."""
    shortest = report.inner("performance").inner("request_latency_percentiles_ms")
    if not shortest.has("minimum"):
        return None
    shortest.duration("minimum", "ms")  # above 0
    return _MS * report.inner("request_info").number("avg_output_length") / shortest.number("minimum")


def _exact(report: Fields) -> dict[str, Fraction]:
    """What the tool prints of a run, from its totals; of a stream only where all answers have one length."""
    info, speed, world = (report.inner(name) for name in ("request_info", "performance", "world_info"))
    requests, written = info.count("num_requests"), info.number("avg_output_length")
    seconds = speed.number("total_latency_ms") / _MS
    output = requests * written / seconds
    exact = {
        "performance.request_throughput_req_s": requests / seconds,
        "performance.system_output_throughput_tok_s": output,
        "performance.system_total_throughput_tok_s": output + requests * info.number("avg_input_length") / seconds,
    }
    if world.has("world_size") and world.count("world_size"):
        exact["performance.output_throughput_per_gpu_tok_s"] = output / world.count("world_size")
    if speed.has("avg_request_latency_ms"):
        exact["request_info.avg_num_concurrent_requests"] = (
            requests * speed.number("avg_request_latency_ms") / _MS / seconds
        )
    step = _mean_step_ms(report)
    return exact if step is None else exact | {"streaming_metrics.avg_tpot_ms": step}


def _mean_step_ms(report: Fields) -> Fraction | None:
    """Mean time of a token after the first; none where answers have several lengths, so that means do not tell it."""
    speed, stream = report.inner("performance"), report.inner("streaming_metrics")
    written = report.inner("request_info").number("avg_output_length")
    same_length = "gen_tokens" in _workload(report.inner("dataset"))
    if not (same_length and speed.has("avg_request_latency_ms") and stream.has("avg_ttft_ms") and written > 1):
        return None
    return (speed.number("avg_request_latency_ms") - stream.number("avg_ttft_ms")) / (written - 1)
