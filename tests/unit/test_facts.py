"""Facts from raw records, and the registry of metrics."""

# ruff: noqa: N802 - the names of cases have capitals

from __future__ import annotations

import statistics
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.metrics import METRICS
from ledger.schema import load_schema, validate_slowly
from ledger.scoring.facts import ArmFact, decimal_text, facts_to_json, median, record_values, round_facts
from tests.cli.samples import make_rep, make_round

NS = 10**9
fractions = st.fractions(min_value=-(10**9), max_value=10**9)


def one_fact(*reps: dict[str, Any]) -> ArmFact:
    """The only fact of a round of these repetitions."""
    (fact,) = round_facts(make_round(reps=list(reps)))
    return fact


def columns(**records: list[Any]) -> dict[str, Any]:
    return {"records": records}


def prefill(*walls: int | None, **others: list[Any]) -> dict[str, Any]:
    """Records of prompts of 512 tokens that took these nanoseconds."""
    return columns(wall_ns=list(walls), prompt_tokens=[512] * len(walls), **others)


# median


@pytest.mark.parametrize(
    ("values", "middle"),
    [
        ([7], Fraction(7)),
        ([3, 1, 2], Fraction(2)),
        ([1, 2], Fraction(3, 2)),
        ([4, 1, 3, 2], Fraction(5, 2)),
        ([1, 1, 1, 100], Fraction(1)),
        ([-1, 0, 1], Fraction(0)),
    ],
)
def test_the_median_is_the_middle_or_the_mean_of_the_two_in_the_middle(values: list[int], middle: Fraction) -> None:
    assert median([Fraction(value) for value in values]) == middle


@given(st.lists(fractions, min_size=1, max_size=30))
def test_the_median_is_that_of_the_standard_library(values: list[Fraction]) -> None:
    assert median(values) == statistics.median(values)


@given(st.lists(fractions, min_size=1, max_size=30), st.randoms())
def test_the_median_does_not_depend_on_the_order(values: list[Fraction], random: Any) -> None:  # noqa: ANN401 - a generator that hypothesis steers
    shuffled = list(values)
    random.shuffle(shuffled)
    assert median(shuffled) == median(values)


# decimal_text


@pytest.mark.parametrize(
    ("value", "places", "text"),
    [
        (Fraction(0), 6, "0.000000"),
        (Fraction(1, 3), 6, "0.333333"),
        (Fraction(2, 3), 6, "0.666667"),
        (Fraction(-2, 3), 6, "-0.666667"),
        (Fraction(-1, 3), 2, "-0.33"),
        (Fraction(1, 2 * 10**6), 6, "0.000000"),
        (Fraction(3, 2 * 10**6), 6, "0.000002"),
        (Fraction(-1, 10**9), 6, "0.000000"),
        (Fraction(5, 2), 0, "2"),
        (Fraction(7, 2), 0, "4"),
        (Fraction(-7, 2), 0, "-4"),
        (Fraction(10**20), 1, f"{10**20}.0"),
        (Fraction(1, 100), 2, "0.01"),
    ],
)
def test_a_decimal_is_rounded_half_to_even_and_keeps_its_sign_and_its_zeros(
    value: Fraction, places: int, text: str
) -> None:
    assert decimal_text(value, places) == text


@given(fractions, st.integers(0, 12))
def test_a_decimal_is_the_one_that_the_decimal_module_gives(value: Fraction, places: int) -> None:
    with localcontext(prec=60):
        scaled = Decimal(round(value * 10**places))
        expected = (scaled / 10**places).quantize(Decimal(1).scaleb(-places), ROUND_HALF_EVEN)
    assert Decimal(decimal_text(value, places)) == expected


@given(fractions)
def test_a_decimal_is_at_most_half_a_unit_away_and_satisfies_its_schema(value: Fraction) -> None:
    text = decimal_text(value)
    assert abs(Fraction(text) - value) <= Fraction(1, 2 * 10**6)
    assert not text.startswith("-0.000000")
    assert len(text.rpartition(".")[2]) == 6


# record_values


def test_each_record_gives_its_own_exact_value() -> None:
    values = record_values(METRICS["prefill_tok_s"], prefill(3, 7)["records"])
    assert values == (Fraction(512 * NS, 3), Fraction(512 * NS, 7))


def test_a_record_that_failed_gives_no_value() -> None:
    records = prefill(5, 10, 20, ok=[True, False, True])["records"]
    assert record_values(METRICS["prefill_tok_s"], records) == (Fraction(512 * NS, 5), Fraction(512 * NS, 20))


def test_a_record_in_which_a_column_was_not_observed_gives_no_value() -> None:
    records = {"wall_ns": [5, None, 20], "prompt_tokens": [512, 512, None]}
    assert record_values(METRICS["prefill_tok_s"], records) == (Fraction(512 * NS, 5),)


def test_a_column_that_the_metric_does_not_need_may_lack_values() -> None:
    records: dict[str, list[Any]] = {"wall_ns": [5], "prompt_tokens": [None]}
    assert record_values(METRICS["wall"], records) == (Fraction(5, 10**6),)


@pytest.mark.parametrize(
    ("metric", "records", "value"),
    [
        (
            "decode_tok_s",
            {"completion_tokens": [101], "e2e_ns": [1_100_000_000], "ttft_ns": [100_000_000]},
            Fraction(100),
        ),
        ("gen_tok_s", {"completion_tokens": [64], "wall_ns": [NS // 2]}, Fraction(128)),
        ("prefill_tok_s", {"prompt_tokens": [512], "wall_ns": [NS // 4]}, Fraction(2048)),
        ("ttft", {"ttft_ns": [1_500_000]}, Fraction(3, 2)),
        ("wall", {"wall_ns": [2_500_000]}, Fraction(5, 2)),
        ("tokens_per_round", {"completion_tokens": [10], "rounds": [4]}, Fraction(9, 4)),
        ("ms_per_round", {"decode_ns": [3_000_000], "rounds": [4]}, Fraction(3, 4)),
    ],
)
def test_every_metric_has_the_formula_that_its_text_says(
    metric: str, records: dict[str, list[int]], value: Fraction
) -> None:
    assert record_values(METRICS[metric], records) == (value,)
    assert tuple(records) == METRICS[metric].columns


@pytest.mark.parametrize(
    ("metric", "records"),
    [
        pytest.param("decode_tok_s", {"completion_tokens": [1], "e2e_ns": [9], "ttft_ns": [1]}, id="one-token"),
        pytest.param("decode_tok_s", {"completion_tokens": [0], "e2e_ns": [9], "ttft_ns": [1]}, id="no-token"),
        pytest.param("decode_tok_s", {"completion_tokens": [64], "e2e_ns": [9], "ttft_ns": [9]}, id="not-streamed"),
        pytest.param("decode_tok_s", {"completion_tokens": [64], "e2e_ns": [9], "ttft_ns": [10]}, id="two-clocks"),
        pytest.param("gen_tok_s", {"completion_tokens": [0], "wall_ns": [9]}, id="nothing-generated"),
        pytest.param("gen_tok_s", {"completion_tokens": [9], "wall_ns": [0]}, id="no-time"),
        pytest.param("ttft", {"ttft_ns": [0]}, id="zero-is-not-measured"),
        pytest.param("ms_per_round", {"decode_ns": [9], "rounds": [0]}, id="no-round"),
        pytest.param("tokens_per_round", {"completion_tokens": [1], "rounds": [1]}, id="only-the-first-token"),
    ],
)
def test_where_a_formula_is_not_defined_there_is_no_value_and_no_infinity(
    metric: str, records: dict[str, list[int]]
) -> None:
    assert record_values(METRICS[metric], records) == ()


def test_C11_a_prompt_that_a_cache_knew_is_read_at_the_rate_of_what_was_computed() -> None:
    records = {"prompt_tokens": [8192, 8192], "cached_tokens": [0, 8176], "wall_ns": [820 * 10**6, 40 * 10**6]}
    assert record_values(METRICS["prefill_tok_s"], records) == (Fraction(8192 * 100, 82), Fraction(400))
    del records["cached_tokens"]
    assert record_values(METRICS["prefill_tok_s"], records)[1] == 204_800


@pytest.mark.parametrize(
    ("cached", "ok", "rates"),
    [
        ([0, 512, 256], None, (1024, 512)),  # of a prompt that was wholly cached nothing was read
        ([0, None, 256], None, (1024, 512)),  # nor is it known of one of which the cache says nothing
        ([512, 512, 512], None, ()),
        ([0, 256, 256], [True, False, True], (1024, 512)),
        ([0, None, 256], [True, True, False], (1024,)),
    ],
)
def test_C11_a_record_without_computed_tokens_has_no_prefill_rate(
    cached: list[int | None], ok: list[bool] | None, rates: tuple[int, ...]
) -> None:
    records: dict[str, list[Any]] = {"prompt_tokens": [512] * 3, "cached_tokens": cached, "wall_ns": [NS // 2] * 3}
    if ok is not None:
        records["ok"] = ok
    assert record_values(METRICS["prefill_tok_s"], records) == rates


def test_C11_a_cache_changes_no_other_figure() -> None:
    records = {"completion_tokens": [101], "cached_tokens": [512], "ttft_ns": [1], "e2e_ns": [1 + NS], "wall_ns": [NS]}
    found = {name: record_values(METRICS[name], records) for name in ("decode_tok_s", "ttft", "wall", "gen_tok_s")}
    assert found == {"decode_tok_s": (100,), "ttft": (Fraction(1, 10**6),), "wall": (1000,), "gen_tok_s": (101,)}


# round_facts


def test_the_value_of_a_repetition_is_the_median_of_its_records_and_of_an_arm_the_median_of_its_repetitions() -> None:
    fact = one_fact(
        make_rep(0, "main", **prefill(512, 1024, 2048)),
        make_rep(1, "main", **prefill(256)),
        make_rep(2, "main", **prefill(512, 1024)),
    )
    assert [rep.median for rep in fact.reps] == [Fraction(NS, 2), Fraction(2 * NS), Fraction(3 * NS, 4)]
    assert fact.reps[0].mean == Fraction(NS + NS // 2 + NS // 4, 3)
    assert (fact.median, fact.lowest, fact.highest) == (Fraction(3 * NS, 4), Fraction(NS, 2), Fraction(2 * NS))


def test_one_slow_sample_moves_nothing() -> None:
    usual, slow = (make_rep(0, "main", **prefill(100, 100, wall)) for wall in (100, 10**12))
    assert one_fact(slow).median == one_fact(usual).median
    assert one_fact(slow).reps[0].mean < one_fact(usual).reps[0].mean


def test_warm_up_is_kept_out() -> None:
    warm = make_rep(0, "main", warmup=True, **prefill(1))
    fact = one_fact(warm, make_rep(1, "main", **prefill(512)))
    assert [rep.order for rep in fact.reps] == [1]
    assert fact.median == NS


def test_a_repetition_without_a_single_value_is_kept_out() -> None:
    failed = make_rep(0, "main", **prefill(5, ok=[False]))
    empty = make_rep(1, "main", **prefill(None))
    fact = one_fact(failed, empty, make_rep(2, "main", **prefill(512)))
    assert [rep.order for rep in fact.reps] == [2]


def test_a_round_without_any_value_has_no_fact() -> None:
    assert round_facts(make_round(reps=[make_rep(0, "main", **prefill(None))])) == []


def test_arms_metrics_and_contexts_are_never_mixed() -> None:
    reps = [
        make_rep(0, "main", **prefill(1)),
        make_rep(1, "candidate", **prefill(2)),
        make_rep(2, "main", context=1024, **prefill(4)),
        make_rep(3, "main", metrics=["wall", "prefill_tok_s"], **prefill(8)),
    ]
    facts = round_facts(make_round(reps=reps))
    assert [(fact.metric.name, fact.context, fact.arm, len(fact.reps)) for fact in facts] == [
        ("prefill_tok_s", 512, "candidate", 1),
        ("prefill_tok_s", 512, "main", 2),
        ("prefill_tok_s", 1024, "main", 1),
        ("wall", 512, "main", 1),
    ]


def test_what_the_tool_reported_is_never_used() -> None:
    reported = [{"source": {"attachment": "a", "row": 0}, "values": {"avg_ts": "99999"}}]
    reps = [make_rep(0, "main", **prefill(512))]
    assert round_facts(make_round(reps=reps, reported=reported)) == round_facts(make_round(reps=reps))


@given(st.lists(st.integers(1, 10**12), min_size=1, max_size=9))
def test_facts_are_exact(walls: list[int]) -> None:
    fact = one_fact(make_rep(0, "main", **prefill(*walls)))
    assert fact.median == statistics.median(Fraction(512 * NS, wall) for wall in walls)


def test_the_spread_is_the_range_in_per_cent_of_the_median() -> None:
    fact = one_fact(*[make_rep(order, "main", **prefill(wall)) for order, wall in enumerate((512, 640, 1024))])
    assert fact.spread_pct == Fraction(100) * (NS - Fraction(NS, 2)) / Fraction(4 * NS, 5)


def test_one_repetition_has_no_spread_and_two_equal_ones_have_none_to_speak_of() -> None:
    single, double = (one_fact(*[make_rep(at, "main", **prefill(512)) for at in range(count)]) for count in (1, 2))
    assert single.spread_pct is None
    assert double.spread_pct == 0


def test_the_json_of_facts_satisfies_its_schema_and_keeps_the_exact_value() -> None:
    reps = [make_rep(order, arm, **prefill(3, 7)) for order, arm in enumerate(("main", "candidate", "main"))]
    documents = facts_to_json(round_facts(make_round(reps=reps)))
    assert [item["median_exact"] for item in documents] == [str(Fraction(512 * NS * 10, 42))] * 2
    assert [item["spread_pct"] for item in documents] == [None, "0.000000"]
    assert documents[0]["reps"][0]["records"] == 2
    show = {
        "rungbook": "show/v1", "index": 0, "sha256": "0" * 64, "statement": "0" * 64, "kind": "round",
        "standing": "attested", "facts": documents, "receipt": {},
    }  # fmt: skip
    show["receipt"] = {"receipt": "v1", "seal": _SEAL, "signatures": _SIGNATURES, "statement": _STATEMENT}
    validate_slowly("output-show", show)


_SEAL = {"index": 0, "prev": "0" * 64, "sealed_at": "2026-11-29T20:00:00Z"}
_SIGNATURES = [{"keyid": "SHA256:" + "A" * 43, "sig": "A" * 86 + "=="}]
_STATEMENT: dict[str, Any] = {"_type": "", "predicate": {}, "predicateType": "", "subject": []}


# The registry and the schema.


def test_the_schema_knows_the_metrics_of_the_registry_and_no_other() -> None:
    assert load_schema("common")["$defs"]["metric"]["enum"] == sorted(METRICS)
    assert all(name == metric.name for name, metric in METRICS.items())


def test_every_column_of_a_metric_is_a_column_of_records_that_may_lack_values() -> None:
    records = load_schema("round-input")["properties"]["reps"]["items"]["properties"]["records"]["properties"]
    for metric in METRICS.values():
        for column in metric.columns:
            assert records[column]["items"]["type"] == ["integer", "null"]


def test_every_rate_is_better_higher_and_every_time_is_better_lower() -> None:
    for metric in METRICS.values():
        assert metric.better == ("lower" if metric.unit.startswith(("ms", "ns")) else "higher")
        assert metric.text
