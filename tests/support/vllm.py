"""Made-up results of vLLM's benchmarks: serve with and without details, latency, throughput."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ledger.errors import MalformedError, RefusedError
from ledger.ingest.build import build_round
from ledger.ingest.options import RoundOptions
from ledger.ingest.run import Run
from ledger.kinds import check_body
from ledger.schema import validate
from ledger.scoring.facts import round_facts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ledger.ingest.adapter import Adapter


def totals(**members: Any) -> dict[str, Any]:  # noqa: ANN401 - values of any kind, also wrong ones
    """A run of 4 requests, 100 tokens in and 50 out each, in 2.5 seconds; a member that is ``...`` is left out."""
    run: dict[str, Any] = {
        "date": "20290228-143005",
        "endpoint_type": "openai",
        "backend": "openai",
        "label": None,
        "model_id": "org/tiny",
        "tokenizer_id": "org/tiny",
        "num_prompts": 4,
        "request_rate": "inf",
        "burstiness": 1.0,
        "max_concurrency": 2,
        "duration": 2.5,
        "completed": 4,
        "failed": 0,
        "total_input_tokens": 400,
        "total_output_tokens": 200,
        "request_throughput": 1.6,
        "request_goodput": None,
        "output_throughput": 80.0,
        "total_token_throughput": 240.0,
        "max_output_tokens_per_s": 90.0,
        "max_concurrent_requests": 2,
        "median_ttft_ms": 40.5,
        "p99_ttft_ms": 61.25,
    }
    return {name: value for name, value in (run | members).items() if value is not ...}


def request(**members: Any) -> dict[str, Any]:  # noqa: ANN401 - values of any kind, also wrong ones
    """A request of 11 tokens: the first after 0.1 s, the others every 0.01 s."""
    return {"input_len": 100, "output_len": 11, "ttft": 0.1, "itl": [0.01] * 10, "error": ""} | members


def failed(error: str = "Too Many Requests", **members: Any) -> dict[str, Any]:  # noqa: ANN401 - as above
    """A request that the server refused."""
    return request(output_len=0, ttft=0.0, itl=[], error=error) | members


def detailed(*requests: dict[str, Any], **members: Any) -> dict[str, Any]:  # noqa: ANN401 - as above
    """A run with these requests, whose totals are theirs; nothing else is printed."""
    good = [each for each in requests if not each["error"]]
    run: dict[str, Any] = {
        "num_prompts": len(requests),
        "completed": len(good),
        "failed": len(requests) - len(good),
        "total_input_tokens": sum(each["input_len"] for each in good),
        "total_output_tokens": sum(each["output_len"] for each in good),
        "generated_texts": ["a"] * len(requests),
    }
    run |= {f"{name}s": [each[name] for each in requests] for name in requests[0]}
    printed = ("output_throughput", "total_token_throughput", "median_ttft_ms", "p99_ttft_ms")
    unprinted = dict.fromkeys((*printed, "request_throughput", "max_output_tokens_per_s"))
    return totals(**(unprinted | run | members))


def latency(**members: Any) -> dict[str, Any]:  # noqa: ANN401 - as above
    """Five iterations of about half a second; every percentile that is printed is a sample."""
    run: dict[str, Any] = {
        "avg_latency": 0.52,
        "latencies": [0.5, 0.54, 0.51, 0.53, 0.52],
        "percentiles": {"25": 0.51, "50": 0.52, "75": 0.53},
    }
    return {name: value for name, value in (run | members).items() if value is not ...}


def throughput(**members: Any) -> dict[str, Any]:  # noqa: ANN401 - as above
    """100 requests with 60000 tokens in 12.5 seconds."""
    run: dict[str, Any] = {
        "elapsed_time": 12.5,
        "num_requests": 100,
        "total_num_tokens": 60000,
        "requests_per_second": 8.0,
        "tokens_per_second": 4800.0,
    }
    return {name: value for name, value in (run | members).items() if value is not ...}


def as_json(value: object) -> bytes:
    """The bytes that a tool writes."""
    return json.dumps(value, indent=4).encode()


HOSTILE: tuple[Any, ...] = (
    *(None, True, -1, 0, 1, 2**53, 10**30, -0.5, 1e-300, 1e300, "", "text", "1", "\x1b[1m", "\ud800", [], [[]], [None]),
    *([-1], [1e300], {}, {"a": 1}, "x" * 5000),
)
"""Values that nobody expects."""


def hostile(document: Any) -> Iterator[bytes]:  # noqa: ANN401 - any JSON value
    """The document with each of its values replaced by each of these, in turn, and without it."""
    for path in list(_paths(document)):
        for value in (*HOSTILE, ...):
            edited = json.loads(json.dumps(document))
            parent = edited
            for step in path[:-1]:
                parent = parent[step]
            if value is ...:
                del parent[path[-1]]
            else:
                parent[path[-1]] = value
            yield as_json(edited)


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:  # noqa: ANN401 - as above
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, child in children:
        yield (*path, step)
        yield from _paths(child, (*path, step))


def survives(adapter: Adapter, raw: bytes, metric: str) -> bool:
    """Whether bytes are read: their rows make a round or are refused, and nothing else is ever raised."""
    digest = "0" * 64
    try:
        rows = adapter.read(raw, "run.json")
        options = RoundOptions(
            tool=adapter.name,
            slot={"project": "p", "node": "n", "quant": "q", "context": str(rows[0].context or 0), "metric": metric},
            code={"main": digest},
            weights=digest,
            harness=digest,
            environment={"gpu": "H200"},
            commits={"main": "abc1234"},
            zone="-23:59",
            started_at={} if rows[0].started_at else {"main": ["2029-02-28T14:30:00Z"]},
            workload={"gen_tokens": 1} if rows[0].workload is None else {},
        )
        body = build_round([Run(role="main", name="run.json", raw=raw, rows=rows)], options).body
        validate("round-input", body)
        check_body("round", body)
    except (MalformedError, RefusedError):
        return False
    for fact in round_facts(body):
        assert fact.median > 0
    return True
