"""What would be sealed, in words and as JSON."""

from __future__ import annotations

from fractions import Fraction

import typer

from cli import output
from cli.dry_run import ROUND_JSON, FileReport, RoundReport
from cli.round_words import print_round
from cli.status import remedy_line
from ledger.canonical import JsonObject
from ledger.errors import LedgerError
from ledger.flags import quarantine_codes
from ledger.ingest.adapter import Row
from ledger.ingest.row_notes import name_rows
from ledger.ingest.values import printed_number
from ledger.json_input import NumberText
from ledger.metrics import METRICS
from ledger.scoring.facts import (
    decimal_text,
    exact_text,
    facts_to_json,
    median,
    reading_text,
    record_values,
    round_facts,
)

_SCALARS = (str, int)
_DIGITS = 8
_WIDEST = 100


def print_file(report: FileReport) -> None:
    """A file: its rows with the figure of each from the raw samples, and what does not add up."""
    typer.echo(f"{report.path}: {report.tool or 'unknown'}")
    if report.error:
        _print_refusal(report.error)
        return
    if report.tool == ROUND_JSON:
        return
    rows = [["row", "metric", "context", "samples", "median", "unit", "the tool printed"]]
    for row in report.rows:
        printed = _shorten(", ".join(f"{name} {_rounded(value)}" for name, value in _printed(row).items()))
        context = "not said" if row.context is None else str(row.context)
        for name, samples, middle in _figures(row):
            shown = "-" if middle is None else reading_text(middle)
            label = name + (" (warm-up)" if row.warmup else "")
            rows.append([str(row.number), label, context, str(samples), shown, METRICS[name].unit, printed])
            printed = ""  # once a row
    typer.echo(output.table(rows, right=frozenset({0, 2, 3, 4})))
    numbers: dict[str, list[int]] = {}
    for row in report.rows:
        for note in row.notes:
            numbers.setdefault(note, []).append(row.number)
    for note, found in numbers.items():
        typer.echo(f"  {name_rows(found)}  {note}")


def print_plan(report: RoundReport) -> None:
    """The round of some files: all of it, or what it lacks."""
    typer.echo(f"\nround of {', '.join(path.name for path in report.files)}")
    if report.error:
        _print_refusal(report.error)
    elif report.missing:
        typer.echo("  to seal it, give also")
        for option in report.missing:
            typer.echo(f"    {option}")
        if report.measured:
            typer.echo(f"  measured here, for the slot: {'; '.join(report.measured)}")
    elif report.built:
        print_round(report.built.body, facts_to_json(round_facts(report.built.body)))
        typer.echo("nothing is sealed: rungbook append with the same words and --key FILE does that")


def _rounded(text: str) -> str:
    """A printed number for reading: six significant digits of a fraction; --json has all."""
    number = printed_number(NumberText(text)) if "." in text and len(text) > _DIGITS else None
    return text if number is None else f"{float(number):.6g}"


def _shorten(text: str) -> str:
    return text if len(text) <= _WIDEST else text[:_WIDEST].rpartition(", ")[0] + ", …"


def _print_refusal(error: LedgerError) -> None:
    typer.echo(f"  refused  {error}")
    remedy = remedy_line(error.code)
    if remedy:
        typer.echo(remedy)


def _figures(row: Row) -> list[tuple[str, int, Fraction | None]]:
    """Metric, number of samples and their median, for every metric of a row."""
    found = [(name, record_values(METRICS[name], row.records)) for name in row.metrics]
    return [(name, len(values), median(values) if values else None) for name, values in found]


def _printed(row: Row) -> dict[str, str]:
    """Single figures that the tool printed, as text; lists of samples are not repeated."""
    return {
        name: str(value)
        for name, value in row.reported.items()
        if isinstance(value, _SCALARS) and not isinstance(value, bool)
    }


def file_json(report: FileReport) -> JsonObject:
    """A file, as the schema of ``ingest`` has it."""
    return {
        "file": str(report.path),
        "tool": report.tool or None,
        "error": _error_json(report.error),
        "rows": [_row_json(row) for row in report.rows],
    }


def _row_json(row: Row) -> JsonObject:
    return {
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


def plan_json(report: RoundReport) -> JsonObject:
    """A round, as the schema of ``ingest`` has it."""
    body = report.built.body if report.built else None
    return {
        "files": [str(path) for path in report.files],
        "missing": list(report.missing),
        "error": _error_json(report.error),
        "quarantine": list(quarantine_codes(body)) if body else [],
        "facts": facts_to_json(round_facts(body)) if body else [],
        "round": body,
    }


def _error_json(error: LedgerError | None) -> JsonObject | None:
    return {"code": error.code, "message": error.message, "where": error.where} if error else None
