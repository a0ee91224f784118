"""A round of a tool's rows with everything given that the tool does not say, checked as one that is sealed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ledger.ingest.build import build_round
from ledger.ingest.options import RoundOptions
from ledger.ingest.run import Run
from ledger.kinds import check_body
from ledger.schema import validate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger.canonical import JsonObject
    from ledger.ingest.adapter import Row

ADAPTER_OF = {
    "aiperf": "aiperf-summary",
    "aiperf records": "aiperf",
    "k3 baseline": "k3-baseline",
    "asv": "asv",
    "google-benchmark": "google-benchmark",
    "hyperfine": "hyperfine",
    "llama-bench csv": "llama-bench",
    "llama-bench json": "llama-bench",
    "llama-bench jsonl": "llama-bench",
    "llama-bench md": "llama-bench",
    "llama-bench sql": "llama-bench",
    "tandem block-ab": "tandem-block-ab",
    "tandem forced": "tandem-forced",
    "tandem record": "tandem-record",
    "tandem report": "tandem-report",
    "sglang one-batch": "sglang-one-batch",
    "sglang serve": "sglang-serving",
    "trtllm": "trtllm-bench",
    "vllm latency": "vllm-latency",
    "vllm serve": "vllm-serve",
    "pytest-benchmark": "pytest-benchmark",
}
"""By format, the adapter that must recognise it. A format that is not here yet is not read yet."""

DIGEST = "0" * 64


def round_of_anything(rows: Sequence[Row], raw: bytes, tool: str) -> JsonObject:
    """The round of some rows of one file in the first slot that they measure.

    Raises:
        MalformedError, RefusedError: what a caller of the library would get.
    """
    first = next((row for row in rows if not row.warmup), rows[0])
    given: dict[str, Any] = {}
    if not any(row.environment for row in rows):
        given["environment"] = {"gpu": "H200"}
    if any(row.commit is None for row in rows):
        given["commits"] = {"main": "abc1234"}
    if not all(row.started_at for row in rows):
        given["started_at"] = {"main": ["2026-11-29T20:00:00Z"]}
    elif not all(row.started_at.endswith("Z") for row in rows):
        given["zone"] = "+02:00"
    if any(row.workload is None for row in rows):
        given["workload"] = {"gen_tokens": 128}
    context = 512 if first.context is None else first.context
    options = RoundOptions(
        tool=tool,
        slot={"project": "p", "node": "n", "quant": "q", "context": str(context), "metric": first.metrics[0]},
        code={} if all(row.code_sha256 for row in rows) else {"main": DIGEST},
        weights=DIGEST,
        harness=DIGEST,
        **given,
    )
    body = build_round([Run(role="main", name="file", raw=raw, rows=rows)], options).body
    validate("round-input", body)
    check_body("round", body)
    return body
