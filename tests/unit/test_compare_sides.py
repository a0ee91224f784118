"""From rows and rounds to sides, and the answer of the own rule as a whole."""

# ruff: noqa: N802 - the names of traps have capitals

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest

from ledger.errors import LedgerError, RefusedError
from ledger.ingest.adapter import Row
from ledger.ingest.sides import (
    ToolFile,
    block_session,
    changed_choices,
    forced_runs,
    join_sides,
    side_of_rows,
    sides_of_round,
)
from ledger.ingest.tandem.block_ab import read_block_ab
from ledger.ingest.tandem.forced import TandemForced
from ledger.scoring.compare.answer import compare_pairs, compare_rows
from ledger.scoring.compare.comparable import check_distinct, is_same_place
from ledger.scoring.compare.forced import forced_rates, overall
from ledger.scoring.compare.side import Side
from tests.support.compare import made_up_run, made_up_sides, start
from tests.support.exact_figures import mean, parse
from tests.support.outside import outside
from tests.support.rounds import round_body, sha256_hex

if TYPE_CHECKING:
    from collections.abc import Callable

    from ledger.canonical import JsonObject


def refusal(act: Callable[[], object]) -> LedgerError:
    with pytest.raises(RefusedError) as caught:
        act()
    return caught.value


def row(number: int = 0, **changes: Any) -> Row:  # noqa: ANN401 - any field
    fields: dict[str, Any] = {
        "number": number,
        "metrics": ("prefill_tok_s",),
        "context": 512,
        "workload": {"prompt_tokens": 512, "batch": 1},
        "records": {"prompt_tokens": [512], "wall_ns": [1000 + number]},
        "wall_ns": 1000,
        "started_at": "2026-11-29T20:00:00Z",
        "reported": {},
        "settings": {"quant": "q8", "flag": "on"},
        "environment": {"cpu": "one", "load": "0.1", "cores": 8, "extra": {"fingerprint": "f", "arch": "x"}},
        "weights": {"name": "w", "size": 5},
        "harness": {"name": "a tool"},
        "commit": "abc",
        "notes": ("F_N1: one sample",),
    }
    return Row(**{**fields, **changes})


def tool_file(*rows: Row, name: str = "a.json") -> ToolFile:
    return ToolFile(name=name, raw=name.encode(), tool="a-tool", rows=rows)


def test_a_row_as_a_run() -> None:
    side = side_of_rows("base", [tool_file(row())])
    (run,) = side.runs
    assert (side.label, side.code, side.choices) == ("base", "abc", {"flag": "on"})
    assert side.notes == ("a.json, row 0: F_N1: one sample",)
    assert (run.name, run.test, run.started_at) == ("a.json", "batch 1, prompt_tokens 512", "2026-11-29T20:00:00Z")
    assert run.axes == {
        "quant": "q8",
        "node/cpu": "one",
        "node/cores": "8",
        "node/fingerprint": "f",
        "weights/name": "w",
        "weights/size": "5",
        "tool": "a tool",
    }
    assert run.source.endswith("/0")


def test_several_rows_of_a_file_are_told_apart_and_warm_ups_left_out() -> None:
    side = side_of_rows("base", [tool_file(row(), row(1), row(2, warmup=True)), tool_file(row(), name="b.json")])
    assert [run.name for run in side.runs] == ["a.json, row 0", "a.json, row 1", "b.json"]
    assert refusal(lambda: side_of_rows("base", [tool_file(row(warmup=True))])).code == "E_NO_PAIRS"
    mixed = refusal(lambda: side_of_rows("base", [tool_file(row(), row(1, commit="def"))]))
    assert (mixed.code, mixed.message) == ("E_MIXED", "base holds runs of several codes: abc, def")


@pytest.mark.parametrize(
    ("changes", "test"),
    [
        ({"workload": {"gen_tokens": 64}}, "gen_tokens 64, context 512"),
        ({"workload": {"gen_tokens": 64}, "mean_context": True}, "gen_tokens 64"),
        ({"workload": None, "context": None}, "not said"),
        ({"workload": None}, "context 512"),
    ],
)
def test_what_makes_a_test(changes: dict[str, Any], test: str) -> None:
    assert side_of_rows("base", [tool_file(row(**changes))]).runs[0].test == test


@pytest.mark.parametrize(
    ("said", "taken"),
    [
        ("2026-11-29T20:00:00Z", "2026-11-29T20:00:00Z"),
        ("2026-11-29T20:00:00", "2026-11-29T20:00:00Z"),
        ("2026-02-31T20:00:00", ""),
        ("", ""),
    ],
)
def test_starts_that_can_be_put_in_order(said: str, taken: str) -> None:
    assert side_of_rows("base", [tool_file(row(started_at=said))]).runs[0].started_at == taken


def test_the_code_is_a_digest_before_a_commit() -> None:
    assert side_of_rows("base", [tool_file(row(code_sha256="ab" * 32))]).code == "ab" * 32
    assert side_of_rows("base", [tool_file(row(commit=None))]).code == ""


def two_arms() -> JsonObject:
    body = round_body("r")
    body["arms"].append(
        {"role": "candidate", "code_sha256": sha256_hex("other"), "settings": {"flag": "2", "seed": "1"}}
    )
    body["reps"].append(body["reps"][0] | {"arm": "candidate", "order": 1, "workload": {"prompt_tokens": 512}})
    body["reps"].append(body["reps"][0] | {"arm": "candidate", "order": 2, "warmup": True})
    return body


def test_a_round_as_sides() -> None:
    sides = sides_of_round("r.json", two_arms())
    assert list(sides) == ["main", "candidate"]
    (main,), (candidate,) = (side.runs for side in sides.values())
    assert (main.name, main.test, candidate.test) == ("r.json@main/0", "context 512", "prompt_tokens 512")
    assert candidate.axes == {
        "seed": "1",
        "node/cpu": "one",
        "weights/sha256": sha256_hex("weights"),
        "slot/project": "p",
        "slot/node": "n1",
        "slot/quant": "q8",
        "tool": "h",
    }
    assert sides["candidate"].choices == {"flag": "2"}
    assert changed_choices(sides["main"], sides["candidate"]) == ["flag"]


def test_parts_of_a_side() -> None:
    main = sides_of_round("r.json", two_arms())["main"]
    joined = join_sides("all", [main, replace(main, label="again", notes=("a note",))])
    assert (joined.label, len(joined.runs), joined.notes) == ("all", 2, ("a note",))
    assert refusal(lambda: join_sides("all", [main, replace(main, code="")])).code == "E_MIXED"
    assert refusal(lambda: join_sides("all", [main, replace(main, choices={"x": "1"})])).message.endswith("differ in x")


def test_a_session_of_blocks_as_it_was_read() -> None:
    result = read_block_ab(outside("tandem", "synthetic", "block_ab.json").read_bytes(), "b")
    session = block_session(result)
    assert (session.base, len(session.runs), session.mix["prose"]) == ("base", 18, Fraction("0.53"))
    no_mix = replace(result, body={name: value for name, value in result.body.items() if name != "mix"})
    assert block_session(no_mix).mix == {}


def test_rates_of_a_forced_bench_are_those_of_its_rows() -> None:
    path = outside("tandem", "synthetic", "forced_bench.json")
    rows = parse(path.read_text())["rows"]
    runs = forced_runs(TandemForced().read(path.read_bytes(), "f"), "f")
    rates = forced_rates(runs)
    assert {config: set(found) for config, found in rates.items()} == {
        config: {item["workload"] for item in rows} for config in ("base", "wide")
    }
    for config, found in rates.items():
        for workload, rate in found.items():
            own = [item for item in rows if (item["config"], item["workload"]) == (config, workload)]
            exact = [Fraction(1000 * item["tokens"]) / Fraction(item["ms"]) for item in own]
            assert rate.mean == mean(exact)
            assert rate.spread_pct == 100 * (max(exact) - min(exact)) / mean(exact)
        assert overall(found) == mean([rate.mean for rate in found.values()])


# The answer.


def test_a_null_comparison_is_named_as_such() -> None:
    one, two = made_up_sides([100, 102, 104], [101, 103, 105])
    answer = compare_pairs(replace(one, code="c"), replace(two, code="c"))
    assert answer.flags == ("F_SAME_CODE: both sides are one code with one choice of settings: a difference is noise",)


def test_a_session_of_noise_that_is_none_is_left_out_aloud() -> None:
    one, two = made_up_sides([100, 102, 104], [95, 96, 97])
    first, second = made_up_sides([110, 112, 114], [111, 113, 115])
    late = replace(second, runs=tuple(replace(run, started_at=start(90)) for run in second.runs))
    answer = compare_pairs(one, two, [(first, late)])
    assert answer.flags == ("F_NOISE_LEFT: base: the runs are not alternated (B base, O other): BBBOOO",)
    assert answer.pairs[0].nulls == ()
    elsewhere = [replace(side, runs=tuple(replace(run, test="t") for run in side.runs)) for side in (first, second)]
    answer = compare_pairs(one, two, [(elsewhere[0], elsewhere[1])])
    assert answer.flags == ("F_NOISE_LEFT: base did not run the test a test",)
    good = compare_pairs(one, two, [(first, second)])
    assert (good.outcome, good.flags, len(good.pairs[0].nulls)) == ("PASS", (), 3)


def test_noise_of_two_builds_is_none() -> None:
    one, two = made_up_sides([100, 102, 104], [95, 96, 97])
    first, second = made_up_sides([110, 112, 114], [111, 113, 115])
    found = refusal(lambda: compare_pairs(one, two, [(first, replace(second, code="d"))]))
    assert (found.code, found.where) == ("E_NOISE_ARMS", "--noise")


def test_T36_the_wall_of_a_run_is_not_judged_beside_its_requests() -> None:
    noise = made_up_sides([110, 112, 114], [111, 113, 115], metrics=("decode_tok_s", "wall"))
    sides = made_up_sides([100, 102, 104], [95, 96, 97], metrics=("decode_tok_s", "wall"))
    for run in (*sides[0].runs, *sides[1].runs, *noise[0].runs, *noise[1].runs):
        run.records["wall_ns"] = run.records["e2e_ns"]
    words = {item.metric.name: (item.word, item.level) for item in compare_pairs(*sides, [noise]).pairs}
    assert words == {"decode_tok_s": ("BETTER", Fraction(1, 20)), "wall": ("SHOWN", Fraction(1, 20))}
    asked = compare_pairs(*sides, [noise], ["wall"])
    assert [(item.metric.name, item.word) for item in asked.pairs] == [("wall", "BETTER")]
    alone = [replace(side, runs=tuple(replace(run, metrics=("wall",)) for run in side.runs)) for side in sides]
    assert compare_pairs(alone[0], alone[1], [noise]).pairs[0].word == "BETTER"  # a benchmark of durations


def test_a_loss_of_one_metric_fails_whatever_another_gains() -> None:
    one, two = made_up_sides([200, 202, 204], [95, 96, 97], metrics=("decode_tok_s", "ttft"))
    for run in two.runs:
        run.records["ttft_ns"] = [150_000_000, 150_000_001, 150_000_002]
        run.records["e2e_ns"] = [50_000_000 + e2e for e2e in run.records["e2e_ns"]]
    noise = made_up_sides([110, 112, 114], [111, 113, 115], metrics=("decode_tok_s", "ttft"))
    answer = compare_pairs(one, two, [noise])
    assert [item.word for item in answer.pairs] == ["BETTER", "WORSE"]
    assert (answer.outcome, answer.reason) == ("FAIL", "resolved worse: ttft")


def test_T11_and_T36_of_the_foreign_rule_are_flagged() -> None:
    one, two = made_up_sides([100, 100, 100], [101, 101, 101])
    base = replace(one, runs=tuple(replace(run, records=varied(run.records, at)) for at, run in enumerate(one.runs)))
    other = replace(two, runs=tuple(replace(run, records=varied(run.records, at)) for at, run in enumerate(two.runs)))
    answer = compare_rows(base, other, "noworse")
    assert [flag.partition(":")[0] for flag in answer.flags] == ["F_BELOW_RESOLUTION"] * 4 + ["F_WALL_GATED"]
    assert (answer.outcome, answer.code, answer.foreign_status) == ("FAIL", "", 1)


def test_T09_the_order_of_rows_is_flagged_under_the_foreign_rule() -> None:
    one, two = made_up_sides([100, 102, 104], [101, 103, 105])
    assert [flag for flag in compare_rows(one, two, "noworse").flags if "F_N" in flag or "F_O" in flag] == []
    late = replace(two, runs=tuple(replace(run, started_at=start(90)) for run in two.runs))
    flags = compare_rows(one, late, "noworse").flags
    assert "F_NOT_IN_TURN: the runs are not alternated (B base, O other): BBBOOO" in flags
    silent = replace(two, runs=tuple(replace(run, started_at="") for run in two.runs))
    assert any(flag.startswith("F_ORDER_UNKNOWN: ") for flag in compare_rows(one, silent, "noworse").flags)


def varied(records: JsonObject, at: int) -> JsonObject:
    """The records with the last digits of a clock of its own."""
    return records | {"e2e_ns": [value + at for value in records["e2e_ns"]]}


def test_coarse_clocks_and_failed_records_make_no_copies() -> None:
    coarse = [made_up_run(name, [31, 31, 32, 31, 31]) for name in ("a", "b")]
    check_distinct(Side(label="base", runs=tuple(coarse)), Side(label="other", runs=()))
    failed = [made_up_run(name, [100 + at, 200 + at, 300 + at, 400 + at]) for at, name in enumerate("ab")]
    for run in failed:
        run.records["ttft_ns"] = [None] * 4
        run.records["e2e_ns"] = [None] * 4
    check_distinct(Side(label="base", runs=tuple(failed)), Side(label="other", runs=()))
    counted = [made_up_run(name, [1], records={"completion_tokens": [1, 2, 3, 4]}) for name in "ab"]
    check_distinct(Side(label="base", runs=tuple(counted)), Side(label="other", runs=()))


def test_the_same_place_says_everything_alike() -> None:
    place = {"slot/node": "n", "node/cpu": "one"}
    base = Side(label="b", runs=(made_up_run("b", [1], axes=place),))
    for axes, same in ((place, True), ({"slot/node": "n"}, False), (place | {"node/cpu": "two"}, False)):
        assert is_same_place(base, Side(label="s", runs=(made_up_run("s", [1], axes=axes),))) is same
