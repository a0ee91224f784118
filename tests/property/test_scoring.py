"""Properties of rules and replay: they hold for every history, not for the ones that somebody thought of."""

from __future__ import annotations

import random
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.rule import read_rule
from ledger.scoring.bulk import ExactRow, needs_replay, rescore_slot
from ledger.scoring.replay import Replay
from ledger.scoring.rescore import compare
from ledger.scoring.rung import Figure, ParityPoint, Rung, read_slot
from tests.support.scoring import (
    BANDS,
    DECODE,
    GUARDED,
    PREFILL,
    PREFILL_SLOT,
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
    from ledger.scoring.rung import Slot

    Body = tuple[str, JsonObject, bool]

EXACT = [speed for speed in range(100, 501) if 512 * 10**9 % speed == 0]
"""Speeds whose repetition takes whole nanoseconds, so that no rounding moves a label."""

TTFT_SLOT = read_slot(DECODE | {"metric": "ttft"})

RULING_MEMBERS: dict[str, JsonObject] = {
    "review": {"outcome": "accepted"},
    "merged": {"commit": "c"},
    "waiver": {"gate": "guards", "guard": GUARDED},
}


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
            extra = RULING_MEMBERS.get(action, {})
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
        rows = (
            (index, float(row.value), as_double(row.base), as_double(row.kl), as_double(row.top1))
            for index, row in exact.items()
        )
        labels = rescore_slot(rows, rule, exact.__getitem__, lower=slot.lower_is_better)
        found |= dict(zip(exact, labels, strict=True))
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


NEAR = [f"{sign}{size}" for size in ("0", "1e-20", "1e-12", "5e-10", "1.5e-9", "4e-9", "0.01") for sign in ("", "-")]
"""Distances from an edge, as shares of it: none, less than doubles can tell, about that much, and a clear one."""


def edge_rule(rng: random.Random) -> JsonObject:
    """A rule that an index can answer; some have bands that doubles cannot tell apart, or a denominator of nearly 0."""
    body = random_rule(rng)
    body.pop("plausibility", None)
    body["numbers"] = rng.choice(["exact", "ieee754"])
    if rng.random() < 0.1:
        body["bands"] = [{"tier": "l", "from": "0.1000000005"}, {"tier": "m", "from": "0.1"}]
    if rng.random() < 0.1:
        body |= {"significance": {"share": "0"}, "denominator": {"unattested": "0.00001"}}
    return body


def near(rng: random.Random, edge: Decimal) -> Decimal:
    return edge * (1 + Decimal(rng.choice(NEAR)))


def edge_value(rng: random.Random, body: JsonObject, frontier: Decimal, *, lower: bool) -> Decimal:
    """A value at, or next to, the share or a band of a rule, over any of the numbers that may decide."""
    share, bands = Decimal(body["significance"]["share"]), [Decimal(band["from"]) for band in body["bands"]]
    units = [frontier, frontier / Decimal(str(body.get("cap", "1")))]
    units += [Decimal(body["denominator"]["unattested"])] if "denominator" in body else []
    gain = near(rng, share * frontier if rng.random() < 0.3 else rng.choice(bands) * rng.choice(units))
    return frontier - gain if lower else frontier + gain


def edge_base(rng: random.Random) -> Decimal | None:
    """A base that ties with others, exactly or only as a double; sometimes none, 0 or below."""
    if rng.random() < 0.06:
        return rng.choice([None, Decimal(0), Decimal(-3)])
    return near(rng, Decimal(rng.choice(["100", "100", "125", "127.5"])))


def edge_parity(rng: random.Random, bar: str, clear: str) -> Decimal | None:
    """Accuracy next to a bar or clear of it, at most 1; sometimes none."""
    if rng.random() < 0.05:
        return None
    return min(near(rng, Decimal(bar)), Decimal(1)) if rng.random() < 0.5 else Decimal(clear)


def edge_events(rng: random.Random, body: JsonObject, *, lower: bool) -> list[Event]:
    """Figures whose every comparison is close."""
    recorded = body["frontier"]["basis"] == "recorded"
    events: list[Event] = []
    best: Decimal | None = None
    for _ in range(rng.randrange(1, 12)):
        base, kl, top1 = edge_base(rng), edge_parity(rng, "0.05", "0.01"), edge_parity(rng, "0.9", "1")
        if base is not None and (best is None or recorded or (base < best) == lower):
            best = base
        value = edge_value(rng, body, best or Decimal(100), lower=lower)
        texts = [None if number is None else format(number, "f") for number in (base, kl, top1)]
        main, claimed = (None, texts[0]) if recorded else (texts[0], None)
        events.append(Event("q", format(value, "f"), main, claimed, texts[1], texts[2], attested=not recorded))
    return events


def edge_rung(index: int, event: Event, slot: Slot) -> Rung:
    """What a replay reads of such a figure."""

    def figure(text: str | None) -> Figure | None:
        return None if text is None else Figure(value=Fraction(text), half_unit=Fraction(0), reps=2)

    figures = {"candidate": figure(event.candidate), "main": figure(event.main)}
    point = ParityPoint(
        depth=4,
        kl=None if event.kl is None else Fraction(event.kl),
        top1=None if event.top1 is None else Fraction(event.top1),
        trials=None,
        path=None,
    )
    return Rung(
        index=index,
        digest=f"{index:064x}",
        id=f"e{index}",
        purpose="score" if event.attested else "imported",
        slot=slot,
        evidence="attested" if event.attested else "imported",
        figures={arm: each for arm, each in figures.items() if each is not None},
        recorded=figure(event.recorded),
        parity={"candidate": (point,)},
        statistic="median" if event.attested else "",
    )


@pytest.mark.parametrize("seed", range(8))
def test_labels_from_an_index_are_exact_where_doubles_cannot_tell(seed: int) -> None:
    rng = random.Random(seed)
    seen: set[str] = set()
    for _ in range(400):
        body, slot = edge_rule(rng), rng.choice([PREFILL_SLOT, TTFT_SLOT])
        with localcontext(prec=60):
            events = edge_events(rng, body, lower=slot.lower_is_better)
        rule = read_rule(body)
        replay = Replay([rule])
        for index, event in enumerate(events):
            replay._take(edge_rung(index, event, slot), rule)
        history = replay.history(len(events))
        expected = {item.rung.index: item.verdict.label for item in history.judged if item.verdict}
        assert bulk_labels(history, rule) == expected, (body, events)
        if body["numbers"] == "exact":
            assert [*expected.values()] == evaluate(events, body, lower=slot.lower_is_better), (body, events)
        seen.update(expected.values())
    assert seen == {"REJECT", "UNRESOLVED", "BASELINE", "none", "xs", "s", "m", "l", "xl"}


@pytest.mark.parametrize("lower", [False, True])
def test_a_frontier_that_many_rungs_share_is_fetched_once_from_each(lower: bool) -> None:
    fetched: list[int] = []

    def exact(at: int) -> ExactRow:
        fetched.append(at)
        return ExactRow(value=Fraction(98 if lower else 102), base=Fraction(100), kl=None, top1=None)

    rows = [(at, 98.0 if lower else 102.0, 100.0, None, None) for at in range(500)]
    assert rescore_slot(rows, make_rule(), exact, lower=lower) == ["none"] * 500
    assert len(fetched) == 2 * 500  # its value, and its base once


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
