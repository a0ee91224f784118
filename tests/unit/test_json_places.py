"""Where in a JSON text a number stands that is none, however deep, and whatever comes behind it."""

# ruff: noqa: N802 - the names of cases have capitals

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.canonical import escape_pointer
from ledger.errors import MalformedError
from ledger.ingest import recognise
from ledger.json_input import parse_json
from ledger.json_places import find_word

KEYS = st.text(max_size=4) | st.sampled_from(['"', "\\", "a,b", "{", "}", "[NaN]", "NaN", "a/b", "~", "\n", ""])
PLAIN = st.none() | st.booleans() | st.integers(-9, 9) | KEYS
VALUES = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=8
)
STEPS = st.lists(KEYS | st.integers(0, 3), max_size=6)


def refusal(raw: bytes, **options: bool) -> tuple[str, str, str]:
    with pytest.raises(MalformedError) as caught:
        parse_json(raw, what="run.json", **options)
    return caught.value.code, caught.value.where, caught.value.message


def test_C03_a_bare_nan_is_refused_with_its_place_and_its_file() -> None:
    raw = b'{"kind":"serve","completed":2,"mean_tpot_ms":NaN,"output_throughput":101.5}'
    for fractions in (True, False):
        assert refusal(raw, fractions=fractions) == (
            "E_NONFINITE",
            "/mean_tpot_ms",
            "run.json: NaN is not a number that can be recorded",
        )


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("NaN", ""),
        ("[1, -Infinity]", "/1"),
        ('[[], {"a": [0, {"b/c": [[Infinity]]}]}]', "/1/a/1/b~1c/0/0"),
        ('{"a": "NaN", "NaN": {"x~": NaN}}', "/NaN/x~0"),
        ('{"a\\"b": [1, 2.5, "[", NaN', '/a"b/3'),  # cut behind it
        ('{"a": 1, "a": NaN}', "/a"),
        ('{"a": {}, "b": [], "c": [{}, [], NaN, NaN]}', "/c/2"),
        ("[1.5e400, NaN]", "/0"),
        ('{"a": -1e999}', "/a"),
        ("NaNggml_cuda_init: found 1, no [2]", ""),  # the reader takes a word by its beginning
        ('Infinityz\n "b": 1, "c": ["--drop"]', ""),
        ('[1, {"a": -Infinity5, "b": --2}]', "/1/a"),
        ('{"a": [1e999abc, --2]}', "/a/0"),
        ('{"a": 1, "b": NaN"x", "c": [}', "/b"),
        ("[" + "1" * 300 + "." + "1" * 300 + "]", "/0"),
        ('{"\\u0061\\n": [\n\t1,\n\tNaN\n]}', "/a\n/1"),
    ],
)
def test_C03_the_place_is_named_whatever_the_nesting(text: str, where: str) -> None:
    assert refusal(text.encode(), fractions=True)[:2] == ("E_NONFINITE", where)


def test_C03_words_that_are_kept_are_passed_and_a_number_that_is_too_large_is_found_behind_them() -> None:
    raw = b'{"a": [NaN, Infinity], "b": [0.5, 1e999]}'
    assert refusal(raw, fractions=True, nonfinite=True)[:2] == ("E_NONFINITE", "/b/1")


def nested(steps: list[str | int], leaf: object, beside: object) -> Any:  # noqa: ANN401 - any JSON value
    value: object = leaf
    for step in reversed(steps):
        value = [beside] * step + [value, beside] if isinstance(step, int) else {step: value}
    return value


@given(STEPS, VALUES)
def test_C03_every_place_is_found(steps: list[str | int], beside: object) -> None:
    raw = json.dumps(nested(steps, float("nan"), beside)).encode()
    pointer = "".join(f"/{escape_pointer(str(step))}" for step in steps)
    assert refusal(raw, fractions=True)[:2] == ("E_NONFINITE", pointer)
    assert find_word(raw.decode(), lambda word: word == "NaN") == [str(step) for step in steps]


@given(VALUES)
def test_C03_a_text_without_such_a_word_has_no_place(value: object) -> None:
    assert find_word(json.dumps(value), lambda word: word == "NaN") == []


def test_C03_more_levels_than_a_receipt_has_are_no_matter() -> None:
    deep = "[" * 90 + "NaN" + "]" * 90
    assert refusal(deep.encode())[:2] == ("E_NONFINITE", "/0" * 90)


@pytest.mark.parametrize(
    ("raw", "where"),
    [
        (b'{"kind":"serve","completed":2,"mean_tpot_ms":NaN,"output_throughput":101.5}', "run/mean_tpot_ms"),
        (b'[{"a": 1}, {"b/c": [-Infinity]}]', "run/1/b~1c/0"),
        (b'{"a": 1}\n\n{"a": [0, NaN]}\n', "run, line 3/a/1"),
    ],
)
def test_C03_a_file_that_no_tool_knows_is_refused_for_the_number_that_is_none(raw: bytes, where: str) -> None:
    with pytest.raises(MalformedError) as caught:
        recognise(raw, "run")
    assert (caught.value.code, caught.value.where) == ("E_NONFINITE", where)


@pytest.mark.parametrize(
    "raw",
    [b'{"a": "NaN"}', b"NaN is a word", b'{"a": NaN, "b', b'{"a": NaN}\ntext\n', b'{"a": 1}', b"[" * 500 + b"NaN"],
)
def test_C03_what_is_no_json_either_is_of_no_tool(raw: bytes) -> None:
    with pytest.raises(MalformedError) as caught:
        recognise(raw, "run")
    assert (caught.value.code, caught.value.where) == ("E_FORMAT", "run")


WORDS = ["NaN", "Infinity", "-Infinity", "1e999", "--x", "-", "1", "0.5", "null", "a"]
FRAGMENTS = st.sampled_from([*WORDS, *'"\\{}[],: '])


@given(st.lists(FRAGMENTS, max_size=14), st.booleans(), st.booleans())
def test_whatever_the_text_is_it_is_read_or_refused_as_malformed(
    parts: list[str], fractions: bool, nonfinite: bool
) -> None:
    with contextlib.suppress(MalformedError):
        parse_json("".join(parts).encode(), what="x", fractions=fractions, nonfinite=nonfinite)
