"""A real history under its own ten rules, under others, and at the edges of both number modes."""

# ruff: noqa: N802 - the names of holes have capitals

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest

from ledger.errors import MalformedError
from ledger.scoring.rescore import compare, summary
from tests.support.k3 import case_body, cases, convert, decode_rules, final_rules, published_rules
from tests.support.scoring import Fold, imported_body, plain, recorded_rule, verdict_of

if TYPE_CHECKING:
    from ledger.rule import Rule


def labels(rules: list[Rule], count: int | None = None) -> list[str]:
    """Label of every figure under the first rule that covers its slot; `-` where none does."""
    fold = Fold(*rules)
    for case in cases()[:count]:
        fold.add("imported", case_body(case))
    return [item.verdict.label if item.verdict else "-" for item in fold.history.judged]


def test_every_figure_under_the_rule_that_was_sealed_before_it_has_the_recorded_label() -> None:
    rules, fold, adopted = published_rules(), Fold(), ""
    found = []
    for case in cases():
        if case["rule_then"] != adopted:
            adopted = case["rule_then"]
            fold.add("rule", convert(rules[adopted]).body)
        found.append(fold.verdict(fold.add("imported", case_body(case))).label)
    assert found == [
        case["sealed_label"].lower().replace("reject", "REJECT").replace("baseline", "BASELINE") for case in cases()
    ]
    assert len(found) == 51


@pytest.mark.parametrize("column", ["A_cap2_ref18.4435", "B_cap1_ref18.4435"])
def test_both_caps_give_the_published_columns(column: str) -> None:
    found = labels(decode_rules("2" if column.startswith("A") else "1"))
    expected = [case.get(column) for case in cases()]
    pairs = [(ours.lower(), theirs.lower()) for ours, theirs in zip(found, expected, strict=True) if theirs]
    assert len(pairs) == 48
    assert all(ours == theirs for ours, theirs in pairs)


def test_the_cap_alone_with_the_references_of_the_time() -> None:
    rules = published_rules()
    for case in cases():
        if "B_cap1_ref_then" in case:
            rule = convert(rules[case["rule_then"]], cap="1")
            assert verdict_of(rule, "imported", case_body(case)).label.lower() == case["B_cap1_ref_then"].lower()


def test_without_a_denominator_the_frontier_alone_gives_the_published_column() -> None:
    rules = published_rules()
    for case in cases():
        if "frontier_only" in case:
            rule = convert(rules[case["rule_then"]], denominator=None, cap=None)
            assert verdict_of(rule, "imported", case_body(case)).label.lower() == case["frontier_only"].lower()


def test_the_prefill_columns() -> None:
    rules = published_rules()
    for column, name in (("R7_anchor_on", "R7"), ("R8_anchor_off", "R8"), ("R9", "R9")):
        for case in cases():
            if column in case:
                assert (
                    verdict_of(convert(rules[name]), "imported", case_body(case)).label.lower() == case[column].lower()
                )


def test_k3_B5_halving_the_credit_cap_changes_exactly_the_eight_labels_that_were_named() -> None:
    # The eighteen scored figures that there were when the cap was changed.
    before, after = Fold(*decode_rules("2")), Fold(*decode_rules("1"))
    for case in cases()[:39]:
        before.add("imported", case_body(case))
        after.add("imported", case_body(case))
    rescored = compare(before.history, after.history)
    changed = {
        item.judged.rung.index: (item.before and item.before.label, item.after and item.after.label)
        for item in rescored
        if item.changed
    }
    assert changed == {
        19: ("m", "s"), 24: ("xl", "l"), 27: ("xl", "l"), 30: ("xl", "l"), 31: ("m", "s"), 34: ("xl", "l"),
        37: ("xl", "l"), 38: ("s", "xs"),
    }  # fmt: skip
    bound = {item.after.bound for item in rescored if item.changed and item.after}
    assert bound == {"cap"}
    assert summary(rescored)["changed"] == 8


def test_the_final_rules_disagree_with_ten_labels_in_force() -> None:
    found = labels(final_rules())
    changed = {
        case["seq"]: (case["sealed_label"].lower(), label)
        for case, label in zip(cases(), found, strict=True)
        if label.lower() != case["sealed_label"].lower()
    }
    assert changed == {
        19: ("m", "s"), 22: ("xl", "l"), 24: ("xl", "l"), 27: ("xl", "l"), 30: ("xl", "l"), 31: ("m", "s"),
        34: ("xl", "l"), 37: ("xl", "l"), 38: ("s", "xs"), 48: ("s", "l"),
    }  # fmt: skip


def test_no_label_of_the_history_hangs_on_half_a_unit_in_the_last_place() -> None:
    fold = Fold(*final_rules())
    for case in cases():
        fold.add("imported", case_body(case))
    assert [item.rung.index for item in fold.history.judged if item.verdict and item.verdict.fragile] == []
    near = imported_body("near", "70.4004", "69.02")
    assert verdict_of(recorded_rule(), "imported", near).fragile


@pytest.mark.parametrize(
    ("value", "frontier", "reference", "double", "exact"),
    [
        ("102.0", "100", "400", "none", "none"),
        ("1.02", "1.0", "18.4435", "xs", "none"),
        ("10.2", "10", "18.4435", "none", "none"),
        ("20.4", "20", "18.4435", "none", "none"),
        ("70.4004", "69.02", None, "xs", "none"),
        ("118", "100", "18.4435", "xl", "xl"),
        ("1.18", "1.0", None, "l", "xl"),
        ("11.8", "10", None, "xl", "xl"),
        ("59", "50", "18.4435", "xl", "xl"),
        ("13.3198", "10", "18.4435", "l", "l"),
        ("13.31983", "10", "18.4435", "l", "xl"),
        ("13.3199", "10", "18.4435", "xl", "xl"),
        ("103.5", "100", None, "s", "s"),
        ("1.035", "1.0", None, "xs", "s"),
        ("106", "100", None, "m", "m"),
        ("1.06", "1", None, "m", "m"),
        ("110", "100", None, "l", "l"),
        ("1.1", "1", None, "l", "l"),
        ("0", "10", "18.4435", "none", "none"),
        ("10", "0", "18.4435", "BASELINE", "BASELINE"),
        ("10", "-1", None, "BASELINE", "BASELINE"),
    ],
)
def test_edges_in_both_number_modes(value: str, frontier: str, reference: str | None, double: str, exact: str) -> None:
    members = {"denominator": {"unattested": reference} if reference else None, "cap": "1" if reference else None}
    for numbers, label in (("ieee754", double), ("exact", exact)):
        fold = Fold(recorded_rule(numbers=numbers, **members))
        index = fold.feed("imported", imported_body("edge", value, frontier), attested=False)  # the door refuses a 0
        assert fold.verdict(index).label == label, numbers


def test_where_xl_starts_over_a_frontier_of_10_and_of_50() -> None:
    rule = recorded_rule(numbers="exact", cap="1", denominator={"unattested": "18.44"})
    assert verdict_of(rule, "imported", imported_body("on", "13.3192", "10")).label == "xl"
    assert verdict_of(rule, "imported", imported_body("under", "13.31919", "10")).label == "l"
    assert verdict_of(rule, "imported", imported_body("cap", "59", "50")).label == "xl"
    assert verdict_of(rule, "imported", imported_body("under-cap", "58.9999", "50")).label == "l"


@pytest.mark.parametrize(
    ("top1", "kl", "label"),
    [
        ("0.95", "0.05", "xl"),
        ("0.949999", "0.05", "REJECT"),
        ("0.95", "0.0500000001", "REJECT"),
    ],
)
def test_edges_of_the_accuracy_bars(top1: str, kl: str, label: str) -> None:
    rule = recorded_rule(parity={"top1_min": "0.95", "kl_max": "0.05", "kl_prefer": "0.02"})
    body = imported_body("edge", "118", "100", parity=[{"kl": kl, "top1": top1}])
    assert verdict_of(rule, "imported", body).label == label


@pytest.mark.parametrize(("kl", "flagged"), [("0.02", False), ("0.0200001", True)])
def test_the_preferred_accuracy_only_flags(kl: str, flagged: bool) -> None:
    rule = recorded_rule(parity={"top1_min": "0.95", "kl_max": "0.05", "kl_prefer": "0.02"})
    verdict = verdict_of(rule, "imported", imported_body("edge", "118", "100", parity=[{"kl": kl, "top1": "1"}]))
    assert verdict.label == "xl"
    assert ("F_KL_OVER_PREFERRED" in verdict.flags) is flagged


@pytest.mark.parametrize("number", ["NaN", "nan", "Infinity", "-Infinity", "1e5", "0x10", ""])
def test_k3_B14_no_number_that_is_not_finite_reaches_a_rule(number: str) -> None:
    for body in (imported_body("v", number, "10"), imported_body("f", "10", number)):
        with pytest.raises(MalformedError) as caught:
            verdict_of(recorded_rule(), "imported", body)
        assert caught.value.code == "E_SCHEMA"
    body = imported_body("kl", "12", "10", parity=[{"kl": number, "top1": "1"}])
    with pytest.raises(MalformedError):
        verdict_of(recorded_rule(), "imported", body)


def test_k3_B6_a_reference_from_another_machine_made_every_tier_a_tenth_too_large() -> None:
    def size(reference: str) -> Fraction:
        rule = recorded_rule(numbers="exact", denominator={"unattested": reference})
        return Fraction(verdict_of(rule, "imported", imported_body("r", "30", "20")).credited)

    assert round(100 * (1 - size("18.4435") / size("16.7026")), 2) == Fraction("9.44")


@pytest.mark.parametrize(
    ("claim", "stale", "true"), [("50.60", "25.4", "-4.6"), ("50.23", "24.5", "-5.3"), ("42.50", "5.3", "-19.8")]
)
def test_k3_C7_claims_over_a_stale_pin_are_losses_over_the_true_one(claim: str, stale: str, true: str) -> None:
    for frontier, expected in (("40.35", stale), ("53.02", true)):
        verdict = verdict_of(recorded_rule(numbers="exact"), "imported", imported_body("claim", claim, frontier))
        assert plain(str(round(100 * float(Fraction(verdict.gain)), 1))) == expected


def test_k3_B7_a_dormant_denominator_makes_l_cost_27_percent() -> None:
    rule = recorded_rule(numbers="exact", cap="1", denominator={"unattested": "143.88"})
    edge = Fraction("53.02") + Fraction("0.1") * Fraction("143.88")
    assert verdict_of(rule, "imported", imported_body("l", "67.408", "53.02")).label == "l"
    assert verdict_of(rule, "imported", imported_body("m", "67.407", "53.02")).label == "m"
    assert round(100 * (edge / Fraction("53.02") - 1), 1) == Fraction("27.1")


def test_the_distribution_of_labels_under_the_capped_rule() -> None:
    counts = Counter(labels(decode_rules("1"))[:48])
    assert counts == {"BASELINE": 1, "xl": 6, "xs": 4, "none": 22, "s": 7, "m": 2, "l": 6}
