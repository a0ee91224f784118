"""What must become of every file in the folders of tool outputs: for adapters to be held against.

The table knows no adapter. It says of each file whether it is sealed, sealed with flags or refused, why, and which
facts a receipt of it must hold, to the last digit; `tests.support.tool_figures` works them out from the file.

How it was decided, in this order:

1. What cannot be read whole is refused: text that is no JSON, a row of another length, a file that was cut.
2. A record is what a clock and a counter saw. A duration of a whole run with the number of tokens in it is one; a mean
   or a median over samples that are not in the file is none, and a file of those alone has no facts (``E_NO_SAMPLES``).
3. What nobody measured is no number: requests that all failed, durations of 0, results that are all null.
4. Everything else is sealed at what was measured, not at what was asked for, and what a reader must know is a flag.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

UNITS: Mapping[str, str] = {
    "decode_tok_s": "tok/s",
    "gen_tok_s": "tok/s",
    "prefill_tok_s": "tok/s",
    "ttft": "ms",
    "wall": "ms",
    "tokens_per_round": "tok/round",
    "ms_per_round": "ms/round",
    # Tokens of all requests over the wall of the run, prefill and queueing included: never beside gen_tok_s.
    "output_tok_s": "tok/s",
    # wall over iterations: a function that takes less than its clock's tick is timed many at a time.
    "ns_per_iteration": "ns/iteration",
    # Members of parity, no metrics.
    "kl": "nats",
    "kl_max": "nats",
    "top1": "share",
}
"""Unit by metric."""

CODES: Mapping[str, str] = {
    "E_ALL_FAILED": "no request succeeded",
    "E_COLUMN_COUNT": "a row has another number of values than the header has names",
    "E_COPIED_SAMPLES": "the samples are those of another run, in the file or in the ledger",
    "E_DIRTY": "the tool says that it measured code that no commit holds",
    "E_EMPTY_RESULTS": "there is a place for results, and none is in it",
    "E_FIELD": "a row lacks a value that it cannot do without, or has another kind of value there",
    "E_FORMAT": "not a result of the tool",
    "E_JSON": "not JSON, or cut in the middle",
    "E_NONFINITE": "NaN or Infinity, which are not JSON",
    "E_NO_SAMPLES": "statistics without the samples that they were made of",
    "E_REPORTED_MISMATCH": "a printed figure is not that of the samples, beyond rounding",
    "E_SAMPLE": "a sample is not a duration",
    "E_TRUNCATED": "well formed as far as it goes, and the last part is missing",
    "E_ZERO_TIME": "a duration of 0",
    "F_AGGREGATE_SKIPPED": "rows that summarise other rows were left out",
    "F_BASE_PERPLEXITY": "the reference's perplexity is above 1000: nothing that a trained model gives",
    "F_CHUNKED": "answers came in another number of pieces than they have tokens: gaps are between pieces",
    "F_COLD_FIRST": "the highest (or 99th) time to a first token is more than ten times the median",
    "F_CONTEXT_DECLARED": "the settings name a context more than 2 % from the measured one",
    "F_CONTEXT_PARTIAL": "not every request has the length of its prompt",
    "F_CONTEXT_SPREAD": "the repetitions' mean contexts are more than 2 % apart",
    "F_CPU_TIME": "more processor time than all processors have in the real time",
    "F_DEPTH_UNPROVEN": "nothing shows that the context was filled",
    "F_DRIFT": "all samples rise or all fall in the order of time, and there are at least 5",
    "F_EXIT_UNKNOWN": "no exit status of the command is kept",
    "F_FINISH_CAP": "an answer ended for its length below the length that was allowed",
    "F_FORMULA": "two printed figures of one thing, by two formulas, are more than 2 % apart",
    "F_KL_TAIL": "the highest divergence is more than a hundred times the mean",
    "F_N1": "a fact has one sample: its deviation is unknown, not 0",
    "F_NONDETERMINISTIC": "one prompt gave two answers at temperature 0",
    "F_NONFINITE": "Infinity stands for a setting; it is kept as text",
    "F_OUTPUT_LENGTH": "answers are on average more than 2 % shorter or longer than asked for",
    "F_PEAK_LT_MEAN": "a printed maximum of a rate is below its mean: it is a count per second, and never compared",
    "F_PERCENTILE_METHOD": "a printed percentile is not the nearest rank of the samples, which is the ledger's",
    "F_PREFIX_CACHE": "a cache supplied tokens of prompts, or was on while prompts came again",
    "F_PROMPT_DRIFT": "one prompt id has two lengths",
    "F_RATE_IMPOSSIBLE": "a printed rate of a request is more than a hundred times its tokens over its whole time",
    "F_RETOKENIZED": "the server's count of tokens and the client's differ",
    "F_ROUNDS_PARTIAL": "an answer has more steps than its rounds that are listed",
    "F_SHORT_OUTPUT": "more than a tenth of the answers have fewer than 128 tokens",
    "F_SKIPPED_LINES": "lines of a log were left out, as asked for",
    "F_TOTALS_ONLY": "totals of a run without its requests: no latency of one can be worked out",
    "F_TZ_MISSING": "a local time without a zone",
    "F_WORKLOAD_GIVEN": "the workload is what the caller says: the file has none",
    "K_REPS_ABSENT": "no raw repetition is kept: the figure cannot be worked out again",
    "K_SENTINEL": "a number that stands for 'not measured'",
}
"""What each code says, and from where on. ``E_`` refuses, ``F_`` and ``K_`` are sealed with the figure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A fact that a receipt of the file must hold.

    Attributes:
        metric: see `UNITS`.
        context: tokens in context as measured, rounded half to even; none when the caller must say it.
        reps: repetitions of the workload in the file.
        samples: raw samples in each of them.
        median: median over the repetitions' medians, as `str` writes a `Fraction`.
        rows: tests of the file that it comes from, from 0.
        declared: context that the file's settings name and that no slot may take it for (``E_CONTEXT_MISMATCH``).
    """

    metric: str
    context: int | None
    reps: int
    samples: int
    median: str
    rows: tuple[int, ...]
    declared: int | None

    @property
    def unit(self) -> str:
        """Unit of the median."""
        return UNITS[self.metric]


def fact(
    metric: str, context: int | None, shape: str, median: str, *, rows: tuple[int, ...] = (0,), declared: int = 0
) -> Fact:
    """A fact; `shape` is repetitions and samples in each, as in ``3x50``."""
    reps, samples = map(int, shape.split("x"))
    return Fact(
        metric=metric,
        context=context,
        reps=reps,
        samples=samples,
        median=median,
        rows=rows,
        declared=declared or None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What must become of a file.

    Attributes:
        path: below the folder of data.
        format: format of the file.
        outcome: ``seal``, ``flag`` (sealed, with at least `codes`), ``refuse`` (with the one code in `codes`), or
            ``aside``: read together with another file, or by another command; no adapter takes it for its tool's.
        why: the trap in it.
        kind: what is made of it: a round, the parity of one, or an imported figure.
        codes: see `CODES`.
        also: codes that hold as well and may be raised first where checks come in another order.
        given: what the file does not say and the caller must, beside digests and the slot.
        selector: holds several workloads or settings: as a whole it is refused with ``E_MIXED``, and the rest of the
            entry is about rows that the caller selects.
        unless: what the caller may ask for so that a file that is refused is read after all.
        then: codes in that case; the facts are of that case.
        facts: every fact of the file.
        disagrees: how the names begin of printed figures that are not those of the samples.
    """

    path: str
    format: str
    outcome: Literal["seal", "flag", "refuse", "aside"]
    why: str
    kind: Literal["round", "parity", "imported"] = "round"
    codes: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    given: tuple[str, ...] = ()
    selector: bool = False
    unless: str = ""
    then: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()
    disagrees: tuple[str, ...] = ()


OUTCOMES: tuple[Outcome, ...] = (
    Outcome(
        path="tool-outputs/llama-bench/eyad_bench-depth.capture.txt",
        format="llama-bench json",
        outcome="refuse",
        why="a terminal's frame (command, exit code, stderr) around the array: no line of it is JSON",
        codes=("E_JSON",),
    ),
    Outcome(
        path="tool-outputs/llama-bench/eyad_bench-depth.json",
        format="llama-bench json",
        outcome="flag",
        why="-r 1 prints a standard deviation of 0: one sample has none",
        codes=("F_N1",),
        facts=(
            fact("prefill_tok_s", 32, "1x1", "32000000000/3831193"),
            fact("gen_tok_s", 0, "1x1", "8000000000/3366923", rows=(1,)),
            fact("prefill_tok_s", 288, "1x1", "3200000000/759461", rows=(2,)),
            fact("gen_tok_s", 256, "1x1", "8000000000/4627207", rows=(3,)),
        ),
    ),
    Outcome(
        path="tool-outputs/llama-bench/fork_granite_ttft.json",
        format="llama-bench json",
        outcome="seal",
        why="samples_ttft_ns of a fork is a first token without a prompt: never ttft; its average of 0 is absent",
        facts=(
            fact("prefill_tok_s", 512, "1x5", "256000000000/3127744897"),
            fact("gen_tok_s", 0, "1x5", "32000000000/1402469161", rows=(1,)),
        ),
    ),
    Outcome(
        path="tool-outputs/llama-bench/fork_granite_ttft.sql",
        format="llama-bench sql",
        outcome="refuse",
        why="SQL drops samples_ns and quotes every number: averages of an unknown number of samples",
        codes=("E_NO_SAMPLES",),
    ),
    Outcome(
        path="tool-outputs/llama-bench/glm46_longctx32768_rpc.md.log",
        format="llama-bench md",
        outcome="refuse",
        why="a table drops the samples, rounds to two decimals and merges columns; lines of a log around it",
        codes=("E_NO_SAMPLES",),
        also=("F_N1",),
    ),
    Outcome(
        path="tool-outputs/llama-bench/llama32-1b.default-hip.jsonl",
        format="llama-bench jsonl",
        outcome="flag",
        why="-r 1 prints a standard deviation of 0: one sample has none",
        codes=("F_N1",),
        facts=(
            fact("prefill_tok_s", 512, "1x1", "128000000000/27215021"),
            fact("gen_tok_s", 0, "1x1", "64000000000/327109693", rows=(1,)),
            fact("prefill_tok_s", 1536, "1x1", "256000000000/62806203", rows=(2,)),
            fact("gen_tok_s", 1024, "1x1", "128000000000/677999879", rows=(3,)),
            fact("prefill_tok_s", 4608, "1x1", "64000000000/21791749", rows=(4,)),
            fact("gen_tok_s", 4096, "1x1", "128000000000/738338393", rows=(5,)),
            fact("prefill_tok_s", 16896, "1x1", "102400000000/75824911", rows=(6,)),
            fact("gen_tok_s", 16384, "1x1", "32000000000/252245557", rows=(7,)),
            fact("prefill_tok_s", 66048, "1x1", "102400000000/241075507", rows=(8,)),
            fact("gen_tok_s", 65536, "1x1", "64000000000/990463093", rows=(9,)),
        ),
    ),
    Outcome(
        path="tool-outputs/llama-bench/mtp_baseline_server-bench.json",
        format="other",
        outcome="refuse",
        why="a script of its own beside llama-bench: seconds with prefill, and no prompt tokens, so no context",
        codes=("E_FORMAT",),
    ),
    Outcome(
        path="tool-outputs/llama-bench/mtp_mtp-2_server-bench.json",
        format="other",
        outcome="refuse",
        why="as its baseline, with drafts: several tokens per step",
        codes=("E_FORMAT",),
    ),
    Outcome(
        path="tool-outputs/llama-bench/own_tiny_model.json",
        format="llama-bench json",
        outcome="seal",
        why="a plain run; columns that newer builds added (load_mode, lazy_mode) are settings",
        facts=(
            fact("prefill_tok_s", 256, "1x5", "256000000000/15991547"),
            fact("gen_tok_s", 0, "1x5", "32000000000/12941369", rows=(1,)),
        ),
    ),
    Outcome(
        path="tool-outputs/llama-bench/quick-test_stderr-mixed.jsonl",
        format="llama-bench jsonl",
        outcome="refuse",
        why="4 of 10 lines are a log: standard error ran into the file",
        codes=("E_JSON",),
        unless="skip the lines of a log",
        then=("F_SKIPPED_LINES", "F_N1"),
        facts=(
            fact("prefill_tok_s", 512, "1x1", "256000000000/51121847"),
            fact("gen_tok_s", 0, "1x1", "128000000000/664633263", rows=(1,)),
            fact("prefill_tok_s", 1536, "1x1", "128000000000/28077209", rows=(2,)),
            fact("gen_tok_s", 1024, "1x1", "128000000000/702840093", rows=(3,)),
            fact("prefill_tok_s", 4608, "1x1", "128000000000/33737423", rows=(4,)),
            fact("gen_tok_s", 4096, "1x1", "32000000000/224026693", rows=(5,)),
        ),
    ),
    Outcome(
        path="tool-outputs/llama-bench/qwen3-30b_raw_runs.head40.jsonl",
        format="llama-bench jsonl",
        outcome="seal",
        why="flash_attn off and on, and 13 lengths of generation at context 0, in one file",
        selector=True,
        facts=(
            fact("prefill_tok_s", 1, "1x5", "250000000/4538893"),
            fact("prefill_tok_s", 2, "1x5", "2000000000/33927159", rows=(1,)),
            fact("prefill_tok_s", 4, "1x5", "4000000000/55154049", rows=(2,)),
            fact("prefill_tok_s", 8, "1x5", "1600000000/25609939", rows=(3,)),
            fact("prefill_tok_s", 16, "1x5", "320000000/3226539", rows=(4,)),
            fact("prefill_tok_s", 32, "1x5", "16000000000/100590297", rows=(5,)),
            fact("prefill_tok_s", 64, "1x5", "64000000000/292956909", rows=(6,)),
            fact("prefill_tok_s", 128, "1x5", "128000000000/463263633", rows=(7,)),
            fact("prefill_tok_s", 256, "1x5", "256000000000/747817889", rows=(8,)),
            fact("prefill_tok_s", 512, "1x5", "512000000000/1334844093", rows=(9,)),
            fact("prefill_tok_s", 1024, "1x5", "204800000000/563218893", rows=(10,)),
            fact("prefill_tok_s", 2048, "1x5", "512000000000/1532267573", rows=(11,)),
            fact("prefill_tok_s", 4096, "1x5", "4096000000000/14103376133", rows=(12,)),
            fact("gen_tok_s", 0, "1x5", "1000000000/18254773", rows=(13,)),
            fact("gen_tok_s", 0, "1x5", "2000000000/36250463", rows=(14,)),
            fact("gen_tok_s", 0, "1x5", "250000000/4532823", rows=(15,)),
            fact("gen_tok_s", 0, "1x5", "2000000000/36349563", rows=(16,)),
            fact("gen_tok_s", 0, "1x5", "1600000000/29088681", rows=(17,)),
            fact("gen_tok_s", 0, "1x5", "3200000000/58040757", rows=(18,)),
            fact("gen_tok_s", 0, "1x5", "64000000000/1164298723", rows=(19,)),
            fact("gen_tok_s", 0, "1x5", "128000000000/2359442207", rows=(20,)),
            fact("gen_tok_s", 0, "1x5", "256000000000/4815704569", rows=(21,)),
            fact("gen_tok_s", 0, "1x5", "128000000000/2517769027", rows=(22,)),
            fact("gen_tok_s", 0, "1x5", "128000000000/2670134777", rows=(23,)),
            fact("gen_tok_s", 0, "1x5", "128000000000/2961487979", rows=(24,)),
            fact("gen_tok_s", 0, "1x5", "2048000000000/55587383493", rows=(25,)),
            fact("prefill_tok_s", 1, "1x5", "1000000000/20858693", rows=(26,)),
            fact("prefill_tok_s", 2, "1x5", "2000000000/37772577", rows=(27,)),
            fact("prefill_tok_s", 4, "1x5", "4000000000/62055797", rows=(28,)),
            fact("prefill_tok_s", 8, "1x5", "8000000000/131813281", rows=(29,)),
            fact("prefill_tok_s", 16, "1x5", "16000000000/170510033", rows=(30,)),
            fact("prefill_tok_s", 32, "1x5", "32000000000/212941151", rows=(31,)),
            fact("prefill_tok_s", 64, "1x5", "32000000000/163566179", rows=(32,)),
            fact("prefill_tok_s", 128, "1x5", "128000000000/523857841", rows=(33,)),
            fact("prefill_tok_s", 256, "1x5", "128000000000/423599931", rows=(34,)),
            fact("prefill_tok_s", 512, "1x5", "512000000000/1727609513", rows=(35,)),
            fact("prefill_tok_s", 1024, "1x5", "204800000000/788580217", rows=(36,)),
            fact("prefill_tok_s", 2048, "1x5", "1024000000000/4949218019", rows=(37,)),
            fact("prefill_tok_s", 4096, "1x5", "4096000000000/27668337111", rows=(38,)),
            fact("gen_tok_s", 0, "1x5", "25000000/520461", rows=(39,)),
        ),
    ),
    Outcome(
        path="tool-outputs/llama-bench/qwen35-122b_curve-generation_depth.jsonl",
        format="llama-bench jsonl",
        outcome="seal",
        why="nine depths; the first of three samples is the slowest in every row, which is no drift",
        facts=(
            fact("gen_tok_s", 0, "1x3", "64000000000/2956578217"),
            fact("gen_tok_s", 8192, "1x3", "128000000000/6200362877", rows=(1,)),
            fact("gen_tok_s", 16384, "1x3", "16000000000/811102691", rows=(2,)),
            fact("gen_tok_s", 24576, "1x3", "32000000000/1695332937", rows=(3,)),
            fact("gen_tok_s", 32768, "1x3", "128000000000/7067662777", rows=(4,)),
            fact("gen_tok_s", 40960, "1x3", "128000000000/7362204761", rows=(5,)),
            fact("gen_tok_s", 49152, "1x3", "25600000000/1530733721", rows=(6,)),
            fact("gen_tok_s", 57344, "1x3", "128000000000/7967996769", rows=(7,)),
            fact("gen_tok_s", 65536, "1x3", "12800000000/828254413", rows=(8,)),
        ),
    ),
    Outcome(
        path="tool-outputs/llama-bench/readme_qwen25-7b_rtx4080.csv",
        format="llama-bench csv",
        outcome="refuse",
        why="42 names and 41 values: read by name, the standard deviation 100.064434 is the speed",
        codes=("E_COLUMN_COUNT",),
        also=("E_NO_SAMPLES",),
    ),
    Outcome(
        path="tool-outputs/llama-bench/readme_qwen25-7b_rtx4080.json",
        format="llama-bench json",
        outcome="seal",
        why="avg_ts is the mean of rates (7100.00), not tokens over avg_ns (7097.74); flash_attn is -1",
        facts=(
            fact("prefill_tok_s", 512, "1x5", "1280000000/179363"),
            fact("gen_tok_s", 0, "1x5", "1280000000/10753613", rows=(1,)),
        ),
    ),
    Outcome(
        path="tool-outputs/llama-perplexity-kld/eyad_tiny_q4km.kld.txt",
        format="llama-perplexity",
        outcome="flag",
        why="perplexity 55,470 of the reference: a random model; the table per chunk holds running means",
        kind="parity",
        codes=("F_BASE_PERPLEXITY",),
        given=("arm",),
        facts=(
            fact("kl", 128, "1x1", "117/500000"),
            fact("kl_max", 128, "1x1", "2127/1000000"),
            fact("top1", 128, "1x1", "1"),
        ),
    ),
    Outcome(
        path="tool-outputs/llama-perplexity-kld/glm46_iq2kl_v3.kld.txt",
        format="llama-perplexity",
        outcome="flag",
        why="a mean of 0.098 hides a maximum of 20.7; a minimum of -0.000134 is rounding and no fault",
        kind="parity",
        codes=("F_KL_TAIL",),
        given=("arm", "depth", "trials"),
        facts=(
            fact("kl", None, "1x1", "97973/1000000"),
            fact("kl_max", None, "1x1", "20749897/1000000"),
            fact("top1", None, "1x1", "42711/50000"),
        ),
    ),
    Outcome(
        path="tool-outputs/llama-perplexity-kld/glm46_v4_kv-f16.kld.txt",
        format="llama-perplexity",
        outcome="flag",
        why="as V3; the same reference by its perplexity 8.453608",
        kind="parity",
        codes=("F_KL_TAIL",),
        given=("arm", "depth", "trials"),
        facts=(
            fact("kl", None, "1x1", "2521/31250"),
            fact("kl_max", None, "1x1", "18875971/1000000"),
            fact("top1", None, "1x1", "86479/100000"),
        ),
    ),
    Outcome(
        path="tool-outputs/llama-perplexity-kld/glm46_v4_kv-q8_0.kld.truncated.txt",
        format="llama-perplexity",
        outcome="refuse",
        why='cut after "Token probability statistics" with exit status 0: no "Same top p"',
        kind="parity",
        codes=("E_TRUNCATED",),
    ),
    Outcome(
        path="tool-outputs/vllm-serve/all_requests_failed_v0.25.1.json",
        format="vllm serve",
        outcome="refuse",
        why="8 of 8 requests failed and every latency is 0.0, in a file that is well formed",
        codes=("E_ALL_FAILED",),
    ),
    Outcome(
        path="tool-outputs/vllm-serve/bench_serve_v0.25.1.json",
        format="vllm serve",
        outcome="flag",
        why="totals alone; a first request of 734 ms beside a median of 56; 6 requests at once, of at most 2",
        codes=("F_TOTALS_ONLY", "F_TZ_MISSING", "F_COLD_FIRST"),
        given=("environment", "commit", "zone"),
        facts=(fact("output_tok_s", 32, "1x1", "128000000000/1544159883"),),
    ),
    Outcome(
        path="tool-outputs/vllm-serve/sweep_run=0.json",
        format="vllm serve",
        outcome="flag",
        why='the cold run of a sweep; a "maximum" of 75 tok/s below the mean of 93.7 is a count per second',
        codes=("F_TOTALS_ONLY", "F_TZ_MISSING", "F_COLD_FIRST", "F_PEAK_LT_MEAN"),
        given=("environment", "commit", "zone"),
        facts=(fact("output_tok_s", 32, "1x1", "128000000000/1365367127"),),
    ),
    Outcome(
        path="tool-outputs/vllm-serve/sweep_run=1.json",
        format="vllm serve",
        outcome="flag",
        why='a "maximum" of 128 tok/s below the mean of 199.4 is a count per second: no reason to refuse',
        codes=("F_TOTALS_ONLY", "F_TZ_MISSING", "F_PEAK_LT_MEAN"),
        given=("environment", "commit", "zone"),
        facts=(fact("output_tok_s", 32, "1x1", "128000000000/642025361"),),
    ),
    Outcome(
        path="tool-outputs/vllm-serve/sweep_summary.json",
        format="vllm serve",
        outcome="flag",
        why="holds both runs of the sweep again: beside their own files it is a copy (E_COPIED_SAMPLES)",
        codes=("F_TOTALS_ONLY", "F_TZ_MISSING", "F_COLD_FIRST", "F_PEAK_LT_MEAN"),
        given=("environment", "commit", "zone"),
        facts=(fact("output_tok_s", 32, "2x1", "128473119232000000000/876600322609707847", rows=(0, 1)),),
    ),
    Outcome(
        path="tool-outputs/vllm-latency/vllm_awq_fp8_ctx512_out128.json",
        format="vllm latency",
        outcome="flag",
        why="model, lengths and time are at best in the name of the file; tokens over latency would hold prefill",
        codes=("F_WORKLOAD_GIVEN", "F_PERCENTILE_METHOD"),
        given=("environment", "commit", "context", "started_at", "workload"),
        facts=(fact("wall", None, "1x8", "956467599/2000000"),),
    ),
    Outcome(
        path="tool-outputs/vllm-latency/vllm_awq_local_ctx16384_out128.json",
        format="vllm latency",
        outcome="flag",
        why="model, lengths and time are at best in the name of the file; tokens over latency would hold prefill",
        codes=("F_WORKLOAD_GIVEN", "F_PERCENTILE_METHOD"),
        given=("environment", "commit", "context", "started_at", "workload"),
        facts=(fact("wall", None, "1x8", "3185875949/2000000"),),
    ),
    Outcome(
        path="tool-outputs/vllm-latency/vllm_nvfp4_ctx4096_out128.json",
        format="vllm latency",
        outcome="flag",
        why="model, lengths and time are at best in the name of the file; tokens over latency would hold prefill",
        codes=("F_WORKLOAD_GIVEN", "F_PERCENTILE_METHOD"),
        given=("environment", "commit", "context", "started_at", "workload"),
        facts=(fact("wall", None, "1x8", "662389733/1000000"),),
    ),
    Outcome(
        path="tool-outputs/vllm-latency/vllm_nvfp4_ctx4096_out128.log.head",
        format="log",
        outcome="aside",
        why="the log of a run: says model, build and cache type, which the result does not",
    ),
    Outcome(
        path="tool-outputs/sglang-serving/deepseek_dp_mla_output.jsonl",
        format="sglang serve",
        outcome="flag",
        why="a bare Infinity is a rate; counts of the server and of a second tokenizer differ",
        codes=("F_NONFINITE", "F_TOTALS_ONLY", "F_RETOKENIZED"),
        given=("environment", "commit", "started_at", "model"),
        facts=(fact("output_tok_s", 1, "1x1", "2560000000000000/206245456031"),),
    ),
    Outcome(
        path="tool-outputs/sglang-serving/llama_3_3_70b_offline_output.jsonl",
        format="sglang serve",
        outcome="flag",
        why='"1024" is 1 to 1024, so 508; rows 3 and 4 are one workload again; sharegpt rows echo "1024" too',
        codes=("F_NONFINITE", "F_TOTALS_ONLY", "F_CONTEXT_DECLARED", "F_RETOKENIZED"),
        given=("environment", "commit", "started_at", "model"),
        selector=True,
        facts=(
            fact("output_tok_s", 508, "1x1", "772409000000000/170860534183", declared=1024),
            fact("output_tok_s", 509, "1x1", "85799500000000/24568231637", rows=(1,), declared=1024),
            fact("output_tok_s", 2047, "1x1", "818620000000000/399076255899", rows=(2,), declared=4096),
            fact(
                "output_tok_s",
                2065,
                "2x1",
                "349417869062659030000000000/211265507743209882416547",
                rows=(3, 4),
                declared=4096,
            ),
            fact("output_tok_s", 130, "1x1", "76478050000000/11503158999", rows=(5,), declared=256),
            fact("output_tok_s", 224, "1x1", "191532000000000/48613100147", rows=(6,), declared=1024),
        ),
    ),
    Outcome(
        path="tool-outputs/sglang-serving/llama_3_3_70b_online_output.jsonl",
        format="sglang serve",
        outcome="flag",
        why='the "1024" run: 152612 prompt tokens of 300 requests are 509 each',
        codes=("F_TOTALS_ONLY", "F_CONTEXT_DECLARED", "F_RETOKENIZED"),
        given=("environment", "commit", "started_at", "model"),
        selector=True,
        facts=(
            fact("output_tok_s", 509, "1x1", "1864500000000/3469390471", declared=1024),
            fact("output_tok_s", 515, "1x1", "308712000000000/312679109441", rows=(1,), declared=1024),
            fact("output_tok_s", 513, "1x1", "17920000000/8750381", rows=(2,), declared=1024),
            fact("output_tok_s", 510, "1x1", "121892200000000/34677536483", rows=(3,), declared=1024),
            fact("output_tok_s", 509, "1x1", "821318500000000/191536625003", rows=(4,), declared=1024),
            fact("output_tok_s", 224, "1x1", "113450500000000/152063110597", rows=(5,), declared=1024),
            fact("output_tok_s", 225, "1x1", "46187400000000/31396794493", rows=(6,), declared=1024),
        ),
    ),
    Outcome(
        path="tool-outputs/sglang-serving/llama_405b_online_output.jsonl",
        format="sglang serve",
        outcome="flag",
        why="as the 70B run; counted again, up to 1.12 % of the tokens are missing",
        codes=("F_TOTALS_ONLY", "F_CONTEXT_DECLARED", "F_RETOKENIZED"),
        given=("environment", "commit", "started_at", "model"),
        selector=True,
        facts=(
            fact("output_tok_s", 509, "1x1", "160347000000000/317546816501", declared=1024),
            fact("output_tok_s", 515, "1x1", "12348480000000/13552720069", rows=(1,), declared=1024),
            fact("output_tok_s", 513, "1x1", "607936000000000/380282491669", rows=(2,), declared=1024),
            fact("output_tok_s", 510, "1x1", "609461000000000/334748413749", rows=(3,), declared=1024),
            fact("output_tok_s", 224, "1x1", "226901000000000/321839254927", rows=(4,), declared=1024),
            fact("output_tok_s", 225, "1x1", "65982000000000/53889489113", rows=(5,), declared=1024),
        ),
    ),
    Outcome(
        path="tool-outputs/sglang-onebatch/sglang_gptq_ctx512_out128.json",
        format="sglang one-batch",
        outcome="flag",
        why="one run; the median decode step is of steps that the file does not hold; neither model nor time",
        codes=("F_N1",),
        given=("environment", "commit", "started_at", "model"),
        facts=(
            fact("prefill_tok_s", 512, "1x1", "256000000000/16971331"),
            fact("decode_tok_s", 512, "1x1", "31750000000/132414319"),
        ),
    ),
    Outcome(
        path="tool-outputs/sglang-onebatch/sglang_gptq_fix_ctx4096_out128.json",
        format="sglang one-batch",
        outcome="flag",
        why="one run; the median decode step is of steps that the file does not hold; neither model nor time",
        codes=("F_N1",),
        given=("environment", "commit", "started_at", "model"),
        facts=(
            fact("prefill_tok_s", 4096, "1x1", "2048000000000/98255479"),
            fact("decode_tok_s", 4096, "1x1", "127000000000/537576791"),
        ),
    ),
    Outcome(
        path="tool-outputs/sglang-onebatch/sglang_gptq_fix_mem085_ctx16384_out128.json",
        format="sglang one-batch",
        outcome="flag",
        why="one run; the median decode step is of steps that the file does not hold; neither model nor time",
        codes=("F_N1",),
        given=("environment", "commit", "started_at", "model"),
        facts=(
            fact("prefill_tok_s", 16384, "1x1", "16384000000000/1021763787"),
            fact("decode_tok_s", 16384, "1x1", "6350000000/28038537"),
        ),
    ),
    Outcome(
        path="tool-outputs/trtllm-bench/latency_ctx128_out128_max512_graphbs1.json",
        format="trtllm",
        outcome="flag",
        why="one request, its first token 2 ms before its end: 58,768 tok/s is how pieces bunch",
        codes=("F_TOTALS_ONLY", "F_N1", "F_RATE_IMPOSSIBLE"),
        given=("commit", "started_at"),
        facts=(fact("output_tok_s", 128, "1x1", "64000000000/1009538069"),),
    ),
    Outcome(
        path="tool-outputs/trtllm-bench/latency_ctx128_out128_max512_graphbs1_5req.json",
        format="trtllm",
        outcome="flag",
        why="named 5req, 6 requests; up to 93,777 tok/s; a cold one of 2015 ms beside a median of 76; p99 of six",
        codes=("F_TOTALS_ONLY", "F_RATE_IMPOSSIBLE", "F_COLD_FIRST", "F_FORMULA"),
        given=("commit", "started_at"),
        facts=(fact("output_tok_s", 128, "1x1", "1024000000/10332579"),),
    ),
    Outcome(
        path="tool-outputs/trtllm-bench/sweep_latency_ctx128_out128.json",
        format="trtllm",
        outcome="flag",
        why="up to 106,265 tok/s for a request; a cold one of 2015 ms beside a median of 77; p99 of six",
        codes=("F_TOTALS_ONLY", "F_RATE_IMPOSSIBLE", "F_COLD_FIRST", "F_FORMULA"),
        given=("commit", "started_at"),
        facts=(fact("output_tok_s", 128, "1x1", "256000000000/2585795137"),),
    ),
    Outcome(
        path="tool-outputs/trtllm-bench/sweep_latency_ctx512_out128.json",
        format="trtllm",
        outcome="flag",
        why="up to 105,104 tok/s for a request; a cold one of 2018 ms beside a median of 77; p99 of six",
        codes=("F_TOTALS_ONLY", "F_RATE_IMPOSSIBLE", "F_COLD_FIRST", "F_FORMULA"),
        given=("commit", "started_at"),
        facts=(fact("output_tok_s", 512, "1x1", "64000000000/649158811"),),
    ),
    Outcome(
        path="tool-outputs/aiperf/agent_c32.profile_export_aiperf.excerpt.json",
        format="aiperf",
        outcome="flag",
        why="56.19 tok/s per user is a mean of reciprocals, 53.71 the reciprocal; 95 of 96 answers of another length",
        codes=("F_TOTALS_ONLY", "F_TZ_MISSING", "F_FORMULA", "F_OUTPUT_LENGTH", "F_CHUNKED"),
        given=("environment", "commit", "zone"),
        facts=(fact("output_tok_s", 2615, "1x1", "10007000000000/7450303639"),),
    ),
    Outcome(
        path="tool-outputs/aiperf/chatbot_c1.profile_export.excerpt.jsonl",
        format="aiperf records",
        outcome="flag",
        why="nanoseconds since 1970 are above 2^53; cached prompt tokens; 250 pieces for 252 tokens",
        codes=("F_PREFIX_CACHE", "F_CHUNKED", "F_CONTEXT_PARTIAL"),
        given=("environment", "commit", "model", "concurrency"),
        facts=(
            fact("decode_tok_s", 187, "1x3", "164000000000/7815124957"),
            fact("ttft", 187, "1x3", "2144928571/200000"),
        ),
    ),
    Outcome(
        path="tool-outputs/aiperf/chatbot_c8.profile_export_aiperf.excerpt.json",
        format="aiperf",
        outcome="flag",
        why="112.76 and 110.49 tok/s per user by two formulas; local time without a zone",
        codes=("F_TOTALS_ONLY", "F_TZ_MISSING", "F_FORMULA", "F_CHUNKED"),
        given=("environment", "commit", "zone"),
        facts=(fact("output_tok_s", 467, "1x1", "10955500000000/14236103827"),),
    ),
    Outcome(
        path="tool-outputs/hyperfine/benchcoin_147.excerpt.json",
        format="hyperfine",
        outcome="flag",
        why="base three times, then head, on a box that slows down: all six in order; no exit codes",
        codes=("F_DRIFT", "F_EXIT_UNKNOWN"),
        given=("environment", "commit", "started_at"),
        selector=True,
        facts=(
            fact("wall", 0, "1x3", "1317287"),
            fact("wall", 0, "1x3", "1338569", rows=(1,)),
        ),
    ),
    Outcome(
        path="tool-outputs/hyperfine/dandavison_misc_hyperfine_ERROR.json",
        format="hyperfine",
        outcome="refuse",
        why="a command that died: 9 us, 0 s, 0 s",
        codes=("E_ZERO_TIME",),
        also=("F_EXIT_UNKNOWN",),
    ),
    Outcome(
        path="tool-outputs/hyperfine/zeroows_1brc_hyperfine.json",
        format="hyperfine",
        outcome="seal",
        why="two commands are two arms when the caller says so; three falling times are no drift",
        given=("environment", "commit", "started_at"),
        selector=True,
        facts=(
            fact("wall", 0, "1x3", "5909066667/500000"),
            fact("wall", 0, "1x3", "12049233209/1000000", rows=(1,)),
        ),
    ),
    Outcome(
        path="tool-outputs/pytest-benchmark/0001_b87b9aae_20150814_uncommitted.json",
        format="pytest-benchmark",
        outcome="refuse",
        why="measured on uncommitted code (dirty is true); statistics of 9987 rounds without one of them",
        codes=("E_DIRTY",),
        also=("E_NO_SAMPLES",),
    ),
    Outcome(
        path="tool-outputs/pytest-benchmark/gab_pytest_output.json",
        format="pytest-benchmark",
        outcome="refuse",
        why="measured on uncommitted code; data ends in a text after 4 of 38523 rounds",
        codes=("E_DIRTY",),
        also=("E_SAMPLE",),
    ),
    Outcome(
        path="tool-outputs/pytest-benchmark/gab_pytest_several_units.json",
        format="pytest-benchmark",
        outcome="refuse",
        why="measured on uncommitted code; one of four benchmarks has its data whole; seconds per iteration",
        codes=("E_DIRTY",),
        also=("E_SAMPLE",),
    ),
    Outcome(
        path="tool-outputs/google-benchmark/gab_googlecpp_output.json",
        format="google-benchmark",
        outcome="flag",
        why="one run of each function; local time without a zone",
        codes=("F_N1", "F_TZ_MISSING"),
        given=("commit", "zone"),
        selector=True,
        facts=(
            fact("ns_per_iteration", 0, "1x1", "330070187/1535283"),
            fact("ns_per_iteration", 0, "1x1", "658055831/23968", rows=(1,)),
        ),
    ),
    Outcome(
        path="tool-outputs/google-benchmark/test1_run1.json",
        format="google-benchmark",
        outcome="flag",
        why="ns and s in one list; BigO and RMS are aggregates, and the first has the unit ns",
        codes=("F_N1", "F_TZ_MISSING", "F_AGGREGATE_SKIPPED"),
        given=("commit", "zone"),
        selector=True,
        facts=(
            fact("ns_per_iteration", 0, "1x1", "10"),
            fact("ns_per_iteration", 0, "1x1", "50", rows=(1,)),
            fact("ns_per_iteration", 0, "1x1", "50", rows=(2,)),
            fact("ns_per_iteration", 0, "1x1", "100", rows=(3,)),
            fact("ns_per_iteration", 0, "1x1", "100", rows=(4,)),
            fact("ns_per_iteration", 0, "1x1", "100", rows=(5,)),
            fact("ns_per_iteration", 0, "1x1", "100", rows=(6,)),
            fact("ns_per_iteration", 0, "1x1", "100", rows=(7,)),
            fact("ns_per_iteration", 0, "1x1", "10000", rows=(8,)),
            fact("ns_per_iteration", 0, "1x1", "100", rows=(9,)),
            fact("ns_per_iteration", 0, "1x1", "100", rows=(10,)),
            fact("ns_per_iteration", 0, "1x1", "400000000", rows=(13,)),
            fact("ns_per_iteration", 0, "1x1", "1000000000", rows=(14,)),
            fact("ns_per_iteration", 0, "1x1", "1000000000", rows=(15,)),
        ),
    ),
    Outcome(
        path="tool-outputs/google-benchmark/test3_run0.json",
        format="google-benchmark",
        outcome="flag",
        why="aggregates without a name of their kind; processor time of ten times the real time on 4 CPUs",
        codes=("F_TZ_MISSING", "F_AGGREGATE_SKIPPED", "F_CPU_TIME"),
        given=("commit", "zone"),
        selector=True,
        facts=(
            fact("ns_per_iteration", 0, "1x2", "17/2", rows=(1, 2)),
            fact("ns_per_iteration", 0, "1x2", "17/2", rows=(5, 6)),
        ),
    ),
    Outcome(
        path="tool-outputs/google-benchmark/test4_run.json",
        format="google-benchmark",
        outcome="refuse",
        why="rows without times, and no context",
        codes=("E_FIELD",),
    ),
    Outcome(
        path="tool-outputs/google-benchmark/test5_run0.json",
        format="google-benchmark",
        outcome="flag",
        why="a thousand seconds of processor time in one second on 4 CPUs",
        codes=("F_N1", "F_TZ_MISSING", "F_CPU_TIME"),
        given=("commit", "zone"),
        facts=(fact("ns_per_iteration", 0, "1x1", "1000000000"),),
    ),
    Outcome(
        path="tool-outputs/asv/asv-test_05d283b9-py2.7-Cython-numpy1.8.json",
        format="asv",
        outcome="refuse",
        why="medians without their samples; units are in another file, and one of them is bytes",
        codes=("E_NO_SAMPLES",),
    ),
    Outcome(
        path="tool-outputs/asv/asv-test_benchmarks.head.json",
        format="asv",
        outcome="refuse",
        why="the list of benchmarks, cut after 4000 bytes",
        codes=("E_JSON",),
        also=("E_TRUNCATED", "E_FORMAT"),
    ),
    Outcome(
        path="tool-outputs/asv/asv-test_fcf8c079-py2.7-Cython-numpy1.8.json",
        format="asv",
        outcome="refuse",
        why="medians without their samples; a bare NaN is a benchmark that was skipped, null one that failed",
        codes=("E_NO_SAMPLES",),
        also=("E_NONFINITE",),
    ),
    Outcome(
        path="tool-outputs/asv/asv-test_machine.json",
        format="asv",
        outcome="refuse",
        why="facts of a machine, no result",
        codes=("E_FORMAT",),
    ),
    Outcome(
        path="tool-outputs/asv/scipy-bench_machine_atom.json",
        format="asv",
        outcome="refuse",
        why="facts of a machine, no result",
        codes=("E_FORMAT",),
    ),
    Outcome(
        path="tool-outputs/asv/scipy-bench_v2_297e602e.json",
        format="asv",
        outcome="refuse",
        why="215 of 215 results are null: nothing ran",
        codes=("E_EMPTY_RESULTS",),
    ),
    Outcome(
        path="tool-outputs/asv/scipy-bench_v2_3a57f507.trimmed10.json",
        format="asv",
        outcome="refuse",
        why="the column samples is there and no row reaches it; bare NaN and Infinity",
        codes=("E_NO_SAMPLES",),
        also=("E_NONFINITE",),
    ),
    Outcome(
        path="tool-outputs/neighbour-receipts/k3-log_00f85eed1e73664c9225ad528f1f8155.receipt.truncated-quote.json",
        format="other ledger",
        outcome="aside",
        why="read as a folder by the importer of that log; its quote is cut",
    ),
    Outcome(
        path="tool-outputs/neighbour-receipts/k3-log_00f85eed1e73664c9225ad528f1f8155.result.json",
        format="other ledger",
        outcome="aside",
        why="read as a folder by the importer of that log; a verdict without a repetition",
    ),
    Outcome(
        path="tool-outputs/neighbour-receipts/k3-log_091146e09794e7109724248d1a102650.receipt.truncated-quote.json",
        format="other ledger",
        outcome="aside",
        why="read as a folder by the importer of that log; its quote is cut",
    ),
    Outcome(
        path="tool-outputs/neighbour-receipts/k3-log_091146e09794e7109724248d1a102650.result.json",
        format="other ledger",
        outcome="aside",
        why="read as a folder by the importer of that log; a verdict without a repetition",
    ),
    Outcome(
        path="tool-outputs/neighbour-receipts/k3-log_446e6eb473877ef2635ebc1eace153a4.receipt.truncated-quote.json",
        format="other ledger",
        outcome="aside",
        why="read as a folder by the importer of that log; its quote is cut",
    ),
    Outcome(
        path="tool-outputs/neighbour-receipts/k3-log_446e6eb473877ef2635ebc1eace153a4.result.json",
        format="other ledger",
        outcome="aside",
        why="read as a folder by the importer of that log; a verdict without a repetition",
    ),
    Outcome(
        path="tool-outputs/neighbour-receipts/k3-log_ledger.jsonl",
        format="other ledger",
        outcome="aside",
        why="the index of another ledger, written after its receipts",
    ),
    Outcome(
        path="tool-outputs/neighbour-receipts/sparkinfer-log_0000-51467dd.receipt.json",
        format="other ledger",
        outcome="aside",
        why="a receipt of a ledger that has no importer",
    ),
    Outcome(
        path="tool-outputs/sparkinfer/baseline_20260731T021213Z.json",
        format="k3 baseline",
        outcome="flag",
        why="one reading, called 128: a sibling says that such a slot was timed from an empty cache",
        kind="imported",
        codes=("K_REPS_ABSENT", "K_SENTINEL", "F_N1", "F_DEPTH_UNPROVEN"),
        given=("at", "context"),
        facts=(fact("decode_tok_s", None, "1x1", "18321/1000"),),
    ),
    Outcome(
        path="tool-outputs/sparkinfer/baseline_20260801T103818Z.json",
        format="k3 baseline",
        outcome="flag",
        why="-d 0 was filed under 128; one reading each, on another box than its later pin of 18.4435",
        kind="imported",
        codes=("K_REPS_ABSENT", "K_SENTINEL", "F_N1", "F_CONTEXT_DECLARED"),
        facts=(
            fact("decode_tok_s", 0, "1x1", "181983/10000", declared=128),
            fact("decode_tok_s", 131072, "1x1", "83513/5000", rows=(1,)),
        ),
    ),
    Outcome(
        path="tool-outputs/sparkinfer/baseline_20260803T084547Z.json",
        format="k3 baseline",
        outcome="flag",
        why="three repetitions are told and none is kept; no option tells the depth; a prefill of 0.0 is absent",
        kind="imported",
        codes=("K_REPS_ABSENT", "K_SENTINEL", "F_DEPTH_UNPROVEN"),
        given=("at", "context"),
        facts=(fact("decode_tok_s", None, "1x1", "36887/2000"),),
    ),
    Outcome(
        path="tool-outputs/sparkinfer/baseline_20260805T040124Z.json",
        format="k3 baseline",
        outcome="flag",
        why="a prefill figure: the decode of 0.0 beside it is absent; its spread stands in a note",
        kind="imported",
        codes=("K_REPS_ABSENT", "K_SENTINEL"),
        given=("at",),
        facts=(fact("prefill_tok_s", 32768, "1x1", "3597/25"),),
    ),
    Outcome(
        path="tool-outputs/sparkinfer/reference.lock",
        format="shell",
        outcome="aside",
        why='pins in shell syntax: check-lock reads them; 0 is "not measured"',
    ),
    Outcome(
        path="tool-outputs/sparkinfer/sparkinfer_20260801T114500Z.json",
        format="k3 baseline",
        outcome="flag",
        why="the depth of 131072 was sought in a cache of zeros, not filled; one reading; 1.00 has three digits",
        kind="imported",
        codes=("K_REPS_ABSENT", "K_SENTINEL", "F_N1", "F_DEPTH_UNPROVEN"),
        given=("context",),
        facts=(
            fact("decode_tok_s", None, "1x1", "517/50"),
            fact("decode_tok_s", None, "1x1", "1", rows=(1,)),
        ),
    ),
    Outcome(
        path="tandem/golden_expected.json",
        format="expectations",
        outcome="aside",
        why="statistics and verdicts for the two real records: a test reads them",
    ),
    Outcome(
        path="tandem/real_runrecord_A.json",
        format="tandem record",
        outcome="flag",
        why='warm-ups repeat prompts with a prefix cache on; "length" at 235 of 256; 256 asked for, 235 measured',
        codes=(
            "F_PREFIX_CACHE",
            "F_CHUNKED",
            "F_FINISH_CAP",
            "F_SHORT_OUTPUT",
            "F_CONTEXT_DECLARED",
            "F_PERCENTILE_METHOD",
        ),
        facts=(
            fact("decode_tok_s", 235, "1x50", "1229975606250000/46530987969397", declared=256),
            fact("ttft", 235, "1x50", "599919/1000", declared=256),
        ),
    ),
    Outcome(
        path="tandem/real_runrecord_B.json",
        format="tandem record",
        outcome="flag",
        why="as A; one prompt gave 131 tokens warm and 196 measured; 28 of 50 prompts have other lengths than in A",
        codes=(
            "F_PREFIX_CACHE",
            "F_CHUNKED",
            "F_FINISH_CAP",
            "F_SHORT_OUTPUT",
            "F_CONTEXT_DECLARED",
            "F_PERCENTILE_METHOD",
            "F_NONDETERMINISTIC",
        ),
        facts=(
            fact("decode_tok_s", 236, "1x50", "15094269040000/582463387313", declared=256),
            fact("ttft", 236, "1x50", "1206887/2000", declared=256),
        ),
    ),
    Outcome(
        path="tandem/synthetic/api_text.json",
        format="other",
        outcome="refuse",
        why="texts of answers, no time",
        codes=("E_FORMAT",),
    ),
    Outcome(
        path="tandem/synthetic/base/raw-1/run.json",
        format="tandem record",
        outcome="flag",
        why="neither engine, model, hardware nor time; a prompt has another length as a warm-up",
        codes=("F_PROMPT_DRIFT",),
        given=("environment", "commit", "model", "started_at"),
        facts=(
            fact("decode_tok_s", 202, "1x50", "35943559000000/894066049833"),
            fact("ttft", 202, "1x50", "169913/400"),
        ),
    ),
    Outcome(
        path="tandem/synthetic/base/raw-2/run.json",
        format="tandem record",
        outcome="flag",
        why="neither engine, model, hardware nor time; a prompt has another length as a warm-up",
        codes=("F_PROMPT_DRIFT",),
        given=("environment", "commit", "model", "started_at"),
        facts=(
            fact("decode_tok_s", 217, "1x50", "47412629500000/1101939619007"),
            fact("ttft", 217, "1x50", "847763/2000"),
        ),
    ),
    Outcome(
        path="tandem/synthetic/base/raw-3/run.json",
        format="tandem record",
        outcome="flag",
        why="neither engine, model, hardware nor time; a prompt has another length as a warm-up",
        codes=("F_PROMPT_DRIFT",),
        given=("environment", "commit", "model", "started_at"),
        facts=(
            fact("decode_tok_s", 216, "1x50", "6538668750000/156467571743"),
            fact("ttft", 216, "1x50", "211797/500"),
        ),
    ),
    Outcome(
        path="tandem/synthetic/base/server-slice-1.log",
        format="log",
        outcome="aside",
        why="rounds of the requests of a record: read with the report",
    ),
    Outcome(
        path="tandem/synthetic/base/server-slice-2.log",
        format="log",
        outcome="aside",
        why="rounds of the requests of a record: read with the report",
    ),
    Outcome(
        path="tandem/synthetic/base/server-slice-3.log",
        format="log",
        outcome="aside",
        why="rounds of the requests of a record: read with the report",
    ),
    Outcome(
        path="tandem/synthetic/cand/raw-1/run.json",
        format="tandem record",
        outcome="flag",
        why="neither engine, model, hardware nor time; a prompt has another length as a warm-up",
        codes=("F_PROMPT_DRIFT",),
        given=("environment", "commit", "model", "started_at"),
        facts=(
            fact("decode_tok_s", 202, "1x50", "34634559000000/830130578233"),
            fact("ttft", 202, "1x50", "169913/400"),
        ),
    ),
    Outcome(
        path="tandem/synthetic/cand/raw-2/run.json",
        format="tandem record",
        outcome="flag",
        why="neither engine, model, hardware nor time; a prompt has another length as a warm-up",
        codes=("F_PROMPT_DRIFT",),
        given=("environment", "commit", "model", "started_at"),
        facts=(
            fact("decode_tok_s", 217, "1x50", "60906693500000/1363832317551"),
            fact("ttft", 217, "1x50", "847763/2000"),
        ),
    ),
    Outcome(
        path="tandem/synthetic/cand/raw-3/run.json",
        format="tandem record",
        outcome="flag",
        why="neither engine, model, hardware nor time; a prompt has another length as a warm-up",
        codes=("F_PROMPT_DRIFT",),
        given=("environment", "commit", "model", "started_at"),
        facts=(
            fact("decode_tok_s", 216, "1x50", "107109243750000/2469730689881"),
            fact("ttft", 216, "1x50", "211797/500"),
        ),
    ),
    Outcome(
        path="tandem/synthetic/cand/server-slice-1.log",
        format="log",
        outcome="aside",
        why="rounds of the requests of a record: read with the report",
    ),
    Outcome(
        path="tandem/synthetic/cand/server-slice-2.log",
        format="log",
        outcome="aside",
        why="rounds of the requests of a record: read with the report",
    ),
    Outcome(
        path="tandem/synthetic/cand/server-slice-3.log",
        format="log",
        outcome="aside",
        why="rounds of the requests of a record: read with the report",
    ),
    Outcome(
        path="tandem/synthetic/block_ab.json",
        format="tandem block-ab",
        outcome="flag",
        why="means per block of one process: a state is an arm, a workload a round; neither node nor time",
        codes=("F_TOTALS_ONLY",),
        given=("environment", "commit", "started_at"),
        selector=True,
        facts=(
            fact("ms_per_round", None, "3x1", "453/5", rows=(0, 6, 12)),
            fact("tokens_per_round", None, "3x1", "4", rows=(0, 6, 12)),
            fact("ms_per_round", None, "3x1", "4949/50", rows=(1, 7, 13)),
            fact("tokens_per_round", None, "3x1", "4", rows=(1, 7, 13)),
            fact("ms_per_round", None, "3x1", "9969/100", rows=(2, 8, 14)),
            fact("tokens_per_round", None, "3x1", "4", rows=(2, 8, 14)),
            fact("ms_per_round", None, "3x1", "441/5", rows=(3, 9, 15)),
            fact("tokens_per_round", None, "3x1", "4", rows=(3, 9, 15)),
            fact("ms_per_round", None, "3x1", "4829/50", rows=(4, 10, 16)),
            fact("tokens_per_round", None, "3x1", "4", rows=(4, 10, 16)),
            fact("ms_per_round", None, "3x1", "9729/100", rows=(5, 11, 17)),
            fact("tokens_per_round", None, "3x1", "4", rows=(5, 11, 17)),
        ),
    ),
    Outcome(
        path="tandem/synthetic/client_smoke.json",
        format="other",
        outcome="refuse",
        why="checks that passed, one of them because it was left out; no time",
        codes=("E_FORMAT",),
    ),
    Outcome(
        path="tandem/synthetic/code_sha256_vector.json",
        format="expectations",
        outcome="aside",
        why="a vector for the digest of code, with the order that is wrong",
    ),
    Outcome(
        path="tandem/synthetic/edge_cases.json",
        format="expectations",
        outcome="aside",
        why="eleven small records with what the runner makes of them: a test reads them",
    ),
    Outcome(
        path="tandem/synthetic/expected_compare_base_vs_cand.json",
        format="expectations",
        outcome="aside",
        why="verdicts of another rule on the two reports",
    ),
    Outcome(
        path="tandem/synthetic/forced_bench.json",
        format="tandem forced",
        outcome="flag",
        why="rounds that commit a given text, three of each answer; neither code, node nor time",
        codes=("F_ROUNDS_PARTIAL",),
        given=("environment", "commit", "started_at"),
        selector=True,
        facts=(
            fact("ms_per_round", 31, "3x3", "4753/50", rows=(0, 7, 12)),
            fact("ms_per_round", 31, "3x3", "183/2", rows=(1, 6, 13)),
            fact("ms_per_round", 40, "3x3", "1897/20", rows=(2, 9, 14)),
            fact("ms_per_round", 40, "3x3", "4549/50", rows=(3, 8, 15)),
            fact("ms_per_round", 1055, "3x3", "949/10", rows=(4, 11, 16)),
            fact("ms_per_round", 1055, "3x3", "909/10", rows=(5, 10, 17)),
        ),
    ),
    Outcome(
        path="tandem/synthetic/near_tie_vectors.json",
        format="expectations",
        outcome="aside",
        why="vectors for a rule on tokens",
    ),
    Outcome(
        path="tandem/synthetic/row3_base.json",
        format="tandem report",
        outcome="flag",
        why="statistics alone: samples are in records that it names; runs at 202, 217 and 216 prompt tokens",
        codes=("F_PROMPT_DRIFT", "F_CONTEXT_SPREAD"),
        given=("environment", "commit", "model", "started_at"),
        facts=(
            fact("decode_tok_s", 212, "3x50", "6538668750000/156467571743", rows=(0, 1, 2)),
            fact("ttft", 212, "3x50", "847763/2000", rows=(0, 1, 2)),
            fact("tokens_per_round", 212, "3x50", "10795/2688", rows=(0, 1, 2)),
            fact("ms_per_round", 212, "3x50", "576517/6000", rows=(0, 1, 2)),
        ),
    ),
    Outcome(
        path="tandem/synthetic/row3_cand.json",
        format="tandem report",
        outcome="flag",
        why="statistics alone: samples are in records that it names; runs at 202, 217 and 216 prompt tokens",
        codes=("F_PROMPT_DRIFT", "F_CONTEXT_SPREAD"),
        given=("environment", "commit", "model", "started_at"),
        facts=(
            fact("decode_tok_s", 212, "3x50", "107109243750000/2469730689881", rows=(0, 1, 2)),
            fact("ttft", 212, "3x50", "847763/2000", rows=(0, 1, 2)),
            fact("tokens_per_round", 212, "3x50", "10795/2688", rows=(0, 1, 2)),
            fact("ms_per_round", 212, "3x50", "555517/6000", rows=(0, 1, 2)),
        ),
    ),
    Outcome(
        path="tandem/synthetic/trap_identical_runs.json",
        format="tandem report",
        outcome="refuse",
        why="run 2 is run 1: one record twice, and a summary of other runs",
        codes=("E_COPIED_SAMPLES",),
        also=("E_REPORTED_MISMATCH",),
        disagrees=("summary.",),
    ),
)
"""Every file below the folders, in the order of their names, but files that are called README."""
