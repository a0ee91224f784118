"""From the options of ``append`` and ``attest`` to rounds."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cli.context import Config, read_input
from ledger.canonical import JsonObject, parse_json
from ledger.errors import MalformedError, RefusedError
from ledger.ingest import find_adapter, recognise
from ledger.ingest.adapter import Adapter
from ledger.ingest.build import build_round
from ledger.ingest.companions import Reading, read_whole
from ledger.ingest.options import SLOT_AXES, RoundOptions
from ledger.ingest.run import Run
from ledger.kinds import check_body
from ledger.schema import validate
from ledger.strict import parse_digest

EXTRA_MEMBERS = ("parity", "shortcuts", "overrides", "protocol")

_COUNTS = ("gpus", "cores", "memory_bytes")
_WORKLOAD_COUNTS = ("depth", "prompt_tokens", "gen_tokens", "batch", "concurrency", "seed")
_COUNT = re.compile("0|[1-9][0-9]{0,15}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOptions:
    """Options that only make sense with ``--from``, as given."""

    tool: str
    arms: Sequence[str]
    rows: Sequence[str]
    slot: Sequence[str]
    code: Sequence[str]
    commit: Sequence[str]
    weights: str
    harness: str
    environment: Sequence[str]
    workload: Sequence[str]
    started_at: Sequence[str]
    zone: str
    round_id: str
    purpose: str
    extra: Path | None

    def given(self) -> list[str]:
        """Names of those that were given."""
        values = {
            "--arm": self.arms,
            "--row": self.rows,
            "--slot": self.slot,
            "--code": self.code,
            "--commit": self.commit,
            "--weights": self.weights,
            "--harness": self.harness,
            "--environment": self.environment,
            "--workload": self.workload,
            "--started-at": self.started_at,
            "--zone": self.zone,
            "--round": self.round_id,
            "--purpose": self.purpose,
            "--extra": self.extra,
        }
        return [name for name, value in values.items() if value]


def read_rounds(files: Sequence[Path], options: ToolOptions, config: Config) -> tuple[list[JsonObject], list[str]]:
    """Rounds of the files: one per file of round JSON, or one of all files of a tool.

    Returns:
        The rounds, checked against their schema, and what deserves a look.

    Raises:
        RefusedError: options that contradict each other, or a round that cannot be.
        MalformedError: a file is not what it should be.
        StorageError: a file cannot be read.
    """
    if options.tool or (options.arms and not files):
        built, notes = _build_from_tool(files, options, config)
        return [built], notes
    if options.given():
        raise RefusedError(
            "E_OPTION",
            f"{options.given()[0]} needs --from TOOL, or only --arm ROLE=FILE; round JSON says all of it itself",
        )
    if not files:
        raise RefusedError("E_NO_INPUT", "give round JSON files, or --from TOOL with --arm ROLE=FILE")
    return [_read_round(path) for path in files], []


def _read_round(path: Path) -> JsonObject:
    body = parse_json(read_input(path), what=str(path))
    _check_round(body, str(path))
    return dict(body)


def _check_round(body: object, what: str) -> None:
    """Check a round before it is signed.

    Raises:
        MalformedError: ``E_SCHEMA`` or ``E_DOMAIN``.
        RefusedError: see `ledger.kinds.check_body`.
    """
    try:
        validate("round-input", body)
        if isinstance(body, dict):
            check_body("round", body)
    except (MalformedError, RefusedError) as err:
        raise type(err)(err.code, err.message, where=f"{what} {err.where}".strip()) from err


def _build_from_tool(files: Sequence[Path], options: ToolOptions, config: Config) -> tuple[JsonObject, list[str]]:
    named = [_split(text, "--arm", "ROLE=FILE") for text in options.arms] + [("main", str(path)) for path in files]
    if not named:
        raise RefusedError("E_NO_INPUT", "give the tool's files: --arm ROLE=FILE, in the order in which they ran")
    raws = [read_input(Path(name)) for _, name in named]
    adapter = find_adapter(options.tool) if options.tool else recognise(raws[0], named[0][1])
    runs = [_read_run(role, name, raw, adapter) for (role, name), raw in zip(named, raws, strict=True)]
    roles = {run.role for run in runs}
    rows = _read_rows(options.rows, roles)
    runs = [run.select(rows[run.role]) if run.role in rows else run for run in runs]
    codes = _pairs(options.code, "--code", roles)
    built = build_round(
        runs,
        RoundOptions(
            tool=adapter.name,
            slot={**config.slot, **_read_slot(options.slot)},
            code={role: digest_of(value, f"--code {role}") for role, value in codes.items()},
            commits=_pairs(options.commit, "--commit", roles),
            weights=digest_of(options.weights or config.round.get("weights", ""), "--weights"),
            harness=digest_of(options.harness or config.round.get("harness", ""), "--harness"),
            environment=_read_facts(options.environment, "--environment", _COUNTS),
            workload=_read_facts(options.workload, "--workload", _WORKLOAD_COUNTS),
            started_at=_read_starts(options.started_at, roles),
            zone=options.zone,
            round_id=options.round_id,
            purpose=options.purpose or "score",
            extra=_read_extra(options.extra) if options.extra else {},
        ),
    )
    _check_round(built.body, "round")
    return built.body, built.notes


def _read_run(role: str, name: str, raw: bytes, adapter: Adapter) -> Run:
    reading = read_tool_file(Path(name), raw, adapter)
    return Run(role=role, name=Path(name).name, raw=raw, rows=reading.rows, companions=reading.companions)


def read_tool_file(path: Path, raw: bytes, adapter: Adapter) -> Reading:
    """A tool's file with those that it names: a path there leads from its folder, or from one above.

    Raises:
        MalformedError: as `ledger.ingest.companions.read_whole`.
        StorageError: a file that is there cannot be read.
    """

    def fetch(name: str) -> bytes | None:
        places = [folder / name for folder in path.absolute().parents]
        found = next((place for place in places if place.is_file()), None)
        return read_input(found) if found else None

    return read_whole(adapter, raw, str(path), fetch)


def _split(text: str, option: str, form: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name or not value:
        raise RefusedError("E_OPTION", f"expected {option} {form}, found {text!r}", where=option)
    return name, value


def _pairs(texts: Sequence[str], option: str, roles: set[str]) -> dict[str, str]:
    pairs = [_split(text, option, "ROLE=VALUE") for text in texts]
    if len(dict(pairs)) != len(pairs):
        raise RefusedError("E_OPTION", "one role is given twice", where=option)
    for role in dict(pairs):
        if role not in roles:
            raise RefusedError("E_OPTION", f"the arm {role!r} has no run", where=option)
    return dict(pairs)


def _read_rows(texts: Sequence[str], roles: set[str]) -> dict[str, set[int]]:
    found = {}
    for role, value in _pairs(texts, "--row", roles).items():
        numbers = value.split(",")
        if not all(_COUNT.fullmatch(number) for number in numbers):
            raise RefusedError("E_OPTION", f"expected --row ROLE=NUMBER,..., found {value!r}", where="--row")
        found[role] = {int(number) for number in numbers}
    return found


def _read_facts(texts: Sequence[str], option: str, counts: Collection[str]) -> JsonObject:
    pairs = [_split(text, option, "NAME=VALUE") for text in texts]
    if len(dict(pairs)) != len(pairs):
        raise RefusedError("E_OPTION", "one name is given twice", where=option)
    return {name: int(value) if name in counts and _COUNT.fullmatch(value) else value for name, value in pairs}


def read_counts(texts: Sequence[str], option: str) -> dict[str, int]:
    """Counts by name, from ``NAME=NUMBER``.

    Raises:
        RefusedError: ``E_OPTION``.
    """
    found: dict[str, int] = {}
    for text in texts:
        name, value = _split(text, option, "NAME=NUMBER")
        if name in found or not _COUNT.fullmatch(value):
            raise RefusedError("E_OPTION", f"expected {option} NAME=NUMBER once, found {text!r}", where=option)
        found[name] = int(value)
    return found


def _read_starts(texts: Sequence[str], roles: set[str]) -> dict[str, list[str]]:
    starts: dict[str, list[str]] = {}
    for text in texts:
        role, value = _split(text, "--started-at", "ROLE=TIME")
        if role not in roles:
            raise RefusedError("E_OPTION", f"the arm {role!r} has no run", where="--started-at")
        starts.setdefault(role, []).append(value)
    return starts


def _read_slot(texts: Sequence[str]) -> Mapping[str, str]:
    slot: dict[str, str] = {}
    for text in texts:
        for part in text.split(","):
            axis, value = _split(part, "--slot", "project=P,node=N,quant=Q,context=C,metric=M")
            if axis not in SLOT_AXES:
                raise RefusedError(
                    "E_SLOT", f"there is no axis {axis!r}; the axes are {', '.join(SLOT_AXES)}", where="--slot"
                )
            if axis in slot:
                raise RefusedError("E_SLOT", f"the axis {axis} is given twice", where="--slot")
            slot[axis] = value
    return slot


def digest_of(value: str, option: str) -> str:
    """A SHA-256 that is given as such, or as the path of the file to hash; empty stays empty.

    Raises:
        RefusedError: ``E_DIGEST_OR_PATH``.
    """
    if not value:
        return ""
    path = Path(value)
    if path.is_file():
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    try:
        return parse_digest(value).hex()
    except MalformedError as err:
        raise RefusedError(
            "E_DIGEST_OR_PATH", f"{value!r} is neither a file nor 64 lower-case hexadecimal digits", where=option
        ) from err


def _read_extra(path: Path) -> JsonObject:
    extra = parse_json(read_input(path), what=str(path))
    if not isinstance(extra, dict) or not extra.keys() <= set(EXTRA_MEMBERS):
        raise MalformedError("E_EXTRA", f"expected an object with {', '.join(EXTRA_MEMBERS)}", where=str(path))
    return extra
