"""Rounds in quarantine: sealed, shown, and counted for nothing until maintainers have reviewed them."""

# ruff: noqa: N802 - the names of cases have capitals

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ledger.flags import CANCELLED, QUARANTINE, failed_requests, quarantine_codes
from ledger.scoring.pins import pins
from tests.support.scoring import (
    DECODE_SLOT,
    GUARD,
    PREFILL_SLOT,
    Fold,
    frontier_of,
    make_rule,
    scored_body,
    verdict_of,
)

if TYPE_CHECKING:
    from ledger.canonical import JsonObject

CODE = min(QUARANTINE)


def faulty(body: JsonObject, *codes: str) -> JsonObject:
    return body | {"faults": [{"code": code, "message": "seen"} for code in codes or (CODE,)]}


def role(body: JsonObject, name: str, **members: Any) -> JsonObject:  # noqa: ANN401 - members of any kind
    """A body of one arm, under another role."""
    body["arms"][0]["role"] = name
    for rep in body["reps"]:
        rep["arm"] = name
    return body | {"parity": []} | members


def pool_sizes(fold: Fold) -> tuple[int, int, int, int]:
    state = fold.history.slots[PREFILL_SLOT]
    return (len(state.frontier.items), len(state.passes.items), len(state.measured.items), len(state.references))


def test_only_codes_of_quarantine_count_each_once() -> None:
    sound: JsonObject = {"reps": []}
    assert quarantine_codes(faulty(sound, "F_N1", CODE, CODE)) == (CODE,)
    assert quarantine_codes(sound) == quarantine_codes(faulty(sound, "F_N1")) == ()


def test_a_round_in_quarantine_raises_no_frontier_and_gets_no_tier() -> None:
    fold = Fold(make_rule())
    first = fold.add("round", scored_body("a", [1000, 1000], [1000, 1000]))
    odd = fold.add("round", faulty(scored_body("b", [2000, 2000], [1500, 1500])))
    verdict = fold.verdict(odd)
    assert (verdict.label, verdict.gate, verdict.code) == ("REVIEW", "provenance", "E_QUARANTINED")
    assert CODE in verdict.gates[-1].detail
    assert fold.judged(odd).shown is None
    assert frontier_of(fold) == 1000
    assert [move.index for move in fold.history.slots[PREFILL_SLOT].moves] == [first]


def with_failures(body: JsonObject, arm: str, *oks: list[bool]) -> JsonObject:
    """A body whose repetitions of an arm say which requests succeeded, in the order of the repetitions."""
    for rep, ok in zip((rep for rep in body["reps"] if rep["arm"] == arm), oks, strict=True):
        records = {name: column * len(ok) for name, column in rep["records"].items()}
        rep["records"] = records | {"ok": ok}
    return body


def test_C06_failed_requests_of_the_candidate_reject_before_its_speed_is_looked_at() -> None:
    fold = Fold(make_rule())
    fold.add("round", scored_body("a", [1000, 1000], [1000, 1000]))
    body = with_failures(scored_body("b", [2000, 2000], [1000, 1000]), "candidate", [True] * 5, [True, *[False] * 4])
    odd = fold.add("round", body)  # its producer names no fault: the records tell
    verdict = fold.verdict(odd)
    assert (verdict.label, verdict.gate, verdict.code) == ("REJECT", "provenance", "E_RELIABILITY")
    assert "4 of 10 requests of the candidate failed, a share of 0.4:" in verdict.gates[-1].detail
    assert [gate.name for gate in verdict.gates] == ["integrity", "provenance"]
    assert (verdict.gain, fold.judged(odd).shown) == ("", None)
    assert frontier_of(fold) == 1000
    assert pool_sizes(fold) == (1, 2, 0, 0)
    fold.rule_on(odd, "review", outcome="accepted")
    assert fold.verdict(odd).label == "xl"
    fold.rule_on(odd, "review", outcome="rejected")
    assert fold.verdict(odd).code == "E_REVIEW_REJECTED"


def test_C06_the_share_counts_every_request_of_the_arm_and_none_of_warm_ups() -> None:
    body = with_failures(scored_body("b", [2000] * 3, [1000] * 3), "candidate", [True], [False] * 4, [True] * 3)
    silent = next(rep for rep in body["reps"] if rep["arm"] == "candidate")
    del silent["records"]["ok"]  # a repetition that does not say how its requests ended had none that failed
    warm = silent | {"warmup": True, "records": silent["records"] | {"ok": [False]}}
    body["reps"].insert(body["reps"].index(silent), warm)
    for rep in body["reps"]:
        if rep["arm"] == "main":
            rep["records"] = {name: column * 2 for name, column in rep["records"].items()} | {"ok": [True, False]}
    assert failed_requests(body, "candidate") == (4, 8)
    assert failed_requests(body, "main") == (3, 6)
    assert failed_requests(body, "reference") == (0, 0)
    body["reps"] = [rep for rep in body["reps"] if rep["records"].get("ok") != [False] * 4]
    assert failed_requests(body, "candidate") == (0, 4)


def test_C06_the_share_in_the_verdict_is_of_every_request() -> None:
    fold = Fold(make_rule())
    body = with_failures(scored_body("b", [2000] * 3, [1000] * 3), "candidate", [True], [True, False], [True])
    first, _, last = (rep for rep in body["reps"] if rep["arm"] == "candidate")
    del first["records"]["ok"]
    body["reps"].insert(0, last | {"warmup": True, "order": 0, "records": last["records"] | {"ok": [False]}})
    verdict = fold.verdict(fold.add("round", body))
    assert (verdict.label, verdict.code) == ("REJECT", "E_RELIABILITY")
    assert verdict.gates[-1].detail.startswith("1 of 4 requests of the candidate failed, a share of 0.25:")


def with_errors(body: JsonObject, *errors: str | None) -> JsonObject:
    """A body whose last repetition of the candidate has a request more for each error, none for one that succeeded."""
    last = next(rep for rep in reversed(body["reps"]) if rep["arm"] == "candidate")
    records = {name: column * (1 + len(errors)) for name, column in last["records"].items()}
    last["records"] = records | {"ok": [True, *(each is None for each in errors)], "error": [None, *errors]}
    return body


def test_what_the_client_cancelled_at_its_end_is_no_failure_of_the_candidate_and_still_a_quarantine() -> None:
    fold = Fold(make_rule())
    body = with_errors(scored_body("b", [1300, 1300], [1000, 1000]), CANCELLED, None, CANCELLED)
    assert failed_requests(body, "candidate") == (0, 3)
    index = fold.add("round", body)
    verdict = fold.verdict(index)
    assert (verdict.label, verdict.code) == ("REVIEW", "E_QUARANTINED")
    assert verdict.gates[-1].detail == "F_REQUESTS_FAILED: counts when a review accepts it"
    assert frontier_of(fold) is None
    fold.rule_on(index, "review", outcome="accepted")
    assert fold.verdict(index).label == "xl"


def test_beside_what_was_cancelled_every_other_failure_counts() -> None:
    body = with_errors(scored_body("b", [1300, 1300], [1000, 1000]), CANCELLED, "429", "Cancelled", None)
    assert failed_requests(body, "candidate") == (2, 5)
    found = verdict_of(make_rule(), "round", body)
    assert (found.label, found.code) == ("REJECT", "E_RELIABILITY")
    served = with_errors(scored_body("c", [1300, 1300], [1000, 1000]), None)
    next(rep for rep in served["reps"] if "error" in rep["records"])["records"]["error"] = [CANCELLED, None]
    assert failed_requests(served, "candidate") == (0, 3)  # it was answered, whatever is written beside it


def test_C04_a_round_with_failed_requests_is_no_frontier_whichever_arm_they_are_of() -> None:
    fold = Fold(make_rule())
    body = with_failures(scored_body("b", [2000, 2000], [1500, 1500]), "main", [True, False], [True, True])
    odd = fold.add("round", body)
    assert (fold.verdict(odd).label, fold.verdict(odd).code) == ("REVIEW", "E_QUARANTINED")
    assert "F_REQUESTS_FAILED" in fold.verdict(odd).gates[-1].detail
    assert frontier_of(fold) is None


def test_a_failed_request_of_the_warm_up_counts_for_nothing() -> None:
    fold = Fold(make_rule())
    body = scored_body("b", [1300, 1300], [1000, 1000])
    warm = next(rep for rep in body["reps"] if rep["arm"] == "main")
    again = warm | {"warmup": True, "records": {**warm["records"], "ok": [False]}}
    body["reps"].insert(body["reps"].index(warm), again)
    assert fold.verdict(fold.add("round", body)).label == "xl"


def test_a_flag_that_is_no_quarantine_changes_nothing() -> None:
    fold = Fold(make_rule())
    index = fold.add("round", faulty(scored_body("b", [1300, 1300], [1000, 1000]), "F_N1"))
    assert fold.verdict(index).label == "xl"


def test_it_counts_from_the_ruling_that_accepts_it() -> None:
    fold = Fold(make_rule())
    fold.add("round", scored_body("a", [1000, 1000], [1000, 1000]))
    odd = fold.add("round", faulty(scored_body("b", [1300, 1300], [1200, 1200])))
    between = fold.add("round", scored_body("c", [1100, 1100], [1000, 1000]))
    ruling = fold.rule_on(odd, "review", outcome="accepted")
    assert fold.verdict(odd).label == "m"  # 1300 over main's 1200 in the same session, which now is the basis
    assert fold.verdict(between).label == "l"  # judged when it was not counted
    assert frontier_of(fold) == 1200
    assert fold.history.slots[PREFILL_SLOT].moves[-1].index == ruling
    again = fold.rule_on(odd, "review", outcome="rejected")
    assert (fold.verdict(odd).label, fold.verdict(odd).code) == ("REJECT", "E_REVIEW_REJECTED")
    assert frontier_of(fold) == 1000
    assert fold.history.slots[PREFILL_SLOT].moves[-1].index == again


def test_a_second_acceptance_changes_nothing() -> None:
    fold = Fold(make_rule())
    odd = fold.add("round", faulty(scored_body("b", [1300, 1300], [1200, 1200])))
    fold.rule_on(odd, "review", outcome="accepted")
    before = pool_sizes(fold)
    fold.rule_on(odd, "review", outcome="accepted")
    assert pool_sizes(fold) == before == (1, 2, 0, 0)


def test_parity_still_rejects_what_a_review_has_accepted() -> None:
    fold = Fold(make_rule(parity={"top1_min": "0.9", "kl_max": "0.05", "kl_prefer": "0.02"}))
    bad = [{"arm": arm, "depth": 4, "trials": 1000, "kl": "1", "top1": "0.1"} for arm in ("main", "candidate")]
    odd = fold.add("round", faulty(scored_body("b", [1300, 1300], [1000, 1000], parity=bad)))
    fold.rule_on(odd, "review", outcome="accepted")
    assert (fold.verdict(odd).label, fold.verdict(odd).code) == ("REJECT", "E_PARITY")


@pytest.mark.parametrize("outcome", ["accepted", "rejected"])
def test_a_session_of_main_alone_is_reviewed_too(outcome: str) -> None:
    fold = Fold(make_rule())
    alone = fold.add("round", faulty(role(scored_body("m", [1000, 1000], None), "main")))
    assert (fold.verdict(alone).label, fold.verdict(alone).code) == ("REVIEW", "E_QUARANTINED")
    assert pool_sizes(fold) == (0, 0, 0, 0)
    fold.rule_on(alone, "review", outcome=outcome)
    assert fold.verdict(alone).label == ("BASELINE" if outcome == "accepted" else "REJECT")
    assert frontier_of(fold) == (1000 if outcome == "accepted" else None)


def test_a_reference_in_quarantine_is_no_denominator() -> None:
    fold = Fold()
    fold.add("rule", make_rule().body)
    at = fold.add("round", faulty(role(scored_body("ref", [400] * 3, None), "reference", purpose="reference")))
    rule = make_rule(name="over", denominator={"receipt": f"{at:064x}"})
    fold.add("rule", rule.body)
    first = fold.add("round", scored_body("a", [1300, 1300], [1000, 1000]))
    assert fold.verdict(first).code == "E_DENOMINATOR"
    assert "quarantine" in fold.verdict(first).gates[-1].detail
    assert fold.judged(at).verdict is None
    fold.rule_on(at, "review", outcome="accepted")
    second = fold.add("round", scored_body("b", [1300, 1300], [1000, 1000]))
    assert fold.verdict(second).label == "xl"


def test_noise_of_a_round_in_quarantine_is_no_noise_floor() -> None:
    fold = Fold(make_rule())
    noisy = scored_body("n", [1000, 1100], [1000, 1000], purpose="noise", parity=[])
    for arm in noisy["arms"]:
        arm["code_sha256"] = "0" * 64
    at = fold.add("round", faulty(noisy))
    assert fold.history.slots[PREFILL_SLOT].noise_floor is None
    fold.rule_on(at, "review", outcome="accepted")
    assert fold.history.slots[PREFILL_SLOT].noise_floor is not None


def test_what_nobody_attested_is_no_pin_either() -> None:
    fold = Fold(make_rule())
    fold.add("round", scored_body("a", [1000, 1000], [1000, 1000]))
    odd = fold.add("round", faulty(scored_body("b", [3000, 3000], [3000, 3000])), attested=False)
    found = [pin for pin in pins(fold.history) if pin.slot == PREFILL_SLOT]
    assert found
    assert all(pin.measured is None or pin.measured.receipt != odd for pin in found)


def test_a_guard_is_not_held_against_a_round_in_quarantine() -> None:
    fold = Fold(make_rule(guards=[GUARD]))
    fold.add("round", scored_body("a", [1000] * 3, [1000] * 3, guard=(1000, 1000)))
    fold.add("round", faulty(scored_body("b", [1000] * 3, [1000] * 3, guard=(5000, 5000))))
    index = fold.add("round", scored_body("c", [1300] * 3, [1000] * 3, guard=(1000, 1000)))
    assert (fold.verdict(index).label, fold.verdict(index).flags) == ("xl", ())


def test_a_void_of_what_never_counted_leaves_no_move() -> None:
    fold = Fold(make_rule())
    odd = fold.add("round", faulty(scored_body("b", [1300, 1300], [1000, 1000])))
    fold.rule_on(odd, "void")
    fold.rule_on(odd, "review", outcome="accepted")
    assert pool_sizes(fold) == (0, 0, 0, 0)
    assert fold.history.slots[PREFILL_SLOT].moves == []


# Reviews and merges in any order.


def test_a_guard_that_was_measured_once_is_no_base_after_a_review_either() -> None:
    body = scored_body("a", [1300, 1300], [1000, 1000], guard=(900, 900))
    body["reps"][2]["metrics"] = ["prefill_tok_s"]
    assert body["reps"][2]["arm"] == "candidate"
    over = {"plausibility": {"ceiling": "1"}, "denominator": {"unattested": "1000"}}
    reviewed, plain = Fold(make_rule(**over)), Fold(make_rule())
    at = reviewed.add("round", body)
    assert reviewed.verdict(at).label == "REVIEW"
    reviewed.rule_on(at, "review", outcome="accepted")
    plain.add("round", body)
    for fold in (reviewed, plain):
        assert fold.judged(at).rung.guards[DECODE_SLOT, "candidate"].reps == 1
        assert [item.arm for item in fold.history.slots[DECODE_SLOT].passes.items] == ["main"]


@pytest.mark.parametrize("first", ["review", "merged"])
def test_a_merge_counts_from_where_it_is_merged_and_accepted(first: str) -> None:
    fold = Fold(make_rule())
    fold.add("round", scored_body("a", [1000, 1000], [1000, 1000]))
    odd = fold.add("round", faulty(scored_body("b", [1300, 1300], [1000, 1000])))
    rulings = [("review", {"outcome": "accepted"}), ("merged", {"commit": "c"})]
    for action, members in rulings if first == "review" else rulings[::-1]:
        assert frontier_of(fold) == 1000
        last = fold.rule_on(odd, action, **members)
    best = fold.history.slots[PREFILL_SLOT].frontier.best
    assert best is not None
    assert frontier_of(fold) == 1300
    assert (best.since, best.commit) == (last, "c")


@pytest.mark.parametrize("quarantined", [True, False])
def test_a_merge_leaves_with_a_rejection_and_comes_back_with_its_acceptance(*, quarantined: bool) -> None:
    fold = Fold(make_rule())
    fold.add("round", scored_body("a", [1000, 1000], [1000, 1000]))
    body = scored_body("b", [1300, 1300], [1000, 1000])
    at = fold.add("round", faulty(body) if quarantined else body)
    fold.rule_on(at, "review", outcome="accepted")
    fold.rule_on(at, "merged", commit="c")
    before = pool_sizes(fold)
    assert frontier_of(fold) == 1300
    fold.rule_on(at, "review", outcome="rejected")
    assert frontier_of(fold) == 1000
    fold.rule_on(at, "review", outcome="accepted")
    assert frontier_of(fold) == 1300
    assert pool_sizes(fold) == before


def test_a_merge_that_is_said_twice_is_one() -> None:
    fold = Fold(make_rule())
    at = fold.add("round", scored_body("b", [1300, 1300], [1000, 1000]))
    ruling = fold.rule_on(at, "merged", commit="c")
    before = pool_sizes(fold)
    fold.rule_on(at, "merged", commit="d")
    assert (pool_sizes(fold), fold.judged(at).merged_at) == (before, ruling)


@pytest.mark.parametrize("purpose", ["score", "reference", "noise"])
def test_a_review_takes_out_what_has_no_candidate_to_reject(purpose: str) -> None:
    fold = Fold(make_rule())
    if purpose == "noise":
        body = scored_body("n", [1000, 1100], [1000, 1000], purpose="noise", parity=[])
        for arm in body["arms"]:
            arm["code_sha256"] = "0" * 64
    else:
        body = role(scored_body("m", [1000, 1000], None), "main" if purpose == "score" else "reference")
        body |= {"purpose": purpose}
    at = fold.add("round", body)
    before = (pool_sizes(fold), fold.history.slots[PREFILL_SLOT].noise_floor)
    assert before != ((0, 0, 0, 0), None)
    fold.rule_on(at, "review", outcome="rejected")
    assert (pool_sizes(fold), fold.history.slots[PREFILL_SLOT].noise_floor) == ((0, 0, 0, 0), None)
    if purpose == "score":
        assert (fold.verdict(at).label, fold.verdict(at).code) == ("REJECT", "E_REVIEW_REJECTED")
    fold.rule_on(at, "review", outcome="accepted")
    assert (pool_sizes(fold), fold.history.slots[PREFILL_SLOT].noise_floor) == before


def test_a_rejected_candidate_leaves_main_of_its_session_in() -> None:
    fold = Fold(make_rule())
    at = fold.add("round", scored_body("b", [1300, 1300], [1000, 1000]))
    fold.rule_on(at, "review", outcome="rejected")
    assert fold.verdict(at).label == "REJECT"
    assert frontier_of(fold) == 1000


def test_a_reference_that_is_accepted_late_is_not_the_latest() -> None:
    fold = Fold(make_rule())

    def reference(name: str, speed: int) -> JsonObject:
        return role(scored_body(name, [speed] * 2, None), "reference", purpose="reference")

    old = fold.add("round", faulty(reference("old", 400)))
    new = fold.add("round", reference("new", 500))
    fold.rule_on(old, "review", outcome="accepted")
    (pin,) = [pin for pin in pins(fold.history) if pin.role == "reference"]
    assert pin.held is not None
    assert pin.held.receipt == new


def test_a_figure_of_an_older_statistic_that_is_accepted_late_is_not_what_is_shown() -> None:
    fold = Fold()
    fold.add("rule", make_rule(statistic="median").body)
    old = fold.add("round", faulty(scored_body("old", [900, 900], [900, 900])))
    fold.add("rule", make_rule(name="next", statistic="mean").body)
    new = fold.add("round", scored_body("new", [1000, 1000], [1000, 1000]))
    fold.rule_on(old, "review", outcome="accepted")
    state = fold.history.slots[PREFILL_SLOT]
    assert state.frontier.best_under("median") is not None
    assert frontier_of(fold) == 1000
    assert [move.index for move in state.moves] == [new]
