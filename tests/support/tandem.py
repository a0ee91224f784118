"""Made-up outputs of TandemLLM's tools: small records, logs, reports, a block A/B and a forced bench."""

from __future__ import annotations

import hashlib
import json
from statistics import median
from typing import Any

Json = dict[str, Any]

RATES = (40, 50, 64, 80)
"""Tokens a second of the measured requests of a record."""


def request(at: int = 0, **changes: Any) -> Json:  # noqa: ANN401 - values of any kind, also wrong ones
    """A measured request of 129 tokens, the first after 500 ms and the rest at a rate of `RATES`."""
    decode = 128_000 / RATES[at % 4]
    return {
        "id": f"i0-r{at:05}",
        "prompt_id": f"p-{at}",
        "warmup": False,
        "status": "ok",
        "ttft_ms": 500.0 + at,
        "e2e_ms": 500.0 + at + decode,
        "prompt_tokens": 200,
        "completion_tokens": 129,
        "token_source": "usage",
        "finish_reason": "stop",
        "error_category": None,
    } | changes


def warm_up(at: int = 0, **changes: Any) -> Json:  # noqa: ANN401 - as above
    """A warm-up of a prompt that is not measured."""
    own: Json = {"id": f"i0-w{at:05}", "prompt_id": f"w-{at}", "warmup": True, "e2e_ms": 4000.25}
    return request(at, **{**own, **changes})


def block(requests: list[Json], **changes: Any) -> Json:  # noqa: ANN401 - as above
    """What the runner prints of its measured requests, one after the other; a failed one takes a second."""
    own = [item for item in requests if not item["warmup"]]
    return {"duration_s": round(sum((item["e2e_ms"] or 1000) for item in own) / 1000, 3)} | changes


def record(*requests: Json, iterations: list[Json] | None = None, **members: Any) -> Json:  # noqa: ANN401 - as above
    """A record that holds together; four requests and a warm-up by default."""
    listed = list(requests) or [warm_up(), *(request(at) for at in range(4))]
    payload: Json = {
        "iterations": [block(listed)] if iterations is None else iterations,
        "selected_iteration": 0,
        "requests": listed,
    }
    found: Json = {
        "schema_version": 1,
        "workload_id": "made-up-row",
        "kind": "serving",
        "raw": {"harness": "atlas-bench", "harness_version": "0.1.0", "payload": payload, "truncated": False},
    } | members
    return seal(found)


def seal(found: Json) -> Json:
    """The record with the digest of its payload."""
    text = json.dumps(found["raw"]["payload"], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return found | {"raw": found["raw"] | {"sha256": hashlib.sha256(text.encode()).hexdigest()}}


def asked(**changes: Any) -> Json:  # noqa: ANN401 - as above
    """The workload of `record`, as a member of it."""
    params: Json = {"concurrency": 1, "num_requests": 4, "warmup_requests": 1, "temperature": 0, "seed": 42}
    return {"workload": {"id": "made-up-row", "resolved_params": params | changes}}


def named() -> Json:
    """Members of a record from which its three names follow, and the names."""
    found: Json = {
        "args_canonical": "@quant=q4;speculative=true",
        "args": {"speculative": True, "draft": [1, 2], "nothing": None, "ratio": 0.5},
        "env": {"ENGINE_GRAPH": "1"},
        "engine": {"id": "own", "version": "0.3.24", "commit": "abc1234", "container": "img", "build": None},
        "model": {"id": "org/model", "quant_id": "q4", "hf_id": "org/model", "dtype": "auto"},
        "hardware": {
            "id": "gb10",
            "count": 1,
            "driver": "580.1",
            "cuda": "13.0",
            "host": {"cpu": "A725", "cpu_cores": 20, "ram_gb": 119.5, "os": "Linux", "kernel": "6.17", "arch": "arm"},
            "fingerprint": "sha256:" + "ab" * 32,
        },
        "provenance": {"github_login": "me", "started_at": "2026-09-01T06:48:08Z"},
        "conditions": {"fan": "max"},
        "gotchas": [],
        "failures": [],
        "workload_id": "made-up-row",
    }
    found["config_id"] = _sha(found["args_canonical"])[:16]
    found["cell_id"] = _sha("org/model|q4|gb10|1|own|0.3")[:12]
    found["run_id"] = f"{found['config_id']}--made-up-row--{_sha('me|2026-09-01T06:48:08Z')[:6]}"
    return found


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def encode(found: Any) -> bytes:  # noqa: ANN401 - as above
    return json.dumps(found, ensure_ascii=False).encode()


# A report with its records and logs.


def run_record(number: int) -> Json:
    """A record of another run: every request a little later."""
    later = [
        request(at, ttft_ms=500.0 + at + number, e2e_ms=500.0 + at + number + 128_000 / RATES[at] + 8 * number)
        for at in range(4)
    ]
    return record(warm_up(e2e_ms=4000.25 + number) if number else warm_up(), *later)


def log_line(item: Json, blocks: int = 32, **changes: Any) -> str:  # noqa: ANN401 - as above
    """The line that the server writes about a request: 32 rounds, in all of which 4 tokens came."""
    values = {
        "prompt": item["prompt_tokens"],
        "completion": item["completion_tokens"],
        "blocks": blocks,
        "committed": item["completion_tokens"] - 1,
        "decode_ms": round(item["e2e_ms"] - item["ttft_ms"], 3),
        "accept": f"15:3x{blocks}",
        "end": "",
    } | changes
    rounds = " blocks={blocks} committed={committed} decode_ms={decode_ms} accept={accept}" if values["blocks"] else ""
    head = "[req] s-1 stream prompt={prompt} completion={completion} finish=stop 3700 ms 34.86 tok/s"
    return (head + rounds + "{end}").format(**values)


def log_of(found: Json) -> bytes:
    lines = ["server: up", *(log_line(item) for item in found["raw"]["payload"]["requests"])]
    return "\n".join(lines).encode() + b"\n"


def files_of(size: int = 3, folder: str = "base", first: int = 0) -> dict[str, bytes]:
    """The records and logs of a report, by the names that it gives them."""
    found = {}
    for number in range(size):
        made = run_record(first + number)
        found[f"{folder}/raw-{number + 1}/run.json"] = encode(made)
        found[f"{folder}/server-slice-{number + 1}.log"] = log_of(made)
    return found


def run_statistics(found: Json) -> Json:
    """The statistics of a run, in doubles, as the tool makes them."""
    own = [item for item in found["raw"]["payload"]["requests"] if not item["warmup"]]
    times = [item["e2e_ms"] - item["ttft_ms"] for item in own]
    rates = [(item["completion_tokens"] - 1) / (ms / 1000) for item, ms in zip(own, times, strict=True)]
    blocks, committed = 32 * len(own), sum(item["completion_tokens"] - 1 for item in own)
    return {
        "n": len(own),
        "mean": sum(rates) / len(rates),
        "p50": median(rates),
        "p90": sorted(rates)[round(0.9 * (len(rates) - 1))],
        "max": max(rates),
        "ttft_p50_ms": median([item["ttft_ms"] for item in own]),
        "wall_s": found["raw"]["payload"]["iterations"][0]["duration_s"],
        "requests": len(own),
        "blocks": blocks,
        "tok_blk": committed / blocks,
        "ms_blk": sum(times) / blocks,
        "tok_blk_p50": median([(item["completion_tokens"] - 1) / 32 for item in own]),
        "ms_blk_p50": median([ms / 32 for ms in times]),
        "accept": {"15": {"3": blocks}},
        "matched": "5 lines / 5 requests",
    }


def summary(runs: list[Json]) -> Json:
    found = {}
    for name in ("mean", "p50", "p90", "max", "ttft_p50_ms", "wall_s", "tok_blk", "ms_blk"):
        values = [run[name] for run in runs]
        middle = median(values)
        spread = 100 * (max(values) - min(values)) / middle
        found[name] = {"median": middle, "min": min(values), "max": max(values), "spread_pct": spread}
    return found


def report(size: int = 3, folder: str = "base", first: int = 0, **members: Any) -> Json:  # noqa: ANN401 - as above
    """A report of `files_of`."""
    listed = [
        run_statistics(run_record(first + number))
        | {"tag": str(number + 1), "record": f"{folder}/raw-{number + 1}/run.json", "bench_wall_s": 30.5}
        for number in range(size)
    ]
    blocks = sum(run["blocks"] for run in listed)
    return {
        "label": folder,
        "env": {"GRAPH": "1"},
        "server_arg": ["--drop-idle"],
        "spec": "packets/row.json",
        "restart_each": False,
        "suffix_store": "off",
        "args": {"label": folder, "max_len": 4096, "port": 8011, "runs": size, "env": ["GRAPH=1"], "no_server": False},
        "server_cmd": ["python", "server.py", "--port", "8011", "--max-len", "4096", "--drop-idle"],
        "code_sha256": "c0" * 32,
        "git_head": "d" * 40,
        "runs": listed,
        "summary": summary(listed) if listed else {},
        "accept_curve": [
            {"slot": 1, "rate": 1.0, "n": blocks},
            {"slot": 3, "rate": 1.0, "n": blocks},
            {"slot": 4, "rate": 0.0, "n": blocks},
            {"slot": 5, "rate": None, "n": 0},
        ],
        "first_miss": {"4": blocks},
        "taken": "2026-11-29T10:05:00+0100",
    } | members


# A block A/B and a forced bench.


def block_run(pair: int, state: str, workload: str, **changes: Any) -> Json:  # noqa: ANN401 - as above
    """An answer of 129 tokens in 32 rounds."""
    block_ms = 90.0 + pair / 4 + (0.5 if workload == "chat" else 0) - (2.5 if state == "cand" else 0)
    out = [len(workload), *range(128)]
    return {
        "pair": pair,
        "state": state,
        "workload": workload,
        "block_ms": block_ms,
        "blocks": 32,
        "tokens": 128,
        "tok_blk": 4.0,
        "tok_s": 128 / (block_ms * 32) * 1000,
        "out": out,
        "sha": _sha(json.dumps(out)),
    } | changes


def block_ab(runs: list[Json] | None = None, **members: Any) -> Json:  # noqa: ANN401 - as above
    """Three pairs of two states over two workloads."""
    order = [
        (pair, state, workload) for pair in range(3) for state in ("base", "cand") for workload in ("prose", "chat")
    ]
    return {
        "label": "made-up",
        "code": "c0" * 32,
        "state_specs": ["base=", "cand=tools.x:FLAG=1"],
        "states": ["base", "cand"],
        "base": "base",
        "pairs": 3,
        "workloads": ["prose", "chat"],
        "max_new": 256,
        "mix": {"prose": 0.75, "chat": 0.25, "code": 0.5},
        "precapture": 32,
        "discard": 1,
        "learn_cost": False,
        "proc": False,
        "seconds": 60.5,
        "env": {"GRAPH": "1"},
        "runs": [block_run(*each) for each in order] if runs is None else runs,
        "discarded": [{"pair": 0, "state": "base", "workload": "prose", "block_ms": 93.25}],
        "greedy": {"base/prose": "identical"},
        "tokens": {"prose": None, "chat": None},
        "verdicts": {
            "cand": {
                "ms_blk": {
                    "prose": {"base": {"median": 90.25, "min": 90.0, "max": 90.5, "n": 3}},
                    "pooled": {
                        "base": {"median": 90.375, "min": 90.125, "max": 90.625, "spread_pct": 50 / 90.375, "n": 3},
                        "other": {"median": 87.875, "n": 3},
                    },
                }
            }
        },
    } | members


def forced_row(config: str, workload: str, repeat: int, **changes: Any) -> Json:  # noqa: ANN401 - as above
    """An answer of 13 tokens in 3 rounds, which take a little longer each time."""
    times = [90.0 + repeat, 91.5 + repeat, 96.25 + repeat]
    ms = sum(times) + (1.5 if config == "wide" else 1.25) + len(workload) / 1000
    return {
        "tokens": 12,
        "ms": ms,
        "blocks": 3,
        "tok_s": 12 / ms * 1000,
        "tpb": 4.0,
        "mspb": ms / 3,
        "rows": 16.0,
        "report": "",
        "arms": {"s": {}},
        "rounds": [[16, False, each] for each in times],
        "median_round_ms": 91.5 + repeat,
        "config": config,
        "workload": workload,
        "repeat": repeat,
        "prompt": 31,
    } | changes


def forced(*rows: Json) -> Json:
    """Two configurations over two workloads, three times."""
    made = [
        forced_row(config, workload, repeat)
        for repeat in range(3)
        for workload in ("prose", "copy")
        for config in ("base", "wide")
    ]
    return {"rows": list(rows) or made, "configs": ["base", "wide"]}
