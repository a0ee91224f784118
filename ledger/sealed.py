"""What the writer gives back: where a statement was sealed, and to followers in the same process the receipt itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ledger.examine import Claim
    from ledger.receipt import Receipt


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealed:
    """Outcome for one statement.

    Attributes:
        index: its index.
        digest: SHA-256 of its receipt file.
        identity: identity of the statement.
        existed: it was in the ledger already, and nothing was written for it.
    """

    index: int
    digest: bytes
    identity: bytes
    existed: bool


class Taken(NamedTuple):
    """A receipt that the writer has examined, admitted and committed.

    Attributes:
        raw: the receipt file.
        receipt: what it holds.
        digest: SHA-256 of the file.
        claim: what the statement claims.
    """

    raw: bytes
    receipt: Receipt
    digest: bytes
    claim: Claim
