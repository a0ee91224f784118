"""The metric registry: what a metric's number means, and which way is better.

Unit and direction come from here, never from a file: a tool that gets them wrong cannot turn a slowdown into a gain.
Each metric has exactly one formula; a number by another formula would be another metric. Formulas are exact: they take
integers from one record and give a fraction, or nothing when a column that they need was not observed.

Source of the token formulas: a stream's first token ends the prefill, so n tokens leave n - 1 decode steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Ratio: TypeAlias = tuple[int, int]
"""Numerator and denominator, both above 0 and not reduced: an exact number that costs nothing to make."""

Formula: TypeAlias = "Callable[..., Ratio | None]"

NS_PER_S = 10**9
NS_PER_MS = 10**6


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One entry of the registry.

    Attributes:
        name: also the id of the formula.
        unit: unit of the value.
        better: which direction is an improvement.
        columns: columns of ``records`` that the formula takes, in its order.
        formula: gives the value of one record; none when it is not defined there.
        text: the formula for people.
    """

    name: str
    unit: str
    better: Literal["higher", "lower"]
    columns: tuple[str, ...]
    formula: Formula
    text: str


METRICS: Mapping[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric(
            name="decode_tok_s",
            unit="tok/s",
            better="higher",
            columns=("completion_tokens", "e2e_ns", "ttft_ns"),
            formula=lambda n, end, first: ((n - 1) * NS_PER_S, end - first) if n > 1 and end > first else None,
            text="(completion_tokens - 1) / (e2e - ttft)",
        ),
        Metric(
            name="gen_tok_s",
            unit="tok/s",
            better="higher",
            columns=("completion_tokens", "wall_ns"),
            formula=lambda tokens, wall: (tokens * NS_PER_S, wall) if tokens > 0 and wall > 0 else None,
            text="completion_tokens / wall",
        ),
        Metric(
            name="prefill_tok_s",
            unit="tok/s",
            better="higher",
            columns=("prompt_tokens", "wall_ns"),
            formula=lambda tokens, wall: (tokens * NS_PER_S, wall) if tokens > 0 and wall > 0 else None,
            text="prompt_tokens / wall",
        ),
        Metric(
            name="ttft",
            unit="ms",
            better="lower",
            columns=("ttft_ns",),
            formula=lambda ttft: (ttft, NS_PER_MS) if ttft > 0 else None,
            text="ttft",
        ),
        Metric(
            name="wall",
            unit="ms",
            better="lower",
            columns=("wall_ns",),
            formula=lambda wall: (wall, NS_PER_MS) if wall > 0 else None,
            text="wall",
        ),
        Metric(
            name="tokens_per_round",
            unit="tok/round",
            better="higher",
            columns=("completion_tokens", "rounds"),
            formula=lambda tokens, rounds: (tokens - 1, rounds) if tokens > 1 and rounds > 0 else None,
            text="(completion_tokens - 1) / rounds",
        ),
        Metric(
            name="ms_per_round",
            unit="ms/round",
            better="lower",
            columns=("decode_ns", "rounds"),
            formula=lambda decode, rounds: (decode, rounds * NS_PER_MS) if decode > 0 and rounds > 0 else None,
            text="decode / rounds",
        ),
    )
}
