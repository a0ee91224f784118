"""What a verdict needs before it can be one, and what is never shown.

``k3`` and a letter with a number is a hole that another benchmark's bot had, ``C`` and a number is a fault of a data
file that people reported; both are named as in the project's collections of them.
"""

# ruff: noqa: N802 - the names of holes and faults have capitals

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from ledger.errors import MalformedError, RefusedError
from ledger.scoring.pins import pins
from ledger.scoring.rescore import compare, to_json
from tests.support.scoring import (
    DECODE,
    DECODE_SLOT,
    PARITY,
    PREFILL,
    PREFILL_SLOT,
    Fold,
    frontier_of,
    imported_body,
    make_rule,
    parity_point,
    recorded_rule,
    scored_body,
    verdict_of,
)


class TestShape:
    def test_one_repetition_is_not_a_measurement_whatever_the_rule_says(self) -> None:
        verdict = verdict_of(make_rule(min_reps=1), "round", scored_body("r", [1300], [1000]))
        assert (verdict.label, verdict.code) == ("UNRESOLVED", "E_REPS")

    def test_too_few_repetitions_for_the_rule(self) -> None:
        verdict = verdict_of(make_rule(min_reps=3), "round", scored_body("r", [1300] * 3, [1000] * 2))
        assert (verdict.label, verdict.code) == ("UNRESOLVED", "E_REPS")
        assert verdict.gates[-1].detail == "main has 2 repetition(s), 3 are needed; +30.00 % is unverified"

    def test_one_lucky_repetition_of_main_does_not_raise_the_frontier(self) -> None:
        fold = Fold(make_rule())
        fold.add("round", scored_body("a", [1000, 1000], [1000, 1000]))
        fold.add("round", scored_body("b", [1000, 1000], [5000]))
        assert frontier_of(fold) == 1000

    def test_the_same_code_with_the_same_settings_is_no_candidate(self) -> None:
        body = scored_body("r", [1300, 1300], [1000, 1000])
        for arm in body["arms"]:
            arm["code_sha256"] = "0" * 64
        verdict = verdict_of(make_rule(), "round", body)
        assert (verdict.label, verdict.code) == ("UNRESOLVED", "E_SELF_COMPARISON")
        body["arms"][0]["settings"] = {"batch": "512"}
        assert verdict_of(make_rule(), "round", body).label == "xl"

    def test_a_measured_round_is_not_judged_by_a_rule_for_attested_ones_and_moves_nothing(self) -> None:
        fold = Fold(make_rule())
        index = fold.add("round", scored_body("r", [1300, 1300], [1000, 1000]), attested=False)
        assert (fold.verdict(index).label, fold.verdict(index).code) == ("UNRESOLVED", "E_EVIDENCE")
        assert frontier_of(fold) is None

    def test_an_imported_figure_moves_no_frontier(self) -> None:
        fold = Fold(recorded_rule())
        fold.add("imported", imported_body("r", "98.80", "69.02"))
        assert frontier_of(fold, DECODE_SLOT) is None
        (pin,) = [pin for pin in pins(fold.history) if pin.slot == DECODE_SLOT]
        assert (pin.held, pin.role) == (None, "basis")

    def test_a_changed_environment_under_a_pin_is_marked(self) -> None:
        fold = Fold(make_rule())
        fold.add("round", scored_body("a", [1000, 1000], [1000, 1000]))
        changed = scored_body("b", [1100, 1100], [1000, 1000], environment={"cpu": "one", "driver": "2"})
        assert fold.verdict(fold.add("round", changed)).flags == ("F_ENVIRONMENT_CHANGED:driver",)

    def test_noise_raises_the_share_that_a_gain_must_exceed(self) -> None:
        noise = scored_body("n", [1000, 1050], [1000, 1000], purpose="noise", parity=[])
        for arm in noise["arms"]:
            arm["code_sha256"] = "0" * 64
        body = scored_body("r", [1040, 1040], [1000, 1000])
        for setting, label in (("ignored", "s"), ("used", "none"), ("required", "none")):
            fold = Fold(make_rule(significance={"share": "0.02", "noise": setting}))
            fold.add("round", noise)
            assert fold.verdict(fold.add("round", body)).label == label, setting
        verdict = verdict_of(make_rule(significance={"share": "0.02", "noise": "required"}), "round", body)
        assert (verdict.label, verdict.code) == ("UNRESOLVED", "E_NO_NOISE")

    def test_a_session_of_main_alone_is_the_baseline_once(self) -> None:
        fold = Fold(make_rule())
        alone = scored_body("a", [1000, 1000], None)
        alone["arms"][0]["role"] = "main"
        for rep in alone["reps"]:
            rep["arm"] = "main"
        alone["parity"] = []
        assert fold.verdict(fold.add("round", alone)).label == "BASELINE"
        again = fold.add("round", alone | {"id": "b"})
        assert fold.judged(again).verdict is None

    def test_less_is_better_for_a_time(self) -> None:
        def timed(name: str, candidate: int, main: int) -> Any:  # noqa: ANN401 - a round body
            body = scored_body(name, [1000, 1000], [1000, 1000], slot=PREFILL | {"metric": "ttft"})
            for rep in body["reps"]:
                wall = candidate if rep["arm"] == "candidate" else main
                rep |= {"metrics": ["ttft"], "wall_ns": 10**9, "records": {"ttft_ns": [wall]}}
            return body

        fold = Fold(make_rule())
        assert fold.verdict(fold.add("round", timed("a", 800_000, 1_000_000))).label == "xl"
        assert fold.verdict(fold.add("round", timed("b", 1_200_000, 1_000_000))).label == "none"
        assert fold.verdict(fold.add("round", timed("c", 900_000, 980_000))).label == "m"

    @pytest.mark.parametrize(("wall", "label", "code"), [(1, "xl", ""), (3, "REVIEW", "E_WALL_UNDER")])
    def test_time_that_no_sample_accounts_for_is_reviewed(self, wall: int, label: str, code: str) -> None:
        body = scored_body("r", [1300, 1300], [1000, 1000])
        for rep in body["reps"]:
            rep["wall_ns"] *= wall
        rule = make_rule(plausibility={"wall_under": "0.5", "wall_over": "1.1"})
        verdict = verdict_of(rule, "round", body)
        assert (verdict.label, verdict.code) == (label, code)

    @pytest.mark.parametrize(("limit", "code"), [("0.999", "E_WALL_OVER"), ("1", "")])
    def test_samples_that_take_longer_than_their_repetition_are_reviewed(self, limit: str, code: str) -> None:
        rule = make_rule(plausibility={"wall_over": limit})
        verdict = verdict_of(rule, "round", scored_body("r", [1300, 1300], [1000, 1000]))
        assert (verdict.label, verdict.code) == ("REVIEW" if code else "xl", code)

    def test_a_figure_that_names_no_frontier_is_not_held_against_another(self) -> None:
        verdict = verdict_of(recorded_rule(), "imported", imported_body("i", "20", None))
        assert (verdict.label, verdict.code) == ("UNRESOLVED", "E_NO_FRONTIER")


class TestMoreOfShapeAndHistory:
    def test_C21_a_number_by_another_formula_is_not_read(self) -> None:
        # Two requests of 100 decode steps in 1 s and 3 s: the mean of rates is 66.667, the rate of the mean gap 50.
        body = scored_body("r", [1000, 1000], [1000, 1000], slot=DECODE)
        for rep in body["reps"]:
            rep |= {"metrics": ["decode_tok_s"], "wall_ns": 4 * 10**9}
            rep["records"] = {"completion_tokens": [101, 101], "ttft_ns": [1, 1], "e2e_ns": [10**9 + 1, 3 * 10**9 + 1]}
        body |= {
            "attachments": [{"name": "out.json", "sha256": "0" * 64, "size": 1}],
            "reported": [{"source": {"attachment": "out.json", "row": 0}, "values": {"output_token_throughput": "50"}}],
        }
        fold = Fold(make_rule(statistic="mean"))
        fold.add("round", body)
        best = fold.history.slots[DECODE_SLOT].frontier.best
        assert best is not None
        assert best.figure.value == Fraction(200, 3)
        slots = {slot.metric for slot in fold.history.slots}
        assert slots == {"decode_tok_s"}  # the formula is the metric: another formula would be another slot

    def test_C23_the_direction_comes_from_the_registry(self) -> None:
        with pytest.raises(MalformedError):
            verdict_of(make_rule(), "round", scored_body("r", [1, 1], [1, 1]) | {"higher_is_better": True})
        body = scored_body("r", [1000, 1000], [1000, 1000], slot=PREFILL | {"metric": "wall"})
        for rep in body["reps"]:
            rep["metrics"] = ["wall"]
            rep["wall_ns"] = rep["records"]["wall_ns"][0] = 25 * 10**6 if rep["arm"] == "candidate" else 10**7
        rule = make_rule(slots=[{"metric": "wall"}])
        assert verdict_of(rule, "round", body).label == "none"

    def test_C25_a_killed_run_has_no_ratio(self) -> None:
        body = scored_body("r", [42000, 42000], [1000, 1000])
        for rep in body["reps"]:
            rep["records"]["ok"] = [rep["arm"] != "candidate"]
        with pytest.raises(RefusedError) as caught:
            verdict_of(make_rule(), "round", body)
        assert caught.value.code == "E_ALL_FAILED"

    def test_C32_a_reference_of_one_repetition_or_of_another_box_is_no_pin(self) -> None:
        for node, reps in (("n2", 5), ("n1", 1)):
            fold = Fold(make_rule())
            reference = scored_body("ref", [167] * reps, None, purpose="reference", parity=[])
            reference["arms"][0]["role"] = "reference"
            for rep in reference["reps"]:
                rep["arm"] = "reference"
            fold.add("round", reference | {"slot": PREFILL | {"node": node}})
            held = [pin for pin in pins(fold.history) if pin.role == "reference" and pin.held and pin.slot.node == "n1"]
            assert held == [], (node, reps)

    def test_C34_a_bad_build_is_superseded_and_every_past_state_still_shows_it(self) -> None:
        fold = Fold(make_rule())
        bad = fold.add("round", scored_body("r1", [1454, 1454], [3000, 3000]))
        good = fold.add("round", scored_body("r2", [2213, 2213], [2124, 2124]))
        assert frontier_of(fold) == 3000
        fold.rule_on(bad, "supersede", by=f"{good:064x}")
        assert frontier_of(fold) == 2124
        assert (fold.judged(bad).gone_by, fold.judged(bad).stands) == ("supersede", False)
        assert fold.judged(good).stands

    def test_C40_a_round_of_one_code_against_itself_is_unresolved(self) -> None:
        body = scored_body("r", [1300, 1300], [1000, 1000])
        for arm in body["arms"]:
            arm["code_sha256"] = "7" * 64
        verdict = verdict_of(make_rule(), "round", body)
        assert (verdict.label, verdict.code) == ("UNRESOLVED", "E_SELF_COMPARISON")


class TestWhatIsNoMeasurement:
    @pytest.mark.parametrize("value", ["0", "-5", "0.00"])
    @pytest.mark.parametrize("where", ["/value/value", "/main/value", "/guards/0/value"])
    def test_an_imported_figure_of_0_or_less_is_refused(self, value: str, where: str) -> None:
        every: dict[str, dict[str, Any]] = {
            "/value/value": {"value": {"value": value, "origin": "file"}},
            "/main/value": {"main": {"value": value, "origin": "file"}},
            "/guards/0/value": {"guards": [{"metric": "ttft", "context": 1, "value": value}]},
        }
        with pytest.raises(RefusedError) as caught:
            verdict_of(recorded_rule(), "imported", imported_body("r", "1", "10") | every[where])
        assert (caught.value.code, caught.value.where) == ("E_NOT_MEASURED", where)

    @pytest.mark.parametrize(
        ("member", "value"), [("kl", "-1"), ("kl_max", "-0.1"), ("top1", "1.0001"), ("top1", "-0.1"), ("top1", "90")]
    )
    def test_an_impossible_parity_is_refused(self, member: str, value: str) -> None:
        body = scored_body("r", [1300, 1300], [1000, 1000], parity=[parity_point(**{member: value})])
        with pytest.raises(RefusedError) as caught:
            verdict_of(make_rule(parity=PARITY), "round", body)
        assert (caught.value.code, caught.value.where) == ("E_PARITY_RANGE", f"/parity/0/{member}")

    def test_what_main_did_in_a_session_that_nobody_attested_is_no_attested_frontier(self) -> None:
        rule = recorded_rule(frontier={"basis": "ledger"})
        body = imported_body("r", "12", None, main={"value": "10", "origin": "file"})
        verdict = verdict_of(rule, "imported", body)
        assert verdict.label == "xl"
        assert "frontier" in verdict.unattested


class TestWhatNobodyIsShown:
    def test_a_rejected_figure_is_not_the_best_measured_one(self) -> None:
        fold = Fold(recorded_rule(parity=PARITY))
        fold.add("imported", imported_body("fine", "69", "66"))
        fold.add("imported", imported_body("broken", "169.72", "69.02", parity=[{"kl": "2.673", "top1": "0"}]))
        best = fold.history.slots[DECODE_SLOT].measured.best
        assert best is not None
        assert best.figure.value == 69

    def test_a_measured_figure_under_review_counts_once_it_is_accepted_and_no_longer_once_rejected(self) -> None:
        fold = Fold(recorded_rule(plausibility={"ceiling": "3"}, denominator={"unattested": "10"}))
        index = fold.add("imported", imported_body("high", "50", "40"))

        def counted() -> int:
            return len(fold.history.slots[DECODE_SLOT].measured.items)

        found = [counted()]
        for outcome in ("accepted", "rejected"):
            fold.rule_on(index, "review", outcome=outcome)
            found.append(counted())
        assert found == [0, 1, 0]

    def test_a_mean_of_many_records_has_more_digits_than_python_prints_and_is_printed_all_the_same(self) -> None:
        body = scored_body("r", [1300, 1300], [1000, 1000])
        for rep in body["reps"]:
            wall = [rep["records"]["wall_ns"][0] + number for number in range(1500)]
            rep |= {"wall_ns": sum(wall), "records": {"prompt_tokens": [512] * 1500, "wall_ns": wall}}
        verdict = verdict_of(make_rule(statistic="mean"), "round", body)
        assert verdict.label == "xl"
        assert len(verdict.gain) > 4300
        assert verdict.gain_share == pytest.approx(0.3, rel=1e-4)

    def test_a_claim_whose_own_parity_fails_is_not_shown_as_measured(self) -> None:
        fold = Fold(make_rule(parity=PARITY))
        body = scored_body("claim", [2560, 2560], [1000, 1000], parity=[parity_point(kl="2.673", top1="0")])
        index = fold.add("round", body, attested=False)
        verdict = fold.verdict(index)
        assert (verdict.label, verdict.code, verdict.is_stopped) == ("UNRESOLVED", "E_EVIDENCE", True)
        assert "F_PARITY_FAILS" in verdict.flags
        arms = {item.arm for item in fold.history.slots[PREFILL_SLOT].measured.items}
        assert arms == {"main"}

    def test_a_re_score_shows_no_speed_that_either_side_stopped(self) -> None:
        before, after = (
            Fold(make_rule()),
            Fold(make_rule(plausibility={"ceiling": "1"}, denominator={"unattested": "9"})),
        )
        for fold in (before, after):
            fold.add("round", scored_body("r", [1300, 1300], [1000, 1000]))
        for pair in ((before, after), (after, before)):
            (row,) = to_json(compare(pair[0].history, pair[1].history))
            assert row["value"] == ""
        (row,) = to_json(compare(before.history, before.history))
        assert row["value"].startswith("1300.")


class TestClaims:
    def test_k3_D4_D10_verdict_fields_cannot_be_sent_at_all(self) -> None:
        for member in ("label", "verdict", "tier", "frontier", "delta"):
            with pytest.raises(MalformedError) as caught:
                verdict_of(make_rule(), "round", scored_body("r", [1300, 1300], [1000, 1000]) | {member: "XL"})
            assert caught.value.code == "E_SCHEMA"

    @pytest.mark.parametrize(("value", "label"), [("959.062", "xl"), ("959.0621", "REVIEW")])
    def test_k3_E1_over_the_ceiling_a_value_is_reviewed_and_not_believed_or_refused(
        self, value: str, label: str
    ) -> None:
        rule = recorded_rule(numbers="exact", plausibility={"ceiling": "52"}, denominator={"unattested": "18.4435"})
        verdict = verdict_of(rule, "imported", imported_body("r", value, "400"))
        assert verdict.label == label

    def test_the_real_one_5_2_times_the_reference_is_reviewed(self) -> None:
        rule = recorded_rule(plausibility={"ceiling": "5"}, denominator={"unattested": "18.4435"})
        verdict = verdict_of(rule, "imported", imported_body("r", "95.91", "69.02"))
        assert (verdict.label, verdict.code, verdict.diagnostic) == ("REVIEW", "E_CEILING", {"value": "95.91"})

    def test_k3_E2_an_honest_value_passes_after_a_review_that_is_sealed(self) -> None:
        for outcome, label in (("accepted", "xl"), ("rejected", "REJECT")):
            fold = Fold(make_rule(plausibility={"ceiling": "3"}, denominator={"unattested": "100"}))
            index = fold.add("round", scored_body("r", [500, 500], [200, 200]))
            assert fold.verdict(index).label == "REVIEW"
            fold.rule_on(index, "review", outcome=outcome)
            assert fold.verdict(index).label == label

    def test_k3_E3_a_ceiling_belongs_to_the_metric_of_its_rule(self) -> None:
        rule = make_rule(
            slots=[{"metric": "prefill_tok_s"}], plausibility={"ceiling": "5"}, denominator={"unattested": "143.88"}
        )
        assert not rule.covers(DECODE)
        with pytest.raises(RefusedError) as caught:
            make_rule(plausibility={"ceiling": "5"})
        assert caught.value.code == "E_RULE_DENOMINATOR"

    def test_k3_K12_every_copy_of_a_foreign_verdict_is_kept_and_none_decides(self) -> None:
        body = imported_body("r", "10.1", "10", labels={"ledger": "XL", "enclave": "REJECT"})
        assert verdict_of(recorded_rule(), "imported", body).label == "none"
