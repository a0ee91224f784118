"""From measured rows to a round.

Everything that a tool's file says is taken from the file; everything that it cannot say (which code, which weights,
which slot) must be given, and nothing is guessed. All that is missing is named in one error.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

from ledger import canonical
from ledger.errors import RefusedError
from ledger.ingest.checks.notes import Said
from ledger.ingest.checks.requests import fail_empty_answers
from ledger.ingest.companions import attachment_name
from ledger.ingest.faults import Fault, read_note
from ledger.ingest.options import RoundOptions, find_other_workload, read_slot, require_given, settle_starts
from ledger.ingest.parity import add_parity
from ledger.ingest.row_notes import join_notes
from ledger.ingest.words import counted, verb
from ledger.round import without_load

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ledger.canonical import JsonObject
    from ledger.ingest.adapter import Row
    from ledger.ingest.run import Run

_T = TypeVar("_T")
# Prompts of one workload differ by a few tokens from run to run where a template or a filler is in them.
_SAME_CONTEXT = Fraction(2, 100)


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltRound:
    """A round, and what does not add up in it.

    Attributes:
        body: the round.
        faults: what is sealed with it, to be read before it is; a sentence that holds for rows of a file is there once.
        said: what its adapters noted of each row.
    """

    body: JsonObject
    faults: list[Fault]
    said: frozenset[Said] = frozenset()

    @property
    def notes(self) -> list[str]:
        """The faults for people."""
        return [str(fault) for fault in self.faults]


def build_round(runs: Sequence[Run], options: RoundOptions) -> BuiltRound:
    """Make a round of all rows of all runs.

    Raises:
        RefusedError: ``E_MISSING`` naming everything that must be given, ``E_SLOT``, ``E_MIXED`` when runs differ in
            what one round has only once, ``E_COPIED_SAMPLES`` when a row is in two runs, or what
            `ledger.ingest.parity.add_parity` raises.
    """
    require_given(runs, options)
    slot = read_slot(options.slot)
    runs = [_settle(run, slot, options) for run in settle_starts(runs, options)]
    roles = list(dict.fromkeys(run.role for run in runs))
    rows = [row for run in runs for row in run.rows]
    said = _same(rows, lambda row: row.environment, "the node's facts")
    _check_rows_once(runs)
    _check_companions_once(runs)
    _check_workloads(rows)
    harness = _harness(rows)
    body: JsonObject = {
        "purpose": options.purpose,
        "slot": slot,
        "protocol": {"name": options.tool},
        "environment": _join_environment(said, options.environment),
        "weights": {"sha256": options.weights} | _same(rows, lambda row: row.weights, "the weights"),
        "harness": {"sha256": options.harness} | harness,
        "arms": [
            _arm(role, [run for run in runs if run.role == role], options, one_version="version" in harness)
            for role in roles
        ],
        "reps": [fail_empty_answers(_rep(run, row, order)) for order, run in enumerate(runs) for row in run.rows],
        "guards": _guards(rows, slot),
        "reported": [
            {"source": _source(run, row), "values": row.reported} for run in runs for row in run.rows if row.reported
        ],
        "attachments": _attachments(runs),
    }
    if options.attempt > 1:
        body["attempt"] = options.attempt
    body.update(options.extra)
    of_parity = add_parity(body, options.parity)
    digest = hashlib.sha256(canonical.encode(without_load(body))).hexdigest()
    # Faults and load stay out of the digest: who looks again later, and sees more, must not make another round of it.
    body["id"] = options.round_id or f"{options.tool}-{digest[:24]}"
    faults = _faults(runs) + [read_note(note, where) for where, note in of_parity]
    if faults:
        body["faults"] = [fault.to_json() for fault in faults]
    return BuiltRound(body=body, faults=faults, said=_said(runs))


def _settle(run: Run, slot: JsonObject, options: RoundOptions) -> Run:
    """The run with what was given in place of what its rows do not say."""
    return replace(run, rows=[_settle_row(row, slot["context"], options.workload) for row in run.rows])


def _settle_row(row: Row, slot_context: int, workload: JsonObject) -> Row:
    said = row.workload or {}
    for name in said.keys() & workload.keys():
        if said[name] != workload[name]:
            raise RefusedError(
                "E_MIXED", f"the tool says {name} {said[name]!r}, given is {workload[name]!r}", where="--workload"
            )
    if workload or row.workload is None:
        row = replace(row, workload=said | workload)
    if row.context is None:
        return replace(row, context=slot_context)
    if not row.mean_context or not 0 < abs(row.context - slot_context) <= slot_context * _SAME_CONTEXT:
        return row
    note = f"F_CONTEXT_NEAR: {row.context} tokens in context on average, sealed as the slot's {slot_context}"
    return replace(row, context=slot_context, notes=(*row.notes, note))


def _join_environment(said: JsonObject, given: JsonObject) -> JsonObject:
    for name in said.keys() & given.keys():
        if said[name] != given[name]:
            raise RefusedError(
                "E_MIXED", f"the tool says {name} {said[name]!r}, given is {given[name]!r}", where="--environment"
            )
    return said | given


def _same(rows: Sequence[Row], part: Callable[[Row], _T], what: str) -> _T:
    first = part(rows[0])
    for row in rows:
        if part(row) != first:
            raise RefusedError("E_MIXED", f"{what} differ between rows of one round: {_apart(first, part(row))}")
    return first


def _apart(one: object, other: object) -> str:
    """In what two parts of rows differ, in words."""
    if not isinstance(one, dict) or not isinstance(other, dict):
        return f"{one!r} and {other!r}"
    names = sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))
    shown = [f"{name} is {one.get(name, 'not said')!r} and {other.get(name, 'not said')!r}" for name in names[:3]]
    return ", ".join(shown) + (f", and {len(names) - 3} more" if names[3:] else "")


def _check_rows_once(runs: Sequence[Run]) -> None:
    """A row is one measurement: it cannot be a run of two arms, or two runs of one."""
    seen: dict[tuple[str, bytes, int], str] = {}
    for run in runs:
        own = {(run.name, run.raw, row.number): run.role for row in run.rows}
        for name, raw, number in own.keys() & seen.keys():
            raise RefusedError(
                "E_COPIED_SAMPLES",
                f"row {number} of {name} is given twice, for {seen[name, raw, number]} and {run.role}; "
                "select rows with --row",
                where="--arm",
            )
        seen |= own


def _check_companions_once(runs: Sequence[Run]) -> None:
    """Two files that name the same samples are of one measurement."""
    seen: dict[bytes, Run] = {}
    for run in runs:
        for name, contents in run.companions.items():
            other = seen.setdefault(contents, run) if contents else run
            if other.raw != run.raw:
                raise RefusedError(
                    "E_COPIED_SAMPLES", f"{run.name} and {other.name} have the same samples, in {name}", where="--arm"
                )


def _check_workloads(rows: Sequence[Row]) -> None:
    """What meets in one fact must have measured the same: 16 tokens are not generated at the rate of 4096."""
    found = find_other_workload(rows)
    if found:
        metric, one, other = found
        raise RefusedError(
            "E_MIXED",
            f"{metric} at context {one.context} was measured with other workloads: {one.workload} and "
            f"{other.workload}; one round has one",
        )


def _harness(rows: Sequence[Row]) -> JsonObject:
    """The tool, with its version where all rows have the same: a tool that is built with an engine has one per arm."""
    harness: JsonObject = {"name": _same(rows, lambda row: row.harness["name"], "the tools")}
    versions = {row.harness.get("version") for row in rows}
    version = versions.pop() if len(versions) == 1 else None
    return harness | ({"version": version} if version else {})


def _arm(role: str, runs: Sequence[Run], options: RoundOptions, *, one_version: bool) -> JsonObject:
    rows = [row for run in runs for row in run.rows]
    settings = _same(rows, lambda row: row.settings, f"the settings of the arm {role}")
    version = _same(rows, lambda row: row.harness.get("version"), f"the versions of the tool in the arm {role}")
    if version and not one_version:
        settings = settings | {"harness_version": version}
    arm: JsonObject = {
        "role": role,
        "code_sha256": _code(role, rows, options.code.get(role)),
        "settings": settings,
    }
    commit = options.commits.get(role) or _same(rows, lambda row: row.commit, f"the commits of the arm {role}")
    return arm | ({"commit": commit} if commit else {})


def _code(role: str, rows: Sequence[Row], given: str | None) -> str:
    """Digest of the code of an arm: as the tool says it, which nothing that is given may contradict."""
    for row in rows:
        said = row.code_sha256 or given
        if given and said != given:
            raise RefusedError("E_MIXED", f"the tool says the code {said}, given is {given}", where=f"--code {role}")
    codes = _same(rows, lambda row: row.code_sha256 or given, f"the code of the arm {role}")
    return codes or ""


def _rep(run: Run, row: Row, order: int) -> JsonObject:
    return {
        "arm": run.role,
        "order": order,
        "started_at": row.started_at,
        "warmup": row.warmup,
        "wall_ns": row.wall_ns,
        "metrics": list(row.metrics),
        "context": row.context,
        "workload": row.workload,
        "records": row.records,
        "source": _source(run, row),
    }


def _source(run: Run, row: Row) -> JsonObject:
    return {"attachment": run.name, "row": row.number}


def _guards(rows: Sequence[Row], slot: JsonObject) -> list[JsonObject]:
    """Everything else that was measured here guards the slot: a gain there must not be paid for elsewhere."""
    pairs = {(metric, row.context) for row in rows if not row.warmup for metric in row.metrics}
    pairs.discard((slot["metric"], slot["context"]))
    return [{"metric": metric, "context": context} for metric, context in sorted(pairs)]


def _attachments(runs: Sequence[Run]) -> list[JsonObject]:
    files = dict.fromkeys((run.name, run.raw) for run in runs)  # one file may hold runs of several arms
    files |= dict.fromkeys((attachment_name(name), raw) for run in runs for name, raw in run.companions.items())
    return [{"name": name, "sha256": hashlib.sha256(raw).hexdigest(), "size": len(raw)} for name, raw in files]


def _said(runs: Sequence[Run]) -> frozenset[Said]:
    return frozenset(
        Said(run.name, row.number, read_note(note).code) for run in runs for row in run.rows for note in row.notes
    )


def _faults(runs: Sequence[Run]) -> list[Fault]:
    faults = join_notes((run.name, run.raw, row) for run in runs for row in run.rows)
    faults += [
        Fault(
            "F_ROWS_LEFT",
            f"{counted(run.left_out, 'row')} of {run.name} {verb(run.left_out, 'is', 'are')} left out of the arm "
            f"{run.role}",
        )
        for run in runs
        if run.left_out
    ]
    for before, after in pairwise(runs):
        if after.rows[0].started_at < before.rows[0].started_at:
            message = (
                f"{after.name} is given after {before.name} but started before it ({after.rows[0].started_at}); "
                "give the files in the order in which they ran"
            )
            faults.append(Fault("F_ORDER_TIME", message))
    return faults
