"""What a rule says of a rung in quarantine, before anything is compared."""

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


def quarantine_bound(rung: Rung, review: str) -> Bound:
    """What a rung in quarantine gets: a review; a rejection by one, or when requests of its candidate failed.

    A fast refusal is no speed: nothing but a review makes a rung of a candidate that did not serve everything.
    """
    if review == "rejected":
        return Bound("REJECT", "E_REVIEW_REJECTED", "maintainers reviewed the round and rejected it")
    failed, asked = rung.failed
    if failed:
        share = reading_text(Fraction(failed, asked))
        detail = f"{failed} of {asked} requests of the candidate failed, a share of {share}"
        return Bound("REJECT", "E_RELIABILITY", f"{detail}: counts when a review accepts it")
    return Bound("REVIEW", "E_QUARANTINED", f"{', '.join(rung.quarantine)}: counts when a review accepts it")
