"""A second evaluator of rules, written from the words of the policy and sharing no code with the first.

It knows score rounds and imported figures as tuples, decides with `decimal` at 60 digits where the first has rationals,
and returns labels only. The two must agree.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ledger.canonical import JsonObject


class Event(NamedTuple):
    """One figure: its slot's name, speeds in tok/s as decimals, worst KL and top-1, and whether it is attested."""

    slot: str
    candidate: str
    main: str | None
    recorded: str | None
    kl: str | None
    top1: str | None
    attested: bool


def evaluate(events: list[Event], rule: JsonObject, *, lower: bool = False) -> list[str]:
    """Labels of a history under one rule that covers every slot; `lower` where less is better in all of them."""
    with localcontext() as context:
        context.prec = 60
        best: dict[str, Decimal] = {}
        labels = []
        for event in events:
            frontier = _better(best.get(event.slot), event.main, lower=lower)
            labels.append(_label(event, rule, frontier, lower=lower))
            if event.attested and frontier is not None:
                best[event.slot] = frontier
        return labels


def _better(best: Decimal | None, main: str | None, *, lower: bool) -> Decimal | None:
    known = [each for each in (best, Decimal(main) if main is not None else None) if each is not None]
    return min(known, default=None) if lower else max(known, default=None)


def _label(event: Event, rule: JsonObject, frontier: Decimal | None, *, lower: bool) -> str:
    if rule["frontier"]["basis"] == "recorded":
        frontier = Decimal(event.recorded) if event.recorded is not None else None
    stopped = _stopped(event, rule)
    if stopped:
        return stopped
    if frontier is None or frontier <= 0:
        return "BASELINE"
    value = Decimal(event.candidate)
    return _tier(frontier - value if lower else value - frontier, frontier, rule)


def _stopped(event: Event, rule: JsonObject) -> str:
    """Label of a figure whose gain nobody asks for; empty for the others."""
    parity, reference = rule.get("parity"), rule.get("denominator", {}).get("unattested")
    if rule["evidence"] == "attested" and not event.attested:
        return "UNRESOLVED"
    if event.recorded is None if rule["frontier"]["basis"] == "recorded" else event.attested and event.main is None:
        return "UNRESOLVED"
    if parity and (event.kl is None or event.top1 is None):
        return "UNRESOLVED"
    if parity and event.kl and event.top1:
        accurate = Decimal(event.kl) <= Decimal(parity["kl_max"]) and Decimal(event.top1) >= Decimal(parity["top1_min"])
        if not accurate:
            return "REJECT"
    ceiling = Decimal(rule["plausibility"]["ceiling"]) * Decimal(reference) if "plausibility" in rule else None
    return "REVIEW" if ceiling is not None and Decimal(event.candidate) > ceiling else ""


def _tier(gain: Decimal, frontier: Decimal, rule: JsonObject) -> str:
    reference = rule.get("denominator", {}).get("unattested")
    if gain <= Decimal(rule["significance"]["share"]) * frontier:
        return "none"
    # Compared crosswise, so that nothing is divided: a gain over a base reaches an edge when gain >= edge * base.
    base = Decimal(reference) if reference else frontier
    for band in rule["bands"]:
        edge = Decimal(band["from"])
        if gain >= edge * base and ("cap" not in rule or Decimal(rule["cap"]) * gain >= edge * frontier):
            return str(band["tier"])
    return str(rule.get("floor_tier", "none"))
