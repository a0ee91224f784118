"""Made-up records of AIPerf: one line per request."""

from __future__ import annotations

import json
from typing import Any

START = 1_800_000_000_123_456_789
"""When the first request began, in nanoseconds since 1970."""


def request(at: int = 0, **metrics: Any) -> dict[str, Any]:  # noqa: ANN401 - values of any kind, also wrong ones
    """A line; metrics are values, or none for an absent one."""
    values: dict[str, Any] = {
        "time_to_first_token": 100.5,
        "request_latency": 1100.5,
        "output_sequence_length": 101,
        "input_sequence_length": 40,
    } | metrics
    units = {"time_to_first_token": "ms", "request_latency": "ms", "inter_token_latency": "ms"}
    start = START + at * 2_000_000_000
    return {
        "metadata": {
            "benchmark_phase": "profiling",
            "request_start_ns": start,
            "request_end_ns": start + 1_101_000_000,
            "was_cancelled": False,
        },
        "metrics": {
            name: {"value": value, "unit": units.get(name, "tokens")}
            for name, value in values.items()
            if value is not None
        },
    }


def lines(*requests: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in requests)
