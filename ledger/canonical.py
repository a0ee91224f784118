r"""Canonical JSON: the bytes that are hashed and signed.

The format is RFC 8785 (JCS) on a restricted domain on which orjson with sorted keys emits the same bytes:

* objects with ASCII keys, arrays, strings, ``true``, ``false``, ``null`` and integers with ``|n| < 2**53``;
* no floating point: fractions are decimal strings, so no reader can round them;
* strings are valid Unicode without control characters but newline and tab (a receipt is printed on terminals);
  nothing is normalised, so ``é`` and ``é`` stay different;
* at most 64 levels and 16 MiB.

`decode` accepts exactly what `encode` emits: it encodes again and compares. That one comparison refuses duplicate keys,
white space, other key orders, ``NaN``, a byte-order mark, needless escapes and trailing data.

JSON that people and tools wrote is read by `ledger.json_input`.

Source: RFC 8785; checked against the `rfc8785` package on random documents in the tests.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeAlias

import orjson

from ledger.errors import MalformedError

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_BYTES = 16 * 1024 * 1024
MAX_DEPTH = 64
MAX_INT = 2**53 - 1

JsonObject: TypeAlias = dict[str, Any]

_OPTIONS = orjson.OPT_SORT_KEYS | orjson.OPT_STRICT_INTEGER
_LEAVES = {str, int, bool, type(None)}
_CONTAINERS = {dict, list}
_SIMPLE = _LEAVES | _CONTAINERS
# C0 but tab and newline, DEL, C1, lone surrogates.
_FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def encode(value: object) -> bytes:
    """The canonical bytes of a value.

    Raises:
        MalformedError: ``E_SIZE``, or the value is outside the domain; ``where`` is a JSON pointer to the offender.
    """
    try:
        raw = _dump(value)
    except MalformedError:
        check_domain(value)  # knows where
        raise
    if not (_is_clean(raw) and _is_simple(value)):
        check_domain(value)
    _check_size(raw)
    return raw


def decode(raw: bytes) -> Any:  # noqa: ANN401 - JSON has no narrower static type that a caller could use
    """Inverse of `encode`.

    Raises:
        MalformedError: for any bytes that `encode` does not emit.
    """
    value, proven = decode_bytes(raw)
    if not proven and not _is_simple(value):
        check_domain(value)
    return value


def decode_bytes(raw: bytes) -> tuple[Any, bool]:
    """Like `decode`, but leaves part of the domain check to the caller.

    What is left open is a float or deep nesting: a caller that checks every leaf against a schema need not walk the
    value again, any other caller must.

    Returns:
        The value, and whether `check_domain` has already been done.

    Raises:
        MalformedError: ``E_SIZE``, ``E_JSON``, ``E_CANONICAL``, or ``E_DOMAIN`` for a string or key out of the domain.
    """
    _check_size(raw)
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError as err:
        raise MalformedError("E_JSON", f"not JSON: {err}") from err
    if _dump(value) != raw:
        raise MalformedError("E_CANONICAL", "JSON, but not the canonical bytes of its value (RFC 8785, no floats)")
    if not _is_clean(raw):
        check_domain(value)
        return value, True
    return value, not isinstance(value, dict | list | float)


_STRANGE_ESCAPES = (rb"\b", rb"\f", rb"\r", rb"\u")
_STRANGE_BYTES = re.compile(rb"\xc2[\x80-\x9f]")  # C1 in UTF-8
_STRANGE_KEY = re.compile(rb'[\x80-\xff][^"\x80-\xff]*":')  # not ASCII


def _is_clean(raw: bytes) -> bool:
    """Whether no string or key in what orjson wrote can hold a character that `check_domain` refuses."""
    if b"\x7f" in raw:
        return False
    text = raw
    if b"\\" in raw:  # most have none, and looking for each escape takes longer than to parse
        text = raw.replace(rb"\\", b"").replace(rb"\"", b"")  # now a quote begins or ends a string
        if any(escape in text for escape in _STRANGE_ESCAPES):
            return False
    return text.isascii() or not (_STRANGE_BYTES.search(text) or _STRANGE_KEY.search(text))


def _is_simple(value: object) -> bool:
    """Whether a value is made of nothing but JSON's own types without floats, and is not too deep.

    It looks at a whole object or list at a time. What it leaves open are characters and the range of integers.
    """
    if type(value) not in _CONTAINERS:
        return type(value) in _LEAVES
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH):
        below: list[Any] = []
        for each in level:
            items = each.values() if type(each) is dict else each
            kinds = {*map(type, items)}
            if kinds <= _LEAVES:
                continue
            if not kinds <= _SIMPLE:
                return False
            below += [item for item in items if type(item) in _CONTAINERS]
        if not below:
            return True
        level = below
    return False


def _check_size(raw: bytes) -> None:
    if len(raw) > MAX_BYTES:
        raise MalformedError(
            "E_SIZE", f"{len(raw)} bytes, at most {MAX_BYTES} are accepted; attach large data by digest instead"
        )


def _dump(value: object) -> bytes:
    try:
        return orjson.dumps(value, option=_OPTIONS)
    except TypeError as err:  # JSONEncodeError is a TypeError: integer range, surrogates, nesting
        raise MalformedError("E_DOMAIN", f"no canonical form: {err}") from err


def check_domain(value: object) -> None:
    """Walk a value and refuse what canonical JSON does not have.

    Raises:
        MalformedError: ``E_DOMAIN`` or ``E_DEPTH`` with a JSON pointer.
    """
    if not isinstance(value, dict | list):
        _check_leaf(value, None)
        return
    stack: list[tuple[dict[Any, Any] | list[Any], _Path, int]] = [(value, None, 1)]
    while stack:
        parent, path, depth = stack.pop()
        if depth > MAX_DEPTH:
            raise MalformedError("E_DEPTH", f"nested deeper than {MAX_DEPTH} levels", where=_pointer(path))
        for step, child in _children(parent, path):
            if isinstance(child, (dict, list)):
                stack.append((child, (path, step), depth + 1))
            elif type(child) is not str or _FORBIDDEN.search(child):
                _check_leaf(child, (path, step))


# Where a value stands: the place of its parent and the last step; none for the whole. Written out only for an error.
_Path: TypeAlias = "tuple[_Path, str | int] | None"


def _pointer(path: _Path) -> str:
    steps: list[str] = []
    while path:
        path, step = path
        steps.append(f"/{escape_pointer(str(step))}")
    return "".join(reversed(steps))


def _children(parent: dict[Any, Any] | list[Any], path: _Path) -> Iterable[tuple[str | int, object]]:
    """What must still be looked at inside `parent`: keys and a column of integers are settled here."""
    if isinstance(parent, list):
        plain = {*map(type, parent)} == {int} and min(parent) >= -MAX_INT and max(parent) <= MAX_INT
        return () if plain else enumerate(parent)
    for key in parent:
        if not isinstance(key, str) or not key.isascii():
            raise MalformedError("E_DOMAIN", f"key {key!r} is not an ASCII string", where=_pointer(path))
    if _FORBIDDEN.search("".join(parent)):
        for key in parent:
            _check_leaf(key, path)
    return parent.items()


def _check_leaf(item: object, path: _Path) -> None:
    if isinstance(item, str):
        found = _FORBIDDEN.search(item)
        if found:
            raise MalformedError(
                "E_DOMAIN",
                f"string holds U+{ord(found.group()):04X}; control characters and lone surrogates are refused",
                where=_pointer(path),
            )
    elif isinstance(item, int):  # a boolean too, and in range
        if not -MAX_INT <= item <= MAX_INT:
            raise MalformedError("E_DOMAIN", f"integer {item} is outside ±(2^53-1)", where=_pointer(path))
    elif item is not None:
        raise MalformedError(
            "E_DOMAIN",
            f"{type(item).__name__} {item!r} has no canonical form; write fractions as decimal strings",
            where=_pointer(path),
        )


def escape_pointer(key: str) -> str:
    """A member name as one step of a JSON pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")
