"""Re-scoring: one history under two rules, side by side. No receipt is touched, and no verdict is replaced.

Source of the need: a credit cap that had become the whole rule was found after eighteen scored rungs; only a re-score
of the sealed inputs could say which eight labels it had changed.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ledger import canonical
from ledger.rule import TIERS
from ledger.scoring.facts import approximate, reading_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger.canonical import JsonObject
    from ledger.scoring.history import History, Judged
    from ledger.scoring.rung import Figure
    from ledger.scoring.verdict import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """What one rule says of a rung.

    Attributes:
        label: the label.
        rule: digest of the rule.
        gate: the gate that bound.
        bound: for a tier, what limited it; else the code of the gate.
        frontier: the figure it was held against.
        credited: what was held against the bands; empty without a tier.
        fragile: half a unit in the last place of an input would change the label.
        unattested: what in it no receipt stands for.
    """

    label: str
    rule: str
    gate: str
    bound: str
    frontier: str
    credited: str
    fragile: bool
    unattested: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rescored:
    """One rung under both rules. A side is none where its rules do not cover the slot.

    `stopped`: one of the sides made its speed a diagnostic, so neither side shows it.
    """

    judged: Judged
    before: Side | None
    after: Side | None
    stopped: bool

    @property
    def changed(self) -> bool:
        """Whether both sides judge it, and differently."""
        return self.before is not None and self.after is not None and self.before.label != self.after.label


def compare(before: History, after: History) -> list[Rescored]:
    """Every rung that either history judges, in the order of the receipts.

    Args:
        before: the history under the rules it is held against.
        after: the same receipts under the other rules.
    """
    pairs = zip(before.judged, after.judged, strict=True)
    return [
        Rescored(judged=new, before=_side(old), after=_side(new), stopped=old.is_stopped or new.is_stopped)
        for old, new in pairs
        if old.verdict is not None or new.verdict is not None
    ]


def _side(judged: Judged) -> Side | None:
    verdict, context = judged.verdict, judged.context
    if verdict is None or context is None:
        return None
    return Side(
        label=verdict.label,
        rule=verdict.rule,
        gate=verdict.gate,
        bound=verdict.bound or verdict.code,
        frontier=_figure(context.basis.used),
        credited=_decimal(verdict, verdict.credited),
        fragile=verdict.fragile,
        unattested=verdict.unattested,
    )


def _figure(figure: Figure | None) -> str:
    return "" if figure is None else reading_text(figure.value)


def _decimal(verdict: Verdict, number: str) -> str:
    """A share for reading: nine places of the exact fraction or double that the verdict holds."""
    return f"{approximate(number):.9f}" if verdict.label in TIERS and number else ""


def summary(rescored: Sequence[Rescored]) -> JsonObject:
    """Counts for the end of a table: labels on both sides, and the changes by pair."""
    return {
        "rungs": len(rescored),
        "changed": sum(item.changed for item in rescored),
        "only_before": sum(item.after is None for item in rescored),
        "only_after": sum(item.before is None for item in rescored),
        "before": dict(sorted(Counter(item.before.label for item in rescored if item.before).items())),
        "after": dict(sorted(Counter(item.after.label for item in rescored if item.after).items())),
    }


def to_json(rescored: Sequence[Rescored]) -> list[JsonObject]:
    """The rungs as JSON without floats, so that the whole can be sealed by its digest."""
    return [
        {
            "index": item.judged.rung.index,
            "id": item.judged.rung.id,
            "slot": item.judged.rung.slot._asdict(),
            "stands": item.judged.stands,
            "value": "" if item.stopped else _figure(item.judged.rung.figures.get("candidate")),
            "changed": item.changed,
            "before": _side_json(item.before),
            "after": _side_json(item.after),
        }
        for item in rescored
    ]


def _side_json(side: Side | None) -> JsonObject | None:
    if side is None:
        return None
    return {
        "label": side.label,
        "rule": side.rule,
        "gate": side.gate,
        "bound": side.bound,
        "frontier": side.frontier,
        "credited": side.credited,
        "fragile": side.fragile,
        "unattested": list(side.unattested),
    }


def output_digest(rungs: Sequence[JsonObject]) -> str:
    """SHA-256 (hex) of the full output as canonical JSON: what a ``rescore`` statement commits to."""
    return hashlib.sha256(canonical.encode({"rungs": list(rungs)})).hexdigest()
