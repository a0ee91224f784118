"""What a rule says of a rung in quarantine, or of one that nobody can score, before anything is compared."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from ledger.scoring.facts import reading_text

if TYPE_CHECKING:
    from ledger.scoring.rung import Rung


class Bound(NamedTuple):
    """A gate that does not hold."""

    label: str
    code: str
    detail: str


REVIEW_REJECTED = Bound("REJECT", "E_REVIEW_REJECTED", "maintainers reviewed the round and rejected it")


def quarantine_bound(rung: Rung, review: str) -> Bound | None:
    """What keeps a rung from being compared: requests that failed, an unscorable round, a quarantine without review.

    A fast refusal is no speed: nothing but a review makes a rung of a candidate that did not serve everything. And no
    review makes one of an unscorable round. None where nothing keeps it.
    """
    failed, asked = rung.failed
    if failed and not review:
        share = reading_text(Fraction(failed, asked))
        detail = f"{failed} of {asked} requests of the candidate failed, a share of {share}"
        return Bound("REJECT", "E_RELIABILITY", f"{detail}: counts when a review accepts it")
    if rung.unscorable is not None and not (failed and review == "rejected"):
        return Bound("UNRESOLVED", *rung.unscorable)
    if not rung.quarantine or review == "accepted":
        return None
    if review == "rejected":
        return REVIEW_REJECTED
    return Bound("REVIEW", "E_QUARANTINED", f"{', '.join(rung.quarantine)}: counts when a review accepts it")
