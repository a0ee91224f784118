"""What a rung gets at first, and what its verdict lets its figures do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.rule import TIERS
from ledger.scoring.gates import judge
from ledger.scoring.history import SCORED
from ledger.scoring.quarantine import REVIEW_REJECTED, quarantine_bound
from ledger.scoring.verdict import OUTCOMES, Gate, Verdict

if TYPE_CHECKING:
    from ledger.rule import Rule
    from ledger.scoring.rung import Rung
    from ledger.scoring.verdict import Context


def first_verdict(rung: Rung, rule: Rule | None, context: Context | None) -> Verdict | None:
    """The verdict of a rung; none without a rule, and for sessions without a candidate behind the first."""
    if rule is None or context is None or rung.purpose not in SCORED:
        return None
    if "candidate" in rung.figures or "main" not in rung.figures:
        return judge(rung, rule, context)
    bound = quarantine_bound(rung, context.review) or (REVIEW_REJECTED if context.review == "rejected" else None)
    if bound is not None:
        label, code, detail = bound
        gate = Gate(name="provenance", outcome=OUTCOMES.get(label, "fail"), code=code, detail=detail)
        return Verdict(label=label, rule=rule.digest, gate="provenance", code=code, gates=(gate,))
    if context.basis.source == "main" and context.basis.receipt == rung.index and rung.evidence == "attested":
        gate = Gate(name="significance", outcome="pass", detail="the first figure of main in this slot")
        return Verdict(label="BASELINE", rule=rule.digest, gate="significance", gates=(gate,))
    return None


def passes(verdict: Verdict | None) -> bool:
    """Whether a verdict lets the candidate's figures count for the base of guards."""
    return verdict is not None and (verdict.label == "none" or verdict.label in TIERS)


def is_stopped(verdict: Verdict | None) -> bool:
    """Whether the candidate's speed is a diagnostic."""
    return verdict is not None and verdict.is_stopped


def is_shown(verdict: Verdict | None) -> bool:
    """Whether it is a number that anybody may be shown."""
    return not is_stopped(verdict)
