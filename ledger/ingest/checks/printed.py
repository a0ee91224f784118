"""What a tool printed of a repetition, as numbers."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from ledger.canonical import escape_pointer
from ledger.ingest.values import printed_number
from ledger.json_input import NumberText

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ledger.canonical import JsonObject

_NUMBER = re.compile(r"-?[0-9]{1,40}([.][0-9]{1,40})?([eE][+-]?[0-9]{1,3})?", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Printed:
    """One printed value of one repetition.

    Attributes:
        name: as the tool calls it.
        value: as it stands in the round: text for what has a fraction, or a list.
        at: position of the repetition.
        rep: the repetition.
        where: JSON pointer to the value.
    """

    name: str
    value: object
    at: int
    rep: JsonObject
    where: str

    def number(self) -> Fraction | None:
        """The value as a number; none when it is none."""
        return read_number(self.value)

    def numbers(self) -> list[Fraction]:
        """The value, or every value of a list; empty when one of them is no number."""
        values = self.value if isinstance(self.value, list) else [self.value]
        numbers = [read_number(value) for value in values]
        found = [number for number in numbers if number is not None]
        return found if len(found) == len(numbers) else []

    def step(self) -> Fraction:
        """Unit of the last printed digit."""
        text = str(self.value)
        _, _, places = text.partition(".")
        return Fraction(0) if "e" in text.lower() else Fraction(1, 10 ** len(places))


def read_number(value: object) -> Fraction | None:
    """A number in a round: an integer, or a decimal as text."""
    if isinstance(value, str):
        return printed_number(NumberText(value)) if _NUMBER.fullmatch(value) else None
    return printed_number(value)


def printed_values(body: JsonObject, is_wanted: Callable[[str], bool]) -> Iterator[Printed]:
    """What was printed under some names of rows that exactly one repetition was made of."""
    owners: dict[tuple[str, int], list[int]] = defaultdict(list)
    for at, rep in enumerate(body["reps"]):
        if "source" in rep:
            owners[rep["source"]["attachment"], rep["source"]["row"]].append(at)
    for entry, item in enumerate(body.get("reported", [])):
        own = owners.get((item["source"]["attachment"], item["source"]["row"]), [])
        if len(own) == 1 and not body["reps"][own[0]]["warmup"]:
            for name, value in item["values"].items():
                if not is_wanted(name):  # most are not: tools print ten figures for each that is looked at
                    continue
                where = f"/reported/{entry}/values/{escape_pointer(name)}"
                yield Printed(name=name, value=value, at=own[0], rep=body["reps"][own[0]], where=where)
