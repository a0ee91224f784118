"""The expression of a schema: it must answer soon, whatever the text, and alike on every Python."""

from __future__ import annotations

import copy
import time
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

from ledger import canonical, schema, schema_fast
from ledger.schema_fast import TextCheck, compile_text_check
from tests.bench.rounds import round_body

if TYPE_CHECKING:
    from collections.abc import Callable

Body: TypeAlias = dict[str, Any]

SOON_S = 2.0  # it takes a millisecond; what this is about takes longer than the universe is old


# Both ways, where this Python has both: before 3.11.5 it gets final groups wrong, and the program does not use them.
WAYS = {schema_fast._FINAL: "as here", "": "groups that keep their places"}


@pytest.fixture(params=[*WAYS], ids=[*WAYS.values()])
def check(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> TextCheck:
    monkeypatch.setattr(schema_fast, "_FINAL", request.param)
    accepts = compile_text_check(schema.load_schema("round-input"), schema._resolve)
    for text in (b'"plain"', '"é"'.encode()):  # both dialects are written now
        assert not accepts(text)
    return accepts


def every_string(value: Any, change: Callable[[str], str]) -> Any:  # noqa: ANN401 - any JSON value
    """A copy of a value with its free texts changed."""
    if isinstance(value, dict):
        return {
            name: change(item) if name in FREE and isinstance(item, str) else every_string(item, change)
            for name, item in value.items()
        }
    return [every_string(item, change) for item in value] if isinstance(value, list) else value


FREE = {"cpu", "gpu", "os", "kernel", "driver", "runtime", "governor", "load", "toolchain", "path", "description"}
FREE |= {"faithful", "unfaithful", "assertion", "observed", "dataset", "type", "max-num-seqs", "kv-cache-dtype"}
CHANGES: list[Callable[[str], str]] = [
    lambda text: text,
    lambda text: text + "é",
    lambda text: text + '"\\\n\t',
    lambda text: '\\"' * 1000 + text,
    lambda text: text + "€" * 2000,
]


@pytest.mark.parametrize("change", CHANGES, ids=["ascii", "accent", "escapes", "many escapes", "long"])
def test_a_good_round_is_accepted_and_one_that_fails_at_its_end_is_doubted_soon(
    check: TextCheck, change: Callable[[str], str]
) -> None:
    good: Body = every_string(round_body(1), change)
    bad = copy.deepcopy(good)
    bad["weights"]["type"] = ""  # the last member of all
    began = time.process_time()
    assert check(canonical.encode(good))
    assert not check(canonical.encode(bad))
    assert time.process_time() - began < SOON_S


def test_many_repetitions_are_read_soon(check: TextCheck) -> None:
    body = round_body(1, requests=1)
    body["reps"] = body["reps"][:1] * 20_000
    began = time.process_time()
    assert check(canonical.encode(body))
    body["weights"]["type"] = ""
    assert not check(canonical.encode(body))
    assert time.process_time() - began < SOON_S


@pytest.mark.parametrize("most", [0, 9, 10, 64, 99, 100, 512, 1000, 4096])
def test_a_bound_of_an_integer_is_exact(most: int) -> None:
    accepts = compile_text_check({"type": "integer", "minimum": 0, "maximum": most}, lambda _: {})
    accepted = [number for number in range(12_000) if accepts(b"%d" % number)]
    assert accepted == list(range(most + 1))


@pytest.mark.parametrize(
    ("part", "good", "bad"),
    [
        ({"type": "string", "pattern": "^[a-\x80]*$"}, [b'"abc"'], [b'"a\x7fb"', '"a\x80"'.encode(), b'"A"']),
        ({"type": "string", "pattern": "^[!-~]+$"}, [b'"a"', rb'"\"\\"'], [b'"a b"', b'"a","b"', rb'"\n"', b'""']),
        ({"type": "string", "pattern": "^[^a]{2}$"}, [rb'"\n\""', '"éb"'.encode()], [b'"ab"', b'"b"', rb'"\n\"\""']),
        ({"type": "string", "maxLength": 2}, [rb'"\"\\"', '"€€"'.encode()], [rb'"\"\\a"', '"€€€"'.encode()]),
        ({"type": "object", "additionalProperties": {"type": "null"}}, [rb'{"\"":null}'], ['{"é":null}'.encode()]),
    ],
    ids=["delete", "quotes", "negated", "length", "names"],
)
def test_characters_that_json_escapes_are_counted_and_matched_as_one(
    part: Body, good: list[bytes], bad: list[bytes]
) -> None:
    accepts = compile_text_check(part, lambda _: {})
    assert [text for text in good if not accepts(text)] == []
    assert [text for text in bad if accepts(text)] == []


@pytest.mark.parametrize(
    "part",
    [
        {"type": "string", "pattern": "^a|b$"},
        {"type": "string", "pattern": "a"},
        {"type": "string", "pattern": "^(?=a)a$"},
        {"type": "string", "pattern": "^.$"},
        {"type": "integer", "maximum": 2.5},
        {"type": "string", "minLength": True},
        {"type": "integer", "minimum": 2},
        {"type": "object", "properties": {"é": {"type": "null"}}, "additionalProperties": False},
        {"type": "object", "properties": {"a": {"type": "null"}}, "additionalProperties": False, "maxProperties": 0},
        {"enum": ["\x00"]},
    ],
    ids=str,
)
def test_what_has_no_expression_is_doubted(part: Body) -> None:
    accepts = compile_text_check(part, lambda _: {})
    texts = [b'"a"', b'"b"', b'"ab"', b"1", b"2", b"3", b'{"a":null}', '{"é":null}'.encode(), rb'"\u0000"']
    assert not any(map(accepts, texts))
