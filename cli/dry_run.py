"""What would be sealed of some files, worked out without sealing it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cli.context import Config
from cli.inputs import build_checked, is_round_json, read_round
from cli.tool_files import ToolFile, join_runs, read_run, round_options
from cli.tool_options import ToolOptions
from ledger.errors import LedgerError, MalformedError, RefusedError
from ledger.ingest.adapter import Row
from ledger.ingest.build import BuiltRound
from ledger.ingest.options import find_missing, find_mixed
from ledger.ingest.run import Run

ROUND_JSON = "rungbook"
"""What stands for a tool where a file is a round already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileReport:
    """What came of a file: its run, or why it is refused. A file of round JSON has neither."""

    path: Path
    tool: str
    run: Run | None = None
    error: LedgerError | None = None

    @property
    def rows(self) -> Sequence[Row]:
        """Its rows."""
        return self.run.rows if self.run else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundReport:
    """The round that some files would be: it, or what is missing (and what may be its slot), or why it is refused."""

    files: Sequence[Path]
    built: BuiltRound | None = None
    missing: Sequence[str] = field(default=())
    measured: Sequence[str] = field(default=())
    error: LedgerError | None = None


def read_files(files: Sequence[ToolFile], options: ToolOptions) -> list[FileReport]:
    """Read every file by itself.

    Raises:
        RefusedError: ``E_TOOL``: a mistake on the command line, not in a file.
        StorageError: a file cannot be read.
    """
    return [_read_file(file, options) for file in files]


def _read_file(file: ToolFile, options: ToolOptions) -> FileReport:
    if not options.tool and is_round_json(file.path):
        return FileReport(path=file.path, tool=ROUND_JSON)
    try:
        tool, run = read_run(file, options)
    except (MalformedError, RefusedError) as err:
        if err.code == "E_TOOL":
            raise
        return FileReport(path=file.path, tool=options.tool, error=err)
    return FileReport(path=file.path, tool=tool, run=run)


def plan_rounds(reports: Sequence[FileReport], options: ToolOptions, config: Config) -> list[RoundReport]:
    """The rounds that these files would be. One that is refused gives none, and neither do those beside it."""
    found = [_plan_json(report.path) for report in reports if report.tool == ROUND_JSON]
    ours = [report for report in reports if report.tool != ROUND_JSON]
    groups = [[report] for report in ours] if options.each else [ours] if ours else []
    return found + [_plan(group, options, config) for group in groups if all(report.run for report in group)]


def _plan_json(path: Path) -> RoundReport:
    try:
        return RoundReport(files=[path], built=read_round(path))
    except (MalformedError, RefusedError) as err:
        return RoundReport(files=[path], error=err)


def _plan(reports: Sequence[FileReport], options: ToolOptions, config: Config) -> RoundReport:
    files = [report.path for report in reports]
    try:
        read = join_runs([(report.tool, report.run) for report in reports if report.run], options)
        missing = find_missing(read.runs, round_options(read, options, config))
        missing += [f"--row {role}=… (rows of one workload with the same settings)" for role in find_mixed(read.runs)]
        if missing:
            return RoundReport(files=files, missing=missing, measured=_measured(read.runs))
        return RoundReport(files=files, built=build_checked(read, options, config))
    except (MalformedError, RefusedError) as err:
        return RoundReport(files=files, error=err)


def _measured(runs: Sequence[Run]) -> list[str]:
    """Metrics and contexts in the runs, as axes of a slot."""
    rows = [row for run in runs for row in run.rows if not row.warmup]
    found = [
        f"metric={metric}" + ("" if row.context is None else f",context={row.context}")
        for row in rows
        for metric in row.metrics
    ]
    return list(dict.fromkeys(found))
