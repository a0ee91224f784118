"""What forbids to compare, and the rules beside the two main ones: near ties, blocks, forced text, digests of code."""

# ruff: noqa: N802 - the names of traps and faults have capitals

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest

from ledger.errors import LedgerError, RefusedError
from ledger.ingest.code import tree_digest
from ledger.scoring.compare.blocks import BlockRun, BlockSession, judge_blocks
from ledger.scoring.compare.comparable import (
    check_axes,
    check_distinct,
    common_metrics,
    common_tests,
    is_axis,
    prompt_drift,
)
from ledger.scoring.compare.forced import ForcedRun, forced_rates, judge_forced, overall
from ledger.scoring.compare.near_tie import judge_tokens, ulp
from ledger.scoring.compare.side import Side
from tests.support.compare import agree, made_up_run, made_up_sides, read_report, read_runner_record
from tests.support.outside import outside, outside_json

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from ledger.scoring.compare.side import CompareRun


def refusal(act: Callable[[], object]) -> LedgerError:
    with pytest.raises(RefusedError) as caught:
        act()
    return caught.value


def side(label: str, *runs: CompareRun) -> Side:
    return Side(label=label, runs=runs)


# Comparability.


def test_sides_that_measured_the_same_way_may_be_compared() -> None:
    one, two = made_up_sides([100, 101, 102], [95, 96, 97], axes={"node/driver": "580"})
    check_distinct(one, two)
    assert check_axes(one, two) == []
    assert common_tests(one, two) == ["a test"]
    assert common_metrics(one.runs, two.runs) == ["decode_tok_s"]
    assert prompt_drift([*one.runs, *two.runs]) == ""


@pytest.mark.parametrize(
    ("axis", "one", "two"),
    [
        ("suffix_store", "off", "clean"),  # T08
        ("restart_each", "false", "true"),  # T12
        ("thinking", "on", "off"),  # T16
        ("max_len", "4096", "262144"),  # T42
        ("quant", "nvfp4", "q8_0"),  # T44
        ("node/fingerprint", "sha256:1", "sha256:2"),
        ("node/driver", "580", "590"),
        ("args.max_len", "4096", None),
        ("suffix_store", None, "off"),  # as an older report has it
    ],
)
def test_T08_T12_T16_T42_T44_another_condition_is_named_with_both_values(
    axis: str, one: str | None, two: str | None
) -> None:
    axes = [{axis: value} if value else {} for value in (one, two)]
    base, other = (
        side(label, made_up_run(f"{label}-0", [100], axes=given)) for label, given in zip("bo", axes, strict=True)
    )
    found = refusal(lambda: check_axes(base, other))
    assert (found.code, found.where) == ("E_NOT_COMPARABLE", axis)
    shown = ["not said" if value is None else repr(value) for value in (one, two)]
    assert found.message == f"{axis} is {shown[0]} in b-0 and {shown[1]} in o-0"


def cached(name: str, *counts: int | None) -> CompareRun:
    run = made_up_run(name, [100] * len(counts))
    return replace(run, records=run.records | {"cached_tokens": list(counts)})


@pytest.mark.parametrize(
    ("one", "two", "shown"),
    [
        ((0, 0), (60, 60), ("cold", "warm")),
        ((60, 1), (0, None), ("warm", "cold")),
        ((0, 60), (0, 0), ("mixed", "cold")),
        ((60, 60), (60, None), ("warm", "mixed")),
    ],
)
def test_C11_a_side_whose_prompts_a_cache_knew_is_not_compared_with_one_that_read_them(
    one: tuple[int | None, ...], two: tuple[int | None, ...], shown: tuple[str, str]
) -> None:
    found = refusal(lambda: check_axes(side("b", cached("b-0", *one)), side("o", cached("o-0", *two))))
    assert (found.code, found.where) == ("E_NOT_COMPARABLE", "cache")
    assert found.message == f"cache is {shown[0]!r} in b-0 and {shown[1]!r} in o-0"


def test_C11_sides_that_were_both_cold_or_both_warm_may_be_compared() -> None:
    for one, two in (((0, 0), (0, 0)), ((60, 60), (1, 60)), ((None, None), (None, None))):
        assert check_axes(side("b", cached("b-0", *one)), side("o", cached("o-0", *two))) == []
    silent = side("o", made_up_run("o-0", [100]))
    found = check_axes(side("b", cached("b-0", 60)), silent)
    assert found == ["F_AXIS_UNKNOWN: o-0 does not say cache, another run does"]


def test_facts_that_one_source_does_not_tell_are_flagged() -> None:
    told = side("b", made_up_run("b-0", [100], axes={"node/driver": "580"}), made_up_run("b-1", [100]))
    silent = side("o", made_up_run("o-0", [100], axes={"node/driver": "580", "weights/sha256": "ab"}))
    assert check_axes(told, silent) == [
        "F_AXIS_UNKNOWN: b-1 does not say node/driver, another run does",
        "F_AXIS_UNKNOWN: b-0 does not say weights/sha256, another run does",
    ]


def test_conditions_within_a_side_are_one_too() -> None:
    mixed = side("b", made_up_run("b-0", [1], axes={"seed": "1"}), made_up_run("b-1", [2], axes={"seed": "2"}))
    assert refusal(lambda: check_axes(mixed, side("o"))).message == "seed is '1' in b-0 and '2' in b-1"
    apart = [made_up_run(f"b-{n}", [1], axes={"seed": n}, test=n) for n in ("1", "2")]
    check_axes(side("b", *apart), side("o"))  # other tests have other conditions


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("args/max_len", True),
        ("--max-model-len", True),
        ("cache.quant", True),
        ("flag_draft", False),
        ("max_lenient", False),
    ],
)
def test_axes_are_known_by_the_last_part_of_their_name(name: str, expected: bool) -> None:
    assert is_axis(name) is expected


def test_T02_a_run_that_is_there_twice() -> None:
    first, again = made_up_run("a", [100, 200, 300, 400]), made_up_run("b", [100, 200, 333, 444])
    found = refusal(lambda: check_distinct(side("base", first, again), side("o")))
    assert (found.code, found.message) == (
        "E_COPIED_SAMPLES",
        "b is a again: 2 of 4 records have the same times",
    )
    check_distinct(side("base", first, made_up_run("b", [100, 201, 333, 444])), side("o"))
    check_distinct(side("base", made_up_run("a", [100, 200, 300]), made_up_run("b", [100, 200, 300])), side("o"))
    check_distinct(side("base", first, replace(again, test="another")), side("o"))


def test_T02_equal_means_of_many_records_are_one_run() -> None:
    values = list(range(100, 110))
    turned = values[1:] + values[:1]
    found = refusal(lambda: check_distinct(side("base", made_up_run("a", values), made_up_run("b", turned)), side("o")))
    assert found.code == "E_COPIED_SAMPLES"
    assert found.message.startswith("b is a again: both have the mean ")


def test_T02_the_report_whose_second_run_is_its_first() -> None:
    trap = read_report(outside("tandem", "synthetic", "trap_identical_runs.json"))
    assert refusal(lambda: check_distinct(trap, side("o"))).code == "E_COPIED_SAMPLES"


def test_C40_compared_with_itself() -> None:
    base, _ = made_up_sides([100, 101, 102], [1, 1, 1])
    named = side("base", *(replace(run, source="ab") for run in base.runs))
    found = refusal(lambda: check_distinct(named, replace(named, label="other")))
    assert (found.code, found.message) == ("E_SELF_COMPARE", "base-0 is on both sides: compared with itself")
    many = [made_up_run(f"r{at}", range(at, at + 9)) for at in (100, 200, 300)]
    renamed = side("other", *(replace(run, name=f"x{run.name}", source="cd") for run in many))
    assert refusal(lambda: check_distinct(side("base", *many), renamed)).code == "E_SELF_COMPARE"
    mixed = side("other", *renamed.runs[:1], made_up_run("new", range(500, 509)))
    assert refusal(lambda: check_distinct(side("base", *many), mixed)).code == "E_COPIED_SAMPLES"


def test_C39_nothing_in_common_and_something_missing() -> None:
    base = side("base", *(made_up_run(name, [1], test=name) for name in ("a", "b", "c")))
    none = refusal(lambda: common_tests(base, side("other")))
    assert (none.code, none.message) == ("E_NO_PAIRS", "no test was run on both sides; base: a, b, c; other: ")
    two = side("other", *base.runs[:2])
    assert (refusal(lambda: common_tests(base, two)).code, refusal(lambda: common_tests(two, base)).message) == (
        "E_UNPAIRED",
        "other lacks c",
    )


def test_C21_one_unit_by_two_formulas() -> None:
    decode = made_up_run("a", [100])
    whole = made_up_run("b", [100], metrics=("gen_tok_s",), records={"completion_tokens": [9], "wall_ns": [9]})
    found = refusal(lambda: common_metrics([decode], [whole]))
    assert found.code == "E_FORMULA_MISMATCH"
    assert found.message.endswith(
        "decode_tok_s = (completion_tokens - 1) / (e2e - ttft); gen_tok_s = completion_tokens / wall"
    )
    both = made_up_run("b", [100], metrics=("gen_tok_s",), records=decode.records | {"wall_ns": [10**9]})
    assert common_metrics([decode], [both]) == ["decode_tok_s"]  # raw records allow the same formula
    other = made_up_run("b", [100], metrics=("output_tok_s",), records=whole.records)
    assert refusal(lambda: common_metrics([whole], [other])).code == "E_FORMULA_MISMATCH"  # a wall of something else
    loop = made_up_run("c", [1], metrics=("ns_per_iteration",), records={"wall_ns": [1], "iterations": [1]})
    assert refusal(lambda: common_metrics([decode], [loop])).code == "E_NO_PAIRS"


def test_T01_prompts_of_one_name_with_another_text() -> None:
    runs = [read_runner_record(outside("tandem", f"real_runrecord_{letter}.json")) for letter in "AB"]
    assert prompt_drift(runs).startswith("28 of 50 prompts have another number of tokens in another run, mix-")
    assert prompt_drift(runs[:1]) == ""
    digests = [replace(run, records=run.records | {"prompt_sha256": ["ab"] * 50}) for run in runs]
    assert prompt_drift(digests) == ""  # texts are known to be the same
    digests[1].records["prompt_sha256"][7] = "cd"
    assert prompt_drift(digests).startswith("1 of 50 prompts have another text")


def test_T01_prompts_without_names_are_held_against_each_other_as_a_whole() -> None:
    one, two = made_up_run("a", [1, 2, 3]), made_up_run("b", [1, 2, 3])
    two.records["prompt_tokens"] = [66, 64, 65]
    assert prompt_drift([one, two]) == ""
    two.records["prompt_tokens"] = [66, 64, 60]
    assert prompt_drift([one, two]) == "1 prompts of b have another number of tokens than any of a"
    del two.records["prompt_tokens"]
    assert prompt_drift([one, two]) == ""


# Near ties.


def test_T49_units_in_the_last_place() -> None:
    for text, expected in outside_json("tandem", "synthetic", "near_tie_vectors.json")["ulp_examples"].items():
        assert ulp(Fraction(text)) == Fraction(expected)
        assert ulp(-Fraction(text)) == Fraction(expected)
    assert [ulp(Fraction(1, 3)), ulp(Fraction(2)), ulp(Fraction(3, 4))] == [
        Fraction(1, 512),
        Fraction(1, 64),
        Fraction(1, 256),
    ]


def test_T49_every_case_and_where_ours_is_stricter() -> None:
    for case in outside_json("tandem", "synthetic", "near_tie_vectors.json")["cases"]:
        gaps, tops = ([Fraction(str(value)) for value in case[name]] for name in ("gaps", "tops"))
        found = judge_tokens(case["base"], case["got"], gaps, tops)
        expected = case["upstream"]
        if "ledger" in case:
            assert found.passed is not case["ledger"].startswith("fail"), case["name"]
            continue
        assert (found.passed, found.at) == (expected["pass"], expected["at"]), case["name"]
        assert all(
            agree(getattr(found, name), expected[name]) for name in ("gap", "ulp") if expected.get(name) is not None
        )


def test_T49_lengths_and_gaps_that_nobody_recorded() -> None:
    cut = judge_tokens([1, 2, 3], [1, 2], [], [])
    assert (cut.passed, cut.at, cut.reason) == (False, 2, "length differs without a tie: 3 and 2 tokens")
    assert judge_tokens([1, 2], [1, 2, 3], [], []).passed is False
    unknown = judge_tokens([1, 2], [1, 3], [Fraction(0)], [Fraction(20)] * 2)
    assert (unknown.passed, unknown.gap, unknown.ulp) == (False, None, Fraction(1, 8))
    assert judge_tokens([1, 2, 3], [1, 9], [Fraction(0)] * 3, []).reason == "near tie"
    assert judge_tokens([], [], [], []).passed


# Block A/B.


def session(times: dict[str, Sequence[float]], tokens: dict[str, tuple[int, ...]] | None = None) -> BlockSession:
    """States on one workload, a time per pair."""
    runs = [
        BlockRun(
            pair=pair,
            state=state,
            workload="prose",
            block_ms=Fraction(str(value)),
            blocks=2,
            tokens=(tokens or {}).get(state, (1, 2, 3)),
        )
        for state, values in times.items()
        for pair, value in enumerate(values)
    ]
    return BlockSession(base="base", runs=tuple(runs), mix={})


FLAT = (100.0, 100.1, 100.2)


def test_blocks_on_real_times_with_the_mix() -> None:
    expected = outside_json("tandem", "golden_expected.json")["block_ab"]
    mix = {"prose": Fraction("0.53"), "chat": Fraction("0.235"), "code": Fraction("0.235")}
    for name, workloads in expected.items():
        runs = [
            BlockRun(pair=pair, state=state, workload=workload, block_ms=Fraction(str(ms)), blocks=1, tokens=(1, 2))
            for workload in mix
            for state, column in (("base", "base"), ("cand", "other"))
            for pair, ms in enumerate(workloads[workload][column])
        ]
        answer = judge_blocks(BlockSession(base="base", runs=tuple(runs), mix=mix))
        (found,) = answer.candidates
        for workload, verdict in workloads.items():
            item = found.ms_blk[workload]
            assert (item.verdict, item.disjoint) == (verdict["verdict"], verdict["disjoint"])
            assert agree(item.delta_pct, verdict["delta_pct"])
            assert agree(item.noise_pct, verdict["noise_pct"])
        assert answer.status == (2 if name == "null" else 0)


@pytest.mark.parametrize(
    ("cand", "ask", "status", "signs"),
    [
        ((95.0, 95.1, 95.2), True, 0, "---"),
        ((105.0, 105.1, 105.2), False, 1, "+++"),
        ((100.0, 100.0, 100.3), True, 2, "0-+"),
        ((100.0, 100.0, 100.3), False, 0, "0-+"),
    ],
)
def test_status_of_blocks(cand: tuple[float, ...], ask: bool, status: int, signs: str) -> None:
    answer = judge_blocks(session({"base": FLAT, "cand": cand}), ask_better=ask)
    assert (answer.status, answer.pairs, answer.candidates[0].signs["pooled"]) == (status, 3, signs)


def test_T17_other_tokens_fail_whatever_the_times() -> None:
    faster = (90.0, 90.1, 90.2)
    for tokens, at in (((1, 2, 4), 2), ((1, 2), 2), ((1, 2, 3, 4), 3)):
        answer = judge_blocks(session({"base": FLAT, "cand": faster}, {"cand": tokens}))
        (found,) = answer.differences
        assert (answer.status, found.state, found.at) == (1, "cand", at)
    assert "cand gives other tokens on prose, from place 3 of pair 0 on" in answer.reason


def test_T48_blocks_without_a_candidate_or_with_runs_missing() -> None:
    assert refusal(lambda: judge_blocks(session({"base": FLAT}))).code == "E_NO_PAIRS"
    assert refusal(lambda: judge_blocks(session({"other": FLAT, "cand": FLAT}))).code == "E_NO_PAIRS"
    missing = refusal(lambda: judge_blocks(session({"base": FLAT, "cand": FLAT[:2]})))
    assert (missing.code, missing.message) == ("E_UNPAIRED", "cand has 2 of 3 pairs on prose")
    assert refusal(lambda: judge_blocks(session({"base": FLAT[:2], "cand": FLAT[:2]}))).code == "E_TOO_FEW_RUNS"
    whole = session({"base": FLAT, "cand": FLAT})
    twice = replace(whole, runs=(*whole.runs, whole.runs[-1]))
    assert refusal(lambda: judge_blocks(twice)).message == "cand ran prose twice in pair 2"


# Forced text.


def forced(**changes: Any) -> ForcedRun:  # noqa: ANN401 - any field
    fields = {"config": "base", "workload": "prose", "repeat": 0, "tokens": 100, "ms": Fraction(1000)}
    return ForcedRun(**{**fields, **changes})


def test_forced_rates_are_means_and_spreads_of_means() -> None:
    short = {"workload": "short", "tokens": 10}
    runs = [forced(), forced(repeat=1, ms=Fraction(500)), forced(**short), forced(**short, repeat=1, ms=Fraction(0))]
    rates = forced_rates(runs)["base"]
    assert (rates["prose"].mean, rates["prose"].repeats) == (Fraction(150), 2)
    assert rates["prose"].spread_pct == Fraction(100 * 100, 150)
    assert rates["short"].mean == Fraction(5)  # no time is a rate of 0, as the tool has it
    assert overall(rates) == Fraction(155, 2)
    assert forced_rates([forced(ms=Fraction(0))])["base"]["prose"].spread_pct == 0
    assert refusal(lambda: forced_rates([forced(), forced()])).message == "base has repeat 0 of prose twice"


def test_forced_repeats_decide_as_the_rows_of_the_foreign_rule() -> None:
    base = [forced(repeat=at, ms=Fraction(1000 + at)) for at in range(3)]
    near = [forced(config="wide", repeat=at, ms=Fraction(1001 - at)) for at in range(3)]
    answer = judge_forced([*base, *near])
    assert (answer.base, answer.outcome, answer.verdicts["wide"]["overall"].verdict) == ("base", "PASS", "not resolved")
    needed = judge_forced([*base, *near], ask_better=True)
    assert (needed.outcome, needed.code) == ("UNRESOLVED", "E_NEED_UNMET")
    assert refusal(lambda: judge_forced(base)).code == "E_NO_PAIRS"


def test_T51_another_reference_text_is_refused() -> None:
    found = refusal(lambda: forced_rates([forced(), forced(config="wide", tokens=101)]))
    assert found.code == "E_REFERENCE"
    lacking = refusal(lambda: forced_rates([forced(), forced(repeat=1), forced(config="wide")]))
    assert (lacking.code, lacking.message) == ("E_UNPAIRED", "wide lacks repeat 1 of prose")


# The digest of code.


def grow(root: Path, tree: dict[str, str]) -> Path:
    for name, text in tree.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_the_digest_of_a_tree_is_that_of_the_vector(tmp_path: Path) -> None:
    vector = outside_json("tandem", "synthetic", "code_sha256_vector.json")
    assert tree_digest(grow(tmp_path, vector["tree_utf8"])) == vector["code_sha256"]


def test_T39_a_tree_is_hashed_by_the_parts_of_its_paths(tmp_path: Path) -> None:
    grow(tmp_path, {"engine/sub/x.py": "1", "engine/sub-b.py": "2", "engine/__pycache__/x": "3", "ops/y.pyc": "4"})
    expected = hashlib.sha256(b"engine/sub/x.py\x001\x00engine/sub-b.py\x002\x00").hexdigest()
    assert tree_digest(tmp_path) == expected
    assert tree_digest(tmp_path, ("ops", "engine", "engine")) == expected


def test_T39_nothing_has_no_digest(tmp_path: Path) -> None:
    found = refusal(lambda: tree_digest(tmp_path))
    assert (found.code, found.where) == ("E_CODE_EMPTY", str(tmp_path))
    grow(tmp_path, {"tests/x.py": "1", "ops/__pycache__/x.py": "2"})
    assert refusal(lambda: tree_digest(tmp_path)).code == "E_CODE_EMPTY"
    assert tree_digest(tmp_path, ("tests",)) == hashlib.sha256(b"tests/x.py\x001\x00").hexdigest()


def test_T39_links_lead_out_of_the_tree(tmp_path: Path) -> None:
    grow(tmp_path, {"engine/a.py": "1", "elsewhere/b.py": "2"})
    link = tmp_path / "engine" / "b.py"
    link.symlink_to(tmp_path / "elsewhere" / "b.py")
    found = refusal(lambda: tree_digest(tmp_path))
    assert (found.code, found.where) == ("E_CODE_LINK", str(link))
    link.unlink()
    (tmp_path / "ops").symlink_to(tmp_path / "elsewhere")
    assert refusal(lambda: tree_digest(tmp_path)).where == str(tmp_path / "ops")


def test_a_name_that_is_no_text(tmp_path: Path) -> None:
    grow(tmp_path, {"engine/a.py": "1"})
    (tmp_path / "engine" / "\udcff.py").write_text("2")
    assert refusal(lambda: tree_digest(tmp_path)).code == "E_CODE_NAME"


def test_a_large_file_is_hashed_piece_by_piece(tmp_path: Path) -> None:
    text = json.dumps(list(range(300_000)))
    grow(tmp_path, {"engine/a": text})
    assert tree_digest(tmp_path) == hashlib.sha256(b"engine/a\0" + text.encode() + b"\0").hexdigest()
