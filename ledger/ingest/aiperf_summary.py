"""AIPerf's summary, ``profile_export_aiperf.json``, and the older form that wraps the same blocks in ``records``.

A block is one metric: its unit, and statistics over requests that stand in another file (`ledger.ingest.aiperf`). The
tokens of all requests over the time that they took together is the only raw sample. Two figures of one thing stand
side by side: tokens per second and user is the mean of the requests' rates, the latency between tokens the mean of
what these are reciprocals of. The reciprocal of a mean is not the mean of reciprocals, so neither is a fact here.

Source: ``JsonExportData`` in github.com/ai-dynamo/aiperf, which keeps the form of GenAI-Perf.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from ledger.errors import MalformedError
from ledger.ingest.adapter import Row
from ledger.ingest.aiperf_config import read_settings, read_start, read_weights, read_workload
from ledger.ingest.direction import read_tool_json
from ledger.ingest.fields import UNITS, Fields, as_printed
from ledger.ingest.printed import find_mismatches, is_first_token_cold, mean_rate_notes
from ledger.ingest.values import as_object, printed_number
from ledger.metrics import NS_PER_MS, NS_PER_S

if TYPE_CHECKING:
    from ledger.canonical import JsonObject

_KEPT = ("avg", "p50", "p99", "max", "sum", "count")
_MOST_MISSED = 2  # percent of the asked length
_TOKENS = {"prompt_tokens": "total_isl", "completion_tokens": "total_osl"}


class AiperfSummary:
    """The adapter (see `ledger.ingest.adapter.Adapter`)."""

    name = "aiperf-summary"
    about = "AIPerf profile_export_aiperf.json, or GenAI-Perf's, the totals of a run"

    def recognises(self, raw: bytes) -> bool:
        """See `Adapter`. Its records of requests have a phase each, and no throughput of requests."""
        parts = (b'"request_throughput"', b'"request_latency"', b'"unit"')
        return raw.lstrip()[:1] == b"{" and all(part in raw for part in parts) and b'"benchmark_phase"' not in raw

    def read(self, raw: bytes, what: str) -> list[Row]:
        """See `Adapter`. A summary is one row."""
        document = Fields(values=as_object(read_tool_json(raw, what), what), where=what)
        return [_read_row(document, document.inner("records") if document.has("records") else document)]


def _read_row(document: Fields, blocks: Fields) -> Row:
    failed = _count_failed(document, blocks)
    answered = _count(blocks, "request_count") or 0
    if failed and not answered:
        raise MalformedError("E_ALL_FAILED", f"all {failed} requests failed", where=document.at("error_summary"))
    wall = _total(blocks, "benchmark_duration")
    tokens = {ours: _total(blocks, theirs) for ours, theirs in _TOKENS.items()}
    if not answered:
        raise MalformedError("E_EMPTY_RESULTS", "no request was counted", where=blocks.at("request_count"))
    config, run = document.inner("input_config"), document.inner("run_info")
    started_at, local = read_start(document)
    return Row(
        number=0,
        metrics=("output_tok_s",),
        context=round(Fraction(tokens["prompt_tokens"], answered)),
        workload=read_workload(config, run),
        records={name: [count] for name, count in tokens.items()} | {"wall_ns": [wall]},
        wall_ns=wall,
        started_at=started_at,
        reported=_reported(blocks),
        settings=read_settings(config),
        environment={},
        weights=read_weights(config),
        harness={"name": "aiperf"}
        | ({"version": document.text("aiperf_version")} if document.has("aiperf_version") else {}),
        commit=None,
        notes=(*_notes(document, blocks, answered, failed, local=local), *find_mismatches(blocks, _exact(blocks))),
        mean_context=True,
    )


# A block, and one statistic of it.


def _statistic(blocks: Fields, name: str, statistic: str = "avg") -> Fraction | None:
    """A statistic as printed; none where the block or the statistic is absent."""
    block = blocks.inner(name)
    return block.number(statistic) if block.has(statistic) else None


def _count(blocks: Fields, name: str, statistic: str = "avg") -> int | None:
    block = blocks.inner(name)
    return block.count(statistic) if block.has(statistic) else None


def _time_ms(blocks: Fields, name: str, statistic: str) -> Fraction | None:
    """A statistic of a time in milliseconds, whatever its unit."""
    number = _statistic(blocks, name, statistic)
    return None if number is None else number * UNITS[blocks.inner(name).unit()] / NS_PER_MS


def _total(blocks: Fields, name: str) -> int:
    """A total of the run, above 0: whole nanoseconds of a duration, or tokens."""
    block = blocks.inner(name)
    if not block.has("avg"):
        raise MalformedError("E_NO_SAMPLES", f"statistics of requests without {name}", where=blocks.at(name))
    if name == "benchmark_duration":
        return block.duration("avg", block.unit())
    total = block.count("avg")
    if not total:
        raise MalformedError("E_NO_SAMPLES", f"{name} is 0: nothing was measured", where=block.at("avg"))
    return total


def _reported(blocks: Fields) -> JsonObject:
    """The middle, the ends and the sums of every block, as printed."""
    return {
        f"{name}.{statistic}": as_printed(value)
        for name, block in blocks.values.items()
        if isinstance(block, dict) and "unit" in block
        for statistic in _KEPT
        if not isinstance(value := block.get(statistic), dict | list | None)
    }


# What deserves a look.


def _count_failed(document: Fields, blocks: Fields) -> int:
    """Requests that gave an error: counted by kind, and as a metric."""
    counted = _count(blocks, "error_request_count") or 0
    summary = document.entries("error_summary") if document.has("error_summary") else []
    kinds = [
        Fields(
            values=as_object(kind, f"{document.at('error_summary')}/{at}"), where=f"{document.where}/error_summary/{at}"
        )
        for at, kind in enumerate(summary)
    ]
    return max(counted, sum(kind.count("count") for kind in kinds))


def _notes(document: Fields, blocks: Fields, answered: int, failed: int, *, local: bool) -> list[str]:
    between = _between_ms(blocks)
    missed = blocks.inner("osl_mismatch_diff_pct").values.get("avg")
    gaps, written = _count(blocks, "inter_chunk_latency", "count"), _count(blocks, "total_osl")
    cached = _statistic(blocks, "usage_prompt_cache_read_tokens")
    found = {
        "F_TOTALS_ONLY: no latency of a request can be worked out; its records are profile_export.jsonl": True,
        f"F_REQUESTS_FAILED: {failed} of {failed + answered} requests failed": failed > 0,
        "F_CANCELLED: the run was cancelled before its end": document.values.get("was_cancelled") is True,
        "F_TZ_MISSING: start_time is a local time without a zone": local,
        "F_COLD_FIRST: the highest time to a first token is more than ten times the median": is_first_token_cold(
            *(_time_ms(blocks, "time_to_first_token", statistic) for statistic in ("max", "p50"))
        ),
        f"F_OUTPUT_LENGTH: answers are on average {missed} % off the length that was asked for": _is_missed(blocks),
        f"F_CHUNKED: {written} tokens came in {(gaps or 0) + answered} pieces": (
            gaps is not None and gaps + answered != written
        ),
        "F_PREFIX_CACHE: a cache supplied tokens of prompts": bool(cached),
    }
    user = blocks.inner("output_token_throughput_per_user").values.get("avg")
    rates = mean_rate_notes("output_token_throughput_per_user.avg", user, 1000 / between) if between else []
    return [note for note, holds in found.items() if holds] + rates


def _is_missed(blocks: Fields) -> bool:
    """Whether answers are on average more than 2 % shorter or longer than asked for."""
    percent = printed_number(blocks.inner("osl_mismatch_diff_pct").values.get("avg"))
    return percent is not None and abs(percent) > _MOST_MISSED


def _between_ms(blocks: Fields) -> Fraction | None:
    """Mean of the latency between tokens, where it is above 0."""
    return _time_ms(blocks, "inter_token_latency", "avg") or None


def _exact(blocks: Fields) -> dict[str, Fraction]:
    """What the tool prints of a run, from its totals and from sums over its requests."""
    duration = blocks.inner("benchmark_duration")
    seconds = duration.number("avg") * UNITS[duration.unit()] / NS_PER_S
    prompt, written = (blocks.inner(name).number("avg") for name in _TOKENS.values())
    exact = {
        "output_token_throughput.avg": written / seconds,
        "total_token_throughput.avg": (prompt + written) / seconds,
        "request_throughput.avg": blocks.inner("request_count").number("avg") / seconds,
    }
    end, first = (_time_ms(blocks, name, "sum") for name in ("request_latency", "time_to_first_token"))
    if end is not None and first is not None and blocks.inner("inter_chunk_latency").has("sum"):
        exact["inter_chunk_latency.sum"] = (end - first) * NS_PER_MS / UNITS[blocks.inner("inter_chunk_latency").unit()]
    return exact
