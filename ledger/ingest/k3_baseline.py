"""Baselines of the project K3, ``bench/results/*.json``: figures of a node, and no repetition of any of them.

Nothing can be worked out again from such a file, so it makes no round. Each figure becomes a statement of kind
``imported``, with what is wrong with it. 0 stands for "not measured" and gives no figure. How deep the context was only
an option of the command tells (``-d`` for decoding, ``-p`` for prefill); the name of the entry is what was asked for.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ledger import canonical
from ledger.errors import MalformedError, RefusedError
from ledger.ingest.direction import read_tool_json
from ledger.ingest.plain_text import as_plain_text, as_time, flatten
from ledger.ingest.sparkinfer.run import Fault
from ledger.ingest.values import as_decimal, as_label, as_object, as_text, look, plain
from ledger.json_input import NumberText
from ledger.kinds import check_body
from ledger.schema import validate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ledger.canonical import JsonObject
    from ledger.ingest.adapter import Row

SOURCE = "k3-baseline"

_METRICS = {"decode_tps": ("decode_tok_s", "-d"), "prefill_pp": ("prefill_tok_s", "-p")}
"""By member of an entry, the metric and the option that tells its context."""
_COMMITS = ("engine_commit", "llamacpp_commit")
_ENVIRONMENT = ("node_label", "arch", "gpu", "gpus", "gpu_name", "cpu", "hbm_gib_total", "pinned_graphics_clock_mhz")
_NO_LABEL = re.compile(r"[^A-Za-z0-9._:/@+-]+", re.ASCII)
_COUNTS = re.compile(r"\d{1,9}(?:,\d{1,9})*", re.ASCII)
_KEY = re.compile(r"0|[1-9]\d{0,9}", re.ASCII)
_LONGEST_DECIMAL, _LONGEST_TEXT = 64, 65536


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What a file does not say and the caller must.

    Attributes:
        at: time of the measurement, RFC 3339 UTC.
        contexts: tokens in context by the name of the entry.
        project: project of the slot, in place of the engine's name.
    """

    at: str
    contexts: Mapping[str, int]
    project: str


class K3Baseline:
    """The adapter (see `ledger.ingest.adapter.Adapter`): it knows such files, and refuses to make a round of one."""

    name = "k3-baseline"
    about = "bench/results/*.json of K3: no round; see rungbook import k3-baseline"

    def recognises(self, raw: bytes) -> bool:
        """See `Adapter`."""
        return raw.lstrip()[:1] == b"{" and b'"decode_tps"' in raw and b'"contexts"' in raw

    def read(self, raw: bytes, what: str) -> list[Row]:
        """See `Adapter`: there is no repetition in the file."""
        _read_entries(as_object(read_tool_json(raw, what), what), what)
        raise MalformedError(
            "E_NO_SAMPLES",
            "figures without their repetitions make no round; rungbook import k3-baseline keeps them as imported",
            where=f"{what}/contexts",
        )


def read_baseline(raw: bytes, what: str, given: Given) -> list[JsonObject]:
    """Read a file.

    Args:
        raw: its bytes.
        what: its name.
        given: what it does not say.

    Returns:
        A body of kind ``imported`` for each figure, in the file's order.

    Raises:
        MalformedError: the file is not one of K3, or lacks something that a figure needs.
        RefusedError: ``E_MISSING`` naming all that must be given; ``E_MIXED`` for what is given although the file
            says it, and for a context of an entry that it does not have.
    """
    body = as_object(read_tool_json(raw, what), what)
    figures = [
        _Figure(entry=key, at=at, member=member, item=item)
        for at, (key, item) in enumerate(_read_entries(body, what).items())
        for member in _METRICS
        if as_decimal(look(item, member, f"{what}/contexts/{key}"), f"{what}/contexts/{key}/{member}") != 0
    ]
    if not figures:
        raise MalformedError("E_EMPTY_RESULTS", "every figure is 0: nothing was measured", where=f"{what}/contexts")
    told = [_told_context(body, figure) for figure in figures]
    _require_given(body, figures, told, given)
    return [_body(raw, what, body, figure, context, given) for figure, context in zip(figures, told, strict=True)]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Figure:
    """A figure: the entry that it stands in, its place, the member, and the entry's contents."""

    entry: str
    at: int
    member: str
    item: JsonObject


def _read_entries(body: JsonObject, what: str) -> dict[str, JsonObject]:
    contexts = as_object(look(body, "contexts", what), f"{what}/contexts")
    if not contexts:
        raise MalformedError("E_EMPTY_RESULTS", "there is no entry", where=f"{what}/contexts")
    for key in contexts:
        if not _KEY.fullmatch(key):
            raise MalformedError(
                "E_FIELD", f"expected a number of tokens, found {key!r}"[:200], where=f"{what}/contexts"
            )
    return {key: as_object(item, f"{what}/contexts/{key}") for key, item in contexts.items()}


def _told_context(body: JsonObject, figure: _Figure) -> int | None:
    """The context by the option of the command, which has one for every entry, in their order."""
    words = str(body.get("command") or body.get("llama_flags") or "").split()
    option = _METRICS[figure.member][1]
    values = [words[at + 1] for at, word in enumerate(words[:-1]) if word == option]
    if not values or not _COUNTS.fullmatch(values[-1]):
        return None
    counts = values[-1].split(",")
    return int(counts[figure.at]) if len(counts) == len(body["contexts"]) else None


def _require_given(body: JsonObject, figures: list[_Figure], told: list[int | None], given: Given) -> None:
    """Check that all is given that is not told, and nothing else."""
    silent = list(dict.fromkeys(figure.entry for figure, context in zip(figures, told, strict=True) if context is None))
    said = body.get("measured_utc")
    missing = ["--at TIME"] if said is None and not given.at else []
    missing += [f"--context {key}=TOKENS" for key in silent if key not in given.contexts]
    if missing:
        raise RefusedError("E_MISSING", f"the file does not say all that a figure needs; give {', '.join(missing)}")
    needless = sorted(given.contexts.keys() - set(silent))
    if needless:
        raise RefusedError(
            "E_MIXED", f"the file tells the context of {needless[0]!r}, or has no such entry", where="--context"
        )
    if given.at and said is not None and given.at != said:
        raise RefusedError("E_MIXED", f"the file says {said!r}, given is {given.at}"[:200], where="--at")


def _body(raw: bytes, what: str, document: JsonObject, figure: _Figure, told: int | None, given: Given) -> JsonObject:
    place = f"{what}/contexts/{figure.entry}/{figure.member}"
    digest, name = hashlib.sha256(raw).hexdigest(), what.replace("\\", "/").rpartition("/")[2]
    at = as_time(document.get("measured_utc") or given.at, f"{what}/measured_utc")
    context = told if told is not None else given.contexts[figure.entry]
    body: JsonObject = {
        "source": {"log": SOURCE, "record": digest[:32], "position": figure.at},
        "slot": {
            "project": given.project or _project(document, what),
            "node": as_label(look(document, "node_profile", what), f"{what}/node_profile"),
            "quant": as_label(look(document, "quant", what), f"{what}/quant"),
            "context": context,
            "metric": _METRICS[figure.member][0],
        },
        "at": at,
        "value": {"value": _decimal(figure.item[figure.member], place), "origin": "file"},
        "environment": {name: as_plain_text(document[name]) for name in _ENVIRONMENT if document.get(name)},
        "reported": _reported(document, figure, what),
        "files": [{"name": name, "sha256": digest, "size": len(raw)}],
    }
    commits = [as_label(document[name], f"{what}/{name}") for name in _COMMITS if document.get(name)]
    if commits:
        body["commit"] = commits[0]
    # The faults stay out of the id: a later version that sees more in a file must not make another figure of it.
    body["id"] = f"{SOURCE}/{hashlib.sha256(canonical.encode(body)).hexdigest()[:24]}"
    body["faults"] = [_fault(fault) for fault in _faults(figure, told)]
    validate("imported-input", body)
    check_body("imported", body)
    return body


def _project(document: JsonObject, what: str) -> str:
    """The engine's name: figures of two engines are never in one slot."""
    engine = _NO_LABEL.sub("-", as_text(look(document, "engine", what), f"{what}/engine")).strip("-")
    return as_label(engine, f"{what}/engine")


def _decimal(value: object, where: str) -> str:
    text = plain(as_decimal(value, where))
    if len(text) > _LONGEST_DECIMAL:
        raise MalformedError("E_FIELD", f"a number of {len(text)} digits cannot be recorded", where=where)
    return text


def _reported(document: JsonObject, figure: _Figure, what: str) -> dict[str, str]:
    """Everything else that the file says, and the rest of the figure's own entry."""
    rest: dict[str, Any] = {name: value for name, value in document.items() if name not in {"contexts", *_ENVIRONMENT}}
    entry = flatten(figure.item, f"{what}/contexts/{figure.entry}", prefix="entry.", skip=(figure.member,))
    return flatten(rest, what, longest=_LONGEST_TEXT) | entry | {"entry": figure.entry}


def _faults(figure: _Figure, told: int | None) -> list[Fault]:
    where = f"contexts/{figure.entry}"
    reps = figure.item.get("reps")
    found = []
    if "samples" not in figure.item:
        repetitions = f"{as_plain_text(reps)} repetitions are told" if reps is not None else "no number is told"
        found.append(Fault(code="K_REPS_ABSENT", message=f"{repetitions}, and none is kept", where=where))
    found += [
        Fault(code="K_SENTINEL", message=f"{other} is 0: it was not measured", where=f"{where}/{other}")
        for other in _METRICS
        if other != figure.member and _is_zero(figure.item.get(other))
    ]
    if reps == 1:
        found.append(Fault(code="F_N1", message="one sample, of which no deviation is known", where=f"{where}/reps"))
    if told is None:
        message = f"no option tells how deep the context was that is called {figure.entry}"
        found.append(Fault(code="F_DEPTH_UNPROVEN", message=message, where=where))
    elif told != int(figure.entry):
        message = f"called {figure.entry}, and {told} by the command"
        found.append(Fault(code="F_CONTEXT_DECLARED", message=message, where=where))
    return found


def _is_zero(value: object) -> bool:
    return isinstance(value, int | NumberText) and not isinstance(value, bool) and float(value) == 0


def _fault(fault: Fault) -> JsonObject:
    return {"code": fault.code, "message": fault.message, "where": fault.where}
