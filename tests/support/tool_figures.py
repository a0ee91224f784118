"""What the files of benchmark tools hold, worked out again without the package: for adapters to be held against.

One short function per format. Each gives a `Figure` for everything that the file measures, with the value of every raw
sample and what the tool printed that must agree with them. None of them judges: a file that no ledger may take has
figures too.
"""

from __future__ import annotations

import re
from collections import defaultdict
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tests.support.exact_figures import (
    NS_PER_MS,
    Figure,
    Printed,
    compare,
    mean,
    median,
    parse,
    parse_lines,
    per_second,
    percentile,
    ratio,
    to_ns,
)
from tests.support.tandem_figures import read_block_ab, read_forced, read_record_figures, read_row_report

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    _Run = dict[str, Any]


# llama-bench and llama-perplexity


def read_llama_bench(path: Path) -> list[Figure]:
    """``-o json`` and ``-o jsonl``: prefill fills its context, generation begins at it."""
    text = path.read_text()
    rows = parse(text) if text.startswith("[") else parse_lines(text)
    return [_llama_bench_row(at, row) for at, row in enumerate(rows)]


def _llama_bench_row(at: int, row: dict[str, Any]) -> Figure:
    tokens, walls = row["n_prompt"] + row["n_gen"], row["samples_ns"]
    rates = [per_second(tokens, wall) for wall in walls]
    printed = [
        Printed(name="avg_ts", text=str(row["avg_ts"]), exact=mean(rates)),
        Printed(name="avg_ns", text=str(row["avg_ns"]), exact=ratio(sum(walls), len(walls)), cut=True),
        *(Printed(name="samples_ts", text=str(t), exact=r) for t, r in zip(row["samples_ts"], rates, strict=True)),
    ]
    if row.get("samples_ttft_ns"):  # a fork: nanoseconds from the start of generation to its first token
        firsts = row["samples_ttft_ns"]
        gaps = [ratio(wall - first, tokens - 1) for wall, first in zip(walls, firsts, strict=True)]
        printed += [
            Printed(name="samples_itl_ns", text=str(text), exact=gap)
            for text, gap in zip(row["samples_itl_ns"], gaps, strict=True)
        ]
        averages = {"avg_ttft_ms": ratio(sum(firsts), len(firsts)) / NS_PER_MS, "avg_itl_ms": mean(gaps) / NS_PER_MS}
        printed += compare(averages, row)
    return Figure(
        of=f"p{row['n_prompt']} n{row['n_gen']} d{row.get('n_depth', 0)}",
        rows=(at,),
        metric="prefill_tok_s" if row["n_prompt"] else "gen_tok_s",
        context=Fraction(row.get("n_depth", 0) + row["n_prompt"]),
        reps=(tuple(rates),),
        printed=tuple(printed),
    )


_KLD_LINE = re.compile(r"^([^:\n]+?) *: *(-?[\d.]+)(?: ± *([\d.]+))?( ?%)?$", re.MULTILINE)


def read_kld(path: Path) -> list[Figure]:
    """``llama-perplexity --kl-divergence``: printed statistics over positions that the text does not hold."""
    text = path.read_text()
    value = {match[1]: Decimal(match[2]) for match in _KLD_LINE.finditer(text)}
    chunks = re.search(r"n_ctx=(\d+)", text)
    context = Fraction(chunks[1]) if chunks else None
    shown = {
        "kl": value["Mean    KLD"],
        "kl_max": value["Maximum KLD"],
        "top1": value["Same top p"] / 100 if "Same top p" in value else None,
    }
    quantized, base = Fraction(value["Mean PPL(Q)"]), Fraction(value["Mean PPL(base)"])
    half = Fraction(5, 10**7)
    printed = (
        Printed(
            name="Mean PPL(Q)/PPL(base)",
            text=str(value["Mean PPL(Q)/PPL(base)"]),
            exact=quantized / base,
            slack=half * (1 + quantized / base) / base,
        ),
        Printed(
            name="Mean PPL(Q)-PPL(base)",
            text=str(value["Mean PPL(Q)-PPL(base)"]),
            exact=quantized - base,
            slack=2 * half,
        ),
    )
    return [
        Figure(of=name, rows=(0,), metric=name, context=context, reps=((Fraction(number),),), printed=printed)
        for name, number in shown.items()
        if number is not None
    ]


# Servers under load


def read_vllm_serve(path: Path) -> list[Figure]:
    """``vllm bench serve``, one run or a list of them: without details, the totals of a run are its only raw sample."""
    found = parse(path.read_text())
    runs = found if isinstance(found, list) else [found]
    if not all(run["completed"] for run in runs):
        return []
    return _runs_by_workload(runs, ("date", "run_number"), _vllm_serve_run)


def _vllm_serve_run(run: dict[str, Any]) -> tuple[Fraction, tuple[Printed, ...]]:
    tokens, duration, done = run["total_output_tokens"], run["duration"], run["completed"]
    exact = {
        "output_throughput": ratio(tokens, duration),
        "total_token_throughput": ratio(tokens + run["total_input_tokens"], duration),
        "request_throughput": ratio(done, duration),
        # Every answer has as many tokens here, so means add up.
        "mean_e2el_ms": Fraction(run["mean_ttft_ms"]) + (ratio(tokens, done) - 1) * Fraction(run["mean_tpot_ms"]),
    }
    return per_second(tokens, to_ns(duration)), compare(exact, run)


def read_sglang_serve(path: Path) -> list[Figure]:
    """SGLang ``bench_serving``, one line per run: the totals of a run are its only raw sample."""
    return _runs_by_workload(parse_lines(path.read_text()), (), _sglang_serve_run)


def _sglang_serve_run(run: dict[str, Any]) -> tuple[Fraction, tuple[Printed, ...]]:
    tokens, duration = run["total_output_tokens"], run["duration"]
    return per_second(tokens, to_ns(duration)), compare({"output_throughput": ratio(tokens, duration)}, run)


def _runs_by_workload(
    runs: Sequence[_Run], names: Iterable[str], read: Callable[[_Run], tuple[Fraction, tuple[Printed, ...]]]
) -> list[Figure]:
    """Runs that differ in nothing but what they measured are repetitions; `names` are measured or name the run."""
    measured = re.compile("|".join([r".*(latency|throughput|retokenized|duration|per_s|_ms|requests)$", *names]))
    groups: dict[str, list[int]] = defaultdict(list)
    for at, run in enumerate(runs):
        groups[str({name: run[name] for name in sorted(run) if not measured.fullmatch(name)})].append(at)
    found = []
    for rows in groups.values():
        values = [read(runs[at]) for at in rows]
        first = runs[rows[0]]
        figure = Figure(
            of=f"{first.get('dataset_name', first.get('model_id'))} at {first['request_rate']}/s",
            rows=tuple(rows),
            metric="output_tok_s",
            context=ratio(first["total_input_tokens"], first["completed"]),
            reps=tuple((value,) for value, _ in values),
            printed=tuple(item for _, printed in values for item in printed),
        )
        found.append(figure)
    return found


def read_trtllm(path: Path) -> list[Figure]:
    """``trtllm-bench --report_json``: totals of one run; requests differ in nothing, so means must add up."""
    report = parse(path.read_text())
    info, speed, stream = report["request_info"], report["performance"], report["streaming_metrics"]
    requests, total = info["num_requests"], Fraction(speed["total_latency_ms"]) / 1000
    written, each = Fraction(info["avg_output_length"]), Fraction(speed["avg_request_latency_ms"])
    gap = (each - Fraction(stream["avg_ttft_ms"])) / (written - 1)
    exact = {
        "performance.request_throughput_req_s": requests / total,
        "performance.system_output_throughput_tok_s": requests * written / total,
        "performance.system_total_throughput_tok_s": requests * (written + Fraction(info["avg_input_length"])) / total,
        "request_info.avg_num_concurrent_requests": requests * each / 1000 / total,
        "streaming_metrics.avg_tpot_ms": gap,
        "streaming_metrics.token_output_speed_tok_s": Fraction(stream["gen_tps_percentiles"]["average"]),
    }
    value = per_second(requests * written, to_ns(speed["total_latency_ms"], "ms"))
    context = Fraction(info["avg_input_length"])
    printed = compare(exact, report)
    return [Figure(of="run", rows=(0,), metric="output_tok_s", context=context, reps=((value,),), printed=printed)]


def read_aiperf(path: Path) -> list[Figure]:
    """AIPerf's summary: totals of one run, and sums over requests."""
    run = parse(path.read_text())
    written, duration = run["total_osl"]["avg"], run["benchmark_duration"]["avg"]
    end, first = (Fraction(run[name]["sum"]) for name in ("request_latency", "time_to_first_token"))
    exact = {
        "output_token_throughput.avg": ratio(written, duration),
        "total_token_throughput.avg": ratio(written + run["total_isl"]["avg"], duration),
        "request_throughput.avg": ratio(run["request_count"]["avg"], duration),
        "inter_chunk_latency.sum": end - first,
    }
    figure = Figure(
        of=str(run["benchmark_id"]),
        rows=(0,),
        metric="output_tok_s",
        context=ratio(run["total_isl"]["avg"], run["request_count"]["avg"]),
        reps=((per_second(written, to_ns(duration)),),),
        printed=compare(exact, run),
    )
    return [figure]


def read_aiperf_records(path: Path) -> list[Figure]:
    """AIPerf's records, one line per request."""
    requests = [line["metrics"] for line in parse_lines(path.read_text())]
    known = [request["input_sequence_length"]["value"] for request in requests if "input_sequence_length" in request]
    rates: list[Fraction] = []
    firsts: list[Fraction] = []
    printed: list[Printed] = []
    for request in requests:
        end, first = (to_ns(request[name]["value"], "ms") for name in ("request_latency", "time_to_first_token"))
        tokens = request["output_sequence_length"]["value"]
        rates.append(per_second(tokens - 1, end - first))
        firsts.append(Fraction(first, NS_PER_MS))
        exact = {
            "inter_token_latency.value": Fraction(end - first, (tokens - 1) * NS_PER_MS),
            "output_token_throughput_per_user.value": rates[-1],
            "e2e_output_token_throughput.value": per_second(tokens, end),
        }
        printed += compare(exact, request)
    context = ratio(sum(known), len(known))
    return [
        Figure(of="requests", rows=(0,), metric=metric, context=context, reps=(tuple(values),), printed=tuple(printed))
        for metric, values in (("decode_tok_s", rates), ("ttft", firsts))
    ]


# One batch


def read_vllm_latency(path: Path) -> list[Figure]:
    """``vllm bench latency``: seconds per iteration; the workload is nowhere in the file."""
    run = parse(path.read_text())
    seconds = [Fraction(value) for value in run["latencies"]]
    exact = {f"percentiles.{name}": percentile(seconds, int(name)) for name in run["percentiles"]}
    reps = (tuple(Fraction(to_ns(value), NS_PER_MS) for value in seconds),)
    printed = compare({"avg_latency": mean(seconds), **exact}, run)
    return [Figure(of="iterations", rows=(0,), metric="wall", context=None, reps=reps, printed=printed)]


def read_sglang_one_batch(path: Path) -> list[Figure]:
    """SGLang ``bench_one_batch``: the prefill gives the first token, and a step each of the others."""
    (run,) = parse_lines(path.read_text())
    batch, prompt, written = run["batch_size"], run["input_len"], run["output_len"]
    first, end = to_ns(run["prefill_latency"]), to_ns(run["total_latency"])
    exact = {
        "prefill_throughput": ratio(batch * prompt, run["prefill_latency"]),
        "median_decode_throughput": ratio(batch, run["median_decode_latency"]),
        "overall_throughput": ratio(batch * (prompt + written), run["total_latency"]),
    }
    values = {"prefill_tok_s": per_second(prompt, first), "decode_tok_s": per_second(written - 1, end - first)}
    printed, context = compare(exact, run), Fraction(prompt)
    return [
        Figure(of=name, rows=(0,), metric=name, context=context, reps=((value,),), printed=printed)
        for name, value in values.items()
    ]


# Commands and functions: there are no tokens, so the context is 0


def read_hyperfine(path: Path) -> list[Figure]:
    """``hyperfine --export-json``: seconds per run of a command."""
    return [_hyperfine_result(at, result) for at, result in enumerate(parse(path.read_text())["results"])]


def _hyperfine_result(at: int, result: dict[str, Any]) -> Figure:
    seconds = [Fraction(value) for value in result["times"]]
    exact = {"mean": mean(seconds), "median": median(seconds), "min": min(seconds), "max": max(seconds)}
    reps = (tuple(Fraction(to_ns(value), NS_PER_MS) for value in seconds),)
    of, printed = result["command"], compare(exact, result)
    return Figure(of=of, rows=(at,), metric="wall", context=Fraction(0), reps=reps, printed=printed)


def read_pytest_benchmark(path: Path) -> list[Figure]:
    """pytest-benchmark: seconds per iteration of every round, where the file holds as many as it had rounds."""
    found = []
    for at, item in enumerate(parse(path.read_text())["benchmarks"]):
        stats, data = item["stats"], item["stats"].get("data", [])
        if len(data) != stats["rounds"]:
            continue
        seconds, count = [Fraction(value) for value in data], stats["iterations"]
        exact = {"mean": mean(seconds), "median": median(seconds), "min": min(seconds), "max": max(seconds)}
        reps = (tuple(Fraction(to_ns(value * count), count) for value in seconds),)
        printed = compare({**exact, "total": sum(seconds, Fraction(0)), "ops": 1 / mean(seconds)}, stats)
        of = item["fullname"]
        figure = Figure(of=of, rows=(at,), metric="ns_per_iteration", context=Fraction(0), reps=reps, printed=printed)
        found.append(figure)
    return found


def read_google_benchmark(path: Path) -> list[Figure]:
    """Google Benchmark: rows of one name are repetitions of one test; aggregates are no samples."""
    samples: dict[str, list[tuple[int, Fraction]]] = defaultdict(list)
    for at, row in enumerate(parse(path.read_text())["benchmarks"]):
        if row.get("run_type", "iteration") == "iteration" and "real_time" in row:
            count = row["iterations"]
            wall = to_ns(Fraction(row["real_time"]) * count, row["time_unit"])
            samples[row["name"]].append((at, Fraction(wall, count)))
    return [
        Figure(
            of=name,
            rows=tuple(at for at, _ in found),
            metric="ns_per_iteration",
            context=Fraction(0),
            reps=(tuple(value for _, value in found),),
        )
        for name, found in samples.items()
    ]


# Baselines of one project, which hold figures and no samples


def read_k3_baseline(path: Path) -> list[Figure]:
    """A figure per context; 0 is "not measured". Only a command line tells how deep the context really was."""
    body = parse(path.read_text())
    command = f" {body.get('command', body.get('llama_flags', ''))}"
    options = {"decode_tps": ("decode_tok_s", " -d "), "prefill_pp": ("prefill_tok_s", " -p ")}
    found = []
    for at, (key, item) in enumerate(body["contexts"].items()):
        for name, (metric, option) in options.items():
            if item[name]:
                told = re.search(rf"{option}([\d,]+)", command)
                context = Fraction(told[1].split(",")[at]) if told else None
                reps = ((Fraction(item[name]),),)
                found.append(Figure(of=key, rows=(at,), metric=metric, context=context, reps=reps))
    return found


READERS: Mapping[str, Callable[[Path], list[Figure]]] = {
    "llama-bench json": read_llama_bench,
    "llama-bench jsonl": read_llama_bench,
    "llama-perplexity": read_kld,
    "vllm serve": read_vllm_serve,
    "vllm latency": read_vllm_latency,
    "sglang serve": read_sglang_serve,
    "sglang one-batch": read_sglang_one_batch,
    "trtllm": read_trtllm,
    "aiperf": read_aiperf,
    "aiperf records": read_aiperf_records,
    "hyperfine": read_hyperfine,
    "pytest-benchmark": read_pytest_benchmark,
    "google-benchmark": read_google_benchmark,
    "k3 baseline": read_k3_baseline,
    "tandem block-ab": read_block_ab,
    "tandem forced": read_forced,
    "tandem record": read_record_figures,
    "tandem report": read_row_report,
}
"""By name of the format; the formats without an entry hold no raw sample."""
