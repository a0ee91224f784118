"""The smallest round that a ledger accepts, and its larger relatives."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ledger.canonical import JsonObject


def sha256_hex(text: str) -> str:
    """A digest that stands for something with this name."""
    return hashlib.sha256(text.encode()).hexdigest()


def round_body(name: str, *, node: str = "n1", wall_ns: int = 1_000_000) -> JsonObject:
    """A round of one arm and one repetition, about 0.8 kB.

    Args:
        name: id of the round; the measured code is named after it.
        node: where it ran.
        wall_ns: how long it took.
    """
    return {
        "id": name,
        "purpose": "score",
        "slot": {"project": "p", "node": node, "quant": "q8", "context": 512, "metric": "prefill_tok_s"},
        "protocol": {"name": "single"},
        "environment": {"cpu": "one"},
        "weights": {"sha256": sha256_hex("weights")},
        "harness": {"sha256": sha256_hex("harness"), "name": "h"},
        "arms": [{"role": "main", "code_sha256": sha256_hex(f"code of {name}")}],
        "reps": [
            {
                "arm": "main",
                "order": 0,
                "started_at": "2026-11-29T20:00:00Z",
                "warmup": False,
                "wall_ns": wall_ns,
                "metrics": ["prefill_tok_s"],
                "context": 512,
                "records": {"prompt_tokens": [512], "wall_ns": [wall_ns]},
            }
        ],
    }


def stream_round_body(name: str, *, node: str = "n1", ttft_ns: int = 90, e2e_ns: int = 900) -> JsonObject:
    """A round of two streamed requests: the columns of decode speed."""
    body = round_body(name, node=node)
    body["slot"]["metric"] = "decode_tok_s"
    body["reps"][0] |= {
        "metrics": ["decode_tok_s", "ttft"],
        "records": {"completion_tokens": [64, 64], "ttft_ns": [ttft_ns, 91], "e2e_ns": [e2e_ns, 901]},
    }
    return body
