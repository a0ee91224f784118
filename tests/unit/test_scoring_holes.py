"""Ways in which a verdict, a frontier or a pin came to look better than it was, elsewhere: here each is impossible.

``k3`` and a letter with a number is a hole that another benchmark's bot had, ``C`` and a number is a fault of a data
file that people reported; both are named as in the project's collections of them.
"""

# ruff: noqa: N802 - the names of holes and faults have capitals

from __future__ import annotations

from fractions import Fraction
from typing import Any

import orjson
import pytest

from ledger.errors import MalformedError, RefusedError
from ledger.scoring.lock import check_pin_file, pin_file
from ledger.scoring.pins import pins
from ledger.scoring.rescore import compare, to_json
from ledger.scoring.rung import Slot, read_slot
from ledger.scoring.verdict import verdict_to_json
from tests.support.scoring import (
    DECODE,
    PREFILL,
    Fold,
    imported_body,
    make_rule,
    parity_point,
    recorded_rule,
    rule_body,
    scored_body,
    verdict_of,
)

PARITY = {"top1_min": "0.9", "kl_max": "0.05", "kl_prefer": "0.02"}
GUARD = {"metric": "decode_tok_s", "context": 512, "tolerance": "0.01"}
PREFILL_SLOT, DECODE_SLOT = read_slot(PREFILL), read_slot(DECODE)


def frontier_of(fold: Fold, slot: Slot = PREFILL_SLOT) -> Fraction | None:
    """Value of the frontier of a slot, rounded to whole units; none without one."""
    best = fold.history.slots[slot].frontier.best
    return None if best is None else Fraction(round(best.figure.value))


class TestParity:
    def test_k3_A1_without_parity_there_is_no_tier(self) -> None:
        body = scored_body("r", [1300, 1300], [1000, 1000], parity=[])
        verdict = verdict_of(make_rule(parity=PARITY), "round", body)
        assert (verdict.label, verdict.code, verdict.diagnostic) == ("UNRESOLVED", "E_PARITY_MISSING", {})

    def test_k3_A2_the_tier_of_a_rejected_rung_stands_under_diagnostic_only(self) -> None:
        body = scored_body("r", [1300, 1300], [1000, 1000], parity=[parity_point(kl="2.673", top1="0")])
        fold = Fold(make_rule(parity=PARITY))
        verdict = fold.verdict(fold.add("round", body))
        assert verdict.label == "REJECT"
        assert verdict.diagnostic == {"value": "1300.000003", "tier": "xl"}
        document = verdict_to_json(verdict)
        del document["diagnostic"]
        assert b"1300" not in orjson.dumps(document)
        assert b'"xl"' not in orjson.dumps(document)
        assert b"1300" not in orjson.dumps(to_json(compare(fold.history, fold.history)))

    def test_the_real_one_kl_2_673_at_depth_4_rejects_169_72(self) -> None:
        depths = [{"depth": 4, "kl": "2.673132434851828", "top1": "0"}] + [
            {"depth": depth, "kl": "0.0001", "top1": "1"} for depth in (128, 256, 512, 1024, 2048, 4096)
        ]
        rule = recorded_rule(parity=PARITY | {"depths": [4, 128, 256, 512, 1024, 2048, 4096]})
        verdict = verdict_of(rule, "imported", imported_body("r", "169.72", "69.02", parity=depths))
        assert (verdict.label, verdict.gate, verdict.code) == ("REJECT", "parity", "E_PARITY")
        assert verdict.diagnostic == {"value": "169.72", "tier": "xl"}

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
            assert verdict_of(make_rule(parity=PARITY | {"ratchet": ratchet}), "round", body).label == label

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


class TestTier:
    def test_k3_B1_a_slot_without_a_rule_has_no_verdict_and_no_baseline(self) -> None:
        fold = Fold(make_rule(slots=[{"metric": "ttft"}]))
        index = fold.add("round", scored_body("r", [1300, 1300], [1000, 1000]))
        assert (fold.judged(index).rule, fold.judged(index).verdict) == (None, None)

    def test_k3_B2_a_denominator_is_written_in_the_rule_or_there_is_none(self) -> None:
        body = scored_body("r", [1300, 1300], [1000, 1000])
        plain, literal = make_rule(), make_rule(denominator={"unattested": "400"})
        assert verdict_of(plain, "round", body).bound == "gain"
        verdict = verdict_of(literal, "round", body)
        assert (verdict.bound, verdict.unattested) == ("denominator", ("denominator",))

    def test_k3_B3_a_small_step_over_a_weak_frontier_is_small_against_a_denominator(self) -> None:
        body = scored_body("r", [28, 28], [23, 23])
        assert verdict_of(make_rule(), "round", body).label == "xl"
        assert verdict_of(make_rule(denominator={"unattested": "190"}), "round", body).label == "xs"

    def test_k3_B4_boost_and_cap_are_members_of_the_rule(self) -> None:
        body = scored_body("r", [137, 137], [100, 100])
        base = {"denominator": {"unattested": "50"}, "cap": None}
        boosted = make_rule(boost={"slope": "8", "max": "2"}, **base)
        assert Fraction(verdict_of(make_rule(**base), "round", body).credited) * 2 == Fraction(
            verdict_of(boosted, "round", body).credited
        )
        capped = verdict_of(make_rule(**base | {"cap": "1"}), "round", body)
        assert (capped.bound, capped.credited) == ("cap", capped.gain)
        weak = make_rule(boost={"slope": "8", "max": "2"}, denominator={"unattested": "365.85"})
        assert Fraction(verdict_of(weak, "round", body).credited) == pytest.approx(37 / 365.85, rel=1e-4)

    def test_k3_B6_a_denominator_from_another_node_or_of_one_repetition_is_refused(self) -> None:
        def with_reference(node: str, reps: int) -> tuple[str, str]:
            rule = make_rule(denominator={"receipt": f"{0:064x}"})
            fold = Fold(rule)
            reference = scored_body("ref", [400] * reps, None, purpose="reference")
            reference["arms"][0]["role"] = "reference"
            for rep in reference["reps"]:
                rep["arm"] = "reference"
            reference |= {"slot": PREFILL | {"node": node}, "parity": []}
            fold.add("round", reference)
            verdict = fold.verdict(fold.add("round", scored_body("r", [1300, 1300], [1000, 1000])))
            return verdict.label, verdict.code

        assert with_reference("n1", 3) == ("xl", "")
        assert with_reference("n2", 3) == ("UNRESOLVED", "E_DENOMINATOR")
        assert with_reference("n1", 1) == ("UNRESOLVED", "E_DENOMINATOR")

    def test_k3_B7_another_metric_does_not_inherit_a_denominator(self) -> None:
        rule = make_rule(slots=[{"metric": "decode_tok_s"}], denominator={"unattested": "18"})
        assert not rule.covers(PREFILL)

    def test_k3_B8_a_label_is_compared_with_its_own_rule_and_derived_again_under_another(self) -> None:
        old = recorded_rule(name="old", denominator={"unattested": "143.88"}, cap="1")
        new = recorded_rule(name="new", cap="1")
        before, after = Fold(old), Fold(new)
        body = imported_body("r", "59.06", "53.02")
        before.add("imported", body)
        after.add("imported", body)
        (item,) = compare(before.history, after.history)
        assert item.before is not None
        assert item.after is not None
        assert (item.before.label, item.before.rule) == ("s", old.digest)
        assert (item.after.label, item.after.rule) == ("l", new.digest)

    def test_k3_B9_a_context_that_was_not_measured_is_refused_at_the_door(self) -> None:
        body = scored_body("r", [1300, 1300], [1000, 1000], slot=PREFILL | {"context": 131072})
        with pytest.raises(RefusedError) as caught:
            verdict_of(make_rule(), "round", body)
        assert caught.value.code == "E_CONTEXT_MISMATCH"

    def test_k3_B10_decode_cannot_be_traded_for_prefill(self) -> None:
        rule = make_rule(guards=[GUARD])
        traded = scored_body("r", [1300, 1300], [1000, 1000], guard=(800, 1000))
        verdict = verdict_of(rule, "round", traded)
        assert (verdict.label, verdict.code) == ("REJECT", "E_GUARD")
        unmeasured = verdict_of(rule, "round", scored_body("r", [1300, 1300], [1000, 1000]))
        assert (unmeasured.label, unmeasured.code) == ("UNRESOLVED", "E_GUARD_MISSING")

    def test_k3_B11_a_guard_does_not_leak_through_many_small_losses(self) -> None:
        fold = Fold(make_rule(guards=[GUARD | {"tolerance": "0.02"}]))
        speed, labels = 1000, []
        for number in range(20):
            speed = speed * 985 // 1000
            body = scored_body(f"r{number}", [1300 + 100 * number] * 2, [1000 + 100 * number] * 2, guard=(speed, speed))
            labels.append(fold.verdict(fold.add("round", body)).label)
        # The first session's own main is the base; after that the base stays while the speed keeps falling.
        assert labels[:2] == ["xl", "xl"]
        assert set(labels[2:]) == {"REJECT"}

    def test_k3_B12_malformed_guards_are_refused_and_not_dropped(self) -> None:
        malformed: list[Any] = [
            [{"metric": "decode_tok_s"}],
            [GUARD | {"tolerance": "x"}],
            {},
            [GUARD | {"extra": "1"}],
        ]
        for guards in malformed:
            with pytest.raises(MalformedError):
                make_rule(guards=guards)
        with pytest.raises(RefusedError) as caught:
            make_rule(guards=[GUARD, GUARD])
        assert caught.value.code == "E_RULE_TWICE"

    def test_k3_B13_the_frontier_that_was_used_names_its_receipt(self) -> None:
        fold = Fold(make_rule())
        first = fold.add("round", scored_body("a", [1300, 1300], [1000, 1000]))
        second = fold.add("round", scored_body("b", [1100, 1100], [900, 900]))
        context = fold.judged(second).context
        assert context is not None
        assert (context.basis.source, context.basis.receipt) == ("frontier", first)
        assert context.basis.measured is not None
        assert round(context.basis.measured.value) == 900


class TestFrontier:
    def test_k3_C1_main_is_measured_in_every_session_and_a_stale_pin_scores_nothing(self) -> None:
        fold = Fold(make_rule())
        fold.add("round", scored_body("old", [360, 360], [355, 355]))
        late = fold.add("round", scored_body("late", [1030, 1030], [954, 954]))
        assert fold.verdict(late).label == "m"  # 8 % over main as it is, not 190 % over the old number
        assert frontier_of(fold) == 954

    def test_k3_C2_a_slow_box_never_lowers_the_frontier_and_raises_an_alarm(self) -> None:
        fold = Fold(make_rule(frontier={"basis": "ledger", "alarm": "0.9"}))
        fold.add("round", scored_body("a", [1000, 1000], [1000, 1000]))
        slow = fold.add("round", scored_body("b", [850, 850], [800, 800]))
        assert (fold.verdict(slow).label, fold.verdict(slow).code) == ("UNRESOLVED", "E_MAIN_FAR_BELOW")
        bit_slow = fold.add("round", scored_body("c", [990, 990], [950, 950]))
        assert fold.verdict(bit_slow).label == "none"
        assert frontier_of(fold) == 1000

    def test_k3_C3_C4_what_a_payload_says_of_frontier_and_label_is_not_read(self) -> None:
        body = scored_body("r", [1010, 1010], [1000, 1000])
        body |= {
            "attachments": [{"name": "out.json", "sha256": "0" * 64, "size": 1}],
            "reported": [
                {
                    "source": {"attachment": "out.json", "row": 0},
                    "values": {"frontier": "1", "label": "XL", "tier": "xl"},
                }
            ],
        }
        assert verdict_of(make_rule(), "round", body).label == "none"

    def test_k3_C6_a_guard_base_rises_with_every_pass_and_a_typed_number_does_not_stand_in(self) -> None:
        fold = Fold(make_rule(guards=[GUARD | {"unattested_base": "46.48"}]))
        fold.add("round", scored_body("a", [1300, 1300], [1000, 1000], guard=(568, 568)))
        index = fold.add("round", scored_body("b", [1500, 1500], [1000, 1000], guard=(460, 460)))
        assert (fold.verdict(index).label, fold.verdict(index).code) == ("REJECT", "E_GUARD")
        assert "568" in fold.verdict(index).gates[-1].detail

    def test_k3_C6_a_base_that_only_a_rule_names_is_said_to_be_unattested(self) -> None:
        rule = recorded_rule(
            guards=[{"metric": "ttft", "context": 512, "tolerance": "0.01", "unattested_base": "56.8"}]
        )
        body = imported_body("r", "60", "50", guards=[{"metric": "ttft", "context": 512, "value": "56"}])
        verdict = verdict_of(rule, "imported", body)
        assert "base of ttft at 512" in verdict.unattested

    def test_k3_C7_C10_C15_a_number_without_a_receipt_is_no_pin_and_is_printed_as_measured(self) -> None:
        fold = Fold(make_rule())
        fold.add("round", scored_body("a", [700, 700], [6902, 6902]))
        fold.add("round", scored_body("b", [9880, 9880], [9880, 9880]), attested=False)
        (basis,) = [pin for pin in pins(fold.history) if pin.role == "basis"]
        assert basis.held is not None
        assert basis.measured is not None
        assert (round(basis.held.figure.value), round(basis.measured.figure.value), basis.stale) == (6902, 9880, True)
        later = fold.add("round", scored_body("c", [7000, 7000], [6900, 6900]))
        context = fold.judged(later).context
        assert context is not None
        assert context.basis.used is not None
        assert round(context.basis.used.value) == 6902

    def test_k3_C8_a_merge_moves_the_frontier_to_the_winner_and_cites_its_receipt(self) -> None:
        fold = Fold(make_rule())
        winner = fold.add("round", scored_body("w", [1114, 1114], [1000, 1000]))
        assert frontier_of(fold) == 1000
        ruling = fold.rule_on(winner, "merged", commit="abc")
        best = fold.history.slots[PREFILL_SLOT].frontier.best
        assert best is not None
        assert (best.receipt, best.since, best.arm, best.commit) == (winner, ruling, "candidate", "abc")
        assert frontier_of(fold) == 1114
        assert fold.judged(winner).merged_at == ruling

    def test_k3_C9_a_pin_file_is_generated_from_receipts(self) -> None:
        fold = Fold(make_rule())
        fold.add("round", scored_body("w", [1114, 1114], [1000, 1000]))
        entry = next(pin for pin in pin_file(fold.history)["pins"] if pin["role"] == "basis")
        assert (entry["value"], entry["receipt"]) == ("1000", f"{0:064x}")

    def test_k3_C12_a_regression_that_is_the_largest_of_its_round_wins_nothing(self) -> None:
        fold = Fold(make_rule())
        fold.add("round", scored_body("a", [2200, 2200], [2124, 2124]))
        loser = fold.add("round", scored_body("b", [1454, 1454], [1410, 1410]))
        assert fold.verdict(loser).label == "none"
        fold.rule_on(loser, "merged", commit="abc")
        assert frontier_of(fold) == 2124  # a merge without a win moves nothing

    def test_k3_C13_C14_one_key_for_reader_and_writer_and_no_slot_is_shared(self) -> None:
        fold = Fold(make_rule())
        fold.add("round", scored_body("a", [2000, 2000], [2000, 2000]))
        for axis, value in (("node", "n2"), ("quant", "q4"), ("project", "other")):
            other = fold.add("round", scored_body(axis, [1000, 1000], [900, 900], slot=PREFILL | {axis: value}))
            assert fold.verdict(other).label == "l", axis
        assert frontier_of(fold) == 2000

    def test_k3_C16_C18_a_denominator_is_a_receipt_by_its_digest(self) -> None:
        rule = make_rule(denominator={"receipt": "f" * 64})
        verdict = verdict_of(rule, "round", scored_body("r", [1300, 1300], [1000, 1000]))
        assert (verdict.label, verdict.code) == ("UNRESOLVED", "E_DENOMINATOR")

    @pytest.mark.parametrize("role", ["basis", "guard"])
    def test_k3_C17_every_pin_of_a_file_is_traced_whatever_its_role(self, role: str) -> None:
        fold = Fold(make_rule())
        fold.add("round", scored_body("a", [1100, 1100], [1000, 1000]))
        for value, code in (("0", ""), ("1000", ""), ("1000.09", ""), ("1000.2", "E_PIN_UNTRACED")):
            entry = {"role": role, "slot": PREFILL, "value": value}
            count, findings = check_pin_file(orjson.dumps({"rungbook": "pin-file/v1", "pins": [entry]}), fold.history)
            assert (count, [item.code for item in findings]) == (1, [code] if code else [])

    @pytest.mark.parametrize(
        ("change", "code"),
        [
            ({"node": "n2"}, "E_PIN_SLOT"),
            ({"quant": "q4"}, "E_PIN_SLOT"),
            ({"context": 513}, "E_PIN_SLOT"),
            ({"metric": "ttft"}, "E_PIN_SLOT"),
        ],
    )
    def test_a_pin_of_another_slot_is_named_with_the_axis(self, change: dict[str, Any], code: str) -> None:
        fold = Fold(make_rule())
        fold.add("round", scored_body("a", [1100, 1100], [1000, 1000]))
        entry = {"role": "basis", "slot": PREFILL | change, "value": "1000"}
        _, (finding,) = check_pin_file(orjson.dumps({"rungbook": "pin-file/v1", "pins": [entry]}), fold.history)
        assert finding.code == code
        assert next(iter(change)) in finding.message

    def test_a_pin_that_was_only_measured_is_named_so(self) -> None:
        fold = Fold(make_rule())
        fold.add("round", scored_body("a", [1100, 1100], [1000, 1000]))
        fold.add("round", scored_body("b", [2000, 2000], [2000, 2000]), attested=False)
        entry = {"role": "basis", "slot": PREFILL, "value": "2000"}
        _, (finding,) = check_pin_file(orjson.dumps({"rungbook": "pin-file/v1", "pins": [entry]}), fold.history)
        assert finding.code == "E_PIN_MEASURED"

    def test_k3_C19_a_slot_that_nothing_corrects_scores_nothing_elsewhere(self) -> None:
        fold = Fold(make_rule(slots=[{"metric": "prefill_tok_s", "context": 512}]))
        fold.add("round", scored_body("a", [1034, 1034], [1034, 1034]))
        deep = scored_body("deep", [110, 110], [100, 100], slot=PREFILL | {"context": 131072})
        for rep in deep["reps"]:
            rep["context"] = 131072
        assert fold.judged(fold.add("round", deep)).verdict is None

    def test_k3_C20_K16_a_voided_receipt_stays_and_leaves_the_views_from_the_ruling_on(self) -> None:
        fold = Fold(make_rule())
        first = fold.add("round", scored_body("a", [1000, 1000], [1000, 1000]))
        dirty = fold.add("round", scored_body("b", [1500, 1500], [1400, 1400]))
        between = fold.add("round", scored_body("c", [1450, 1450], [1000, 1000]))
        before = fold.verdict(between)
        ruling = fold.rule_on(dirty, "void")
        after = fold.add("round", scored_body("d", [1450, 1450], [1000, 1000]))
        assert fold.verdict(between) == before
        assert before.label == "s"  # against 1400, which counted then
        assert fold.verdict(after).label == "xl"  # against 1000, which is left
        assert fold.judged(dirty).gone_at == ruling
        assert fold.verdict(dirty).label == "m"
        moves = [(move.index, move.holding and move.holding.receipt) for move in fold.history.slots[PREFILL_SLOT].moves]
        assert moves == [(first, first), (dirty, dirty), (ruling, first)]

    def test_k3_C21_what_main_measured_stands_beside_the_basis_that_was_used(self) -> None:
        rule = make_rule(frontier={"basis": "ledger", "agree": "0.02"})
        fold = Fold(rule)
        fold.add("round", scored_body("a", [4648, 4648], [4648, 4648]))
        below = fold.add("round", scored_body("b", [5682, 5682], [4611, 4611]))
        context = fold.judged(below).context
        assert context is not None
        assert context.basis.used is not None
        assert context.basis.measured is not None
        assert (round(context.basis.used.value), round(context.basis.measured.value)) == (4648, 4611)
        assert round(100 * float(Fraction(fold.verdict(below).gain)), 1) == 22.2
        slightly_above = fold.add("round", scored_body("c", [5000, 5000], [4700, 4700]))
        context = fold.judged(slightly_above).context
        assert context is not None
        assert (context.basis.source, context.basis.receipt) == ("frontier", 0)

    def test_k3_C22_a_round_without_main_is_not_scored(self) -> None:
        verdict = verdict_of(make_rule(), "round", scored_body("r", [1300, 1300], None))
        assert (verdict.label, verdict.code) == ("UNRESOLVED", "E_NO_MAIN")


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
        assert (verdict.label, verdict.code, verdict.diagnostic["tier"]) == ("REVIEW", "E_CEILING", "xl")

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


class TestShape:
    def test_one_repetition_is_not_a_measurement_whatever_the_rule_says(self) -> None:
        verdict = verdict_of(make_rule(min_reps=1), "round", scored_body("r", [1300], [1000]))
        assert (verdict.label, verdict.code) == ("UNRESOLVED", "E_REPS")

    def test_too_few_repetitions_for_the_rule(self) -> None:
        verdict = verdict_of(make_rule(min_reps=3), "round", scored_body("r", [1300] * 3, [1000] * 2))
        assert (verdict.label, verdict.code) == ("UNRESOLVED", "E_REPS")
        assert verdict.gates[-1].detail == "main has 2 repetition(s), 3 are needed"

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
        assert (verdict.label, verdict.code) == ("UNRESOLVED", "E_NOISE")

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

    def test_a_waiver_lets_one_rung_pass_one_gate(self) -> None:
        fold = Fold(make_rule(guards=[GUARD]))
        index = fold.add("round", scored_body("r", [1300, 1300], [1000, 1000], guard=(800, 1000)))
        fold.rule_on(index, "waiver", gate="guards")
        assert fold.verdict(index).label == "xl"
        assert [gate.outcome for gate in fold.verdict(index).gates if gate.name == "guards"] == ["waived"]


class TestMoreOfParityAndGuards:
    def test_k3_A8_every_guard_must_hold_and_each_is_listed(self) -> None:
        guards = [GUARD, GUARD | {"metric": "ttft"}]
        body = scored_body("r", [1300, 1300], [1000, 1000], guard=(995, 1000))
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
        rule = recorded_rule(parity=PARITY | {"top1_min": "0.95", "depths": [4, 128, 512, 1024, 4096]})
        fold = Fold(rule)
        index = fold.add("imported", imported_body("r", "169.72", "69.02", parity=points))
        assert (fold.verdict(index).label, fold.verdict(index).code) == ("REJECT", "E_PARITY")
        assert not fold.verdict(index).gain
        assert frontier_of(fold, DECODE_SLOT) is None


class TestMoreOfShapeAndHistory:
    def test_C20_one_repetition_moves_no_frontier_and_nothing_is_significant(self) -> None:
        fold = Fold(make_rule())
        index = fold.add("round", scored_body("r", [1036], [1000]))
        assert (fold.verdict(index).label, fold.verdict(index).code) == ("UNRESOLVED", "E_REPS")
        assert frontier_of(fold) is None

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

    def test_C26_over_the_ceiling_is_for_a_reviewer_who_signs(self) -> None:
        fold = Fold(make_rule(plausibility={"ceiling": "1"}, denominator={"unattested": "3350"}))
        index = fold.add("round", scored_body("r", [3600, 3600], [1000, 1000]))
        assert (fold.verdict(index).label, fold.verdict(index).code) == ("REVIEW", "E_CEILING")
        fold.rule_on(index, "merged", commit="c")
        assert frontier_of(fold) == 1000
        fold.rule_on(index, "review", outcome="accepted")
        assert fold.verdict(index).label in ("xl", "l", "m")

    def test_C31_there_is_no_nearest_slot(self) -> None:
        fold = Fold(make_rule(slots=[{"metric": "prefill_tok_s"}]))
        fold.add("round", scored_body("a", [2213, 2213], [2213, 2213]))
        deep = scored_body("deep", [954, 954], None, slot=PREFILL | {"context": 131072})
        for rep in deep["reps"]:
            rep["context"] = 131072
        index = fold.add("round", deep)
        assert (fold.verdict(index).label, fold.verdict(index).code) == ("UNRESOLVED", "E_NO_MAIN")
        assert (PREFILL_SLOT.beside("prefill_tok_s", 131072) in fold.history.slots) is True
        assert frontier_of(fold, PREFILL_SLOT.beside("prefill_tok_s", 131072)) is None

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

    def test_C39_nothing_to_compare_is_no_pass(self) -> None:
        without = scored_body("r", [1300, 1300], [1000, 1000], guards=[{"metric": "prefill_tok_s", "context": 512}])
        verdict = verdict_of(make_rule(guards=[GUARD]), "round", without)
        assert (verdict.label, verdict.code) == ("UNRESOLVED", "E_GUARD_MISSING")
        fold = Fold(make_rule(guards=[GUARD]))
        index = fold.add("round", without)
        fold.rule_on(index, "waiver", gate="guards")
        assert fold.verdict(index).label == "xl"

    def test_C40_a_round_of_one_code_against_itself_is_unresolved(self) -> None:
        body = scored_body("r", [1300, 1300], [1000, 1000])
        for arm in body["arms"]:
            arm["code_sha256"] = "7" * 64
        verdict = verdict_of(make_rule(), "round", body)
        assert (verdict.label, verdict.code) == ("UNRESOLVED", "E_SELF_COMPARISON")


class TestRulingsThatChangeAVerdict:
    def reviewed(self, outcome: str) -> tuple[Fold, int]:
        fold = Fold(make_rule(plausibility={"ceiling": "3"}, denominator={"unattested": "100"}, guards=[GUARD]))
        index = fold.add("round", scored_body("r", [500, 500], [200, 200], guard=(1500, 1000)))
        fold.rule_on(index, "review", outcome=outcome)
        return fold, index

    def test_an_accepted_review_lets_the_candidate_raise_the_base_of_guards(self) -> None:
        fold, _ = self.reviewed("accepted")
        later = fold.add("round", scored_body("later", [280, 280], [200, 200], guard=(1400, 1000)))
        assert (fold.verdict(later).label, fold.verdict(later).code) == ("REJECT", "E_GUARD")

    def test_before_and_without_it_the_candidate_counts_for_nothing(self) -> None:
        fold, _ = self.reviewed("rejected")
        later = fold.add("round", scored_body("later", [280, 280], [200, 200], guard=(1400, 1000)))
        assert fold.verdict(later).label == "xl"

    def test_a_winner_that_is_rejected_after_its_merge_leaves_the_frontier(self) -> None:
        fold = Fold(make_rule())
        winner = fold.add("round", scored_body("w", [1114, 1114], [1000, 1000]))
        fold.rule_on(winner, "merged", commit="abc")
        assert frontier_of(fold) == 1114
        ruling = fold.rule_on(winner, "review", outcome="rejected")
        assert fold.verdict(winner).label == "REJECT"
        assert frontier_of(fold) == 1000
        assert fold.history.slots[PREFILL_SLOT].moves[-1].index == ruling


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


class TestRulingsInAnyNumber:
    def test_a_second_void_changes_nothing(self) -> None:
        fold = Fold(make_rule())
        index = fold.add("round", scored_body("r", [1300, 1300], [1000, 1000]))
        first = fold.rule_on(index, "void")
        fold.rule_on(index, "void")
        assert fold.judged(index).gone_at == first


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
