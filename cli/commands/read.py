"""``rungbook log``, ``show`` and ``export``: what the ledger holds. Each verifies hashes, root and checkpoint first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

import typer

from cli import output
from cli.context import find_ledger
from cli.options import JsonOption, LedgerOption
from cli.outcome import write_whole
from cli.round_words import incident_words, print_imported, print_incident, print_round
from cli.status import reports_errors
from ledger import receipt as receipt_format
from ledger.canonical import JsonObject
from ledger.errors import LedgerError, MalformedError, PolicyError, RefusedError
from ledger.examine import check_form, examine
from ledger.kinds import check_body
from ledger.receipt import Receipt
from ledger.rule import AXES, rule_digest
from ledger.scoring.facts import facts_to_json, round_facts
from ledger.statement import export_envelope
from ledger.verified import VerifiedLog
from ledger.verify import verify


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(epilog="Example: rungbook log --last 20")(log)
    app.command(epilog="Example: rungbook show 2")(show)
    app.command(epilog="Example: rungbook export 2 --format dsse -o round.dsse.json")(export)


def _open(ledger: Path | None) -> VerifiedLog:
    return verify(find_ledger(ledger).store, mode="quick").require_log()


@reports_errors
def log(
    *,
    last: Annotated[int, typer.Option(min=0, metavar="N", help="Only the last N receipts; 0: all.")] = 0,
    ledger: LedgerOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the receipts. Checks hashes, root and checkpoint; rungbook verify also checks every signature."""
    opened = _open(ledger)
    size = opened.checkpoint.size
    first = max(0, size - last) if last else 0
    rows = [_summary(opened, index) for index in range(first, size)]
    if as_json:
        output.write_json(
            "log", {"origin": opened.checkpoint.origin, "tree_size": size, "mode": opened.mode, "receipts": rows}
        )
        return
    head = ["index", "sealed at", "kind", "sha256", "what"]
    cells = [[str(row["index"]), row["sealed_at"], row["kind"], row["sha256"][:12], row["what"]] for row in rows]
    typer.echo(output.table([head, *cells], right=frozenset({0})))


def _summary(opened: VerifiedLog, index: int) -> JsonObject:
    receipt = opened.receipt(index)
    return {
        "index": index,
        "sha256": opened.entries[index].digest.hex(),
        "statement": receipt.statement.identity.hex(),
        "kind": receipt.statement.kind,
        "sealed_at": receipt.seal.sealed_at,
        "signers": [item.keyid for item in receipt.signed.signatures],
        "what": _what(receipt),
    }


def _what(receipt: Receipt) -> str:
    statement = receipt.statement
    try:
        check_form(statement)
    except PolicyError:
        return ""  # of a newer release
    except MalformedError as err:
        return f"does not make sense: {err}"
    return _WORDS[statement.kind](statement.body)


def _genesis_words(body: JsonObject) -> str:
    return str(body["origin"])


def _keys_words(body: JsonObject) -> str:
    return "; ".join(_change_text(change) for change in body["changes"])


def _round_words(body: JsonObject) -> str:
    arms = "+".join(arm["role"] for arm in body["arms"])
    return f"{body['purpose']} {arms}  {_slot_words(body['slot'])}"


def _imported_words(body: JsonObject) -> str:
    source, faults = body["source"], len(body["faults"])
    return f"from {source['log']}  {_slot_words(body['slot'])}  {faults} fault(s)"


def _rule_words(body: JsonObject) -> str:
    return f"{body['name']}  {rule_digest(body)[:12]}"


def _incident_words(body: JsonObject) -> str:
    outcome, why = incident_words(body)
    return f"{body['round']} attempt {body['attempt']}  {outcome}: {why}  {_slot_words(body['slot'])}"


def _ruling_words(body: JsonObject) -> str:
    detail = "".join(f" {body[name]}" for name in ("outcome", "commit", "gate") if name in body)
    detail += f" {body['guard']['metric']}@{body['guard']['context']}" if "guard" in body else ""
    return f"{body['action']}{detail} {body['receipt'][:12]}  {body['reason']}"


def _rescore_words(body: JsonObject) -> str:
    return f"{body['changed']} of {body['rungs']} labels change under {', '.join(each[:12] for each in body['rules'])}"


def _slot_words(slot: JsonObject) -> str:
    return " · ".join(str(slot[axis]) for axis in AXES)


_WORDS: dict[str, Callable[[JsonObject], str]] = {
    "genesis": _genesis_words,
    "keys": _keys_words,
    "round": _round_words,
    "incident": _incident_words,
    "imported": _imported_words,
    "rule": _rule_words,
    "ruling": _ruling_words,
    "rescore": _rescore_words,
}


def _change_text(change: JsonObject) -> str:
    if change["action"] == "threshold":
        return f"threshold {change['threshold']}"
    nodes = f" of {', '.join(change['nodes'])}" if "nodes" in change else ""
    return f"{change['action']} {change['role']}{nodes}"


@reports_errors
def show(
    reference: Annotated[str, typer.Argument(metavar="REF", help="Index, or the start of a receipt's SHA-256.")],
    *,
    ledger: LedgerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show one receipt: who signed it with which role, and for a round the facts computed from its raw records."""
    opened = _open(ledger)
    index = opened.find(reference)
    receipt = opened.receipt(index)
    standing = _standing(opened, index, receipt)
    kind, body = receipt.statement.kind, _sound_body(receipt)
    about = _about(opened, opened.entries[index].digest.hex(), body if kind == "round" else None)
    facts = facts_to_json(round_facts(body)) if body and kind == "round" else []
    if as_json:
        output.write_json(
            "show",
            {
                "index": index,
                "sha256": opened.entries[index].digest.hex(),
                "statement": receipt.statement.identity.hex(),
                "kind": kind,
                "standing": standing,
                "facts": facts,
                "receipt": receipt_format.to_json(receipt),
            },
        )
        return
    typer.echo(f"receipt    {index}  {opened.entries[index].digest.hex()}")
    typer.echo(f"kind       {kind}  {_what(receipt)}")
    typer.echo(f"statement  {receipt.statement.identity.hex()}")
    typer.echo(f"sealed at  {receipt.seal.sealed_at}")
    for item in receipt.signed.signatures:
        typer.echo(f"signed by  {item.keyid}")
    typer.echo(f"standing   {standing}")
    for line in about:
        typer.echo(line)
    if body and kind == "round":
        print_round(body, facts)
    elif body and kind == "imported":
        print_imported(body)
    elif body and kind == "incident":
        print_incident(body)


def _about(opened: VerifiedLog, digest: str, body: JsonObject | None) -> Iterator[str]:
    """What other receipts say of one: earlier attempts at it, if it is a round, and rulings about it."""
    own = (body["slot"]["node"], body["id"]) if body else None
    rulings = list(_sound_bodies(opened, "ruling"))
    void = {each["receipt"] for _, each in rulings if each["action"] == "void"}
    for at, each in _sound_bodies(opened, "incident") if own else ():
        if (each["slot"]["node"], each["round"]) == own and opened.entries[at].digest.hex() not in void:
            yield f"retried    receipt {at}: attempt {each['attempt']} ended, {': '.join(incident_words(each))}"
    for at, each in rulings:
        if each["receipt"] == digest:
            yield f"ruling     receipt {at}: {_ruling_words(each)}"


def _sound_bodies(opened: VerifiedLog, kind: str) -> Iterator[tuple[int, JsonObject]]:
    """Index and body of every receipt of a kind that makes sense."""
    for index in opened.of_kind(kind):
        body = _sound_body(opened.receipt(index))
        if body is not None:
            yield index, body


def _sound_body(receipt: Receipt) -> JsonObject | None:
    """What a statement says, when it makes sense: files and chain alone do not tell that."""
    statement = receipt.statement
    try:
        check_form(statement)
        check_body(statement.kind, statement.body)
    except (MalformedError, RefusedError, PolicyError):
        return None
    return statement.body


def _standing(opened: VerifiedLog, index: int, receipt: Receipt) -> str:
    """``attested``, ``measured`` or ``in force``: what the signers' roles at that index make of it."""
    if index == 0:
        return "in force"
    try:
        trust = opened.roles_before(index)
        claim = examine(receipt.signed, trust.known)
        attested = trust.authorise(claim.kind, claim.node, claim.signers)
    except LedgerError as err:
        word = "unknown" if isinstance(err, PolicyError) else "refuted"
        return f"{word}: {err}; run rungbook verify"
    if claim.kind == "imported":
        return "imported: nobody attests it"
    if claim.kind not in ("round", "incident"):
        return "in force"
    return "attested" if attested else "measured"


@reports_errors
def export(
    reference: Annotated[str, typer.Argument(metavar="REF", help="Index, or the start of a receipt's SHA-256.")],
    *,
    form: Annotated[str, typer.Option("--format", metavar="FORMAT", help="dsse: a standard DSSE envelope.")] = "dsse",
    target: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write there instead of to stdout.")
    ] = None,
    ledger: LedgerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Export one receipt in a standard format that other people's tools verify."""
    if form != "dsse":
        raise RefusedError("E_OPTION", f"there is no format {form!r}; known: dsse", where="--format")
    opened = _open(ledger)
    index = opened.find(reference)
    data = export_envelope(opened.receipt(index).signed)
    if target:
        write_whole(target, data)
    if as_json:
        output.write_json(
            "export",
            {"index": index, "format": form, "file": str(target) if target else None, "data": data.decode()},
        )
    elif not target:
        typer.echo(data.decode(), nl=False)
