"""The public log ``sparkinfer-k3-log``: a folder of runs, read into bodies of kind ``imported``.

::

    ledger.jsonl                       one row per run
    index.json                         the same rows in one list, newest first
    runs/<id>/receipt.json             attestation and quote; every run has it
    runs/<id>/result.json              what the harness reported
    runs/<id>/eval.log                 text log of the session
    runs/<id>/attestation.json         the attestation once more; one run has it
    rounds/<commit>/eval.log           sessions that ended without a run; not read

Bytes that are not strict JSON end the import with an error that names the file. What can be read and does not hold is
a fault of its run (`ledger.ingest.sparkinfer.faults`).
"""

from __future__ import annotations

import datetime as dt
import hashlib
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ledger.canonical import MAX_BYTES
from ledger.errors import MalformedError
from ledger.ingest.sparkinfer.body import build_body
from ledger.ingest.sparkinfer.faults import find_faults
from ledger.ingest.sparkinfer.run import Run, SourceFile
from ledger.ingest.sparkinfer.text import RoundText, read_text
from ledger.ingest.values import as_object, as_text, look, read_json
from ledger.schema import validate
from ledger.store.disk import storage_errors

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ledger.canonical import JsonObject
    from ledger.ingest.sparkinfer.body import Attest

_RUN_ID = re.compile(r"[0-9a-f]{32}", re.ASCII)
_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", re.ASCII)
_TIME = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:Z|[+-]\d{2}:\d{2})", re.ASCII)
_ORDER = ("receipt.json", "result.json", "eval.log", "attestation.json")

_Rows = dict[str, tuple["JsonObject", ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedRun:
    """One run, ready to be stated.

    Attributes:
        body: valid under the schema ``imported-input``.
    """

    body: JsonObject


def read_log(folder: Path, *, attest: Attest | None = None) -> list[ImportedRun]:
    """Read the log.

    Args:
        folder: the folder that holds ``runs``.
        attest: makes ``checks`` of the member ``tdx`` of a receipt and the time of the run; none leaves them out.

    Returns:
        Every run that has a receipt, in time order.

    Raises:
        MalformedError: ``E_LAYOUT``, what `ledger.json_input.parse_json` raises, or a value that a body cannot do
            without is missing or not of its form (``E_FIELD``, ``E_FORMAT``, ``E_TIME``, ``E_METRIC``, ``E_CONTEXT``,
            ``E_UTF8``, ``E_SIZE``, ``E_SCHEMA``), or what `attest` raises.
        StorageError: a file cannot be read.
    """
    runs, order = read_runs(folder)
    faults = find_faults(runs, order)
    bodies = [build_body(run, found, attest) for run, found in zip(runs, faults, strict=True)]
    for run, body in zip(runs, bodies, strict=True):
        _check_schema(run, body)
    return [ImportedRun(body=body) for body in bodies]


def _check_schema(run: Run, body: JsonObject) -> None:
    """What is left: a name with a character that no name may have, a text that is too long."""
    try:
        validate("imported-input", body)
    except MalformedError as err:
        raise MalformedError(err.code, err.message, where=f"runs/{run.id}, as recorded: {err.where}") from err


def read_runs(folder: Path) -> tuple[list[Run], list[str]]:
    """The runs in time order, before anything is judged, and their ids in the order of the ledger.

    Raises:
        MalformedError: as `read_log`.
        StorageError: a file cannot be read.
    """
    lacking = [name for name in ("ledger.jsonl", "index.json") if not (folder / name).is_file()]
    if not (folder / "runs").is_dir():
        lacking.append("runs")
    if lacking:
        raise _bad_layout(f"expected ledger.jsonl, index.json and runs, there is no {' and no '.join(lacking)}", ".")
    with storage_errors("list the runs", folder / "runs"):
        places = sorted((folder / "runs").iterdir())
    if not places:
        raise _bad_layout("the log holds no run", "runs")
    tables = {"ledger": _read_ledger(folder), "index": _read_index(folder)}
    runs = [_read_run(place, tables) for place in places]
    _check_all_there({run.id for run in runs}, tables)
    runs.sort(key=lambda run: (run.at, run.id))
    return [replace(run, position=position) for position, run in enumerate(runs)], list(tables["ledger"])


def _read_ledger(folder: Path) -> _Rows:
    lines = _read(folder / "ledger.jsonl", "ledger.jsonl").split(b"\n")
    numbered = [(f"ledger.jsonl, line {at}", line) for at, line in enumerate(lines, 1) if line.strip()]
    return _by_run([(what, read_json(line, what)) for what, line in numbered])


def _read_index(folder: Path) -> _Rows:
    rows = read_json(_read(folder / "index.json", "index.json"), "index.json")
    if not isinstance(rows, list):
        raise MalformedError("E_FORMAT", "expected a list of rows", where="index.json")
    return _by_run([(f"index.json/{at}", row) for at, row in enumerate(rows)])


def _by_run(rows: list[tuple[str, Any]]) -> _Rows:
    """The rows of each run; `rows` are pairs of place and row."""
    found: _Rows = {}
    for what, row in rows:
        name = as_text(look(row, "run_id", what), f"{what}/run_id")
        found[name] = (*found.get(name, ()), row)
    return found


def _check_all_there(known: set[str], tables: Mapping[str, _Rows]) -> None:
    """A row without a folder is a record that would be lost without a word."""
    for table, rows in tables.items():
        orphans = sorted(rows.keys() - known)
        if orphans:
            raise _bad_layout(f"{table} names the run {orphans[0]!r}, and there is no such folder"[:300], "runs")


def _read_run(place: Path, tables: Mapping[str, _Rows]) -> Run:
    what = f"runs/{place.name}"
    if not _RUN_ID.fullmatch(place.name) or not place.is_dir():
        raise _bad_layout("expected a folder named by 32 hexadecimal digits", what)
    raw = _read_members(place, what)
    members = {
        name: as_object(read_json(raw[name], f"{what}/{name}"), f"{what}/{name}")
        for name in raw
        if name in _ORDER and name != "eval.log"
    }
    receipt = members["receipt.json"]
    return Run(
        id=place.name,
        at=_read_time(receipt, f"{what}/receipt.json"),
        receipt=receipt,
        result=members.get("result.json"),
        attestation=members.get("attestation.json"),
        text=_read_eval_log(raw["eval.log"], place.name) if "eval.log" in raw else None,
        rows={table: rows.get(place.name, ()) for table, rows in tables.items()},
        files=tuple(SourceFile(name, hashlib.sha256(data).hexdigest(), len(data)) for name, data in raw.items()),
    )


def _read_members(place: Path, what: str) -> dict[str, bytes]:
    """The files of a run's folder, the known ones first."""
    with storage_errors("list the files of a run", place):
        names = [path.name for path in place.iterdir()]
    if "receipt.json" not in names:
        raise _bad_layout("a run must have a receipt.json", what)
    for name in names:
        if not _FILE_NAME.fullmatch(name) or not (place / name).is_file():
            raise _bad_layout(f"expected files with plain names, found {name!r}", what)
    ordered = [name for name in _ORDER if name in names] + sorted(set(names) - set(_ORDER))
    return {name: _read(place / name, f"{what}/{name}") for name in ordered}


def _read_eval_log(raw: bytes, run_id: str) -> RoundText:
    what = f"runs/{run_id}/eval.log"
    try:
        return read_text(raw.decode("utf-8"), run_id)
    except UnicodeDecodeError as err:
        raise MalformedError("E_UTF8", f"{what}: not UTF-8 at byte {err.start}", where=what) from err


def _read_time(receipt: JsonObject, what: str) -> dt.datetime:
    where = f"{what}/attestation/timestamp_utc"
    text = as_text(look(receipt, "attestation/timestamp_utc", what), where)
    if not _TIME.fullmatch(text):
        message = f"expected a time with a zone and whole seconds, found {text[:40]!r}"
        raise MalformedError("E_TIME", message, where=where)
    try:
        return dt.datetime.fromisoformat(text).astimezone(dt.UTC)
    except (ValueError, OverflowError) as err:
        raise MalformedError("E_TIME", f"the calendar has no {text!r}", where=where) from err


def _read(path: Path, what: str) -> bytes:
    with storage_errors("read a file of the log", path), path.open("rb") as file:
        raw = file.read(MAX_BYTES + 1)
    if len(raw) > MAX_BYTES:
        raise MalformedError("E_SIZE", f"more than {MAX_BYTES} bytes", where=what)
    return raw


def _bad_layout(message: str, where: str) -> MalformedError:
    return MalformedError("E_LAYOUT", message, where=where)
