"""The metric registry: what a metric's number means, and which way is better.

Unit and direction come from here, never from a file: a tool that gets them wrong cannot turn a slowdown into a gain.
Each metric has exactly one formula; a number by another formula would be another metric. Formulas are exact: they take
columns of integers and give columns of integers, the terms of a fraction for each record.

Source of the token formulas: a stream's first token ends the prefill, so n tokens leave n - 1 decode steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import sub
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Column: TypeAlias = "list[int]"
Formula: TypeAlias = "Callable[..., tuple[Column, Column]]"

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
        formula: makes of these columns one of numerators and one of denominators; a value is where both are above 0.
        text: the formula for people.
        supplied: column that is taken off the first one where records have it: work that nobody did is no speed.
    """

    name: str
    unit: str
    better: Literal["higher", "lower"]
    columns: tuple[str, ...]
    formula: Formula
    text: str
    supplied: str = ""


METRICS: Mapping[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric(
            name="decode_tok_s",
            unit="tok/s",
            better="higher",
            columns=("completion_tokens", "e2e_ns", "ttft_ns"),
            formula=lambda tokens, e2e, ttft: ([(n - 1) * NS_PER_S for n in tokens], [*map(sub, e2e, ttft)]),
            text="(completion_tokens - 1) / (e2e - ttft)",
        ),
        Metric(
            name="gen_tok_s",
            unit="tok/s",
            better="higher",
            columns=("completion_tokens", "wall_ns"),
            formula=lambda tokens, wall: ([n * NS_PER_S for n in tokens], wall),
            text="completion_tokens / wall",
        ),
        Metric(
            name="prefill_tok_s",
            unit="tok/s",
            better="higher",
            columns=("prompt_tokens", "wall_ns"),
            formula=lambda tokens, wall: ([n * NS_PER_S for n in tokens], wall),
            text="(prompt_tokens - cached_tokens) / wall",
            supplied="cached_tokens",
        ),
        Metric(
            name="ttft",
            unit="ms",
            better="lower",
            columns=("ttft_ns",),
            formula=lambda ttft: (ttft, [NS_PER_MS] * len(ttft)),
            text="ttft",
        ),
        Metric(
            name="wall",
            unit="ms",
            better="lower",
            columns=("wall_ns",),
            formula=lambda wall: (wall, [NS_PER_MS] * len(wall)),
            text="wall",
        ),
        Metric(
            name="tokens_per_round",
            unit="tok/round",
            better="higher",
            columns=("completion_tokens", "rounds"),
            formula=lambda tokens, rounds: ([n - 1 for n in tokens], rounds),
            text="(completion_tokens - 1) / rounds",
        ),
        Metric(
            name="ms_per_round",
            unit="ms/round",
            better="lower",
            columns=("decode_ns", "rounds"),
            formula=lambda decode, rounds: (decode, [n * NS_PER_MS for n in rounds]),
            text="decode / rounds",
        ),
        # Tokens of all requests over the wall of a run, prefill and queueing included: never beside gen_tok_s.
        Metric(
            name="output_tok_s",
            unit="tok/s",
            better="higher",
            columns=("completion_tokens", "wall_ns"),
            formula=lambda tokens, wall: ([n * NS_PER_S for n in tokens], wall),
            text="completion_tokens / wall of the run",
        ),
        # A function that takes less than its clock's tick is timed many at a time.
        Metric(
            name="ns_per_iteration",
            unit="ns/iteration",
            better="lower",
            columns=("wall_ns", "iterations"),
            formula=lambda wall, iterations: (wall, iterations),
            text="wall / iterations",
        ),
    )
}
