"""Tables of what was sealed and measured. `ledger.views.tables` says what all tables have in common."""

from __future__ import annotations

from sqlalchemy import BigInteger, MetaData
from sqlmodel import Field, SQLModel

GIVEN: dict[str, bool] = {"autoincrement": False}
"""For keys that the ledger gives, and no database counts."""


class View(SQLModel):
    """Base of all tables. They have metadata of their own: other tables of a program are not views."""

    metadata = MetaData()


class OfSlot(View):
    """Axes of a slot, as columns."""

    project: str
    node: str
    quant: str
    context: int = Field(sa_type=BigInteger)
    metric: str


class KeyedBySlot(View):
    """Axes of a slot, as the first columns of the key."""

    project: str = Field(primary_key=True)
    node: str = Field(primary_key=True)
    quant: str = Field(primary_key=True)
    context: int = Field(primary_key=True, sa_type=BigInteger, sa_column_kwargs=GIVEN)
    metric: str = Field(primary_key=True)


class Stamp(View, table=True):
    """What the views were made from. One row.

    Attributes:
        id: always 1.
        schema_version: `SCHEMA_VERSION` of the tables.
        program_version: version of rungbook that wrote the rows.
        origin: name of the ledger.
        tree_size: number of receipts.
        root_hash: root of the tree over them, in hexadecimal.
    """

    __tablename__ = "stamp"

    id: int = Field(primary_key=True, sa_column_kwargs=GIVEN)
    schema_version: int
    program_version: str
    origin: str
    tree_size: int = Field(sa_type=BigInteger)
    root_hash: str


class ReceiptRow(View, table=True):
    """One row per receipt.

    Attributes:
        receipt: its index, from 0.
        sha256: SHA-256 of the receipt file.
        statement: identity of its statement.
        kind: kind of its statement.
        attested: whether somebody who was authorised for it signed it.
        sealed_at: time of the seal.
        producer: key id of who numbered the statement.
        seq: the statement's number among that producer's.
        subject: name of what it is about.
        subject_sha256: SHA-256 of that.
    """

    __tablename__ = "receipts"

    receipt: int = Field(primary_key=True, sa_type=BigInteger, sa_column_kwargs=GIVEN)
    sha256: str
    statement: str
    kind: str
    attested: bool
    sealed_at: str
    producer: str
    seq: int = Field(sa_type=BigInteger)
    subject: str
    subject_sha256: str


class IncidentRow(OfSlot, table=True):
    """One row per incident: what was sealed of an attempt that ended without a number, whether it still stands or not.

    Attributes:
        receipt: where it is sealed.
        round_id: of the round that it was to be.
        attempt: which attempt at that round, from 1.
        outcome: ``infra``, ``config`` or ``refused``.
        diagnosis: why; empty where nobody says.
        log_sha256: SHA-256 of what the run left behind.
        gone_at: receipt of the ruling that voided it; empty while it stands.
        project: axis of the slot that was to be measured.
        node: axis of the slot.
        quant: axis of the slot.
        context: axis of the slot, in tokens.
        metric: axis of the slot.
    """

    __tablename__ = "incidents"

    receipt: int = Field(primary_key=True, sa_type=BigInteger, sa_column_kwargs=GIVEN)
    round_id: str
    attempt: int
    outcome: str
    diagnosis: str | None
    log_sha256: str | None
    gone_at: int | None = Field(sa_type=BigInteger)


class RoundRow(OfSlot, table=True):
    """One row per round or imported figure.

    Attributes:
        receipt: where it is sealed.
        id: of the round or the imported figure.
        purpose: ``score``, ``noise``, ``reference`` or ``imported``.
        project: axis of the slot.
        node: axis of the slot.
        quant: axis of the slot.
        context: axis of the slot, in tokens.
        metric: axis of the slot.
        evidence: ``attested``, ``measured`` or ``imported``.
        attempt: which attempt at it gave the figures; those before are incidents.
        measured_at: start of the first repetition; for an imported figure, the time that its source claims.
        unit: unit of the metric.
        better: ``higher`` or ``lower``.
        arm: arm that the value is of: the candidate, else main, else the reference.
        value: figure of that arm in the slot, under the rule's statistic.
        value_real: the same for sorting.
        reps: repetitions behind it; 0 without raw ones.
        recorded: frontier that an imported figure says it was held against.
        recorded_real: the same for sorting.
        noise: relative spread over the repetitions of a noise round.
        noise_real: the same for sorting.
        gone_at: receipt of the ruling that took it out; empty while it stands.
        gone_by: ``void`` or ``supersede``.
        merged_at: receipt of the ruling that says it was merged.
        diagnostic: the value, while it is rejected or under review.
    """

    __tablename__ = "rounds"

    receipt: int = Field(primary_key=True, sa_type=BigInteger, sa_column_kwargs=GIVEN)
    id: str
    purpose: str
    evidence: str
    attempt: int
    measured_at: str
    unit: str
    better: str
    arm: str | None
    value: str | None
    value_real: float | None
    reps: int | None
    recorded: str | None
    recorded_real: float | None
    noise: str | None
    noise_real: float | None
    gone_at: int | None = Field(sa_type=BigInteger)
    gone_by: str | None
    merged_at: int | None = Field(sa_type=BigInteger)
    diagnostic: str | None


class ArmRow(View, table=True):
    """One row per arm of a round, and for the commit of an imported figure.

    Attributes:
        receipt: where the round is sealed.
        role: ``main``, ``candidate`` or ``reference``.
        code_sha256: digest of the code that was measured; none for an imported figure.
        commit_id: commit, where it is named.
        clean_build: built in an empty folder, where it is said.
        toolchain: as named.
        binary_sha256: digest of the binary, where it is named.
    """

    __tablename__ = "arms"

    receipt: int = Field(primary_key=True, sa_type=BigInteger, sa_column_kwargs=GIVEN)
    role: str = Field(primary_key=True)
    code_sha256: str | None
    commit_id: str | None
    clean_build: bool | None
    toolchain: str | None
    binary_sha256: str | None


class RepRow(View, table=True):
    """One row per repetition and metric, with what follows from its records. Warm-ups have no numbers.

    Attributes:
        receipt: where the round is sealed.
        entry: position in the round's list of repetitions.
        metric: what it was run to measure.
        arm: role of the arm.
        position: place in time of the run that it belongs to.
        context: tokens in context, as measured.
        started_at: start of the run by the node's clock.
        warmup: kept, but never part of a fact.
        wall_ns: time that it took, in nanoseconds.
        records: number of records that have a value.
        median: of its records.
        median_real: the same for sorting.
        mean_real: mean of its records, as a double.
        lowest_real: lowest of its records, as a double.
        highest_real: highest of its records, as a double.
        diagnostic: the numbers of a candidate that is rejected or under review.
    """

    __tablename__ = "reps"

    receipt: int = Field(primary_key=True, sa_type=BigInteger, sa_column_kwargs=GIVEN)
    entry: int = Field(primary_key=True)
    metric: str = Field(primary_key=True)
    arm: str
    position: int = Field(sa_type=BigInteger)
    context: int = Field(sa_type=BigInteger)
    started_at: str
    warmup: bool
    wall_ns: int | None = Field(sa_type=BigInteger)
    records: int
    median: str | None
    median_real: float | None
    mean_real: float | None
    lowest_real: float | None
    highest_real: float | None
    diagnostic: str | None


class FactRow(View, table=True):
    """One row per arm, metric and context of a round: computed from the medians of its repetitions.

    Attributes:
        receipt: where the round is sealed.
        arm: role of the arm.
        metric: name in the metric registry.
        context: tokens in context, as measured.
        unit: unit of the metric.
        better: ``higher`` or ``lower``.
        reps: repetitions that have a value.
        median: of the repetitions' medians.
        median_real: the same for sorting.
        lowest: of the repetitions' medians.
        lowest_real: the same for sorting.
        highest: of the repetitions' medians.
        highest_real: the same for sorting.
        spread_pct: ``100 * (highest - lowest) / median``; none for one repetition.
        spread_pct_real: the same for sorting.
        diagnostic: the numbers of a candidate that is rejected or under review.
    """

    __tablename__ = "facts"

    receipt: int = Field(primary_key=True, sa_type=BigInteger, sa_column_kwargs=GIVEN)
    arm: str = Field(primary_key=True)
    metric: str = Field(primary_key=True)
    context: int = Field(primary_key=True, sa_type=BigInteger)
    unit: str
    better: str
    reps: int
    median: str | None
    median_real: float | None
    lowest: str | None
    lowest_real: float | None
    highest: str | None
    highest_real: float | None
    spread_pct: str | None
    spread_pct_real: float | None
    diagnostic: str | None
