"""What a reader of a tool's file must know, found in the file: why `tests.support.tool_outcomes` flags it.

One short function per format gives the codes that hold, by the definitions and thresholds of ``CODES`` there. A file
that is sealed must be flagged with these codes and needs no other.
"""

from __future__ import annotations

import re
from collections import defaultdict
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from tests.support.exact_figures import parse, parse_lines
from tests.support.tandem_figures import read_record
from tests.support.tool_figures import READERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from tests.support.exact_figures import Number

_ZONE = re.compile(r"(Z|[+-]\d\d:?\d\d)$")


def find_traps(path: Path, form: str) -> set[str]:
    """The flags that a file of a format deserves."""
    return {code for code, holds in _FORMATS[form](path).items() if holds}


def _apart(one: Number, other: Number) -> bool:
    """More than 2 % apart."""
    return abs(Fraction(one) / Fraction(other) - 1) > Fraction(2, 100)


def _cold(highest: Number, middle: Number) -> bool:
    return Fraction(highest) > 10 * Fraction(middle)


def _one_sample(path: Path, form: str) -> bool:
    return any(len(rep) == 1 for figure in READERS[form](path) for rep in figure.reps)


def _llama_bench(path: Path) -> Mapping[str, bool]:
    text = path.read_text()
    strange = not text.startswith("[") and any(line and not line.startswith("{") for line in text.splitlines())
    return {"F_SKIPPED_LINES": strange, "F_N1": _one_sample(path, "llama-bench json")}


def _kld(path: Path) -> Mapping[str, bool]:
    text = path.read_text()
    kl, highest, _ = (figure.median for figure in READERS["llama-perplexity"](path))
    base = re.search(r"^Mean PPL\(base\) *: *([\d.]+)", text, re.MULTILINE)
    return {"F_BASE_PERPLEXITY": base is not None and Fraction(base[1]) > 1000, "F_KL_TAIL": highest > 100 * kl}


def _vllm_serve(path: Path) -> Mapping[str, bool]:
    found = parse(path.read_text())
    runs = found if isinstance(found, list) else [found]
    return {
        "F_TOTALS_ONLY": any("ttfts" not in run for run in runs),
        "F_TZ_MISSING": any(not _ZONE.search(run["date"].partition("-")[2]) for run in runs),
        "F_COLD_FIRST": any(_cold(run["p99_ttft_ms"], run["median_ttft_ms"]) for run in runs),
        "F_PEAK_LT_MEAN": any(run["max_output_tokens_per_s"] < run["output_throughput"] for run in runs),
    }


def _vllm_latency(path: Path) -> Mapping[str, bool]:
    run = parse(path.read_text())
    return {
        "F_WORKLOAD_GIVEN": set(run) == {"avg_latency", "latencies", "percentiles"},
        "F_PERCENTILE_METHOD": any(
            run["percentiles"][str(percent)] != _rank(run["latencies"], percent) for percent in (90, 99)
        ),
    }


def _rank(values: Iterable[Any], percent: int) -> Any:  # noqa: ANN401 - one of the values
    """The smallest value that at least `percent` of all do not exceed."""
    ordered = sorted(values)
    return ordered[-(-percent * len(ordered) // 100) - 1]


def _sglang_serve(path: Path) -> Mapping[str, bool]:
    runs = parse_lines(path.read_text())
    return {
        "F_NONFINITE": any(str(run["request_rate"]) == "Infinity" for run in runs),
        "F_TOTALS_ONLY": any("ttfts" not in run for run in runs),
        "F_CONTEXT_DECLARED": any(
            _apart(Fraction(run["total_input_tokens"], run["completed"]), run["random_input_len"]) for run in runs
        ),
        "F_RETOKENIZED": any(run["total_output_tokens"] != run["total_output_tokens_retokenized"] for run in runs),
    }


def _sglang_one_batch(path: Path) -> Mapping[str, bool]:
    return {"F_N1": _one_sample(path, "sglang one-batch")}


def _trtllm(path: Path) -> Mapping[str, bool]:
    report = parse(path.read_text())
    stream, shortest = report["streaming_metrics"], report["performance"]["request_latency_percentiles_ms"]["minimum"]
    written = Fraction(report["request_info"]["avg_output_length"])
    rate = 1000 * written / Fraction(shortest)
    return {
        "F_TOTALS_ONLY": True,  # the report has no place for requests
        "F_N1": report["request_info"]["num_requests"] == 1,
        "F_FORMULA": _apart(stream["token_output_speed_tok_s"], 1000 / Fraction(stream["avg_tpot_ms"])),
        "F_RATE_IMPOSSIBLE": Fraction(stream["gen_tps_percentiles"]["maximum"]) > 100 * rate,
        "F_COLD_FIRST": _cold(stream["ttft_percentiles"]["maximum"], stream["ttft_percentiles"]["p50"]),
    }


def _aiperf(path: Path) -> Mapping[str, bool]:
    run = parse(path.read_text())
    pieces = run["inter_chunk_latency"]["count"] + run["request_count"]["avg"]
    return {
        "F_TOTALS_ONLY": True,  # requests are in another file
        "F_TZ_MISSING": not _ZONE.search(run["start_time"].partition("T")[2]),
        "F_COLD_FIRST": _cold(run["time_to_first_token"]["max"], run["time_to_first_token"]["p50"]),
        "F_FORMULA": _apart(
            run["output_token_throughput_per_user"]["avg"], 1000 / Fraction(run["inter_token_latency"]["avg"])
        ),
        "F_OUTPUT_LENGTH": abs(run["osl_mismatch_diff_pct"]["avg"]) > 2,
        "F_CHUNKED": pieces != run["total_osl"]["avg"],
    }


def _aiperf_records(path: Path) -> Mapping[str, bool]:
    requests = [line["metrics"] for line in parse_lines(path.read_text())]
    values = [{name: item["value"] for name, item in request.items()} for request in requests]
    return {
        "F_PREFIX_CACHE": any(item["usage_prompt_cache_read_tokens"] for item in values),
        "F_CHUNKED": any(item["http_req_chunks_received"] != item["output_sequence_length"] for item in values),
        "F_CONTEXT_PARTIAL": any("input_sequence_length" not in item for item in values),
    }


def _hyperfine(path: Path) -> Mapping[str, bool]:
    results = parse(path.read_text())["results"]
    times = [time for result in results for time in result["times"]]
    signs = {(after > before) - (after < before) for before, after in pairwise(times)}
    return {
        "F_EXIT_UNKNOWN": any("exit_codes" not in result for result in results),
        "F_DRIFT": len(times) >= 5 and len(signs) == 1 and 0 not in signs,
        "F_N1": _one_sample(path, "hyperfine"),
    }


def _google_benchmark(path: Path) -> Mapping[str, bool]:
    body = parse(path.read_text())
    timed = [row for row in body["benchmarks"] if "real_time" in row]
    return {
        "F_N1": _one_sample(path, "google-benchmark"),
        "F_TZ_MISSING": not _ZONE.search(body["context"]["date"].partition(" ")[2]),
        "F_AGGREGATE_SKIPPED": any(row.get("run_type") == "aggregate" for row in body["benchmarks"]),
        "F_CPU_TIME": any(row["cpu_time"] > row["real_time"] * body["context"]["num_cpus"] for row in timed),
    }


def _k3_baseline(path: Path) -> Mapping[str, bool]:
    items = parse(path.read_text())["contexts"].values()
    figures = READERS["k3 baseline"](path)
    return {
        "K_REPS_ABSENT": all("samples" not in item for item in items),
        "K_SENTINEL": any(not item["decode_tps"] or not item["prefill_pp"] for item in items),
        "F_N1": any(item["reps"] == 1 for item in items),
        "F_DEPTH_UNPROVEN": any(figure.context is None for figure in figures),
        "F_CONTEXT_DECLARED": any(figure.context not in {None, int(figure.of)} for figure in figures),
    }


def _answers(*paths: Path) -> dict[str, set[tuple[int, int]]]:
    """Tokens of prompt and answer, by prompt id, warm-ups included."""
    found = defaultdict(set)
    for path in paths:
        for item in parse(path.read_text())["raw"]["payload"]["requests"]:
            found[item["prompt_id"]].add((item["prompt_tokens"], item["completion_tokens"]))
    return found


def _drifted(answers: Mapping[str, set[tuple[int, int]]]) -> bool:
    return any(len({prompt for prompt, _ in each}) > 1 for each in answers.values())


def _record(path: Path) -> Mapping[str, bool]:
    record, answers = read_record(path), _answers(path)
    body, requests = record.body, record.body["raw"]["payload"]["requests"]
    asked, printed = body.get("workload", {}).get("resolved_params"), body.get("metrics", {})
    ids = [item["prompt_id"] for item in requests]
    ended = [item["completion_tokens"] for item in requests if item["finish_reason"] == "length"]
    ranks = {f"p{percent}": _rank(record.rates, percent) for percent in (90, 95, 99)}
    rates = printed.get("decode_tok_s_per_request", {})
    return {
        "F_PREFIX_CACHE": bool(body.get("args", {}).get("enable-prefix-caching")) and len(ids) != len(set(ids)),
        "F_CHUNKED": bool(printed) and printed["itl_ms"]["p50"] * 5 < printed["tpot_ms"]["p50"],
        "F_FINISH_CAP": bool(asked) and any(tokens < asked["output_tokens"] for tokens in ended),
        "F_SHORT_OUTPUT": sum(tokens < 128 for tokens in record.tokens) * 10 > len(record.tokens),
        "F_CONTEXT_DECLARED": bool(asked)
        and _apart(Fraction(sum(record.prompts), len(record.prompts)), asked["input_tokens"]),
        "F_PERCENTILE_METHOD": bool(rates)
        and any(abs(Fraction(rates[name]) - rank) > Fraction(1, 1000) for name, rank in ranks.items()),
        "F_NONDETERMINISTIC": not _drifted(answers) and any(len(each) > 1 for each in answers.values()),
        "F_PROMPT_DRIFT": _drifted(answers),
    }


def _report(path: Path) -> Mapping[str, bool]:
    paths = [path.parents[1] / run["record"] for run in parse(path.read_text())["runs"]]
    prompts = [read_record(each).prompts for each in paths]
    contexts = [Fraction(sum(each), len(each)) for each in prompts]
    return {
        "F_PROMPT_DRIFT": _drifted(_answers(*paths)),
        "F_CONTEXT_SPREAD": _apart(max(contexts), min(contexts)),
    }


def _block_ab(path: Path) -> Mapping[str, bool]:
    runs = parse(path.read_text())["runs"]
    return {
        "F_TOTALS_ONLY": True,  # of each answer, without its rounds
        "F_SHORT_OUTPUT": sum(len(run["out"]) < 128 for run in runs) * 10 > len(runs),
    }


def _forced(path: Path) -> Mapping[str, bool]:
    return {"F_ROUNDS_PARTIAL": any(len(row["rounds"]) < row["blocks"] for row in parse(path.read_text())["rows"])}


_FORMATS: Mapping[str, Callable[[Path], Mapping[str, bool]]] = {
    "llama-bench json": _llama_bench,
    "llama-bench jsonl": _llama_bench,
    "llama-perplexity": _kld,
    "vllm serve": _vllm_serve,
    "vllm latency": _vllm_latency,
    "sglang serve": _sglang_serve,
    "sglang one-batch": _sglang_one_batch,
    "trtllm": _trtllm,
    "aiperf": _aiperf,
    "aiperf records": _aiperf_records,
    "hyperfine": _hyperfine,
    "google-benchmark": _google_benchmark,
    "k3 baseline": _k3_baseline,
    "tandem block-ab": _block_ab,
    "tandem forced": _forced,
    "tandem record": _record,
    "tandem report": _report,
}
