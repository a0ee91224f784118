"""From measured rows to a round.

Everything that a tool's file says is taken from the file; everything that it cannot say (which code, which weights,
which slot) must be given, and nothing is guessed. All that is missing is named in one error.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

from ledger import canonical
from ledger.errors import RefusedError
from ledger.metrics import METRICS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from ledger.canonical import JsonObject
    from ledger.ingest.adapter import Row

SLOT_AXES = ("project", "node", "quant", "context", "metric")
ROLES = ("main", "candidate", "reference")

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One file, or some rows of it: one run of one arm. The order of the runs is their order in time.

    Attributes:
        role: of the arm.
        name: of the file.
        raw: its bytes.
        rows: rows that belong to the run.
        left_out: number of rows of the file that do not.
    """

    role: str
    name: str
    raw: bytes
    rows: Sequence[Row]
    left_out: int = 0

    def select(self, numbers: Collection[int]) -> Run:
        """The run of some rows only.

        Raises:
            RefusedError: ``E_ROW``: there is none of such a number.
        """
        unknown = sorted(set(numbers) - {row.number for row in self.rows})
        if unknown:
            found = ", ".join(str(row.number) for row in self.rows)
            raise RefusedError("E_ROW", f"{self.name} has no row {unknown[0]}; it has {found}", where="--row")
        rows = [row for row in self.rows if row.number in numbers]
        return replace(self, rows=rows, left_out=len(self.rows) - len(rows))


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundOptions:
    """What the files do not say.

    Attributes:
        tool: name of the tool.
        slot: axes as text, by name; see `SLOT_AXES`.
        code: SHA-256 (hex) of the measured code, by role.
        weights: SHA-256 (hex) of the weights.
        harness: SHA-256 (hex) of the tool.
        environment: facts of the node, as the schema's ``environment``, beside those that the tool says.
        round_id: id of the round; by default derived from its contents, so that a repetition is the same round.
        purpose: ``score``, ``noise`` or ``reference``.
        commits: commit of an arm, by role, in place of what the tool says.
        extra: further members of the round, such as ``parity`` or ``overrides``.
    """

    tool: str
    slot: Mapping[str, str]
    code: Mapping[str, str]
    weights: str = ""
    harness: str = ""
    environment: JsonObject = field(default_factory=dict)
    round_id: str = ""
    purpose: str = "score"
    commits: Mapping[str, str] = field(default_factory=dict)
    extra: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltRound:
    """A round, and what deserves a look before it is sealed."""

    body: JsonObject
    notes: list[str]


def build_round(runs: Sequence[Run], options: RoundOptions) -> BuiltRound:
    """Make a round of all rows of all runs.

    Raises:
        RefusedError: ``E_MISSING`` naming everything that must be given, ``E_SLOT``, ``E_MIXED`` when runs differ in
            what one round has only once, or ``E_COPIED_SAMPLES`` when a row is in two runs.
    """
    roles = list(dict.fromkeys(run.role for run in runs))
    rows = [row for run in runs for row in run.rows]
    said = _same(rows, lambda row: row.environment, "the node's facts")
    _require_given(roles, options, said)
    _check_rows_once(runs)
    _check_workloads(rows)
    slot = read_slot(options.slot)
    body: JsonObject = {
        "purpose": options.purpose,
        "slot": slot,
        "protocol": {"name": options.tool},
        "environment": _join_environment(said, options.environment),
        "weights": {"sha256": options.weights} | _same(rows, lambda row: row.weights, "the weights"),
        "harness": {"sha256": options.harness} | _same(rows, lambda row: row.harness, "the tool's version"),
        "arms": [_arm(role, [run for run in runs if run.role == role], options) for role in roles],
        "reps": [_rep(run, row, order) for order, run in enumerate(runs) for row in run.rows],
        "guards": _guards(rows, slot),
        "reported": [
            {"source": _source(run, row), "values": row.reported} for run in runs for row in run.rows if row.reported
        ],
        "attachments": _attachments(runs),
    }
    body.update(options.extra)
    digest = hashlib.sha256(canonical.encode(body)).hexdigest()
    body["id"] = options.round_id or f"{options.tool}-{digest[:24]}"
    return BuiltRound(body=body, notes=_notes(runs))


def read_slot(axes: Mapping[str, str]) -> JsonObject:
    """A slot from text.

    Raises:
        RefusedError: ``E_SLOT`` naming the axis.
    """
    missing = [axis for axis in SLOT_AXES if not axes.get(axis)]
    if missing:
        raise RefusedError("E_SLOT", f"the slot lacks {', '.join(missing)}", where="--slot")
    context = axes["context"]
    if not (context.isascii() and context.isdecimal()) or context != str(int(context)):
        raise RefusedError("E_SLOT", f"context is a number of tokens, found {context!r}", where="--slot")
    if axes["metric"] not in METRICS:
        raise RefusedError(
            "E_SLOT", f"there is no metric {axes['metric']!r}; known: {', '.join(sorted(METRICS))}", where="--slot"
        )
    return {**{axis: axes[axis] for axis in ("project", "node", "quant", "metric")}, "context": int(context)}


def _join_environment(said: JsonObject, given: JsonObject) -> JsonObject:
    for name in said.keys() & given.keys():
        if said[name] != given[name]:
            raise RefusedError(
                "E_MIXED", f"the tool says {name} {said[name]!r}, given is {given[name]!r}", where="--environment"
            )
    return said | given


def _require_given(roles: list[str], options: RoundOptions, environment: JsonObject) -> None:
    for role in roles:
        if role not in ROLES:
            raise RefusedError("E_ARM", f"there is no arm {role!r}; known: {', '.join(ROLES)}", where="--arm")
    missing = [f"--slot {axis}=…" for axis in SLOT_AXES if not options.slot.get(axis)]
    missing += [f"--code {role}=…" for role in roles if role not in options.code]
    missing += ["--weights …"] if not options.weights else []
    missing += ["--harness …"] if not options.harness else []
    missing += ["--environment gpu=…"] if not environment and not options.environment else []
    if missing:
        raise RefusedError(
            "E_MISSING",
            f"{options.tool} does not say everything a round needs; give {', '.join(missing)} "
            "(digests as SHA-256, or as a path to compute them from)",
        )


def _same(rows: Sequence[Row], part: Callable[[Row], _T], what: str) -> _T:
    first = part(rows[0])
    for row in rows:
        if part(row) != first:
            raise RefusedError("E_MIXED", f"{what} differ between runs of one round: {first!r} and {part(row)!r}")
    return first


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


def _check_workloads(rows: Sequence[Row]) -> None:
    """What meets in one fact must have measured the same: 16 tokens are not generated at the rate of 4096."""
    first: dict[tuple[str, int], JsonObject] = {}
    for row in rows:
        for metric in row.metrics if not row.warmup else ():
            workload = first.setdefault((metric, row.context), row.workload)
            if workload != row.workload:
                raise RefusedError(
                    "E_MIXED",
                    f"{metric} at context {row.context} was measured with other workloads: {workload} and "
                    f"{row.workload}; one round has one",
                )


def _arm(role: str, runs: Sequence[Run], options: RoundOptions) -> JsonObject:
    rows = [row for run in runs for row in run.rows]
    arm: JsonObject = {
        "role": role,
        "code_sha256": options.code[role],
        "settings": _same(rows, lambda row: row.settings, f"the settings of the arm {role}"),
    }
    commit = options.commits.get(role) or _same(rows, lambda row: row.commit, f"the commits of the arm {role}")
    return arm | ({"commit": commit} if commit else {})


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
    return [{"name": name, "sha256": hashlib.sha256(raw).hexdigest(), "size": len(raw)} for name, raw in files]


def _notes(runs: Sequence[Run]) -> list[str]:
    notes = [f"{run.name}, row {row.number}: {note}" for run in runs for row in run.rows for note in row.notes]
    notes += [
        f"F_ROWS_LEFT: {run.left_out} rows of {run.name} are left out of the arm {run.role}"
        for run in runs
        if run.left_out
    ]
    for before, after in pairwise(runs):
        if after.rows[0].started_at < before.rows[0].started_at:
            notes.append(
                f"F_ORDER_TIME: {after.name} is given after {before.name} but started before it "
                f"({after.rows[0].started_at}); give the files in the order in which they ran"
            )
    return notes
