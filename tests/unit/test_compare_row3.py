"""Rule ``row3-v1`` and its gate: every field of the expected verdicts, and what the foreign rule would let pass."""

# ruff: noqa: N802 - the names of traps have capitals

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest

from ledger.scoring.compare.gate import NEEDS, gate
from ledger.scoring.compare.row3 import (
    ABSENT,
    BETTER,
    HIGHER_IS_BETTER,
    NOT_RESOLVED,
    WORSE,
    StatVerdict,
    judge_statistics,
    judge_values,
    run_statistics,
    summarise,
)
from tests.support.compare import agree, fractions, made_up_run, read_report, read_runner_record
from tests.support.outside import outside, outside_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FIELDS = ("delta_pct", "noise_pct", "disjoint", "resolved", "worse", "verdict")


def assert_is(found: StatVerdict, expected: Mapping[str, Any]) -> None:
    """Every field that is expected; figures agree to nine digits."""
    assert {name for name in expected if name in FIELDS}
    for name in FIELDS:
        if name not in expected:
            continue
        value, wanted = getattr(found, name), expected[name]
        if isinstance(wanted, float):
            assert agree(value, wanted), (found.name, name, float(value), wanted)
        else:
            assert value == wanted, (found.name, name)


def of_side(name: str) -> list[dict[str, Fraction]]:
    side = read_report(outside("tandem", "synthetic", name))
    return [run_statistics(run) for run in side.runs]


# Against what the other project's rule gives.


def test_the_two_reports_give_every_expected_verdict_and_every_gate() -> None:
    expected = outside_json("tandem", "synthetic", "expected_compare_base_vs_cand.json")
    verdicts = judge_statistics(of_side("row3_base.json"), of_side("row3_cand.json"))
    assert [item.name for item in verdicts] == list(expected["verdicts"])
    for item in verdicts:
        assert_is(item, expected["verdicts"][item.name])
    assert {mode: gate(verdicts, mode).foreign_status for mode in NEEDS} == expected["gate_rc"]
    assert [gate(verdicts, mode).outcome for mode in NEEDS] == ["PASS", "UNRESOLVED", "PASS", "UNRESOLVED"]


@pytest.mark.parametrize("name", ["row3_base.json", "row3_cand.json"])
def test_the_statistics_of_the_runs_and_their_summary_are_those_printed(name: str) -> None:
    report = outside_json("tandem", "synthetic", name)
    found = of_side(name)
    for run, printed in zip(found, report["runs"], strict=True):
        assert all(agree(run[stat], printed[stat]) for stat in HIGHER_IS_BETTER)
    for stat in HIGHER_IS_BETTER:
        summary = summarise([run[stat] for run in found])
        assert summary is not None
        printed = report["summary"][stat]
        ends = {
            "median": summary.median,
            "min": summary.lowest,
            "max": summary.highest,
            "spread_pct": summary.spread_pct,
        }
        assert all(agree(value, printed[end]) for end, value in ends.items())


def test_one_run_a_side_resolves_everything_and_is_no_answer() -> None:
    expected = outside_json("tandem", "golden_expected.json")
    runs = {letter: read_runner_record(outside("tandem", f"real_runrecord_{letter}.json")) for letter in "AB"}
    found = {letter: run_statistics(run) for letter, run in runs.items()}
    for letter, statistics in found.items():
        printed = expected[f"real_runrecord_{letter}.json"]
        assert all(agree(statistics[name], value) for name, value in printed.items() if name != "n")
    verdicts = judge_statistics([found["A"]], [found["B"]])
    for item in verdicts:
        assert_is(item, expected["single_run_compare_A_to_B"][item.name])
    answer = gate(verdicts, "noworse")
    assert (answer.outcome, answer.code, answer.foreign_status) == ("UNRESOLVED", "E_TOO_FEW_RUNS", 1)
    assert sum(item.worse for item in verdicts) == 5


def test_verdict_vectors() -> None:
    for vector in outside_json("tandem", "golden_expected.json")["verdict_vectors"]:
        one, two = fractions(vector["base"]), fractions(vector["other"])
        assert_is(judge_values("x", one, two, higher_is_better=vector["higher_is_better"]), vector)


def test_T35_a_percentile_is_recomputed_one_way_for_both_sides_and_never_taken_as_printed() -> None:
    path = outside("tandem", "real_runrecord_A.json")
    printed = outside_json("tandem", "real_runrecord_A.json")["metrics"]["decode_tok_s_per_request"]
    found = run_statistics(read_runner_record(path))
    assert agree(found["p50"], printed["p50"], slack=Fraction(1, 10**4))
    assert not agree(found["p90"], printed["p90"], slack=Fraction(1, 20_000))  # linear there, a nearest rank here


# The rule's edges, on own numbers.


def judged(base: Sequence[int], other: Sequence[int], *, higher: bool = True) -> StatVerdict:
    return judge_values(
        "x", [Fraction(value) for value in base], [Fraction(value) for value in other], higher_is_better=higher
    )


@pytest.mark.parametrize(
    ("base", "other", "verdict"),
    [
        ([100, 100, 104], [105, 105, 105], BETTER),  # 5 % over a noise of 4 %, ranges apart
        ([100, 100, 105], [106, 105, 106], NOT_RESOLVED),  # the ranges touch
        ([100, 98, 102], [104, 103, 107], NOT_RESOLVED),  # apart, and a change of exactly the noise
        ([100, 100, 104], [95, 95, 95], WORSE),
        ([100, 100, 100], [100, 100, 100], NOT_RESOLVED),
    ],
)
def test_resolved_is_strict_in_both_conditions(base: list[int], other: list[int], verdict: str) -> None:
    assert judged(base, other).verdict == verdict
    turned = {BETTER: WORSE, WORSE: BETTER}.get(verdict, verdict)
    assert judged(base, other, higher=False).verdict == turned


def test_a_base_of_zero_is_no_division_but_says_why() -> None:
    found = judged([0, 0, 0], [1, 1, 1])
    assert (found.verdict, found.delta_pct, found.noise_pct, found.disjoint) == (ABSENT, None, None, None)
    assert "median is 0" in found.reason
    summary = summarise([Fraction(0), Fraction(0), Fraction(5)])
    assert summary is not None
    assert summary.spread_pct == 0


def test_a_statistic_that_one_run_lacks_is_lacking() -> None:
    base = [{"mean": Fraction(1), "tok_blk": Fraction(2)}, {"mean": Fraction(1)}]
    found = {item.name: item for item in judge_statistics(base, base)}
    assert found["mean"].verdict == NOT_RESOLVED
    assert (found["tok_blk"].verdict, found["tok_blk"].reason) == (
        ABSENT,
        "base and other did not measure it in every run",
    )


def test_directions_are_those_of_the_harness() -> None:
    assert {name for name, higher in HIGHER_IS_BETTER.items() if not higher} == {"ttft_p50_ms", "wall_s", "ms_blk"}


# The statistics of one run.


def test_edge_cases_of_records() -> None:
    for case in outside_json("tandem", "synthetic", "edge_cases.json"):
        payload = case["record"]["raw"]["payload"]
        measured = [item for item in payload["requests"] if not item["warmup"]]
        duration = payload["iterations"][payload["selected_iteration"]]["duration_s"]
        records = {
            "completion_tokens": [item["completion_tokens"] for item in measured],
            "ttft_ns": [None if item["ttft_ms"] is None else round(item["ttft_ms"] * 10**6) for item in measured],
            "e2e_ns": [round(item["e2e_ms"] * 10**6) for item in measured],
            "ok": [item["status"] == "ok" for item in measured],
        }
        found = run_statistics(made_up_run("edge", [1], records=records, wall_ns=round(duration * 10**9)))
        if isinstance(case["upstream"], str):  # it raises there
            assert found == {}, case["name"]
        else:
            assert all(math.isclose(found[name], value) for name, value in case["upstream"].items() if name != "n"), (
                case["name"]
            )


def test_factors_of_a_block_are_pooled_over_requests_that_went_through_one() -> None:
    records = {
        "completion_tokens": [11, 21, 31, 41],
        "rounds": [5, None, 0, 10],
        "decode_ns": [10_000_000, None, None, 60_000_000],
    }
    assert run_statistics(made_up_run("no times", [1], records=records)) == {}
    records |= {"ttft_ns": [1] * 4, "e2e_ns": [10**9] * 4}
    found = run_statistics(made_up_run("blocks", [1], records=records))
    assert (found["tok_blk"], found["ms_blk"]) == (Fraction(50, 15), Fraction(70, 15))
    del records["decode_ns"]
    assert "ms_blk" not in run_statistics(made_up_run("untimed", [1], records=records))
    records["rounds"] = [0] * 4
    assert "tok_blk" not in run_statistics(made_up_run("no blocks", [1], records=records))


# The gate.


def verdicts(**words: str) -> list[StatVerdict]:
    """Verdicts by statistic; the others are not resolved."""
    made = []
    for name in HIGHER_IS_BETTER:
        side = None if words.get(name) == ABSENT else summarise([Fraction(100)] * 3)
        made.append(
            StatVerdict(
                name=name,
                base=side,
                other=side,
                delta_pct=None,
                noise_pct=None,
                disjoint=None,
                verdict=words.get(name, NOT_RESOLVED),
            )
        )
    return made


@pytest.mark.parametrize(
    ("words", "mode", "outcome", "status"),
    [
        ({}, "noworse", "PASS", 0),
        ({"wall_s": WORSE}, "noworse", "FAIL", 1),
        ({}, "adopt", "UNRESOLVED", 2),
        ({"mean": BETTER}, "adopt", "PASS", 0),
        ({"mean": BETTER, "p90": WORSE}, "adopt", "FAIL", 1),  # worse is tested before the need
        ({"ms_blk": BETTER}, "block", "PASS", 0),
        ({"mean": BETTER}, "block", "UNRESOLVED", 2),
        ({"tok_blk": BETTER, "ms_blk": WORSE}, "tokens", "PASS", 0),
        ({"tok_blk": BETTER, "ms_blk": WORSE}, "noworse", "FAIL", 1),
        ({"tok_blk": BETTER, "p50": WORSE}, "tokens", "FAIL", 1),
        ({"mean": ABSENT}, "adopt", "UNRESOLVED", 2),  # a needed one that nobody measured
    ],
)
def test_modes(words: dict[str, str], mode: str, outcome: str, status: int) -> None:
    answer = gate(verdicts(**words), mode)
    assert (answer.outcome, answer.foreign_status) == (outcome, status)


def test_T48_a_gate_on_what_nobody_measured_is_no_pass() -> None:
    nothing = gate(verdicts(**dict.fromkeys(HIGHER_IS_BETTER, ABSENT)), "noworse")
    assert (nothing.outcome, nothing.code, nothing.foreign_status) == ("UNRESOLVED", "E_NO_PAIRS", 0)
    partly = gate(verdicts(tok_blk=ABSENT, ms_blk=ABSENT), "noworse")
    assert (partly.outcome, partly.code, partly.foreign_status) == ("UNRESOLVED", "E_STAT_MISSING", 0)
    assert partly.reason == "not measured on both sides: tok_blk, ms_blk"
    assert gate([], "noworse").code == "E_NO_PAIRS"


def test_there_are_four_modes() -> None:
    assert list(NEEDS) == ["noworse", "adopt", "block", "tokens"]
    with pytest.raises(KeyError):
        gate([], "hope")
