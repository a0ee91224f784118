"""Frontier, pins and rulings: numbers that somebody relies on come from receipts.

``k3`` and a letter with a number is a hole that another benchmark's bot had, ``C`` and a number is a fault of a data
file that people reported; both are named as in the project's collections of them.
"""

# ruff: noqa: N802 - the names of holes and faults have capitals

from __future__ import annotations

from fractions import Fraction
from typing import Any

import orjson
import pytest

from ledger.scoring.lock import check_pin_file, pin_file
from ledger.scoring.pins import pins
from tests.support.scoring import (
    GUARD,
    PREFILL,
    PREFILL_SLOT,
    Fold,
    frontier_of,
    imported_body,
    make_rule,
    recorded_rule,
    scored_body,
    verdict_of,
)


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
        fold.add("round", scored_body("a", [1300] * 3, [1000] * 3, guard=(568, 568)))
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


class TestRulingsThatChangeAVerdict:
    def reviewed(self, outcome: str) -> tuple[Fold, int]:
        fold = Fold(make_rule(plausibility={"ceiling": "3"}, denominator={"unattested": "100"}, guards=[GUARD]))
        index = fold.add("round", scored_body("r", [500] * 3, [200] * 3, guard=(1500, 1000)))
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


class TestRulingsInAnyNumber:
    def test_a_second_void_changes_nothing(self) -> None:
        fold = Fold(make_rule())
        index = fold.add("round", scored_body("r", [1300, 1300], [1000, 1000]))
        first = fold.rule_on(index, "void")
        fold.rule_on(index, "void")
        assert fold.judged(index).gone_at == first


class TestStatistics:
    def test_a_rule_with_another_statistic_does_not_inherit_a_frontier_of_the_first(self) -> None:
        def skewed(name: str, main: int, candidate: int) -> Any:  # noqa: ANN401 - a round body
            body = scored_body(name, [candidate] * 2, [main] * 2)
            for rep in body["reps"]:
                wall = rep["records"]["wall_ns"][0]
                rep |= {"wall_ns": 40 * wall}
                rep["records"] = {"prompt_tokens": [512] * 3, "wall_ns": [wall, wall, 30 * wall]}
            return body

        fold = Fold()
        fold.add("rule", make_rule(statistic="median").body)
        fold.add("round", skewed("a", 1000, 1000))
        fold.add("rule", make_rule(name="by-mean", statistic="mean").body)
        index = fold.add("round", skewed("b", 1000, 1100))
        # The mean of main is a third less than its median: held against the median, nothing would ever be a gain.
        assert fold.verdict(index).label == "l"
        best = fold.history.slots[PREFILL_SLOT].frontier
        assert (best.best_under("median") or best.best) is not best.best_under("mean")
        assert {item.statistic for item in best.items} == {"median", "mean"}

    def test_a_denominator_is_read_as_its_rule_reads(self) -> None:
        fold = Fold()
        fold.add("rule", make_rule(statistic="median").body)
        reference = scored_body("ref", [400] * 3, None, purpose="reference", parity=[])
        reference["arms"][0]["role"] = "reference"
        for rep in reference["reps"]:
            rep["arm"] = "reference"
        at = fold.add("round", reference)
        for statistic, code in (("mean", "E_DENOMINATOR"), ("median", "")):
            rule = make_rule(name=statistic, statistic=statistic, denominator={"receipt": f"{at:064x}"})
            fold.add("rule", rule.body)
            index = fold.add("round", scored_body(f"r-{statistic}", [1300, 1300], [1000, 1000]))
            assert fold.verdict(index).code == code
