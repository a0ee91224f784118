"""A made-up row of llama-bench, small and sound."""

from __future__ import annotations

from typing import Any

ROW: dict[str, Any] = {
    "build_commit": "abc1234",
    "build_number": 7,
    "cpu_info": "a cpu",
    "gpu_info": "",
    "backends": "CPU",
    "model_filename": "models/tiny.gguf",
    "model_type": "llama 1B F32",
    "model_size": 4000,
    "model_n_params": 1000,
    "n_threads": 4,
    "n_prompt": 512,
    "n_gen": 0,
    "n_depth": 0,
    "test_time": "2026-11-29T20:00:00Z",
    "samples_ns": [1000, 2000, 4000],
}
