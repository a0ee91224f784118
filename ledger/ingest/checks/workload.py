"""The context that was really measured."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from ledger.errors import RefusedError
from ledger.ingest.checks.notes import Note
from ledger.ingest.checks.printed import printed_values
from ledger.ingest.checks.records import measured, rows
from ledger.scoring.facts import decimal_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ledger.canonical import JsonObject

_TOLERANCE = Fraction(2, 100)
_OBSERVED = ("kv_len_start", "kv_len", "n_past")
"""What tools call the number of tokens in the cache when generation began."""

_ON_CONTEXT = {
    "decode_tok_s",
    "gen_tok_s",
    "ms_per_round",
    "output_tok_s",
    "prefill_tok_s",
    "tokens_per_round",
    "ttft",
}


def check_context(body: JsonObject) -> None:
    """Refuse a context that the prompts or the engine contradict by more than 2 %.

    Raises:
        RefusedError: ``E_CONTEXT_MISMATCH`` or ``E_DEPTH_NOT_REACHED``.
    """
    completed = _completed(body)
    for at, rep in measured(body):
        mean, context, depth = _mean_prompt(rep, completed.get(at)), rep["context"], _asked_depth(rep)
        if mean is not None and not (_is_near(mean, context) or _is_near(mean + depth, context)):
            off = f", {decimal_text(100 * (mean + depth) / context - 100, 1)} % off" if context else ""
            behind = f" behind {depth} that were asked for" if depth else ""
            raise RefusedError(
                "E_CONTEXT_MISMATCH",
                f"the context is given as {context}, prompts had {decimal_text(mean, 1)} tokens on average"
                f"{behind}{off}",
                where=f"/reps/{at}/context",
            )
    for where, observed, _, rep in _observed_depths(body):
        if observed < rep["context"] and not _is_near(observed, rep["context"]):
            raise RefusedError(
                "E_DEPTH_NOT_REACHED",
                f"the context is given as {rep['context']}, the engine had {int(observed)} tokens "
                "when generation began",
                where=where,
            )


def note_depth(body: JsonObject) -> Iterator[Note]:
    """Contexts that only the caller or the settings speak for."""
    observed, completed = {at for _, _, at, _ in _observed_depths(body)}, _completed(body)
    for at, rep in measured(body):
        context, mean = rep["context"], _mean_prompt(rep, completed.get(at))
        shown = at in observed or (mean is not None and _is_near(mean, context))
        if context and not shown and not _ON_CONTEXT.isdisjoint(rep["metrics"]):
            yield Note("F_DEPTH_UNPROVEN", "nothing shows that the context was filled", f"/reps/{at}", at)


def _is_near(found: Fraction, context: int) -> bool:
    """Whether a length, rounded as contexts are, is within 2 % of a context."""
    return abs(round(found) - context) <= context * _TOLERANCE


def _mean_prompt(rep: JsonObject, completed: int | None) -> Fraction | None:
    """Mean length of a prompt; none when nothing says of how many prompts the tokens are."""
    lengths = [tokens for _, tokens in rows(rep, "prompt_tokens")]
    if "output_tok_s" in rep["metrics"]:  # records are whole runs
        return Fraction(sum(lengths), completed) if lengths and completed else None
    batch: int = rep.get("workload", {}).get("batch", 1)
    return Fraction(sum(lengths), len(lengths) * batch) if lengths else None


def _completed(body: JsonObject) -> dict[int, int]:
    """By repetition: how many requests the tool counted as done."""
    numbers = {printed.at: printed.number() for printed in printed_values(body) if printed.name == "completed"}
    return {at: int(number) for at, number in numbers.items() if number is not None and number >= 1}


def _asked_depth(rep: JsonObject) -> int:
    depth: int = rep.get("workload", {}).get("depth", 0)
    return depth


def _observed_depths(body: JsonObject) -> Iterator[tuple[str, Fraction, int, JsonObject]]:
    for printed in printed_values(body):
        number = printed.number() if printed.name in _OBSERVED else None
        if number is not None:
            yield printed.where, number, printed.at, printed.rep
