"""The history of a ledger: every figure with what a rule said of it, and what was known of each slot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ledger.rule import TIERS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ledger.rule import Rule
    from ledger.scoring.rung import Figure, Rung, Slot
    from ledger.scoring.slots import SlotState
    from ledger.scoring.verdict import Context, Verdict

SCORED = ("score", "imported")
"""Purposes of what can be a rung. Noise and reference rounds are measured for other rungs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One rung with what was said of it.

    Attributes:
        rung: its figures.
        rule: rule that judged it; none when no rule covers its slot.
        context: what it was judged against.
        verdict: none without a rule, and for sessions without a candidate behind the first.
        gone_at: index of the ruling that voided or superseded it; none while it stands.
        gone_by: ``void`` or ``supersede``.
        merged_at: index of the first ruling that says it was merged.
        merged_as: commit that this ruling names.
        review: ``accepted`` or ``rejected`` by the last ruling that reviewed it, or empty.
    """

    rung: Rung
    rule: Rule | None
    context: Context | None
    verdict: Verdict | None
    gone_at: int | None = None
    gone_by: str = ""
    merged_at: int | None = None
    merged_as: str = ""
    review: str = ""

    @property
    def counts(self) -> bool:
        """Whether its figures count: no ruling has taken it out, it can be scored, and it is in no quarantine.

        A review that rejects a round takes it out as well, but of a session with a candidate only that.
        """
        if self.rung.unscorable is not None:
            return False
        if self.rung.quarantine:
            return self.stands and self.review == "accepted"
        rejects_all = self.rung.purpose not in SCORED or "candidate" not in self.rung.figures
        return self.stands and not (rejects_all and self.review == "rejected")

    @property
    def has_won(self) -> bool:
        """Whether it counts, is attested, and its candidate has a tier."""
        label = self.verdict.label if self.verdict is not None else ""
        return self.counts and self.rung.evidence == "attested" and label in TIERS

    @property
    def stands(self) -> bool:
        """Whether no ruling has taken it out."""
        return self.gone_at is None

    @property
    def is_stopped(self) -> bool:
        """Whether it is rejected or under review, so that its candidate's speed is a diagnostic."""
        return self.verdict is not None and self.verdict.is_stopped

    @property
    def shown(self) -> Figure | None:
        """The figure that anybody may be shown: the candidate's, else main's; none while it is stopped."""
        if self.is_stopped or self.rung.unscorable is not None or (self.rung.quarantine and self.review != "accepted"):
            return None
        return self.rung.figures.get("candidate") or self.rung.figures.get("main")


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """What a ledger says under its rules.

    Attributes:
        size: number of receipts that were read.
        judged: every figure in the order of the indices, those too that no longer stand.
        slots: what is known of each slot.
        rules: rules in force at the end, the newest first; or the rules that were given.
    """

    size: int
    judged: tuple[Judged, ...]
    slots: Mapping[Slot, SlotState]
    rules: tuple[Rule, ...]
