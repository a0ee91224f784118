"""TandemLLM's report of row runs, ``results/row3/LABEL.json``, with the records that it names.

The report has statistics alone. Its runs are read from the runner's records, and their rounds from the parts of the
server's log beside them (``server-slice-TAG.log``), where these were kept; then every statistic is worked out again.
A row is a run; all runs are of one workload and are sealed at the mean context of all of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from ledger.errors import MalformedError
from ledger.ingest.companions import Companion, missing
from ledger.ingest.direction import read_tool_json
from ledger.ingest.plain_text import as_plain_text, flatten
from ledger.ingest.tandem.copies import refuse_copies, refuse_same_paths
from ledger.ingest.tandem.flags import mean_prompt, prompt_notes, record_notes
from ledger.ingest.tandem.log import RunLog, read_log
from ledger.ingest.tandem.printed import check_printed
from ledger.ingest.tandem.record import METRICS, record_rows
from ledger.ingest.tandem.report_flags import report_notes, run_notes, tied_code
from ledger.ingest.tandem.requests import Record, read_record
from ledger.ingest.tandem.statistics import (
    check_accepted,
    check_curve,
    check_first_miss,
    check_statistics,
    join_accepted,
    round_statistics,
    run_statistics,
    summarise,
)
from ledger.ingest.values import as_label, as_object, as_text, look

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from fractions import Fraction

    from ledger.canonical import JsonObject
    from ledger.ingest.adapter import Row
    from ledger.ingest.tandem.log import Rounds

ROUND_METRICS = ("tokens_per_round", "ms_per_round")

_NO_SETTINGS = ("label", "git_head", "code_sha256", "taken", "runs", "summary", "accept_curve", "first_miss")
_NAMES_OF_A_RUN = ("label", "out_dir", "login")
"""Options that name a report and its author: two reports of one arm differ in them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportRun:
    """A run of a report.

    Attributes:
        tag: its name.
        path: of its record, as the report names it.
        printed: what the report printed about it.
        record: the runner's record.
        log: what the server's log says of it; none when it was not kept.
        statistics: every statistic of the report that can be worked out, by its name.
    """

    tag: str
    path: str
    printed: JsonObject
    record: Record
    log: RunLog | None
    statistics: Mapping[str, Fraction]

    @property
    def rounds(self) -> list[Rounds | None]:
        """Rounds of every measured request, where the log has them."""
        found = self.log.by_request if self.log else {}
        return [found.get(sample.request.at) for sample in self.record.iterations[0].samples]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A report whose statistics are those of its samples.

    Attributes:
        body: the whole of it.
        label: its name.
        runs: in time order.
    """

    body: JsonObject
    label: str
    runs: tuple[ReportRun, ...]

    @property
    def context(self) -> int | None:
        """Mean length of all prompts; none when no length is known."""
        found = mean_prompt(sample for run in self.runs for sample in run.record.iterations[0].samples)
        return None if found is None else round(found)


class TandemReport:
    """The adapter (see `ledger.ingest.adapter.Adapter` and `ledger.ingest.companions.ReadsCompanions`)."""

    name = "tandem-report"
    about = "a row3 report of TandemLLM, beside the records that it names"

    def recognises(self, raw: bytes) -> bool:
        """See `Adapter`."""
        return raw.lstrip()[:1] == b"{" and b'"restart_each"' in raw and b'"bench_wall_s"' in raw

    def companions(self, raw: bytes, what: str) -> list[Companion]:
        """See `ReadsCompanions`."""
        runs = _read_runs(_read_body(raw, what), what)
        found = [Companion(name=path, needed=True) for path, _, _ in runs]
        return found + [Companion(name=_log_name(path, tag), needed=False) for path, tag, _ in runs]

    def read(self, raw: bytes, what: str) -> list[Row]:
        """See `Adapter`: without its records a report has no samples, and is refused."""
        return self.read_with(raw, {}, what)

    def read_with(self, raw: bytes, files: Mapping[str, bytes], what: str) -> list[Row]:
        """See `ReadsCompanions`. Rows are the runs, and after them their warm-ups."""
        report = read_report(raw, files, what)
        records, context = [run.record for run in report.runs], report.context
        # What holds for the whole report is said of each run, which the caller may select alone.
        notes = [*prompt_notes(records), *report_notes(report.body, records, what)]
        rows = [
            replace(row, context=context, notes=(*row.notes, *notes))
            for row in (_row(report, at, what) for at in range(len(report.runs)))
        ]
        return rows + [row for at in range(len(report.runs)) for row in _warm_ups(report, rows, at)]


def read_report(raw: bytes, files: Mapping[str, bytes], what: str) -> Report:
    """Read a report and the records that it names, and hold each of its statistics against them.

    Args:
        raw: its bytes.
        files: contents of its companions, by their names.
        what: its name, for errors.

    Raises:
        MalformedError: what `ledger.ingest.tandem.requests.read_record` raises, ``E_COMPANION``, ``E_COPIED_SAMPLES``,
            ``E_ITERATIONS`` or ``E_REPORTED_MISMATCH``.
    """
    body = _read_body(raw, what)
    listed = _read_runs(body, what)
    runs = tuple(
        _read_run(path, tag, printed, files, f"{what}/runs/{at}") for at, (path, tag, printed) in enumerate(listed)
    )
    refuse_copies([run.record for run in runs], what)
    report = Report(body=body, label=as_text(look(body, "label", what), f"{what}/label"), runs=runs)
    _check_summary(report, what)
    return report


# The report's own members.


def _read_body(raw: bytes, what: str) -> JsonObject:
    return as_object(read_tool_json(raw, what), what)


def _read_runs(body: JsonObject, what: str) -> list[tuple[str, str, JsonObject]]:
    """Path of the record, tag and statistics of each run."""
    listed = look(body, "runs", what)
    if not isinstance(listed, list) or not listed:
        raise MalformedError("E_EMPTY_RESULTS", "there is no run in the report", where=f"{what}/runs")
    found = []
    for at, item in enumerate(listed):
        where = f"{what}/runs/{at}"
        run = as_object(item, where)
        path = as_text(look(run, "record", where), f"{where}/record")
        tag = as_label(look(run, "tag", where), f"{where}/tag")
        as_label(path.lstrip("./"), f"{where}/record")
        found.append((path, tag, run))
    refuse_same_paths([path for path, _, _ in found], what)
    return found


def _log_name(path: str, tag: str) -> str:
    """Where the part of the server's log of a run lies: beside the folder of its record."""
    return str(PurePosixPath(path).parent.parent / f"server-slice-{tag}.log")


def _read_run(path: str, tag: str, printed: JsonObject, files: Mapping[str, bytes], where: str) -> ReportRun:
    if path not in files:
        raise missing(path, where)
    record = read_record(files[path], path)
    check_printed(record, path)
    if len(record.iterations) > 1:
        raise MalformedError(
            "E_ITERATIONS", "the report pools the iterations of a record, which are runs of their own", where=where
        )
    log_name = _log_name(path, tag)
    log = read_log(files[log_name], record, log_name) if log_name in files else None
    run = ReportRun(tag=tag, path=path, printed=printed, record=record, log=log, statistics={})
    rounds = run.rounds
    told = [each for each in rounds if each is not None]
    statistics = run_statistics(record.iterations[0])
    # Rounds of some answers only are not those that the report is about.
    if log and told and not log.fault:
        statistics |= round_statistics(told)
        check_accepted(printed.get("accept"), join_accepted(told), f"{where}/accept")
    check_statistics(printed, statistics, where)
    return replace(run, statistics=statistics)


def _check_summary(report: Report, what: str) -> None:
    summary = as_object(report.body.get("summary") or {}, f"{what}/summary")
    common = set.intersection(*(set(run.statistics) for run in report.runs))
    for name in common & summary.keys():
        printed = as_object(summary[name], f"{what}/summary/{name}")
        exact = summarise([run.statistics[name] for run in report.runs])
        check_statistics(printed, exact, f"{what}/summary/{name}")
    if "blocks" in common:
        accepted = join_accepted(each for run in report.runs for each in run.rounds if each is not None)
        check_curve(report.body.get("accept_curve"), accepted, f"{what}/accept_curve")
        check_first_miss(report.body.get("first_miss"), accepted, f"{what}/first_miss")


# Rows.


def _row(report: Report, at: int, what: str) -> Row:
    run = report.runs[at]
    row = record_rows(run.record, run.path)[0]
    rounds = run.rounds
    records, metrics = dict(row.records), list(METRICS)
    if any(rounds):
        records["rounds"] = [each.blocks if each else None for each in rounds]
        records["decode_ns"] = [each.decode_ns if each else None for each in rounds]
        metrics += ROUND_METRICS
    commit = report.body.get("git_head")
    return replace(
        row,
        number=at,
        metrics=tuple(metrics),
        records=records,
        reported=_reported(report, run, first=at == 0),
        settings=_settings(report.body, row.settings, what),
        harness={"name": "row3"} | ({"version": _version(row.harness)} if row.harness else {}),
        commit=as_label(commit, f"{what}/git_head") if commit else row.commit,
        code_sha256=tied_code(report.body, what),
        notes=(*record_notes(run.record), *run_notes(run)),
    )


def _warm_ups(report: Report, rows: Sequence[Row], at: int) -> list[Row]:
    """The warm-ups of a run, as one row behind those of all runs."""
    run, row = report.runs[at], rows[at]
    warm = [each for each in record_rows(run.record, run.path) if each.warmup]
    return [
        replace(
            row,
            number=len(rows) + at,
            metrics=each.metrics,
            records=each.records,
            wall_ns=each.wall_ns,
            reported={},
            notes=(),
            warmup=True,
        )
        for each in warm
    ]


def _version(harness: JsonObject) -> str:
    return " ".join(str(harness[name]) for name in ("name", "version") if name in harness)


def _reported(report: Report, run: ReportRun, *, first: bool) -> JsonObject:
    printed: JsonObject = {name: as_plain_text(value) for name, value in run.printed.items() if value is not None}
    if first:
        printed["label"] = report.label
        for name, value in report.body.items():
            if name in {"summary", "accept_curve", "first_miss", "taken"}:
                printed[name] = as_plain_text(value)
    return printed


def _settings(body: JsonObject, record: Mapping[str, str], what: str) -> dict[str, str]:
    """Those of the report as it names them, and those of its records behind ``record.``."""
    options = as_object(body.get("args") or {}, f"{what}/args")
    found = flatten(options, f"{what}/args", prefix="args.", skip=_NAMES_OF_A_RUN)
    found |= flatten(body, what, skip=(*_NO_SETTINGS, "args"))
    return found | {f"record.{name}": value for name, value in record.items()}
