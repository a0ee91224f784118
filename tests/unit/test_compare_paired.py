"""Rule ``paired-v1``: the exact test, the order of the runs, and every way in which nobody can tell."""

# ruff: noqa: N802 - the names of traps have capitals

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product
from math import comb
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.metrics import METRICS
from ledger.scoring.compare.order import order_faults, steps
from ledger.scoring.compare.paired import LEVEL, PairedVerdict, centre, judge_pairs, null_ratios, percent
from ledger.scoring.compare.signed_rank import distance, pairs_needed, smallest_p, two_sided_p
from tests.support.compare import made_up_run, made_up_sides, start

if TYPE_CHECKING:
    from collections.abc import Sequence

RATE = METRICS["decode_tok_s"]
NULLS = tuple(Fraction(1000 + per_mille, 1000) for per_mille in (3, -2, 5))


def ratios(*per_mille: int) -> list[Fraction]:
    return [Fraction(1000 + each, 1000) for each in per_mille]


def judged(
    base: Sequence[int], other: Sequence[int], nulls: Sequence[Fraction] = NULLS, **changes: int
) -> PairedVerdict:
    one, two = made_up_sides(base, other, **changes)
    return judge_pairs(RATE, one.runs, two.runs, nulls)


def codes(verdict: PairedVerdict) -> list[str]:
    return [code for code, _ in verdict.reasons]


# The exact test.


def by_enumeration(tests: Sequence[Fraction], nulls: Sequence[Fraction]) -> Fraction:
    """The p-value by writing down every case: which are the A/B pairs, and every sign."""
    everything = [max(ratio, 1 / ratio) for ratio in (*tests, *nulls)]
    ranks = []
    for each in everything:
        below, equal = sum(x < each for x in everything), sum(x == each for x in everything)
        ranks.append(Fraction(0) if each == 1 else below + Fraction(equal + 1, 2))
    signs = [1 if ratio > 1 else -1 for ratio in tests]
    total = sum((sign * rank for sign, rank in zip(signs, ranks, strict=False)), Fraction(0))
    found = max(total, -total)
    sums = [
        sum((sign * ranks[place] for sign, place in zip(flips, chosen, strict=True)), Fraction(0))
        for chosen in combinations(range(len(everything)), len(tests))
        for flips in product((1, -1), repeat=len(tests))
    ]
    return Fraction(len([each for each in sums if max(each, -each) >= found]), len(sums))


SMALL = st.integers(-4, 4).map(lambda each: Fraction(10 + each, 10))


@given(st.lists(SMALL, min_size=1, max_size=4), st.lists(SMALL, max_size=3))
def test_the_counted_distribution_is_the_enumerated_one(tests: list[Fraction], nulls: list[Fraction]) -> None:
    assert two_sided_p(tests, nulls) == by_enumeration(tests, nulls)


@given(st.lists(SMALL, min_size=1, max_size=6), st.lists(SMALL, max_size=6))
def test_swapped_sides_have_the_same_p(tests: list[Fraction], nulls: list[Fraction]) -> None:
    assert two_sided_p(tests, nulls) == two_sided_p([1 / each for each in tests], nulls)


def test_without_a_a_pairs_it_is_the_signed_rank_test() -> None:
    assert two_sided_p(ratios(10, 20, 30), []) == Fraction(1, 4)
    assert two_sided_p(ratios(10, 20, 30, 40, 50, 60), []) == Fraction(1, 32)
    # Wilcoxon, n = 5, W = 1 + ... + 5 less twice 1: two of 32 cases are as far on either side.
    assert two_sided_p(ratios(-10, 20, 30, 40, 50), []) == Fraction(4, 32)


def test_three_pairs_reach_five_per_cent_only_beside_known_noise() -> None:
    assert [smallest_p(3, known) for known in range(4)] == [
        Fraction(1, 4),
        Fraction(1, 16),
        Fraction(1, 40),
        Fraction(1, 80),
    ]
    assert two_sided_p(ratios(40, 50, 60), NULLS) == smallest_p(3, 3) == Fraction(1, 80)
    assert (pairs_needed(LEVEL, 0), pairs_needed(LEVEL, 2), pairs_needed(LEVEL, 3)) == (6, 3, 2)
    assert pairs_needed(LEVEL / 9, 3) == 4
    assert smallest_p(1, 0) == 1


def test_many_pairs_are_counted_too() -> None:
    tests, nulls = ratios(*range(50, 80)), ratios(*range(1, 31))
    assert two_sided_p(tests, nulls) == Fraction(2, comb(60, 30) * 2**30)
    assert two_sided_p([Fraction(1)] * 3, []) == 1


def test_the_false_verdicts_of_the_test_are_as_many_as_it_says() -> None:
    """Ratios of one distribution, heavy tails and all: p <= 1/20 in at most 5 % of the cases."""
    source, tries = random.Random(7), 4000
    hits = 0
    for _ in range(tries):
        drawn = [
            Fraction(source.lognormvariate(0, 0.02 * source.choice((1, 1, 1, 8)))).limit_denominator(10**6)
            for _ in range(7)
        ]
        hits += two_sided_p(drawn[:4], drawn[4:]) <= LEVEL
    assert 0.03 * tries < hits < 0.06 * tries


# The order.


def test_T09_alternated_close_and_one_at_a_time() -> None:
    one, two = made_up_sides([100, 100, 100], [90, 90, 90])
    assert order_faults(one.runs, two.runs) == []
    assert order_faults(two.runs, one.runs) == []  # whichever side begins
    assert judged([100, 100, 100], [90, 90, 90]).word == "BETTER"


def test_T09_one_side_after_the_other_confounds_them() -> None:
    base = [made_up_run(f"b{at}", [100], at=at) for at in range(3)]
    other = [made_up_run(f"o{at}", [90], at=10 + at) for at in range(3)]
    assert order_faults(base, other) == [
        ("E_ORDER_CONFOUNDED", "the runs are not alternated (B base, O other): BBBOOO")
    ]
    found = judge_pairs(RATE, base, other, NULLS)
    assert (found.word, codes(found), found.pairs, found.p) == ("UNRESOLVED", ["E_ORDER_CONFOUNDED"], (), None)


def test_T09_an_hour_between_two_runs_is_another_hour() -> None:
    assert codes(judged([100, 100, 100], [90, 90, 90], every=60)) == []
    found = judged([100, 100, 100], [90, 90, 90], every=61)
    assert found.reasons == (("E_GAP", "60 minutes passed between base-0 and other-0, and 4 more like it"),)


def test_runs_at_the_same_time_disturb_each_other() -> None:
    one, two = made_up_sides([100, 100, 100], [90, 90, 90], wall_ns=300 * 10**9)
    assert order_faults(one.runs, two.runs) == []
    one, two = made_up_sides([100, 100, 100], [90, 90, 90], wall_ns=301 * 10**9 - 1)
    found = order_faults(one.runs, two.runs)  # a second run may begin in the second in which the first one ends
    assert found == [("E_OVERLAP", "other-0 was not done when base-1 started, and 3 more like it")]
    one, two = made_up_sides([100], [90], wall_ns=301 * 10**9)
    assert order_faults(one.runs, two.runs) == [("E_OVERLAP", "base-0 was not done when other-0 started")]


def test_short_runs_that_share_a_second_are_in_the_order_given() -> None:
    one, two = made_up_sides([100, 100, 100], [90, 90, 90], every=0, wall_ns=100_000_000)
    assert order_faults(one.runs, two.runs) == []
    one, two = made_up_sides([100, 100, 100], [90, 90, 90], every=0, wall_ns=200_000_000)
    assert order_faults(one.runs, two.runs) == [("E_OVERLAP", "base-2 was not done when other-2 started")]
    late = [one.runs[0], *(replace(run, started_at=start(1)) for run in one.runs[1:])]
    assert order_faults(late, two.runs) == [
        ("E_ORDER_CONFOUNDED", "the runs are not alternated (B base, O other): BOOOBB")
    ]


def test_starts_that_nobody_says_and_a_run_too_many() -> None:
    one, two = made_up_sides([100, 100, 100], [90, 90, 90])
    silent = [*one.runs[:2], made_up_run("silent", [100])]
    assert order_faults(silent, two.runs) == [
        ("E_ORDER_UNKNOWN", "nobody says when silent started: the order of the runs is not known")
    ]
    assert [code for code, _ in order_faults(one.runs[:2], two.runs)] == ["E_UNPAIRED"]


def test_steps_are_ratios_of_neighbours() -> None:
    one, two = made_up_sides([100, 110, 120], [50, 60, 70])
    values = [[(run, Fraction(value)) for run, value in zip(side.runs, column, strict=True)] for side, column in (
        (one, (100, 110, 120)), (two, (50, 60, 70)))]  # fmt: skip
    found = steps(*values)
    assert found.pairs == (Fraction(50, 100), Fraction(60, 110), Fraction(70, 120))
    assert found.between == (Fraction(50, 110), Fraction(60, 120))


# Verdicts.


def test_a_gain_and_a_loss_beyond_the_noise() -> None:
    gain = judged([100, 101, 100], [95, 96, 95])
    assert (gain.word, gain.reasons, gain.p) == ("BETTER", (), Fraction(1, 80))
    assert gain.pairs == (Fraction(100, 95), Fraction(101, 96), Fraction(100, 95))
    assert gain.effect == Fraction(100, 95)
    assert gain.noise == Fraction(1005, 1000)
    assert (gain.base, gain.other) == (Fraction(1000), Fraction(100_000, 95))
    loss = judged([95, 96, 95], [100, 101, 100])
    assert (loss.word, loss.effect, loss.p) == ("WORSE", Fraction(95, 100), Fraction(1, 80))


def test_the_direction_is_the_registrys() -> None:
    one, two = made_up_sides([100, 100, 100], [100, 100, 100])
    slow = [made_up_run(run.name, [100], at=5 * (2 * at + 1)) for at, run in enumerate(two.runs)]
    for at, run in enumerate(slow):
        run.records["ttft_ns"] = [120_000_000 + at]
        run.records["e2e_ns"] = [220_000_000 + at]
    assert judge_pairs(METRICS["ttft"], one.runs, slow, NULLS).word == "WORSE"


def test_T10_fewer_than_three_runs_are_never_an_answer() -> None:
    assert codes(judged([100], [50])) == ["E_TOO_FEW_RUNS"]
    assert codes(judged([100, 100], [50, 50])) == ["E_TOO_FEW_RUNS"]
    assert judged([100], [50]).pairs == (Fraction(2),)  # shown all the same


def test_more_pairs_than_are_counted() -> None:
    found = judged([100] * 61, [90] * 61, nulls=NULLS * 40)
    assert (codes(found), found.p, len(found.nulls)) == (["E_TOO_MANY_RUNS"], None, 60)
    assert found.reasons[0][1] == "61 runs a side; the exact test is made for up to 60"


def test_without_known_noise_nothing_exceeds_it() -> None:
    found = judged([100, 100, 100], [50, 50, 50], nulls=NULLS[:2])
    assert codes(found) == ["E_NOISE_UNKNOWN"]
    assert found.word == "UNRESOLVED"


def test_an_effect_within_the_a_a_pairs_is_noise() -> None:
    found = judged([1000] * 4, [990] * 4, nulls=ratios(3, -2, 11))
    assert codes(found) == ["E_WITHIN_NOISE"]
    assert found.reasons[0][1] == "the change of 1.010101 % is within the noise of 1.1 %"
    exactly = judged([1000] * 4, [990] * 4, nulls=[*NULLS[:2], Fraction(1000, 990)])
    assert codes(exactly) == ["E_WITHIN_NOISE"]  # as large is not larger
    assert codes(judged([1000] * 3, [990] * 3, nulls=ratios(3, -2, 11))) == ["E_NOT_SIGNIFICANT", "E_WITHIN_NOISE"]


@pytest.mark.parametrize(
    ("known", "per_mille"),
    [((3, 1, 2), 3), ((9, 1, 2, 3), 3), ((9, 8, 3, 2, 1), 8), ((9, 8, 1, 2, 3, 4, 5, 6), 6)],
)
def test_a_quarter_of_the_a_a_pairs_may_exceed_the_noise(known: tuple[int, ...], per_mille: int) -> None:
    assert judged([1000] * 3, [900] * 3, nulls=ratios(*known)).noise == ratios(per_mille)[0]


def test_an_effect_within_the_spread_of_its_pairs_is_noise() -> None:
    assert codes(judged([1000, 1000, 1000], [990, 950, 900])) == ["E_WITHIN_NOISE"]
    assert codes(judged([1000, 1000, 1000], [1010, 950, 900])) == ["E_NOT_SIGNIFICANT", "E_WITHIN_NOISE"]


def test_the_spread_is_that_of_the_middle_half() -> None:
    four = judged([1000] * 4, [950, 950, 900, 700])
    assert (codes(four), four.noise) == (["E_WITHIN_NOISE"], Fraction(950, 700))
    five = judged([1000] * 5, [1000, 950, 950, 940, 700])
    assert five.noise == Fraction(950, 940)
    assert (five.word, five.effect) == ("BETTER", Fraction(20, 19))


def test_a_session_louder_than_its_a_a_pairs_still_gives_few_false_verdicts() -> None:
    """Where the noise was measured on a quiet night, the spread of the pairs and the turned order are what is left."""
    source, tries = random.Random(11), 1500
    quiet = ratios(0, 0, 0)
    hits = 0
    for _ in range(tries):
        times = [round(source.gauss(100_000, 3000)) for _ in range(6)]
        one, two = made_up_sides(times[:3], times[3:])
        hits += judge_pairs(RATE, one.runs, two.runs, quiet).word != "UNRESOLVED"
    assert hits < 0.05 * tries


def test_what_drifts_is_no_effect() -> None:
    drifting = judged([1000, 960, 920], [980, 940, 900])
    assert codes(drifting) == ["E_DRIFT"]
    assert drifting.pairs[0] > 1 > drifting.turned[0]
    assert judged([1000, 960, 920], [900, 860, 820]).word == "BETTER"  # a gain on top of the same drift


def test_verdicts_that_are_given_together_share_the_level() -> None:
    one, two = made_up_sides([100, 101, 100], [95, 96, 95])
    four = judge_pairs(RATE, one.runs, two.runs, NULLS, verdicts=4)
    assert (four.word, four.level) == ("BETTER", Fraction(1, 80))
    five = judge_pairs(RATE, one.runs, two.runs, NULLS, verdicts=5)
    assert codes(five) == ["E_LEVEL"]
    assert five.reasons[0][1] == "3 pairs cannot reach a level of 0.0100; 4 can"


def test_what_is_only_shown_has_figures_and_no_verdict() -> None:
    one, two = made_up_sides([100, 100, 100], [50, 50, 50])
    found = judge_pairs(RATE, one.runs, two.runs, (), shown_only=True)
    assert (found.word, found.reasons, found.effect) == ("SHOWN", (), Fraction(2))


def test_a_run_without_a_value_gives_no_verdict() -> None:
    one, two = made_up_sides([100, 100, 100], [95, 95, 95])
    two.runs[1].records["completion_tokens"] = [1, 1, 1]
    assert codes(judge_pairs(RATE, one.runs, two.runs, NULLS)) == ["E_EMPTY_RESULTS"]
    del two.runs[1].records["e2e_ns"]
    assert codes(judge_pairs(RATE, one.runs, two.runs, NULLS)) == ["E_EMPTY_RESULTS"]
    assert codes(judge_pairs(RATE, (), (), NULLS)) == ["E_TOO_FEW_RUNS", "E_EMPTY_RESULTS"]


def test_noise_of_a_session_of_one_build() -> None:
    one, two = made_up_sides([100, 100, 100], [101, 99, 100])
    assert null_ratios(RATE, one.runs, two.runs) == (Fraction(100, 101), Fraction(100, 99), Fraction(1))
    confounded = [replace(run, started_at=start(60)) for run in two.runs]
    assert null_ratios(RATE, one.runs, confounded) == ()
    assert null_ratios(METRICS["ms_per_round"], one.runs, two.runs) == ()


@pytest.mark.parametrize(
    ("values", "middle"),
    [((5,), 5), ((-5, 3, 4), 3), ((2, 4), 2), ((-4, -2), -2), ((-1, 3), 0), ((0, 3), 0)],
)
def test_the_middle_is_nearer_to_nothing(values: tuple[int, ...], middle: int) -> None:
    assert centre(ratios(*values)) == ratios(middle)[0]


@given(st.lists(SMALL, min_size=1, max_size=6))
def test_swapped_sides_invert_the_middle(values: list[Fraction]) -> None:
    assert centre([1 / each for each in values]) == 1 / centre(values)
    assert distance(centre(values)) >= 1


def test_percent_is_for_reading() -> None:
    assert (percent(Fraction(105, 100)), percent(Fraction(2, 3))) == ("5", "-33.333333")


@given(
    st.lists(st.integers(900, 1100), min_size=6, max_size=6),
    st.lists(st.integers(-9, 9).map(lambda each: Fraction(1000 + each, 1000)), min_size=3, max_size=5),
)
def test_swapped_sides_have_the_opposite_verdict(times: list[int], nulls: list[Fraction]) -> None:
    one, two = made_up_sides(times[:3], times[3:])
    there, back = judge_pairs(RATE, one.runs, two.runs, nulls), judge_pairs(RATE, two.runs, one.runs, nulls)
    assert back.word == {"BETTER": "WORSE", "WORSE": "BETTER"}.get(there.word, there.word)
    assert (back.p, back.noise, codes(back)) == (there.p, there.noise, codes(there))
