"""What a candidate and its guards are held against, and what a waiver lets pass, by the number of the fault."""

# ruff: noqa: N802 - the names of cases have capitals

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from ledger.scoring.facts import decimal_text
from ledger.scoring.slots import GUARD_REPS
from ledger.scoring.verdict import verdict_to_json
from tests.support.scoring import (
    DECODE,
    DECODE_SLOT,
    GUARD,
    GUARDED,
    Fold,
    frontier_of,
    make_rule,
    parity_point,
    scored_body,
    verdict_of,
)

if TYPE_CHECKING:
    from ledger.canonical import JsonObject

# C31: a pin of another slot.

DEEP = 131_072
PINNED, CANDIDATE = "22.13", "9.54"


def decode_records(rate: str) -> JsonObject:
    """One request that decodes at a rate of at most four decimals, exactly: ten thousand seconds of it."""
    tokens = Fraction(rate) * 10_000
    assert tokens.denominator == 1
    return {"completion_tokens": [int(tokens) + 1], "ttft_ns": [1], "e2e_ns": [1 + 10**13]}


def at_depth(name: str, context: int, **rates: str) -> JsonObject:
    """A session in the decode slot at a context: the rate of each arm, three repetitions of each."""
    template = scored_body(name, [1000], None)["reps"][0]
    reps = [
        template | {"arm": arm, "order": 0, "context": context, "metrics": ["decode_tok_s"], "wall_ns": 10**13}
        | {"records": decode_records(rates[arm])}
        for _ in range(3) for arm in sorted(rates)
    ]  # fmt: skip
    body = scored_body(name, [1000], [1000] if "main" in rates else None, slot=DECODE | {"context": context})
    arms = [arm for arm in body["arms"] if arm["role"] in rates] or [body["arms"][0] | {"role": "main"}]
    placed = [each | {"order": order} for order, each in enumerate(reps)]
    return body | {"arms": arms, "reps": placed, "parity": [parity_point(arm) for arm in rates]}


def with_pin() -> tuple[Fold, int]:
    fold = Fold(make_rule(slots=[{"metric": "decode_tok_s"}]))
    return fold, fold.add("round", at_depth("pin", 128, main=PINNED))


def basis_of(fold: Fold, index: int) -> tuple[str, int | None, Fraction | None]:
    context = fold.judged(index).context
    assert context is not None
    return context.basis.source, context.basis.receipt, context.basis.used.value if context.basis.used else None


def text_of(fold: Fold, index: int) -> str:
    return orjson.dumps(verdict_to_json(fold.verdict(index))).decode()


def test_C31_a_candidate_alone_is_not_held_against_the_pin_of_another_context() -> None:
    fold, pin = with_pin()
    assert (fold.verdict(pin).label, basis_of(fold, pin)) == ("BASELINE", ("main", pin, Fraction(PINNED)))
    index = fold.add("round", at_depth("deep", DEEP, candidate=CANDIDATE))
    assert (fold.verdict(index).label, fold.verdict(index).code) == ("UNRESOLVED", "E_NO_MAIN")
    assert basis_of(fold, index) == ("", None, None)
    assert PINNED not in text_of(fold, index)
    deep = DECODE_SLOT.beside("decode_tok_s", DEEP)
    assert deep in fold.history.slots
    assert frontier_of(fold, deep) is None


def test_C31_main_of_another_context_is_the_first_of_its_own_slot() -> None:
    fold, _ = with_pin()
    alone = fold.add("round", at_depth("deep", DEEP, main=CANDIDATE))
    assert (fold.verdict(alone).label, basis_of(fold, alone)) == ("BASELINE", ("main", alone, Fraction(CANDIDATE)))
    assert PINNED not in text_of(fold, alone)


def test_C31_a_candidate_is_held_against_main_of_its_own_session() -> None:
    fold, _ = with_pin()
    index = fold.add("round", at_depth("deep", DEEP, candidate=CANDIDATE, main="9"))
    assert (fold.verdict(index).label, Fraction(fold.verdict(index).gain)) == ("m", Fraction(6, 100))
    assert basis_of(fold, index) == ("main", index, Fraction(9))
    assert PINNED not in text_of(fold, index)


def test_C31_the_same_candidate_in_the_slot_of_the_pin_is_held_against_the_pin() -> None:
    fold, pin = with_pin()
    index = fold.add("round", at_depth("near", 128, candidate=CANDIDATE, main="9"))
    assert basis_of(fold, index) == ("frontier", pin, Fraction(PINNED))
    assert fold.verdict(index).label == "none"
    assert Fraction(fold.verdict(index).gain) == Fraction(CANDIDATE) / Fraction(PINNED) - 1


def test_C31_a_guard_at_another_context_is_a_missing_guard() -> None:
    rule = make_rule(guards=[GUARD | {"context": DEEP}])
    fold = Fold(rule)
    fold.add("round", at_depth("pin", 512, main=PINNED))
    index = fold.add("round", scored_body("r", [1300] * 3, [1000] * 3, guard=(23, 23)))
    assert (fold.verdict(index).label, fold.verdict(index).code) == ("UNRESOLVED", "E_GUARD_MISSING")
    assert fold.verdict(index).gates[-1].detail == f"the candidate has no decode_tok_s at {DEEP}"
    # Measured at that context, without main, there is nothing to hold it against: the pin is of another.
    body = scored_body("s", [1300] * 3, [1000] * 3)
    add_guard(body, DEEP, candidate=CANDIDATE)
    index = fold.add("round", body)
    assert (fold.verdict(index).label, fold.verdict(index).code) == ("UNRESOLVED", "E_GUARD_BASE")
    assert PINNED not in text_of(fold, index)


def add_guard(body: JsonObject, context: int, **rates: str) -> None:
    """Let every repetition of some arms be followed by one that measures a guard."""
    reps = []
    for each in body["reps"]:
        reps.append(each)
        if each["arm"] in rates:
            measured = {"context": context, "metrics": ["decode_tok_s"], "wall_ns": 10**13}
            reps.append(each | measured | {"records": decode_records(rates[each["arm"]])})
    body["reps"] = [each | {"order": order} for order, each in enumerate(reps)]
    if len(rates) == len(body["arms"]):  # a round names only what every arm has measured
        body["guards"] = [{"metric": "decode_tok_s", "context": context}]


# C32: a pin that does not qualify.

OLD_PIN, NEW_PIN, MEASURED = "16.7026", "18.4435", "18"


def pin_session(name: str, rate: str, reps: int, **members: Any) -> JsonObject:  # noqa: ANN401 - members of any kind
    """A session of main that measures the guard this often, and its own slot twice as a session must."""
    body = at_depth(name, 512, main=rate)
    each = body["reps"][0]
    return body | {"reps": [each | {"order": order} for order in range(reps)]} | members


def guarded_round(name: str, *, main: str | None = None) -> JsonObject:
    body = scored_body(name, [1300] * 3, [1000] * 3)
    add_guard(body, 512, candidate=MEASURED, **({"main": main} if main else {}))
    return body


def test_C32_a_guard_is_held_against_the_pin_of_enough_repetitions() -> None:
    fold = Fold(make_rule(guards=[GUARD]))
    fold.add("round", pin_session("wrong", OLD_PIN, 1, slot=DECODE | {"node": "boxB"}))
    right = fold.add("round", pin_session("right", NEW_PIN, 5))
    index = fold.add("round", guarded_round("r"))
    verdict = fold.verdict(index)
    assert (verdict.label, verdict.code, verdict.flags) == ("REJECT", "E_GUARD", ())
    assert verdict.gates[-1].detail == "decode_tok_s at 512 is 18, the base is 18.4435"
    assert decimal_text(100 * (Fraction(MEASURED) / Fraction(NEW_PIN) - 1), 2) == "-2.40"
    context = fold.judged(index).context
    assert context is not None
    ((figure, receipt),) = context.guard_bases.values()
    assert (figure.value, receipt) == (Fraction(NEW_PIN), right)
    assert decimal_text(100 * (Fraction(MEASURED) / Fraction(OLD_PIN) - 1), 2) == "7.77"
    assert "7.77" not in text_of(fold, index)
    assert OLD_PIN not in text_of(fold, index)


UNQUALIFIED: dict[str, tuple[int, str, str]] = {
    "of two repetitions": (2, "n1", "its pin, receipt 0, has 2 repetition(s), 3 are needed"),
    "of another node": (5, "boxB", "its pin, receipt 0, is of the node boxB"),
    "of both": (2, "boxB", "its pin, receipt 0, is of the node boxB"),
}


@pytest.mark.parametrize("case", UNQUALIFIED)
def test_C32_where_no_pin_qualifies_main_of_the_session_is_the_base_and_a_pin_of_few_is_told(case: str) -> None:
    reps, node, _ = UNQUALIFIED[case]
    fold = Fold(make_rule(guards=[GUARD]))
    fold.add("round", pin_session("wrong", OLD_PIN, reps, slot=DECODE | {"node": node}))
    worse = fold.add("round", guarded_round("worse", main=NEW_PIN))
    assert (fold.verdict(worse).label, fold.verdict(worse).code) == ("REJECT", "E_GUARD")
    assert "the base is 18.4435" in fold.verdict(worse).gates[-1].detail
    # What another node did says nothing against the first session of this one.
    assert fold.verdict(worse).flags == (("F_PIN_UNQUALIFIED",) if node == "n1" else ())
    assert not any(text in text_of(fold, worse) for text in ("7.77", OLD_PIN))


@pytest.mark.parametrize("case", UNQUALIFIED)
def test_C32_where_main_does_not_measure_the_guard_either_nothing_is_resolved(case: str) -> None:
    reps, node, why = UNQUALIFIED[case]
    fold = Fold(make_rule(guards=[GUARD]))
    fold.add("round", pin_session("wrong", OLD_PIN, reps, slot=DECODE | {"node": node}))
    index = fold.add("round", guarded_round("r"))
    verdict = fold.verdict(index)
    assert (verdict.label, verdict.gate, verdict.code) == ("UNRESOLVED", "guards", "E_PIN_UNQUALIFIED")
    assert verdict.gates[-1].detail == f"there is nothing to hold decode_tok_s at 512 against: {why}"
    assert verdict.flags == ("F_PIN_UNQUALIFIED",)
    assert not any(text in text_of(fold, index) for text in ("7.77", OLD_PIN))


def test_C32_a_session_whose_main_holds_passes_with_the_flag_and_is_the_base_of_the_next() -> None:
    fold = Fold(make_rule(guards=[GUARD]))
    fold.add("round", pin_session("wrong", "30", GUARD_REPS - 1))
    first = fold.add("round", guarded_round("a", main=MEASURED))
    assert (fold.verdict(first).label, fold.verdict(first).flags) == ("xl", ("F_PIN_UNQUALIFIED",))
    second = fold.add("round", guarded_round("b"))
    assert (fold.verdict(second).label, fold.verdict(second).flags) == ("xl", ())
    context = fold.judged(second).context
    assert context is not None
    assert [receipt for _, receipt in context.guard_bases.values()] == [first]


FEW = "main of the session has 2 repetition(s), 3 are needed"


def test_C32_sessions_of_two_repetitions_do_not_let_a_guard_fall() -> None:
    fold = Fold(make_rule(guards=[GUARD]))
    for number, speed in enumerate((1000, 995, 985, 900, 500)):
        body = scored_body(f"r{number}", [1300] * 2, [1000] * 2, guard=(speed, speed))
        verdict = fold.verdict(fold.add("round", body))
        assert (verdict.label, verdict.gate, verdict.code) == ("UNRESOLVED", "guards", "E_PIN_UNQUALIFIED")
        assert verdict.gates[-1].detail.endswith(FEW)
    assert [*fold.history.slots[DECODE_SLOT].bases.items] == []


@pytest.mark.parametrize("reps", [1, 2, 3])
def test_C32_main_of_the_session_is_a_base_from_the_repetitions_on_that_a_pin_needs(reps: int) -> None:
    body = scored_body("r", [1300] * 3, [1000] * 3, guard=(1000, 1000))
    for each in [each for each in body["reps"] if each["arm"] == "main"][reps:]:
        each["metrics"] = ["prefill_tok_s"]
    alone = verdict_of(make_rule(guards=[GUARD]), "round", body)
    fold = Fold(make_rule(guards=[GUARD]))
    fold.add("round", pin_session("other", OLD_PIN, 5, slot=DECODE | {"node": "boxB"}))
    beside = fold.verdict(fold.add("round", body))
    if reps == GUARD_REPS:
        assert [(each.label, each.flags) for each in (alone, beside)] == [("xl", ())] * 2
        return
    assert [(each.label, each.code) for each in (alone, beside)] == [("UNRESOLVED", "E_PIN_UNQUALIFIED")] * 2
    assert [each.flags for each in (alone, beside)] == [(), ("F_PIN_UNQUALIFIED",)]
    few = f"main of the session has {reps} repetition(s), 3 are needed"
    against = "there is nothing to hold decode_tok_s at 512 against: "
    assert alone.gates[-1].detail == against + few
    assert beside.gates[-1].detail == f"{against}its pin, receipt 0, is of the node boxB; {few}"


def test_C32_main_of_two_repetitions_raises_a_base_and_never_lowers_one() -> None:
    for pinned, candidate, label in (("900", 950, "REJECT"), ("1100", 1050, "REJECT"), ("1000", 1000, "xl")):
        fold = Fold(make_rule(guards=[GUARD]))
        fold.add("round", pin_session("pin", pinned, 3))
        index = fold.add("round", scored_body("r", [1300] * 2, [1000] * 2, guard=(candidate, 1000)))
        assert fold.verdict(index).label == label


def test_C32_where_main_does_not_qualify_the_base_of_the_rule_stands_in() -> None:
    rule = make_rule(guards=[GUARD | {"unattested_base": "900"}])
    held = [verdict_of(rule, "round", scored_body("r", [1300] * 2, [1000] * 2, guard=pair))
            for pair in ((900, 800), (890, 800), (950, 1000))]  # fmt: skip
    assert [verdict.label for verdict in held] == ["xl", "REJECT", "REJECT"]
    assert held[0].unattested == ("base of decode_tok_s at 512",)


def test_C32_a_guard_against_the_frontier_takes_main_of_the_session_as_ever() -> None:
    rule = make_rule(guards=[GUARD | {"role": "basis"}])
    assert verdict_of(rule, "round", scored_body("r", [1300] * 2, [1000] * 2, guard=(1000, 1000))).label == "xl"


def test_C32_a_pin_that_is_withdrawn_is_no_base_any_more() -> None:
    fold = Fold(make_rule(guards=[GUARD]))
    pin = fold.add("round", pin_session("pin", NEW_PIN, 5))
    fold.rule_on(pin, "void")
    assert fold.verdict(fold.add("round", guarded_round("r"))).code == "E_GUARD_BASE"


def test_C32_a_candidate_that_no_longer_passes_is_no_base_any_more() -> None:
    fold = Fold(make_rule(guards=[GUARD]))
    first = fold.add("round", scored_body("a", [1300] * 3, [1000] * 3, guard=(1500, 1000)))
    bases = fold.history.slots[DECODE_SLOT].bases
    assert [item.arm for item in bases.items] == ["candidate", "main"]
    fold.rule_on(first, "review", outcome="rejected")
    assert [item.arm for item in bases.items] == ["main"]


def test_C32_the_frontier_as_a_base_needs_what_a_frontier_needs() -> None:
    fold = Fold(make_rule(guards=[GUARD | {"role": "basis"}]))
    fold.add("round", pin_session("pin", NEW_PIN, 2))
    index = fold.add("round", guarded_round("r"))
    assert (fold.verdict(index).code, fold.verdict(index).flags) == ("E_GUARD", ())


# C39: waivers.

TTFT = {"metric": "ttft", "context": 512}


def two_guards(candidate_ttft: int) -> JsonObject:
    """A round whose candidate decodes slower than main, with a time to the first token of its own."""
    body = scored_body("r", [1300] * 3, [1000] * 3, guard=(800, 1000))
    body["guards"].append(TTFT)
    for each in body["reps"]:
        each["metrics"].append("ttft")
        if each["arm"] == "candidate":
            each["records"] |= {"ttft_ns": [candidate_ttft], "e2e_ns": [candidate_ttft + 125 * 10**6]}
    return body


def test_C39_a_waiver_lets_one_rung_pass_the_one_guard_that_it_names() -> None:
    fold = Fold(make_rule(guards=[GUARD, GUARD | TTFT]))
    index = fold.add("round", two_guards(1))
    assert (fold.verdict(index).label, fold.verdict(index).code) == ("REJECT", "E_GUARD")
    for other in (TTFT, GUARDED | {"context": 128}, GUARDED | {"metric": "gen_tok_s"}):
        fold.rule_on(index, "waiver", gate="guards", guard=other)
        assert fold.verdict(index).label == "REJECT"
    fold.rule_on(index, "waiver", gate="guards", guard=GUARDED)
    assert fold.verdict(index).label == "xl"
    guards = [(gate.outcome, gate.inputs.get("guard")) for gate in fold.verdict(index).gates if gate.name == "guards"]
    assert guards == [("waived", None), ("pass", "ttft at 512")]
    later = fold.add("round", two_guards(1) | {"id": "s"})
    assert fold.verdict(later).label == "REJECT"


def test_C39_another_guard_that_fails_still_rejects() -> None:
    fold = Fold(make_rule(guards=[GUARD, GUARD | TTFT]))
    index = fold.add("round", two_guards(9))
    fold.rule_on(index, "waiver", gate="guards", guard=GUARDED)
    verdict = fold.verdict(index)
    assert (verdict.label, verdict.code) == ("REJECT", "E_GUARD")
    assert verdict.gates[-1].detail.startswith("ttft at 512 is ")
    fold.rule_on(index, "waiver", gate="guards", guard=TTFT)
    assert fold.verdict(index).label == "xl"


def test_C39_nothing_to_compare_is_no_pass_unless_a_waiver_names_it() -> None:
    without = scored_body("r", [1300, 1300], [1000, 1000], guards=[{"metric": "prefill_tok_s", "context": 512}])
    verdict = verdict_of(make_rule(guards=[GUARD]), "round", without)
    assert (verdict.label, verdict.code) == ("UNRESOLVED", "E_GUARD_MISSING")
    fold = Fold(make_rule(guards=[GUARD, GUARD | TTFT]))
    index = fold.add("round", without)
    fold.rule_on(index, "waiver", gate="guards", guard=GUARDED)
    assert (fold.verdict(index).label, fold.verdict(index).code) == ("UNRESOLVED", "E_GUARD_MISSING")
    assert fold.verdict(index).gates[-1].detail == "the candidate has no ttft at 512"
    fold.rule_on(index, "waiver", gate="guards", guard=TTFT)
    assert fold.verdict(index).label == "xl"


def test_C39_a_waiver_of_plausibility_waives_no_guard() -> None:
    fold = Fold(make_rule(guards=[GUARD]))
    index = fold.add("round", scored_body("r", [1300] * 3, [1000] * 3, guard=(800, 1000)))
    fold.rule_on(index, "waiver", gate="plausibility")
    assert fold.verdict(index).code == "E_GUARD"
