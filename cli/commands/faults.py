"""``rungbook faults``: what a code means and what to do about it."""

from __future__ import annotations

import difflib
from typing import Annotated

import typer

from cli import output
from cli.options import JsonOption
from cli.status import reports_errors
from ledger.errors import RefusedError
from ledger.ingest.faults import CATALOGUE, FaultCode


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: rungbook faults E_NO_SAMPLES")(faults)


@reports_errors
def faults(
    codes: Annotated[list[str] | None, typer.Argument(metavar="[CODE]...", help="Only these; default: all.")] = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Print what can be wrong with a measurement that is handed in. Codes never change. Needs no ledger."""
    found = [_find(code) for code in codes or CATALOGUE]
    if as_json:
        output.write_json("faults", {"faults": [entry._asdict() for entry in found]})
    elif codes:
        for entry in found:
            typer.echo(f"{entry.code}  {entry.severity}\n  {entry.meaning}\n  to do: {entry.remedy}")
    else:
        rows = [[entry.code, entry.severity, entry.meaning] for entry in found]
        typer.echo(output.table([["code", "severity", "meaning"], *rows]))


def _find(code: str) -> FaultCode:
    entry = CATALOGUE.get(code.upper())
    if entry is None:
        near = ", ".join(difflib.get_close_matches(code.upper(), CATALOGUE, n=3)) or "run rungbook faults for all"
        raise RefusedError(
            "E_CODE",
            f"{code!r} is no code of measurements (of other codes the message says what to do); near it: {near}",
            where="CODE",
        )
    return entry
