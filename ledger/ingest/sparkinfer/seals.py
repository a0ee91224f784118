"""Faults of one run: chain, id, seal, members, and whether every copy of a figure or a verdict is the same.

Each detector takes a run and gives its faults. One that cannot read what it needs raises `MalformedError`, and
`ledger.ingest.sparkinfer.faults` makes a fault of that.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from ledger.errors import MalformedError
from ledger.ingest.sparkinfer.run import Fault, read_commit, read_kl, read_stdout, read_value
from ledger.ingest.values import as_decimal, as_text, look
from ledger.json_input import NumberText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ledger.canonical import JsonObject
    from ledger.ingest.sparkinfer.run import Run

_KNOWN_FILES = {"receipt.json", "result.json", "eval.log", "attestation.json"}
# The publisher adds these to the result after its digest was taken.
_ADDED_LATER = ((), ("receipt_id",), ("kl_depths",), ("receipt_id", "kl_depths"))
_OUTPUT = "receipt.json/tdx/stdout_b64"
_QUOTE_PART = 64
_ID_DIGITS = 32


def find_null_chain(run: Run) -> Iterator[Fault]:
    """A receipt that names the one before it cannot be slipped in or dropped; one that names none can."""
    index, before = run.sealed("chain/chain_index"), run.sealed("chain/prev_receipt_hash")
    where = run.name("receipt.json/chain")
    if before is None:
        found = f"chain_index {index!r} and prev_receipt_hash null"
        yield Fault(code="K_CHAIN_NULL", message=f"the receipt is not chained: {found}"[:300], where=where)
    elif index != run.position:
        message = f"chain_index {index!r} is not the place in time order, {run.position}"
        yield Fault(code="K_CHAIN_INDEX", message=message[:300], where=where)


def find_partial_id(run: Run) -> Iterator[Fault]:
    """An id must be a digest of the whole body; the one in use covers the head of the quote and the output."""
    where = run.name("receipt.json/receipt_id")
    claimed = run.sealed_text("receipt_id")
    covered = run.sealed_text("tdx/quote_b64")[:_QUOTE_PART] + run.sealed_text("tdx/result_sha256")
    if claimed != hashlib.sha256(covered.encode()).hexdigest()[:_ID_DIGITS]:
        yield Fault(
            code="K_ID_UNEXPLAINED",
            message=f"the id {claimed!r} is not that of head of the quote and digest of the output"[:300],
            where=where,
        )
    else:
        yield Fault(
            code="K_ID_PARTIAL",
            message="the id is recomputed, and covers 64 characters of the quote and the output: commit, figures, "
            "environment and time can change under the same id",
            where=where,
        )
    in_result = (run.result or {}).get("receipt_id", run.id)
    if claimed != run.id or in_result != run.id:
        message = f"folder {run.id}, receipt {claimed!r}, result {in_result!r} name different ids"
        yield Fault(code="K_ID_COPIES", message=message[:300], where=where)


def find_unsealed_members(run: Run) -> Iterator[Fault]:
    """The receipt seals a digest of the result: find the part of the result that has that digest."""
    if run.result is None:
        return
    expected = run.sealed_text("_expected/result_sha256")
    outside = next((names for names in _ADDED_LATER if _payload_digest(run.result, names) == expected), None)
    if outside is None:
        message = f"no part of the result has the sealed digest {expected[:80]!r}"
        yield Fault(code="K_RESULT_NOT_SEALED", message=message, where=run.name("result.json"))
        return
    for name in outside:  # each is there: without it, fewer would have been enough
        message = f"the sealed digest does not cover {name}: it can change unnoticed"
        yield Fault(code="K_UNSEALED_MEMBER", message=message, where=run.name(f"result.json/{name}"))


def _payload_digest(result: JsonObject, without: tuple[str, ...]) -> str:
    kept = {name: _as_written(value) for name, value in result.items() if name not in without}
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()


def _as_written(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Numbers as the source's own writer printed them, which is the shortest text of the nearest double."""
    if isinstance(value, NumberText):
        return float(value)
    if isinstance(value, dict):
        return {name: _as_written(item) for name, item in value.items()}
    return [_as_written(item) for item in value] if isinstance(value, list) else value


def find_unreadable_output(run: Run) -> Iterator[Fault]:
    """The attested output must be a JSON object with a verdict: else nobody can tell which one was attested."""
    try:
        _text(read_stdout(run), "label", run.name(_OUTPUT))
    except MalformedError as err:
        yield Fault(code="K_OUTPUT_UNREADABLE", message=f"{err.code}: {err.message}"[:500], where=err.where)


def find_verdict_copies(run: Run) -> Iterator[Fault]:
    """Every copy of the verdict must say the same."""
    published = {table: _text(row, "label", table) for table, rows in run.rows.items() for row in rows[:1]}
    if run.result is not None:
        published["result"] = _text(run.result, "label", run.name("result.json"))
    published["receipt"] = run.sealed_text("attestation/verdict/label")
    others = {"enclave": _attested_label(run), "log": run.text.tier if run.text else None}
    copies = published | {place: label for place, label in others.items() if label}
    told = ", ".join(f"{place} {label!r}" for place, label in copies.items())[:1000]
    if len({label.lower() for label in published.values()}) > 1:
        yield Fault(code="K_VERDICT_COPIES", message=f"published copies differ: {told}", where=run.place("label"))
    if _differs(others["enclave"], published):
        message = f"the attested output says another verdict than was published: {told}"
        yield Fault(code="K_VERDICT_ATTESTED", message=message, where=run.name(_OUTPUT))
    if _differs(others["log"], published):
        message = f"the log of the session says that another tier was applied: {told}"
        yield Fault(code="K_VERDICT_LOG", message=message, where=run.name("eval.log"))


def _differs(label: str | None, published: dict[str, str]) -> bool:
    """Whether a further witness tells another verdict; the log writes them in lower case."""
    return label is not None and any(one.lower() != label.lower() for one in published.values())


def _attested_label(run: Run) -> str | None:
    try:
        return _text(read_stdout(run), "label", run.name(_OUTPUT))
    except MalformedError:  # told by `find_unreadable_output`
        return None


def _text(document: JsonObject, name: str, what: str) -> str:
    return as_text(look(document, name, what), f"{what}/{name}")


def find_missing_members(run: Run) -> Iterator[Fault]:
    """What a whole run has."""
    names = {file.name for file in run.files}
    for name in sorted(_KNOWN_FILES - names):
        yield Fault(code="K_MEMBER_MISSING", message=f"there is no {name}", where=run.name(name))
    for table, rows in run.rows.items():
        if not rows:
            yield Fault(code="K_MEMBER_MISSING", message=f"there is no row in {table}", where=table)
        elif len(rows) > 1:
            yield Fault(code="K_ROW_TWICE", message=f"{len(rows)} rows in {table} name this run", where=table)
    for name in sorted(names - _KNOWN_FILES):
        yield Fault(code="K_FILE_UNKNOWN", message=f"nothing is known about {name}; it is kept", where=run.name(name))


def find_row_differences(run: Run) -> Iterator[Fault]:
    """The two tables must hold the same row, and the row what the run's own files say."""
    first = {table: rows[0] for table, rows in run.rows.items() if rows}
    if len({json.dumps(row, sort_keys=True) for row in first.values()}) > 1:
        yield Fault(code="K_ROW_COPIES", message="the row differs between ledger and index", where="index")
    for table, row in first.items():
        expected = {"tps": read_value(run), "kl": read_kl(run)}
        wrong = [name for name, number in expected.items() if as_decimal(look(row, name, table), table) != number]
        wrong += ["commit"] if row.get("commit") != read_commit(run) else []
        wrong += ["timestamp_utc"] if row.get("timestamp_utc") != run.sealed("attestation/timestamp_utc") else []
        if wrong:
            message = f"the row in {table} says otherwise than the run's files: {', '.join(wrong)}"
            yield Fault(code="K_ROW_DIFFERS", message=message, where=table)


def find_figure_copies(run: Run) -> Iterator[Fault]:
    """The figure must be the same in the result, the receipt, the attested output and the log of the session."""
    value = read_value(run)
    place = "attestation/verdict/tps"
    copies = {"receipt": as_decimal(run.sealed(place), run.name(f"receipt.json/{place}"))}
    printed = run.attested.get("tps")  # the shortest outputs hold a verdict alone
    if printed is not None:
        copies["enclave"] = as_decimal(printed, run.name(_OUTPUT))
    if run.text and run.text.tps:
        copies["log"] = as_decimal(NumberText(run.text.tps), run.name("eval.log"))
    told = [f"{name} {number}" for name, number in copies.items() if number != value]
    if told:
        message = f"the figure is {value}, elsewhere it is not: {', '.join(told)}"
        yield Fault(code="K_FIGURE_COPIES", message=message[:500], where=run.place("tps"))


def find_attestation_copies(run: Run) -> Iterator[Fault]:
    """The attestation beside the receipt must be the one in it."""
    if run.attestation is not None and run.attestation != run.sealed("attestation"):
        message = "attestation.json is not the attestation in the receipt"
        yield Fault(code="K_ATTESTATION_COPIES", message=message, where=run.name("attestation.json"))


def find_foreign_commit(run: Run) -> Iterator[Fault]:
    """The short commit of the result and of the log must begin the attested one."""
    commit = read_commit(run)
    printed = run.payload.get("commit")
    if printed is not None and not commit.startswith(as_text(printed, run.name("result.json/commit"))):
        message = f"the result is of {printed!r}, attested is {commit!r}"
        yield Fault(code="K_COMMIT_DIFFERS", message=message[:300], where=run.place("commit"))
    if run.text and run.text.commit and not commit.startswith(run.text.commit):
        message = f"the log of the session evaluated {run.text.commit!r}, attested is {commit!r}"
        yield Fault(code="K_COMMIT_DIFFERS", message=message[:300], where=run.name("eval.log"))
    if run.text and not run.text.found:
        message = "the log of the session does not say that this run was published"
        yield Fault(code="K_LOG_FOREIGN", message=message, where=run.name("eval.log"))


DETECTORS = (
    find_null_chain,
    find_partial_id,
    find_unsealed_members,
    find_unreadable_output,
    find_verdict_copies,
    find_missing_members,
    find_row_differences,
    find_figure_copies,
    find_attestation_copies,
    find_foreign_commit,
)
