"""From the files that ``compare`` is given to the sides of a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from cli.context import find_ledger, read_input
from cli.history import open_log
from cli.inputs import may_be_round
from cli.tool_files import read_tool_file
from ledger.canonical import JsonObject
from ledger.errors import MalformedError, RefusedError
from ledger.ingest import find_adapter, recognise
from ledger.ingest.options import ROLES
from ledger.ingest.sides import ToolFile, join_sides, side_of_rows, sides_of_round
from ledger.json_input import parse_json
from ledger.kinds import check_body
from ledger.receipt import decode_receipt
from ledger.schema import validate
from ledger.scoring.compare.comparable import is_same_place
from ledger.scoring.compare.side import Side
from ledger.scoring.replay import replay

_RECEIPT = b'{"receipt"'
_ROUND = "round"


def read_side(words: Sequence[str], tool: str) -> Side:
    """One side, of files of a tool, rounds and receipts: ``FILE``, or ``FILE@ROLE`` for one arm of a round.

    Args:
        words: as given.
        tool: name of the tool that wrote the files that are no rounds; empty to recognise it.

    Raises:
        RefusedError: ``E_ARM`` for an arm that a round lacks or that is not named where there are several, and what
            the readers raise.
        MalformedError: what the readers raise.
        StorageError: a file cannot be read.
    """
    parts: list[Side] = []
    files: list[ToolFile] = []
    for word in words:
        path, role = split_role(word)
        raw = read_input(path)
        if _is_ours(raw):
            parts.append(_choose_arm(path, role, _read_body(raw, path)))
        else:
            files.append(_read_file(path, raw, tool))
    label = words[0] if len(words) == 1 else f"{words[0]} and {len(words) - 1} more"
    parts += [side_of_rows(label, files)] if files else []
    return join_sides(label, parts)


def read_noise(words: Sequence[str], tool: str) -> list[tuple[Side, Side]]:
    """Sessions of one build, each as its two halves.

    A round is a session of its own. The files of a tool are one session together: in the order of their starts, every
    second run belongs to the other half, and one that is left over to none.

    Raises:
        RefusedError: ``E_NOISE`` for a round of another purpose, and as `read_side`.
        MalformedError: as `read_side`.
        StorageError: as `read_side`.
    """
    sessions: list[tuple[Side, Side]] = []
    files: list[ToolFile] = []
    for word in words:
        path = Path(word)
        raw = read_input(path)
        if not _is_ours(raw):
            files.append(_read_file(path, raw, tool))
            continue
        body = _read_body(raw, path)
        if body["purpose"] != "noise":
            raise RefusedError("E_NOISE", f"a round with the purpose {body['purpose']}, not noise", where=word)
        first, second, *_ = sides_of_round(path.name, body).values()
        sessions.append((first, second))
    return sessions + ([_halves(side_of_rows("noise", files))] if files else [])


def read_ledger_noise(folder: Path, base: Side) -> list[tuple[Side, Side]]:
    """The sessions of noise of a ledger that were run where a side was: attested, and such as count.

    Raises:
        RefusedError: ``E_NOISE`` when the side does not say its slot, which only rounds and receipts do.
        LedgerError: the ledger cannot be found, or does not verify.
    """
    if not any(axis.startswith("slot/") for run in base.runs for axis in run.axes):
        raise RefusedError(
            "E_NOISE", f"{base.label} does not say its slot: give rounds or receipts, or --noise FILE", where="--ledger"
        )
    log = open_log(find_ledger(folder))
    sessions = []
    for judged in replay(log, []).judged:
        rung = judged.rung
        if rung.purpose == "noise" and rung.evidence == "attested" and judged.counts:
            body = log.receipt(rung.index).statement.body
            first, second, *_ = sides_of_round(f"receipt {rung.index}", body).values()
            if is_same_place(base, replace(first, runs=(*first.runs, *second.runs))):
                sessions.append((first, second))
    return sessions


def _halves(side: Side) -> tuple[Side, Side]:
    first, second = [], []
    for runs in side.by_test().values():
        ordered = sorted(runs, key=lambda run: run.started_at)
        whole = len(ordered) // 2 * 2
        first += ordered[:whole:2]
        second += ordered[1:whole:2]
    return replace(side, runs=tuple(first)), replace(side, runs=tuple(second))


def split_role(word: str) -> tuple[Path, str]:
    """The file that a word names, and the arm of it; empty for the whole."""
    name, at, role = word.rpartition("@")
    return (Path(name), role) if at and role in ROLES else (Path(word), "")


def _is_ours(raw: bytes) -> bool:
    """Whether a file is a receipt, or a round as a bot writes it."""
    return raw.startswith(_RECEIPT) or (raw.lstrip()[:1] == b"{" and may_be_round(raw))


def _read_body(raw: bytes, path: Path) -> JsonObject:
    """The round that a file holds. A receipt's signatures are not looked at: that is what ``verify`` is for."""
    if raw.startswith(_RECEIPT):
        statement = decode_receipt(raw).statement
        if statement.kind != _ROUND:
            raise RefusedError("E_KIND", f"a receipt of the kind {statement.kind}, not a round", where=str(path))
        body = statement.body
    else:
        body = parse_json(raw, what=str(path))
    try:
        validate("round-input", body)
        check_body(_ROUND, body)
    except (MalformedError, RefusedError) as err:
        raise type(err)(err.code, err.message, where=f"{path} {err.where}".strip()) from err
    return dict(body)


def _choose_arm(path: Path, role: str, body: JsonObject) -> Side:
    arms = sides_of_round(path.name, body)
    if role and role not in arms:
        raise RefusedError("E_ARM", f"the round has no arm {role}; it has {', '.join(arms)}", where=str(path))
    if not role and len(arms) > 1:
        raise RefusedError("E_ARM", f"the round has the arms {', '.join(arms)}: name one, {path}@ROLE", where=str(path))
    return arms[role or next(iter(arms))]


def _read_file(path: Path, raw: bytes, tool: str) -> ToolFile:
    adapter = find_adapter(tool) if tool else recognise(raw, str(path))
    return ToolFile(name=path.name, raw=raw, tool=adapter.name, rows=read_tool_file(path, raw, adapter).rows)
