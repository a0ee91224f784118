"""Made-up files of a given size in which nearly every byte is data: as many samples, requests or rows as fit."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from tests.support import aiperf, serving, tandem, timed, vllm

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Json = dict[str, Any]


def _times(size: int, each: int) -> list[float]:
    """Seconds, all different, that take about `size` bytes at `each` bytes a number."""
    return [round(0.5 + at * 1e-8, 8) for at in range(size // each)]


def _llama_row(samples: list[int], number: int = 0) -> Json:
    return {
        "build_commit": "abc1234",
        "build_number": 1,
        "model_filename": "m.gguf",
        "model_type": "llama 1B Q4_0",
        "model_size": 700_000_000,
        "model_n_params": 1_200_000_000,
        "n_batch": 2048,
        "n_prompt": 512,
        "n_gen": 0,
        "n_depth": number,
        "test_time": "2026-11-29T20:00:00Z",
        "avg_ns": sum(samples) // len(samples),
        "avg_ts": 4096.0,
        "samples_ns": samples,
    }


def _llama_samples(size: int) -> bytes:
    return json.dumps([_llama_row([125_000_000 + 7 * at for at in range(size // 11)])]).encode()


def _llama_rows(size: int) -> bytes:
    rows = [_llama_row([125_000_000 + at, 125_100_000 + at, 125_200_000 + at], at) for at in range(size // 330)]
    return json.dumps(rows).encode()


def _aiperf(size: int) -> bytes:
    one = len(aiperf.lines(aiperf.request()))
    return aiperf.lines(*(aiperf.request(at, request_latency=1100.5 + at / 1000) for at in range(size // (one + 6))))


def _vllm_serve(size: int) -> bytes:
    requests = [
        vllm.request(output_len=101, ttft=0.1 + at / 10**6, itl=[0.01 + at / 10**7] * 100) for at in range(size // 1250)
    ]
    return json.dumps(vllm.detailed(*requests)).encode()


def _vllm_latency(size: int) -> bytes:
    return vllm.as_json(vllm.latency(latencies=[], percentiles={})).replace(b"[]", _list(_times(size, 12)))


def _list(values: list[float]) -> bytes:
    return json.dumps(values).encode()


def _sglang_serving(size: int) -> bytes:
    count = size // 1250
    lists = {
        "input_lens": [500] * count,
        "output_lens": [101] * count,
        "ttfts": [0.1 + at / 10**6 for at in range(count)],
        "itls": [[0.01 + at / 10**7] * 100 for at in range(count)],
        "generated_texts": ["a"] * count,
        "errors": [""] * count,
    }
    totals = {"completed": count, "total_input_tokens": 500 * count, "total_output_tokens": 101 * count}
    return serving.dump(serving.sglang_detailed(**lists, **totals, total_output_tokens_retokenized=101 * count))


def _sglang_one_batch(size: int) -> bytes:
    lines = [serving.one_batch(prefill_latency=1 + at / 10**6) for at in range(size // 290)]
    return serving.dump(*lines)


def _hyperfine(size: int) -> bytes:
    document = deepcopy(timed.SAMPLES["hyperfine"])
    result = document["results"][0]
    times = _times(size, 15)
    result |= {"times": times, "exit_codes": [0] * len(times), "memory_usage_byte": []}
    return json.dumps(document).encode()


def _pytest_benchmark(size: int) -> bytes:
    document = deepcopy(timed.SAMPLES["pytest-benchmark"])
    stats = document["benchmarks"][0]["stats"]
    stats["data"] = _times(size, 12)
    stats["rounds"] = len(stats["data"])
    return json.dumps(document).encode()


def _google_benchmark(size: int) -> bytes:
    document = deepcopy(timed.SAMPLES["google-benchmark"])
    one = document["benchmarks"][0]
    count = size // (len(json.dumps(one)) + 10)
    document["benchmarks"] = [
        one | {"repetition_index": at, "repetitions": count, "real_time": 3.5 + at / 10**6} for at in range(count)
    ]
    return json.dumps(document).encode()


def _asv(size: int) -> bytes:
    document = deepcopy(timed.SAMPLES["asv"])
    document["results"]["bench.time_sum"][-1][0] = _times(size, 12)
    return json.dumps(document).encode()


def _tandem_record(size: int) -> bytes:
    one = len(json.dumps(tandem.request(10_000)))
    return tandem.encode(tandem.record(*(tandem.request(at) for at in range(size // (one + 4)))))


def _tandem_block_ab(size: int) -> bytes:
    order = [(state, workload) for state in ("base", "cand") for workload in ("prose", "chat")]
    one = len(json.dumps(tandem.block_run(0, "base", "prose"))) + 8
    runs = [tandem.block_run(at // 4, *order[at % 4]) for at in range(size // one // 4 * 4)]
    return tandem.encode(tandem.block_ab(runs, pairs=len(runs) // 4, verdicts={}))


def _tandem_forced(size: int) -> bytes:
    one = len(json.dumps(tandem.forced_row("a", "prose", 1000))) + 4
    return tandem.encode(tandem.forced(*(tandem.forced_row("a", "prose", at) for at in range(size // one))))


def _aiperf_summary(size: int) -> bytes:
    return serving.dump(serving.aiperf_summary() | {"input_config": _settings(size)})


def _trtllm_bench(size: int) -> bytes:
    report = serving.trtllm_report()
    report["engine"] |= _settings(size)
    return serving.dump(report)


def _vllm_throughput(size: int) -> bytes:
    return vllm.as_json(vllm.throughput(**_settings(size)))


def _settings(size: int) -> Json:
    return {f"option_{at:06}": at for at in range(size // 26)}


DENSE: Mapping[str, tuple[str, Callable[[int], bytes]]] = {
    "llama-bench, samples": ("llama-bench", _llama_samples),
    "llama-bench, rows": ("llama-bench", _llama_rows),
    "aiperf": ("aiperf", _aiperf),
    "aiperf-summary": ("aiperf-summary", _aiperf_summary),
    "asv": ("asv", _asv),
    "google-benchmark": ("google-benchmark", _google_benchmark),
    "hyperfine": ("hyperfine", _hyperfine),
    "pytest-benchmark": ("pytest-benchmark", _pytest_benchmark),
    "sglang-one-batch": ("sglang-one-batch", _sglang_one_batch),
    "sglang-serving": ("sglang-serving", _sglang_serving),
    "tandem-block-ab": ("tandem-block-ab", _tandem_block_ab),
    "tandem-forced": ("tandem-forced", _tandem_forced),
    "tandem-record": ("tandem-record", _tandem_record),
    "trtllm-bench": ("trtllm-bench", _trtllm_bench),
    "vllm-latency": ("vllm-latency", _vllm_latency),
    "vllm-serve": ("vllm-serve", _vllm_serve),
    "vllm-throughput": ("vllm-throughput", _vllm_throughput),
}
"""Adapter, and what makes a file of about so many bytes, by what it is dense of."""
