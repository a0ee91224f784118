"""Real files of benchmark tools: what must become of each, the facts in it, and the traps in it.

No adapter is used here: the table of outcomes is held against the files, and adapters can be held against the table.
"""

from __future__ import annotations

import csv
import hashlib
import json
import re
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest

from ledger.metrics import METRICS
from tests.support.exact_figures import Printed, mean, median, nearest_rank, parse, parse_lines, percentile, to_ns
from tests.support.outside import outside, outside_json
from tests.support.tandem_figures import read_record
from tests.support.tool_figures import READERS
from tests.support.tool_outcomes import CODES, OUTCOMES, UNITS, Outcome
from tests.support.tool_traps import find_traps

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.exact_figures import Figure

FOLDERS = ("tool-outputs", "tandem")
NEW_METRICS = {"output_tok_s", "ns_per_iteration"}
PARITY = {"kl", "kl_max", "top1"}
SEALED = [item for item in OUTCOMES if item.outcome in {"seal", "flag"} or item.unless]


def file_of(item: Outcome) -> Path:
    return outside(*item.path.split("/"))


def figures_of(item: Outcome) -> list[Figure]:
    return READERS[item.format](file_of(item))


def text_of(*parts: str) -> str:
    return outside("tool-outputs", *parts).read_text()


def each(items: list[Outcome]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("item", items, ids=[item.path for item in items])


# The table.


def test_every_file_has_one_entry_and_every_entry_its_file() -> None:
    on_disk = {
        f"{folder}/{path.relative_to(outside(folder)).as_posix()}"
        for folder in FOLDERS
        for path in outside(folder).rglob("*")
        if path.is_file() and not path.name.startswith("README")
    }
    listed = [item.path for item in OUTCOMES]
    assert sorted(listed) == sorted(on_disk)
    assert len(listed) == 99


def test_an_entry_says_what_its_outcome_needs() -> None:
    for item in OUTCOMES:
        flags = item.then if item.unless else item.codes if item.outcome == "flag" else ()
        assert item.why, item.path
        assert "\n" not in item.why, item.path
        assert all(code[:2] in {"F_", "K_"} for code in flags), item.path
        if item.outcome == "refuse":
            assert len(item.codes) == 1, item.path
            assert item.codes[0].startswith("E_"), item.path
        assert bool(item.codes) == (item.outcome in {"flag", "refuse"}), item.path
        assert bool(item.facts) == (item in SEALED), item.path
        assert bool(item.then) == bool(item.unless), item.path
        assert not item.given or item.outcome in {"seal", "flag"}, item.path


def test_every_code_is_explained_and_every_explanation_used() -> None:
    assert {code for item in OUTCOMES for code in (*item.codes, *item.also, *item.then)} == set(CODES)


def test_metrics_that_the_registry_has_are_in_its_unit_and_the_others_are_the_new_ones() -> None:
    used = {fact.metric for item in OUTCOMES for fact in item.facts}
    assert used == set(UNITS)
    assert used - set(METRICS) - PARITY <= NEW_METRICS
    assert all(METRICS[name].unit == UNITS[name] for name in used & set(METRICS))


def test_parity_has_its_own_names_and_only_it() -> None:
    for item in SEALED:
        assert ({fact.metric for fact in item.facts} <= PARITY) == (item.kind == "parity"), item.path


# The facts.


@each(SEALED)
def test_the_recomputation_gives_the_facts(item: Outcome) -> None:
    found = [
        (
            figure.metric,
            None if figure.context is None else round(figure.context),
            {(len(figure.reps), len(rep)) for rep in figure.reps},
            str(figure.median),
            figure.rows,
        )
        for figure in figures_of(item)
    ]
    assert found == [
        (each.metric, each.context, {(each.reps, each.samples)}, each.median, each.rows) for each in item.facts
    ]


@each([item for item in OUTCOMES if item.format in READERS and (item in SEALED or item.codes != ("E_JSON",))])
def test_what_the_tool_printed_is_that_of_its_samples_or_the_table_says_that_it_is_not(item: Outcome) -> None:
    wrong = {printed.name for figure in figures_of(item) for printed in figure.printed if not printed.agrees}
    assert {name for name in wrong if not name.startswith(item.disagrees or ("-",))} == set()
    assert all(any(name.startswith(begin) for name in wrong) for begin in item.disagrees)


@each(SEALED)
def test_a_file_has_the_flags_that_its_contents_deserve_and_no_other(item: Outcome) -> None:
    assert find_traps(file_of(item), item.format) == set(item.then if item.unless else item.codes)


@each([item for item in SEALED if any(fact.declared for fact in item.facts)])
def test_what_the_settings_name_is_not_what_was_measured(item: Outcome) -> None:
    for fact in item.facts:
        if fact.declared is not None and fact.context is not None:
            assert abs(fact.context - fact.declared) * 50 > fact.declared


def test_something_that_is_printed_beside_samples_is_compared_in_every_format() -> None:
    formats = {item.format for item in SEALED if item.kind == "round"}
    compared = {item.format for item in SEALED for figure in figures_of(item) if figure.printed}
    assert formats - compared == {"google-benchmark"}  # it prints nothing else


# The arithmetic.


@pytest.mark.parametrize(
    ("text", "exact", "cut", "agrees"),
    [
        ("1.50", "1.504", False, True),
        ("1.50", "1.506", False, False),
        ("2333", "2333.99", True, True),
        ("2333", "2333.99", False, False),
        ("2333", "2334.01", True, False),
        ("1.5e3", "1549", False, True),
        ("0.1000000000000000055", "0.1", False, True),
    ],
)
def test_a_print_agrees_within_its_last_digit(text: str, exact: str, agrees: bool, cut: bool) -> None:
    assert Printed(name="any", text=text, exact=Fraction(exact), cut=cut).agrees is agrees


def test_percentiles_by_two_methods() -> None:
    values = [Fraction(value) for value in range(1, 7)]
    assert nearest_rank(values, 90) == 5  # the rank 4.5 rounded to even
    assert percentile(values, 90) == Fraction(11, 2)
    assert percentile(values, 50) == median(values)


def test_a_duration_that_went_through_a_double_is_the_nanoseconds_that_it_was() -> None:
    assert to_ns(parse("1.5441598830002476")) == 1_544_159_883
    assert to_ns(parse("7749.434249999999"), "ms") == 7_749_434_250
    assert to_ns(parse("1.4538999999924586e-7") * 100) == 14_539  # a hundred iterations, timed together


def test_a_second_computation_by_others_gives_the_same_statistics_of_the_real_records() -> None:
    expected = outside_json("tandem", "golden_expected.json")
    for name in ("real_runrecord_A.json", "real_runrecord_B.json"):
        record, theirs = read_record(outside("tandem", name)), expected[name]
        rates = record.rates
        ours = {
            "n": Fraction(len(rates)),
            "mean": mean(rates),
            "p50": median(rates),
            "p90": nearest_rank(rates, 90),
            "max": max(rates),
            "ttft_p50_ms": median(record.ttfts),
            "wall_s": record.duration,
        }
        assert {key: float(value) for key, value in ours.items()} == pytest.approx(theirs, rel=1e-14)


def test_the_runner_and_the_report_take_two_percentiles_of_one_list() -> None:
    record = read_record(outside("tandem", "real_runrecord_A.json"))
    printed = record.body["metrics"]["decode_tok_s_per_request"]["p90"]
    assert round(percentile(record.rates, 90), 3) == Fraction(printed) == Fraction("29.575")
    assert round(nearest_rank(record.rates, 90), 3) == Fraction("29.573")


# The traps that the table names.


def test_42_names_and_41_values_make_the_deviation_the_speed() -> None:
    lines = list(csv.reader(text_of("llama-bench", "readme_qwen25-7b_rtx4080.csv").splitlines()))
    assert [len(line) for line in lines] == [42, 41, 41]
    assert dict(zip(lines[0], lines[1], strict=False))["avg_ts"] == "100.064434"


def test_formats_without_samples_have_averages_alone() -> None:
    names = ("fork_granite_ttft.sql", "glm46_longctx32768_rpc.md.log", "readme_qwen25-7b_rtx4080.csv")
    assert not any("samples_ns" in text_of("llama-bench", name) for name in names)


def test_a_log_ran_into_four_of_ten_lines() -> None:
    text = text_of("llama-bench", "quick-test_stderr-mixed.jsonl")
    assert (len(text.splitlines()), len(parse_lines(text))) == (10, 6)


def test_one_file_holds_thirteen_lengths_of_generation_at_one_context() -> None:
    rows = parse_lines(text_of("llama-bench", "qwen3-30b_raw_runs.head40.jsonl"))
    plain = [row for row in rows if not row["flash_attn"] and row["n_gen"]]
    assert len({row["n_gen"] for row in plain}) == len(plain) == 13
    assert {row["n_depth"] for row in plain} == {0}
    assert {row["flash_attn"] for row in rows} == {False, True}


def test_a_divergence_that_was_cut_has_no_last_line() -> None:
    folder = outside("tool-outputs", "llama-perplexity-kld")
    whole = {path.name for path in folder.iterdir() if "Same top p:" in path.read_text()}
    assert {path.name for path in folder.iterdir()} - whole == {"glm46_v4_kv-q8_0.kld.truncated.txt"}


def test_every_request_failed_and_every_latency_is_0() -> None:
    run = parse(text_of("vllm-serve", "all_requests_failed_v0.25.1.json"))
    assert (run["completed"], run["failed"], run["num_prompts"]) == (0, 8, 8)
    assert {value for name, value in run.items() if name.endswith("_ms")} == {0}
    assert run["duration"] > 0


def test_the_summary_of_a_sweep_holds_its_runs_again() -> None:
    runs = [parse(text_of("vllm-serve", f"sweep_run={number}.json")) for number in (0, 1)]
    assert parse(text_of("vllm-serve", "sweep_summary.json")) == runs


def test_the_run_that_is_called_1024_had_509_tokens_a_prompt() -> None:
    row = parse_lines(text_of("sglang-serving", "llama_3_3_70b_online_output.jsonl"))[0]
    assert (row["random_input_len"], row["random_range_ratio"]) == (1024, 0)
    assert round(Fraction(row["total_input_tokens"], row["completed"])) == 509


def test_a_second_count_loses_more_than_a_hundredth_of_the_tokens_of_two_runs() -> None:
    rows = parse_lines(text_of("sglang-serving", "llama_405b_online_output.jsonl"))
    lost = [1 - Fraction(row["total_output_tokens_retokenized"], row["total_output_tokens"]) for row in rows]
    assert [at for at, share in enumerate(lost) if share > Fraction(1, 100)] == [0, 3]
    assert float(max(lost)) == pytest.approx(0.0112, abs=5e-5)


def test_no_fact_of_tensorrt_is_near_the_rates_that_it_prints() -> None:
    for item in OUTCOMES:
        if item.format == "trtllm":
            stream = parse(file_of(item).read_text())["streaming_metrics"]
            assert stream["gen_tps_percentiles"]["maximum"] > 58_000
            assert all(Fraction(fact.median) < 100 for fact in item.facts)


def test_no_double_holds_the_nanoseconds_of_aiperf_and_differences_of_integers_do() -> None:
    lines = [json.loads(line) for line in text_of("aiperf", "chatbot_c1.profile_export.excerpt.jsonl").splitlines()]
    starts = [line["metadata"]["request_start_ns"] for line in lines]
    assert starts == [1785315831479615692, 1785315844396559904, 1785315870754694376]
    assert not any(int(float(start)) == start for start in starts)
    assert [start - starts[0] for start in starts] == [0, 12_916_944_212, 39_275_078_684]


def test_the_end_of_a_request_by_aiperfs_clock_is_a_millisecond_after_its_last_piece() -> None:
    for line in parse_lines(text_of("aiperf", "chatbot_c1.profile_export.excerpt.jsonl")):
        told = line["metadata"]["request_end_ns"] - line["metadata"]["request_start_ns"]
        assert 900_000 < told - to_ns(line["metrics"]["request_latency"]["value"], "ms") < 1_100_000


def test_a_command_that_died_took_no_time() -> None:
    (result,) = parse(text_of("hyperfine", "dandavison_misc_hyperfine_ERROR.json"))["results"]
    assert [to_ns(time) for time in result["times"]] == [9066, 0, 0]


def test_no_result_of_pytest_benchmark_is_of_a_commit_and_one_of_seven_has_its_data() -> None:
    files = [parse(path.read_text()) for path in sorted(outside("tool-outputs", "pytest-benchmark").iterdir())]
    assert [body["commit_info"]["dirty"] for body in files] == [True] * 3
    stats = [item["stats"] for body in files for item in body["benchmarks"]]
    assert [len(each.get("data", [])) == each["rounds"] for each in stats] == [False] * 6 + [True]


def test_rows_of_google_benchmark_without_a_time() -> None:
    body = parse(text_of("google-benchmark", "test4_run.json"))
    assert "context" not in body
    assert not any("real_time" in row for row in body["benchmarks"])


def test_all_215_results_of_one_asv_file_are_null() -> None:
    results = parse(text_of("asv", "scipy-bench_v2_297e602e.json"))["results"]
    assert [row[0] for row in results.values()] == [None] * 215


def test_no_row_of_asv_reaches_its_column_of_samples() -> None:
    body = parse(text_of("asv", "scipy-bench_v2_3a57f507.trimmed10.json"))
    at = body["result_columns"].index("samples")
    assert all(len(row) <= at for row in body["results"].values())
    for name in ("asv-test_05d283b9-py2.7-Cython-numpy1.8.json", "asv-test_fcf8c079-py2.7-Cython-numpy1.8.json"):
        assert "samples" not in text_of("asv", name)


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        (("asv", "asv-test_fcf8c079-py2.7-Cython-numpy1.8.json"), {"NaN"}),
        (("asv", "scipy-bench_v2_3a57f507.trimmed10.json"), {"NaN", "Infinity"}),
        (("sglang-serving", "llama_3_3_70b_offline_output.jsonl"), {"Infinity"}),
    ],
)
def test_numbers_that_are_not_json(parts: tuple[str, ...], words: set[str]) -> None:
    assert set(re.findall(r"\b(?:NaN|Infinity)\b", text_of(*parts))) == words


@each([item for item in OUTCOMES if item.codes == ("E_JSON",)])
def test_a_file_that_is_refused_as_no_json_is_none(item: Outcome) -> None:
    text = file_of(item).read_text()
    for whole in (text, text.splitlines()[0]):
        with pytest.raises(json.JSONDecodeError):
            json.loads(whole)


@each([item for item in OUTCOMES if item.format == "tandem record"])
def test_a_record_holds_the_digest_of_its_requests(item: Outcome) -> None:
    raw: dict[str, Any] = json.loads(file_of(item).read_text())["raw"]
    plain = json.dumps(raw["payload"], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert hashlib.sha256(plain.encode()).hexdigest() == raw["sha256"]
    assert raw["truncated"] is False
    assert len(raw["payload"]["requests"]) == 53


def test_one_report_names_a_record_twice_and_the_others_do_not() -> None:
    for item in OUTCOMES:
        if item.format == "tandem report":
            names = [run["record"] for run in parse(file_of(item).read_text())["runs"]]
            assert (len(set(names)) < len(names)) == (item.outcome == "refuse"), item.path


def test_two_records_of_one_workload_had_other_prompts() -> None:
    one, other = (read_record(outside("tandem", f"real_runrecord_{name}.json")) for name in "AB")
    ids = [[item["prompt_id"] for item in record.body["raw"]["payload"]["requests"]] for record in (one, other)]
    assert ids[0] == ids[1]
    assert sum(mine != theirs for mine, theirs in zip(one.prompts, other.prompts, strict=True)) == 28
