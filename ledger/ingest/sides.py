"""From tools' files and from rounds to the sides of a comparison."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from ledger import canonical
from ledger.errors import MalformedError, RefusedError
from ledger.ingest.row_notes import join_notes
from ledger.ingest.values import printed_number
from ledger.scoring.compare.blocks import BlockRun, BlockSession
from ledger.scoring.compare.comparable import is_axis
from ledger.scoring.compare.forced import ForcedRun
from ledger.scoring.compare.side import CompareRun, Side
from ledger.strict import parse_time

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ledger.canonical import JsonObject
    from ledger.ingest.adapter import Row
    from ledger.ingest.tandem.block_ab import BlockAb

_REPEAT = re.compile(r"0|[1-9][0-9]{0,8}", re.ASCII)
_NAMING: Mapping[str, tuple[str, ...]] = {
    "google-benchmark": ("name", "run_name"),
    "pytest-benchmark": ("fullname", "name", "param", "params/"),
    "asv": ("benchmark", "arguments/"),
}
"""Settings that name a test, by the tool; with a ``/`` at its end all that begin so. They are no choice of a side."""
_IMPLIED = frozenset({"run_name", "param"})
_COMMAND = {"hyperfine": "command"}
"""The setting that names a test once a side has several values of it. With one a side, two commands are compared."""
_PASSING = frozenset({"load", "extra"})
"""Members of the environment that are no fixed fact of the node; what stands in ``extra`` is looked at one by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFile:
    """A tool's file as it was read.

    Attributes:
        name: of the file.
        raw: its bytes.
        tool: name of its adapter.
        rows: what the adapter made of it.
    """

    name: str
    raw: bytes
    tool: str
    rows: Sequence[Row]


def side_of_rows(label: str, files: Sequence[ToolFile]) -> Side:
    """All measured rows of some files, as one side. Warm-ups are left out.

    Raises:
        RefusedError: ``E_NO_PAIRS`` when there is no measured row.
    """
    measured = [(file, row) for file in files for row in file.rows if not row.warmup]
    rows_of = Counter(id(file) for file, _ in measured)
    runs = [_run_of_row(file, row, alone=rows_of[id(file)] == 1) for file, row in measured]
    named = len({run.named_test for run in runs}) > 1
    return _side(
        label,
        [run.named() for run in runs] if named else runs,
        codes=[row.code_sha256 or row.commit or "" for _, row in measured],
        choices=_choices(measured[0][1].settings, _tool(*measured[0]), named=named) if measured else {},
        notes=[str(fault) for fault in join_notes((file.name, file.raw, row) for file, row in measured)],
    )


def sides_of_round(name: str, body: JsonObject) -> dict[str, Side]:
    """The arms of a round that satisfies its schema, each as a side, by their roles."""
    sides = {}
    session = hashlib.sha256(canonical.encode(body)).hexdigest()
    for arm in body["arms"]:
        reps = [rep for rep in body["reps"] if rep["arm"] == arm["role"] and not rep["warmup"]]
        runs = [
            replace(_run_of_rep(f"{name}@{arm['role']}/{rep['order']}", rep, body, arm), session=session)
            for rep in reps
        ]
        sides[arm["role"]] = _side(
            f"{name}@{arm['role']}",
            runs,
            codes=[arm["code_sha256"]],
            choices=_choices(arm.get("settings", {}), body["harness"]["name"], named=False),
            notes=[],
        )
    return sides


def join_sides(label: str, sides: Sequence[Side]) -> Side:
    """Several parts of one side as one.

    Raises:
        RefusedError: ``E_MIXED`` when they are not of one code and one choice of settings.
    """
    first = sides[0]
    for side in sides[1:]:
        if side.code != first.code:
            raise RefusedError(
                "E_MIXED", f"{side.label} is of the code {side.code or 'not said'}, {first.label} of {first.code}"
            )
        changed = changed_choices(first, side)
        if changed:
            raise RefusedError("E_MIXED", f"{side.label} and {first.label} differ in {', '.join(changed)}")
    return replace(
        first,
        label=label,
        runs=tuple(run for side in sides for run in side.runs),
        notes=tuple(note for side in sides for note in side.notes),
    )


def block_session(result: BlockAb) -> BlockSession:
    """The measured runs of a block A/B, to be judged again."""
    mix = result.body.get("mix")
    shares = {name: printed_number(share) for name, share in mix.items()} if isinstance(mix, dict) else {}
    return BlockSession(
        base=result.base,
        runs=tuple(
            BlockRun(
                pair=run.pair,
                state=run.state,
                workload=run.workload,
                block_ms=run.block_ms,
                blocks=run.blocks or 0,
                tokens=run.out,
            )
            for run in result.runs
        ),
        mix={name: share for name, share in shares.items() if share is not None},
    )


def forced_runs(rows: Sequence[Row], what: str) -> list[ForcedRun]:
    """The rows of a forced bench, to be judged.

    Raises:
        MalformedError: ``E_FIELD``: a row without a configuration or a repeat.
    """
    runs = []
    for row in rows:
        where, workload = f"{what}/rows/{row.number}", row.workload or {}
        repeat = row.reported.get("repeat")
        if "config" not in row.settings or not isinstance(repeat, str) or not _REPEAT.fullmatch(repeat):
            raise MalformedError("E_FIELD", "expected a configuration and the number of a repeat", where=where)
        runs.append(
            ForcedRun(
                config=row.settings["config"],
                workload=workload["dataset"],
                repeat=int(repeat),
                tokens=workload["gen_tokens"] - 1,
                ms=Fraction(row.reported["ms"]),
            )
        )
    return runs


def changed_choices(one: Side, other: Side) -> list[str]:
    """Names of the settings in which two sides differ beside the axes: what is compared, when it is not the code."""
    names = {*one.choices, *other.choices}
    return sorted(name for name in names if one.choices.get(name) != other.choices.get(name))


def _side(
    label: str,
    runs: Sequence[CompareRun],
    *,
    codes: Sequence[str],
    choices: Mapping[str, str],
    notes: Sequence[str],
) -> Side:
    if not runs:
        raise RefusedError("E_NO_PAIRS", f"{label} has no measured run", where=label)
    if len({*codes}) > 1:
        raise RefusedError(
            "E_MIXED", f"{label} holds runs of several codes: {', '.join(sorted({*codes}))}", where=label
        )
    return Side(label=label, runs=tuple(runs), code=codes[0], choices=choices, notes=tuple(notes))


def _choices(settings: Mapping[str, str], tool: str, *, named: bool) -> dict[str, str]:
    """The settings that are no axis and do not name the test."""
    naming = {*_naming(settings, tool), *([_COMMAND[tool]] if named and tool in _COMMAND else [])}
    return {name: value for name, value in settings.items() if not is_axis(name) and name not in naming}


def _naming(settings: Mapping[str, str], tool: str) -> list[str]:
    """The settings that name the test."""
    naming = _NAMING.get(tool, ())
    whole, begins = {*naming}, tuple(name for name in naming if name.endswith("/"))
    return [name for name in settings if name in whole or name.startswith(begins)] if naming else []


def _tool(file: ToolFile, row: Row) -> str:
    return str(row.harness.get("name", file.tool))


def _run_of_row(file: ToolFile, row: Row, *, alone: bool) -> CompareRun:
    workload = row.workload or {}
    known = "prompt_tokens" in workload or row.mean_context or row.context is None
    test = _test(workload, None if known else row.context, row.settings, _tool(file, row))
    return CompareRun(
        name=file.name if alone else f"{file.name}, row {row.number}",
        test=test,
        named_test=_named_test(test, row.settings, _tool(file, row)),
        metrics=row.metrics,
        records=row.records,
        wall_ns=row.wall_ns,
        started_at=_orderable(row.started_at),
        axes=_axes(row.settings, row.environment, row.weights) | {"tool": _tool(file, row)},
        source=hashlib.sha256(file.raw).hexdigest() + f"/{row.number}",
        order=row.number,
    )


def _run_of_rep(name: str, rep: JsonObject, body: JsonObject, arm: JsonObject) -> CompareRun:
    workload = rep.get("workload", {})
    settings, tool = arm.get("settings", {}), body["harness"]["name"]
    slot = {axis: str(body["slot"][axis]) for axis in ("project", "node", "quant")}
    test = _test(workload, None if "prompt_tokens" in workload else rep["context"], settings, tool)
    return CompareRun(
        name=name,
        test=test,
        named_test=_named_test(test, settings, tool),
        metrics=tuple(rep["metrics"]),
        records=rep["records"],
        wall_ns=rep["wall_ns"],
        started_at=rep["started_at"],
        axes=_axes(settings, body["environment"], body["weights"])
        | {f"slot/{axis}": value for axis, value in slot.items()}
        | {"tool": tool},
        source=_source_of_rep(rep, body),
        order=rep["order"],
    )


def _source_of_rep(rep: JsonObject, body: JsonObject) -> str:
    """The row of a file that a repetition was made of, as `_run_of_row` names it; else what it says, by its digest."""
    files = {file["name"]: file["sha256"] for file in body.get("attachments", [])}
    if "source" in rep:
        return f"{files[rep['source']['attachment']]}/{rep['source']['row']}"
    said = {name: rep[name] for name in ("started_at", "wall_ns", "records")}
    return hashlib.sha256(canonical.encode(said)).hexdigest()


def _test(workload: JsonObject, context: int | None, settings: Mapping[str, str], tool: str) -> str:
    """What was asked for, as text: what two runs must have in common to be runs of one test."""
    parts = [f"{name} {value}" for name, value in sorted(workload.items())]
    parts += [] if context is None else [f"context {context}"]
    names = _naming(settings, tool)
    shown = [name for name in names if name not in _IMPLIED and not (name == "name" and "fullname" in names)]
    parts += [f"{name} {settings[name]}" for name in shown]
    return ", ".join(parts) or "not said"


def _named_test(test: str, settings: Mapping[str, str], tool: str) -> str:
    """The test with its command; empty where no command can name it."""
    command = settings.get(_COMMAND.get(tool, ""))
    return "" if command is None else f"{test}, {_COMMAND[tool]} {command}"


def _axes(settings: Mapping[str, str], environment: JsonObject, weights: JsonObject) -> dict[str, str]:
    axes = {name: value for name, value in settings.items() if is_axis(name)}
    axes |= {f"node/{name}": str(value) for name, value in environment.items() if name not in _PASSING}
    axes |= {f"node/{name}": value for name, value in environment.get("extra", {}).items() if is_axis(name)}
    return axes | {f"weights/{name}": str(value) for name, value in weights.items()}


def _orderable(text: str) -> str:
    """A start as a time in UTC; nothing for none.

    A local time without its zone is taken as it stands: only the order and the gaps of the runs of one tool are made
    of it, and these do not depend on the zone.
    """
    for form in (text, f"{text}Z"):
        with suppress(MalformedError):
            parse_time(form)
            return form
    return ""
