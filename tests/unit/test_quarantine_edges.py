"""For every code of quarantine one measurement that just has it, and one that just has not.

A code that is given too early keeps honest rounds out of the frontier, and one that is given too late lets the others
in. The table must hold every code (`test_every_code_of_quarantine_has_its_two_sides`), and both sides of an entry
differ in one thing.
"""

from __future__ import annotations

import random
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest

from ledger.flags import QUARANTINE
from ledger.ingest.checks.series import drifts, is_cold
from ledger.ingest.parity import ParityFile, add_parity
from ledger.ingest.perplexity import read_parity
from ledger.ingest.tandem.block_ab import TandemBlockAb
from ledger.ingest.tandem.record import TandemRecord
from ledger.ingest.tandem.report import TandemReport
from tests.support.edges import Edge
from tests.support.examined import MS, S, body_of, codes, examine, rep, stream
from tests.support.kld import kld_text
from tests.support.rounds import sha256_hex
from tests.support.tandem import (
    asked,
    block,
    block_ab,
    block_run,
    encode,
    files_of,
    log_line,
    log_of,
    record,
    report,
    request,
    run_record,
    seal,
    warm_up,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger.canonical import JsonObject


# Rounds.


def requests(*tokens: int, **columns: Sequence[Any]) -> list[str]:
    records = stream(*((count, 60, 140) for count in tokens), **columns)
    return codes(examine(body_of(rep(records, context=5 if "prompt_tokens" in columns else 0))))


def speeds(*rates: int) -> list[str]:
    each = [rep({"completion_tokens": [rate], "wall_ns": [10 * S]}, "gen_tok_s") for rate in rates]
    return codes(examine(body_of(*each)))


def heating(*arms: str) -> list[str]:
    times = range(1000, 1000 + 10 * len(arms), 10)
    walls = [
        rep({"wall_ns": [time * MS]}, "wall", arm=arm, wall_ns=time * MS) for time, arm in zip(times, arms, strict=True)
    ]
    return codes(examine(body_of(*walls)))


def bandwidth(tokens: int) -> list[str]:
    """A token less than `tokens` in a second, each of 4 GB; the memory has 3350 GB/s."""
    one = rep(stream((tokens, 100, 1100)))
    environment = {"gpu": "H100-SXM", "extra": {"peak_gbps": "3350"}}
    weights = {"sha256": sha256_hex("w"), "size": 4_000_000_000}
    return codes(examine(body_of(one, environment=environment, weights=weights)))


def depth(**printed: int) -> list[str]:
    one = rep({"completion_tokens": [64], "wall_ns": [S]}, "gen_tok_s", context=4096, workload={"depth": 4096})
    return codes(examine(body_of(one, printed=printed or None)))


# Files.


def notes_of(adapter: Any, found: Any, files: dict[str, bytes] | None = None) -> list[str]:  # noqa: ANN401 - any adapter and any JSON value
    rows = adapter.read(encode(found), "x.json") if files is None else adapter.read_with(encode(found), files, "x.json")
    return [note.partition(":")[0] for row in rows for note in row.notes]


def blocks(count: int = 32, **members: Any) -> list[str]:  # noqa: ANN401 - members of a result
    runs = block_ab()["runs"]
    runs[4] = block_run(1, "base", "prose", blocks=count, tok_blk=None, tok_s=None)
    return notes_of(TandemBlockAb(), block_ab(runs=runs, verdicts={}, **members))


def row_record(first: JsonObject | None = None, **metrics: Any) -> list[str]:  # noqa: ANN401 - members of a record
    listed = [warm_up(), request(0, **(first or {})), *(request(at) for at in range(1, 4))]
    return notes_of(TandemRecord(), record(*listed, iterations=[block(listed, **metrics)], **asked()))


def row_report(files: dict[str, bytes] | None = None, **members: Any) -> list[str]:  # noqa: ANN401 - as above
    return notes_of(TandemReport(), report(**members), files_of() if files is None else files)


def prompts_of(tokens: int) -> list[str]:
    made = run_record(2)
    for item in made["raw"]["payload"]["requests"]:
        item["prompt_tokens"] = tokens
    return row_report(files_of() | {"base/raw-3/run.json": encode(seal(made)), "base/server-slice-3.log": log_of(made)})


def log_of_tokens(committed: int) -> list[str]:
    lines = [log_line(item, committed=committed) for item in run_record(0)["raw"]["payload"]["requests"]]
    return row_report(files_of() | {"base/server-slice-1.log": "\n".join(lines).encode()})


def decoding(share: float) -> list[str]:
    items = run_record(0)["raw"]["payload"]["requests"]
    lines = [log_line(item, decode_ms=round((item["e2e_ms"] - item["ttft_ms"]) * share, 3)) for item in items]
    told = report() | {"summary": {}}
    told["runs"][0] |= {"ms_blk": None, "ms_blk_p50": None}
    return notes_of(TandemReport(), told, files_of() | {"base/server-slice-1.log": "\n".join(lines).encode()})


def references(perplexity: str, difference: str) -> list[str]:
    """Parity of both arms at one depth: the candidate's reference has this perplexity, that of main has 6."""
    changes = {"Mean PPL(base)": perplexity, "Mean PPL(Q)-PPL(base)": difference}
    texts = {"main": kld_text().encode(), "candidate": kld_text(changes=changes).encode()}
    files = [
        ParityFile(role=role, name=f"{role}.txt", raw=raw, printed=read_parity(raw, f"{role}.txt"))
        for role, raw in texts.items()
    ]
    return [note.partition(":")[0] for _, note in add_parity({"attachments": [], "reported": []}, files)]


EDGES: dict[str, Edge] = {
    "F_EMPTY_OUTPUT": Edge(lambda: requests(0, 9), lambda: requests(1, 9)),
    "F_REQUESTS_FAILED": Edge(lambda: requests(9, 9, ok=[True, False]), lambda: requests(9, 9, ok=[True, True])),
    "F_PREFIX_CACHE": Edge(
        lambda: requests(9, 9, prompt_tokens=[5, 5], cached_tokens=[0, 1]),
        lambda: requests(9, 9, prompt_tokens=[5, 5], cached_tokens=[0, 0]),
    ),
    "F_COLD_FIRST": Edge(lambda: speeds(909, 1000, 1001), lambda: speeds(910, 1000, 1001)),
    "F_CONFOUNDED": Edge(
        lambda: heating(*["main"] * 3, *["candidate"] * 3), lambda: heating(*["main"] * 2, *["candidate"] * 3, "main")
    ),
    "F_PLAUSIBILITY": Edge(lambda: bandwidth(839), lambda: bandwidth(838)),
    "F_DEPTH_UNPROVEN": Edge(depth, lambda: depth(kv_len_start=4096)),
    "F_CAPTURE": Edge(lambda: blocks(discard=0), blocks),
    "F_LEARNING": Edge(lambda: blocks(33, learn_cost=True), lambda: blocks(33, learn_cost=False)),
    "F_THROTTLED": Edge(
        lambda: row_record(thermal_throttle_detected=True), lambda: row_record(thermal_throttle_detected=False)
    ),
    "F_CLOCK_GAP": Edge(lambda: row_record(duration_s=11.481), lambda: row_record(duration_s=11.48)),
    "F_PROMPT_DRIFT": Edge(lambda: prompts_of(201), lambda: prompts_of(200)),
    "F_LOG_MISMATCH": Edge(lambda: log_of_tokens(127), lambda: log_of_tokens(128)),
    "F_FACTORS": Edge(lambda: decoding(0.965), lambda: decoding(0.975)),
    "F_STORE_UNKNOWN": Edge(lambda: row_report(suffix_store="other"), lambda: row_report(suffix_store="live")),
    "F_CODE_UNTIED": Edge(lambda: row_report(args={"no_server": True}), lambda: row_report(args={"no_server": False})),
    "F_REFERENCE": Edge(
        lambda: references("6.000001 ± 0.03", "0.299999 ± 0.012"),
        lambda: references("6.000000 ± 0.03", "0.300000 ± 0.012"),
    ),
    "F_SETTINGS_DIFFER": Edge(lambda: row_report(env={}), row_report),
}


def test_every_code_of_quarantine_has_its_two_sides() -> None:
    assert EDGES.keys() == QUARANTINE


@pytest.mark.parametrize("code", sorted(EDGES))
def test_a_code_of_quarantine_is_given_and_just_not_given(code: str) -> None:
    assert code in EDGES[code].has()
    assert QUARANTINE.isdisjoint({*EDGES[code].has_not()} - {"F_REQUESTS_FAILED"})
    assert code not in EDGES[code].has_not()


# How often chance alone gives one.


def chances(reps: int, noise: float, *, blocks: bool = False, rounds: int = 2000) -> dict[str, float]:
    """Shares of honest rounds of two equal arms, with normal noise, that get a code."""
    rng, found = random.Random(reps), {"cold": 0, "drift": 0}
    for _ in range(rounds):
        arms = [[Fraction(round(rng.gauss(10**6, 10**6 * noise))) for _ in range(reps)] for _ in "ab"]
        order = [*arms[0], *arms[1]] if blocks else [value for pair in zip(*arms, strict=True) for value in pair]
        found["cold"] += any(is_cold(arm, lower=True) for arm in arms)
        found["drift"] += drifts(order)
    return {name: count / rounds for name, count in found.items()}


@pytest.mark.parametrize("reps", [3, 5, 10])
@pytest.mark.parametrize("noise", [0.01, 0.03])
def test_chance_alone_hardly_ever_keeps_an_honest_round_out(reps: int, noise: float) -> None:
    """Drift alone is no quarantine; with arms that ran in one go it is, and is as rare."""
    for blocks in (False, True):
        found = chances(reps, noise, blocks=blocks)
        assert found["cold"] <= 0.01
        assert found["drift"] <= 0.03
