r"""The fast path of schema validation: a schema becomes one regular expression over canonical JSON.

jsonschema is the judge, but it spends milliseconds on a round of 10 kB. `compile_text_check` turns a schema into a
function that reads the canonical bytes of a value and answers in microseconds *yes* or *in doubt*; on any doubt
jsonschema decides and words the error. So the check has one duty: never to accept what jsonschema would refuse. It
knows few keywords; one that it does not know makes its part of the schema always doubtful.

An acceptance also proves that the value is in the canonical domain: there is no float in it, no control character, and
nothing is nested deeper than the schema.

A regular expression can do this because a value has one canonical text: no white space, members in the order of their
names, one spelling of a number or a string. Only canonical JSON is put to it, and that keeps it short and quick:

* commas are optional in it: where they must stand, the JSON parser has seen to (so a number is always read to its end);
* a column of counts is "nothing but digits and commas", without a step per element;
* an integer needs no bound at ±(2^53-1): the canonical form knows none beyond;
* a text in which nothing is escaped and all is ASCII has a shorter expression than the rare other one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from itertools import groupby
from typing import Any, TypeAlias

import orjson

Check: TypeAlias = Callable[[object], bool]
TextCheck: TypeAlias = Callable[[bytes], bool]
Schema: TypeAlias = Mapping[str, Any]
Resolver: TypeAlias = Callable[[str], Schema]

_ANNOTATIONS = {"$schema", "$id", "$defs", "$comment", "title", "description", "examples"}
_INTEGER = {"minimum", "maximum"}
_KEYWORDS: dict[str, set[str]] = {
    "string": {"minLength", "maxLength", "pattern"},
    "integer": _INTEGER,
    "array": {"items", "minItems", "maxItems"},
    "object": {"properties", "required", "additionalProperties", "minProperties", "maxProperties"},
    "boolean": set(),
    "null": set(),
}
_BOUNDS = _INTEGER | {"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"}
_CANONICAL = orjson.OPT_SORT_KEYS | orjson.OPT_STRICT_INTEGER
_MAX_INT = 2**53 - 1
_MANY = 10**6

_NEVER = "(?!)"
_ESCAPE = r'\\["\\nt]'
_FORBIDDEN = r'"\\\x00-\x1f\x7f-\x9f'
# What has matched never matches another way, so no place to come back to need be kept. Before 3.11.5 Python gets that
# wrong for groups (gh-106052); there it keeps them.
_FINAL = "" if re.fullmatch("(?:ab?c)?+", "a") else "+"


def compile_pattern(pattern: str) -> re.Pattern[str]:
    r"""A schema's pattern with the meaning that the standard gives it: ``$`` is the end, not "or before a newline"."""
    return re.compile(pattern[:-1] + r"\Z" if pattern.endswith("$") else pattern)


def compile_check(schema: Schema, resolve: Resolver) -> Check:
    """Like `compile_text_check`, for values of any kind."""
    return written_first(compile_text_check(schema, resolve))


def written_first(accepts: TextCheck) -> Check:
    """A check of values that writes their canonical text and puts that to a check of texts."""

    def check(value: object) -> bool:
        try:
            raw = orjson.dumps(value, option=_CANONICAL)
        except TypeError:  # no JSON, or outside the canonical domain
            return False
        # Compared with what was written: a NaN, a tuple or an enum became something else on the way.
        return accepts(raw) and bool(orjson.loads(raw) == value)

    return check


def compile_text_check(schema: Schema, resolve: Resolver) -> TextCheck:
    """Compile a schema.

    Args:
        schema: a Draft 2020-12 schema that does not refer to itself.
        resolve: gives the schema that a ``$ref`` names.

    Returns:
        A function that takes canonical JSON, and nothing else, and is true only for values that are valid under
        `schema`.
    """

    @cache
    def expression(plain: bool) -> re.Pattern[str]:  # noqa: FBT001 - one of two
        return re.compile((_Plain if plain else _Rich)(resolve).value(schema))

    def check(raw: bytes) -> bool:
        plain = raw.isascii() and b"\\" not in raw and b"\x7f" not in raw
        return expression(plain).fullmatch(raw.decode()) is not None

    return check


class _Plain:
    """Writes expressions for texts in which nothing is escaped and every character is printable ASCII."""

    name = '"[^"]*+":'

    def __init__(self, resolve: Resolver) -> None:
        self._resolve = resolve

    def value(self, schema: Schema) -> str:
        """The expression of a value that is valid under `schema`."""
        keywords = schema.keys() - _ANNOTATIONS
        if keywords == {"$ref"}:
            return self.value(self._resolve(schema["$ref"]))
        if keywords in ({"const"}, {"enum"}):
            return _choice(schema["enum"] if "enum" in schema else [schema["const"]])
        if keywords == {"anyOf"}:
            return _any([self.value(part) for part in schema["anyOf"]])
        if "type" not in keywords:
            return _NEVER
        names = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        known = set().union(*(_KEYWORDS.get(name, set()) for name in names))
        if not keywords - {"type"} <= known or any(type(schema[each]) is not int for each in keywords & _BOUNDS):
            return _NEVER
        return _any([self._typed(schema, name) for name in names])

    def _typed(self, schema: Schema, name: str) -> str:
        if name == "string":
            return self._string(schema)
        if name == "array":
            return self._array(schema)
        if name == "object":
            return self._object(schema)
        if name == "integer":
            return _integer(schema)
        return {"boolean": "(?:true|false)", "null": "null"}.get(name, _NEVER)

    def _string(self, schema: Schema) -> str:
        times = _times(schema.get("minLength", 0), schema.get("maxLength"))
        if "pattern" not in schema:
            return f'"{self._to_quote(times)}'
        length = "" if times == "{0,}" else f"(?={self._to_quote(times)})"
        return f'"{length}{_pattern(schema["pattern"])}"'

    def _to_quote(self, times: str) -> str:
        """So many characters and the closing quote."""
        return f'[^"]{times}+"'

    def _array(self, schema: Schema) -> str:
        if "items" not in schema:
            return _NEVER
        least, most = schema.get("minItems", 0), schema.get("maxItems")
        column = _column(schema["items"])
        if column and not least and most in (None, _MANY):
            return rf"\[[{column}]{{0,{2 * _MANY - 1}}}+\]"  # more than a million elements take more characters
        return rf"\[(?:{self.value(schema['items'])},?+){_times(least, most)}{_FINAL}\]"

    def _object(self, schema: Schema) -> str:
        members: Schema = schema.get("properties", {})
        required, extra = schema.get("required", []), schema.get("additionalProperties", True)
        least, most = schema.get("minProperties", 0), schema.get("maxProperties")
        if extra is True:
            return _NEVER
        if extra is not False:
            entry = f"(?:{self.name}{self.value(extra)},?+){_times(least, most)}{_FINAL}"
            return _NEVER if members or required else rf"\{{{entry}\}}"
        # Members are not counted: the bounds must follow from what is required and allowed, or say "not empty".
        if not members.keys() >= {*required} or least > max(len(required), 1) or not _fits(members, most):
            return _NEVER
        parts = ["(?!})"] if least > len(required) else []
        entries = [(name in required, self.value(members[name]), name) for name in sorted(members)]
        for (needed, value), run in groupby(entries, key=lambda entry: entry[:2]):
            names = [re.escape(orjson.dumps(name).decode()) for *_, name in run]
            if needed:
                parts += [f"{name}:{value},?+" for name in names]
            else:  # each of them at most once and in their order: the text is canonical
                parts.append(f"(?:{_any(names)}:{value},?+){{0,{len(names)}}}{_FINAL}")
        return rf"\{{{''.join(parts)}\}}"


class _Rich(_Plain):
    """Writes expressions for any canonical text."""

    name = rf'"(?:[ !#-\[\]-~]|{_ESCAPE})*":'

    def _to_quote(self, times: str) -> str:
        # At one go, or character by character when there is an escape ahead. Never both: a text that fails at its end
        # would be tried again in every combination.
        plain = f"[^{_FORBIDDEN}]"
        return rf'(?:{plain}{times}+"|(?=[^"\\]*+\\)(?:{plain}|{_ESCAPE}){times}")'


def _any(expressions: list[str]) -> str:
    return expressions[0] if len(expressions) == 1 else f"(?:{'|'.join(expressions)})"


def _fits(members: Schema, most: int | None) -> bool:
    """Whether all of these members may stand in one object of canonical JSON."""
    return "".join(members).isascii() and (most is None or len(members) <= most)


def _choice(choices: list[Any]) -> str:
    if not all(isinstance(each, str) and each.isprintable() for each in choices):
        return _NEVER  # jsonschema takes 1.0 for 1, and Python 1 for true
    return _any([re.escape(orjson.dumps(each).decode()) for each in choices])


def _times(least: int, most: int | None) -> str:
    return f"{{{least},{'' if most is None else most}}}"


_PATTERN_TOKEN = re.compile(r"(?P<set>\[\^?(?:\\.|[^\\\[\]])+\])|\{[0-9]+(?:,[0-9]*)?\}|[()|?*+]|[A-Za-z0-9 _:/=@,~-]")
_FORBIDDEN_CHARACTERS = "".join(map(chr, (*b'"\\', *range(0x20), *range(0x7F, 0xA0))))
_ESCAPED = {'"': r"\\\"", "\\": r"\\\\", "\n": r"\\n", "\t": r"\\t"}


def _pattern(pattern: str) -> str:
    """A schema's pattern as it stands before the closing quote of a string."""
    if not (pattern.startswith("^") and pattern.endswith("$")) or "(?" in pattern:
        return _NEVER
    parts, at, depth = [], 1, 0
    while at < len(pattern) - 1:
        token = _PATTERN_TOKEN.match(pattern, at)
        if token is None or (token.group() == "|" and not depth):  # there, ^ and $ would belong to one side each
            return _NEVER
        text, at = token.group(), token.end()
        depth += (text == "(") - (text == ")")
        if token["set"] and re.search(text, _FORBIDDEN_CHARACTERS):
            escapes = [written for character, written in _ESCAPED.items() if re.match(text, character)]
            text = f"(?:{'|'.join([f'(?![{_FORBIDDEN}]){text}', *escapes])})"
        parts.append("(?:" if text == "(" else text)
    return "".join(parts)


def _integer(schema: Schema) -> str:
    least, most = schema.get("minimum", -_MAX_INT), schema.get("maximum", _MAX_INT)
    digits = "[0-9]++" if most >= _MAX_INT else _up_to(most)
    if least <= -_MAX_INT:
        return _any(["-[0-9]++", digits])
    return {0: digits, 1: f"(?!0){digits}"}.get(least, _NEVER)


def _up_to(most: int) -> str:
    """The integers from 0 to `most`, each to its last digit: commas are optional, and 12 must not pass for 1 and 2."""
    if most < 0:
        return _NEVER
    text = str(most)
    below = [
        f"{text[:at]}[0-{int(digit) - 1}][0-9]{{{len(text) - at - 1}}}" for at, digit in enumerate(text) if digit != "0"
    ]
    fewer = [f"[0-9]{{1,{len(text) - 1}}}"] if len(text) > 1 else []
    return f"(?:{'|'.join([text, *below, *fewer])})(?![0-9])"


def _column(items: Schema) -> str:
    """The characters of a column of integers (perhaps with nulls) or of booleans; empty for any other column.

    In JSON, the letters of ``null`` spell nothing else, and those of ``true`` and ``false`` only these.
    """
    keywords = items.keys() - _ANNOTATIONS
    if "type" not in keywords or not keywords <= _INTEGER | {"type"}:
        return ""
    names = {*items["type"]} if isinstance(items["type"], list) else {items["type"]}
    if names == {"boolean"}:
        return "aeflrstu,"
    least, most = items.get("minimum", -_MAX_INT), items.get("maximum", _MAX_INT)
    if "integer" not in names or not names <= {"integer", "null"} or least not in (0, -_MAX_INT) or most < _MAX_INT:
        return ""
    return "0-9" + ("lnu" if "null" in names else "") + ("," if least == 0 else ",-")
