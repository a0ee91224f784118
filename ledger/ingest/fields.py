"""Members of one object of a tool's file, each read as what it must be and named by its place when it is not.

Durations become whole nanoseconds, rounded half to even: a clock counted nanoseconds before the tool divided.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from ledger.canonical import MAX_INT, check_domain, encode, escape_pointer
from ledger.errors import MalformedError
from ledger.ingest.values import as_decimal, as_text
from ledger.json_input import NumberText
from ledger.metrics import NS_PER_MS, NS_PER_S

if TYPE_CHECKING:
    from collections.abc import Container

    from ledger.canonical import JsonObject

UNITS = {"ns": 1, "us": 1000, "ms": NS_PER_MS, "s": NS_PER_S, "sec": NS_PER_S, "seconds": NS_PER_S}
"""Nanoseconds in a unit of time, by its names."""

LONGEST_TEXT = 4096
"""Characters of a text that a receipt has room for."""

_SHOWN = 100
_MOST = 150


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    """One object.

    Attributes:
        values: its members.
        where: its place: name of the file and JSON pointer.
    """

    values: JsonObject
    where: str

    def at(self, name: str) -> str:
        """Place of a member."""
        return f"{self.where}/{escape_pointer(name)}"

    def has(self, name: str) -> bool:
        """Whether a member is there and not null."""
        return self.values.get(name) is not None

    def inner(self, name: str) -> Fields:
        """An object in it; an empty one where it is absent."""
        value = self.values.get(name)
        if value is None:
            return Fields(values={}, where=self.at(name))
        if not isinstance(value, dict):
            raise self.refusal(name, "an object")
        return Fields(values=value, where=self.at(name))

    def entries(self, name: str) -> list[object]:
        """Entries of a list in it."""
        value = self.values.get(name)
        if not isinstance(value, list):
            raise self.refusal(name, "a list")
        return value

    def text(self, name: str) -> str:
        """A text that a receipt can hold: not empty, not too long, without control characters."""
        value = as_text(self.values.get(name), self.at(name))
        if not 0 < len(value) <= LONGEST_TEXT:
            raise self.refusal(name, f"text of 1 to {LONGEST_TEXT} characters")
        return self.recordable({name: value})[name]

    def number(self, name: str) -> Fraction:
        """A number of at least 0, exactly as printed."""
        number = Fraction(as_decimal(self.values.get(name), self.at(name)))
        if not 0 <= number <= MAX_INT:
            raise self.refusal(name, f"a number from 0 to {MAX_INT}")
        return number

    def count(self, name: str) -> int:
        """A whole number of at least 0; also one that is printed as ``96.0``."""
        number = self.number(name)
        if number.denominator != 1:
            raise self.refusal(name, "a whole number")
        return number.numerator

    def duration(self, name: str, unit: str) -> int:
        """A duration in whole nanoseconds, above 0."""
        if not self.has(name):
            raise self.refusal(name, "a duration")
        nanoseconds = read_duration(self.values[name], unit, self.at(name))
        if not nanoseconds:
            raise MalformedError("E_ZERO_TIME", f"{name} is 0: nothing was measured", where=self.at(name))
        return nanoseconds

    def unit(self) -> str:
        """Its unit of time, one of `UNITS`."""
        unit = self.values.get("unit")
        if type(unit) is not str or unit not in UNITS:
            raise self.refusal("unit", f"one of {', '.join(UNITS)}")
        return unit

    def refusal(self, name: str, expected: str) -> MalformedError:
        """The error for a member that is not what it must be."""
        found = repr(self.values.get(name))[:_SHOWN] if name in self.values else "nothing"
        return MalformedError("E_FIELD", f"expected {expected} in {name}, found {found}", where=self.at(name))

    def settings(self, leave_out: Container[str] = ()) -> dict[str, str]:
        """All plain members but some, as text.

        Raises:
            MalformedError: ``E_FIELD`` for one that is not plain: nobody knows what of it the number depends on.
        """
        kept = {name: value for name, value in self.values.items() if name not in leave_out}
        nested = [name for name, value in kept.items() if isinstance(value, dict | list)]
        if nested:
            raise self.refusal(nested[0], "a plain value")
        return self.recordable({name: plain_text(value) for name, value in kept.items()})

    def recordable(self, texts: dict[str, str]) -> dict[str, str]:
        """The same texts, all of which a receipt can hold; one that is too long for it is its digest.

        Raises:
            MalformedError: ``E_DOMAIN`` for a control character, or a name that is not ASCII.
        """
        try:
            check_domain(texts)
        except MalformedError as err:
            raise MalformedError(err.code, err.message, where=self.where + err.where) from err
        return {name: text if len(text) <= LONGEST_TEXT else _digest(text) for name, text in texts.items()}


def read_duration(value: object, unit: str, where: str) -> int:
    """A duration in whole nanoseconds, rounded half to even; 0 is possible.

    Raises:
        MalformedError: ``E_SAMPLE`` for what is no duration, ``E_NONFINITE`` for ``NaN`` and ``Infinity``.
    """
    try:
        nanoseconds = round(Fraction(as_decimal(value, where)) * UNITS[unit])
    except MalformedError as err:
        code = "E_SAMPLE" if err.code == "E_FIELD" else err.code
        raise MalformedError(code, f"expected a duration, found {value!r}"[:_SHOWN], where=where) from err
    if not 0 <= nanoseconds <= MAX_INT:
        raise MalformedError("E_SAMPLE", f"expected a duration, found {value!r}"[:_SHOWN], where=where)
    return nanoseconds


def error_text(text: str) -> str:
    """Why a request failed, cut where it is long; colours of a terminal and other controls are made visible."""
    text = text[:LONGEST_TEXT]
    try:
        check_domain(text)
    except MalformedError:
        return "".join(each if each.isprintable() or each in "\n\t" else "\ufffd" for each in text)
    return text


def plain_text(value: object) -> str:
    """A plain value as a setting: null is empty, numbers are as printed."""
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)


def flatten(
    value: object, name: str, leave_out: Container[str] = (), *, unset: tuple[object, ...] = (None, "", False)
) -> dict[str, str]:
    """Everything that is set in a value, as text under names joined with dots; a list of plain values is one text.

    Args:
        value: the value.
        name: what all names begin with.
        leave_out: names of members that are left out, wherever they stand.
        unset: what says that nothing was set, beside an empty list. False is among it where a tool prints every option
            that it has, so that a build that adds one has the same settings until somebody uses it. Where a tool prints
            only what was set, false was.
    """
    found: dict[str, str] = {}
    stack: list[tuple[str, object]] = [(name, value)]
    while stack:
        path, item = stack.pop()
        if isinstance(item, dict):
            stack += [(f"{path}.{key}", each) for key, each in reversed(item.items()) if key not in leave_out]
        elif isinstance(item, list) and any(isinstance(each, dict | list) for each in item):
            stack += [(f"{path}.{at}", each) for at, each in reversed([*enumerate(item)])]
        elif isinstance(item, list):
            found |= {path: ", ".join(map(plain_text, item))} if item else {}
        elif not any(item is each or (item == each == "") for each in unset):
            found[path] = plain_text(item)
    return found


def _digest(text: str) -> str:
    return f"sha256 {hashlib.sha256(text.encode()).hexdigest()} of {len(text)} characters"


def limited(texts: dict[str, str], name: str) -> dict[str, str]:
    """Settings below one name; where they are more than a receipt has room for, their digest."""
    return texts if len(texts) <= _MOST else {name: _digest(encode(texts).decode())}


def as_printed(value: object) -> object:
    """A plain value as the ledger keeps what a tool printed: whole numbers stay such, fractions stay text."""
    if isinstance(value, NumberText) or (isinstance(value, int) and abs(value) > MAX_INT):
        return str(value)
    return value
