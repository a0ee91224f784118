"""The order in which attested statements that wait together are sealed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

from ledger.canonical import JsonObject
from ledger.statement import SignedStatement

Waiting: TypeAlias = tuple[Path, SignedStatement]


def in_sealing_order(waiting: Sequence[Waiting]) -> list[Waiting]:
    """Statements as they are to be sealed: those of each producer in the order of their numbers.

    Between producers a round waits for every incident about it: else the key that happens to sort first would decide
    whether a failure is sealed. Nothing here has been examined yet.
    """
    queues: dict[str, list[Waiting]] = {}
    for item in sorted(waiting, key=lambda item: _number(item[1])):
        queues.setdefault(_number(item[1])[0], []).append(item)
    incidents = Counter(_round_of(signed) for _, signed in waiting if signed.statement.kind == "incident")
    ordered = []
    while queues:
        keyid = min(queues, key=lambda each: (_is_early(queues[each][0][1], incidents), each))
        path, signed = queues[keyid].pop(0)
        if not queues[keyid]:
            del queues[keyid]
        if signed.statement.kind == "incident":
            incidents[_round_of(signed)] -= 1
        ordered.append((path, signed))
    return ordered


def _is_early(signed: SignedStatement, incidents: Counter[tuple[str, str]]) -> bool:
    """Whether a statement is a round of which an incident still waits."""
    return signed.statement.kind == "round" and incidents[_round_of(signed)] > 0


def _number(signed: SignedStatement) -> tuple[str, int]:
    producer = _object(signed.statement.predicate.get("producer"))
    seq = producer.get("seq")
    return str(producer.get("keyid")), seq if isinstance(seq, int) else -1


def _round_of(signed: SignedStatement) -> tuple[str, str]:
    """Node and id of the round that a round or an incident is about."""
    kind = signed.statement.kind
    body = _object(signed.statement.predicate.get(kind))
    name = body.get("id" if kind == "round" else "round")
    return str(_object(body.get("slot")).get("node")), str(name)


def _object(value: object) -> JsonObject:
    return value if isinstance(value, dict) else {}
