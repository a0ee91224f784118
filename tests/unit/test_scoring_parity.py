"""Parity and guards: accuracy comes first, and no speed is bought with another.

``k3`` and a letter with a number is a hole that another benchmark's bot had, ``C`` and a number is a fault of a data
file that people reported; both are named as in the project's collections of them.
"""

# ruff: noqa: N802 - the names of holes and faults have capitals

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import orjson
import pytest

from ledger.errors import MalformedError
from ledger.scoring.rescore import compare, to_json
from ledger.scoring.verdict import verdict_to_json
from tests.support.scoring import (
    DECODE_SLOT,
    GUARD,
    PARITY,
    Fold,
    frontier_of,
    imported_body,
    make_rule,
    parity_point,
    recorded_rule,
    rule_body,
    scored_body,
    verdict_of,
)

if TYPE_CHECKING:
    from ledger.scoring.verdict import Verdict


def assert_no_tier(verdict: Verdict) -> None:
    """A verdict in which no tier stands, in whatever place, and no gain."""
    document = verdict_to_json(verdict)
    assert not {b"xs", b"s", b"m", b"l", b"xl"} & set(re.findall(rb'"(\w+)"', orjson.dumps(document)))
    assert {gate["name"] for gate in document["gates"]}.isdisjoint({"tier", "significance"})
    assert (document["gain"], document["credited"], document["bound"]) == (None, None, None)


class TestParity:
    def test_k3_A1_without_parity_there_is_no_tier(self) -> None:
        body = scored_body("r", [1300, 1300], [1000, 1000], parity=[])
        verdict = verdict_of(make_rule(parity=PARITY), "round", body)
        assert (verdict.label, verdict.code, verdict.diagnostic) == ("UNRESOLVED", "E_PARITY_MISSING", {})

    def test_k3_A2_the_speed_of_a_rejected_rung_stands_under_diagnostic_only_and_has_no_tier(self) -> None:
        body = scored_body("r", [1300, 1300], [1000, 1000], parity=[parity_point(kl="2.673", top1="0")])
        fold = Fold(make_rule(parity=PARITY))
        verdict = fold.verdict(fold.add("round", body))
        assert verdict.label == "REJECT"
        assert verdict.diagnostic == {"value": "1300.000003"}
        document = verdict_to_json(verdict)
        assert b'"xl"' not in orjson.dumps(document)
        del document["diagnostic"]
        assert b"1300" not in orjson.dumps(document)
        assert b"1300" not in orjson.dumps(to_json(compare(fold.history, fold.history)))

    def test_the_real_one_kl_2_673_at_depth_4_rejects_169_72(self) -> None:
        depths = [{"depth": 4, "kl": "2.673132434851828", "top1": "0"}] + [
            {"depth": depth, "kl": "0.0001", "top1": "1"} for depth in (128, 256, 512, 1024, 2048, 4096)
        ]
        rule = recorded_rule(parity=PARITY | {"depths": [4, 128, 256, 512, 1024, 2048, 4096]})
        verdict = verdict_of(rule, "imported", imported_body("r", "169.72", "69.02", parity=depths))
        assert (verdict.label, verdict.gate, verdict.code) == ("REJECT", "parity", "E_PARITY")
        assert verdict.diagnostic == {"value": "169.72"}
        assert verdict.gates[-1].detail == (
            "worst KL 2.673132434851828 at depth 4, worst top-1 0 at depth 4; needed: KL <= 0.05, top-1 >= 0.9"
        )

    def test_k3_A3_bars_have_no_default_that_another_target_could_lend(self) -> None:
        body = rule_body(parity={"top1_min": "0.9"})
        with pytest.raises(MalformedError) as caught:
            make_rule(**body)
        assert "kl_max" in caught.value.message

    def test_k3_A4_the_verdict_names_the_rule_with_its_bars_by_digest(self) -> None:
        loose, tight = make_rule(parity=PARITY | {"kl_max": "0.2"}), make_rule(parity=PARITY)
        body = scored_body("r", [1300, 1300], [1000, 1000], parity=[parity_point(kl="0.1")])
        assert verdict_of(loose, "round", body).label == "xl"
        assert verdict_of(tight, "round", body).label == "REJECT"
        assert verdict_of(tight, "round", body).rule == tight.digest != loose.digest

    @pytest.mark.parametrize(("trials", "label"), [(1, "UNRESOLVED"), (19, "UNRESOLVED"), (20, "xl"), (1000, "xl")])
    def test_k3_A5_a_bar_finer_than_one_trial_is_not_judged(self, trials: int, label: str) -> None:
        body = scored_body("r", [1300, 1300], [1000, 1000], parity=[parity_point(trials=trials, top1="1")])
        verdict = verdict_of(make_rule(parity=PARITY | {"top1_min": "0.95"}), "round", body)
        assert (verdict.label, verdict.code) == (label, "" if label == "xl" else "E_PARITY_TRIALS")

    def test_k3_A6_a_gate_that_does_not_hold_ends_the_judgement(self) -> None:
        body = scored_body("r", [1300, 1300], [1000, 1000], parity=[], guard=(10, 1000))
        verdict = verdict_of(make_rule(parity=PARITY, guards=[GUARD]), "round", body)
        assert [gate.name for gate in verdict.gates] == ["integrity", "provenance", "comparability", "parity"]
        assert verdict.gates[-1].outcome == "open"

    def test_k3_A7_the_ratchet_reads_what_was_measured_and_not_a_rounded_number(self) -> None:
        # 0.0012499 / 0.001 is under 1.25; rounded to four decimals it would be over.
        ratchet = {"warn": "1.25", "block": "1.25"}
        for kl, label in (("0.0012499", "xl"), ("0.00125", "REJECT")):
            body = scored_body("r", [1300, 1300], [1000, 1000], parity=[parity_point(kl=kl), parity_point("main")])
            verdict = verdict_of(make_rule(parity=PARITY | {"ratchet": ratchet}), "round", body)
            assert (verdict.label, verdict.code) == (label, "E_PARITY_RATCHET" if label == "REJECT" else "")

    def test_k3_A10_a_tool_that_disagrees_is_a_point_and_one_that_did_not_run_is_none(self) -> None:
        disagrees = scored_body("r", [1300, 1300], [1000, 1000], parity=[parity_point(kl="1")])
        did_not_run = scored_body(
            "r", [1300, 1300], [1000, 1000], parity=[{"arm": "candidate", "depth": 4, "trials": 9}]
        )
        rule = make_rule(parity=PARITY)
        assert verdict_of(rule, "round", disagrees).label == "REJECT"
        verdict = verdict_of(rule, "round", did_not_run)
        assert (verdict.label, verdict.code) == ("UNRESOLVED", "E_PARITY_INCOMPLETE")

    def test_k3_G1_the_worst_depth_decides(self) -> None:
        points = [parity_point(), parity_point(depth=128, kl="0.06"), parity_point(depth=256)]
        body = scored_body("r", [1300, 1300], [1000, 1000], parity=points)
        assert verdict_of(make_rule(parity=PARITY), "round", body).label == "REJECT"

    def test_k3_G2_depths_that_nobody_tested_are_counted(self) -> None:
        verdict = verdict_of(make_rule(parity=PARITY), "round", scored_body("r", [1300, 1300], [1000, 1000]))
        (gate,) = [gate for gate in verdict.gates if gate.name == "parity"]
        assert gate.inputs["depths"] == "1"

    @pytest.mark.parametrize(("kl", "flagged"), [("0.00124", False), ("0.00125", True), ("0.0019", True)])
    def test_k3_G3_drift_from_main_under_the_bar_is_flagged(self, kl: str, *, flagged: bool) -> None:
        points = [parity_point(kl=kl), parity_point("main")]
        rule = make_rule(parity=PARITY | {"ratchet": {"warn": "1.25", "block": "2"}})
        verdict = verdict_of(rule, "round", scored_body("r", [1300, 1300], [1000, 1000], parity=points))
        assert verdict.label == "xl"
        assert ("F_PARITY_DRIFT" in verdict.flags) is flagged

    @pytest.mark.parametrize(
        ("before", "after", "label", "flagged"),
        [
            ("0.001", "0.004", "xl", False),
            ("0.03", "0.06", "REJECT", False),
            ("0.00002509593489983531", "0.000096551", "xl", False),
            ("0.0038674", "0.0059102", "xl", True),
        ],
    )
    def test_k3_G4_G5_a_ratio_counts_where_the_numbers_are_large_enough_to_mean_something(
        self, before: str, after: str, label: str, *, flagged: bool
    ) -> None:
        ratchet = {"warn": "1.25", "block": "2", "floor": "0.005", "block_from": "0.05"}
        rule = make_rule(parity=PARITY | {"kl_max": "0.1", "ratchet": ratchet})
        points = [parity_point(kl=after), parity_point("main", kl=before)]
        verdict = verdict_of(rule, "round", scored_body("r", [1300, 1300], [1000, 1000], parity=points))
        assert verdict.label == label
        assert ("F_PARITY_DRIFT" in verdict.flags) is flagged

    def test_k3_G6_a_required_depth_that_is_missing_is_named_and_nothing_is_scored(self) -> None:
        rule = make_rule(parity=PARITY | {"depths": [4, 128, 4096]})
        verdict = verdict_of(rule, "round", scored_body("r", [1300, 1300], [1000, 1000]))
        assert (verdict.label, verdict.code) == ("UNRESOLVED", "E_PARITY_DEPTH")
        assert verdict.gates[-1].detail == "no parity at depth 128, 4096"

    def test_k3_G7_a_rejection_is_in_the_replay_and_needs_no_label_elsewhere(self) -> None:
        fold = Fold(make_rule(parity=PARITY))
        index = fold.add("round", scored_body("r", [1300, 1300], [1000, 1000], parity=[parity_point(kl="1")]))
        fold.add("round", scored_body("later", [1000, 1000], [1000, 1000]))
        assert fold.verdict(index).label == "REJECT"

    def test_k3_G8_without_mains_parity_the_ratchet_is_unavailable_and_the_bars_hold(self) -> None:
        rule = make_rule(parity=PARITY | {"ratchet": {"warn": "1.25", "block": "2"}})
        verdict = verdict_of(rule, "round", scored_body("r", [1300, 1300], [1000, 1000], parity=[parity_point()]))
        assert verdict.label == "xl"
        assert "F_RATCHET_UNAVAILABLE" in verdict.flags

    def test_an_exact_zero_is_flagged_as_what_an_echo_would_give(self) -> None:
        body = scored_body("r", [1300, 1300], [1000, 1000], parity=[parity_point(kl="0", top1="1")])
        assert "F_KL_ZERO" in verdict_of(make_rule(parity=PARITY), "round", body).flags


class TestMoreOfParityAndGuards:
    def test_k3_A8_every_guard_must_hold_and_each_is_listed(self) -> None:
        guards = [GUARD, GUARD | {"metric": "ttft"}]
        body = scored_body("r", [1300] * 3, [1000] * 3, guard=(995, 1000))
        body["guards"].append({"metric": "ttft", "context": 512})
        for rep in body["reps"]:
            rep["metrics"].append("ttft")
        assert verdict_of(make_rule(guards=guards), "round", body).label == "xl"
        for rep in body["reps"]:
            if rep["arm"] == "candidate":
                rep["records"] |= {"ttft_ns": [2], "e2e_ns": [2 + 100 * 10**9 // 995]}
        verdict = verdict_of(make_rule(guards=guards), "round", body)
        assert (verdict.label, verdict.code) == ("REJECT", "E_GUARD")
        listed = [
            (gate.outcome, gate.inputs.get("guard", gate.detail[:4])) for gate in verdict.gates if gate.name == "guards"
        ]
        assert listed == [("pass", "decode_tok_s at 512"), ("fail", "ttft")]

    @pytest.mark.parametrize(
        ("path", "label", "code"),
        [
            ("batched", "xl", ""),
            ("token by token", "UNRESOLVED", "E_PARITY_PATH"),
            (None, "UNRESOLVED", "E_PARITY_PATH"),
        ],
    )
    def test_k3_A9_G9_parity_counts_on_the_path_that_is_timed(self, path: str | None, label: str, code: str) -> None:
        point = parity_point() | ({"path": path} if path else {})
        body = scored_body("r", [1300, 1300], [1000, 1000], parity=[point])
        verdict = verdict_of(make_rule(parity=PARITY | {"path": "batched"}), "round", body)
        assert (verdict.label, verdict.code) == (label, code)

    def test_C14_a_metric_that_is_missing_at_one_depth_is_not_averaged_away(self) -> None:
        points = [parity_point(depth=128, top1="0.99"), {"arm": "candidate", "depth": 4096, "trials": 9, "kl": "0.001"}]
        body = scored_body("r", [1300, 1300], [1000, 1000], parity=points)
        verdict = verdict_of(make_rule(parity=PARITY), "round", body)
        assert (verdict.label, verdict.code) == ("UNRESOLVED", "E_PARITY_INCOMPLETE")

    def test_C33_one_broken_depth_decides_whatever_the_average_says(self) -> None:
        kl = {"4": "2.673132435", "128": "0.004", "512": "0.004", "1024": "0.005", "4096": "0.006"}
        top1 = {"4": "0", "128": "0.99", "512": "0.99", "1024": "0.99", "4096": "0.98"}
        points = [{"depth": int(depth), "kl": kl[depth], "top1": top1[depth]} for depth in kl]
        bars = PARITY | {"top1_min": "0.95", "depths": [4, 128, 512, 1024, 4096]}
        fold = Fold(recorded_rule(parity=bars))
        verdict = fold.verdict(fold.add("imported", imported_body("r", "169.72", "69.02", parity=points)))
        assert (verdict.label, verdict.gate, verdict.code) == ("REJECT", "parity", "E_PARITY")
        assert verdict.gates[-1].detail == (
            "worst KL 2.673132435 at depth 4, worst top-1 0 at depth 4; needed: KL <= 0.05, top-1 >= 0.95"
        )
        assert_no_tier(verdict)
        assert verdict.diagnostic == {"value": "169.72"}
        assert frontier_of(fold, DECODE_SLOT) is None
        # The same of a session of our own, whose main stands: only that moves the frontier.
        fold = Fold(make_rule(parity=bars))
        fine = [parity_point(depth=each["depth"]) for each in points]
        fold.add("round", scored_body("a", [7000, 7000], [6902, 6902], parity=fine))
        assert frontier_of(fold) == 6902
        broken = [each | {"arm": "candidate", "trials": 1000} for each in points]
        index = fold.add("round", scored_body("r", [16972, 16972], [6900, 6900], parity=broken))
        assert (fold.verdict(index).label, fold.verdict(index).code) == ("REJECT", "E_PARITY")
        assert_no_tier(fold.verdict(index))
        assert fold.judged(index).shown is None
        fold.rule_on(index, "merged", commit="c")
        assert frontier_of(fold) == 6902

    def test_C33_the_worst_depth_of_each_figure_is_named(self) -> None:
        points = [parity_point(depth=128, kl="0.06"), parity_point(depth=4096, top1="0.8999999999")]
        verdict = verdict_of(make_rule(parity=PARITY), "round", scored_body("r", [1300] * 2, [1000] * 2, parity=points))
        assert verdict.gates[-1].detail == (
            "worst KL 0.06 at depth 128, worst top-1 0.8999999999 at depth 4096; needed: KL <= 0.05, top-1 >= 0.9"
        )
        unknown = imported_body("r", "60", "50", parity=[{"kl": "1", "top1": "1"}])
        verdict = verdict_of(recorded_rule(parity=PARITY), "imported", unknown)
        assert verdict.gates[-1].detail == "worst KL 1, worst top-1 1; needed: KL <= 0.05, top-1 >= 0.9"
