"""From a run to the body of a statement of kind ``imported``: what the files say, and nothing that they do not."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from ledger.canonical import JsonObject
from ledger.errors import MalformedError
from ledger.ingest.sparkinfer.run import LOG, read_commit, read_frontier, read_slot, read_value
from ledger.ingest.values import as_decimal, as_object, as_text, look, plain
from ledger.strict import format_time

if TYPE_CHECKING:
    from decimal import Decimal

    from ledger.ingest.sparkinfer.run import Fault, Run

Attest: TypeAlias = Callable[[JsonObject, dt.datetime], list[JsonObject]]

_DEPTH = re.compile(r"ctx(0|[1-9][0-9]{0,8})", re.ASCII)
_LONGEST_DECIMAL = 64
_LONGEST_LABEL = 200
# Told elsewhere in the body; a member that is only kept there when it has a place is told by `_reported`.
_TAKEN = {"tps", "frontier_tps", "label", "node", "quant", "scored_metric", "model_fingerprint"}
_ROW_ONLY = ("pr", "superseded_by", "superseded_reason")
_ENVIRONMENT = {
    "driver": "attestation/environment/driver_version",
    "gpu": "attestation/environment/gpu_name",
    "arch": "attestation/environment/gpu_arch",
    "cuda": "attestation/environment/cuda_version",
    "eval_mode": "attestation/environment/eval_mode",
    "clock_mhz": "attestation/environment/clock_mhz",
    "clock_spread_mhz": "attestation/environment/clock_spread_mhz",
    "clocks_pinned": "attestation/environment/clocks_pinned",
    "pin_target_mhz": "attestation/environment/pin_target_mhz",
    "model_file": "attestation/references/model_file",
    "model_sha256": "attestation/references/model_sha256",
    "llamacpp_commit": "attestation/references/llamacpp_commit",
    "eval_seed": "attestation/references/eval_seed",
    "build_hash": "attestation/code/build_hash",
    "scoring_scripts_commit": "attestation/code/scoring_scripts_commit",
}


def build_body(run: Run, faults: list[Fault], attest: Attest | None) -> JsonObject:
    """The body.

    Args:
        run: the run.
        faults: what was found wrong with it.
        attest: see `ledger.ingest.sparkinfer.log.read_log`.

    Raises:
        MalformedError: a value that a body cannot do without is missing or not of its form.
    """
    body: JsonObject = {
        "id": f"{LOG}/{run.id}",
        "source": {"log": LOG, "record": run.id, "position": run.position},
        "slot": read_slot(run),
        "at": format_time(run.at),
        "commit": read_commit(run),
        "value": _figure(read_value(run), "file", run.place("tps")),
        "parity": _parity(run),
        "environment": _environment(run),
        "labels": _labels(run),
        "reported": _reported(run),
        "files": [{"name": file.name, "sha256": file.sha256, "size": file.size} for file in run.files],
        "faults": [_fault(fault) for fault in faults],
    }
    frontier = read_frontier(run)
    if frontier:
        body["frontier"] = _figure(*frontier, run.place("frontier_tps"))
    if run.text and run.text.main:
        body["main"] = {"value": run.text.main, "origin": "file"}
    if (run.result or {}).get("decode_tps") is not None:
        body["guards"] = [_guard(run)]
    if attest:
        body["checks"] = _checks(run, attest)
    return body


def _checks(run: Run, attest: Attest) -> list[JsonObject]:
    where = run.name("receipt.json/tdx")
    try:
        return attest(as_object(run.sealed("tdx"), where), run.at)
    except MalformedError as err:
        raise err.at(where=where) from err


def _figure(number: Decimal, origin: str, where: str) -> JsonObject:
    return {"value": _decimal(number, where), "origin": origin}


def _decimal(number: Decimal, where: str) -> str:
    text = plain(number)
    if len(text) > _LONGEST_DECIMAL:
        raise MalformedError("E_FIELD", f"a number of {len(text)} digits cannot be recorded", where=where)
    return text


def _parity(run: Run) -> list[JsonObject]:
    depths = (run.result or {}).get("kl_depths")
    if depths is None:
        return _whole_parity(run)
    where = run.name("result.json/kl_depths")
    if not isinstance(depths, dict):
        raise MalformedError("E_FIELD", "expected an object of depths", where=where)
    return sorted((_depth(name, depths[name], where) for name in depths), key=lambda entry: int(entry["depth"]))


def _whole_parity(run: Run) -> list[JsonObject]:
    """One pair of figures, as far as they are there; their depth is not told."""
    if run.result is None:
        path = "attestation/measurements/primary"
        source, place = _member(run.receipt, path), run.name(f"receipt.json/{path}")
    else:
        source, place = run.result, run.name("result.json")
    return [entry] if (entry := _accuracy(source, place)) else []


def _accuracy(source: object, place: str) -> JsonObject:
    """The figures ``kl`` and ``top1`` of an object."""
    told = source if isinstance(source, dict) else {}
    return {
        part: _decimal(as_decimal(told[part], f"{place}/{part}"), f"{place}/{part}")
        for part in ("kl", "top1")
        if told.get(part) is not None
    }


def _depth(name: str, entry: object, where: str) -> JsonObject:
    match, place = _DEPTH.fullmatch(name), f"{where}/{name}"
    if not match or not isinstance(entry, dict):
        raise MalformedError("E_FIELD", "expected ctx and a depth with an object of figures", where=place)
    return {"depth": int(match[1]), **_accuracy(entry, place)}


def _guard(run: Run) -> JsonObject:
    """The decode speed that was held against a floor while prefill was scored."""
    where, result = run.name("result.json"), run.result or {}
    context = look(result, "decode_ctx", where)
    if type(context) is not int or context < 0:
        raise MalformedError("E_CONTEXT", f"expected a count of tokens, found {context!r}", where=f"{where}/decode_ctx")
    value = as_decimal(result["decode_tps"], f"{where}/decode_tps")
    return {"metric": "decode_tok_s", "context": context, "value": _decimal(value, f"{where}/decode_tps")}


def _environment(run: Run) -> dict[str, str]:
    """Facts of the node and the weights as text; what is empty in the source is left out."""
    found = {name: _member(run.receipt, path) for name, path in _ENVIRONMENT.items()}
    found["weights_fingerprint"] = run.payload.get("model_fingerprint")
    return {name: text for name, value in found.items() if (text := _scalar(value))}


def _member(document: JsonObject, path: str) -> object:
    try:
        return look(document, path, "")
    except MalformedError:  # absent is absent
        return None


def _scalar(value: object) -> str | None:
    """A scalar as text: a number as printed; null stays null."""
    if value is None or isinstance(value, dict | list):
        return None
    return str(value).lower() if isinstance(value, bool) else str(value)


def _labels(run: Run) -> dict[str, str]:
    """The verdict in every place that holds one."""
    found = {table: rows[0].get("label") for table, rows in run.rows.items() if rows}
    found["result"] = (run.result or {}).get("label")
    found["receipt"] = _member(run.receipt, "attestation/verdict/label")
    found["log"] = run.text.tier if run.text else None
    found["enclave"] = run.attested.get("label")
    return {
        place: as_text(label, run.name(f"{place}/label"))[:_LONGEST_LABEL]
        for place, label in found.items()
        if label is not None
    }


def _reported(run: Run) -> dict[str, str | None]:
    """Every other scalar of the result, and what only the rows about it say."""
    result, taken = run.result or {}, set(_TAKEN)
    if "kl_depths" not in result:
        taken |= {"kl", "top1"}
    taken |= {"scored_ctx"} if result.get("scored_ctx") is not None else {"scored_context"}
    if result.get("decode_tps") is not None:
        taken |= {"decode_tps", "decode_ctx"}
    found = {name: _scalar(value) for name, value in _flat(result).items() if name not in taken}
    for table, rows in run.rows.items():
        found |= {f"{table}.{name}": _scalar(rows[0][name]) for name in _ROW_ONLY if rows and name in rows[0]}
    return found


def _flat(result: JsonObject) -> JsonObject:
    """The scalars, those of the inner object ``provenance`` under dotted names."""
    inner = result.get("provenance")
    below = {f"provenance.{name}": value for name, value in inner.items()} if isinstance(inner, dict) else {}
    return {name: value for name, value in (result | below).items() if not isinstance(value, dict | list)}


def _fault(fault: Fault) -> JsonObject:
    found = {"code": fault.code, "message": fault.message, "where": fault.where, "record": fault.record}
    return {name: text for name, text in found.items() if text}
