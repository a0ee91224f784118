"""For every code of severity flag one measurement that just has it, and one that just has not.

A flag that is given too early is noise that nobody reads any more, and one that is given too late is a trap that nobody
is told of. Both sides of an entry are accepted, and they differ in one thing, at the limit where there is one. Files of
tools go the whole way: they are read, made a round of, and examined.

Here are the codes of rounds, of any tool's files, and of tools that time commands or load a server;
`test_flag_edges_rows` and `test_flag_edges_compare` have the others. The tables together must hold every code.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from ledger.flags import QUARANTINE
from ledger.ingest.faults import CATALOGUE
from ledger.ingest.lines import skip_log_lines
from ledger.ingest.vllm.requests import LISTS
from tests.support import aiperf, serving, vllm
from tests.support.edges import Edge
from tests.support.examined import MS, S, body_of, codes, examine, rep, stream
from tests.support.flag_edges import of_file, read, sealed
from tests.support.rounds import sha256_hex
from tests.support.timed import SAMPLES, changed
from tests.support.timed import raw as dump
from tests.unit.test_flag_edges_compare import EDGES as OF_COMPARISONS
from tests.unit.test_flag_edges_rows import EDGES as OF_ROWS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger.canonical import JsonObject
    from ledger.ingest.run import Run


# Rounds.


def of_round(*reps: JsonObject, **members: Any) -> list[str]:  # noqa: ANN401 - members of a round
    return codes(examine(body_of(*reps, **members)))


def answers(*tokens: int, printed: JsonObject | None = None, **columns: Sequence[Any]) -> list[str]:
    """Answers of these lengths, the first token after 60 ms, the last after 140."""
    return of_round(rep(stream(*((count, 60, 140) for count in tokens), **columns)), printed=printed)


def first_tokens(*times: int, **printed: str) -> list[str]:
    return of_round(rep(stream(*((9, time, 2 * time) for time in times))), printed=dict(printed))


def walls(*times: int) -> list[str]:
    """A repetition of one duration each, in ms and in the order of time."""
    return of_round(*(rep({"wall_ns": [time * MS]}, "wall", wall_ns=time * MS) for time in times))


def samples(*times: int) -> list[str]:
    return of_round(rep({"wall_ns": list(times)}, "wall", wall_ns=sum(times)))


def depth(**printed: int) -> list[str]:
    """A generation that llama-bench was told to time behind 4096 tokens."""
    one = rep({"completion_tokens": [64], "wall_ns": [S]}, "gen_tok_s", context=4096, workload={"depth": 4096})
    body = body_of(one, printed=printed or None, protocol={"name": "llama-bench"})
    return codes(examine(body, built_by="llama-bench"))


def gaps(each: int) -> list[str]:
    """Four tokens, three gaps, and a stream of 240 ms."""
    records = stream((4, 6, 240), itl_ns=[[each] * 3])
    return of_round(rep(records))


# Commands and functions.


def command(*times: float, **members: Any) -> JsonObject:  # noqa: ANN401 - members of a result
    own = {"command": "sort", "times": list(times), "exit_codes": [0] * len(times)} | members
    return {name: value for name, value in own.items() if value is not None}


def commands(*results: JsonObject) -> list[str]:
    return of_file("hyperfine", dump({"results": list(results)}))


def rows_of_two(*numbers: int) -> list[str]:
    run = read("hyperfine", dump({"results": [command(0.25, 0.5), command(0.75, 1.0)]}))
    return sealed(run.select(numbers), tool="hyperfine")


def files_in_turn(*starts: int) -> list[str]:
    results = [command(0.25 + at, 0.5 + at) for at in range(len(starts))]
    runs = [read("hyperfine", dump({"results": [result]})) for result in results]
    named = [replace(run, name=f"{at}.json") for at, run in enumerate(runs)]
    return sealed(*named, starts=starts, tool="hyperfine")


def appended(times: int) -> list[str]:
    """The line of one run of SGLang's benchmark, so many times."""
    return of_file("sglang-serving", serving.dump(*[serving.sglang_run()] * times))


def log_before(line: bytes) -> list[str]:
    raw, note = skip_log_lines(line + b"\n" + dump({"results": [command(0.25, 0.5)]}))
    return codes([note] if note else []) + of_file("hyperfine", raw)


def functions(path: str, value: object) -> list[str]:
    """Three repetitions of one function with another value somewhere."""
    return function_rows(3, changed(SAMPLES["google-benchmark"], path, value))


def function_rows(number: int, document: JsonObject = SAMPLES["google-benchmark"]) -> list[str]:
    """The first rows of a file: three repetitions, and then what summarises them, their mean first."""
    return of_file("google-benchmark", dump(document | {"benchmarks": document["benchmarks"][:number]}))


# Servers under load.


def serve(run: JsonObject) -> list[str]:
    return of_file("vllm-serve", vllm.as_json(run))


def served(*, requests: bool) -> list[str]:
    """Two requests and their totals, or these alone."""
    run = vllm.detailed(vllm.request(), vllm.request(ttft=0.125))
    return serve({name: value for name, value in run.items() if requests or name not in LISTS})


def batch(*, says_lengths: bool) -> list[str]:
    """One batch of 1000 and 101 tokens in 3 s, by a tool that says these lengths or by one that does not."""
    if says_lengths:
        return of_file("sglang-one-batch", serving.dump(serving.one_batch()))
    run = vllm.latency(avg_latency=3.0, latencies=[3.0], percentiles={"50": 3.0})
    return of_file("vllm-latency", vllm.as_json(run), workload={"prompt_tokens": 1000, "gen_tokens": 101})


def records(*prompts: int | None, end_ms: float = 1100.5) -> Run:
    """AIPerf's records of requests with prompts of these lengths."""
    lines = [
        aiperf.request(at, input_sequence_length=tokens, request_latency=end_ms) for at, tokens in enumerate(prompts)
    ]
    return read("aiperf", aiperf.lines(*lines))


def second_context(*prompts: int) -> list[str]:
    """A run at the slot's context of 100 tokens, and then one with prompts of these lengths."""
    runs = [replace(records(99, 101), name="first.jsonl"), records(*prompts, end_ms=1200.5)]
    return sealed(*runs, tool="aiperf", context=100)


def summary(path: str, value: object) -> list[str]:
    return of_file("aiperf-summary", serving.dump(serving.edited(serving.aiperf_summary(), path, value)))


def fastest(rate: float) -> list[str]:
    path = "streaming_metrics/gen_tps_percentiles/maximum"
    return of_file("trtllm-bench", serving.dump(serving.edited(serving.trtllm_report(), path, rate)))


def request_rate(value: object) -> list[str]:
    return of_file("sglang-serving", serving.dump(serving.sglang_run(request_rate=value)))


EDGES: dict[str, Edge] = {
    # Rounds.
    "F_REPORTED_MISMATCH": Edge(
        lambda: first_tokens(1000, mean_ttft_ms="1001.001"), lambda: first_tokens(1000, mean_ttft_ms="1001.000")
    ),
    # A twentieth of 240 ms is missing, or a nanosecond less.
    "F_ITL_SHORT": Edge(lambda: gaps(74 * MS - 1), lambda: gaps(74 * MS)),
    "F_CHUNKED": Edge(lambda: answers(9, 9, chunks=[9, 8]), lambda: answers(9, 9, chunks=[9, 9])),
    "F_RETOKENIZED": Edge(
        lambda: answers(100, printed={"completion_tokens": 101}),
        lambda: answers(100, printed={"completion_tokens": 100}),
    ),
    # Between 79 or 80 and 100, nine tenths of the way: more than 2 % below 100, or no more.
    "F_PERCENTILE_METHOD": Edge(
        lambda: first_tokens(79, 100, p90_ttft_ms="97.9"), lambda: first_tokens(80, 100, p90_ttft_ms="98.0")
    ),
    "F_NOT_STREAMED": Edge(
        lambda: answers(9, 2, ttft_ns=[60 * MS, 140 * MS]), lambda: answers(9, 2, ttft_ns=[60 * MS, 140 * MS - 1])
    ),
    "F_REPEATED_PROMPT": Edge(
        lambda: answers(9, 9, prompt_sha256=[sha256_hex("a"), sha256_hex("a")]),
        lambda: answers(9, 9, prompt_sha256=[sha256_hex("a"), sha256_hex("b")]),
    ),
    # Of five values chance alone orders all pairs, or all but one, so: less than once in a hundred times, and more.
    "F_DRIFT": Edge(lambda: walls(1000, 1010, 1020, 1030, 1040), lambda: walls(1000, 1010, 1020, 1040, 1030)),
    "F_COLD_SAMPLE": Edge(
        lambda: samples(1_100_001, 1_000_000, 1_000_000), lambda: samples(1_100_000, 1_000_000, 1_000_000)
    ),
    "F_DEPTH_DECLARED": Edge(depth, lambda: depth(kv_len_start=4096)),
    # What was asked of any tool's files.
    "F_ROWS_LEFT": Edge(lambda: rows_of_two(0), lambda: rows_of_two(0, 1)),
    "F_ORDER_TIME": Edge(lambda: files_in_turn(1, 0), lambda: files_in_turn(1, 1)),
    "F_CONTEXT_NEAR": Edge(lambda: second_context(101, 103), lambda: second_context(102, 104)),
    "F_ROWS_REPEATED": Edge(lambda: appended(2), lambda: appended(1)),
    "F_SKIPPED_LINES": Edge(lambda: log_before(b"warning: slow"), lambda: log_before(b"  ")),
    # Commands and functions.
    "F_N1": Edge(lambda: commands(command(0.25)), lambda: commands(command(0.25, 0.5))),
    "F_EXIT_UNKNOWN": Edge(
        lambda: commands(command(0.25, 0.5, exit_codes=None)), lambda: commands(command(0.25, 0.5, exit_codes=[0, 0]))
    ),
    "F_TZ_MISSING": Edge(
        lambda: functions("context/date", "2026-11-29T20:00:00"),
        lambda: functions("context/date", "2026-11-29T20:00:00Z"),
    ),
    "F_DEBUG_BUILD": Edge(
        lambda: functions("context/library_build_type", "debug"),
        lambda: functions("context/library_build_type", "release"),
    ),
    # Four processors, and 2.5 ns of real time.
    "F_CPU_TIME": Edge(
        lambda: functions("benchmarks/1/cpu_time", 10.001), lambda: functions("benchmarks/1/cpu_time", 10.0)
    ),
    "F_AGGREGATE_SKIPPED": Edge(lambda: function_rows(4), lambda: function_rows(3)),
    "F_RESULT_SKIPPED": Edge(
        lambda: functions("benchmarks/2/error_occurred", True),  # noqa: FBT003 - a JSON value
        lambda: functions("benchmarks/2/error_occurred", False),  # noqa: FBT003 - as above
    ),
    # Servers under load.
    "F_TOTALS_ONLY": Edge(lambda: served(requests=False), lambda: served(requests=True)),
    # The formats that have it always have it: what has not is of another tool.
    "F_WORKLOAD_GIVEN": Edge(lambda: batch(says_lengths=False), lambda: batch(says_lengths=True)),
    # 200 tokens in 2.5 s.
    "F_PEAK_LT_MEAN": Edge(
        lambda: serve(vllm.totals(max_output_tokens_per_s=79.999)),
        lambda: serve(vllm.totals(max_output_tokens_per_s=80.0)),
    ),
    "F_NONFINITE": Edge(lambda: request_rate(float("inf")), lambda: request_rate("inf")),
    # A hundred times 101 tokens in 2.5 s.
    "F_RATE_IMPOSSIBLE": Edge(lambda: fastest(4040.001), lambda: fastest(4040.0)),
    "F_CONTEXT_PARTIAL": Edge(
        lambda: sealed(records(40, None), tool="aiperf"), lambda: sealed(records(40, 40), tool="aiperf")
    ),
    "F_CANCELLED": Edge(lambda: summary("was_cancelled", True), lambda: summary("was_cancelled", False)),  # noqa: FBT003 - as above
    # A token every 10 ms.
    "F_FORMULA": Edge(
        lambda: summary("output_token_throughput_per_user/avg", 102.001),
        lambda: summary("output_token_throughput_per_user/avg", 102.0),
    ),
    "F_OUTPUT_LENGTH": Edge(
        lambda: summary("osl_mismatch_diff_pct/avg", -2.001), lambda: summary("osl_mismatch_diff_pct/avg", -2.0)
    ),
}


def test_every_flag_has_its_two_sides() -> None:
    flagged = sorted(code for code, entry in CATALOGUE.items() if entry.severity == "flag" and code.startswith("F_"))
    assert sorted([*EDGES, *OF_ROWS, *OF_COMPARISONS]) == flagged


@pytest.mark.parametrize("code", sorted(EDGES))
def test_a_flag_is_given_and_just_not_given(code: str) -> None:
    assert EDGES[code].apart() == ({code}, set())  # and nothing else is said of one side only
    assert QUARANTINE.isdisjoint(EDGES[code].has_not())
