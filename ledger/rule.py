"""Rules: the scoring policy as data, and what it must satisfy beyond its schema.

A rule is addressed by the SHA-256 of its canonical bytes. Nothing in it has a default that changes a verdict: a part
that is absent is a gate that does not exist, and every verdict says so. `ledger.scoring` evaluates rules; this module
only reads them.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, TypeAlias

from ledger import canonical
from ledger.errors import RefusedError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ledger.canonical import JsonObject

Statistic: TypeAlias = Literal["median", "mean", "max", "p90"]
Numbers: TypeAlias = Literal["exact", "ieee754"]
Noise: TypeAlias = Literal["ignored", "used", "required"]

TIERS = ("xs", "s", "m", "l", "xl")
AXES = ("project", "node", "quant", "context", "metric")
WARM = "+cache-warm"
"""What the project of a slot ends with whose prompts a cache supplied: the scoring adds it, and nobody else may."""

_LONGEST_PROJECT = 200 - len(WARM)
EVIDENCE = ("imported", "measured", "attested")
"""Levels of evidence, the weakest first."""

_NEVER_ZERO = {"cap", "alarm", "unattested", "unattested_base", "ceiling", "wall_over", "wall_under", "max"}
_NUMBERS = _NEVER_ZERO | {
    *("share", "agree", "tolerance", "from", "slope", "top1_min", "kl_max", "kl_prefer"),
    *("warn", "block", "floor", "block_from"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratchet:
    """How far parity may drift from main's at the same depth, as ratios of KL."""

    warn: str
    block: str
    floor: str
    block_from: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ParityBars:
    """Accuracy that every depth must reach. Numbers are decimals, as written."""

    top1_min: str
    kl_max: str
    kl_prefer: str | None
    path: str | None
    depths: tuple[int, ...]
    ratchet: Ratchet | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """A slot that must not get worse. `unattested_base` stands in only where the ledger has no base of its own."""

    metric: str
    context: int
    tolerance: str
    role: str
    unattested_base: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A rule that was checked. Numbers are decimals, as written: `numbers` says how they are calculated with.

    Attributes:
        digest: SHA-256 (hex) of its canonical bytes.
        name: for people.
        slots: slots that it judges, as the axes that are fixed.
        statistic: of the records of one repetition.
        min_reps: repetitions that each arm needs.
        numbers: exact rationals, or IEEE 754 doubles.
        evidence: the weakest evidence that it judges.
        recorded: judge against the frontier that an imported receipt names, not against this ledger's own.
        agree: share within which the frontier is used although main measured more; none for never.
        alarm: share of the frontier below which main is not believed; none for no alarm.
        parity: accuracy that must be reached; none when it is not judged.
        guards: slots that must not get worse.
        share: gain that must be exceeded.
        noise: whether the node's noise raises that share.
        ceiling: multiple of the denominator above which a value needs a review.
        wall_over: time that samples may take, as a multiple of the wall-clock time.
        wall_under: share of the wall-clock time that samples must account for.
        reference: SHA-256 (hex) of the receipt whose reference arm is the denominator.
        unattested: the denominator as a number that no receipt stands for.
        cap: multiple of the gain that is credited at most.
        boost: slope and limit of the credit for a frontier far above the denominator.
        bands: tiers with the gain from which each is given, the highest first.
        floor_tier: tier of a significant gain below all bands.
        body: the rule as it was read.
    """

    digest: str
    name: str
    slots: tuple[JsonObject, ...]
    statistic: Statistic
    min_reps: int
    numbers: Numbers
    evidence: str
    recorded: bool
    agree: str | None
    alarm: str | None
    parity: ParityBars | None
    guards: tuple[Guard, ...]
    share: str
    noise: Noise
    ceiling: str | None
    wall_over: str | None
    wall_under: str | None
    reference: str | None
    unattested: str | None
    cap: str | None
    boost: tuple[str, str] | None
    bands: tuple[tuple[str, str], ...]
    floor_tier: str | None
    body: JsonObject

    def covers(self, slot: JsonObject) -> bool:
        """Whether it judges a slot."""
        return any(all(slot[axis] == value for axis, value in fixed.items()) for fixed in self.slots)


def rule_digest(body: JsonObject) -> str:
    """SHA-256 (hex) of a rule's canonical bytes: its address."""
    return hashlib.sha256(canonical.encode(body)).hexdigest()


def read_rule(body: JsonObject) -> Rule:
    """A rule that satisfies the schema ``rule-input``, checked and ready to be evaluated.

    Raises:
        RefusedError: see `check_rule`.
    """
    check_rule(body)
    frontier, significance = body["frontier"], body["significance"]
    plausibility, denominator = body.get("plausibility", {}), body.get("denominator", {})
    return Rule(
        digest=rule_digest(body),
        name=body["name"],
        slots=tuple(body["slots"]),
        statistic=body["statistic"],
        min_reps=body["min_reps"],
        numbers=body["numbers"],
        evidence=body["evidence"],
        recorded=frontier["basis"] == "recorded",
        agree=frontier.get("agree"),
        alarm=frontier.get("alarm"),
        parity=_read_parity(body["parity"]) if "parity" in body else None,
        guards=tuple(_read_guard(guard) for guard in body.get("guards", [])),
        share=significance["share"],
        noise=significance.get("noise", "ignored"),
        ceiling=plausibility.get("ceiling"),
        wall_over=plausibility.get("wall_over"),
        wall_under=plausibility.get("wall_under"),
        reference=denominator.get("receipt"),
        unattested=denominator.get("unattested"),
        cap=body.get("cap"),
        boost=(body["boost"]["slope"], body["boost"]["max"]) if "boost" in body else None,
        bands=tuple((band["tier"], band["from"]) for band in body["bands"]),
        floor_tier=body.get("floor_tier"),
        body=body,
    )


def _read_parity(value: JsonObject) -> ParityBars:
    ratchet = value.get("ratchet")
    return ParityBars(
        top1_min=value["top1_min"],
        kl_max=value["kl_max"],
        kl_prefer=value.get("kl_prefer"),
        path=value.get("path"),
        depths=tuple(value.get("depths", [])),
        ratchet=ratchet
        and Ratchet(
            warn=ratchet["warn"],
            block=ratchet["block"],
            floor=ratchet.get("floor", "0"),
            block_from=ratchet.get("block_from", "0"),
        ),
    )


def _read_guard(value: JsonObject) -> Guard:
    return Guard(
        metric=value["metric"],
        context=value["context"],
        tolerance=value["tolerance"],
        role=value.get("role", "guard"),
        unattested_base=value.get("unattested_base"),
    )


def check_project(slot: JsonObject, where: str) -> None:
    """Check that the project of a slot is no name of what a cache supplied, and leaves room for that name.

    Args:
        slot: axes of it.
        where: JSON pointer to it.

    Raises:
        RefusedError: ``E_SLOT``.
    """
    project = slot.get("project", "")
    if project.endswith(WARM):
        text = f"{WARM} at the end of a project says what a cache supplied, which the records tell: name it without"
        raise RefusedError("E_SLOT", text, where=f"{where}/project")
    if len(project) > _LONGEST_PROJECT:
        text = f"a project has at most {_LONGEST_PROJECT} characters, found {len(project)}"
        raise RefusedError("E_SLOT", text, where=f"{where}/project")


def check_rule(body: JsonObject) -> None:
    """Check a rule that satisfies the schema ``rule-input``.

    Raises:
        RefusedError: ``E_SLOT``, ``E_RULE_NUMBER``, ``E_RULE_BANDS``, ``E_RULE_TWICE``, ``E_RULE_DENOMINATOR`` or
            ``E_RULE_EVIDENCE``, with a JSON pointer into the rule.
    """
    for at, slot in enumerate(body["slots"]):
        check_project(slot, f"/slots/{at}")
    for where, text in _numbers(body):
        number = Fraction(text)
        if number < 0 or (number == 0 and where.rpartition("/")[2] in _NEVER_ZERO):
            raise RefusedError("E_RULE_NUMBER", f"{text} is not a positive number", where=where)
    _check_limits(body)
    _check_bands(body)
    for where, values in _sets(body):
        if len(set(values)) != len(values):
            raise RefusedError("E_RULE_TWICE", "one entry is listed twice", where=where)
    for part, member in (("plausibility", "ceiling"), ("boost", "max")):
        if member in body.get(part, {}) and "denominator" not in body:
            raise RefusedError("E_RULE_DENOMINATOR", f"{part} needs a denominator, and there is none", where=f"/{part}")
    if body["frontier"]["basis"] == "recorded" and body["evidence"] != "imported":
        raise RefusedError(
            "E_RULE_EVIDENCE", "only imported receipts record a frontier: set evidence to imported", where="/evidence"
        )


def _check_limits(body: JsonObject) -> None:
    """A boost that takes credit away, and an agreement that nothing can reach, are slips of the pen."""
    if "boost" in body and Fraction(body["boost"]["max"]) < 1:
        raise RefusedError("E_RULE_NUMBER", f"{body['boost']['max']} would take credit away", where="/boost/max")
    if "parity" in body and Fraction(body["parity"]["top1_min"]) > 1:
        raise RefusedError("E_RULE_NUMBER", f"{body['parity']['top1_min']} is above 1", where="/parity/top1_min")


def _numbers(value: object, where: str = "") -> Iterator[tuple[str, str]]:
    """Every number of a rule with its place."""
    if isinstance(value, list):
        for at, item in enumerate(value):
            yield from _numbers(item, f"{where}/{at}")
    elif isinstance(value, dict):
        for name, item in value.items():
            if name in _NUMBERS:
                yield f"{where}/{name}", item
            else:
                yield from _numbers(item, f"{where}/{name}")


def _sets(body: JsonObject) -> Iterator[tuple[str, list[object]]]:
    yield "/slots", [tuple(sorted(slot.items())) for slot in body["slots"]]
    yield "/guards", [(guard["metric"], guard["context"]) for guard in body.get("guards", [])]
    yield "/parity/depths", list(body.get("parity", {}).get("depths", []))


def _check_bands(body: JsonObject) -> None:
    bands = body["bands"]
    for at, (higher, lower) in enumerate(pairwise(bands), 1):
        falls = Fraction(lower["from"]) < Fraction(higher["from"])
        if not falls or TIERS.index(lower["tier"]) >= TIERS.index(higher["tier"]):
            raise RefusedError(
                "E_RULE_BANDS", "bands go from the highest tier and gain down, no gain twice", where=f"/bands/{at}"
            )
