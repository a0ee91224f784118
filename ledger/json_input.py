"""JSON that a person or a tool wrote, in any layout: exact, with one meaning or none.

What a ledger itself writes has one form only (`ledger.canonical`). Here what could be read in two ways is refused, and
a fraction stays the text that stands in the file: nothing is calculated by accident.
"""

from __future__ import annotations

import json
import math
from typing import Any

from ledger.canonical import MAX_BYTES, JsonObject, escape_pointer
from ledger.errors import MalformedError
from ledger.json_places import LONGEST_NUMBER, find_nonfinite

_LFS_POINTER = b"version https://git-lfs.github.com/spec/"


class NumberText(str):
    """A fraction as the file printed it: kept, compared, never calculated with by accident."""

    __slots__ = ()


class NonFinite(str):
    """``NaN``, ``Infinity`` or ``-Infinity`` as the file printed it: no number, and never taken for one."""

    __slots__ = ()


def parse_json(
    raw: bytes,
    *,
    what: str = "input",
    max_bytes: int = MAX_BYTES,
    fractions: bool = False,
    nonfinite: bool = False,
) -> Any:  # noqa: ANN401 - JSON has no narrower static type
    """Read JSON that a person or a tool wrote.

    Any layout is accepted. Integers come out exact. Strings and keys are as they stand: whoever encodes them learns
    there whether they are in the domain.

    Args:
        raw: the bytes.
        what: name of the input, for errors.
        max_bytes: cap on the size.
        fractions: give fractions as `NumberText` instead of refusing them.
        nonfinite: give the bare words ``NaN`` and ``Infinity``, which are not JSON, as `NonFinite` instead of refusing
            them.

    Raises:
        MalformedError: ``E_LFS_POINTER``, ``E_SIZE``, ``E_UTF8``, ``E_JSON``, ``E_DUPLICATE_KEY``, ``E_FRACTION``,
            ``E_NONFINITE`` with a JSON pointer, or ``E_DEPTH``.
    """
    refuse_lfs_pointer(raw, what)
    if len(raw) > max_bytes:
        raise MalformedError("E_SIZE", f"{what}: {len(raw)} bytes, at most {max_bytes} are accepted")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as err:
        raise MalformedError("E_UTF8", f"{what}: not UTF-8 at byte {err.start}") from err
    try:
        return json.loads(
            text,
            object_pairs_hook=_unique_object,
            parse_constant=NonFinite if nonfinite else _refuse_constant,
            parse_float=_keep_fraction if fractions else _refuse_fraction,
        )
    except MalformedError as err:
        where = err.where
        if err.code == "E_NONFINITE":  # the reader does not say where
            where = "".join(f"/{escape_pointer(step)}" for step in find_nonfinite(text, words=not nonfinite))
        raise MalformedError(err.code, f"{what}: {err.message}", where=where) from err
    except json.JSONDecodeError as err:
        raise MalformedError("E_JSON", f"{what}: not JSON: {err.msg} in line {err.lineno}, column {err.colno}") from err
    except RecursionError as err:
        raise MalformedError("E_DEPTH", f"{what}: nested too deeply to be read") from err
    except ValueError as err:  # an integer of more digits than Python converts
        raise MalformedError("E_DOMAIN", f"{what}: a whole number of thousands of digits; no receipt holds it") from err


def refuse_lfs_pointer(raw: bytes, what: str) -> None:
    """Refuse what git leaves in place of a large file.

    Raises:
        MalformedError: ``E_LFS_POINTER``.
    """
    if raw.startswith(_LFS_POINTER):
        raise MalformedError("E_LFS_POINTER", f"{what}: a Git LFS pointer, not the file; fetch it with git lfs pull")


def _unique_object(pairs: list[tuple[str, Any]]) -> JsonObject:
    value = dict(pairs)
    if len(value) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise MalformedError("E_DUPLICATE_KEY", f"the key {twice!r} occurs twice in one object", where=twice)
    return value


def _keep_fraction(text: str) -> NumberText:
    if len(text) > LONGEST_NUMBER or math.isinf(float(text)):
        raise MalformedError("E_NONFINITE", f"{text[:40]}… is larger, or has more digits, than can be recorded")
    return NumberText(text)


def _refuse_fraction(text: str) -> Any:  # noqa: ANN401 - signature fixed by the json module
    raise MalformedError("E_FRACTION", f'{text} is a fraction: write it as a string, "{text}", so that it stays exact')


def _refuse_constant(name: str) -> Any:  # noqa: ANN401 - signature fixed by the json module
    raise MalformedError("E_NONFINITE", f"{name} is not a number that can be recorded")
