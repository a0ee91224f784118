"""Rounds of requests and samples, examined as they are before they are signed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ledger.errors import LedgerError
from ledger.ingest.checks import examine_round
from ledger.kinds import check_body
from ledger.schema import validate
from ledger.scoring.facts import ArmFact, round_facts
from tests.support.rounds import sha256_hex

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from ledger.canonical import JsonObject
    from ledger.ingest.checks.notes import Said

MS = 10**6
S = 10**9


def rep(records: JsonObject, *metrics: str, arm: str = "main", **members: Any) -> JsonObject:  # noqa: ANN401 - any member
    """A repetition at context 0; it takes a minute, and its order is that of the list it is put into."""
    return {
        "arm": arm,
        "started_at": "2026-11-29T20:00:00Z",
        "warmup": False,
        "wall_ns": 60 * S,
        "metrics": list(metrics) or ["decode_tok_s", "ttft"],
        "context": 0,
        "records": records,
    } | members


def body_of(*reps: JsonObject, printed: JsonObject | None = None, **members: Any) -> JsonObject:  # noqa: ANN401 - as above
    """A round of repetitions; its slot is the first metric of the last of them.

    Args:
        reps: see `rep`.
        printed: what the tool printed of the first.
        members: replace members of the round.
    """
    placed = [each | {"order": order} for order, each in enumerate(reps)]
    body: JsonObject = {
        "id": "r",
        "purpose": "score",
        "slot": slot(metric=reps[-1]["metrics"][0], context=reps[-1]["context"]),
        "protocol": {"name": "single"},
        "environment": {"cpu": "one"},
        "weights": {"sha256": sha256_hex("weights")},
        "harness": {"sha256": sha256_hex("harness"), "name": "h"},
        "arms": [
            {"role": arm, "code_sha256": sha256_hex(f"code of {arm}")}
            for arm in dict.fromkeys(each["arm"] for each in reps)
        ],
        "reps": placed,
    }
    if printed is not None:
        source = {"attachment": "out.json", "row": 0}
        body["attachments"] = [{"name": "out.json", "sha256": sha256_hex("out"), "size": 1}]
        body["reported"] = [{"source": source, "values": printed}]
        placed[0] |= {"source": source}
    return body | members


def slot(**axes: Any) -> JsonObject:  # noqa: ANN401 - as above
    return {"project": "p", "node": "n1", "quant": "q", "context": 0, "metric": "decode_tok_s"} | axes


def examine(body: JsonObject, said: Collection[Said] = frozenset(), *, built_by: str = "a tool") -> list[str]:
    """The notes of a round, after the checks that come before; by default it was made of a tool's file."""
    validate("round-input", body)
    check_body("round", body)
    return examine_round(body, said, built_by=built_by)


def codes(notes: Sequence[str]) -> list[str]:
    return [note.partition(":")[0] for note in notes]


def refusal(body: JsonObject) -> tuple[str, str, str]:
    """Code, place and message of a round that must be refused."""
    with pytest.raises(LedgerError) as caught:
        examine(body)
    return caught.value.code, caught.value.where, caught.value.message


def fact_of(body: JsonObject, metric: str) -> ArmFact:
    """The one fact of a metric."""
    (fact,) = [fact for fact in round_facts(body) if fact.metric.name == metric]
    return fact


def stream(*requests: Sequence[int], **columns: Sequence[Any]) -> JsonObject:
    """Records of requests: tokens of the answer, time to the first and to the end, in ms."""
    tokens, firsts, ends = zip(*requests, strict=True)
    return {
        "completion_tokens": list(tokens),
        "ttft_ns": [first * MS for first in firsts],
        "e2e_ns": [end * MS for end in ends],
    } | {name: list(column) for name, column in columns.items()}
