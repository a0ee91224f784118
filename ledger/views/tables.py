"""The tables of the SQL views.

Every exact number stands twice: as text without loss (a fraction such as ``46545/1001``, or a decimal where the verdict
was calculated in doubles) under its own name, and as a double for sorting under the same name with ``_real`` behind it.
What describes the records of one repetition, and is held against nothing, is a double only: such a mean can have
hundreds of digits.
Units and directions are those of the metric. Times are text, as sealed. ``receipt`` is the index of a receipt.

The speed of what was rejected or is under review stands in columns named ``diagnostic`` only: there, as a JSON object,
stand the columns of the same row that were emptied.

``ladder`` is a view over ``rounds`` and ``verdicts``: the scored rungs that stand, ordered by ``receipt``, with the
columns of `LADDER`. Rungs for which no rule was in force are among them, without a label.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.views.judged import FindingRow, FrontierRow, PinRow, VerdictRow
from ledger.views.measured import ArmRow, FactRow, IncidentRow, ReceiptRow, RepRow, RoundRow, Stamp

if TYPE_CHECKING:
    from sqlalchemy import Table
    from sqlmodel import SQLModel

SCHEMA_VERSION = 4
"""Of these tables. Another one makes older views be built again."""

STAMP = "stamp"
LADDER_VIEW = "ladder"

MODELS: tuple[type[SQLModel], ...] = (
    Stamp,
    ReceiptRow,
    IncidentRow,
    RoundRow,
    ArmRow,
    RepRow,
    FactRow,
    VerdictRow,
    FrontierRow,
    PinRow,
    FindingRow,
)
TABLES: dict[str, Table] = dict(Stamp.metadata.tables)
"""The tables of `MODELS` by name."""

RULED_TABLES = ("incidents", "rounds", "arms", "reps", "facts", "verdicts", "findings")
"""Tables whose rows belong to one receipt that a ruling can name, by ``receipt``."""

SLOT_TABLES = ("frontier", "pins")
"""Tables whose rows belong to one slot."""

LADDER = {
    "rounds": (
        *("receipt", "id", "purpose", "project", "node", "quant", "context", "metric", "evidence", "arm"),
        *("value", "value_real", "merged_at"),
    ),
    "verdicts": (
        *("label", "gate", "code", "bound", "frontier", "frontier_real", "frontier_source", "frontier_receipt"),
        *("gain", "gain_real", "credited", "credited_real", "fragile", "unattested", "rule"),
    ),
}
"""Columns of the view ``ladder``, by the table that documents them."""
