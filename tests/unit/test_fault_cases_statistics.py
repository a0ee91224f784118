"""Repetitions in time and the limits of a machine: faults of data that people reported, by their number."""

# ruff: noqa: N802 - the names of cases have capitals

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from typing import TYPE_CHECKING, Any

import pytest

from ledger.flags import QUARANTINE
from ledger.ingest.checks.series import count_pairs, drifts, is_cold
from ledger.scoring.facts import decimal_text
from tests.support.examined import MS, S, body_of, codes, examine, fact_of, rep, slot, stream
from tests.support.rounds import sha256_hex

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger.canonical import JsonObject

HEATING = (1_278_389, 1_317_287, 1_320_820, 1_322_303, 1_338_569, 1_369_920)
ONE_AFTER_THE_OTHER = ("main",) * 3 + ("candidate",) * 3
IN_TURNS = ("main", "candidate") * 3


def walls(times: Sequence[int], arms: Sequence[str]) -> JsonObject:
    """Repetitions of one sample each, in ms."""
    return body_of(
        *(
            rep({"wall_ns": [time * MS]}, "wall", arm=arm, wall_ns=time * MS)
            for time, arm in zip(times, arms, strict=True)
        )
    )


def speeds(*rates: int, **members: Any) -> list[JsonObject]:  # noqa: ANN401 - members of a repetition
    """Repetitions of ten seconds, in tenths of a token a second."""
    return [rep({"completion_tokens": [rate], "wall_ns": [10 * S]}, "gen_tok_s", **members) for rate in rates]


# Drift.


def test_C27_times_that_rise_through_both_arms_are_drift_and_no_difference_of_the_arms() -> None:
    drift, confounded = examine(walls(HEATING, ONE_AFTER_THE_OTHER))
    assert drift.startswith(
        "F_DRIFT: wall at context 0 rises with time in 15 of 15 pairs of 6 repetitions, from 1278389"
    )
    assert confounded.startswith(
        "F_CONFOUNDED: wall at context 0 changes with time and each arm ran in one go: arm and"
    )
    assert {"F_CONFOUNDED"} < QUARANTINE
    main, candidate = (sum(HEATING[at : at + 3]) for at in (0, 3))
    assert decimal_text(100 * Fraction(candidate, main) - 100, 2) == "2.92"


@pytest.mark.parametrize(("metric", "context"), [("ttft", 0), ("decode_tok_s", 0), ("decode_tok_s", 512)])
def test_C27_only_drift_of_the_slot_itself_confounds_the_arms(metric: str, context: int) -> None:
    # The first token comes later and later, and every token after it at one rate.
    reps = [rep(stream((101, first, first + 1000)), "ttft", "decode_tok_s", arm=arm)
            for first, arm in zip(range(100, 106), ONE_AFTER_THE_OTHER, strict=True)]  # fmt: skip
    away = [rep(stream((101, 100, 1100), prompt_tokens=[512]), "ttft", "decode_tok_s", arm=arm, context=512)
            for arm in ("main", "candidate")]  # fmt: skip
    notes = examine(body_of(away[0], *reps, away[1], slot=slot(metric=metric, context=context)))
    assert codes(notes) == ["F_DRIFT"] + ["F_CONFOUNDED"] * (metric == "ttft")
    assert all("ttft at context 0" in note for note in notes)


def test_C27_one_exchange_among_six_is_still_drift_and_two_are_not() -> None:
    one, two = (2, 1, 3, 4, 5, 6), (2, 1, 4, 3, 5, 6)
    assert codes(examine(walls(one, IN_TURNS))) == ["F_DRIFT"]
    assert examine(walls(two, IN_TURNS)) == []
    (note,) = examine(walls([100 - time for time in one], IN_TURNS))
    assert "falls with time in 14 of 15 pairs" in note


def test_C27_a_difference_of_arms_that_take_turns_is_no_drift() -> None:
    assert examine(walls((100, 200, 101, 199, 102, 201, 100, 198), ("main", "candidate") * 4)) == []


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 6, 7])
def test_C27_chance_is_called_drift_at_most_once_in_a_hundred_in_each_direction(count: int) -> None:
    rising = found = 0
    for order in permutations(map(Fraction, range(count))):
        found += 1
        up, down = count_pairs(order)
        rising += drifts(order) and up > down
    assert rising <= found / 100
    assert (rising > 0) == (count >= 5)


def test_C27_equal_values_go_no_way() -> None:
    assert count_pairs([Fraction(1)] * 3) == (0, 0)
    assert not drifts([Fraction(1)] * 20)


def test_C28_three_values_that_fall_are_not_drift() -> None:
    assert examine(body_of(*speeds(503, 501, 500))) == []
    assert examine(body_of(*speeds(503, 502, 501, 500))) == []
    assert codes(examine(body_of(*speeds(504, 503, 502, 501, 500)))) == ["F_DRIFT"]
    samples = rep({"completion_tokens": [503, 501, 500], "wall_ns": [10 * S] * 3}, "gen_tok_s")
    assert examine(body_of(samples)) == []


# Cold.


def test_C29_a_cold_first_repetition_is_said_and_kept() -> None:
    body = body_of(*speeds(937, 1994, 2010, 1988))
    (note,) = examine(body)
    assert note == (
        "F_COLD_FIRST: the first repetition gives 93.7 for gen_tok_s of main, the others 198.8 to 201; no repetition "
        "is marked as warm-up (at /reps/0)"
    )
    fact = fact_of(body, "gen_tok_s")
    assert len(fact.reps) == 4
    assert decimal_text(fact.median, 1) == "199.1"
    assert decimal_text(sum(rep.median for rep in fact.reps) / Fraction(4), 1) == "173.2"


def test_C29_a_cold_first_sample_of_a_repetition_is_said_and_kept() -> None:
    samples = rep({"completion_tokens": [937, 1994, 2010, 1988], "wall_ns": [10 * S] * 4}, "gen_tok_s")
    body = body_of(samples)
    (note,) = examine(body)
    assert note.startswith(
        "F_COLD_SAMPLE: the first sample gives 93.7 for gen_tok_s of main, the others 198.8 to 201; "
    )
    (found,) = fact_of(body, "gen_tok_s").reps
    assert (decimal_text(found.median, 1), decimal_text(found.mean, 1)) == ("199.1", "173.2")


def test_C29_it_is_said_although_there_was_a_warm_up() -> None:
    (note,) = examine(body_of(*speeds(500, warmup=True), *speeds(937, 1994, 2010, 1988)))
    assert "marked as warm-up" not in note


@pytest.mark.parametrize(
    ("values", "lower", "cold"),
    [
        ((90, 100, 101), False, True),
        ((91, 100, 101), False, False),
        ((80, 100, 119), False, True),
        ((80, 100, 120), False, False),
        ((111, 100, 99), True, True),
        ((110, 100, 99), True, False),
        ((50, 100), False, False),
        ((200, 100, 101), False, False),
    ],
)
def test_C29_cold_is_a_tenth_apart_and_more_than_the_others_differ(
    values: tuple[int, ...], *, lower: bool, cold: bool
) -> None:
    assert is_cold([*map(Fraction, values)], lower=lower) == cold


# The ceiling.


def decoding(tokens: int = 901, **members: Any) -> JsonObject:  # noqa: ANN401 - members of a round
    given: dict[str, Any] = {
        "environment": {"gpu": "H100-SXM", "extra": {"peak_gbps": "3350"}},
        "weights": {"sha256": sha256_hex("w"), "size": 4_000_000_000},
    } | members
    return body_of(rep(stream((tokens, 100, 1100)), workload={"batch": 1}), **given)


def test_C26_more_than_the_memory_can_deliver_is_for_a_reviewer() -> None:
    body = decoding()
    (note,) = examine(body)
    assert note == "F_PLAUSIBILITY: 900 tok/s of main mean 3600 GB/s, 1.075 times the peak of 3350 (at /reps/0)"
    assert fact_of(body, "decode_tok_s").median == 900
    assert examine(decoding(838)) == []  # 837 tok/s are 3348 GB/s


@pytest.mark.parametrize(
    "members",
    [
        {"weights": {"sha256": sha256_hex("w")}},
        {"weights": {"sha256": sha256_hex("w"), "size": 4_000_000_000, "type": "qwen3moe 30B.A3B Q4_K"}},
        {"weights": {"sha256": sha256_hex("w"), "size": 4_000_000_000, "name": "Mixtral-8x7B.gguf"}},
        {"weights": {"sha256": sha256_hex("w"), "size": 4_000_000_000, "name": "Qwen3-30B-A3B.gguf"}},
        {"environment": {"gpu": "H100-SXM"}},
        {"environment": {"gpu": "H100-SXM", "extra": {"peak_gbps": "fast"}}},
        {"environment": {"gpu": "H100-SXM", "extra": {"peak_gbps": "0"}}},
        {"environment": {"gpu": "H100-SXM", "gpus": 2, "extra": {"peak_gbps": "3350"}}},
        {"environment": {"gpu": "H100-SXM", "extra": {"peak_gbps": "3350", "bytes_per_token": "1000000000"}}},
        {"environment": {"gpu": "H100-SXM", "extra": {"peak_gbps": "3350", "bytes_per_token": "?"}}},
        {"arms": [{"role": "main", "code_sha256": sha256_hex("c"), "settings": {"spec_method": "mtp"}}]},
    ],
    ids=str,
)
def test_C26_nothing_is_said_where_a_step_may_read_less_or_give_more(members: JsonObject) -> None:
    assert examine(decoding(**members)) == []


def test_C26_a_mixture_of_experts_is_judged_by_what_one_step_reads() -> None:
    extra = {"peak_gbps": "3350", "bytes_per_token": "4000000000"}
    weights = {"sha256": sha256_hex("w"), "size": 40_000_000_000, "type": "moe"}
    settings = {"draft_model": "none"}
    arms = [{"role": "main", "code_sha256": sha256_hex("c"), "settings": settings}]
    body = decoding(weights=weights, environment={"gpus": 1, "extra": extra}, arms=arms)
    assert codes(examine(body)) == ["F_PLAUSIBILITY"]


@pytest.mark.parametrize(
    ("metric", "workload", "found"),
    [
        ("gen_tok_s", {}, ["F_PLAUSIBILITY"]),
        ("gen_tok_s", {"batch": 2}, []),
        ("output_tok_s", {}, []),
        ("output_tok_s", {"concurrency": 1}, ["F_PLAUSIBILITY"]),
        ("output_tok_s", {"concurrency": 8}, []),
    ],
)
def test_C26_one_step_serves_all_sequences_of_a_batch(metric: str, workload: JsonObject, found: list[str]) -> None:
    one = rep({"completion_tokens": [900], "wall_ns": [S]}, metric, workload=workload)
    environment, weights = decoding()["environment"], decoding()["weights"]
    assert codes(examine(body_of(one, environment=environment, weights=weights))) == found


def test_C26_rounds_of_drafts_give_several_tokens_a_step() -> None:
    body = decoding()
    body["reps"][0]["records"]["rounds"] = [300]
    assert examine(body) == []
