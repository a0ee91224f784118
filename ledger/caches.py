"""What a writer keeps on its machine to save time. All of it is disposable: the receipts say it too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ledger.copies import CopyIndex
    from ledger.snapshot import SnapshotFile


@dataclass(frozen=True, slots=True, kw_only=True)
class Caches:
    """Where to keep it.

    Attributes:
        snapshot: of the ledger's state; without one, opening reads the whole ledger.
        copies: fingerprints of samples; without them, the first round reads the whole ledger.
    """

    snapshot: SnapshotFile | None = None
    copies: CopyIndex | None = None


NO_CACHES = Caches()
