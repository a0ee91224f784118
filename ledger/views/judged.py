"""Tables of what a rule says. `ledger.views.tables` says what all tables have in common."""

from __future__ import annotations

from sqlalchemy import BigInteger
from sqlmodel import Field

from ledger.views.measured import GIVEN, KeyedBySlot, View


class VerdictRow(View, table=True):
    """One row per rung that a rule judged.

    Attributes:
        receipt: of the rung.
        label: what the rule says.
        rule: digest of the rule.
        gate: gate that bound.
        code: what bound there; none for a tier or ``none``.
        bound: for a tier, what limited it: ``cap``, ``denominator`` or ``gain``.
        detail: what the gate expected and found, in words.
        gain: over the frontier, as a share.
        gain_real: the same for sorting.
        credited: what was held against the bands, as a share.
        credited_real: the same for sorting.
        fragile: half a unit in the last place of an input would change the label.
        unattested: what in it no receipt stands for, with commas between.
        frontier: figure it was held against.
        frontier_real: the same for sorting.
        frontier_source: ``frontier``, ``main``, ``recorded`` or none.
        frontier_receipt: receipt that figure comes from; none when no receipt stands for it.
        main: what main measured in the same session.
        main_real: the same for sorting.
        review: ``accepted`` or ``rejected``, after a review.
        waived: gates that were waived, with commas between.
        diagnostic: what is kept from the other columns, and speed of a rung that was stopped.
    """

    __tablename__ = "verdicts"

    receipt: int = Field(primary_key=True, sa_type=BigInteger, sa_column_kwargs=GIVEN)
    label: str
    rule: str
    gate: str
    code: str | None
    bound: str | None
    detail: str | None
    gain: str | None
    gain_real: float | None
    credited: str | None
    credited_real: float | None
    fragile: bool
    unattested: str | None
    frontier: str | None
    frontier_real: float | None
    frontier_source: str | None
    frontier_receipt: int | None = Field(sa_type=BigInteger)
    main: str | None
    main_real: float | None
    review: str | None
    waived: str | None
    diagnostic: str | None


class FrontierRow(KeyedBySlot, table=True):
    """One row per move of the frontier of a slot.

    Attributes:
        number: of the move, from 0.
        project: axis of the slot.
        node: axis of the slot.
        quant: axis of the slot.
        context: axis of the slot, in tokens.
        metric: axis of the slot.
        since: receipt from which it holds.
        is_current: whether it is the last move.
        value: the frontier; none after the last value was voided.
        value_real: the same for sorting.
        receipt: where the value comes from.
        arm: arm that gave it.
        commit_id: commit of that arm, where it is named.
        diagnostic: the value, where its verdict became one that stopped it.
    """

    __tablename__ = "frontier"

    number: int = Field(primary_key=True, sa_column_kwargs=GIVEN)
    since: int = Field(sa_type=BigInteger)
    is_current: bool
    value: str | None
    value_real: float | None
    receipt: int | None = Field(sa_type=BigInteger)
    arm: str | None
    commit_id: str | None
    diagnostic: str | None


class PinRow(KeyedBySlot, table=True):
    """One row per pin.

    Attributes:
        project: axis of the slot.
        node: axis of the slot.
        quant: axis of the slot.
        context: axis of the slot, in tokens.
        metric: axis of the slot.
        role: ``basis``, ``guard`` or ``reference``.
        value: the attested figure; none when there is only a measured one.
        value_real: the same for sorting.
        receipt: where it comes from.
        since: receipt from which it holds.
        arm: arm that gave it.
        commit_id: commit of that arm, where it is named.
        measured: the best figure that nobody attested.
        measured_real: the same for sorting.
        measured_receipt: where that comes from.
        measured_arm: arm that gave it.
        measured_evidence: ``measured`` or ``imported``.
        stale: the measured one is better by more than the noise.
        diagnostic: figures of rungs that are rejected or under review.
    """

    __tablename__ = "pins"

    role: str = Field(primary_key=True)
    value: str | None
    value_real: float | None
    receipt: int | None = Field(sa_type=BigInteger)
    since: int | None = Field(sa_type=BigInteger)
    arm: str | None
    commit_id: str | None
    measured: str | None
    measured_real: float | None
    measured_receipt: int | None = Field(sa_type=BigInteger)
    measured_arm: str | None
    measured_evidence: str | None
    stale: bool
    diagnostic: str | None


class FindingRow(View, table=True):
    """One row per flag of a verdict and per fault of an imported receipt.

    Attributes:
        receipt: concerned.
        number: of the row within the receipt.
        source: ``verdict`` or ``imported``.
        code: what was found.
        message: in words; none for a flag.
        place: where, such as the fact of the node that changed.
        record: the other record concerned, in the words of the source.
        diagnostic: message and place of a fault in a figure that is rejected or under review: they may quote it.
    """

    __tablename__ = "findings"

    receipt: int = Field(primary_key=True, sa_type=BigInteger, sa_column_kwargs=GIVEN)
    number: int = Field(primary_key=True, sa_column_kwargs=GIVEN)
    source: str
    code: str
    message: str | None
    place: str | None
    record: str | None
    diagnostic: str | None
