"""Made-up output of tools that load a server, and what a round of it measures."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ledger.ingest import recognise
from ledger.ingest.build import build_round
from ledger.ingest.options import RoundOptions
from ledger.ingest.run import Run
from ledger.kinds import check_body
from ledger.schema import validate
from ledger.scoring.facts import round_facts

if TYPE_CHECKING:
    from collections.abc import Collection

    from ledger.ingest.adapter import Row
    from ledger.scoring.facts import ArmFact

DIGEST = "0" * 64


def dump(*lines: object) -> bytes:
    """Values as a tool appends them to a file, one a line."""
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def edited(value: dict[str, Any], path: str, new: object) -> dict[str, Any]:
    """A copy with another value at a path of names joined with ``/``; ``...`` takes the member out."""
    copy: dict[str, Any] = json.loads(json.dumps(value))
    *steps, last = path.split("/")
    inner: Any = copy
    for step in steps:
        inner = inner[int(step) if isinstance(inner, list) else step]
    if new is ...:
        del inner[last]
    else:
        inner[int(last) if isinstance(inner, list) else last] = new
    return copy


def codes(row: Row) -> list[str]:
    """Codes of what is noted about a row, in their order."""
    return [note.partition(":")[0] for note in row.notes]


def facts(raw: bytes, metric: str, context: int, rows: Collection[int] = (), **given: Any) -> list[ArmFact]:  # noqa: ANN401 - options of any kind
    """The facts of a round of some rows of a file (of all, by default) in a slot, checked as a receipt is."""
    adapter = recognise(raw, "run")
    run = Run(role="main", name="run", raw=raw, rows=adapter.read(raw, "run"))
    settings: dict[str, Any] = {
        "environment": {"gpu": "H200"},
        "commits": {"main": "abc1234"},
        "started_at": {"main": ["2026-11-29T20:00:00Z"]},
    }
    options = RoundOptions(
        tool=adapter.name,
        slot={"project": "p", "node": "n", "quant": "q", "context": str(context), "metric": metric},
        code={"main": DIGEST},
        weights=DIGEST,
        harness=DIGEST,
        **settings | given,
    )
    body = build_round([run.select(rows) if rows else run], options).body
    validate("round-input", body)
    check_body("round", body)
    return round_facts(body)


def sglang_run(**members: object) -> dict[str, Any]:
    """A line of SGLang's ``bench_serving``: ten prompts of 500 tokens, ten answers of 200, in 20 s."""
    return {
        "backend": "sglang",
        "dataset_name": "random",
        "request_rate": 4.0,
        "max_concurrency": 8,
        "sharegpt_output_len": None,
        "random_input_len": 500,
        "random_output_len": 200,
        "random_range_ratio": 1.0,
        "duration": 20.0,
        "completed": 10,
        "total_input_tokens": 5000,
        "total_output_tokens": 2000,
        "total_output_tokens_retokenized": 2000,
        "output_throughput": 100.0,
        **members,
    }


def sglang_detailed(**members: object) -> dict[str, Any]:
    """The same with details of two requests: 500 tokens each, then 0.1 s and 4 gaps of 10 ms."""
    details: dict[str, Any] = {
        "duration": 1.0,
        "completed": 2,
        "total_input_tokens": 1000,
        "total_output_tokens": 10,
        "total_output_tokens_retokenized": 10,
        "output_throughput": 10.0,
        "input_lens": [500, 500],
        "output_lens": [5, 5],
        "ttfts": [0.1, 0.1],
        "itls": [[0.01] * 4, [0.01] * 4],
        "generated_texts": ["a\rb", "\x1b[0m"],
        "errors": ["", ""],
    }
    return sglang_run(**details | members)


def one_batch(**members: object) -> dict[str, Any]:
    """A line of SGLang's ``bench_one_batch``: a prefill of 1 s, then 100 steps of 20 ms."""
    return {
        "run_name": "default",
        "batch_size": 1,
        "input_len": 1000,
        "output_len": 101,
        "prefill_latency": 1.0,
        "prefill_throughput": 1000.0,
        "median_decode_latency": 0.02,
        "median_decode_throughput": 50.0,
        "total_latency": 3.0,
        "overall_throughput": 367.0,
        **members,
    }


def _spread(middle: float) -> dict[str, float]:
    return {"p50": middle, "minimum": middle, "maximum": middle, "average": middle}


def trtllm_report() -> dict[str, Any]:
    """A report of ``trtllm-bench``: four requests of 64 and 101 tokens, one after the other, 2.5 s each."""
    return {
        "engine": {
            "model": "maker/model",
            "engine_dir": "None",
            "revision": None,
            "version": "9.9",
            "backend": "Pytorch",
            "dtype": "bfloat16",
            "quantization": "W4",
        },
        "machine": {"name": "GPU 9000", "memory.total": 31.5, "clocks.sm": 2.1, "clocks.mem": 14.0},
        "world_info": {"tp_size": 2, "ep_size": None, "world_size": 2, "max_batch_size": 1, "issue_rate": 1.5e18},
        "request_info": {
            "num_requests": 4,
            "avg_num_concurrent_requests": 1.0,
            "avg_input_length": 64.0,
            "avg_output_length": 101.0,
        },
        "performance": {
            "total_latency_ms": 10000.0,
            "avg_request_latency_ms": 2500.0,
            "request_throughput_req_s": 0.4,
            "system_output_throughput_tok_s": 40.4,
            "system_total_throughput_tok_s": 66.0,
            "output_throughput_per_gpu_tok_s": 20.2,
            "request_latency_percentiles_ms": _spread(2500.0),
        },
        "energy": {"total_energy_j": 1000.5},
        "streaming_metrics": {
            "token_output_speed_tok_s": 50.0,
            "avg_ttft_ms": 500.0,
            "avg_tpot_ms": 20.0,
            "ttft_percentiles": _spread(500.0),
            "gen_tps_percentiles": _spread(50.0),
        },
        "dataset": {
            "isl_stats": _spread(64.0),
            "osl_stats": _spread(101.0),
            "seq_len_stats": _spread(165.0),
            "num_requests": 4,
            "dataset_path": "/data/sets/four.json",
            "max_isl": 64,
        },
    }


def _block(unit: str, **statistics: float) -> dict[str, object]:
    return {"unit": unit, **statistics}


def aiperf_summary() -> dict[str, Any]:
    """AIPerf's summary: 20 prompts of 300 tokens, 20 answers of 101, in 10 s; 100 ms, then 100 gaps of 10 ms."""
    return {
        "schema_version": "1.3",
        "aiperf_version": "9.9.0",
        "request_throughput": _block("requests/sec", avg=2.0),
        "request_latency": _block("ms", avg=1100.0, p50=1100.0, max=1100.0, sum=22000.0, count=20),
        "request_count": _block("requests", avg=20.0),
        "time_to_first_token": _block("ms", avg=100.0, p50=100.0, max=100.0, sum=2000.0, count=20),
        "inter_token_latency": _block("ms", avg=10.0, p50=10.0, sum=200.0, count=20),
        "output_token_throughput": _block("tokens/sec", avg=202.0),
        "output_token_throughput_per_user": _block("tokens/sec/user", avg=100.0),
        "inter_chunk_latency": _block("ms", avg=10.0, sum=20000.0, count=2000),
        "total_token_throughput": _block("tokens/sec", avg=802.0),
        "benchmark_duration": _block("sec", avg=10.0),
        "total_isl": _block("tokens", avg=6000.0),
        "total_osl": _block("tokens", avg=2020.0),
        "osl_mismatch_diff_pct": _block("%", avg=-2.0),
        "input_config": {
            "models": {"items": [{"name": "maker/model"}]},
            "endpoint": {"urls": ["http://here:1"], "streaming": True, "api_key": "k", "timeout": 0, "type": "chat"},
            "datasets": [{"name": "main", "entries": 20, "ranges": [1, 2.5]}],
            "phases": [{"name": "warmup", "concurrency": 2}, {"name": "profiling", "concurrency": 4}],
            "tokenizer": {"name": "maker/model", "revision": None},
        },
        "run_info": {"random_seed": 7, "cli_command": "aiperf profile"},
        "was_cancelled": False,
        "error_summary": [],
        "start_time": "2026-11-29T22:00:00.215046",
    }
