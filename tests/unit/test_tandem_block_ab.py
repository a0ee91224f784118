"""A block A/B and a forced bench: rows, every refusal with its place, every flag and what just has none."""

# ruff: noqa: N802 - the names of traps have capitals

from __future__ import annotations

import time
from typing import Any

import pytest

from ledger.errors import MalformedError
from ledger.ingest.tandem.block_ab import TandemBlockAb, read_block_ab
from ledger.ingest.tandem.block_checks import BlockTimes
from ledger.ingest.tandem.forced import TandemForced
from tests.support.tandem import block_ab, block_run, encode, forced, forced_row

RUNS = block_ab()["runs"]


def refused(adapter: TandemBlockAb | TandemForced, found: Any) -> tuple[str, str]:  # noqa: ANN401 - any JSON value
    with pytest.raises(MalformedError) as caught:
        adapter.read(encode(found), "x.json")
    return caught.value.code, caught.value.where


def block_refused(found: Any) -> tuple[str, str]:  # noqa: ANN401 - as above
    return refused(TandemBlockAb(), found)


def forced_refused(found: Any) -> tuple[str, str]:  # noqa: ANN401 - as above
    return refused(TandemForced(), found)


def codes(adapter: TandemBlockAb | TandemForced, found: Any) -> list[str]:  # noqa: ANN401 - as above
    return list(
        dict.fromkeys(note.partition(":")[0] for row in adapter.read(encode(found), "x.json") for note in row.notes)
    )


def block_codes(found: Any) -> list[str]:  # noqa: ANN401 - as above
    return codes(TandemBlockAb(), found)


def with_run(at: int, **changes: Any) -> Any:  # noqa: ANN401 - a result
    """The result with changes to one of its runs."""
    found = block_ab()
    found["runs"][at] |= changes
    return found


class TestBlockAb:
    def test_an_answer_is_a_row_of_its_state_and_workload(self) -> None:
        rows = TandemBlockAb().read(encode(block_ab()), "x.json")
        row = rows[3]
        assert (row.number, row.metrics, row.context, row.warmup) == (
            3,
            ("ms_per_round", "tokens_per_round"),
            None,
            False,
        )
        assert row.records == {"rounds": [32], "decode_ns": [2_816_000_000], "completion_tokens": [129]}
        assert (row.wall_ns, row.started_at, row.commit, row.code_sha256) == (2_816_000_000, "", None, "c0" * 32)
        assert row.workload == {"dataset": "chat", "gen_tokens": 256}
        assert (row.environment, row.weights, row.harness) == ({}, {}, {"name": "block_ab"})
        assert row.settings == {
            "state": "cand",
            "state_spec": "cand=tools.x:FLAG=1",
            "base": "base",
            "max_new": "256",
            "mix.prose": "0.75",
            "mix.chat": "0.25",
            "mix.code": "0.5",
            "precapture": "32",
            "discard": "1",
            "learn_cost": "false",
            "proc": "false",
            "env.GRAPH": "1",
        }
        assert "out" not in row.reported
        assert row.reported["block_ms"] == "88.0"
        assert rows[0].settings["state_spec"] == "base="

    def test_a_discarded_answer_is_a_warm_up_without_a_sample_where_only_its_mean_was_kept(self) -> None:
        whole = block_run(0, "cand", "chat")
        found = block_ab(discarded=[{"pair": 0, "state": "base", "workload": "prose", "block_ms": 93.25}, whole])
        rows = TandemBlockAb().read(encode(found), "x.json")
        assert [row.warmup for row in rows] == [False] * 12 + [True] * 2
        assert rows[12].records == {"rounds": [None], "decode_ns": [None], "completion_tokens": [None]}
        assert (rows[12].wall_ns, rows[12].reported["block_ms"]) == (93_250_000, "93.25")
        assert rows[13].records == {"rounds": [32], "decode_ns": [2_816_000_000], "completion_tokens": [129]}

    def test_a_mean_per_round_is_the_time_of_all_rounds_to_the_nearest_nanosecond(self) -> None:
        found = with_run(0, block_ms=90.00000001, tok_s=None)
        found["verdicts"] = {}
        assert TandemBlockAb().read(encode(found), "x.json")[0].records["decode_ns"] == [2_880_000_000]
        found = with_run(0, block_ms=90.00000002, tok_s=None)
        found["verdicts"] = {}
        assert TandemBlockAb().read(encode(found), "x.json")[0].records["decode_ns"] == [2_880_000_001]

    def test_the_only_flag_of_a_sound_result_is_that_rounds_are_means(self) -> None:
        assert block_codes(block_ab()) == ["F_TOTALS_ONLY"]
        rows = TandemBlockAb().read(encode(block_ab()), "x.json")
        assert [len(row.notes) for row in rows] == [1] * 12 + [0]

    def test_T17_a_state_that_gave_another_text_is_refused(self) -> None:
        other = [9, *range(128)]
        assert block_refused(with_run(2, out=other, sha=None)) == ("E_TOKENS_DIFFER", "x.json/runs")
        longer = [5, *range(129)]
        assert (
            block_refused(with_run(4, out=longer, sha=None, tokens=129, tok_blk=None, tok_s=None))[0]
            == "E_TOKENS_DIFFER"
        )

    @pytest.mark.parametrize(
        ("changes", "code", "place"),
        [
            ({"sha": "0" * 64}, "E_PAYLOAD_DIGEST", "sha"),
            ({"tokens": 127}, "E_REPORTED_MISMATCH", "tokens"),
            ({"tok_blk": 4.00001}, "E_REPORTED_MISMATCH", "tok_blk"),
            ({"tok_s": 44.4}, "E_REPORTED_MISMATCH", "tok_s"),
            ({"block_ms": 0}, "E_ZERO_TIME", "block_ms"),
            ({"block_ms": 1e30}, "E_SAMPLE", "block_ms"),
            ({"block_ms": "90"}, "E_FIELD", "block_ms"),
            ({"blocks": 0}, "E_FIELD", "blocks"),
            ({"pair": -1}, "E_FIELD", "pair"),
            ({"state": 1}, "E_FIELD", "state"),
            ({"out": [1, True]}, "E_FIELD", "out"),
            ({"out": {}}, "E_FIELD", "out"),
        ],
    )
    def test_T34_an_answer_that_does_not_hold_together_is_refused(self, changes: Any, code: str, place: str) -> None:  # noqa: ANN401
        assert block_refused(with_run(1, **changes)) == (code, f"x.json/runs/1/{place}")

    def test_T02_a_pair_that_is_another_one_is_refused(self) -> None:
        copied = [run | {"pair": 1} if run["pair"] == 2 else run for run in RUNS if run["pair"] != 1]
        found = block_ab(runs=[*RUNS[:4], *[run | {"pair": 1} for run in RUNS[:4]], *RUNS[8:]], verdicts={})
        assert block_refused(found) == ("E_COPIED_SAMPLES", "x.json/runs")
        twice = block_ab(runs=[*copied, RUNS[0]], verdicts={})
        assert block_refused(twice) == ("E_COPIED_SAMPLES", "x.json/runs")

    def test_T10_pairs_that_are_not_whole_are_refused(self) -> None:
        assert block_refused(block_ab(runs=RUNS[:11])) == ("E_TRUNCATED", "x.json")
        assert block_refused(block_ab(runs=RUNS[:8], verdicts={})) == ("E_TRUNCATED", "x.json")
        assert block_codes(block_ab(runs=RUNS[:8], verdicts={}, pairs=2)) == ["F_TOTALS_ONLY"]

    def test_T47_a_result_without_a_discarded_pair_is_flagged(self) -> None:
        assert block_codes(block_ab(discard=0)) == ["F_TOTALS_ONLY", "F_CAPTURE"]
        assert block_codes(block_ab(discarded=[])) == ["F_TOTALS_ONLY", "F_CAPTURE"]
        assert block_codes(block_ab(discarded=[], proc=True)) == ["F_TOTALS_ONLY"]

    def test_T18_rounds_that_learning_changes_are_flagged(self) -> None:
        def of(blocks: int, *, learn: bool) -> list[str]:
            run = block_run(1, "base", "prose", blocks=blocks, tok_blk=None, tok_s=None)
            return block_codes(block_ab(runs=[*RUNS[:4], run, *RUNS[5:]], learn_cost=learn, verdicts={}))

        assert of(33, learn=True) == ["F_TOTALS_ONLY", "F_LEARNING"]
        assert of(33, learn=False) == of(32, learn=True) == ["F_TOTALS_ONLY"]

    def test_T06_short_answers_are_flagged(self) -> None:
        out = [3, *range(126)]
        short = {"out": out, "sha": None, "tokens": 126, "tok_blk": None, "tok_s": None}
        found = block_ab(runs=[run | short for run in RUNS])
        assert block_codes(found) == ["F_TOTALS_ONLY", "F_SHORT_OUTPUT"]

    @pytest.mark.parametrize(("workload", "side"), [("prose", "base"), ("pooled", "base"), ("pooled", "other")])
    def test_T34_verdicts_are_made_of_the_runs(self, workload: str, side: str) -> None:
        found = block_ab()
        found["verdicts"]["cand"]["ms_blk"][workload][side]["median"] += 0.001
        where = f"x.json/verdicts/cand/ms_blk/{workload}/{side}/median"
        assert block_refused(found) == ("E_REPORTED_MISMATCH", where)

    def test_pooled_values_are_of_the_mix_and_without_a_share_of_all_alike(self) -> None:
        mixed = read_block_ab(encode(block_ab()), "x")
        assert BlockTimes.of(mixed).values("base", "pooled") == [90.125, 90.375, 90.625]
        plain = read_block_ab(encode(block_ab(mix={"code": 1.0}, verdicts={})), "x")
        assert BlockTimes.of(plain).values("base", "pooled") == [90.25, 90.5, 90.75]
        plain = read_block_ab(encode(block_ab(mix=None, verdicts=None)), "x")
        assert BlockTimes.of(plain).values("cand", "pooled") == [87.75, 88.0, 88.25]

    def test_pooled_values_are_of_one_pair_in_whatever_order_the_runs_are_listed(self) -> None:
        turned = block_ab(runs=sorted(RUNS, key=lambda run: (run["workload"], -run["pair"] * len(run["workload"]) % 7)))
        found = BlockTimes.of(read_block_ab(encode(turned), "x")).values("base", "pooled")
        assert found == [90.125, 90.375, 90.625]

    @pytest.mark.soak  # a time is measured
    def test_a_result_of_many_pairs_or_states_is_read_at_once(self) -> None:
        names = [f"s{at}" for at in range(4000)]
        runs = [block_run(0, state, "prose", block_ms=90 + at / 4, tok_s=None) for at, state in enumerate(names)]
        alone = {"workloads": ["prose"], "verdicts": {}, "discarded": []}
        wide = block_ab(runs, states=names, base="s0", pairs=1, state_specs=[f"{name}=" for name in names], **alone)
        runs = [block_run(pair, "base", "prose", out=[0, *range(128)], sha=None) for pair in range(4000)]
        long = block_ab(runs, states=["base"], pairs=4000, **alone)
        for found in (wide, long):
            start = time.process_time()
            assert len(TandemBlockAb().read(encode(found), "x")) == 4000
            assert time.process_time() - start < 3

    def test_the_code_is_that_of_the_report_or_nobodys(self) -> None:
        assert TandemBlockAb().read(encode(block_ab(code=None)), "x")[0].code_sha256 is None
        assert block_refused(block_ab(code="c0"))[0] == "E_DIGEST"

    @pytest.mark.parametrize(
        ("members", "code", "where"),
        [
            ({"states": []}, "E_EMPTY_RESULTS", "states"),
            ({"states": ["base", "base"]}, "E_FIELD", "states"),
            ({"states": ["base", "a b"]}, "E_FIELD", "states/1"),
            ({"states": ["base", "other"]}, "E_FIELD", "runs"),
            ({"workloads": ["prose"]}, "E_FIELD", "runs"),
            ({"base": "none"}, "E_FIELD", "base"),
            ({"runs": []}, "E_EMPTY_RESULTS", "runs"),
            ({"runs": [7]}, "E_FORMAT", "runs/0"),
            ({"discarded": 7}, "E_EMPTY_RESULTS", "discarded"),
            ({"verdicts": 7}, "E_FORMAT", "verdicts"),
            ({"verdicts": {"cand": {"ms_blk": 7}}}, "E_FORMAT", "verdicts/cand/ms_blk"),
            ({"env": {"A": [{}]}}, "E_FIELD", "env/A"),
        ],
    )
    def test_what_is_not_as_the_tool_writes_it_is_refused(self, members: Any, code: str, where: str) -> None:  # noqa: ANN401
        found = block_ab()
        found |= members
        assert block_refused(found) == (code, f"x.json/{where}")

    def test_specs_that_are_no_list_say_nothing(self) -> None:
        row = TandemBlockAb().read(encode(block_ab(state_specs=7, max_new=None)), "x")[0]
        assert "state_spec" not in row.settings
        assert row.workload == {"dataset": "prose"}

    def test_it_is_recognised_by_its_contents(self) -> None:
        assert TandemBlockAb().recognises(encode(block_ab()))
        assert not TandemBlockAb().recognises(encode(forced()))


class TestForced:
    def test_an_answer_is_a_row_and_its_rounds_are_the_samples(self) -> None:
        rows = TandemForced().read(encode(forced()), "x.json")
        assert len(rows) == 12
        row = rows[5]
        assert (row.number, row.metrics, row.context) == (5, ("ms_per_round",), 31)
        assert row.records == {"rounds": [1, 1, 1], "decode_ns": [91_000_000, 92_500_000, 97_250_000]}
        assert (row.wall_ns, row.notes) == (282_255_000, ())
        assert row.workload == {"dataset": "prose", "prompt_tokens": 31, "gen_tokens": 13}
        assert row.settings == {"forced": "true", "config": "wide"}
        assert (row.started_at, row.commit, row.code_sha256, row.harness) == ("", None, None, {"name": "forced_bench"})
        assert row.reported["rows"] == "16.0"
        assert row.reported["arms"] == '{"s":{}}'
        assert row.reported["repeat"] == "1"

    def test_steps_that_are_no_round_are_told(self) -> None:
        row = forced_row("base", "prose", 0, blocks=4, tpb=3.0, mspb=None)
        assert codes(TandemForced(), forced(row)) == ["F_ROUNDS_PARTIAL"]
        row = forced_row("base", "prose", 0, rounds=[[16, True, 91.5]])
        assert codes(TandemForced(), forced(row)) == ["F_ROUNDS_PARTIAL", "F_N1"]
        row |= {"rows": 7.5}  # of all rounds, and two of them are not there
        assert codes(TandemForced(), forced(row)) == ["F_ROUNDS_PARTIAL", "F_N1"]

    @pytest.mark.parametrize("name", ["tok_s", "tpb", "mspb", "rows", "median_round_ms"])
    def test_T34_a_statistic_that_is_not_that_of_its_rounds_is_refused(self, name: str) -> None:
        row = forced_row("base", "prose", 0)
        row[name] *= 1 + 2e-9
        assert forced_refused(forced(row)) == ("E_REPORTED_MISMATCH", f"x.json/rows/0/{name}")

    def test_T53_rounds_that_took_longer_than_the_answer_are_refused(self) -> None:
        row = forced_row("base", "prose", 0, ms=277.7, tok_s=None, mspb=None)
        assert forced_refused(forced(row)) == ("E_WALL", "x.json/rows/0/rounds")
        row = forced_row("base", "prose", 0, ms=277.75, tok_s=None, mspb=None)
        assert codes(TandemForced(), forced(row)) == []

    def test_more_rounds_than_steps_are_refused(self) -> None:
        row = forced_row("base", "prose", 0, blocks=2)
        assert forced_refused(forced(row)) == ("E_REPORTED_MISMATCH", "x.json/rows/0/blocks")

    def test_T51_a_workload_is_one_text(self) -> None:
        for changes in ({"tokens": 11, "tok_s": None, "tpb": None}, {"prompt": 32}):
            found = forced(forced_row("base", "prose", 0), forced_row("wide", "prose", 0, **changes))
            assert forced_refused(found) == ("E_TOKENS_DIFFER", "x.json/rows/1/tokens")

    def test_T02_a_row_that_is_another_one_is_refused(self) -> None:
        row = forced_row("base", "prose", 0)
        later = forced_row("base", "prose", 1)
        assert forced_refused(forced(row, later | {"repeat": 0})) == ("E_COPIED_SAMPLES", "x.json/rows")
        assert forced_refused(forced(row, row | {"repeat": 1})) == ("E_COPIED_SAMPLES", "x.json/rows")

    @pytest.mark.parametrize(
        ("changes", "code", "place"),
        [
            ({"tokens": 0}, "E_FIELD", "tokens"),
            ({"blocks": 1.5}, "E_FIELD", "blocks"),
            ({"prompt": True}, "E_FIELD", "prompt"),
            ({"ms": 0}, "E_ZERO_TIME", "ms"),
            ({"ms": -1}, "E_SAMPLE", "ms"),
            ({"ms": None}, "E_FIELD", "ms"),
            ({"rounds": []}, "E_NO_SAMPLES", "rounds"),
            ({"rounds": [[16, False]]}, "E_FIELD", "rounds/0"),
            ({"rounds": [[16, False, 0]]}, "E_ZERO_TIME", "rounds/0/2"),
            ({"rounds": [["16", False, 90.0]]}, "E_FIELD", "rounds/0/0"),
            ({"workload": "a b"}, "E_FIELD", "workload"),
            ({"config": [[]]}, "E_FIELD", "config"),
        ],
    )
    def test_what_is_not_as_the_tool_writes_it_is_refused(self, changes: Any, code: str, place: str) -> None:  # noqa: ANN401
        assert forced_refused(forced(forced_row("base", "prose", 0) | changes)) == (code, f"x.json/rows/0/{place}")

    def test_a_result_without_rows_is_empty(self) -> None:
        assert forced_refused({"rows": [], "configs": []}) == ("E_EMPTY_RESULTS", "x.json/rows")
        assert forced_refused({"rows": [7]}) == ("E_FORMAT", "x.json/rows/0")
        assert TandemForced().recognises(encode(forced()))
        assert not TandemForced().recognises(encode(block_ab()))
