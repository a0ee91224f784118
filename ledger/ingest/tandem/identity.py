"""Digests that a runner's record has of itself, worked out again.

``raw.sha256`` is that of the payload alone, as compact JSON with sorted names. Numbers go into it as they are printed,
so that the digest covers exactly what is read. Three names are made of other members; they are checked where all that
they are made of is there.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from ledger.errors import MalformedError
from ledger.ingest.plain_text import compact_json
from ledger.ingest.values import look
from ledger.json_input import NumberText

if TYPE_CHECKING:
    from ledger.canonical import JsonObject

_CONFIG_DIGITS, _CELL_DIGITS, _RUN_DIGITS = 16, 12, 6


def check_identity(body: JsonObject, what: str) -> str:
    """Check the digest of the payload and the names.

    Returns:
        The digest.

    Raises:
        MalformedError: ``E_PAYLOAD_DIGEST`` or ``E_RECORD_ID``.
    """
    digest = _digest(compact_json(look(body, "raw/payload", what)))
    if look(body, "raw/sha256", what) != digest:
        raise MalformedError(
            "E_PAYLOAD_DIGEST",
            f"the payload's digest is {digest}: it was changed after the run",
            where=f"{what}/raw/sha256",
        )
    for name, accepted in (("config_id", _config_ids), ("cell_id", _cell_ids), ("run_id", _run_ids)):
        found, possible = body.get(name), accepted(body)
        if found is not None and possible and found not in possible:
            raise MalformedError(
                "E_RECORD_ID", f"expected {possible[0]}, found {found!r}"[:200], where=f"{what}/{name}"
            )
    return digest


def _config_ids(body: JsonObject) -> list[str]:
    args = body.get("args_canonical")
    return [_digest(str(args))[:_CONFIG_DIGITS]] if _is_text(args) else []


def _cell_ids(body: JsonObject) -> list[str]:
    """A version without dots is its own minor version."""
    paths = ("model/id", "model/quant_id", "hardware/id", "hardware/count", "engine/id", "engine/version")
    found = [_find(body, path) for path in paths]
    if not all(_is_text(value) or type(value) is int for value in found):
        return []
    *parts, version = map(str, found)
    minors = dict.fromkeys((version, ".".join(version.split(".")[:2])))
    return [_digest("|".join((*parts, minor)))[:_CELL_DIGITS] for minor in minors]


def _run_ids(body: JsonObject) -> list[str]:
    config, workload = body.get("config_id"), body.get("workload_id")
    login, start = (_find(body, f"provenance/{name}") for name in ("github_login", "started_at"))
    if not all(map(_is_text, (config, workload, login, start))):
        return []
    return [f"{config}--{workload}--{_digest(f'{login}|{start}')[:_RUN_DIGITS]}"]


def _find(body: JsonObject, path: str) -> object:
    first, _, second = path.partition("/")
    inner = body.get(first)
    return inner.get(second) if isinstance(inner, dict) else None


def _is_text(value: object) -> bool:
    return isinstance(value, str) and not isinstance(value, NumberText)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
