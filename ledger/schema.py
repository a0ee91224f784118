"""The schemas: found beside this package, pinned by digest, built once.

`validate` first asks the compiled check of `ledger.schema_fast`; only when that doubts is jsonschema asked. The schema
files lie in the folder ``schemas`` next to ``ledger``. They are found by that path and their SHA-256 is
pinned here, so a package that happens to be called ``schemas`` too cannot change what is accepted. Remote references
are never fetched.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from ledger.canonical import JsonObject, escape_pointer
from ledger.errors import MalformedError, StorageError
from ledger.schema_fast import Check, Schema, TextCheck, compile_pattern, compile_text_check, written_first
from ledger.schema_pins import PINS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from jsonschema.protocols import Validator

FOLDER = Path(__file__).resolve().parent.parent / "schemas"
_ID_HEAD, _ID_TAIL = "urn:rungbook:schema:", ":v1"


@cache
def load_schema(name: str) -> JsonObject:
    """A schema as JSON, after its digest has been compared with the pin.

    Args:
        name: such as ``round`` or ``output-verify``.

    Raises:
        StorageError: ``E_SCHEMA_FILE`` when the file is missing or is not the one that this release was made with.
    """
    path = FOLDER / _file_name(name)
    try:
        raw = path.read_bytes()
    except OSError as err:
        raise StorageError("E_SCHEMA_FILE", f"cannot read the schema: {err}", where=str(path)) from err
    found = hashlib.sha256(raw).hexdigest()
    if found != PINS[_file_name(name)]:
        raise StorageError(
            "E_SCHEMA_FILE",
            f"the schema has SHA-256 {found}, this release was made with {PINS[_file_name(name)]}; reinstall rungbook",
            where=str(path),
        )
    schema: JsonObject = orjson.loads(raw)
    return schema


def has_schema(name: str) -> bool:
    """Whether there is a schema of this name."""
    return _file_name(name) in PINS


def schema_names() -> list[str]:
    """Names of all schemas."""
    return sorted(name.removesuffix(".json").replace("output/", "output-") for name in PINS)


def _file_name(name: str) -> str:
    head, _, rest = name.partition("output-")
    return f"output/{rest}.json" if not head and rest else f"{name}.json"


@cache
def fast_check(name: str) -> Check:
    """The compiled check: true only for valid values, and then every leaf is known to be in the canonical domain."""
    return written_first(fast_text_check(name))


@cache
def fast_text_check(name: str) -> TextCheck:
    """Like `fast_check`, for the canonical bytes of a value."""
    return compile_text_check(load_schema(name), _resolve)


def _resolve(reference: str) -> Schema:
    urn, _, pointer = reference.partition("#")
    # Inside common.json references are local.
    schema: Any = load_schema(urn[len(_ID_HEAD) : -len(_ID_TAIL)] if urn else "common")
    for step in pointer.split("/")[1:]:
        schema = schema[step]
    found: Schema = schema
    return found


@cache
def _validator(name: str) -> Validator:
    from jsonschema import Draft202012Validator, ValidationError, validators  # noqa: PLC0415 - 0.1 s to import
    from referencing import Registry  # noqa: PLC0415
    from referencing.jsonschema import DRAFT202012  # noqa: PLC0415

    def pattern(_: Validator, expected: str, instance: object, __: JsonObject) -> Iterator[ValidationError]:
        if isinstance(instance, str) and not compile_pattern(expected).search(instance):
            yield ValidationError(f"{instance!r} does not match {expected!r}")

    # Without `$schema`: behind a `$ref` to it, jsonschema would go on with its own validator and its own `pattern`.
    documents = [{key: part for key, part in load_schema(each).items() if key != "$schema"} for each in schema_names()]
    resources = [DRAFT202012.create_resource(each) for each in documents]
    registry: Registry[Any] = Registry().with_resources((each.id() or "", each) for each in resources)
    extend: Callable[..., Any] = validators.extend
    strict = extend(Draft202012Validator, {"pattern": pattern})
    validator: Validator = strict(load_schema(name), registry=registry)
    return validator


def validate(name: str, value: object, raw: bytes | None = None) -> bool:
    """Check a value against a schema.

    Args:
        name: name of the schema.
        value: any JSON value.
        raw: canonical bytes of the value, for a caller that has them.

    Returns:
        True when the compiled check accepted it: the value is then also in the canonical domain. False when jsonschema
        had to decide.

    Raises:
        MalformedError: ``E_SCHEMA`` with a JSON pointer.
    """
    if fast_check(name)(value) if raw is None else fast_text_check(name)(raw):
        return True
    validate_slowly(name, value)
    return False


def validate_slowly(name: str, value: Any) -> None:  # noqa: ANN401 - any JSON value
    """Check a value with jsonschema alone.

    Raises:
        MalformedError: ``E_SCHEMA`` with a JSON pointer.
    """
    from jsonschema.exceptions import best_match  # noqa: PLC0415 - 0.1 s to import

    error = best_match(_validator(name).iter_errors(value))
    if error is not None:
        where = "".join(f"/{escape_pointer(str(step))}" for step in error.absolute_path)
        message = error.message if len(error.message) <= _LONGEST else error.message[:_LONGEST] + "…"
        raise MalformedError("E_SCHEMA", message, where=where)


_LONGEST = 300
