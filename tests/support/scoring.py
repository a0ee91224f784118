"""Rules, rounds and imported figures for tests of scoring, and a fold that needs no ledger."""

from __future__ import annotations

import hashlib
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ledger import schema
from ledger.kinds import check_body
from ledger.rule import read_rule
from ledger.scoring.replay import Replay
from ledger.scoring.rung import Slot, read_slot

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger.canonical import JsonObject
    from ledger.rule import Rule
    from ledger.scoring.history import History, Judged
    from ledger.scoring.verdict import Verdict

BANDS = [("xl", "0.18"), ("l", "0.1"), ("m", "0.06"), ("s", "0.035"), ("xs", "0.02")]
DECODE = {"project": "p", "node": "n1", "quant": "q8", "context": 512, "metric": "decode_tok_s"}
PREFILL = DECODE | {"metric": "prefill_tok_s"}
NS = 10**9
PARITY = {"top1_min": "0.9", "kl_max": "0.05", "kl_prefer": "0.02"}
GUARD = {"metric": "decode_tok_s", "context": 512, "tolerance": "0.01"}
GUARDED = {"metric": "decode_tok_s", "context": 512}
"""That guard, as a waiver names it."""
PREFILL_SLOT, DECODE_SLOT = read_slot(PREFILL), read_slot(DECODE)


def rule_body(**members: Any) -> JsonObject:  # noqa: ANN401 - members of any kind
    """A rule for rounds: exact, attested, five bands over the frontier. None among `members` drops one."""
    body: JsonObject = {
        "name": "rule",
        "slots": [{"metric": "prefill_tok_s"}, {"metric": "decode_tok_s"}, {"metric": "ttft"}],
        "statistic": "median",
        "min_reps": 2,
        "numbers": "exact",
        "evidence": "attested",
        "frontier": {"basis": "ledger"},
        "significance": {"share": "0.02"},
        "bands": [{"tier": tier, "from": edge} for tier, edge in BANDS],
        "floor_tier": "xs",
    }
    body |= members
    return {name: value for name, value in body.items() if value is not None}


def make_rule(**members: Any) -> Rule:  # noqa: ANN401 - as above
    """The same, checked as an adopted rule is."""
    body = rule_body(**members)
    schema.validate("rule-input", body)
    return read_rule(body)


def recorded_rule(**members: Any) -> Rule:  # noqa: ANN401 - as above
    """A rule for imported figures: doubles, judged against the frontier that they record."""
    return make_rule(**{"numbers": "ieee754", "evidence": "imported", "frontier": {"basis": "recorded"}} | members)


def plain(number: float | str) -> str:
    """A number as a decimal without an exponent: the shortest that gives the double."""
    return format(Decimal(str(number)), "f")


def imported_body(name: str, value: str, frontier: str | None, **members: Any) -> JsonObject:  # noqa: ANN401 - as above
    """An imported figure in the decode slot, with parity that passes."""
    body: JsonObject = {
        "id": name,
        "source": {"log": "other", "record": name},
        "slot": DECODE,
        "at": "2026-08-01T00:00:00Z",
        "value": {"value": value, "origin": "file"},
        "parity": [{"kl": "0.004", "top1": "1"}],
        "files": [{"name": "receipt.json", "sha256": _digest(name), "size": 1}],
        "faults": [],
    }
    if frontier is not None:
        body["frontier"] = {"value": frontier, "origin": "file"}
    return body | members


def scored_body(
    name: str,
    candidate: Sequence[int],
    main: Sequence[int] | None,
    *,
    guard: tuple[int, int] | None = None,
    **members: Any,  # noqa: ANN401 - as above
) -> JsonObject:
    """A score round: prefill speeds of both arms in tok/s, one record per repetition, arms alternating.

    Args:
        name: id of the round.
        candidate: speed of each repetition of the candidate; each divides 512 * 10^9 or is rounded to whole ns.
        main: the same of main; none for no main arm.
        guard: decode speed of candidate and main, measured in every repetition.
        members: replace members of the body.
    """
    arms = {"candidate": candidate} | ({"main": main} if main is not None else {})
    reps: list[JsonObject] = []
    for at in range(max(len(speeds) for speeds in arms.values())):
        for arm in sorted(arms):
            if at < len(arms[arm]):
                reps.append(_rep(arm, len(reps), arms[arm][at], guard))
    body: JsonObject = {
        "id": name,
        "purpose": "score",
        "slot": PREFILL,
        "protocol": {"name": "pairs"},
        "environment": {"cpu": "one", "driver": "1"},
        "weights": {"sha256": _digest("weights")},
        "harness": {"sha256": _digest("harness"), "name": "h"},
        "arms": [{"role": arm, "code_sha256": _digest(f"{arm} of {name}"), "commit": f"{arm}-{name}"} for arm in arms],
        "reps": reps,
        "parity": [parity_point(arm) for arm in arms],
    }
    if guard:
        body["guards"] = [{"metric": "decode_tok_s", "context": 512}]
    return body | members


def parity_point(arm: str = "candidate", **members: Any) -> JsonObject:  # noqa: ANN401 - as above
    """Parity at depth 4 that passes every bar of these tests."""
    return {"arm": arm, "depth": 4, "trials": 1000, "kl": "0.001", "top1": "0.999"} | members


def _rep(arm: str, order: int, speed: int, guard: tuple[int, int] | None) -> JsonObject:
    wall = 512 * NS // speed
    records: JsonObject = {"prompt_tokens": [512], "wall_ns": [wall]}
    metrics = ["prefill_tok_s"]
    if guard:
        decode = guard[0] if arm == "candidate" else guard[1]
        records |= {"completion_tokens": [101], "ttft_ns": [1], "e2e_ns": [1 + 100 * NS // decode]}
        metrics.append("decode_tok_s")
    return {
        "arm": arm,
        "order": order,
        "started_at": "2026-11-29T20:00:00Z",
        "warmup": False,
        "wall_ns": wall,
        "metrics": metrics,
        "context": 512,
        "records": records,
    }


def _digest(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()


class Fold:
    """A replay fed by hand: what a verified ledger would hand over, without files and keys."""

    def __init__(self, *rules: Rule) -> None:
        self.replay = Replay(rules)
        self.size = 0

    def add(self, kind: str, body: JsonObject, *, attested: bool = True) -> int:
        """Take in a body, checked as the door would; returns its index."""
        schema.validate({"rule": "rule-input", "round": "round-input", "imported": "imported-input"}[kind], body)
        check_body(kind, body)
        return self.feed(kind, body, attested=attested and kind == "round")

    def rule_on(self, target: int, action: str, **members: Any) -> int:  # noqa: ANN401 - members of any kind
        """Take in a ruling about the receipt at an index."""
        body = {"action": action, "receipt": f"{target:064x}", "reason": "r"} | members
        check_body("ruling", body)
        return self.feed("ruling", body, attested=True)

    def feed(self, kind: str, body: JsonObject, *, attested: bool) -> int:
        """Take in a body as it is."""
        index = self.size
        self.replay.feed(index, kind, body, digest=f"{index:064x}", attested=attested)
        self.size += 1
        return index

    @property
    def history(self) -> History:
        """What has been read so far."""
        return self.replay.history(self.size)

    def judged(self, index: int) -> Judged:
        """The rung of a receipt."""
        return next(item for item in self.history.judged if item.rung.index == index)

    def verdict(self, index: int) -> Verdict:
        """Its verdict, which there must be."""
        found = self.judged(index).verdict
        assert found is not None
        return found


def verdict_of(rule: Rule, kind: str, body: JsonObject, *, attested: bool = True) -> Verdict:
    """The verdict on one body in an empty history."""
    fold = Fold(rule)
    return fold.verdict(fold.add(kind, body, attested=attested))


def frontier_of(fold: Fold, slot: Slot = PREFILL_SLOT) -> Fraction | None:
    """Value of the frontier of a slot, rounded to whole units; none without one."""
    best = fold.history.slots[slot].frontier.best
    return None if best is None else Fraction(round(best.figure.value))
