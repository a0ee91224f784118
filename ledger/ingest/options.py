"""What the files of a tool do not say and the caller must: the options of a round.

Nothing is guessed, an empty text is nothing, and all that is missing is named in one error.
"""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ledger.canonical import MAX_INT
from ledger.errors import RefusedError
from ledger.metrics import METRICS
from ledger.strict import format_time

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ledger.canonical import JsonObject
    from ledger.ingest.adapter import Row
    from ledger.ingest.parity import ParityFile
    from ledger.ingest.run import Run

SLOT_AXES = ("project", "node", "quant", "context", "metric")
ROLES = ("main", "candidate", "reference")

_LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,199}", re.ASCII)
_TOKENS = re.compile("0|[1-9][0-9]{0,15}", re.ASCII)
_SHOWN = 80
_ZONE = re.compile(r"(?P<sign>[+-])(?P<hours>[01]\d|2[0-3]):(?P<minutes>[0-5]\d)", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundOptions:
    """What the files do not say.

    Attributes:
        tool: name of the tool.
        slot: axes as text, by name; see `SLOT_AXES`.
        code: SHA-256 (hex) of the measured code, by role, where the tool does not say it.
        weights: SHA-256 (hex) of the weights.
        harness: SHA-256 (hex) of the tool.
        environment: facts of the node, as the schema's ``environment``, beside those that the tool says.
        round_id: id of the round; by default derived from its contents, so that a repetition is the same round.
        attempt: which attempt at the round this is; a later one needs `round_id`.
        purpose: ``score``, ``noise`` or ``reference``.
        commits: commit of an arm, by role, in place of what the tool says.
        started_at: starts of the runs of an arm in their order, RFC 3339 UTC, by role, where the tool says none.
        zone: offset from UTC of the node's local time (``+HH:MM``), where the tool prints a time without one.
        workload: members of the schema's ``workload`` beside those that the tool says.
        extra: further members of the round, such as ``parity`` or ``overrides``.
        parity: what a tool printed of the accuracy of arms; not beside ``parity`` in `extra`.
    """

    tool: str
    slot: Mapping[str, str]
    code: Mapping[str, str]
    weights: str = ""
    harness: str = ""
    environment: JsonObject = field(default_factory=dict)
    round_id: str = ""
    attempt: int = 1
    purpose: str = "score"
    commits: Mapping[str, str] = field(default_factory=dict)
    started_at: Mapping[str, Sequence[str]] = field(default_factory=dict)
    zone: str = ""
    workload: JsonObject = field(default_factory=dict)
    extra: JsonObject = field(default_factory=dict)
    parity: Sequence[ParityFile] = ()


def read_slot(axes: Mapping[str, str]) -> JsonObject:
    """A slot from text.

    Raises:
        RefusedError: ``E_SLOT`` naming the axis.
    """
    missing = [axis for axis in SLOT_AXES if not axes.get(axis)]
    if missing:
        raise RefusedError("E_SLOT", f"the slot lacks {', '.join(missing)}", where="--slot")
    context = axes["context"]
    for axis in ("project", "node", "quant"):
        if not _LABEL.fullmatch(axes[axis]):
            raise RefusedError(
                "E_SLOT",
                f"{axis} is a name of letters, digits and . _ : / @ + -, found {axes[axis][:_SHOWN]!r}",
                where="--slot",
            )
    if not _TOKENS.fullmatch(context) or int(context) > MAX_INT:
        raise RefusedError("E_SLOT", f"context is a number of tokens, found {context[:_SHOWN]!r}", where="--slot")
    if axes["metric"] not in METRICS:
        raise RefusedError(
            "E_SLOT", f"there is no metric {axes['metric']!r}; known: {', '.join(sorted(METRICS))}", where="--slot"
        )
    return {**{axis: axes[axis] for axis in ("project", "node", "quant", "metric")}, "context": int(context)}


def find_missing(runs: Sequence[Run], options: RoundOptions) -> list[str]:
    """Every option that a round of these runs needs and that is not given, in the order of the help."""
    roles = list(dict.fromkeys(run.role for run in runs))
    rows = [row for run in runs for row in run.rows]
    axes = [f"{axis}=…" for axis in SLOT_AXES if not options.slot.get(axis)]
    missing = [f"--slot {','.join(axes)}"] if axes else []
    unsaid = {run.role for run in runs if not all(row.code_sha256 for row in run.rows)}
    missing += [f"--code {role}=…" for role in roles if role in unsaid and not options.code.get(role)]
    missing += [
        f"--commit {role}=…"
        for role in roles
        if not options.commits.get(role)
        and any(run.role == role and row.commit is None for run in runs for row in run.rows)
    ]
    missing += ["--weights …"] if not options.weights else []
    missing += ["--harness …"] if not options.harness else []
    missing += (
        ["--environment gpu=… (or --node, on the machine that measured)"]
        if not options.environment and not any(row.environment for row in rows)
        else []
    )
    missing += ["--round ID (that of the incident)"] if options.attempt > 1 and not options.round_id else []
    missing += ["--workload gen_tokens=…"] if not options.workload and any(row.workload is None for row in rows) else []
    silent = [run.role for run in runs if not all(row.started_at for row in run.rows)]
    missing += [f"--started-at {role}=…" for role in dict.fromkeys(silent) if not options.started_at.get(role)]
    local = [run.role for run in runs if any(row.started_at and not _ends_in_utc(row.started_at) for row in run.rows)]
    if not options.zone and any(not options.started_at.get(role) for role in local):
        missing.append("--zone +HH:MM")
    return missing + [option for file in options.parity for option in file.missing()]


def find_mixed(runs: Sequence[Run]) -> list[str]:
    """Roles of arms whose rows are of several settings or workloads, so that some of them must be selected."""
    mixed = []
    for role in dict.fromkeys(run.role for run in runs):
        rows = [row for run in runs if run.role == role for row in run.rows]
        if find_other_workload(rows) or any(row.settings != rows[0].settings for row in rows):
            mixed.append(role)
    return mixed


def find_other_workload(rows: Sequence[Row]) -> tuple[str, Row, Row] | None:
    """The first metric that two rows have at one context with different workloads, and the rows; warm-up aside."""
    first: dict[tuple[str, int | None], Row] = {}
    for row in rows:
        for metric in row.metrics if not row.warmup else ():
            other = first.setdefault((metric, row.context), row)
            if other.workload != row.workload:
                return metric, other, row
    return None


def require_given(runs: Sequence[Run], options: RoundOptions) -> None:
    """Check the roles, and that nothing is missing.

    Raises:
        RefusedError: ``E_ARM``, or ``E_MISSING`` naming everything that must be given.
    """
    for run in runs:
        if run.role not in ROLES:
            raise RefusedError("E_ARM", f"there is no arm {run.role!r}; known: {', '.join(ROLES)}", where="--arm")
    missing = find_missing(runs, options)
    if missing:
        raise RefusedError(
            "E_MISSING",
            f"{options.tool} does not say everything a round needs; give {', '.join(missing)}"
            + (" (digests as SHA-256, or as a path to compute them from)" if _asks_for_digest(missing) else ""),
        )


def _asks_for_digest(missing: Sequence[str]) -> bool:
    return any(option.split()[0] in {"--code", "--weights", "--harness"} for option in missing)


def settle_starts(runs: Sequence[Run], options: RoundOptions) -> list[Run]:
    """The runs with the start of every row in UTC: as the tool says, or as given.

    Raises:
        RefusedError: ``E_STARTED_AT`` when a start is given that the tool says otherwise, too many or too few are, or
            one is no time; ``E_ZONE`` when the zone is none.
    """
    offset = _read_zone(options.zone) if options.zone else dt.timedelta(0)
    for role, count in Counter(run.role for run in runs).items():
        given = len(options.started_at.get(role, ()))
        if given not in {0, count}:
            raise RefusedError(
                "E_STARTED_AT",
                f"the arm {role} has {count} file(s) and {given} given starts; give one per file, in order",
                where="--started-at",
            )
    starts = {role: iter(given) for role, given in options.started_at.items()}
    return [_settle_run(run, next(starts.get(run.role, iter(())), ""), offset) for run in runs]


def _settle_run(run: Run, given: str, offset: dt.timedelta) -> Run:
    return run.with_starts([_settle_start(row.started_at, given, offset) for row in run.rows])


def _settle_start(said: str, given: str, offset: dt.timedelta) -> str:
    if given:
        given = _read_time(given)
    if said and _ends_in_utc(said):
        if given and given != said:
            raise RefusedError("E_STARTED_AT", f"the tool says {said}, given is {given}", where="--started-at")
        return said
    if given:
        return given
    return format_time((dt.datetime.fromisoformat(said) - offset).replace(tzinfo=dt.UTC))


def _read_time(given: str) -> str:
    """A time in UTC, of one with any offset."""
    try:
        moment = dt.datetime.fromisoformat(given)
        if moment.tzinfo is not None:
            return format_time(moment)
    except (ValueError, OverflowError):  # no time, or one that is before the year 1 in UTC
        pass
    raise RefusedError(
        "E_STARTED_AT", f"expected a time such as 2026-11-29T20:00:00Z, found {given!r}", where="--started-at"
    )


def _ends_in_utc(text: str) -> bool:
    return text.endswith("Z")


def _read_zone(text: str) -> dt.timedelta:
    found = _ZONE.fullmatch(text)
    if not found:
        raise RefusedError("E_ZONE", f"expected an offset from UTC such as +02:00, found {text!r}", where="--zone")
    offset = dt.timedelta(hours=int(found["hours"]), minutes=int(found["minutes"]))
    return -offset if found["sign"] == "-" else offset
