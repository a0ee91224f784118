"""Members of the files that vLLM's benchmarks write: counts, times, settings, and what was printed.

The tools print times in seconds that went through a double. They were made of whole nanoseconds and are read back as
these, rounded half to even.
"""

from __future__ import annotations

import json
from decimal import ROUND_HALF_EVEN, Context
from typing import TYPE_CHECKING

from ledger.canonical import MAX_INT, check_domain, escape_pointer
from ledger.errors import MalformedError
from ledger.ingest.values import as_decimal
from ledger.json_input import NumberText

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from ledger.canonical import JsonObject

_EXACT = Context(prec=1000, rounding=ROUND_HALF_EVEN)  # more digits than any number that is read has
_NS_DIGITS = 9
_LONGEST_FOUND = 200


def count_of(run: JsonObject, name: str, where: str) -> int:
    """A count that the file must have.

    Raises:
        MalformedError: ``E_FIELD``.
    """
    return as_count(run.get(name), f"{where}/{name}")


def as_count(value: object, where: str) -> int:
    """A whole number from 0 on.

    Raises:
        MalformedError: ``E_FIELD``.
    """
    if type(value) is not int or not 0 <= value <= MAX_INT:
        raise MalformedError("E_FIELD", f"expected a count, found {value!r}"[:_LONGEST_FOUND], where=where)
    return value


def count_if_said(run: JsonObject, name: str, where: str) -> int | None:
    """A count, or none where the file has none or null.

    Raises:
        MalformedError: ``E_FIELD``.
    """
    return None if run.get(name) is None else count_of(run, name, where)


def nanoseconds(value: object, where: str, *, most: int = MAX_INT) -> int:
    """Printed seconds in whole nanoseconds, `most` of them or fewer; they may be negative.

    Raises:
        MalformedError: ``E_SAMPLE``: it is no number, or longer than can be recorded.
    """
    try:
        seconds = as_decimal(value, where)
    except MalformedError as err:
        raise MalformedError("E_SAMPLE", f"expected seconds, found {value!r}"[:_LONGEST_FOUND], where=where) from err
    if seconds.adjusted() > _NS_DIGITS:  # before anything is calculated with it
        raise MalformedError("E_SAMPLE", f"{value} seconds are no duration"[:_LONGEST_FOUND], where=where)
    found = int(seconds.scaleb(_NS_DIGITS, context=_EXACT).to_integral_value(context=_EXACT))
    if abs(found) > most:
        raise MalformedError("E_SAMPLE", f"{value} seconds are no duration"[:_LONGEST_FOUND], where=where)
    return found


def duration_of(run: JsonObject, name: str, where: str) -> int:
    """A duration that the file must have, in nanoseconds, above 0.

    Raises:
        MalformedError: ``E_FIELD`` when there is none; ``E_SAMPLE``; ``E_ZERO_TIME``.
    """
    if name not in run:
        raise bad_field(f"expected a duration in {name}, there is none", where, name)
    return positive(nanoseconds(run[name], f"{where}/{name}"), f"{where}/{name}")


def positive(ns: int, where: str) -> int:
    """A duration that something took.

    Raises:
        MalformedError: ``E_SAMPLE`` for a negative one, ``E_ZERO_TIME`` for 0.
    """
    if ns < 0:
        raise MalformedError("E_SAMPLE", f"a duration of {ns} ns", where=where)
    if not ns:
        raise MalformedError("E_ZERO_TIME", "a duration of 0 was not measured", where=where)
    return ns


def settings_of(
    run: JsonObject, left_out: Collection[str], printed: Callable[[str], bool], where: str
) -> dict[str, str]:
    """Every member that is neither read elsewhere nor a printed figure, known or not, as text.

    Raises:
        MalformedError: ``E_FIELD`` for one that is no plain value.
    """
    settings = {}
    for name, value in run.items():
        if name in left_out or printed(name):
            continue
        if isinstance(value, dict | list):
            raise bad_field(f"the member {name} is not a plain value", where, name)
        settings[name] = "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
    return settings


def reported_of(run: JsonObject, left_out: Collection[str], printed: Callable[[str], bool], where: str) -> JsonObject:
    """What the tool printed, as the ledger keeps it: fractions stay text.

    Raises:
        MalformedError: ``E_FIELD`` for an object.
    """
    reported: JsonObject = {}
    for name, value in run.items():
        if name in left_out or not printed(name):
            continue
        if isinstance(value, dict):
            raise bad_field(f"the figure {name} is an object", where, name)
        reported[name] = [_plain(item) for item in value] if isinstance(value, list) else _plain(value)
    return reported


def _plain(value: object) -> object:
    if isinstance(value, dict | list):
        return json.dumps(value, sort_keys=True)
    return str(value) if isinstance(value, NumberText) else value


def check_texts(value: object, where: str) -> None:
    """Refuse a member that cannot be recorded: names that are no ASCII, control characters, integers above 2**53.

    Raises:
        MalformedError: ``E_DOMAIN`` or ``E_DEPTH`` with the place.
    """
    try:
        check_domain(value)
    except MalformedError as err:
        raise MalformedError(err.code, f"{where}: {err.message}", where=where + err.where) from err


def bad_field(message: str, where: str, name: str) -> MalformedError:
    """The error that names a member."""
    return MalformedError("E_FIELD", message[:_LONGEST_FOUND], where=f"{where}/{escape_pointer(name)}")
