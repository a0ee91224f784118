"""A tool's files on the disk, read into runs, and a round made of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from cli.context import Config, read_input
from cli.given import code_digest, digest_of, read_axes, read_facts, read_pairs, read_rows, read_starts, split_pair
from cli.parity import read_parity_files
from cli.tool_options import ToolOptions
from ledger.canonical import JsonObject
from ledger.errors import MalformedError, RefusedError
from ledger.ingest import find_adapter, recognise
from ledger.ingest.adapter import Adapter
from ledger.ingest.companions import Reading, attachment_name, read_whole
from ledger.ingest.lines import skip_log_lines
from ledger.ingest.node import collect_facts
from ledger.ingest.options import RoundOptions
from ledger.ingest.run import Run
from ledger.json_input import parse_json

EXTRA_MEMBERS = ("parity", "shortcuts", "overrides", "protocol")

_FOLDERS_ABOVE = 3
"""How far up a companion is looked for: a report names its records from the top of the tree that it lies in."""
_COUNTS = ("gpus", "cores", "memory_bytes")
FACTS = (
    *("cpu", "gpu", "gpus", "cores", "memory_bytes", "driver", "kernel", "os", "runtime", "container", "backends"),
    *("governor", "clocks", "load"),
)
"""Facts of a node, as the schema of a round has them."""
_WORKLOAD_COUNTS = ("depth", "prompt_tokens", "gen_tokens", "batch", "concurrency", "seed")
WORKLOAD = (*_WORKLOAD_COUNTS, "dataset")
"""Members of a workload, as the schema of a round has them."""


class ToolFile(NamedTuple):
    """A file that is named on the command line, with its role."""

    role: str
    path: Path


class ToolRuns(NamedTuple):
    """Files of one tool, read."""

    tool: str
    runs: list[Run]

    @property
    def roles(self) -> set[str]:
        """Of the arms that have a run."""
        return {run.role for run in self.runs}


def name_files(files: Sequence[Path], options: ToolOptions) -> list[ToolFile]:
    """The files of ``--arm``, then those without a role, which are of main.

    Raises:
        RefusedError: ``E_OPTION``.
    """
    arms = [split_pair(text, "--arm", "ROLE=FILE") for text in options.arm]
    return [ToolFile(role, Path(name)) for role, name in arms] + [ToolFile("main", path) for path in files]


def read_runs(files: Sequence[ToolFile], options: ToolOptions) -> ToolRuns:
    """Read files of one tool, in the order of time, and select the rows that were asked for.

    Raises:
        RefusedError: options that do not fit the files.
        MalformedError: a file is not what it should be.
        StorageError: a file cannot be read.
    """
    return join_runs([read_run(file, options) for file in files], options)


def read_run(file: ToolFile, options: ToolOptions) -> tuple[str, Run]:
    """Read one file: the name of its tool, and all of its rows.

    Raises:
        RefusedError, MalformedError, StorageError: as `read_runs`.
    """
    raw = read_input(file.path)
    adapter = find_adapter(options.tool) if options.tool else recognise(raw, str(file.path))
    reading = read_tool_file(file.path, raw, adapter, skip_lines=options.skip_log_lines)
    name = attachment_name(file.path.name)
    return adapter.name, Run(role=file.role, name=name, raw=raw, rows=reading.rows, companions=reading.companions)


def join_runs(read: Sequence[tuple[str, Run]], options: ToolOptions) -> ToolRuns:
    """The runs of files of one tool, with the rows that were asked for.

    Raises:
        RefusedError: ``E_MIXED`` for files of several tools, ``E_ROW``, ``E_OPTION``.
    """
    tools = list(dict.fromkeys(tool for tool, _ in read))
    if len(tools) > 1:
        raise RefusedError("E_MIXED", f"files of {' and of '.join(tools)}; one round has one tool", where="--arm")
    rows = read_rows(options.row, {run.role for _, run in read})
    return ToolRuns(tools[0], [run.select(rows[run.role]) if run.role in rows else run for _, run in read])


def read_tool_file(path: Path, raw: bytes, adapter: Adapter, *, skip_lines: bool = False) -> Reading:
    """A tool's file with those that it names: a path there leads down from its folder, or from one of three above.

    Raises:
        MalformedError: as `ledger.ingest.companions.read_whole`.
        StorageError: a file that is there cannot be read.
    """
    folder = path.parent.resolve()
    folders = (folder, *folder.parents[:_FOLDERS_ABOVE])

    def fetch(name: str) -> bytes | None:
        found = next((place for each in folders if (place := each / name).is_file()), None)
        return read_input(found) if found else None

    kept, note = skip_log_lines(raw) if skip_lines else (raw, "")
    reading = read_whole(adapter, kept, str(path), fetch)
    return reading.noting(note) if note else reading


def round_options(read: ToolRuns, options: ToolOptions, config: Config) -> RoundOptions:
    """What was given on the command line and in the ledger's configuration, for a round of these runs.

    Raises:
        RefusedError, MalformedError, StorageError: an option, or a file that it names, is not what it should be.
    """
    extra = _read_extra(options.extra) if options.extra else {}
    if options.parity and "parity" in extra:
        raise RefusedError("E_OPTION", f"{options.extra} has parity of its own", where="--parity")
    codes = read_pairs(options.code, "--code", read.roles)
    return RoundOptions(
        tool=read.tool,
        slot={**config.slot, **read_axes(options.slot)},
        code={role: code_digest(value, f"--code {role}") for role, value in codes.items()},
        commits=read_pairs(options.commit, "--commit", read.roles),
        weights=digest_of(options.weights or config.round.get("weights", ""), "--weights"),
        harness=digest_of(options.harness or config.round.get("harness", ""), "--harness"),
        environment=_environment(read.runs, options),
        workload=read_facts(options.workload, "--workload", WORKLOAD, _WORKLOAD_COUNTS),
        started_at=read_starts(options.started_at, read.roles),
        zone=options.zone,
        round_id=options.round_id,
        attempt=options.attempt or 1,
        purpose=options.purpose or "score",
        extra=extra,
        parity=read_parity_files(options.parity, read.roles),
    )


def _environment(runs: Sequence[Run], options: ToolOptions) -> JsonObject:
    """What was given, and with ``--node`` what this machine says of itself.

    What the tool says itself is its own; but for the processor, whose names must agree: a file with another one was
    measured elsewhere.
    """
    given = read_facts(options.environment, "--environment", FACTS, _COUNTS, extra=True)
    if not options.node:
        return given
    said = {name for run in runs for row in run.rows for name in row.environment} - {"cpu"}
    return {name: value for name, value in collect_facts().items() if name not in said} | given


def _read_extra(path: Path) -> JsonObject:
    extra = parse_json(read_input(path), what=str(path))
    if not isinstance(extra, dict) or not extra.keys() <= set(EXTRA_MEMBERS):
        raise MalformedError("E_EXTRA", f"expected an object with {', '.join(EXTRA_MEMBERS)}", where=str(path))
    return extra
