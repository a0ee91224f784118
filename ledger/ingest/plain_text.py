"""Somebody else's members as texts: settings with names flattened by dots, times, digests."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from ledger.errors import MalformedError
from ledger.ingest.fields import LONGEST_TEXT
from ledger.ingest.values import as_text
from ledger.json_input import NumberText
from ledger.strict import parse_digest, parse_time

if TYPE_CHECKING:
    from collections.abc import Collection

    from ledger.canonical import JsonObject

_NAME = re.compile(r"[!-~][ -~]{0,199}", re.ASCII)


def flatten(
    value: JsonObject, where: str, *, prefix: str = "", skip: Collection[str] = (), longest: int = LONGEST_TEXT
) -> dict[str, str]:
    """Every plain value below an object, by the path to it; nulls are left out, a list is its JSON.

    Args:
        value: the object.
        where: of the object, for errors.
        prefix: what the names begin with.
        skip: names at the first level that are left out.
        longest: text that is taken.

    Raises:
        MalformedError: ``E_FIELD``: a name or a text that cannot be recorded, or a list of something nested.
    """
    found: dict[str, str] = {}
    for name, item in value.items():
        if name in skip or item is None:
            continue
        path, at = f"{prefix}{name}", f"{where}/{name}"
        if isinstance(item, dict):
            found |= flatten(item, at, prefix=f"{path}.", longest=longest)
            continue
        if isinstance(item, list) and any(isinstance(each, dict | list) for each in item):
            raise MalformedError("E_FIELD", "expected a list of plain values", where=at)
        text = as_plain_text(item)
        if not _NAME.fullmatch(path) or len(text) > longest:
            raise MalformedError("E_FIELD", f"a name or a text of {len(text)} that cannot be recorded", where=at)
        found[path] = text
    return found


def as_time(value: object, where: str) -> str:
    """A time in UTC.

    Raises:
        MalformedError: ``E_FIELD`` or ``E_TIME``.
    """
    text = as_text(value, where)
    try:
        parse_time(text)
    except MalformedError as err:
        raise MalformedError(err.code, err.message, where=where) from err
    return text


def as_digest(value: object, where: str) -> str:
    """A SHA-256 in lower-case hexadecimal digits.

    Raises:
        MalformedError: ``E_FIELD`` or ``E_DIGEST``.
    """
    text = as_text(value, where)
    try:
        parse_digest(text)
    except MalformedError as err:
        raise MalformedError(err.code, err.message, where=where) from err
    return text


def as_plain_text(value: object) -> str:
    """A value as text: a text as it stands, everything else as its JSON."""
    return str(value) if isinstance(value, str) else compact_json(value)


def compact_json(value: object) -> str:
    """JSON without white space and with sorted names, its numbers as they were printed."""
    if isinstance(value, NumberText):
        return str(value)
    if isinstance(value, dict):
        return "{" + ",".join(f"{compact_json(key)}:{compact_json(item)}" for key, item in sorted(value.items())) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(compact_json, value)) + "]"
    return json.dumps(value, ensure_ascii=False)
