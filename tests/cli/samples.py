"""Rounds, real and made up, for the tests of the commands."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

RUNS = Path(__file__).resolve().parents[1] / "data" / "own" / "llama-bench"
# The README beside the runs names both.
BINARY = "cedb359416274bf03a2039a3c8622707308888ae650a84c6d17fba5c55bc7d77"
WEIGHTS = "b08cdd04b053ede43185a16757f4131e3d6fea33f8f0f36bdacd67d3efb855ae"
NODE = "node-1"
SLOT = {"project": "demo", "node": NODE, "quant": "F32", "context": "512", "metric": "prefill_tok_s"}
CODE = {"main": "a" * 64, "candidate": "b" * 64, "reference": "c" * 64}

REAL_ROUND = [
    (role, RUNS / f"round1_{number}{letter}_{role}.json")
    for number in range(1, 6)
    for letter, role in (("a", "main"), ("b", "candidate"))
]


def slot_text(**changes: str) -> str:
    """The slot as ``--slot`` takes it; an axis without a value is left out."""
    return ",".join(f"{axis}={value}" for axis, value in {**SLOT, **changes}.items() if value)


def tool_words(*arms: tuple[str, Path], **options: str) -> list[str | Path]:
    """The options that make a round of llama-bench files; an option in `options` replaces a default, "" drops it."""
    words: list[str | Path] = ["--from", "llama-bench"]
    for role, path in arms:
        words += ["--arm", f"{role}={path}"]
    for role in dict.fromkeys(role for role, _ in arms):
        words += ["--code", f"{role}={CODE[role]}"]
    for name, value in {"slot": slot_text(), "weights": WEIGHTS, "harness": BINARY, **options}.items():
        words += [f"--{name}", value] if value else []
    return words


def make_round(number: int = 0, **members: Any) -> dict[str, Any]:  # noqa: ANN401 - members of a round have any type
    """A small round of two arms and two repetitions; `members` replace its own, None removes one."""
    body = deepcopy(_ROUND)
    body["id"] = f"round-{number}"
    body.update(members)
    return {name: value for name, value in body.items() if value is not None}


def make_rep(order: int, arm: str, /, **members: Any) -> dict[str, Any]:  # noqa: ANN401 - as above
    """One repetition of 512 tokens of prompt in two samples."""
    return {
        "arm": arm,
        "order": order,
        "started_at": f"2026-11-29T20:00:{order:02d}Z",
        "warmup": False,
        "wall_ns": 300_000_000,
        "metrics": ["prefill_tok_s"],
        "context": 512,
        "records": {"wall_ns": [100_000_000, 125_000_000], "prompt_tokens": [512, 512]},
        **members,
    }


def write_round(folder: Path, number: int = 0, **members: Any) -> Path:  # noqa: ANN401 - as above
    """A round of `make_round` as a file."""
    path = folder / f"round-{number}.json"
    path.write_text(json.dumps(make_round(number, **members), indent=1))
    return path


_ROUND: dict[str, Any] = {
    "purpose": "score",
    "slot": {**SLOT, "context": 512},
    "protocol": {"name": "by-hand"},
    "environment": {"cpu": "one"},
    "weights": {"sha256": WEIGHTS},
    "harness": {"sha256": BINARY, "name": "by-hand"},
    "arms": [{"role": role, "code_sha256": CODE[role]} for role in ("main", "candidate")],
    "reps": [make_rep(0, "main"), make_rep(1, "candidate")],
}
