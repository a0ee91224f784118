"""Rungs: the figures of one receipt, in the one form that rules judge.

A round gives figures computed from its raw records; an imported receipt gives the figure that its source printed, and
never one for an arm that the source does not name. What a tool or a foreign log said about the verdict is not here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from ledger.flags import REQUESTS_FAILED, failed_requests, quarantine_codes
from ledger.metrics import METRICS
from ledger.rule import AXES, WARM
from ledger.scoring.facts import ArmFact, arm_value, round_facts
from ledger.scoring.unscorable import Unscorable, find_unscorable, is_warm

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ledger.canonical import JsonObject
    from ledger.rule import Statistic

PLACES = 6
"""Decimals of a computed figure in every output; half a unit of the last one is how much reading may round."""
_HALF_UNIT = Fraction(1, 2 * 10**PLACES)


class Slot(NamedTuple):
    """Every axis that a number depends on."""

    project: str
    node: str
    quant: str
    context: int
    metric: str

    def __str__(self) -> str:
        return f"{self.project} · {self.node} · {self.quant} · {self.context} · {self.metric}"

    @property
    def unit(self) -> str:
        """Unit of the metric, for reading."""
        return METRICS[self.metric].unit

    @property
    def lower_is_better(self) -> bool:
        """Whether less is an improvement."""
        return METRICS[self.metric].better == "lower"

    def beside(self, metric: str, context: int) -> Slot:
        """The slot of another metric or context on the same node."""
        return Slot(self.project, self.node, self.quant, context, metric)

    def warmed(self) -> Slot:
        """The same work read from a cache: a slot of its own, never held against what was computed."""
        return self._replace(project=self.project + WARM)

    @property
    def is_warm(self) -> bool:
        """Whether it is of work that was read from a cache."""
        return self.project.endswith(WARM)

    def better(self, one: Fraction, other: Fraction) -> bool:
        """Whether `one` is better than `other`."""
        return one < other if self.lower_is_better else one > other


def read_slot(value: JsonObject) -> Slot:
    """A slot that satisfies its schema."""
    return Slot(**{axis: value[axis] for axis in AXES})


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A number with half a unit of its last printed place, and the repetitions behind it (0 without raw ones)."""

    value: Fraction
    half_unit: Fraction
    reps: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ParityPoint:
    """Accuracy at one depth. `depth`, `trials` and `path` are none where the source does not say."""

    depth: int | None
    kl: Fraction | None
    top1: Fraction | None
    trials: int | None
    path: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rung:
    """What a rule may look at.

    Attributes:
        index: of the receipt.
        digest: SHA-256 (hex) of the receipt file.
        id: of the round or the imported figure.
        purpose: ``score``, ``noise``, ``reference`` or ``imported``.
        slot: what was measured.
        evidence: ``attested``, ``measured`` or ``imported``.
        figures: figure of the slot by arm; an imported one is the candidate's.
        recorded: frontier that an imported receipt names.
        parity: points by arm.
        guards: figures of other slots of the session, by slot and arm.
        commits: commit by arm, where it is known.
        codes: digest of the code by arm.
        same_settings: whether main and candidate ran with the same settings.
        environment: facts of the node that must not change under a pin.
        noise: relative spread over all repetitions of a noise round.
        statistic: how the records of a repetition were summed up; empty for an imported figure.
        quarantine: codes of its faults that keep it out of frontier and pins until a review accepts it.
        unscorable: why no review can let it count; none for every other round.
        failed: requests of the candidate that failed, and all of them; 0 and 0 where none is known to have failed.
        attempt: which attempt at it gave the figures; those before ended without a number.
        windows: per repetition, the share of its wall-clock time that its samples account for, as two terms.
    """

    index: int
    digest: str
    id: str
    purpose: str
    slot: Slot
    evidence: str
    figures: Mapping[str, Figure]
    recorded: Figure | None = None
    parity: Mapping[str, tuple[ParityPoint, ...]] = field(default_factory=dict)
    guards: Mapping[tuple[Slot, str], Figure] = field(default_factory=dict)
    commits: Mapping[str, str] = field(default_factory=dict)
    codes: Mapping[str, str] = field(default_factory=dict)
    same_settings: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)
    noise: Fraction | None = None
    statistic: str = ""
    quarantine: tuple[str, ...] = ()
    unscorable: Unscorable | None = None
    failed: tuple[int, int] = (0, 0)
    attempt: int = 1
    windows: tuple[tuple[int, int], ...] = ()

    def all_figures(self) -> list[tuple[Slot, str, Figure]]:
        """Every figure with its slot and arm."""
        own = [(self.slot, arm, figure) for arm, figure in self.figures.items()]
        return own + [(slot, arm, figure) for (slot, arm), figure in self.guards.items()]

    def slots(self) -> set[Slot]:
        """Every slot that it has a say in."""
        return {self.slot} | {slot for slot, _ in self.guards}


def decimal_figure(text: str) -> Figure:
    """A number as a file printed it: a decimal such as ``46.49``."""
    places = len(text.partition(".")[2])
    return Figure(value=read_decimal(text), half_unit=Fraction(1, 2 * 10**places))


def read_decimal(text: str) -> Fraction:
    """A decimal that satisfies its schema: digits with at most one point, which `Fraction` takes long to find out."""
    whole, _, places = text.partition(".")
    return Fraction(int(whole + places), 10 ** len(places))


def read_imported(index: int, digest: str, body: JsonObject) -> Rung:
    """The rung of an ``imported`` body that satisfies its schema."""
    slot = read_slot(body["slot"])
    figures = {"candidate": decimal_figure(body["value"]["value"])}
    if "main" in body:
        figures["main"] = decimal_figure(body["main"]["value"])
    guards = {
        (slot.beside(item["metric"], item["context"]), "candidate"): decimal_figure(item["value"])
        for item in body.get("guards", [])
    }
    return Rung(
        index=index,
        digest=digest,
        id=body["id"],
        purpose="imported",
        slot=slot,
        evidence="imported",
        figures=figures,
        recorded=decimal_figure(body["frontier"]["value"]) if "frontier" in body else None,
        parity={"candidate": tuple(_point(item) for item in body["parity"])} if body.get("parity") else {},
        guards=guards,
        commits={"candidate": body["commit"]} if "commit" in body else {},
        environment=body.get("environment", {}),
    )


def read_round(
    index: int,
    digest: str,
    body: JsonObject,
    *,
    attested: bool,
    statistic: Statistic,
    facts: Sequence[ArmFact] | None = None,
) -> Rung:
    """The rung of a ``round`` body that satisfies its schema and `ledger.round.check_round`.

    Args:
        index: of its receipt.
        digest: SHA-256 (hex) of the receipt file.
        body: what it says.
        attested: whether somebody signed it who was authorised for it.
        statistic: how to sum up the records of a repetition.
        facts: `round_facts` of the body, by somebody who has computed them already.
    """
    slot = read_slot(body["slot"])
    slot = slot.warmed() if is_warm(body) else slot
    facts = round_facts(body) if facts is None else facts
    found = {(slot.beside(fact.metric.name, fact.context), fact.arm): _computed(fact, statistic) for fact in facts}
    arms = {arm["role"]: arm for arm in body["arms"]}
    settings = [arms[role].get("settings", {}) for role in ("main", "candidate") if role in arms]
    quarantine = quarantine_codes(body)
    return Rung(
        index=index,
        digest=digest,
        id=body["id"],
        purpose=body["purpose"],
        slot=slot,
        evidence="attested" if attested else "measured",
        figures={arm: figure for (where, arm), figure in found.items() if where == slot},
        parity=_parity_by_arm(body),
        guards={key: figure for key, figure in found.items() if key[0] != slot},
        commits={role: arm["commit"] for role, arm in arms.items() if "commit" in arm},
        codes={role: arm["code_sha256"] for role, arm in arms.items()},
        same_settings=all(each == settings[0] for each in settings),
        environment=_environment(body),
        noise=_noise(facts, slot) if body["purpose"] == "noise" else None,
        statistic=statistic,
        quarantine=quarantine,
        unscorable=find_unscorable(body),
        failed=failed_requests(body, "candidate") if REQUESTS_FAILED in quarantine else (0, 0),
        attempt=body.get("attempt", 1),
        windows=tuple(_windows(body)),
    )


def _computed(fact: ArmFact, statistic: Statistic) -> Figure:
    return Figure(
        value=arm_value(fact, statistic),
        half_unit=_HALF_UNIT,
        reps=len({rep.order for rep in fact.reps}),
    )


def _point(item: JsonObject) -> ParityPoint:
    return ParityPoint(
        depth=item.get("depth"),
        kl=read_decimal(item["kl"]) if "kl" in item else None,
        top1=read_decimal(item["top1"]) if "top1" in item else None,
        trials=item.get("trials"),
        path=item.get("path"),
    )


def _parity_by_arm(body: JsonObject) -> Mapping[str, tuple[ParityPoint, ...]]:
    arms: dict[str, tuple[ParityPoint, ...]] = {}
    for item in body.get("parity", []):
        arms[item["arm"]] = (*arms.get(item["arm"], ()), _point(item))
    return arms


def _environment(body: JsonObject) -> Mapping[str, str]:
    stated = {name: str(value) for name, value in body["environment"].items() if name not in ("load", "extra")}
    return {**stated, "weights": body["weights"]["sha256"], "harness": body["harness"]["sha256"]}


def _noise(facts: Sequence[ArmFact], slot: Slot) -> Fraction | None:
    """Relative spread over the repetitions of both arms of a noise round: all of it is noise."""
    values = [
        rep.median
        for fact in facts
        if (fact.metric.name, fact.context) == (slot.metric, slot.context)
        for rep in fact.reps
    ]
    return (max(values) - min(values)) / (sum(values, Fraction(0)) / len(values)) if values else None


def _windows(body: JsonObject) -> list[tuple[int, int]]:
    """Per repetition, the time of its samples over its wall-clock time and concurrency; nothing where it is unknown."""
    shares = []
    for rep in body["reps"]:
        records = rep["records"]
        column = records.get("wall_ns") or records.get("e2e_ns")
        if column and None not in column:
            lanes = rep.get("workload", {}).get("concurrency", 1)
            shares.append((sum(column), rep["wall_ns"] * lanes))
    return shares
