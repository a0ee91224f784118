"""The metric registry: what a metric's number means, and which way is better.

Unit and direction come from here, never from a file: a tool that gets them wrong cannot turn a slowdown into a gain.
Each metric has exactly one formula; a number by another formula would be another metric. Formulas are exact: they take
integers from each record and give a fraction, or nothing where it is not defined.

Source of the token formulas: a stream's first token ends the prefill, so n tokens leave n - 1 decode steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

Ratio: TypeAlias = tuple[int, int]
"""Numerator and denominator, both above 0 and not reduced: an exact number that costs nothing to make."""

Records: TypeAlias = "Iterable[tuple[int, ...]]"
Formula: TypeAlias = "Callable[[Records], list[Ratio]]"

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
        formula: gives the values of records for which it is defined, in their order.
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
            formula=lambda rows: [((n - 1) * NS_PER_S, end - first) for n, end, first in rows if n > 1 and end > first],
            text="(completion_tokens - 1) / (e2e - ttft)",
        ),
        Metric(
            name="gen_tok_s",
            unit="tok/s",
            better="higher",
            columns=("completion_tokens", "wall_ns"),
            formula=lambda rows: [(tokens * NS_PER_S, wall) for tokens, wall in rows if tokens > 0 and wall > 0],
            text="completion_tokens / wall",
        ),
        Metric(
            name="prefill_tok_s",
            unit="tok/s",
            better="higher",
            columns=("prompt_tokens", "wall_ns"),
            formula=lambda rows: [(tokens * NS_PER_S, wall) for tokens, wall in rows if tokens > 0 and wall > 0],
            text="prompt_tokens / wall",
        ),
        Metric(
            name="ttft",
            unit="ms",
            better="lower",
            columns=("ttft_ns",),
            formula=lambda rows: [(ttft, NS_PER_MS) for (ttft,) in rows if ttft > 0],
            text="ttft",
        ),
        Metric(
            name="wall",
            unit="ms",
            better="lower",
            columns=("wall_ns",),
            formula=lambda rows: [(wall, NS_PER_MS) for (wall,) in rows if wall > 0],
            text="wall",
        ),
        Metric(
            name="tokens_per_round",
            unit="tok/round",
            better="higher",
            columns=("completion_tokens", "rounds"),
            formula=lambda rows: [(tokens - 1, rounds) for tokens, rounds in rows if tokens > 1 and rounds > 0],
            text="(completion_tokens - 1) / rounds",
        ),
        Metric(
            name="ms_per_round",
            unit="ms/round",
            better="lower",
            columns=("decode_ns", "rounds"),
            formula=lambda rows: [(decode, rounds * NS_PER_MS) for decode, rounds in rows if decode > 0 and rounds > 0],
            text="decode / rounds",
        ),
    )
}
