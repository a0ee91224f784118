"""Both sides of every refusal of a round: by what it says itself, by how it was asked for, by attempts before it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ledger.attempts import Attempts
from ledger.ingest import find_adapter
from ledger.ingest.build import build_round
from ledger.ingest.options import RoundOptions
from ledger.ingest.run import Run
from ledger.json_input import parse_json
from tests.support.edges import Refusal
from tests.support.examined import MS, S, body_of, examine, rep, slot, stream
from tests.support.rounds import sha256_hex
from tests.support.timed import HYPERFINE, PYTEST, changed, raw

if TYPE_CHECKING:
    from ledger.canonical import JsonObject
    from ledger.ingest.adapter import Row

TWO = stream((9, 60, 140), (9, 70, 150))
"""Two answers."""

DIGEST = "0" * 64
NIGHT = {"main": ["2026-11-29T20:00:00Z"]}
OPTIONS = RoundOptions(
    tool="a-bench",
    slot={"project": "p", "node": "n", "quant": "q", "context": "0", "metric": "wall"},
    code={"main": DIGEST},
    weights=DIGEST,
    harness=DIGEST,
    environment={"gpu": "one"},
    commits={"main": "abc1234"},
    started_at=NIGHT,
)


# What a round says.


def of_two(*metrics: str, records: JsonObject | None = None, **members: Any) -> list[str]:  # noqa: ANN401 - members of a repetition
    """A round of one repetition: that of two answers, some of its columns replaced."""
    return examine(body_of(rep(TWO | (records or {}), *metrics, **members)))


def of_arms(path: str = "id", value: Any = "r", **candidate: Any) -> list[str]:  # noqa: ANN401 - any JSON value, members of a repetition
    """A round of two arms, with another value at a path of its body."""
    body = body_of(rep(TWO), rep(stream((9, 61, 141)), arm="candidate", **candidate))
    return examine(changed(body, path, value))


def of_round(records: JsonObject, printed: JsonObject, *metrics: str, **members: Any) -> list[str]:  # noqa: ANN401 - members of a repetition
    """A round of one repetition of ten seconds, of which a tool printed something."""
    return examine(body_of(rep(records, *metrics, **{"wall_ns": 10 * S} | members), printed=printed))


def of_arms_listed(*arms: int) -> list[str]:
    """The round of two arms, in which these are listed."""
    both = [{"role": role, "code_sha256": sha256_hex(role)} for role in ("main", "candidate")]
    return of_arms("arms", [both[at] for at in arms])


def of_noise(code: str) -> list[str]:
    """A round of noise, whose candidate is of a code."""
    arms = [("main", sha256_hex("code")), ("candidate", sha256_hex(code))]
    body = body_of(rep(TWO), rep(stream((9, 61, 141)), arm="candidate"), purpose="noise")
    return examine(body | {"arms": [{"role": role, "code_sha256": digest} for role, digest in arms]})


def of_parity(*depths: int) -> list[str]:
    return examine(body_of(rep(TWO), parity=[{"arm": "main", "depth": depth, "trials": 100} for depth in depths]))


def as_typed(divergence: str) -> list[str]:
    """A round as somebody types it, its divergence in just these characters."""
    point = {"arm": "main", "depth": 512, "trials": 100, "kl": "-"}
    return examine(parse_json(json.dumps(body_of(rep(TWO), parity=[point])).replace('"-"', divergence).encode()))


def of_walls(last: int, *, wall_ns: int = 60 * S) -> list[str]:
    """Two repetitions of three times that no coarse clock told, the last of which is this one in the second."""
    times = [S + 1, S + 2]
    first, second = rep({"wall_ns": [*times, S + 3]}, "wall"), rep({"wall_ns": [*times, last]}, "wall", wall_ns=wall_ns)
    return examine(body_of(first, second))


def of_gaps(first: int, rest: int) -> list[str]:
    """An answer of a second, whose pieces came after 100 ms and then after these nanoseconds."""
    return of_two(records=stream((3, 100, 1000)) | {"itl_ns": [[first, rest]]})


def of_file(name: str) -> list[str]:
    """A round that was made of ``out.json``, and lists a file of this name."""
    return examine(body_of(rep(TWO), printed={}, attachments=[{"name": name, "sha256": sha256_hex("out"), "size": 1}]))


def of_depth(seen: int) -> list[str]:
    """A generation at a context of 4096, when the engine had seen so many tokens."""
    asked = {"context": 4096, "workload": {"depth": 4096}}
    return of_round({"completion_tokens": [64], "wall_ns": [S]}, {"kv_len_start": seen}, "gen_tok_s", **asked)


def of_prompts(tokens: int) -> list[str]:
    """1000 tokens of answers in ten seconds, printed together with those of prompts."""
    records = {"completion_tokens": [1000], "prompt_tokens": [tokens], "wall_ns": [10 * S]}
    return of_round(records, {"output_throughput": f"{(1000 + tokens) / 10}"}, "output_tok_s")


def of_size(size: int) -> list[str]:
    """Weights of ten billion parameters in 8-bit blocks."""
    weights = {"sha256": sha256_hex("weights"), "size": size, "params": 10**10}
    return examine(body_of(rep(TWO), slot=slot(quant="Q8_0"), weights=weights))


# How it was asked for.


def rows_of(tool: str, document: dict[str, Any]) -> list[Row]:
    return find_adapter(tool).read(raw(document), "x.json")


def build(run: Run, **given: Any) -> list[str]:  # noqa: ANN401 - options
    return examine(build_round([run], replace(OPTIONS, **given)).body)


def of_command(role: str = "main", rows: tuple[int, ...] = (0,), **given: Any) -> list[str]:  # noqa: ANN401 - as above
    """A round of a command that was timed, of which its file says neither start nor node."""
    run = Run(role=role, name="x.json", raw=raw(HYPERFINE), rows=rows_of("hyperfine", HYPERFINE))
    code, commits, starts = ({role: each["main"]} for each in (OPTIONS.code, OPTIONS.commits, NIGHT))
    return build(run.select(rows), **{"code": code, "commits": commits, "started_at": starts} | given)


def of_axes(**axes: str) -> list[str]:
    return of_command(slot={**OPTIONS.slot, **axes})


def of_function(**given: Any) -> list[str]:  # noqa: ANN401 - as above
    """A round of a function that was timed by a local clock on a node that its file tells."""
    local = changed(PYTEST, "datetime", "2027-01-15T08:00:00")
    run = Run(role="main", name="x.json", raw=raw(local), rows=rows_of("pytest-benchmark", local))
    options = {"slot": {**OPTIONS.slot, "metric": "ns_per_iteration"}, "started_at": {}, "zone": "+02:00"}
    return build(run, **options | given)


def attempt(number: int, **why: str) -> None:
    """An attempt at a round of which the first attempt gave no number."""
    attempts = Attempts()
    attempts.add_incident({"slot": {"node": "n"}, "arms": [], "round": "r", "attempt": 1} | why, 7)
    attempts.check_round("n", "r", number)


ROUNDS: dict[str, Refusal] = {
    "E_FRACTION": Refusal(lambda: as_typed("0.25"), lambda: as_typed('"0.25"')),
    "E_TIME": Refusal(
        lambda: of_two(started_at="2027-02-29T20:00:00Z"), lambda: of_two(started_at="2028-02-29T20:00:00Z")
    ),
    "E_ARM_TWICE": Refusal(lambda: of_arms_listed(0, 1, 1), lambda: of_arms_listed(0, 1)),
    "E_ARM_UNKNOWN": Refusal(lambda: of_arms_listed(0), lambda: of_arms_listed(0, 1)),
    "E_ARM_UNMEASURED": Refusal(lambda: of_arms(warmup=True), lambda: of_arms(warmup=False)),
    "E_ATTACHMENT": Refusal(lambda: of_file("OUT.json"), lambda: of_file("out.json")),
    "E_ORDER": Refusal(lambda: of_arms("reps/1/order", 0), lambda: of_arms("reps/1/order", 1)),
    "E_COLUMN_LENGTH": Refusal(lambda: of_two(records={"ok": [True]}), lambda: of_two(records={"ok": [True, True]})),
    "E_ALL_FAILED": Refusal(
        lambda: of_two(records={"ok": [False, False]}), lambda: of_two(records={"ok": [False, True]})
    ),
    "E_EMPTY_RESULTS": Refusal(
        lambda: of_two(records={"ttft_ns": [None, None]}), lambda: of_two(records={"ttft_ns": [None, 1]})
    ),
    "E_RECORDS_MISSING": Refusal(lambda: of_two("wall"), lambda: of_two("wall", records={"wall_ns": [S, S]})),
    "E_METRIC_TWICE": Refusal(lambda: of_two("ttft", "ttft"), lambda: of_two("ttft")),
    "E_TTFT_AFTER_END": Refusal(
        lambda: of_two(records={"ttft_ns": [60 * MS, 150 * MS + 1]}),
        lambda: of_two(records={"ttft_ns": [60 * MS, 150 * MS]}),
    ),
    "E_WALL": Refusal(lambda: of_walls(S + 4, wall_ns=S + 3), lambda: of_walls(S + 4, wall_ns=S + 4)),
    "E_COPIED_SAMPLES": Refusal(lambda: of_walls(S + 3), lambda: of_walls(S + 4)),
    "E_NEG_INTERVAL": Refusal(lambda: of_gaps(-1, 1), lambda: of_gaps(0, 1)),
    # A fiftieth of the request more than the request.
    "E_ITL_SUM": Refusal(lambda: of_gaps(900 * MS, 20 * MS + 1), lambda: of_gaps(900 * MS, 20 * MS)),
    "E_TOKEN_COUNT": Refusal(
        lambda: of_round(stream((9899, 60, 9000)), {"total_output_tokens": 10_000}),
        lambda: of_round(stream((9900, 60, 9000)), {"total_output_tokens": 10_000}),
    ),
    "E_CONTEXT_MISMATCH": Refusal(
        lambda: of_two(records={"prompt_tokens": [103, 103]}, context=100),
        lambda: of_two(records={"prompt_tokens": [102, 102]}, context=100),
    ),
    "E_DEPTH_NOT_REACHED": Refusal(lambda: of_depth(4014), lambda: of_depth(4015)),
    "E_REPORTED_MISMATCH": Refusal(lambda: of_prompts(21), lambda: of_prompts(20)),
    # Nine tenths of 8.5 bits.
    "E_QUANT_MISMATCH": Refusal(lambda: of_size(9_562_499_999), lambda: of_size(9_562_500_000)),
    "E_GUARD_UNMEASURED": Refusal(
        lambda: of_arms("guards", [{"metric": "ttft", "context": 1}]),
        lambda: of_arms("guards", [{"metric": "ttft", "context": 0}]),
    ),
    "E_PARITY_TWICE": Refusal(lambda: of_parity(512, 512), lambda: of_parity(512, 513)),
    "E_NOISE_ARMS": Refusal(lambda: of_noise("other code"), lambda: of_noise("code")),
    "E_ARM": Refusal(lambda: of_command("baseline"), lambda: of_command("reference")),
    "E_MISSING": Refusal(lambda: of_command(weights=""), lambda: of_command(weights=DIGEST)),
    "E_SLOT": Refusal(lambda: of_axes(context="00"), lambda: of_axes(context="0")),
    "E_STARTED_AT": Refusal(
        lambda: of_command(started_at={"main": ["2026-11-29T20:00:00"]}),
        lambda: of_command(started_at={"main": ["2026-11-29T20:00:00+02:00"]}),
    ),
    "E_ZONE": Refusal(lambda: of_function(zone="+24:00"), lambda: of_function(zone="+23:59")),
    "E_MIXED": Refusal(
        lambda: of_function(environment={"cpu": "another cpu"}), lambda: of_function(environment={"cpu": "a cpu"})
    ),
    "E_ROW": Refusal(lambda: of_command(rows=(1,)), lambda: of_command(rows=(0,))),
    "E_ATTEMPT": Refusal(lambda: attempt(1, diagnosis="no memory"), lambda: attempt(2, diagnosis="no memory")),
    "E_RETRY_NO_DIAG": Refusal(lambda: attempt(2), lambda: attempt(2, diagnosis="no memory")),
}
