"""Properties of rules and replay: they hold for every history, not for the ones that somebody thought of."""

from __future__ import annotations

import gc
import random
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.collector import collector_paused
from ledger.rule import read_rule
from ledger.scoring.bulk import ExactRow, needs_replay, read_columns, rescore_slot
from ledger.scoring.replay import Replay
from ledger.scoring.rescore import compare
from ledger.scoring.rung import read_slot
from tests.support.scoring import (
    BANDS,
    DECODE,
    PREFILL,
    Fold,
    imported_body,
    make_rule,
    parity_point,
    recorded_rule,
    rule_body,
    scored_body,
)
from tests.support.second_evaluator import Event, evaluate

if TYPE_CHECKING:
    from ledger.canonical import JsonObject
    from ledger.rule import Rule
    from ledger.scoring.history import History
    from ledger.scoring.rung import Rung

    Body = tuple[str, JsonObject, bool]

EXACT = [speed for speed in range(100, 501) if 512 * 10**9 % speed == 0]
"""Speeds whose repetition takes whole nanoseconds, so that no rounding moves a label."""

RULING_MEMBERS = {"review": {"outcome": "accepted"}, "merged": {"commit": "c"}, "waiver": {"gate": "guards"}}


def random_rule(rng: random.Random) -> JsonObject:
    """A rule over any slot, with and without each of its parts."""
    recorded = rng.random() < 0.5
    members: dict[str, Any] = {
        "evidence": "imported" if recorded or rng.random() < 0.5 else "attested",
        "frontier": {"basis": "recorded" if recorded else "ledger"},
        "significance": {"share": rng.choice(["0", "0.02", "0.1"])},
        "bands": [{"tier": tier, "from": edge} for tier, edge in BANDS if rng.random() < 0.7]
        or [{"tier": "m", "from": "0.06"}],
        "floor_tier": rng.choice(["xs", None]),
    }
    if rng.random() < 0.6:
        members["denominator"] = {"unattested": rng.choice(["50", "100", "400"])}
        if rng.random() < 0.5:
            members["plausibility"] = {"ceiling": rng.choice(["1", "3"])}
    if rng.random() < 0.5:
        members["cap"] = rng.choice(["1", "2", "0.5"])
    if rng.random() < 0.6:
        members["parity"] = {"top1_min": "0.9", "kl_max": "0.05"}
    return rule_body(**members)


def random_event(rng: random.Random, number: int) -> tuple[Event, str, JsonObject]:
    """A figure for the second evaluator, and the same as a body."""
    candidate, main = str(rng.choice(EXACT)), str(rng.choice(EXACT))
    kl, top1 = rng.choice(["0.001", "0.05", "0.050001"]), rng.choice(["1", "0.9", "0.899"])
    quant = rng.choice(["q8", "q4"])
    slot = PREFILL | {"quant": quant}
    if rng.random() < 0.5:
        recorded = rng.choice(["0", "100", "125.00", "127.5"])
        points = [{"kl": kl, "top1": top1}] if rng.random() < 0.9 else []
        body = imported_body(f"i{number}", candidate, recorded, slot=slot, parity=points)
        event = Event(
            quant, candidate, None, recorded, kl if points else None, top1 if points else None, attested=False
        )
        return event, "imported", body
    points = [parity_point(kl=kl, top1=top1)]
    body = scored_body(f"r{number}", [int(candidate)] * 2, [int(main)] * 2, slot=slot, parity=points)
    return Event(quant, candidate, main, None, kl, top1, attested=True), "round", body


def test_a_second_evaluator_agrees_on_ten_thousand_random_histories() -> None:
    rng, seen = random.Random(20261130), set()
    for _ in range(10_000):
        body = random_rule(rng)
        rule, fold = read_rule(body), Fold()
        fold.replay = Replay([rule])
        events = []
        for number in range(rng.randrange(1, 5)):
            event, kind, figure = random_event(rng, number)
            if body["frontier"]["basis"] == "recorded" and kind == "round":
                continue  # a round records no frontier; the gates' own tests say what happens
            events.append(event)
            fold.feed(kind, figure, attested=event.attested)
        found = [item.verdict.label for item in fold.history.judged if item.verdict]
        assert found == evaluate(events, body), (body, events)
        seen.update(found)
    assert seen >= {"REJECT", "UNRESOLVED", "REVIEW", "BASELINE", "none", "xs", "s", "m", "l", "xl"}


def random_history(rng: random.Random, count: int) -> list[Body]:
    """Bodies of every kind that a replay reads, rulings included."""
    found: list[Body] = [("rule", rule_body(), True)]
    figures: list[int] = []
    for number in range(1, count):
        if figures and rng.random() < 0.2:
            target = rng.choice(figures)
            action = rng.choice(["void", "review", "merged", "waiver"])
            extra = {"review": {"outcome": "accepted"}, "merged": {"commit": "c"}, "waiver": {"gate": "guards"}}.get(
                action, {}
            )
            found.append(("ruling", {"action": action, "receipt": f"{target:064x}", "reason": "r"} | extra, True))
        elif rng.random() < 0.1:
            found.append(
                ("rule", rule_body(name=f"rule-{number}", significance={"share": rng.choice(["0.02", "0.05"])}), True)
            )
        else:
            _, kind, body = random_event(rng, number)
            figures.append(number)
            found.append((kind, body, kind == "round" and rng.random() < 0.8))
    return found


def fold_of(bodies: list[Body]) -> History:
    fold = Fold()
    for kind, body, attested in bodies:
        fold.feed(kind, body, attested=attested)
    return fold.history


@pytest.mark.parametrize("seed", range(40))
def test_replay_is_deterministic_and_step_by_step_gives_the_same_as_at_once(seed: int) -> None:
    bodies = random_history(random.Random(seed), 25)
    whole = fold_of(bodies)
    assert fold_of(bodies) == whole
    fold = Fold()
    for at, (kind, body, attested) in enumerate(bodies, 1):
        fold.feed(kind, body, attested=attested)
        assert fold.history == fold_of(bodies[:at])
    assert fold.history == whole


@pytest.mark.parametrize("seed", range(40))
def test_the_frontier_only_rises_but_for_what_is_voided(seed: int) -> None:
    bodies = random_history(random.Random(seed), 30)
    voids = {at for at, (kind, body, _) in enumerate(bodies) if kind == "ruling" and body["action"] == "void"}
    for state in fold_of(bodies).slots.values():
        for before, after in zip(state.moves, state.moves[1:], strict=False):
            if after.index not in voids:
                assert before.holding is None or (
                    after.holding is not None and after.holding.figure.value > before.holding.figure.value
                )


@pytest.mark.parametrize("seed", range(20))
def test_a_re_score_by_the_same_rules_changes_nothing(seed: int) -> None:
    history = fold_of(random_history(random.Random(seed), 25))
    assert [item for item in compare(history, history) if item.changed] == []


def moved(bodies: list[Body], which: set[int], **axes: str) -> list[Body]:
    """The same bodies, the figures at some indices in another slot."""
    return [
        (kind, body | {"slot": body["slot"] | axes} if index in which else body, attested)
        for index, (kind, body, attested) in enumerate(bodies)
    ]


@pytest.mark.parametrize("seed", range(20))
def test_what_happens_in_one_slot_never_moves_another(seed: int) -> None:
    rng = random.Random(seed)
    bodies = random_history(rng, 25)
    figures = [index for index, (kind, _, _) in enumerate(bodies) if kind in ("round", "imported")]
    others = {index for index in figures if rng.random() < 0.5}
    here, there = moved(bodies, others, node="n9"), moved(bodies, others, project="third")
    verdicts = [
        [item.verdict for item in fold_of(each).judged if item.rung.index not in others] for each in (here, there)
    ]
    assert verdicts[0] == verdicts[1]
    assert len(verdicts[0]) == len(figures) - len(others)


@settings(max_examples=400, deadline=None)
@given(
    value=st.integers(1, 10**7),
    frontier=st.integers(1, 10**7),
    reference=st.one_of(st.none(), st.integers(1, 10**7)),
    cap=st.sampled_from([None, "1", "2"]),
)
def test_both_number_modes_agree_away_from_the_edges(
    value: int, frontier: int, reference: int | None, cap: str | None
) -> None:
    text, base = f"{value // 100}.{value % 100:02}", f"{frontier // 100}.{frontier % 100:02}"
    if frontier < 1:
        return
    gain = Fraction(value - frontier, frontier)
    sizes = [gain] + ([Fraction(value - frontier, reference)] if reference else []) + ([2 * gain] if cap == "2" else [])
    edges = [Fraction(edge) for _, edge in BANDS]
    if any(abs(size - edge) < Fraction(1, 10**9) for size in sizes for edge in edges):
        return
    found = []
    for numbers in ("exact", "ieee754"):
        rule = make_rule(
            numbers=numbers,
            evidence="imported",
            frontier={"basis": "recorded"},
            cap=cap,
            denominator={"unattested": f"{reference // 100}.{reference % 100:02}"} if reference else None,
        )
        fold = Fold(rule)
        found.append(fold.verdict(fold.add("imported", imported_body("v", text, base))).label)
    assert found[0] == found[1]


def test_slots_are_told_apart_by_every_axis() -> None:
    assert read_slot(DECODE) != read_slot(PREFILL)
    for axis, value in (("project", "x"), ("node", "x"), ("quant", "x"), ("context", 1)):
        assert read_slot(DECODE | {axis: value}) != read_slot(DECODE)


def bulk_labels(history: History, rule: Rule) -> dict[int, str]:
    """The labels of a history by `ledger.scoring.bulk`, slot by slot, from the doubles of its numbers."""
    found: dict[int, str] = {}
    for slot in history.slots:
        rungs = [item.rung for item in history.judged if item.rung.slot == slot]
        exact = {rung.index: exact_row(rung, rule) for rung in rungs}
        columns = read_columns(
            (index, float(row.value), as_double(row.base), as_double(row.kl), as_double(row.top1))
            for index, row in exact.items()
        )
        labels = rescore_slot(columns, rule, exact.__getitem__, lower=slot.lower_is_better)
        found |= dict(zip(columns.at, labels, strict=True))
    return found


def as_double(value: Fraction | None) -> float | None:
    return None if value is None else float(value)


def exact_row(rung: Rung, rule: Rule) -> ExactRow:
    points = rung.parity.get("candidate", ())
    base = rung.recorded if rule.recorded else rung.figures.get("main")
    kl = [point.kl for point in points if point.kl is not None]
    top1 = [point.top1 for point in points if point.top1 is not None]
    return ExactRow(
        value=rung.figures["candidate"].value,
        base=base.value if base else None,
        kl=max(kl, default=None),
        top1=min(top1, default=None),
    )


def test_labels_from_an_index_are_those_of_a_replay_at_every_edge() -> None:
    rng = random.Random(7)
    seen: set[str] = set()
    for _ in range(1500):
        body = random_rule(rng)
        body.pop("plausibility", None)
        body["numbers"] = rng.choice(["exact", "ieee754"])
        rule = read_rule(body)
        assert needs_replay(rule) == []
        fold = Fold(rule)
        for number in range(rng.randrange(1, 8)):
            event, kind, figure = random_event(rng, number)
            if (kind == "imported") == rule.recorded:
                fold.feed(kind, figure, attested=event.attested)
        history = fold.history
        expected = {item.rung.index: item.verdict.label for item in history.judged if item.verdict}
        assert bulk_labels(history, rule) == expected, body
        seen.update(expected.values())
    assert seen >= {"REJECT", "BASELINE", "none", "xs", "s", "m", "l", "xl"}


def test_a_rung_without_its_frontier_is_unresolved_from_an_index_too_whatever_its_parity() -> None:
    bars = {"top1_min": "0.9", "kl_max": "0.05"}
    recorded, ledger = Fold(recorded_rule(parity=bars)), Fold(make_rule(parity=bars))
    recorded.add("imported", imported_body("i", "10", None, parity=[{"kl": "0.9", "top1": "1"}]))
    ledger.add("round", scored_body("r", [100, 100], None, parity=[parity_point(kl="0.9")]))
    for fold in (recorded, ledger):
        assert fold.verdict(0).label == "UNRESOLVED"
        assert bulk_labels(fold.history, fold.history.rules[0]) == {0: "UNRESOLVED"}


def test_an_index_says_what_it_cannot_answer() -> None:
    asked = make_rule(
        guards=[{"metric": "ttft", "context": 1, "tolerance": "0"}],
        significance={"share": "0", "noise": "used"},
        parity={"top1_min": "0", "kl_max": "1", "depths": [4], "path": "p", "ratchet": {"warn": "1", "block": "2"}},
        denominator={"receipt": "0" * 64},
        plausibility={"ceiling": "1"},
        frontier={"basis": "ledger", "alarm": "0.5", "agree": "0.1"},
        boost={"slope": "1", "max": "2"},
    )
    assert needs_replay(asked) == [
        *("guards", "noise", "ratchet", "parity path", "parity depths", "denominator receipt", "plausibility"),
        *("frontier alarm", "frontier agreement", "boost"),
    ]


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_is_paused_and_left_as_it_was(enabled: bool) -> None:
    before = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        with collector_paused():
            assert not gc.isenabled()
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if before else gc.disable)()
