"""What the formats of timed commands and functions share, and what may stand anywhere in their files."""

from __future__ import annotations

from fractions import Fraction
from statistics import median, quantiles, variance
from typing import TYPE_CHECKING, Any

import pytest

from ledger import canonical
from ledger.errors import MalformedError, RefusedError
from ledger.ingest import ADAPTERS, recognise
from ledger.ingest.build import build_round
from ledger.ingest.options import RoundOptions
from ledger.ingest.run import Run
from ledger.ingest.timed import (
    compare_printed,
    deviation_differs,
    differs,
    read_duration,
    read_epoch_ms,
    read_start,
    reported_value,
    setting_text,
    setting_texts,
    summarise,
    total_ns,
    whole_ns,
)
from ledger.ingest.values import read_json
from ledger.kinds import check_body
from ledger.schema import validate
from tests.support.timed import SAMPLES, changed, raw

if TYPE_CHECKING:
    from collections.abc import Iterator

DIGEST = "0" * 64
NAMES = list(SAMPLES)


def places(value: Any, path: str = "") -> Iterator[str]:  # noqa: ANN401 - any JSON value
    """Every place in a document but the whole."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, child in items:
        yield f"{path}/{step}"[1:] if not path else f"{path}/{step}"
        yield from places(child, f"{path}/{step}" if path else str(step))


def body_of(name: str, document: object) -> dict[str, Any]:
    rows = ADAPTERS[name].read(raw(document), "f")
    body = build_round(
        [Run(role="main", name="f", raw=b"", rows=rows[:1])],
        RoundOptions(
            tool=name,
            slot={"project": "p", "node": "n", "quant": "q", "context": "0", "metric": rows[0].metrics[0]},
            code={"main": DIGEST},
            weights=DIGEST,
            harness=DIGEST,
            environment={} if rows[0].environment else {"cpu": "a cpu"},
            commits={"main": "abc1234"},
            started_at={"main": ["2027-01-15T08:00:00Z"]} if not rows[0].started_at else {},
            zone="+00:00",
        ),
    ).body
    validate("round-input", body)
    check_body("round", body)
    return body


# All four formats.


@pytest.mark.parametrize("name", NAMES)
def test_a_sound_file_is_a_round_without_a_note_of_a_fault(name: str) -> None:
    body_of(name, SAMPLES[name])
    notes = {note.partition(":")[0] for row in ADAPTERS[name].read(raw(SAMPLES[name]), "f") for note in row.notes}
    assert notes <= {"F_AGGREGATE_SKIPPED"}


@pytest.mark.parametrize("name", NAMES)
def test_a_file_is_recognised_by_one_adapter(name: str) -> None:
    assert recognise(raw(SAMPLES[name]), "f").name == name
    assert [each.name for each in ADAPTERS.values() if each.recognises(raw(SAMPLES[name]))] == [name]


STRANGE: list[Any] = [
    None,
    True,
    False,
    0,
    -1,
    1,
    2**53 - 1,
    2**70,
    1.5,
    -0.25,
    1e308,
    1e-320,
    float("nan"),
    float("-inf"),
    "",
    "text",
    "x" * 5000,
    "\x1b[1m",
    "ü",
    [],
    [None],
    [[[]]],
    {},
    {"a": {"b": [1]}},
]


@pytest.mark.parametrize("name", NAMES)
def test_any_value_anywhere_gives_rows_or_a_refusal(name: str) -> None:
    accepted, refused = 0, []
    for path in places(SAMPLES[name]):
        for value in (..., *STRANGE):
            try:
                rows = ADAPTERS[name].read(raw(changed(SAMPLES[name], path, value)), "f")
            except MalformedError as err:
                refused.append(err)
                continue
            accepted += 1
            for row in rows:
                canonical.encode([row.records, row.reported, row.settings, row.environment, row.harness])
                assert min(row.records["wall_ns"]) > 0
    assert accepted > 200
    assert all(err.where.startswith("f") or err.code == "E_NONFINITE" for err in refused)
    assert max(len(str(err)) for err in refused) < 500


@pytest.mark.parametrize("name", NAMES)
def test_what_is_accepted_can_be_sealed(name: str) -> None:
    sealed = 0
    for path in places(SAMPLES[name]):
        for value in (..., None, "", 7, "text"):
            strange = changed(SAMPLES[name], path, value)
            try:
                body_of(name, strange)
            except (MalformedError, RefusedError):
                continue
            sealed += 1
    assert sealed > 50


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("text", "code"),
    [
        (b"", "E_JSON"),
        (b"[]", "E_FORMAT"),
        (b"{}", "E_FORMAT"),
        (b'{"results": 1, "benchmarks": 1, "machine_info": {}, "commit_hash": ""}', "E_FORMAT"),
        (b"\xff", "E_UTF8"),
        (b'{"results": [', "E_JSON"),
        (b'{"a": 1, "a": 1}', "E_DUPLICATE_KEY"),
        (b'{"a": 1e999}', "E_NONFINITE"),
        (b'{"a": ' + b"9" * 5000 + b"}", "E_DOMAIN"),
        (b'{"a": ' + b"[" * 70 + b"]" * 70 + b"}", "E_DEPTH"),
    ],
)
def test_what_is_no_file_of_the_tool_is_refused(name: str, text: bytes, code: str) -> None:
    with pytest.raises(MalformedError) as caught:
        ADAPTERS[name].read(text, "f")
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("hyperfine", "results/0/times/1"),
        ("pytest-benchmark", "benchmarks/0/stats/data/1"),
        ("google-benchmark", "benchmarks/1/real_time"),
        ("asv", "results/bench.time_sum/11/0/1"),
    ],
)
@pytest.mark.parametrize(
    ("value", "code"),
    [
        (0, "E_ZERO_TIME"),
        (0.0, "E_ZERO_TIME"),
        (-1, "E_SAMPLE"),
        (True, "E_SAMPLE"),
        ("0.2", "E_SAMPLE"),
        ([], "E_SAMPLE"),
        (1e300, "E_SAMPLE"),
        (9_007_199_254_740_991, "E_SAMPLE"),
    ],
)
def test_what_is_no_duration_is_refused_with_its_place(name: str, path: str, value: object, code: str) -> None:
    with pytest.raises(MalformedError) as caught:
        ADAPTERS[name].read(raw(changed(SAMPLES[name], path, value)), "f")
    assert (caught.value.code, caught.value.where) == (code, f"f/{path}")


# Durations.


@pytest.mark.parametrize(
    ("seconds", "ns"),
    [("9.877873458520002", 9_877_873_459), ("5e-10", 0), ("15e-10", 2), ("25e-10", 2), ("2.5000000001e-9", 3)],
)
def test_a_duration_is_rounded_half_to_even(seconds: str, ns: int) -> None:
    if ns:
        assert whole_ns(Fraction(seconds), 10**9, "f") == ns
    else:
        with pytest.raises(MalformedError) as caught:
            whole_ns(Fraction(seconds), 10**9, "f")
        assert caught.value.code == "E_ZERO_TIME"


def test_durations_beyond_what_is_exact_are_refused() -> None:
    assert whole_ns(Fraction(2**53 - 1), 1, "f") == 2**53 - 1
    assert total_ns([2**53 - 2, 1], "f") == 2**53 - 1
    with pytest.raises(MalformedError) as one:
        whole_ns(Fraction(2**53), 1, "f")
    with pytest.raises(MalformedError) as all_of_them:
        total_ns([2**53 - 1, 1], "f")
    assert (one.value.code, all_of_them.value.code) == ("E_SAMPLE", "E_SAMPLE")


@pytest.mark.parametrize("text", [b"1e-401", b"1e-999999999", b"1E-99999999999999999999"])
def test_a_number_of_a_billion_digits_is_refused_and_not_calculated(text: bytes) -> None:
    (number,) = read_json(b"[" + text + b"]", "f")
    with pytest.raises(MalformedError) as caught:
        read_duration(number, "f")
    assert caught.value.code == "E_SAMPLE"


# Statistics.


@pytest.mark.parametrize("texts", [["1"], ["2", "1"], ["0.1", "0.25", "3"], ["5", "1", "4", "1", "5.5", "9"]])
def test_statistics_are_those_of_the_standard_library(texts: list[str]) -> None:
    values = [Fraction(text) for text in texts]
    found = summarise(values)
    assert found.exact == {
        "mean": sum(values) / len(values),
        "median": median(values),
        "min": min(values),
        "max": max(values),
        "total": sum(values),
    }
    if len(values) > 1:
        assert found.variance == variance(values)
        low, _, high = quantiles(values, method="inclusive")
        assert found.quartiles == (low, high)
    else:
        assert (found.variance, found.quartiles) == (None, (values[0], values[0]))


def test_a_printed_figure_agrees_within_what_a_double_loses() -> None:
    exact = Fraction(1, 3)
    number = read_json(b"[0.3333333333333333, 0.333333333, 0.33333333, 1e-999999999]", "f")
    assert [differs(each, exact) for each in number] == [False, False, True, True]
    assert not differs(None, exact)
    assert differs("fast", exact)
    assert not differs(number[2], exact, Fraction(1, 10**6))


def test_a_printed_deviation_is_compared_by_its_square() -> None:
    two = summarise([Fraction(1), Fraction(3)])  # the variance is 2
    number = read_json(b"[1.4142135623730951, 1.41421356, 1.4142, -1.4142135623730951, 0]", "f")
    assert [deviation_differs(each, two) for each in number] == [False, True, True, True, True]
    assert not deviation_differs(None, two)
    assert not deviation_differs(number[4], summarise([Fraction(1)]))
    assert deviation_differs("none", two)
    (thousandth,) = read_json(b"[0.0014142135623730951]", "f")
    assert not deviation_differs(thousandth, two, 1000)


def test_every_wrong_figure_is_named() -> None:
    printed = dict(zip(("mean", "stddev", "max"), read_json(b"[2, 1.5, 3.5]", "f"), strict=True))
    assert compare_printed(printed, summarise([Fraction(1), Fraction(3)])) == [
        "F_REPORTED_MISMATCH: max 3.5 is not that of the samples",
        "F_REPORTED_MISMATCH: stddev 1.5 is not that of the samples",
    ]


# Texts and times.


def test_settings_are_plain_and_of_bounded_length() -> None:
    members = read_json(b'{"a": null, "b": true, "c": 1.50, "d": 7, "e": "x"}', "f")
    assert setting_texts(members, "f", "p/") == {"p/a": "", "p/b": "true", "p/c": "1.50", "p/d": "7", "p/e": "x"}
    assert setting_texts(None, "f") == {}
    assert setting_text("x" * 4096, "f") == "x" * 4096
    for value, where in (({"a/b": [1]}, "f/a~1b"), ({"a": {}}, "f/a"), ({"a": "x" * 4097}, "f/a"), ([], "f")):
        with pytest.raises(MalformedError) as caught:
            setting_texts(value, "f")
        assert (caught.value.code, caught.value.where) == ("E_FIELD", where)


def test_what_was_printed_is_kept_as_printed() -> None:
    value = read_json(b'[1.50, 2, null, [1.5, {"b": 1, "a": 2}], {"a": 1.5}]', "f")
    assert reported_value(value) == ["1.50", 2, None, '["1.5",{"a":2,"b":1}]', '{"a":"1.5"}']
    assert reported_value(value[4]) == '{"a":"1.5"}'


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("2027-01-15T10:00:00+02:00", "2027-01-15T08:00:00Z"),
        ("2027-01-15T10:00:00+0200", "2027-01-15T08:00:00Z"),
        ("2027-01-15T08:00:00.999999+00:00", "2027-01-15T08:00:00Z"),
        ("2027-01-15T08:00:00Z", "2027-01-15T08:00:00Z"),
        ("2027-01-15 08:00:00", "2027-01-15T08:00:00"),
        ("2027-01-15T08:00:00.5", "2027-01-15T08:00:00"),
    ],
)
def test_a_start_has_a_zone_or_is_local(text: str, start: str) -> None:
    assert read_start(text, "f") == start


@pytest.mark.parametrize(
    "value",
    [
        *("", "now", "2027-02-30T00:00:00", "2027-01-15T24:00:00", "2027-01-15T08:00:00+99:00", "2027-01-15"),
        *("0001-01-01T00:00:00+23:00", "9999-12-31T23:59:59-23:00", "1969-12-31T23:59:59Z", 7, None),
    ],
)
def test_what_is_no_start_is_refused(value: object) -> None:
    with pytest.raises(MalformedError) as caught:
        read_start(value, "f/date")
    assert (caught.value.code, caught.value.where) == ("E_FIELD", "f/date")


def test_milliseconds_since_1970_are_a_start() -> None:
    assert read_epoch_ms(1_800_000_000_999, "f") == "2027-01-15T08:00:00Z"
    assert read_epoch_ms(None, "f") == ""
    for value in (0, -1, True, "1", 2**53 - 1, 253_370_764_800_000):
        with pytest.raises(MalformedError) as caught:
            read_epoch_ms(value, "f")
        assert caught.value.code == "E_FIELD"
