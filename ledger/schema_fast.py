"""The fast path of schema validation: a schema compiled to plain Python checks.

jsonschema is the judge, but it spends milliseconds on a round of 10 kB. `compile_check` turns a schema into a function
that answers in microseconds *yes* or *in doubt*; on any doubt jsonschema decides and words the error. So the check has
one duty: never to accept what jsonschema would refuse. It knows few keywords; one that it does not know makes its part
of the schema always doubtful.

An acceptance also proves that every leaf is a string, an integer, a boolean or null: there is no float in the value,
and nothing is nested deeper than the schema.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

Check: TypeAlias = Callable[[object], bool]
Schema: TypeAlias = Mapping[str, Any]
Resolver: TypeAlias = Callable[[str], Check]

_ANNOTATIONS = {"$schema", "$id", "$defs", "$comment", "title", "description", "examples"}
_STRING = {"minLength", "maxLength", "pattern"}
_INTEGER = {"minimum", "maximum"}
_ARRAY = {"items", "minItems", "maxItems"}
_OBJECT = {"properties", "required", "additionalProperties", "minProperties", "maxProperties"}
_KEYWORDS = {
    "string": _STRING,
    "integer": _INTEGER,
    "array": _ARRAY,
    "object": _OBJECT,
    "boolean": set(),
    "null": set(),
}
_TYPES: dict[str, type] = {
    "string": str, "integer": int, "array": list, "object": dict, "boolean": bool, "null": type(None)
}  # fmt: skip


def doubt(_: object) -> bool:
    """The check of a schema that is not understood."""
    return False


def compile_pattern(pattern: str) -> re.Pattern[str]:
    r"""A schema's pattern with the meaning that the standard gives it: ``$`` is the end, not "or before a newline"."""
    return re.compile(pattern[:-1] + r"\Z" if pattern.endswith("$") else pattern)


def compile_check(schema: Schema, resolve: Resolver) -> Check:
    """Compile a schema.

    Args:
        schema: a Draft 2020-12 schema.
        resolve: gives the check of a ``$ref``.

    Returns:
        A function that is true only for values that are valid under `schema`.
    """
    keywords = schema.keys() - _ANNOTATIONS
    if len(keywords) == 1 and keywords <= _SOLE.keys():
        return _SOLE[keywords.pop()](schema, resolve)
    if "type" not in keywords:
        return doubt
    names = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if not keywords - {"type"} <= set().union(*(_KEYWORDS[name] for name in names)):
        return doubt
    checks = {_TYPES[name]: _COMPILERS[name](schema, resolve) for name in names}
    if len(checks) == 1:
        return next(iter(checks.values()))

    def check(value: object) -> bool:
        found = checks.get(type(value))
        return found is not None and found(value)

    return check


def _one_of(choices: list[object]) -> Check:
    if not all(type(choice) is str for choice in choices):
        return doubt  # 1 == True == 1.0 in Python: leave such choices to jsonschema
    allowed = frozenset(choices)
    return lambda value: type(value) is str and value in allowed


def _any_of(checks: list[Check]) -> Check:
    return lambda value: any(check(value) for check in checks)


_SOLE: dict[str, Callable[[Schema, Resolver], Check]] = {
    "$ref": lambda schema, resolve: resolve(schema["$ref"]),
    "const": lambda schema, _: _one_of([schema["const"]]),
    "enum": lambda schema, _: _one_of(schema["enum"]),
    "anyOf": lambda schema, resolve: _any_of([compile_check(part, resolve) for part in schema["anyOf"]]),
}


def _string(schema: Schema, _: Resolver) -> Check:
    least, most = schema.get("minLength", 0), schema.get("maxLength", float("inf"))
    if "pattern" not in schema:
        return lambda value: type(value) is str and least <= len(value) <= most
    search = compile_pattern(schema["pattern"]).search
    return lambda value: type(value) is str and least <= len(value) <= most and search(value) is not None


def _integer(schema: Schema, _: Resolver) -> Check:
    least, most = schema.get("minimum", float("-inf")), schema.get("maximum", float("inf"))
    return lambda value: type(value) is int and least <= value <= most


def _boolean(_: Schema, __: Resolver) -> Check:
    return lambda value: type(value) is bool


def _null(_: Schema, __: Resolver) -> Check:
    return lambda value: value is None


def _array(schema: Schema, resolve: Resolver) -> Check:
    if "items" not in schema:
        return doubt
    least, most = schema.get("minItems", 0), schema.get("maxItems", float("inf"))
    column = _column(schema["items"])
    if column is not None:
        return lambda value: type(value) is list and least <= len(value) <= most and column(value)
    item = compile_check(schema["items"], resolve)
    return lambda value: type(value) is list and least <= len(value) <= most and all(map(item, value))


def _column(items: Schema) -> Callable[[list[Any]], bool] | None:
    """A check of a whole column of integers (perhaps with nulls) or booleans, without a call per element."""
    keywords = items.keys() - _ANNOTATIONS - _INTEGER
    if keywords != {"type"}:
        return None
    names = items["type"] if isinstance(items["type"], list) else [items["type"]]
    if names == ["boolean"]:
        return lambda values: set(map(type, values)) <= {bool}
    if "integer" not in names or not set(names) <= {"integer", "null"}:
        return None
    least, most = items.get("minimum", float("-inf")), items.get("maximum", float("inf"))
    nullable = "null" in names

    def check(values: list[Any]) -> bool:
        kinds = set(map(type, values))
        if kinds == {int}:
            return bool(least <= min(values) and max(values) <= most)
        if not nullable:
            return not kinds
        return kinds <= {int, type(None)} and all(v is None or least <= v <= most for v in values)

    return check


def _object(schema: Schema, resolve: Resolver) -> Check:
    least, most = schema.get("minProperties", 0), schema.get("maxProperties", float("inf"))
    members = {name: compile_check(part, resolve) for name, part in schema.get("properties", {}).items()}
    required = frozenset(schema.get("required", ()))
    extra = schema.get("additionalProperties", True)
    if extra is True:
        return doubt
    other = None if extra is False else compile_check(extra, resolve)

    def check(value: object) -> bool:
        if type(value) is not dict or not least <= len(value) <= most or not value.keys() >= required:
            return False
        for name, item in value.items():
            member = members.get(name, other)
            if member is None or not member(item):
                return False
        return True

    return check


_COMPILERS: dict[str, Callable[[Schema, Resolver], Check]] = {
    "string": _string, "integer": _integer, "array": _array, "object": _object, "boolean": _boolean, "null": _null
}  # fmt: skip
