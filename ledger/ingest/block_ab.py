"""A saved session of TandemLLM's block A/B, read so that it can be judged again.

What the file says of verdicts and of tokens is not read: both are worked out from the runs.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from ledger.errors import MalformedError
from ledger.ingest.values import as_decimal, as_label, as_object, look, read_json
from ledger.scoring.compare.blocks import BlockRun, BlockSession

if TYPE_CHECKING:
    from ledger.canonical import JsonObject

_MOST_TOKENS = 2**53


def is_block_session(raw: bytes) -> bool:
    """Whether some bytes look like such a session, sound or not."""
    return raw.lstrip()[:1] == b"{" and b'"block_ms"' in raw and b'"state_specs"' in raw


def read_block_session(raw: bytes, what: str) -> BlockSession:
    """Read a session.

    Raises:
        MalformedError: what `ledger.ingest.values` raises, ``E_FORMAT``, ``E_EMPTY_RESULTS``, ``E_FIELD`` for a time or
            a number of blocks that is not above 0, or a token that is none.
    """
    body = as_object(read_json(raw, what), what)
    listed = look(body, "runs", what)
    if not isinstance(listed, list) or not listed:
        raise MalformedError("E_EMPTY_RESULTS", "there is no run in the session", where=f"{what}/runs")
    mix = as_object(body.get("mix") or {}, f"{what}/mix")
    return BlockSession(
        base=as_label(look(body, "base", what), f"{what}/base"),
        runs=tuple(
            _read_run(as_object(run, f"{what}/runs/{at}"), f"{what}/runs/{at}") for at, run in enumerate(listed)
        ),
        mix={name: Fraction(as_decimal(weight, f"{what}/mix/{name}")) for name, weight in mix.items()},
    )


def _read_run(run: JsonObject, where: str) -> BlockRun:
    block_ms = Fraction(as_decimal(look(run, "block_ms", where), f"{where}/block_ms"))
    if block_ms <= 0:
        raise MalformedError("E_FIELD", "expected a time above 0", where=f"{where}/block_ms")
    return BlockRun(
        pair=_count(run, "pair", where, least=0),
        state=as_label(look(run, "state", where), f"{where}/state"),
        workload=as_label(look(run, "workload", where), f"{where}/workload"),
        block_ms=block_ms,
        blocks=_count(run, "blocks", where, least=1),
        tokens=_tokens(look(run, "out", where), f"{where}/out"),
    )


def _count(run: JsonObject, name: str, where: str, *, least: int) -> int:
    value = look(run, name, where)
    if type(value) is not int or value < least:
        raise MalformedError(
            "E_FIELD", f"expected a count of at least {least}, found {value!r}"[:200], where=f"{where}/{name}"
        )
    return value


def _tokens(value: object, where: str) -> tuple[int, ...]:
    if not isinstance(value, list) or not value:
        raise MalformedError("E_FIELD", "expected the ids of the tokens that came out", where=where)
    for at, token in enumerate(value):
        if type(token) is not int or not 0 <= token < _MOST_TOKENS:
            raise MalformedError("E_FIELD", f"expected the id of a token, found {token!r}"[:200], where=f"{where}/{at}")
    return tuple(value)
