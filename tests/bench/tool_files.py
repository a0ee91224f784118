"""Generated files of llama-bench for the benchmarks: what ``-o json`` prints, all different, the same on every machine.

A file has two tests, a prompt and a generation, of five samples each, and all columns of a real one: about 2.5 kB.
Samples come from a generator with a fixed seed, so that no two files are copies of each other.
"""

from __future__ import annotations

import datetime as dt
import json
import random
import statistics
from typing import Any

from ledger.ingest.options import RoundOptions
from ledger.metrics import NS_PER_S
from tests.bench.rounds import NODE, SEED

PROMPT, GENERATION, SAMPLES = 512, 128, 5

OPTIONS = RoundOptions(
    tool="llama-bench",
    slot={"project": "demo", "node": NODE, "quant": "Q4_K_M", "context": str(PROMPT), "metric": "prefill_tok_s"},
    code={"main": "a" * 64},
    weights="b" * 64,
    harness="c" * 64,
)
"""What the files do not say."""

_SIZE, _PARAMETERS = 4_913_000_000, 8_030_000_000


def llama_file(number: int) -> bytes:
    """File `number`; its contents follow from it."""
    rng = random.Random(SEED + number)
    start = dt.datetime(2026, 11, 1, tzinfo=dt.UTC) + dt.timedelta(seconds=97 * number)
    tests = [_test(rng, PROMPT, 0, start), _test(rng, 0, GENERATION, start + dt.timedelta(seconds=11))]
    return json.dumps(tests, indent=2).encode()


def _test(rng: random.Random, prompt: int, gen: int, start: dt.datetime) -> dict[str, Any]:
    tokens, each_ns = prompt + gen, 250_000 if prompt else 14_000_000
    samples = [tokens * rng.randrange(each_ns, each_ns * 102 // 100) + rng.randrange(1000) for _ in range(SAMPLES)]
    rates = [tokens * NS_PER_S / sample for sample in samples]
    return {
        "build_commit": "b11434",
        "build_number": 11434,
        "cpu_info": "Intel(R) Xeon(R) Platinum 8480C",
        "gpu_info": "NVIDIA H200",
        "backends": "CUDA",
        "model_filename": "models/llama-8b-instruct-Q4_K_M.gguf",
        "model_type": "llama 8B Q4_K - Medium",
        "model_size": _SIZE,
        "model_n_params": _PARAMETERS,
        "n_batch": 2048,
        "n_ubatch": 512,
        "n_threads": 16,
        "cpu_mask": "0x0",
        "cpu_strict": False,
        "poll": 50,
        "type_k": "f16",
        "type_v": "f16",
        "n_gpu_layers": 99,
        "n_cpu_moe": 0,
        "split_mode": "layer",
        "main_gpu": 0,
        "no_kv_offload": False,
        "flash_attn": True,
        "devices": "auto",
        "tensor_split": "0.00",
        "tensor_buft_overrides": "none",
        "use_mmap": True,
        "embeddings": False,
        "no_op_offload": 0,
        "n_prompt": prompt,
        "n_gen": gen,
        "n_depth": 0,
        "test_time": start.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "avg_ns": sum(samples) // SAMPLES,
        "stddev_ns": round(statistics.stdev(samples)),
        "avg_ts": round(statistics.fmean(rates), 6),
        "stddev_ts": round(statistics.stdev(rates), 6),
        "samples_ns": samples,
        "samples_ts": [float(f"{rate:.6g}") for rate in rates],
    }
