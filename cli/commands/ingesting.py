"""``rungbook ingest``: what a tool's file holds, before anything of it is sealed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer

from cli import output
from cli.context import read_input
from cli.inputs import read_tool_file
from cli.options import JsonOption
from cli.status import REFUSED, reports_errors
from ledger.canonical import JsonObject
from ledger.errors import LedgerError, MalformedError, RefusedError
from ledger.ingest import ADAPTERS, find_adapter, recognise
from ledger.ingest.adapter import Row
from ledger.ingest.faults import CATALOGUE
from ledger.metrics import METRICS
from ledger.scoring.facts import decimal_text, exact_text, median, reading_text, record_values

_SCALARS = (str, int)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: rungbook ingest result.json")(ingest)


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    """What came of a file: its rows, or why it is refused."""

    name: str
    tool: str
    rows: Sequence[Row]
    error: LedgerError | None


@reports_errors
def ingest(
    files: Annotated[list[Path] | None, typer.Argument(metavar="[FILE]...", help="Output of benchmark tools.")] = None,
    *,
    tool: Annotated[
        str, typer.Option("--from", metavar="TOOL", help="The tool that wrote them; default: as they look.")
    ] = "",
    list_tools: Annotated[bool, typer.Option("--list", help="List the tools whose output is read.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Show what tools' files hold: every row with its figure from the raw samples, and every fault. Writes nothing.

    Status 5 when a file would be refused. Needs no ledger.
    """
    if list_tools == bool(files):
        raise RefusedError("E_OPTION", "give files, or --list", where="--list")
    read = [_read(path, tool) for path in files or []]
    if as_json:
        output.write_json(
            "ingest",
            {
                "tools": [{"tool": adapter.name, "about": adapter.about} for adapter in ADAPTERS.values()],
                "files": [_file_json(file) for file in read],
            },
        )
    elif list_tools:
        rows = [["tool", "reads"], *([adapter.name, adapter.about] for adapter in ADAPTERS.values())]
        typer.echo(output.table(rows))
    for file in read if not as_json else ():
        _print_file(file)
    if any(file.error for file in read):
        raise typer.Exit(REFUSED)


def _read(path: Path, tool: str) -> _File:
    raw, found = read_input(path), tool
    try:
        adapter = find_adapter(tool) if tool else recognise(raw, str(path))
        found = adapter.name
        return _File(name=str(path), tool=found, rows=read_tool_file(path, raw, adapter).rows, error=None)
    except (MalformedError, RefusedError) as err:
        if err.code == "E_TOOL":
            raise
        return _File(name=str(path), tool=found, rows=(), error=err)


def _figures(row: Row) -> list[tuple[str, int, Fraction | None]]:
    """Metric, number of samples and their median, for every metric of a row."""
    found = [(name, record_values(METRICS[name], row.records)) for name in row.metrics]
    return [(name, len(values), median(values) if values else None) for name, values in found]


def _file_json(file: _File) -> JsonObject:
    error = file.error
    return {
        "file": file.name,
        "tool": file.tool or None,
        "error": {"code": error.code, "message": error.message, "where": error.where} if error else None,
        "rows": [
            {
                "row": row.number,
                "context": row.context,
                "warmup": row.warmup,
                "workload": row.workload,
                "figures": [
                    {
                        "metric": name,
                        "unit": METRICS[name].unit,
                        "samples": samples,
                        "median": None if middle is None else decimal_text(middle),
                        "median_exact": None if middle is None else exact_text(middle),
                    }
                    for name, samples, middle in _figures(row)
                ],
                "reported": _printed(row),
                "notes": list(row.notes),
            }
            for row in file.rows
        ],
    }


def _printed(row: Row) -> dict[str, str]:
    """Single figures that the tool printed, as text; lists of samples are not repeated."""
    return {
        name: str(value)
        for name, value in row.reported.items()
        if isinstance(value, _SCALARS) and not isinstance(value, bool)
    }


def _print_file(file: _File) -> None:
    typer.echo(f"{file.name}: {file.tool or 'unknown'}")
    if file.error:
        typer.echo(f"  refused  {file.error}")
        entry = CATALOGUE.get(file.error.code)
        if entry:
            typer.echo(f"  to do    {entry.remedy}")
        return
    rows = [["row", "metric", "context", "samples", "median", "unit", "the tool printed"]]
    for row in file.rows:
        printed = ", ".join(f"{name} {value}" for name, value in _printed(row).items())
        for name, samples, middle in _figures(row):
            shown = "-" if middle is None else reading_text(middle)
            label = name + (" (warm-up)" if row.warmup else "")
            cells = [
                label,
                "-" if row.context is None else str(row.context),
                str(samples),
                shown,
                METRICS[name].unit,
                printed,
            ]
            rows.append([str(row.number), *cells])
    typer.echo(output.table(rows, right=frozenset({0, 2, 3, 4})))
    for row in file.rows:
        for note in row.notes:
            typer.echo(f"  row {row.number}  {note}")
