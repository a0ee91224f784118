"""Mutations of files: what a bad disk, a bad editor or a bad tool makes of a tool's output.

Bytes are cut, doubled, flipped and mixed; where a file is JSON, or lines of it, values are replaced, dropped and moved
as well, so that most mutated files still parse and get as far as the checks.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Callable

NASTY: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2, 2**31, 2**53, 2**63, 10**30, -(10**30), 0.0, -0.0, 1e-9, 0.5, 1e15, 1e308, 5e-324,
    "", " ", "0", "1", "NaN", "inf", "x" * 5000, "\x00", "\u202e", "\ud83d\ude00", "2026-02-30T00:00:00", [], {}, [[]],
    [None], [0], [-1], [1, 2, 3], {"a": 1}, {"": {}}, [{}], "9" * 400,
)  # fmt: skip
"""Values that a careful reader has an answer to."""

TOKENS = (
    b"NaN", b"Infinity", b"-Infinity", b"1e999", b"1e-999999999", b"-0", b"0.0", b"null", b"true", b'""', b"[]", b"{}",
    b"\xff", b"\x00", b"\xef\xbb\xbf", b"\r\n", b"\n\n", b",", b"}", b"]", b'{"a":1}\n', b"9" * 400, b"0.1e1",
    b"\\u0000",
)  # fmt: skip
"""Pieces of text that end up in files."""


@st.composite
def mutated(draw: Callable[..., Any], raw: bytes) -> bytes:
    """The file after one to three mutations, most often one."""
    for _ in range(draw(st.sampled_from([1, 1, 1, 2, 3]))):
        value = _parse(raw)
        if value is not None and draw(st.integers(0, 3)):
            raw = _write(_mutate_value(draw, value), raw)
        else:
            raw = _mutate_bytes(draw, raw)
    return raw


def _mutate_bytes(draw: Callable[..., Any], raw: bytes) -> bytes:
    start = draw(st.integers(0, len(raw)))
    stop = min(len(raw), start + draw(st.integers(0, 200)))
    kind = draw(st.sampled_from(["cut", "drop", "double", "flip", "insert", "move"]))
    if kind == "cut":
        return raw[:start]
    if kind == "drop":
        return raw[:start] + raw[stop:]
    if kind == "double":
        return raw[:stop] + raw[start:]
    if kind == "flip" and start < len(raw):
        return raw[:start] + bytes([raw[start] ^ (1 << draw(st.integers(0, 7)))]) + raw[start + 1 :]
    if kind == "insert":
        token: bytes = draw(st.sampled_from(TOKENS))
        return raw[:start] + token + raw[start:]
    return raw[:start] + raw[stop:] + raw[start:stop]


def _parse(raw: bytes) -> Any:  # noqa: ANN401 - any JSON value
    try:
        text = raw.decode()
        try:
            return json.loads(text)
        except ValueError:
            return [json.loads(line) for line in text.splitlines() if line.strip()] or None
    except (ValueError, RecursionError):
        return None


def _write(value: Any, before: bytes) -> bytes:  # noqa: ANN401 - as above
    lines = isinstance(value, list) and before.lstrip()[:1] == b"{"
    return b"".join(json.dumps(each).encode() + b"\n" for each in value) if lines else json.dumps(value).encode()


def _mutate_value(draw: Callable[..., Any], value: Any) -> Any:  # noqa: ANN401 - as above
    """The value with one change somewhere inside it."""
    holder, key = _pick(draw, value)
    if holder is None:
        return draw(st.sampled_from(NASTY))
    kind = draw(st.sampled_from(["replace", "replace", "replace", "drop", "double", "scale"]))
    if kind == "drop":
        del holder[key]
    elif kind == "double" and isinstance(holder, list):
        holder.insert(key, holder[key])
    elif kind == "scale" and type(holder[key]) in (int, float):
        holder[key] = holder[key] * draw(st.sampled_from([-1, 0, 0.001, 2, 1000, 10**9]))
    else:
        holder[key] = draw(st.sampled_from(NASTY))
    return value


def _pick(draw: Callable[..., Any], value: Any) -> tuple[Any, Any]:  # noqa: ANN401 - as above
    """A place in a value: what holds it, and its key there; none in a value that holds nothing."""
    holder, key = None, None
    while isinstance(value, dict | list) and value:
        holder, key = value, draw(st.sampled_from(list(value) if isinstance(value, dict) else range(len(value))))
        value = value[key]
        if draw(st.integers(0, 3)) == 0:
            break
    return holder, key
