"""The context that was really measured."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from ledger.errors import RefusedError
from ledger.ingest.checks.notes import Note
from ledger.ingest.checks.printed import printed_values
from ledger.ingest.checks.records import measured, rows
from ledger.scoring.facts import decimal_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ledger.canonical import JsonObject

FILLS_ITS_CONTEXT = frozenset({"llama-bench"})
"""Tools that are known to run a prompt of the depth before they time a generation at it."""
_TOLERANCE_PCT = 2
_OBSERVED = frozenset({"kv_len_start", "kv_len", "n_past"})
"""What tools call the number of tokens in the cache when generation began."""

_ON_CONTEXT = {"decode_tok_s", "gen_tok_s", "prefill_tok_s", "ttft"}
"""What depends on the context and is measured of single requests or samples: whole runs keep no prompts."""


class _Prompts(NamedTuple):
    """Prompts of one repetition: how many tokens, in how many prompts, behind how many that were asked for."""

    at: int
    tokens: int
    number: int
    depth: int

    def fits(self, context: int) -> bool:
        """Whether their mean length, with or without what was asked for, is within 2 % of a context."""
        mean = Fraction(self.tokens, self.number)
        return _is_near(mean, context) or _is_near(mean + self.depth, context)


def check_context(body: JsonObject) -> None:
    """Refuse a context that the prompts or the engine contradict by more than 2 %.

    A context is a mean over everything that was run at it: single repetitions may be further away.

    Raises:
        RefusedError: ``E_CONTEXT_MISMATCH`` or ``E_DEPTH_NOT_REACHED``.
    """
    for context, prompts in _by_context(body):
        whole = _Prompts(
            0, sum(each.tokens for each in prompts), sum(each.number for each in prompts), prompts[0].depth
        )
        if not whole.fits(context):
            first = next((each.at for each in prompts if not each.fits(context)), prompts[0].at)
            raise RefusedError("E_CONTEXT_MISMATCH", _mismatch(whole, context), where=f"/reps/{first}/context")
    for where, observed, _, rep in _observed_depths(body):
        if observed < rep["context"] and not _is_near(observed, rep["context"]):
            raise RefusedError(
                "E_DEPTH_NOT_REACHED",
                f"the context is given as {rep['context']}, the engine had {int(observed)} tokens "
                "when generation began",
                where=where,
            )


def _mismatch(whole: _Prompts, context: int) -> str:
    mean = Fraction(whole.tokens, whole.number)
    off = f", {decimal_text(100 * (mean + whole.depth) / context - 100, 1)} % off" if context else ""
    behind = f" behind {whole.depth} that were asked for" if whole.depth else ""
    return f"the context is given as {context}, prompts had {decimal_text(mean, 1)} tokens on average{behind}{off}"


def note_context(body: JsonObject, built_by: str) -> Iterator[Note]:
    """Contexts that are right on the whole and not in each repetition, or that nothing speaks for but settings.

    That a tool fills the context is believed of what its adapter read, and of no round that only names the tool.
    """
    proven = {at for _, _, at, _ in _observed_depths(body)}
    for context, prompts in _by_context(body):
        proven |= {each.at for each in prompts if _is_near(Fraction(each.tokens, each.number), context)}
        proven |= {each.at for each in prompts if not each.depth}
        for each in prompts:
            if not each.fits(context):
                text = "the mean length of its prompts is more than 2 % from the context"
                yield Note("F_CONTEXT_SPREAD", text, f"/reps/{each.at}/context", each.at)
    for at, rep in measured(body):
        if rep["context"] and at not in proven and not _ON_CONTEXT.isdisjoint(rep["metrics"]):
            yield _unproven(built_by, f"/reps/{at}", at)


def _unproven(built_by: str, where: str, at: int) -> Note:
    if built_by in FILLS_ITS_CONTEXT:
        return Note("F_DEPTH_DECLARED", f"{built_by} fills the context that it is told to, and shows none", where, at)
    return Note("F_DEPTH_UNPROVEN", "nothing shows that the context was filled", where, at)


def _is_near(found: Fraction, context: int) -> bool:
    """Whether a length is within 2 % of a context, or is that when it is rounded, as contexts are."""
    return round(found) == context or 100 * abs(found - context) <= _TOLERANCE_PCT * context


def _by_context(body: JsonObject) -> Iterator[tuple[int, list[_Prompts]]]:
    """Contexts of an arm, and the prompts that were run at each."""
    completed = _completed(body)
    groups: dict[tuple[str, int], list[_Prompts]] = defaultdict(list)
    for at, rep in measured(body):
        lengths = [tokens for _, tokens in rows(rep, "prompt_tokens")]
        workload = rep.get("workload", {})
        if "output_tok_s" in rep["metrics"]:  # records are whole runs
            count = completed.get(at, 0) if lengths else 0
        else:
            count = len(lengths) * workload.get("batch", 1)
        if count:
            groups[rep["arm"], rep["context"]].append(_Prompts(at, sum(lengths), count, workload.get("depth", 0)))
    return ((context, prompts) for (_, context), prompts in groups.items())


def _completed(body: JsonObject) -> dict[int, int]:
    """By repetition: how many requests the tool counted as done."""
    numbers = {printed.at: printed.number() for printed in printed_values(body, "completed".__eq__)}
    return {at: int(number) for at, number in numbers.items() if number is not None and number >= 1}


def _observed_depths(body: JsonObject) -> Iterator[tuple[str, Fraction, int, JsonObject]]:
    for printed in printed_values(body, _OBSERVED.__contains__):
        number = printed.number()
        if number is not None:
            yield printed.where, number, printed.at, printed.rep
