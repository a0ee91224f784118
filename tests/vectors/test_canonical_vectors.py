"""RFC 8785 where a general JSON writer and a canonical one part, in the domain that the ledger allows."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
import rfc8785

from ledger import canonical
from ledger.errors import MalformedError

EQUAL: dict[str, tuple[Any, bytes]] = {
    "keys sort by code unit": (
        {"b": 1, "a": 2, "B": 3, "": 4, "a0": 5, "~": 6},
        b'{"":4,"B":3,"a":2,"a0":5,"b":1,"~":6}',
    ),
    "largest integer": (2**53 - 1, b"9007199254740991"),
    "smallest integer": (-(2**53) + 1, b"-9007199254740991"),
    "zero": (0, b"0"),
    "constants": ([True, False, None], b"[true,false,null]"),
    "only quote, backslash, newline and tab are escaped": ('"\\/\n\t<>&', b'"\\"\\\\/\\n\\t<>&"'),
    "other scripts stand as they are": ("€ é דּ 😀 \u2028", '"€ é דּ 😀 \u2028"'.encode()),
    "empty values": ([{}, [], ""], b'[{},[],""]'),
    "a fraction is a string": ("0.000064", b'"0.000064"'),
}

OUTSIDE = {
    "1.0": 1.0,
    "minus zero": -0.0,
    "a fraction": 0.1,
    "not a number": float("nan"),
    "infinity": float("inf"),
    "2^53": 2**53,
    "-2^53": -(2**53),
    "2^64": 2**64,
    "a euro sign as key": {"€": 1},
    "a key outside the plane where the two orders differ": {"\ufb33": 1, "\U0001f600": 2},
    "a lone high surrogate": "\ud83d",
    "a lone low surrogate": "\ude00",
    "reversed surrogates": "\ude00\ud83d",
    "a lone surrogate in a key": {"\ud800": 1},
    "a null character": "\x00",
    "an escape character": "\x1b[31m",
    "a carriage return": "a\r\n",
    "a delete character": "\x7f",
    "a C1 control character": "\x85",
    "a tuple": (1, 2),
    "bytes": b"a",
    "an integer key": {1: 2},
    "a set": {1},
}

NOT_CANONICAL = {
    "white space": b'{"a": 1}',
    "a final newline": b"1\n",
    "other key order": b'{"b":1,"a":2}',
    "a needless escape": b'"\\u0061"',
    "an escaped solidus": b'"\\/"',
    "an upper-case escape": b'"\\u000A"',
    "a fraction": b"1.0",
    "an exponent": b"1e2",
    "minus zero": b"-0",
    "2^53": b"9007199254740992",
    "2^64": b"18446744073709551616",
    "not a number": b"NaN",
    "infinity": b"Infinity",
    "a leading zero": b"01",
    "single quotes": b"'a'",
    "a trailing comma": b"[1,]",
    "a comment": b"1/**/",
    "nothing": b"",
}


@pytest.mark.parametrize("name", EQUAL)
def test_the_canonical_bytes_are_those_of_the_standard(name: str) -> None:
    value, raw = EQUAL[name]
    assert canonical.encode(value) == raw == rfc8785.dumps(value)
    assert canonical.decode(raw) == value


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_value_outside_the_domain_has_no_canonical_bytes(name: str) -> None:
    for value in (OUTSIDE[name], [OUTSIDE[name]], {"a": {"b": OUTSIDE[name]}}):
        with pytest.raises(MalformedError):
            canonical.encode(value)


@pytest.mark.parametrize("name", NOT_CANONICAL)
def test_bytes_that_the_writer_does_not_emit_are_refused(name: str) -> None:
    with pytest.raises(MalformedError):
        canonical.decode(NOT_CANONICAL[name])


def test_the_table_of_refused_values_covers_what_orjson_alone_would_write_differently() -> None:
    # These are the rows where orjson answers silently; were it to change, the reasons for the checks would too.
    assert orjson.dumps(float("nan")) == b"null"
    assert orjson.dumps(1.0) == b"1.0"
    assert rfc8785.dumps(1.0) == b"1"
    assert orjson.dumps(2**53) == b"9007199254740992"
    assert orjson.loads(b'{"a":1,"a":2}') == {"a": 2}
    assert isinstance(orjson.loads(b"18446744073709551616"), float)
    keys = {"\u20ac": 1, "\ufb33": 2, "\U0001f600": 3}
    assert orjson.dumps(keys, option=orjson.OPT_SORT_KEYS) != rfc8785.dumps(keys)


@pytest.mark.parametrize("bracket", ["[]", "{}"])
def test_64_levels_are_accepted_and_65_are_refused(bracket: str) -> None:
    def nest(levels: int) -> bytes:
        head, tail = ('{"a":', "}") if bracket == "{}" else ("[", "]")
        return (head * (levels - 1) + bracket + tail * (levels - 1)).encode()

    value = canonical.decode(nest(64))
    assert canonical.encode(value) == nest(64)
    with pytest.raises(MalformedError) as caught:
        canonical.decode(nest(65))
    assert caught.value.code == "E_DEPTH"
    with pytest.raises(MalformedError) as caught:
        canonical.encode([value])
    assert caught.value.code == "E_DEPTH"


@pytest.mark.parametrize("levels", [200, 300, 2000, 200_000])
def test_very_deep_nesting_is_refused_without_a_crash(levels: int) -> None:
    for raw in (b"[" * levels + b"]" * levels, b'{"a":' * levels + b"1" + b"}" * levels, b"[" * levels):
        with pytest.raises(MalformedError):
            canonical.decode(raw)
        with pytest.raises(MalformedError):
            canonical.decode(raw + b'"')


def test_nothing_over_16_mib_is_read_or_written() -> None:
    room = canonical.MAX_BYTES - 2
    assert len(canonical.decode(canonical.encode("a" * room))) == room
    with pytest.raises(MalformedError) as caught:
        canonical.decode(b'"' + b"a" * (room + 1) + b'"')
    assert caught.value.code == "E_SIZE"
    with pytest.raises(MalformedError) as caught:
        canonical.encode("a" * (room + 1))
    assert caught.value.code == "E_SIZE"


def test_an_error_points_at_the_first_offender() -> None:
    with pytest.raises(MalformedError) as caught:
        canonical.encode({"a/b": [{"~": 0.5}]})
    assert caught.value.where == "/a~1b/0/~0"
