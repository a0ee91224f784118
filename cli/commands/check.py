"""``rungbook verify``: does this ledger hold, and what was not checked?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from cli import output
from cli.context import find_ledger, read_input
from cli.options import JsonOption, LedgerOption
from cli.status import REFUTED, UNAVAILABLE, reports_errors
from ledger.canonical import JsonObject
from ledger.checkpoint import parse_checkpoint
from ledger.errors import ChainError, MalformedError
from ledger.note import parse_vkey
from ledger.strict import parse_digest
from ledger.verified import Finding, Pins, Verification
from ledger.verify import verify as verify_ledger


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: rungbook verify --vkey example.org/bench+1a2b3c4d+AZ...")(verify)


@reports_errors
def verify(
    *,
    quick: Annotated[bool, typer.Option("--quick", help="Only hashes, root and checkpoint; no signatures.")] = False,
    vkey: Annotated[str, typer.Option(metavar="KEY", help="The ledger's verification key, from elsewhere.")] = "",
    genesis: Annotated[str, typer.Option(metavar="DIGEST", help="SHA-256 of receipt 0, from elsewhere.")] = "",
    since: Annotated[
        Path | None, typer.Option(metavar="CHECKPOINT", help="An older checkpoint that must be a prefix.")
    ] = None,
    ledger: LedgerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Verify everything that can be verified offline, list what does not hold, and say what was not checked.

    Status 0: it holds. 3: refuted. 4: could not tell.
    """
    found = find_ledger(ledger)
    pins = Pins(
        key=parse_vkey(vkey) if vkey else None,
        genesis=parse_digest(genesis, what="--genesis").hex() if genesis else "",
        since=_read_since(since) if since else None,
    )
    result = verify_ledger(
        found.store, mode="quick" if quick else "full", pins=pins, progress=None if as_json else output.progress_line
    )
    origin = found.config.origin
    if origin and result.checkpoint and result.checkpoint.origin != origin:
        text = f"rungbook.toml says {origin!r}, the checkpoint says {result.checkpoint.origin!r}"
        result.findings.append(Finding.of(ChainError("E_ORIGIN", text, where="checkpoint")))
    with output.unread_is_no_error():
        if as_json:
            output.write_json("verify", _to_json(result))
        else:
            _print(result)
    if result.findings:
        raise typer.Exit(REFUTED)
    if result.unknown:
        raise typer.Exit(UNAVAILABLE)


def _read_since(path: Path) -> bytes:
    """An older checkpoint. A file that is none is a slip of the caller, and nothing against the ledger."""
    raw = read_input(path)
    try:
        parse_checkpoint(raw)
    except MalformedError as err:
        raise err.at(where=str(path)) from err
    return raw


def _verdict(result: Verification) -> str:
    return "refuted" if result.findings else "unknown" if result.unknown else "verified"


def _to_json(result: Verification) -> JsonObject:
    checkpoint = result.checkpoint
    return {
        "verdict": _verdict(result),
        "mode": result.mode,
        "origin": checkpoint.origin if checkpoint else None,
        "tree_size": checkpoint.size if checkpoint else None,
        "root_hash": checkpoint.root.hex() if checkpoint else None,
        "vkey": result.vkey or None,
        "genesis": result.genesis or None,
        "kinds": result.kinds,
        "findings": [_finding_json(item) for item in result.findings],
        "unknown": [_finding_json(item) for item in result.unknown],
        "flags": [_finding_json(item) for item in result.flags],
        "not_checked": result.not_checked,
    }


def _finding_json(item: Finding) -> JsonObject:
    return {
        "code": item.code,
        "class": item.error or None,
        "index": item.index,
        "where": item.where,
        "message": item.message,
    }


def _print(result: Verification) -> None:
    checkpoint = result.checkpoint
    if checkpoint:
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(result.kinds.items()))
        typer.echo(f"ledger   {checkpoint.origin}")
        typer.echo(f"size     {checkpoint.size} receipts" + (f" ({kinds})" if kinds else ""))
        typer.echo(f"root     {checkpoint.root.hex()}")
    if result.genesis:
        typer.echo(f"genesis  {result.genesis}")
    if result.vkey:
        typer.echo(f"key      {result.vkey}")
    _print_findings("REFUTED", result.findings)
    _print_findings("UNKNOWN", result.unknown)
    _print_findings("flag", result.flags)
    if result.findings:
        typer.echo(f"refuted: {len(result.findings)} finding(s)")
    elif result.unknown:
        typer.echo(f"could not tell: {len(result.unknown)} receipt(s) cannot be judged by this release")
    else:
        typer.echo("verified" + (" (quick)" if result.mode == "quick" else ""))
    typer.echo("not checked:")
    for text in result.not_checked:
        typer.echo(f"  - {text}")


_MOST_LINES = 20


def _print_findings(word: str, findings: Sequence[Finding]) -> None:
    for item in findings[:_MOST_LINES]:
        typer.echo(_finding_text(word, item))
    if len(findings) > _MOST_LINES:
        typer.echo(f"{word}  and {len(findings) - _MOST_LINES} more: --json lists them all")


def _finding_text(word: str, item: Finding) -> str:
    place = "ledger" if item.index is None else f"receipt {item.index}"
    where = f" {item.where}" if item.where else ""
    return f"{word}  {place}{where}  {item.code}: {item.message}"
