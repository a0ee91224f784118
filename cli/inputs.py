"""From the files and options of ``append`` and ``attest`` to rounds."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from cli.context import Config, read_input
from cli.tool_files import ToolFile, ToolRuns, name_files, read_runs, round_options
from cli.tool_options import ToolOptions
from ledger.canonical import JsonObject
from ledger.errors import LedgerError, MalformedError, RefusedError
from ledger.ingest import ADAPTERS, recognise
from ledger.ingest.build import BuiltRound, build_round
from ledger.ingest.checks import examine_round
from ledger.ingest.checks.notes import Said
from ledger.ingest.faults import Fault, read_note
from ledger.json_input import parse_json
from ledger.kinds import check_body
from ledger.schema import validate

_MEMBERS = {"reps", "slot", "arms"}
"""What a round has and no file of a tool."""
_PARITY_FIGURES = ("kl", "kl_max", "top1")


def read_rounds(files: Sequence[Path], options: ToolOptions, config: Config) -> tuple[list[JsonObject], list[str]]:
    """Rounds of the files: one per file of round JSON, or of all files of a tool, or of each with ``--each``.

    Returns:
        The rounds, checked against their schema, and what does not add up in them.

    Raises:
        RefusedError: options that contradict each other, or a round that cannot be.
        MalformedError: a file is not what it should be.
        StorageError: a file cannot be read.
    """
    if options.each:
        built = [build_checked(read, part, config) for read, part in _read_each(files, options)]
    elif options.tool or (options.arm and not files) or (files and is_tool_output(files[0])):
        built = [build_checked(_read_all(files, options), options, config)]
    elif options.given():
        raise _refuse_options(files, options)
    elif not files:
        raise RefusedError("E_NO_INPUT", "give round JSON files, or --from TOOL with --arm ROLE=FILE")
    else:
        built = [read_round(path) for path in files]
    return [each.body for each in built], [note for each in built for note in each.notes]


def is_tool_output(path: Path) -> bool:
    """Whether a file looks as one of a tool.

    Raises:
        MalformedError: ``E_EMPTY_RESULTS`` for an empty file, and as `cli.context.read_input`.
    """
    raw = read_input(path)
    if not raw.strip():
        raise MalformedError("E_EMPTY_RESULTS", "the file is empty", where=str(path))
    return any(adapter.recognises(raw) for adapter in ADAPTERS.values())


def _refuse_options(files: Sequence[Path], options: ToolOptions) -> LedgerError:
    """Why options of a tool's files are of no use here: the file is a round, or nobody knows what it is."""
    option = options.given()[0]
    if not files:
        return RefusedError("E_OPTION", f"{option} needs files of a tool: FILE, or --arm ROLE=FILE")
    if is_round_json(files[0]):
        return RefusedError("E_OPTION", f"{option} is for files of a tool; {files[0]} is round JSON and says it itself")
    try:
        recognise(read_input(files[0]), str(files[0]))
    except MalformedError as err:
        return err
    raise AssertionError("a file that is recognised is read as such")


def is_round_json(path: Path) -> bool:
    """Whether a file is a round as `append` takes it, sound or not."""
    try:
        raw = read_input(path)
        if not may_be_round(raw):  # nearly every file, and parsing takes long
            return False
        body = parse_json(raw, what=str(path))
    except (MalformedError, RefusedError):
        return False
    return isinstance(body, dict) and body.keys() >= _MEMBERS


def may_be_round(raw: bytes) -> bool:
    """Whether the members of a round are somewhere in a file."""
    return all(f'"{name}"'.encode() in raw for name in _MEMBERS)


def _read_all(files: Sequence[Path], options: ToolOptions) -> ToolRuns:
    named = name_files(files, options)
    if not named:
        raise RefusedError("E_NO_INPUT", "give the tool's files: --arm ROLE=FILE, in the order in which they ran")
    return read_runs(named, options)


def _read_each(files: Sequence[Path], options: ToolOptions) -> list[tuple[ToolRuns, ToolOptions]]:
    """Every file by itself, with its own start where starts are given."""
    if options.arm or options.round_id or options.attempt or not files:
        raise RefusedError("E_OPTION", "--each takes FILEs, and neither --arm, --round nor --attempt", where="--each")
    starts = options.started_at
    if starts and len(starts) != len(files):
        raise RefusedError("E_OPTION", f"{len(files)} files and {len(starts)} starts", where="--started-at")
    parts = [replace(options, started_at=starts[at : at + 1]) for at in range(len(files))]
    return [(read_runs([ToolFile("main", path)], part), part) for path, part in zip(files, parts, strict=True)]


def build_checked(read: ToolRuns, options: ToolOptions, config: Config) -> BuiltRound:
    """A round of runs that were read, checked as it will be when it is signed.

    Raises:
        RefusedError, MalformedError, StorageError: as `read_rounds`.
    """
    built = build_round(read.runs, round_options(read, options, config))
    return BuiltRound(
        body=built.body, faults=[*built.faults, *_check_round(built.body, "round", said=built.said, built_by=read.tool)]
    )


def read_round(path: Path) -> BuiltRound:
    """A file of round JSON, checked.

    Raises:
        RefusedError, MalformedError, StorageError: as `read_rounds`.
    """
    body = parse_json(read_input(path), what=str(path))
    _drop_unmeasured(body)
    faults = _check_round(body, str(path), each_code_once=True)
    return BuiltRound(body=dict(body), faults=[fault._replace(where=fault.where or str(path)) for fault in faults])


def _drop_unmeasured(body: object) -> None:
    """Take figures of parity that are null out of a round, in place: null is what was not measured, and so is absence.

    Only figures that the schema knows are looked at; whatever else is wrong with the round is found by the schema.
    """
    points = body.get("parity") if isinstance(body, dict) else None
    for point in points if isinstance(points, list) else ():
        for name in _PARITY_FIGURES if isinstance(point, dict) else ():
            if name in point and point[name] is None:
                del point[name]


def _check_round(
    body: JsonObject,
    what: str,
    *,
    said: Collection[Said] = frozenset(),
    built_by: str = "",
    each_code_once: bool = False,
) -> list[Fault]:
    """Check a round before it is signed, and write into it what is found.

    Args:
        body: the round.
        what: its name, for errors.
        said: what its adapters noted.
        built_by: the tool whose adapter made the round; nobody by default.
        each_code_once: a code that its author wrote into it is not written a second time.

    Returns:
        What does not add up and is not in `said`.

    Raises:
        MalformedError: ``E_SCHEMA`` or ``E_DOMAIN``.
        RefusedError: see `ledger.kinds.check_body` and `ledger.ingest.checks.examine_round`.
    """
    try:
        validate("round-input", body)
        check_body("round", body)
        found = [read_note(note) for note in examine_round(body, said, built_by=built_by)]
    except (MalformedError, RefusedError) as err:
        raise type(err)(err.code, err.message, where=f"{what} {err.where}".strip()) from err
    named = {fault["code"] for fault in body.get("faults", ())} if each_code_once else set()
    added = [fault.to_json() for fault in found if fault.code not in named]
    if added:
        body["faults"] = [*body.get("faults", ()), *added]
    return found
