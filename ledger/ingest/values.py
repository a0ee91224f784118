"""Values out of somebody else's JSON, each of the kind that is asked for.

A number stays the text that the file printed (`ledger.json_input.NumberText`, or an integer) until it is asked for as a
decimal. Whoever asks for a value that a file must have, and does not have, gets a `MalformedError` that names file and
member.
"""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ledger.canonical import MAX_DEPTH, check_domain, escape_pointer
from ledger.errors import MalformedError
from ledger.json_input import NonFinite, NumberText, parse_json

if TYPE_CHECKING:
    from ledger.canonical import JsonObject

_LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,199}", re.ASCII)
_LARGEST_EXPONENT = 400


def read_json(raw: bytes, what: str, *, nonfinite: bool = False) -> Any:  # noqa: ANN401 - any JSON value
    """JSON whose texts can be recorded: no control characters, no deep nesting.

    Args:
        raw: the bytes.
        what: their name, for errors.
        nonfinite: keep bare ``NaN`` and ``Infinity`` as `ledger.json_input.NonFinite` instead of refusing them.

    Raises:
        MalformedError: what `ledger.json_input.parse_json` and `ledger.canonical.check_domain` raise; names `what`.
    """
    value = parse_json(raw, what=what, fractions=True, nonfinite=nonfinite)
    try:
        check_domain(value)
    except MalformedError as err:
        raise MalformedError(err.code, f"{what}: {err.message}", where=what + err.where) from err
    return value


def read_json_lenient(raw: bytes, what: str) -> tuple[Any, tuple[str, ...]]:
    """JSON of a tool that prints ``NaN`` and ``Infinity`` bare, which no JSON has: they are kept as text.

    Whoever asks for such a place as a number is refused. Texts are as they stand: what of them is recorded must still
    go through `ledger.canonical.check_domain`.

    Returns:
        The value, and a JSON pointer to each of those places (`ledger.json_input.NonFinite`), in the file's order.

    Raises:
        MalformedError: what `ledger.json_input.parse_json` raises but ``E_NONFINITE`` for those words; ``E_DEPTH``.
    """
    value = parse_json(raw, what=what, fractions=True, nonfinite=True)
    return value, tuple(_find_nonfinite(value, what))


def _find_nonfinite(value: object, what: str) -> list[str]:
    found = []
    stack: list[tuple[object, str, int]] = [(value, "", 0)]
    while stack:
        item, pointer, depth = stack.pop()
        if depth > MAX_DEPTH:
            raise MalformedError("E_DEPTH", f"{what}: nested deeper than {MAX_DEPTH} levels", where=what)
        if isinstance(item, NonFinite):
            found.append(pointer)
        elif isinstance(item, dict):
            stack += [(each, f"{pointer}/{escape_pointer(name)}", depth + 1) for name, each in reversed(item.items())]
        elif isinstance(item, list):
            stack += [
                (each, f"{pointer}/{at}", depth + 1)
                for at, each in reversed([*enumerate(item)])
                if isinstance(each, dict | list | NonFinite)
            ]
    return found


def as_object(value: object, where: str) -> JsonObject:
    """An object.

    Raises:
        MalformedError: ``E_FORMAT``.
    """
    if not isinstance(value, dict):
        raise MalformedError("E_FORMAT", f"{where}: expected an object", where=where)
    return value


def look(document: JsonObject, path: str, what: str) -> Any:  # noqa: ANN401 - any JSON value
    """The value at a path of member names joined with ``/``.

    Raises:
        MalformedError: ``E_FIELD`` when it is missing.
    """
    value: Any = document
    for step in path.split("/"):
        if not isinstance(value, dict) or step not in value:
            raise MalformedError("E_FIELD", f"expected a member {path}, there is none", where=f"{what}/{path}")
        value = value[step]
    return value


def as_text(value: object, where: str) -> str:
    """A string that was a string in the file.

    Raises:
        MalformedError: ``E_FIELD``.
    """
    if not isinstance(value, str) or isinstance(value, NumberText | NonFinite):
        raise MalformedError("E_FIELD", f"expected text, found {value!r}"[:200], where=where)
    return value


def as_label(value: object, where: str) -> str:
    """A text that can name something in a statement.

    Raises:
        MalformedError: ``E_FIELD``.
    """
    text = as_text(value, where)
    if not _LABEL.fullmatch(text):
        raise MalformedError("E_FIELD", f"expected a name without white space, found {text[:80]!r}", where=where)
    return text


def as_decimal(value: object, where: str) -> Decimal:
    """A number that was a number in the file, exactly as printed.

    Raises:
        MalformedError: ``E_FIELD``; ``E_NONFINITE`` for ``NaN`` and ``Infinity``.
    """
    if isinstance(value, NonFinite):
        raise MalformedError("E_NONFINITE", f"{value} is not a number that can be recorded", where=where)
    if isinstance(value, bool) or not isinstance(value, int | NumberText):
        raise MalformedError("E_FIELD", f"expected a number, found {value!r}"[:200], where=where)
    try:
        number = Decimal(value)
    except InvalidOperation as err:  # an exponent of more digits than any number has
        raise MalformedError("E_FIELD", f"{value!r} is not a number that can be recorded"[:200], where=where) from err
    if not _is_short(value) and not -_LARGEST_EXPONENT <= exponent_of(number) <= _LARGEST_EXPONENT:
        raise MalformedError("E_FIELD", f"{value!r} is not a number that can be recorded"[:200], where=where)
    return number


def _is_short(value: int | NumberText) -> bool:
    """Whether a number has an exponent that can be recorded, at a glance: nearly all have, and to ask takes long."""
    return isinstance(value, int) or (len(value) <= _LARGEST_EXPONENT and "e" not in value and "E" not in value)


def printed_number(value: object) -> Fraction | None:
    """What a tool printed as a number, exactly; none for anything that is no number or cannot be recorded."""
    try:
        return Fraction(as_decimal(value, ""))
    except MalformedError:
        return None


def exponent_of(number: Decimal) -> int:
    """Power of ten of the last digit printed."""
    exponent = number.as_tuple().exponent
    return exponent if isinstance(exponent, int) else 0  # no number that was read is infinite


def plain(number: Decimal) -> str:
    """A number in digits alone: every digit as printed, no exponent."""
    return format(number, "f")
