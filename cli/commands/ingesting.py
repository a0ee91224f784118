"""``rungbook ingest``: what would be sealed of tools' files, before anything is."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from cli import output
from cli.context import Config, find_ledger
from cli.dry_run import plan_rounds, read_files
from cli.dry_run_output import file_json, plan_json, print_file, print_plan
from cli.options import JsonOption, LedgerOption
from cli.status import REFUSED, reports_errors
from cli.tool_files import name_files
from cli.tool_options import ToolOptions, takes_tool_options
from ledger.errors import RefusedError, StorageError
from ledger.ingest import ADAPTERS


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: rungbook ingest result.json")(ingest)


@reports_errors
@takes_tool_options
def ingest(
    files: Annotated[list[Path] | None, typer.Argument(metavar="[FILE]...", help="Output of benchmark tools.")] = None,
    *,
    options: ToolOptions,
    list_tools: Annotated[bool, typer.Option("--list", help="List the tools whose output is read.")] = False,
    ledger: LedgerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what would be sealed, and seal nothing: every row with its figure from the raw samples, and every fault.

    Takes the options of append, says which are missing, and shows the round when none is. Status 5 when a file or the
    round would be refused. Needs no ledger; in one, it takes the ledger's defaults.
    """
    named = name_files(files or [], options)
    if list_tools == bool(named):
        raise RefusedError("E_OPTION", "give files, or --list", where="--list")
    reports = read_files(named, options)
    plans = plan_rounds(reports, options, _config(ledger))
    if as_json:
        output.write_json(
            "ingest",
            {
                "tools": [{"tool": adapter.name, "about": adapter.about} for adapter in ADAPTERS.values()],
                "files": [file_json(report) for report in reports],
                "rounds": [plan_json(plan) for plan in plans],
            },
        )
    elif list_tools:
        rows = [["tool", "reads"], *([adapter.name, adapter.about] for adapter in ADAPTERS.values())]
        typer.echo(output.table(rows))
    else:
        for report in reports:
            print_file(report)
        for plan in plans:
            print_plan(plan)
    if any(report.error for report in reports) or any(plan.error for plan in plans):
        raise typer.Exit(REFUSED)


def _config(ledger: Path | None) -> Config:
    """Defaults of the ledger that is here; none without one, unless it was named."""
    if ledger is not None:
        return find_ledger(ledger).config
    with suppress(StorageError):
        return find_ledger(None).config
    return Config()
