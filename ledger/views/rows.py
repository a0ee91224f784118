"""Rows of the views that follow from one receipt alone, and what all rows have in common."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING, TypeAlias

import orjson

from ledger.scoring.facts import double, exact_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from fractions import Fraction

    from ledger.canonical import JsonObject
    from ledger.receipt import Receipt
    from ledger.scoring.facts import ArmFact, RepFact
    from ledger.verified import Entry

Row: TypeAlias = "dict[str, object]"

_REAL = "_real"


def number(name: str, value: Fraction | None) -> Row:
    """A number as two columns: exact text, and a double for sorting."""
    if value is None:
        return {name: None, name + _REAL: None}
    return {name: exact_text(value), name + _REAL: double(value)}


def hide(row: Row, names: Iterable[str]) -> None:
    """Empty columns of a row, and keep what they held as JSON in its ``diagnostic``."""
    kept: JsonObject = orjson.loads(str(row["diagnostic"])) if row["diagnostic"] else {}
    for name in names:
        if row[name] is not None:
            kept[name] = row[name]
        row[name] = None
        if name + _REAL in row:
            row[name + _REAL] = None
    row["diagnostic"] = diagnostic(kept)


def diagnostic(values: JsonObject) -> str | None:
    """The text of a column ``diagnostic``."""
    return orjson.dumps(values, option=orjson.OPT_SORT_KEYS).decode() if values else None


def receipt_row(entry: Entry, receipt: Receipt) -> Row:
    """The row of a receipt."""
    statement = receipt.statement
    producer = statement.predicate["producer"]
    name, digest = statement.subject
    return {
        "receipt": receipt.seal.index,
        "sha256": entry.digest.hex(),
        "statement": entry.identity.hex(),
        "kind": entry.kind,
        "attested": entry.attested,
        "sealed_at": receipt.seal.sealed_at,
        "producer": producer["keyid"],
        "seq": producer["seq"],
        "subject": name,
        "subject_sha256": digest,
    }


def incident_row(index: int, body: JsonObject, gone_at: int | None = None) -> Row:
    """The row of an incident.

    Args:
        index: of the receipt.
        body: what it says.
        gone_at: receipt of the first ruling that voided it; none while it stands.
    """
    return {
        "receipt": index,
        "round_id": body["round"],
        "attempt": body["attempt"],
        "outcome": body["outcome"],
        "diagnosis": body.get("diagnosis"),
        "log_sha256": body["log"]["sha256"] if "log" in body else None,
        "gone_at": gone_at,
        **body["slot"],
    }


def body_rows(index: int, kind: str, body: JsonObject, facts: Sequence[ArmFact]) -> Iterator[tuple[str, Row]]:
    """Rows of a round or an imported figure, each with the name of its table. What is to be hidden is not hidden.

    Args:
        index: of the receipt.
        kind: of its statement.
        body: what it says.
        facts: of a round.
    """
    if kind == "imported":
        yield from (("findings", _fault_row(index, at, item)) for at, item in enumerate(body["faults"]))
        if "commit" in body:
            yield "arms", _arm_row(index, {"role": "candidate", "commit": body["commit"]})
        return
    yield from (("arms", _arm_row(index, arm)) for arm in body["arms"])
    of_rep = {(rep.entry, fact.metric.name): rep for fact in facts for rep in fact.reps}
    for entry, rep in enumerate(body["reps"]):
        yield from (("reps", _rep_row(index, entry, name, rep, of_rep.get((entry, name)))) for name in rep["metrics"])
    yield from (("facts", _fact_row(index, fact)) for fact in facts)


def hide_stopped(table: str, row: Row) -> None:
    """Hide the figures of a rung that was rejected or is under review."""
    if table == "findings" and row["source"] == "imported":
        hide(row, ("message", "place"))
    elif table == "reps" and row["arm"] == "candidate":
        hide(row, ("wall_ns", "median", "mean_real", "lowest_real", "highest_real"))
    elif table == "facts" and row["arm"] == "candidate":
        hide(row, ("median", "lowest", "highest", "spread_pct"))


def _fault_row(index: int, at: int, fault: JsonObject) -> Row:
    return {
        "receipt": index,
        "number": at,
        "source": "imported",
        "code": fault["code"],
        "message": fault["message"],
        "place": fault.get("where"),
        "record": fault.get("record"),
        "diagnostic": None,
    }


def _arm_row(index: int, arm: JsonObject) -> Row:
    return {
        "receipt": index,
        "role": arm["role"],
        "code_sha256": arm.get("code_sha256"),
        "commit_id": arm.get("commit"),
        "clean_build": arm.get("clean_build"),
        "toolchain": arm.get("toolchain"),
        "binary_sha256": arm.get("binary_sha256"),
    }


def _rep_row(index: int, entry: int, name: str, rep: JsonObject, fact: RepFact | None) -> Row:
    return {
        "receipt": index,
        "entry": entry,
        "metric": name,
        "arm": rep["arm"],
        "position": rep["order"],
        "context": rep["context"],
        "started_at": rep["started_at"],
        "warmup": rep["warmup"],
        "wall_ns": rep["wall_ns"],
        "records": len(fact.ratios) if fact else 0,
        **number("median", fact.median if fact else None),
        "mean_real": fsum(fact.ratios.doubles) / len(fact.ratios) if fact else None,
        "lowest_real": min(fact.ratios.doubles) if fact else None,
        "highest_real": max(fact.ratios.doubles) if fact else None,
        "diagnostic": None,
    }


def _fact_row(index: int, fact: ArmFact) -> Row:
    return {
        "receipt": index,
        "arm": fact.arm,
        "metric": fact.metric.name,
        "context": fact.context,
        "unit": fact.metric.unit,
        "better": fact.metric.better,
        "reps": len(fact.reps),
        "diagnostic": None,
        **number("median", fact.median),
        **number("lowest", fact.lowest),
        **number("highest", fact.highest),
        **number("spread_pct", fact.spread_pct),
    }
