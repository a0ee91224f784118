"""The fast path of schema validation: a schema becomes one plain Python function.

jsonschema is the judge, but it spends milliseconds on a round of 10 kB. `compile_check` turns a schema into a function
that answers in microseconds *yes* or *in doubt*; on any doubt jsonschema decides and words the error. So the check has
one duty: never to accept what jsonschema would refuse. It knows few keywords; one that it does not know makes its part
of the schema always doubtful.

An acceptance also proves that every leaf is a string, an integer, a boolean or null: there is no float in the value,
and nothing is nested deeper than the schema.

The function is written as source text, because the same checks as nested closures take two to three times as long,
nearly all of it calls. The text comes from this module and from a schema of this package, whose digest is pinned; names
and bounds enter it as literals, patterns and choices by reference. A required ``n`` and a perhaps missing ``s`` read

    if type(v0) is not dict: return False
    v1 = len(v0) - 1
    v2 = v0['n']
    if type(v2) is not int or not 1 <= v2 <= 8: return False
    if 's' in v0:
     v1 -= 1
     v3 = v0['s']
     if type(v3) is not str or len(v3) > 40: return False
    if v1: return False
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import orjson

Check: TypeAlias = Callable[[object], bool]
Schema: TypeAlias = Mapping[str, Any]
Resolver: TypeAlias = Callable[[str], Schema]

_ANNOTATIONS = {"$schema", "$id", "$defs", "$comment", "title", "description", "examples"}
_STRING = {"minLength", "maxLength", "pattern"}
_INTEGER = {"minimum", "maximum"}
_ARRAY = {"items", "minItems", "maxItems"}
_OBJECT = {"properties", "required", "additionalProperties", "minProperties", "maxProperties"}
_KEYWORDS: dict[str, set[str]] = {
    "string": _STRING,
    "integer": _INTEGER,
    "array": _ARRAY,
    "object": _OBJECT,
    "boolean": set(),
    "null": set(),
}
_TYPES = {
    "string": "str", "integer": "int", "array": "list", "object": "dict", "boolean": "bool", "null": "NoneType"
}  # fmt: skip
_MAX_INT = 2**53 - 1


def compile_pattern(pattern: str) -> re.Pattern[str]:
    r"""A schema's pattern with the meaning that the standard gives it: ``$`` is the end, not "or before a newline"."""
    return re.compile(pattern[:-1] + r"\Z" if pattern.endswith("$") else pattern)


def compile_check(schema: Schema, resolve: Resolver) -> Check:
    """Compile a schema.

    Args:
        schema: a Draft 2020-12 schema that does not refer to itself.
        resolve: gives the schema that a ``$ref`` names.

    Returns:
        A function that is true only for values that are valid under `schema`. It takes JSON values: what a parser
        gives, or what `ledger.canonical.encode` has accepted.
    """
    writer = _Writer(resolve)
    writer.write(schema, "value", _INDENT)
    return writer.finish()


_INDENT = "  "  # inside `def` and `try`


class _Writer:
    """The source of one check while it is being written.

    What it writes returns from the check when a value is in doubt and falls through when it is not. `value` is the name
    of the variable that is checked, `indent` the white space before a statement.
    """

    def __init__(self, resolve: Resolver) -> None:
        self._resolve = resolve
        self._lines: list[str] = []
        self._space: dict[str, Any] = {"NoneType": type(None)}
        self._variables = 0

    def finish(self) -> Check:
        """The check itself. A required member that is missing surfaces as a KeyError."""
        body = "\n".join(self._lines)
        text = f"def check(value):\n try:\n{body}\n  return True\n except KeyError: return False\n"
        exec(compile(text, "<schema>", "exec"), self._space)  # noqa: S102 - our own text, see the module's docstring
        check: Check = self._space["check"]
        return check

    def write(self, schema: Schema, value: str, indent: str) -> None:
        """Write the check of `value` against a schema."""
        keywords = schema.keys() - _ANNOTATIONS
        if keywords == {"$ref"}:
            self.write(self._resolve(schema["$ref"]), value, indent)
        elif keywords in ({"const"}, {"enum"}):
            self._choice(schema["enum"] if "enum" in keywords else [schema["const"]], value, indent)
        elif keywords == {"anyOf"}:
            checks = [self._bind(compile_check(part, self._resolve)) for part in schema["anyOf"]]
            self._doubt_unless(" or ".join(f"{check}({value})" for check in checks), indent)
        elif "type" in keywords:
            self._typed(schema, keywords - {"type"}, value, indent)
        else:
            self._doubt(indent)

    def _line(self, text: str, indent: str) -> None:
        self._lines.append(indent + text)

    def _doubt(self, indent: str) -> None:
        self._line("return False", indent)

    def _doubt_if(self, condition: str, indent: str) -> None:
        self._line(f"if {condition}: return False", indent)

    def _doubt_unless(self, condition: str, indent: str) -> None:
        self._doubt_if(f"not ({condition})", indent)

    def _bind(self, thing: object) -> str:
        name = f"c{len(self._space)}"
        self._space[name] = thing
        return name

    def _variable(self) -> str:
        self._variables += 1
        return f"v{self._variables}"

    def _choice(self, choices: list[object], value: str, indent: str) -> None:
        if all(type(choice) is str for choice in choices):
            self._doubt_if(f"type({value}) is not str or {value} not in {self._bind(frozenset(choices))}", indent)
        else:
            self._doubt(indent)  # 1 == True == 1.0 in Python: leave such choices to jsonschema

    def _typed(self, schema: Schema, keywords: set[str], value: str, indent: str) -> None:
        names = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        if not keywords <= set().union(*(_KEYWORDS[name] for name in names)):
            self._doubt(indent)
        elif len(names) == 1:
            conditions = [f"type({value}) is not {_TYPES[names[0]]}", *self._limits(schema, names[0], value)]
            self._doubt_if(" or ".join(conditions), indent)
            self._inside(schema, names[0], value, indent)
        else:
            for at, name in enumerate(names):
                self._line(f"{'elif' if at else 'if'} type({value}) is {_TYPES[name]}:", indent)
                self._doubt_if(" or ".join(self._limits(schema, name, value)) or "False", indent + " ")
                self._inside(schema, name, value, indent + " ")
            self._line("else: return False", indent)

    def _limits(self, schema: Schema, name: str, value: str) -> list[str]:
        """Conditions under which a value of the type `name` is in doubt; its members and items come later."""
        if name == "integer":
            return _outside(value, schema.get("minimum"), schema.get("maximum"))
        if name == "array":
            return _outside(f"len({value})", schema.get("minItems"), schema.get("maxItems"))
        if name == "object":
            return _outside(f"len({value})", schema.get("minProperties"), schema.get("maxProperties"))
        if name != "string":
            return []
        limits = _outside(f"len({value})", schema.get("minLength"), schema.get("maxLength"))
        if "pattern" in schema:
            limits.append(f"not {self._bind(compile_pattern(schema['pattern']).search)}({value})")
        return limits

    def _inside(self, schema: Schema, name: str, value: str, indent: str) -> None:
        if name == "object":
            self._members(schema, value, indent)
        elif name == "array":
            self._items(schema.get("items", {}), value, indent)

    def _items(self, items: Schema, value: str, indent: str) -> None:
        column = _column(items)
        if column is not None:
            self._doubt_unless(f"{self._bind(column)}({value})", indent)
            return
        item = self._variable()
        self._line(f"for {item} in {value}:", indent)
        self.write(items, item, indent + " ")

    def _members(self, schema: Schema, value: str, indent: str) -> None:
        members: Schema = schema.get("properties", {})
        required, extra = schema.get("required", []), schema.get("additionalProperties", True)
        if extra is True or not members.keys() >= {*required}:
            self._doubt(indent)
            return
        counts = _count_columns(members)
        if counts is not None and not required:
            self._line(f"if not {self._bind(counts)}({value}):", indent)
            indent += " "
        rest = self._variable()
        self._line(f"{rest} = len({value}) - {len(required)}", indent)
        for name, part in members.items():
            self._member(name, part, value, "" if name in required else rest, indent)
        if extra is False:
            self._doubt_if(rest, indent)
        else:
            name, other = self._variable(), self._variable()
            self._line(f"for {name}, {other} in {value}.items():", indent)
            self._line(f" if {name} in {self._bind(frozenset(members))}: continue", indent)
            self.write(extra, other, indent + " ")

    def _member(self, name: str, part: Schema, value: str, rest: str, indent: str) -> None:
        """Write the check of one member; an optional one counts itself off `rest`."""
        if rest:
            self._line(f"if {name!r} in {value}:", indent)
            indent += " "
            self._line(f"{rest} -= 1", indent)
        member = self._variable()
        self._line(f"{member} = {value}[{name!r}]", indent)
        self.write(part, member, indent)


def _outside(what: str, least: int | None, most: int | None) -> list[str]:
    if least is None and most is None:
        return []
    if least is None:
        return [f"{what} > {most}"]
    return [f"{what} < {least}"] if most is None else [f"not {least} <= {what} <= {most}"]


def _column(items: Schema) -> Callable[[list[Any]], bool] | None:
    """A check of a whole column of integers (perhaps with nulls) or booleans, without a step per element."""
    keywords = items.keys() - _ANNOTATIONS
    if "type" not in keywords or not keywords <= _INTEGER | {"type"}:
        return None
    names = set(items["type"]) if isinstance(items["type"], list) else {items["type"]}
    if names == {"boolean"}:
        return lambda values: {*map(type, values)} <= {bool}
    if "integer" not in names or not names <= {"integer", "null"}:
        return None
    least, most = items.get("minimum"), items.get("maximum")
    kinds_allowed = {int, type(None)} if "null" in names else {int}

    def check(values: list[Any]) -> bool:
        kinds = {*map(type, values)}
        if not kinds <= kinds_allowed:
            return False
        numbers = values if kinds == {int} else [value for value in values if value is not None]
        if not numbers:
            return True
        return (least is None or min(numbers) >= least) and (most is None or max(numbers) <= most)

    return check


_DIGITS = b"0123456789,"
_MOST_OUTLINES = 256


def _count_columns(members: Schema) -> Check | None:
    """A check that accepts an object of nothing but columns of counts, without a step per element or column.

    orjson writes the object and refuses integers beyond 2^53-1. Without digits and commas there remain its names and,
    for each, a pair of brackets with nothing between them: a sign, a fraction, null, a string or a list in a column
    would have left a character.

    Args:
        members: members of a schema; the check knows those that are arrays of integers from 0 to 2^53-1.

    Returns:
        None if there are fewer than two such columns.
    """
    names = frozenset(name for name, part in members.items() if _is_counts(part))
    if len(names) < 2:  # noqa: PLR2004 - one column has a check of its own
        return None
    longest = min(members[name].get("maxItems", _MAX_INT) for name in names)
    outlines: dict[tuple[str, ...], bytes] = {}

    def outline(found: tuple[str, ...]) -> bytes:
        if not names.issuperset(found):
            return b""
        if len(outlines) >= _MOST_OUTLINES:
            outlines.clear()
        return outlines.setdefault(found, _outline({name: [] for name in found}))

    def check(value: Any) -> bool:  # noqa: ANN401 - a JSON object
        found = tuple(value)
        for column in value.values():
            if type(column) is not list or len(column) > longest:
                return False
        try:
            return _outline(value) == (outlines.get(found) or outline(found))
        except TypeError:  # an integer that is too large, or nothing that JSON has
            return False

    return check


def _outline(value: object) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_STRICT_INTEGER).translate(None, _DIGITS)


def _is_counts(part: Schema) -> bool:
    if part.get("type") != "array" or not part.keys() - _ANNOTATIONS <= {"type", "items", "maxItems"}:
        return False
    items = part.get("items", {})
    if items.keys() - _ANNOTATIONS != {"type", *_INTEGER} or items["type"] not in ("integer", ["integer", "null"]):
        return False
    return bool(items["minimum"] == 0 and items["maximum"] == _MAX_INT)
