"""Counts of tokens that must agree: parts with their whole, and the server's totals with the records."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from ledger.errors import RefusedError
from ledger.ingest.checks.notes import Note
from ledger.ingest.checks.printed import Printed, printed_values
from ledger.ingest.checks.records import everything, measured, rows, succeeded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ledger.canonical import JsonObject

# Text that is cut into tokens a second time gives a few more or fewer.
_RETOKENIZED = Fraction(1, 100)
_PARTS = (("reasoning_tokens", "completion_tokens"), ("cached_tokens", "prompt_tokens"))
_TOTALS = frozenset({"completion_tokens", "usage_completion_tokens", "total_completion_tokens", "total_output_tokens"})


class _Difference(NamedTuple):
    rep: int
    where: str
    found: int
    wanted: int
    reasoning: int

    @property
    def is_slight(self) -> bool:
        return abs(self.found - self.wanted) <= max(self.found, self.wanted) * _RETOKENIZED

    @property
    def hint(self) -> str:
        twice = self.reasoning and self.found == self.wanted + self.reasoning
        return "; reasoning tokens are part of them, and were added again" if twice else ""


def check_tokens(body: JsonObject) -> None:
    """Refuse counts that cannot be of the same tokens.

    Raises:
        RefusedError: ``E_TOKEN_COUNT``: a part is more than its whole, or a printed count is more than 1 % away.
    """
    for at, rep in measured(body):
        for part, whole in _PARTS:
            for record, some, every in rows(rep, part, whole):
                if some > every * (1 + _RETOKENIZED):
                    raise RefusedError(
                        "E_TOKEN_COUNT",
                        f"{some} {part} of {every} {whole}, which they are part of",
                        where=f"/reps/{at}/records/{part}/{record}",
                    )
    for difference in _differences(body):
        if not difference.is_slight:
            raise RefusedError(
                "E_TOKEN_COUNT",
                f"the records have {difference.found} completion tokens, the tool printed {difference.wanted}"
                f"{difference.hint}",
                where=difference.where,
            )


def note_tokens(body: JsonObject) -> Iterator[Note]:
    """Counts that are at most 1 % apart: one of them was made from the text."""
    for each in _differences(body):
        yield Note(
            "F_RETOKENIZED",
            f"the records have {each.found} completion tokens, the tool printed {each.wanted}",
            each.where,
            each.rep,
        )


def _differences(body: JsonObject) -> Iterator[_Difference]:
    for printed in printed_values(body, _TOTALS.__contains__):
        if "completion_tokens" in printed.rep["records"]:
            difference = _compare(printed)
            if difference is not None:
                yield difference


def _compare(printed: Printed) -> _Difference | None:
    """The printed count, one or one per request, against the records that succeeded, or against all of them."""
    numbers = printed.numbers()
    wanted = sum(numbers, Fraction(0)) if numbers else None
    if wanted is None or wanted.denominator != 1:
        return None
    found = [
        sum(count for _, count in rows(printed.rep, "completion_tokens", among=among))
        for among in (succeeded, everything)
    ]
    if wanted in found:
        return None
    reasoning = sum(count for _, count in rows(printed.rep, "reasoning_tokens"))
    return _Difference(printed.at, printed.where, found[0], wanted.numerator, reasoning)
