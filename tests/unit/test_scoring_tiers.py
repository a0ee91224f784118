"""Tiers: ways in which a gain came to look larger than it was, elsewhere."""

# ruff: noqa: N802 - the names of holes and faults have capitals

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from ledger.errors import MalformedError, RefusedError
from ledger.scoring.rescore import compare
from tests.support.scoring import (
    GUARD,
    PREFILL,
    Fold,
    imported_body,
    make_rule,
    recorded_rule,
    scored_body,
    verdict_of,
)


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
        traded = scored_body("r", [1300] * 3, [1000] * 3, guard=(800, 1000))
        verdict = verdict_of(rule, "round", traded)
        assert (verdict.label, verdict.code) == ("REJECT", "E_GUARD")
        unmeasured = verdict_of(rule, "round", scored_body("r", [1300, 1300], [1000, 1000]))
        assert (unmeasured.label, unmeasured.code) == ("UNRESOLVED", "E_GUARD_MISSING")

    def test_k3_B11_a_guard_does_not_leak_through_many_small_losses(self) -> None:
        fold = Fold(make_rule(guards=[GUARD | {"tolerance": "0.02"}]))
        speed, labels = 1000, []
        for number in range(20):
            speed = speed * 985 // 1000
            body = scored_body(f"r{number}", [1300 + 100 * number] * 3, [1000 + 100 * number] * 3, guard=(speed, speed))
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
