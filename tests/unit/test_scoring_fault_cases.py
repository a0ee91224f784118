"""Rounds that data files would have had scored: what a rule says of them, by the number of the fault.

What the door says of the same data stands in ``test_fault_cases_*.py``; here it goes on to a verdict.
"""

# ruff: noqa: N802 - the names of cases have capitals

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from ledger import schema
from ledger.errors import RefusedError
from ledger.kinds import check_body
from ledger.scoring.pins import pins
from ledger.scoring.rung import read_slot
from ledger.scoring.verdict import verdict_to_json
from tests.support.examined import MS, S, body_of, codes, examine, rep, slot, stream
from tests.support.rounds import sha256_hex
from tests.support.scoring import (
    DECODE,
    GUARD,
    PARITY,
    PREFILL,
    PREFILL_SLOT,
    Fold,
    frontier_of,
    imported_body,
    make_rule,
    parity_point,
    scored_body,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger.canonical import JsonObject
    from ledger.scoring.rung import Slot

TIERS = {"none", "xs", "s", "m", "l", "xl"}
REVIEWS = ("accepted", "rejected", "accepted")


def as_examined(body: JsonObject) -> JsonObject:
    """A body with the faults that the door writes into it."""
    faults = [dict(zip(("code", "message"), note.split(": ", 1), strict=True)) for note in examine(body)]
    return body | {"faults": faults}


def text_of(fold: Fold, index: int) -> str:
    """A verdict's JSON."""
    return orjson.dumps(verdict_to_json(fold.verdict(index))).decode()


def tiers_in(fold: Fold, index: int) -> set[str]:
    """Every string of a verdict's JSON that is a tier."""
    return TIERS & set(re.findall(r'"([a-z]+)"', text_of(fold, index)))


def counted(fold: Fold, where: Slot) -> list[int]:
    """Receipts of everything that counts for a slot, in whatever way."""
    state = fold.history.slots[where]
    pools = (state.frontier, state.passes, state.bases, state.measured)
    return [item.receipt for pool in pools for item in pool.items] + [item.receipt for item in state.references]


def pinned(fold: Fold) -> set[int]:
    """Receipts that any pin comes from."""
    return {each.receipt for pin in pins(fold.history) for each in (pin.held, pin.measured) if each}


# C11: a cache.


def cached_body(
    name: str, candidate: Sequence[Sequence[int | None]], main: Sequence[Sequence[int | None]], **columns: list[bool]
) -> JsonObject:
    """A round of prompts of 512 tokens: of each request of each repetition, the tokens that a cache supplied."""
    body = scored_body(name, [1300] * len(candidate), [1000] * len(main))
    given = {"candidate": iter(candidate), "main": iter(main)}
    for each in body["reps"]:
        cached = list(next(given[each["arm"]]))
        records = {key: column * len(cached) for key, column in each["records"].items()}
        each["records"] = records | {"cached_tokens": cached} | columns
    return body


MIXED: dict[str, tuple[list[list[int | None]], list[list[int | None]]]] = {
    "within a repetition": ([[0, 500], [0, 0]], [[0, 0], [0, 0]]),
    "between repetitions": ([[0, 0], [500, 500]], [[0, 0], [0, 0]]),
    "within main": ([[0, 0], [0, 0]], [[0, 0], [0, 1]]),
    "between arms": ([[500, 500], [500, 500]], [[0, 0], [0, 0]]),
    "between arms, by how much": ([[500, 500], [500, 500]], [[1, 1], [1, 1]]),
    "one that says nothing": ([[500, 500], [500, 500]], [[500, 500], [500, None]]),
}


@pytest.mark.parametrize("case", MIXED)
@pytest.mark.parametrize("attested", [True, False])
def test_C11_a_round_that_is_partly_cached_is_not_scorable_whatever_a_review_says(case: str, *, attested: bool) -> None:
    fold = Fold(make_rule(evidence="measured"))
    index = fold.add("round", cached_body("r", *MIXED[case]), attested=attested)  # its producer names no fault
    for outcome in ("", *REVIEWS):
        if outcome:
            fold.rule_on(index, "review", outcome=outcome)
        verdict = fold.verdict(index)
        assert (verdict.label, verdict.gate, verdict.code) == ("UNRESOLVED", "provenance", "E_MIXED_CACHE")
        assert verdict.gates[-1].outcome == "open"
        assert (fold.judged(index).shown, counted(fold, PREFILL_SLOT), pinned(fold)) == (None, [], set())
    fold.rule_on(index, "merged", commit="c")
    fold.rule_on(index, "waiver", gate="plausibility")
    assert fold.verdict(index).code == "E_MIXED_CACHE"
    assert counted(fold, PREFILL_SLOT) == []


def test_C11_an_arm_that_says_nothing_of_a_cache_is_no_warm_one() -> None:
    body = cached_body("r", [[500, 500]] * 2, [[500, 500]] * 2)
    for each in body["reps"]:
        if each["arm"] == "main":
            del each["records"]["cached_tokens"]
    fold = Fold(make_rule())
    index = fold.add("round", body)
    fold.rule_on(index, "review", outcome="accepted")
    assert (fold.verdict(index).label, fold.verdict(index).code) == ("UNRESOLVED", "E_MIXED_CACHE")


def judged_warm(body: JsonObject) -> str:
    """What comes of a warm round that a review has accepted."""
    fold = Fold(make_rule())
    index = fold.add("round", body)
    fold.rule_on(index, "review", outcome="accepted")
    return fold.verdict(index).code or fold.verdict(index).label


@pytest.mark.parametrize(
    ("cached", "found"), [(520, "xl"), (521, "E_MIXED_CACHE"), (480, "xl"), (479, "E_MIXED_CACHE")]
)
def test_C11_arms_may_differ_by_two_hundredths_of_what_a_cache_supplied(cached: int, found: str) -> None:
    body = cached_body("r", [[cached - 100, cached + 100], [cached]], [[500], [500, 500]])
    for each in body["reps"]:
        each["records"]["prompt_tokens"] = [1000] * len(each["records"]["wall_ns"])
        each["context"] = 1000
        each["records"]["wall_ns"] = [(13 - 3 * (each["arm"] == "candidate")) * MS] * len(each["records"]["wall_ns"])
    assert judged_warm(body | {"slot": body["slot"] | {"context": 1000}}) == found


@pytest.mark.parametrize(("cached", "found"), [(980, "m"), (979, "E_MIXED_CACHE")])
def test_C11_where_prompts_are_untold_the_tokens_of_a_request_are_compared(cached: int, found: str) -> None:
    body = scored_body("r", [1000] * 3, [1000] * 3, guard=(1070, 1000), slot=DECODE, guards=[])
    for each in body["reps"]:
        del each["records"]["prompt_tokens"]
        each["metrics"] = ["decode_tok_s"]
        each["records"]["cached_tokens"] = [cached if each["arm"] == "main" else 1000]
    assert judged_warm(body) == found


def test_C11_failed_requests_say_nothing_of_how_warm_an_arm_was() -> None:
    body = cached_body("r", [[500, 1]] * 2, [[500, 500]] * 2, ok=[True, False])
    assert judged_warm(body) == "xl"


def with_totals(body: JsonObject, metric: str, *arms: str) -> JsonObject:
    """A round with a repetition of each of these arms that tells the time of 100 tokens, and of no prompt."""
    template = body["reps"][0]
    totals = [template | {"arm": arm, "metrics": [metric], "context": 0} for arm in arms]
    totals = [each | {"records": {"completion_tokens": [100], "wall_ns": [template["wall_ns"]]}} for each in totals]
    reps = [*body["reps"], *totals]
    return body | {"reps": [each | {"order": order} for order, each in enumerate(reps)]}


def test_C11_what_tells_of_no_prompt_makes_no_round_mixed() -> None:
    warm = cached_body("r", [[500]] * 2, [[500]] * 2)
    assert judged_warm(with_totals(warm, "gen_tok_s", "main", "candidate")) == "xl"
    cold = cached_body("r", [[0]] * 2, [[0]] * 2)
    assert judged_warm(with_totals(cold, "gen_tok_s", "main", "candidate")) == "xl"


def test_C11_a_silent_repetition_that_meets_a_warm_one_makes_the_round_mixed() -> None:
    body = with_totals(cached_body("r", [[500]] * 2, [[500]] * 2), "wall", "main", "candidate")
    told = body["reps"][-1]
    told["records"] |= {"prompt_tokens": [512], "cached_tokens": [500]}
    assert judged_warm(body) == "E_MIXED_CACHE"


def test_C11_the_two_requests_of_the_case_are_one_mixed_round() -> None:
    records = stream((2, 820, 840), (2, 40, 60), prompt_tokens=[8192] * 2, cached_tokens=[0, 8176])
    sides = [rep(records | {"e2e_ns": [each * S, S]}, arm=arm, context=8192)
             for each, arm in enumerate(["main", "candidate"] * 2, 1)]  # fmt: skip
    body = as_examined(body_of(*sides))
    assert {fault["code"] for fault in body["faults"]} == {"F_PREFIX_CACHE"}
    fold = Fold(make_rule())
    index = fold.add("round", body)
    fold.rule_on(index, "review", outcome="accepted")
    assert (fold.verdict(index).label, fold.verdict(index).code) == ("UNRESOLVED", "E_MIXED_CACHE")
    assert tiers_in(fold, index) == set()


def test_C11_an_unscorable_round_of_main_alone_is_no_baseline() -> None:
    fold = Fold(make_rule())
    body = cached_body("m", [[0, 500], [0, 0]], [])
    body["arms"] = [body["arms"][0] | {"role": "main"}]
    body |= {"reps": [each | {"arm": "main"} for each in body["reps"]], "parity": []}
    index = fold.add("round", body)
    verdict = fold.verdict(index)
    assert (verdict.label, verdict.code, verdict.gates[-1].outcome) == ("UNRESOLVED", "E_MIXED_CACHE", "open")
    assert (fold.judged(index).shown, frontier_of(fold)) == (None, None)


def test_C11_a_reference_that_is_partly_cached_is_no_denominator() -> None:
    fold = Fold()
    body = cached_body("ref", [[0], [500]], [])
    body["arms"] = [body["arms"][0] | {"role": "reference"}]
    body |= {"reps": [each | {"arm": "reference"} for each in body["reps"]], "parity": [], "purpose": "reference"}
    at = fold.add("round", body)
    fold.rule_on(at, "review", outcome="accepted")
    fold.add("rule", make_rule(denominator={"receipt": f"{at:064x}"}).body)
    assert fold.verdict(fold.add("round", scored_body("r", [1300, 1300], [1000, 1000]))).code == "E_DENOMINATOR"


def test_C11_a_round_whose_requests_were_all_warm_is_for_a_review_and_counts_what_was_computed() -> None:
    fold = Fold(make_rule())
    warm = cached_body("w", [[500, 500], [500, 500]], [[500, 500], [500, 500]])
    index = fold.add("round", warm | {"faults": [{"code": "F_PREFIX_CACHE", "message": "seen"}]})
    assert (fold.verdict(index).label, fold.verdict(index).code) == ("REVIEW", "E_QUARANTINED")
    fold.rule_on(index, "review", outcome="accepted")
    assert fold.verdict(index).label == "xl"
    best = fold.history.slots[PREFILL_SLOT.warmed()].frontier.best
    assert best is not None
    assert round(best.figure.value * 512 / 12) == 1000


def test_C11_what_was_warm_is_never_held_against_what_was_cold() -> None:
    fold = Fold(make_rule())
    cold = fold.add("round", cached_body("c", [[0, 0]] * 2, [[0, 0]] * 2))
    warm = fold.add("round", cached_body("w", [[500, 500]] * 2, [[500, 500]] * 2))
    again = fold.add("round", cached_body("d", [[0, 0]] * 2, [[0, 0]] * 2))
    fold.rule_on(warm, "review", outcome="accepted")
    warmer = fold.add("round", cached_body("x", [[500, 500]] * 2, [[500, 500]] * 2))
    contexts = {at: fold.judged(at).context for at in (cold, warm, again, warmer)}
    bases = {at: context.basis.receipt for at, context in contexts.items() if context}
    assert bases == {cold: cold, warm: warm, again: cold, warmer: warm}
    assert [str(slot).partition(" ")[0] for slot in (PREFILL_SLOT, PREFILL_SLOT.warmed())] == ["p", "p+cache-warm"]
    for where, receipts in ((PREFILL_SLOT, {cold, again}), (PREFILL_SLOT.warmed(), {warm})):
        assert {item.receipt for item in fold.history.slots[where].frontier.items} == receipts


@pytest.mark.parametrize("project", ["p+cache-warm", "p" * 190])
def test_C11_nobody_names_a_slot_as_what_a_cache_supplied(project: str) -> None:
    named = DECODE | {"project": project}
    bodies = {
        "round": scored_body("r", [1300] * 2, [1000] * 2, slot=PREFILL | {"project": project}),
        "imported": imported_body("i", "1300", "1000", slot=named),
        "incident": {"slot": named, "arms": []},
    }
    for kind, body in bodies.items():
        with pytest.raises(RefusedError) as caught:
            check_body(kind, body)
        assert (caught.value.code, caught.value.where) == ("E_SLOT", "/slot/project")


def test_C11_the_longest_project_has_a_warm_slot_whose_name_is_a_project() -> None:
    warm = cached_body("w", [[500]] * 2, [[500]] * 2) | {"slot": PREFILL | {"project": "p" * 189}}
    fold = Fold(make_rule())
    where = fold.judged(fold.add("round", warm)).rung.slot
    schema.validate("round-input", warm | {"slot": where._asdict()})
    assert where.is_warm


def test_C11_a_cold_reference_is_no_denominator_of_a_warm_round() -> None:
    fold = Fold()
    body = scored_body("ref", [400] * 3, None)
    body["arms"][0]["role"] = "reference"
    body |= {"reps": [each | {"arm": "reference"} for each in body["reps"]], "parity": [], "purpose": "reference"}
    at = fold.add("round", body)
    fold.add("rule", make_rule(denominator={"receipt": f"{at:064x}"}).body)
    assert fold.verdict(fold.add("round", scored_body("r", [1300, 1300], [1000, 1000]))).label == "xl"
    warm = fold.add("round", cached_body("w", [[500, 500]] * 2, [[500, 500]] * 2))
    fold.rule_on(warm, "review", outcome="accepted")
    assert fold.verdict(warm).code == "E_DENOMINATOR"


def test_C11_a_round_whose_requests_were_all_cold_is_like_any_other() -> None:
    fold = Fold(make_rule())
    assert fold.verdict(fold.add("round", cached_body("r", [[0, 0]] * 2, [[0, 0]] * 2))).label == "xl"
    partly_told = cached_body("told", [[0, None]] * 2, [[None, None]] * 2)
    assert fold.verdict(fold.add("round", partly_told)).code == "E_NO_MAIN"  # nobody knows what main computed


def test_C11_failed_requests_and_warm_ups_make_no_round_mixed() -> None:
    fold = Fold(make_rule())
    body = cached_body("r", [[0, 500], [0, 500]], [[0, 500], [0, 500]], ok=[True, False])
    index = fold.add("round", body)
    fold.rule_on(index, "review", outcome="accepted")
    assert fold.verdict(index).label == "xl"
    body = cached_body("w", [[0, 0], [0, 0]], [[0, 0], [0, 0]])
    first = body["reps"][0]
    body["reps"].insert(0, first | {"warmup": True, "records": first["records"] | {"cached_tokens": [500, 500]}})
    assert fold.verdict(fold.add("round", body)).label == "xl"


def test_C11_prompts_that_were_wholly_cached_have_no_prefill_rate_and_break_nothing() -> None:
    fold = Fold(make_rule())
    body = cached_body("r", [[512], [512]], [[512], [512]])
    index = fold.add("round", body)  # its producer names no fault: the records tell
    assert (fold.verdict(index).label, fold.verdict(index).diagnostic) == ("REVIEW", {})
    fold.rule_on(index, "review", outcome="accepted")
    assert (fold.verdict(index).label, fold.verdict(index).code) == ("UNRESOLVED", "E_NO_FIGURE")


# C27: arm and time.

HEATING = (1_278_389, 1_317_287, 1_320_820, 1_322_303, 1_338_569, 1_369_920)
WALL_SLOT = read_slot(slot(metric="wall"))


def heating(arms: Sequence[str]) -> JsonObject:
    walls = [
        rep({"wall_ns": [time * MS]}, "wall", arm=arm, wall_ns=time * MS)
        for time, arm in zip(HEATING, arms, strict=True)
    ]
    return as_examined(body_of(*walls, slot=slot(metric="wall")))


def test_C27_one_arm_after_the_other_on_a_heating_box_is_unresolved_whatever_a_review_says() -> None:
    fold = Fold(make_rule(slots=[{"metric": "wall"}], guards=[]))
    body = heating(["main"] * 3 + ["candidate"] * 3)
    assert codes([fault["code"] for fault in body["faults"]]) == ["F_DRIFT", "F_CONFOUNDED"]
    index = fold.add("round", body)
    for outcome in ("", *REVIEWS):
        if outcome:
            fold.rule_on(index, "review", outcome=outcome)
        verdict = fold.verdict(index)
        assert (verdict.label, verdict.gate, verdict.code) == ("UNRESOLVED", "provenance", "E_CONFOUNDED")
        assert verdict.gates[-1].detail.endswith("measure again in alternated rounds")
        assert (verdict.gain, verdict.credited, fold.judged(index).shown) == ("", "", None)
        assert (verdict.is_stopped, [*verdict.diagnostic]) == (True, ["value"])
        assert tiers_in(fold, index) == set()
        assert "2.92" not in text_of(fold, index)
        assert (counted(fold, WALL_SLOT), pinned(fold)) == ([], set())
    fold.rule_on(index, "merged", commit="c")
    assert (counted(fold, WALL_SLOT), pinned(fold)) == ([], set())


def test_C27_the_same_times_of_arms_that_take_turns_are_scored() -> None:
    fold = Fold(make_rule(slots=[{"metric": "wall"}]))
    index = fold.add("round", heating(["main", "candidate"] * 3))
    assert fold.verdict(index).label == "none"
    assert counted(fold, WALL_SLOT) != []


def test_C27_drift_of_one_code_is_noise_for_a_review() -> None:
    fold = Fold(make_rule(slots=[{"metric": "wall"}]))
    body = heating(["main"] * 3 + ["candidate"] * 3)
    for arm in body["arms"]:
        arm["code_sha256"] = sha256_hex("one code")
    noise = fold.add("round", body | {"purpose": "noise"})
    state = fold.history.slots[WALL_SLOT]
    assert (fold.judged(noise).rung.unscorable, fold.judged(noise).counts, state.noise_floor) == (None, False, None)
    fold.rule_on(noise, "review", outcome="accepted")
    assert state.noise_floor == Fraction(6 * (HEATING[-1] - HEATING[0]), sum(HEATING))
    itself = fold.add("round", body | {"id": "s"})
    assert (fold.verdict(itself).label, fold.verdict(itself).code) == ("REVIEW", "E_QUARANTINED")
    body["arms"][0]["settings"] = {"flag": "on"}  # what differs can be taken for what the time did
    other = fold.add("round", body | {"id": "t"})
    assert (fold.verdict(other).label, fold.verdict(other).code) == ("UNRESOLVED", "E_CONFOUNDED")


def test_C27_a_confounded_session_is_no_base_of_a_guard() -> None:
    fold = Fold(make_rule(guards=[GUARD]))
    faults = [{"code": "F_CONFOUNDED", "message": "seen"}]
    odd = fold.add("round", scored_body("o", [1000] * 3, [1000] * 3, guard=(5000, 5000), faults=faults))
    fold.rule_on(odd, "review", outcome="accepted")
    index = fold.add("round", scored_body("r", [1300] * 3, [1000] * 3, guard=(1000, 1000)))
    assert (fold.verdict(index).label, fold.verdict(index).flags) == ("xl", ())


def test_C27_failed_requests_reject_a_confounded_round_until_a_review_accepts_them() -> None:
    fold = Fold(make_rule())
    body = scored_body("o", [1300] * 2, [1000] * 2, faults=[{"code": "F_CONFOUNDED", "message": "seen"}])
    for each in body["reps"]:
        records = {name: column * 2 for name, column in each["records"].items()}
        each["records"] = records | {"ok": [True, each["arm"] == "main"]}
    index = fold.add("round", body)
    found = [(fold.verdict(index).label, fold.verdict(index).code)]
    for outcome in REVIEWS[1:]:
        fold.rule_on(index, "review", outcome=outcome)
        found.append((fold.verdict(index).label, fold.verdict(index).code))
    assert found == [("REJECT", "E_RELIABILITY"), ("REJECT", "E_REVIEW_REJECTED"), ("UNRESOLVED", "E_CONFOUNDED")]


# C20: one repetition.


def repetitions(candidate_ns: Sequence[int], main_ns: Sequence[int], **members: Any) -> JsonObject:  # noqa: ANN401 - of any kind
    """A round of prompts of 512 tokens that take these times."""
    body = scored_body("r", [1000] * len(candidate_ns), [1000] * len(main_ns), **members)
    times = {"candidate": iter(candidate_ns), "main": iter(main_ns)}
    for each in body["reps"]:
        each["wall_ns"] = each["records"]["wall_ns"][0] = next(times[each["arm"]])
    return body


def test_C20_one_repetition_is_told_as_unverified_and_moves_no_frontier() -> None:
    fold = Fold(make_rule())
    index = fold.add("round", repetitions([965_000_000], [1_000_000_000]))
    verdict = fold.verdict(index)
    assert (verdict.label, verdict.gate, verdict.code) == ("UNRESOLVED", "provenance", "E_REPS")
    document = verdict_to_json(verdict)
    assert document["gates"][-1]["detail"] == "candidate has 1 repetition(s), 2 are needed; +3.63 % is unverified"
    assert (document["gain"], document["credited"], document["bound"]) == (None, None, None)
    assert tiers_in(fold, index) == set()
    assert counted(fold, PREFILL_SLOT) == []
    fold.rule_on(index, "review", outcome="accepted")
    fold.rule_on(index, "merged", commit="c")
    assert fold.verdict(index).code == "E_REPS"
    assert counted(fold, PREFILL_SLOT) == []


def test_C20_it_is_held_against_the_frontier_where_there_is_one() -> None:
    fold = Fold(make_rule())
    fold.add("round", repetitions([10**9] * 2, [10**9] * 2))
    index = fold.add("round", repetitions([1_100_000_000], [2_000_000_000] * 2) | {"id": "s"})
    assert fold.verdict(index).gates[-1].detail.endswith("; -9.09 % is unverified")
    few = fold.add("round", repetitions([965_000_000] * 2, [1_000_000_000]) | {"id": "t"})
    assert fold.verdict(few).gates[-1].detail == "main has 1 repetition(s), 2 are needed; +3.63 % is unverified"


def test_C20_less_time_is_a_gain() -> None:
    body = repetitions([965_000_000], [1_000_000_000])
    for each in body["reps"]:
        each["metrics"] = ["wall"]
    fold = Fold(make_rule(slots=[{"metric": "wall"}]))
    index = fold.add("round", body | {"slot": body["slot"] | {"metric": "wall"}})
    assert fold.verdict(index).gates[-1].detail.endswith("; +3.50 % is unverified")


def test_C20_nothing_is_told_of_a_gain_without_a_base_or_over_an_accuracy_that_fails() -> None:
    fold = Fold(make_rule(parity=PARITY))
    alone = scored_body("alone", [1300], None)
    plain = "candidate has 1 repetition(s), 2 are needed"
    assert fold.verdict(fold.add("round", alone)).gates[-1].detail == plain
    broken = repetitions([965_000_000], [1_000_000_000], parity=[parity_point(kl="1")])
    index = fold.add("round", broken)
    assert fold.verdict(index).gates[-1].detail == plain
    assert (fold.verdict(index).flags, fold.judged(index).shown) == (("F_PARITY_FAILS",), None)


# C26: the ceiling.


def decoding(candidate: int, main: int, *, peak: str | None = "3350") -> JsonObject:
    """Two pairs of one request at these rates, of a model of 4 GB on a machine of this many GB/s."""
    pairs = [(main, 1100), (candidate, 1100), (main, 1101), (candidate, 1101)]
    reps = [
        rep(stream((tokens + 1, end - 1000, end)), arm=("main", "candidate")[at % 2], workload={"batch": 1})
        for at, (tokens, end) in enumerate(pairs)
    ]
    environment: JsonObject = {"gpu": "H100-SXM"} | ({"extra": {"peak_gbps": peak}} if peak else {})
    weights = {"sha256": sha256_hex("w"), "size": 4_000_000_000}
    return as_examined(body_of(*reps, environment=environment, weights=weights))


DECODING = read_slot(slot())


def test_C26_more_than_the_memory_can_deliver_is_reviewed_and_counts_once_that_is_accepted() -> None:
    fold = Fold(make_rule())
    body = decoding(900, 800)
    assert [fault["code"] for fault in body["faults"]] == ["F_PLAUSIBILITY"]
    assert "900 tok/s of candidate mean 3600 GB/s, 1.075 times the peak of 3350" in body["faults"][0]["message"]
    index = fold.add("round", body)
    verdict = fold.verdict(index)
    assert (verdict.label, verdict.gate, verdict.code) == ("REVIEW", "provenance", "E_QUARANTINED")
    assert verdict.gates[-1].detail.startswith("F_PLAUSIBILITY:")
    assert (frontier_of(fold, DECODING), fold.judged(index).shown) == (None, None)
    fold.rule_on(index, "merged", commit="c")
    assert frontier_of(fold, DECODING) is None
    fold.rule_on(index, "review", outcome="accepted")
    assert fold.verdict(index).label == "l"
    assert frontier_of(fold, DECODING) == 900
    fold.rule_on(index, "review", outcome="rejected")
    assert (fold.verdict(index).label, fold.verdict(index).code) == ("REJECT", "E_REVIEW_REJECTED")
    assert frontier_of(fold, DECODING) is None


@pytest.mark.parametrize(
    ("candidate", "label", "code"),
    [(831, "l", ""), (837, "xl", ""), (838, "REVIEW", "E_QUARANTINED"), (900, "REVIEW", "E_QUARANTINED")],
)
def test_C26_the_memory_is_one_trigger(candidate: int, label: str, code: str) -> None:
    fold = Fold(make_rule(plausibility={"ceiling": "5"}, denominator={"unattested": "200"}))
    verdict = fold.verdict(fold.add("round", decoding(candidate, 800, peak="3350")))
    assert (verdict.label, verdict.code) == (label, code)


@pytest.mark.parametrize(("reference", "label", "code"), [("180", "xl", ""), ("179.99", "REVIEW", "E_CEILING")])
def test_C26_five_times_the_reference_is_another(reference: str, label: str, code: str) -> None:
    fold = Fold(make_rule(plausibility={"ceiling": "5"}, denominator={"unattested": reference}))
    body = decoding(900, 800, peak=None)
    assert body["faults"] == []
    index = fold.add("round", body)
    verdict = fold.verdict(index)
    assert (verdict.label, verdict.code) == (label, code)
    fold.rule_on(index, "merged", commit="c")
    assert frontier_of(fold, DECODING) == (800 if code else 900)
    fold.rule_on(index, "review", outcome="accepted")
    assert fold.verdict(index).label == "xl"
    assert frontier_of(fold, DECODING) == 900
