"""Values out of tools' files: words that are no numbers, long texts, what is set, figures within their rounding."""

from __future__ import annotations

import hashlib
from fractions import Fraction

import pytest

from ledger.errors import MalformedError
from ledger.ingest.fields import Fields, as_printed, flatten
from ledger.ingest.printed import apart, differs, find_mismatches, is_first_token_cold
from ledger.ingest.statistics import between_ranks, in_order, mean, nearest_even_rank, nearest_rank
from ledger.ingest.values import as_decimal, as_text, printed_number, read_json, read_json_lenient
from ledger.json_input import NonFinite, NumberText


def test_the_lenient_reader_keeps_the_words_as_text_and_says_where() -> None:
    value, places = read_json_lenient(b'{"a/b": [1, NaN, {"c": -Infinity}], "d": Infinity, "e": "Infinity"}', "f")
    assert value == {"a/b": [1, "NaN", {"c": "-Infinity"}], "d": "Infinity", "e": "Infinity"}
    assert places == ("/a~1b/1", "/a~1b/2/c", "/d")
    assert (type(value["d"]), type(value["e"])) == (NonFinite, str)


def test_a_word_alone_stands_at_the_root() -> None:
    assert read_json_lenient(b"NaN", "f") == ("NaN", ("",))


def test_such_a_word_is_no_number_and_no_text() -> None:
    (word,), _ = read_json_lenient(b"[Infinity]", "f")
    with pytest.raises(MalformedError) as caught:
        as_decimal(word, "f/0")
    assert (caught.value.code, caught.value.where) == ("E_NONFINITE", "f/0")
    with pytest.raises(MalformedError) as caught:
        as_text(word, "f/0")
    assert caught.value.code == "E_FIELD"
    assert printed_number(word) is None


@pytest.mark.parametrize(
    ("raw", "code"),
    [(b"1e999", "E_NONFINITE"), (b"[" * 70 + b"]" * 70, "E_DEPTH"), (b"{", "E_JSON"), (b"[nan]", "E_JSON")],
)
def test_the_lenient_reader_is_strict_in_everything_else(raw: bytes, code: str) -> None:
    with pytest.raises(MalformedError) as caught:
        read_json_lenient(raw, "f")
    assert caught.value.code == code


def test_the_strict_reader_refuses_the_words() -> None:
    with pytest.raises(MalformedError) as caught:
        read_json(b"[NaN]", "f")
    assert caught.value.code == "E_NONFINITE"


def test_a_place_is_a_json_pointer() -> None:
    fields = Fields(values={"a/b": {"c": -1}}, where="f")
    with pytest.raises(MalformedError) as caught:
        fields.inner("a/b").number("c")
    assert caught.value.where == "f/a~1b/c"


def test_a_text_that_is_too_long_for_a_receipt_is_its_digest() -> None:
    fields = Fields(values={"short": "x" * 4096, "long": "x" * 4097}, where="f")
    settings = fields.settings()
    assert settings["short"] == "x" * 4096
    digest = hashlib.sha256(b"x" * 4097).hexdigest()
    assert settings["long"] == f"sha256 {digest} of 4097 characters"


def test_what_is_set_and_what_is_not() -> None:
    value = {"n": None, "f": False, "e": "", "l": [], "z": 0, "t": True, "m": [None, 1], "d": {"x": NumberText("1.50")}}
    found = {"a.z": "0", "a.t": "true", "a.m": ", 1", "a.d.x": "1.50"}
    assert flatten(value, "a") == found
    assert flatten(value, "a", unset=(None, "")) == found | {"a.f": "false"}


def test_an_integer_that_a_receipt_cannot_hold_is_reported_as_text() -> None:
    assert [as_printed(each) for each in (2**53 - 1, 2**53, -(2**53), NumberText("1.0"), True, None)] == [
        2**53 - 1,
        str(2**53),
        str(-(2**53)),
        "1.0",
        True,
        None,
    ]


@pytest.mark.parametrize(
    ("printed", "exact", "other"),
    [
        ("33.33", Fraction(100, 3), False),
        ("33.34", Fraction(100, 3), True),
        ("33", Fraction(100, 3), False),
        ("1e3", Fraction(1499), True),
        ("1e3", Fraction(2001, 2), False),
        ("1e3", Fraction(1002), True),
        ("1e-3", Fraction(0), True),
        ("0.000000", Fraction(0), False),
    ],
)
def test_a_printed_figure_is_right_within_half_of_its_last_digit(printed: str, exact: Fraction, other: bool) -> None:
    assert differs(NumberText(printed), exact) == other


@pytest.mark.parametrize("printed", ["5", True, [], {}, NonFinite("NaN"), NumberText("1e-999999")])
def test_what_is_no_number_is_another_figure(printed: object) -> None:
    assert differs(printed, Fraction(5))


def test_figures_that_were_not_printed_are_not_compared() -> None:
    source = Fields(values={"a": {"b": 1}, "c": None}, where="f")
    exact = {"a.b": Fraction(2), "a.x": Fraction(2), "a.b.c": Fraction(2), "c": Fraction(2), "d.e": Fraction(2)}
    assert find_mismatches(source, exact) == ["F_REPORTED_MISMATCH: a.b 1 is not that of the samples"]
    assert find_mismatches(source, exact, Fraction(1)) == []


def test_two_percent_and_ten_times() -> None:
    assert [apart(Fraction(value), Fraction(100)) for value in (98, 102, 97, 103)] == [False, False, True, True]
    assert apart(Fraction(1), Fraction(0))
    assert not apart(Fraction(0), Fraction(0))
    assert [is_first_token_cold(Fraction(value), Fraction(1)) for value in (10, 11)] == [False, True]
    assert not is_first_token_cold(None, Fraction(1))
    assert not is_first_token_cold(Fraction(1), None)
    assert not is_first_token_cold(Fraction(1), Fraction(0))


def test_what_is_printed_in_full_is_no_rounding_off() -> None:
    assert differs(NumberText("33.33"), Fraction(100, 3), rounded=False)
    assert differs(33, Fraction(100, 3), rounded=False)
    assert not differs(33, Fraction(100, 3))
    assert not differs(33, Fraction(100, 3), Fraction(1, 3), rounded=False)
    assert not differs(NumberText("33.33333333333333"), Fraction(100, 3), rounded=False)


def test_percentiles_of_each_definition() -> None:
    assert [between_ranks([10, 20, 40], percent) for percent in (0, 50, 75, 100)] == [10, 20, 30, 40]
    assert [nearest_rank([10, 20, 40], percent) for percent in (0, 33, 34, 66, 67, 100)] == [10, 10, 20, 20, 40, 40]
    assert [nearest_even_rank([10, 20, 40], percent) for percent in (0, 24, 25, 26, 75, 76)] == [10, 10, 10, 20, 40, 40]
    assert {between_ranks([7], 99), nearest_rank([7], 99), nearest_even_rank([7], 99)} == {7}
    assert between_ranks([0, 10**20], Fraction("99.9")) == 999 * 10**17
    assert nearest_rank(range(1, 1001), Fraction("99.9")) == 999


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 8, 9, 31])
def test_a_mean_is_exact_for_any_number_of_values(count: int) -> None:
    values = [Fraction(at + 2, 2 * at + 1) for at in range(count)]
    assert mean(values) == sum(values, Fraction(0)) / count


def test_values_that_are_one_double_are_still_put_in_order() -> None:
    values = [Fraction(10**20 + at, 10**20) for at in (3, 1, 2)]
    assert in_order(values) == sorted(values)
