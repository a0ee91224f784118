"""Made-up files of tools that time commands and functions: small, sound, and easily made unsound."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

HYPERFINE: dict[str, Any] = {
    "results": [
        {
            "command": "sort big.txt",
            "mean": 0.3,
            "stddev": 0.1,
            "median": 0.3,
            "user": 0.25,
            "system": 0.05,
            "min": 0.2,
            "max": 0.4,
            "times": [0.3, 0.2, 0.4],
            "memory_usage_byte": [4096, 4096, 8192],
            "exit_codes": [0, 0, 0],
            "parameters": {"threads": "4"},
        }
    ]
}

PYTEST: dict[str, Any] = {
    "machine_info": {
        "node": "box",
        "processor": "",
        "machine": "x86_64",
        "python_implementation": "CPython",
        "python_version": "3.12.1",
        "python_build": ["main", "Jan  1 2027"],
        "release": "6.1.0",
        "system": "Linux",
        "cpu": {"brand_raw": "a cpu", "count": 8, "hz_actual_friendly": "3.0123 GHz"},
    },
    "commit_info": {"id": "abc1234", "time": "2027-01-01T00:00:00+00:00", "dirty": False, "branch": "main"},
    "benchmarks": [
        {
            "group": None,
            "name": "test_sum[8]",
            "fullname": "bench.py::test_sum[8]",
            "params": {"size": 8, "shape": [2, 4]},
            "param": "8",
            "extra_info": {"bytes": 4096, "backend": "native", "pinned": True},
            "options": {"disable_gc": False, "timer": "perf_counter", "min_rounds": 5, "warmup": False},
            "stats": {
                "min": 2e-06,
                "max": 4e-06,
                "mean": 3e-06,
                "stddev": 1e-06,
                "rounds": 3,
                "median": 3e-06,
                "iqr": 1.5e-06,
                "q1": 2.25e-06,
                "q3": 3.75e-06,
                "outliers": "1;0",
                "ops": 333333.3333333333,
                "total": 9e-06,
                "iterations": 10,
                "data": [3e-06, 2e-06, 4e-06],
            },
        }
    ],
    "datetime": "2027-01-15T08:00:00.123456+00:00",
    "version": "5.1.0",
}

GOOGLE: dict[str, Any] = {
    "context": {
        "date": "2027-01-15T10:00:00+02:00",
        "host_name": "box",
        "executable": "/somewhere/build/bench",
        "num_cpus": 4,
        "mhz_per_cpu": 3000,
        "cpu_scaling_enabled": False,
        "caches": [{"type": "Data", "level": 1, "size": 32768, "num_sharing": 1}],
        "load_avg": [0.5, 0.25],
        "library_version": "v1.9.0",
        "library_build_type": "release",
        "json_schema_version": 1,
    },
    "benchmarks": [
        *(
            {
                "name": "BM_sum/8",
                "family_index": 0,
                "per_family_instance_index": 0,
                "run_name": "BM_sum/8",
                "run_type": "iteration",
                "repetitions": 3,
                "repetition_index": at,
                "threads": 1,
                "iterations": 1000,
                "real_time": real,
                "cpu_time": 2.0,
                "time_unit": "ns",
                "items_per_second": 1e9,
                "label": "native",
            }
            for at, real in enumerate([3.5, 2.5, 4.5])
        ),
        *(
            {
                "name": f"BM_sum/8_{name}",
                "run_name": "BM_sum/8",
                "run_type": "aggregate",
                "repetitions": 3,
                "threads": 1,
                "aggregate_name": name,
                "aggregate_unit": "time",
                "iterations": 3,
                "real_time": real,
                "cpu_time": 2.0,
                "time_unit": "ns",
            }
            for name, real in (("mean", 3.5), ("median", 3.5), ("stddev", 1.0), ("cv", 0.2857))
        ),
    ],
}

ASV: dict[str, Any] = {
    "commit_hash": "abc1234",
    "env_name": "venv-py3.12",
    "date": 1_800_000_000_000,
    "params": {
        "arch": "x86_64",
        "cpu": "a cpu",
        "machine": "box",
        "num_cpu": "8",
        "os": "Linux 6.1",
        "ram": "16384",
        "python": "3.12",
        "numpy": "2.0",
    },
    "python": "3.12",
    "requirements": {"numpy": "2.0"},
    "env_vars": {"THREADS": "1"},
    "result_columns": [
        "result",
        "params",
        "version",
        "started_at",
        "duration",
        "stats_ci_99_a",
        "stats_ci_99_b",
        "stats_q_25",
        "stats_q_75",
        "stats_number",
        "stats_repeat",
        "samples",
        "profile",
    ],
    "results": {
        "bench.time_sum": [
            [3e-06, 4.5e-06],
            [["8", "16"]],
            "f00d",
            1_800_000_000_123,
            1.5,
            [1e-06, 2e-06],
            [9e-06, 9e-06],
            [2.5e-06, 4.25e-06],
            [3.5e-06, 4.75e-06],
            [10, 20],
            [3, 2],
            [[3e-06, 2e-06, 4e-06], [4e-06, 5e-06]],
        ]
    },
    "durations": {"<build>": 12.5},
    "version": 2,
}

SAMPLES = {"hyperfine": HYPERFINE, "pytest-benchmark": PYTEST, "google-benchmark": GOOGLE, "asv": ASV}
"""A sound document of each tool, by the name of its adapter."""


def raw(document: object) -> bytes:
    """As a tool writes it; ``NaN`` and ``Infinity`` bare."""
    return json.dumps(document).encode()


def changed(document: dict[str, Any], path: str, value: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON value
    """A copy with another value at a path of steps joined with ``/``; ``...`` removes it."""
    copy = deepcopy(document)
    *steps, last = path.split("/")
    parent: Any = copy
    for step in steps:
        parent = parent[int(step) if isinstance(parent, list) else step]
    key = int(last) if isinstance(parent, list) else last
    if value is ...:
        del parent[key]
    elif isinstance(parent, list) and key == len(parent):
        parent.append(value)
    else:
        parent[key] = value
    return copy
