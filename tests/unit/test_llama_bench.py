"""The adapter of llama-bench: what it takes from a row, and what it refuses with which code and place."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from ledger.errors import LedgerError, MalformedError, RefusedError
from ledger.ingest import ADAPTERS, find_adapter
from ledger.ingest.llama_bench import LlamaBench
from tests.cli.samples import RUNS
from tests.support.llama_bench import ROW

if TYPE_CHECKING:
    from ledger.ingest.adapter import Row


def read(*rows: dict[str, Any]) -> list[Row]:
    return LlamaBench().read(json.dumps(list(rows)).encode(), "run.json")


def read_one(**members: Any) -> Row:  # noqa: ANN401 - columns have any type
    (row,) = read(without_none(members))
    return row


def without_none(members: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in {**ROW, **members}.items() if value is not ...}


def refusal(raw: bytes | str) -> LedgerError:
    with pytest.raises(MalformedError) as caught:
        LlamaBench().read(raw if isinstance(raw, bytes) else raw.encode(), "run.json")
    return caught.value


# What a row says.


def test_a_prompt_test_measures_prefill_at_the_context_that_it_fills() -> None:
    row = read_one()
    assert (row.number, row.metrics, row.context, row.wall_ns) == (0, ("prefill_tok_s",), 512, 7000)
    assert row.records == {"wall_ns": [1000, 2000, 4000], "prompt_tokens": [512] * 3}
    assert row.workload == {"depth": 0, "prompt_tokens": 512, "gen_tokens": 0}
    assert row.started_at == "2026-11-29T20:00:00Z"


def test_a_generation_test_measures_generation_at_its_depth() -> None:
    row = read_one(n_prompt=0, n_gen=64, n_depth=1024)
    assert (row.metrics, row.context) == (("gen_tok_s",), 1024)
    assert row.records == {"wall_ns": [1000, 2000, 4000], "completion_tokens": [64] * 3}


def test_depth_is_context_of_a_prompt_test_too() -> None:
    assert read_one(n_depth=256).context == 768


def test_a_test_of_both_gives_neither_rate() -> None:
    row = read_one(n_gen=64)
    assert (row.metrics, row.context) == (("wall",), 512)
    assert row.records == {"wall_ns": [1000, 2000, 4000], "prompt_tokens": [512] * 3, "completion_tokens": [64] * 3}


def test_a_build_without_the_depth_option_measured_at_depth_0() -> None:
    row = read_one(n_depth=...)
    assert row.context == 512
    assert row.workload == {"depth": 0, "prompt_tokens": 512, "gen_tokens": 0}


def test_rows_are_numbered_in_the_order_of_the_file() -> None:
    assert [row.number for row in read(ROW, ROW, ROW)] == [0, 1, 2]


def test_the_facts_of_node_weights_and_tool_are_taken_from_the_row() -> None:
    row = read_one(gpu_info="a gpu")
    assert row.environment == {"cpu": "a cpu", "gpu": "a gpu", "backends": "CPU"}
    assert row.weights == {"name": "tiny.gguf", "type": "llama 1B F32", "size": 4000, "params": 1000}
    assert row.harness == {"name": "llama-bench", "version": "build 7"}
    assert row.commit == "abc1234"


def test_what_is_not_known_is_absent_and_not_0_or_empty() -> None:
    row = read_one(gpu_info="", model_size=0, model_n_params=0, build_number=...)
    assert "gpu" not in row.environment
    assert row.weights == {"name": "tiny.gguf", "type": "llama 1B F32"}
    assert row.harness == {"name": "llama-bench"}


@pytest.mark.parametrize("name", ["tiny.gguf", "/somewhere/else/tiny.gguf", "C:\\models\\tiny.gguf"])
def test_the_path_of_the_weights_is_the_machines_and_is_left_out(name: str) -> None:
    assert read_one(model_filename=name).weights["name"] == "tiny.gguf"


def test_every_other_column_is_a_setting_known_or_not() -> None:
    row = read_one(flash_attn=True, no_host=False, split_mode=None, tensor_split="0.00", new_option=-1, rate=1.50)
    assert row.settings == {
        "n_threads": "4", "flash_attn": "true", "no_host": "false", "split_mode": "", "tensor_split": "0.00",
        "new_option": "-1", "rate": "1.5",
    }  # fmt: skip


def test_no_measured_column_is_a_setting() -> None:
    row = read_one(avg_ns=2333, stddev_ns=1, avg_ts=1.0, stddev_ts=1.0, samples_ts=[1.0])
    assert row.settings == {"n_threads": "4"}


def test_what_was_printed_is_kept_as_printed() -> None:
    raw = json.dumps([ROW]).replace(
        '"samples_ns"', '"avg_ts": 1.50, "stddev_ts": 1e3, "avg_ns": 2333, "samples_ts": [10163, 1.250], "samples_ns"'
    )
    (row,) = LlamaBench().read(raw.encode(), "run.json")
    assert row.reported == {"avg_ts": "1.50", "stddev_ts": "1e3", "avg_ns": 2333, "samples_ts": [10163, "1.250"]}


def test_a_row_that_reports_nothing_is_a_row() -> None:
    row = read_one()
    assert (row.reported, row.notes) == ({}, ())


# Two layouts.


def test_lines_and_an_array_are_read_alike() -> None:
    rows = [ROW, {**ROW, "n_prompt": 0, "n_gen": 64}]
    lines = "\n".join(json.dumps(row) for row in rows)
    for text in (lines, lines + "\n", "\n" + lines.replace("\n", "\r\n\r\n") + "\n\n"):
        assert LlamaBench().read(text.encode(), "run.json") == read(*rows)


@pytest.mark.parametrize("name", ["round1_1a_main.json", "noise_1a_main.jsonl", "depths.json", "one_rep.json"])
def test_real_files_are_read_whole(name: str) -> None:
    text = (RUNS / name).read_text()
    rows = LlamaBench().read(text.encode(), name)
    assert len(rows) == text.count('"samples_ns"')
    samples = [len(row.records["wall_ns"]) for row in rows]
    assert [[note.partition(":")[0] for note in row.notes] for row in rows] == [["F_N1"] * (n == 1) for n in samples]


def test_the_depths_of_a_real_file_are_contexts() -> None:
    rows = LlamaBench().read((RUNS / "depths.json").read_bytes(), "depths.json")
    assert [(row.metrics[0], row.context) for row in rows] == [
        ("prefill_tok_s", 256),
        ("gen_tok_s", 0),
        ("prefill_tok_s", 512),
        ("gen_tok_s", 256),
        ("prefill_tok_s", 1280),
        ("gen_tok_s", 1024),
    ]


# Refusals.


@pytest.mark.parametrize("text", ["", "[]", "\n \n"])
def test_no_test_at_all_is_refused(text: str) -> None:
    error = refusal(text)
    assert (error.code, error.where) == ("E_EMPTY_RESULTS", "run.json")


@pytest.mark.parametrize(
    ("text", "at"),
    [('{"a": 1}', 0), ("[1]", 0), ('[{"samples_ns": [1]}, {"avg_ts": 1.5}]', 1), ('"text"', 0), ("null", 0)],
)
def test_another_format_is_refused_with_the_row(text: str, at: int) -> None:
    error = refusal(text)
    assert (error.code, error.where) in {("E_FORMAT", f"run.json/{at}"), ("E_FIELD", "run.json/0/n_prompt")}


@pytest.mark.parametrize(
    ("members", "code", "place"),
    [
        pytest.param({"samples_ns": []}, "E_EMPTY_RESULTS", "/samples_ns", id="no-samples"),
        pytest.param({"samples_ns": "1000"}, "E_EMPTY_RESULTS", "/samples_ns", id="samples-text"),
        pytest.param({"samples_ns": None}, "E_EMPTY_RESULTS", "/samples_ns", id="samples-null"),
        pytest.param({"samples_ns": [1, -2]}, "E_SAMPLE", "/samples_ns/1", id="negative-sample"),
        pytest.param({"samples_ns": [1.5]}, "E_SAMPLE", "/samples_ns/0", id="fractional-sample"),
        pytest.param({"samples_ns": [1, 2, None]}, "E_SAMPLE", "/samples_ns/2", id="null-sample"),
        pytest.param({"samples_ns": [True]}, "E_SAMPLE", "/samples_ns/0", id="boolean-sample"),
        pytest.param({"n_prompt": 0, "n_gen": 0}, "E_WORKLOAD", "", id="nothing-measured"),
        pytest.param({"n_prompt": -1}, "E_FIELD", "/n_prompt", id="negative-count"),
        pytest.param({"n_prompt": True}, "E_FIELD", "/n_prompt", id="boolean-count"),
        pytest.param({"n_prompt": "512"}, "E_FIELD", "/n_prompt", id="count-text"),
        pytest.param({"n_prompt": 1.5}, "E_FIELD", "/n_prompt", id="count-fraction"),
        pytest.param({"n_gen": ...}, "E_FIELD", "/n_gen", id="count-missing"),
        pytest.param({"n_depth": None}, "E_FIELD", "/n_depth", id="depth-null"),
        pytest.param({"model_size": ...}, "E_FIELD", "/model_size", id="size-missing"),
        pytest.param({"model_n_params": -1}, "E_FIELD", "/model_n_params", id="params-negative"),
        pytest.param({"model_filename": ""}, "E_FIELD", "/model_filename", id="name-empty"),
        pytest.param({"model_type": 3}, "E_FIELD", "/model_type", id="type-number"),
        pytest.param({"build_commit": ...}, "E_FIELD", "/build_commit", id="commit-missing"),
        pytest.param({"build_commit": None}, "E_FIELD", "/build_commit", id="commit-null"),
        pytest.param({"test_time": ...}, "E_FIELD", "/test_time", id="time-missing"),
        pytest.param({"n_threads": [4]}, "E_FIELD", "/n_threads", id="setting-list"),
        pytest.param({"n_threads": {"a": 4}}, "E_FIELD", "/n_threads", id="setting-object"),
    ],
)
def test_a_row_that_lacks_what_it_must_say_is_refused_with_code_and_place(
    members: dict[str, Any], code: str, place: str
) -> None:
    error = refusal(json.dumps([ROW, without_none(members)]))
    assert (error.code, error.where) == (code, f"run.json/1{place}")


@pytest.mark.parametrize("text", ["2026-11-29 20:00:00", "2026-11-29T20:00:00+00:00", "2026-02-30T00:00:00Z", "now"])
def test_a_time_that_is_not_utc_or_not_in_the_calendar_is_refused_with_the_row(text: str) -> None:
    error = refusal(json.dumps([ROW, {**ROW, "test_time": text}]))
    assert error.code == "E_TIME"
    assert "run.json/1" in error.message + error.where


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('[{"samples_ns": [1], "samples_ns": [2]}]', "E_DUPLICATE_KEY"),
        ('[{"samples_ns": [NaN]}]', "E_NONFINITE"),
        ('{"avg_ts": Infinity}', "E_NONFINITE"),
        ("[{", "E_JSON"),
        ("[1] [2]", "E_JSON"),
        ("samples_ns,avg\n1,2\n", "E_JSON"),
    ],
)
def test_what_is_not_strict_json_is_refused(text: str, code: str) -> None:
    assert refusal(text).code == code


def test_a_file_that_is_not_utf_8_is_refused() -> None:
    assert refusal(b'[{"samples_ns": "\xff"}]').code == "E_UTF8"


# What does not add up is noted.


@pytest.mark.parametrize(
    ("members", "column"),
    [
        ({"avg_ns": 2335}, "avg_ns"),
        ({"avg_ns": "2333"}, "avg_ns"),
        ({"avg_ns": True}, "avg_ns"),
        ({"avg_ts": 1.0}, "avg_ts"),
        ({"avg_ts": [1]}, "avg_ts"),
    ],
)
def test_an_average_that_is_not_that_of_the_samples_is_noted(members: dict[str, Any], column: str) -> None:
    (note,) = read_one(**members).notes
    assert note.startswith(f"F_REPORTED_MISMATCH: {column} ")


@pytest.mark.parametrize("members", [{"avg_ns": None}, {"avg_ts": 298666666.666667}, {"avg_ts": None}])
def test_an_average_that_fits_its_samples_or_is_not_there_is_not_noted(members: dict[str, Any]) -> None:
    assert read_one(**members).notes == ()


def test_an_average_in_whole_nanoseconds_is_not_blamed_for_its_rounding() -> None:
    assert read_one(avg_ns=2333).notes == ()  # of 2333.3 ns


@pytest.mark.parametrize(
    ("samples", "code", "where"),
    [
        ([0, 512], "E_ZERO_TIME", "/samples_ns/0"),
        ([0], "E_ZERO_TIME", "/samples_ns/0"),
        ([1, 2**53], "E_SAMPLE", "/samples_ns/1"),
        ([2**53 - 1, 1], "E_SAMPLE", ""),
        ([1, 10**400], "E_SAMPLE", "/samples_ns/1"),
    ],
)
def test_a_sample_that_no_round_can_hold_is_refused_when_it_is_read(samples: list[int], code: str, where: str) -> None:
    with pytest.raises(MalformedError) as caught:
        read_one(samples_ns=samples)
    assert (caught.value.code, caught.value.where.partition("/0")[2]) == (code, where)
    assert len(caught.value.message) <= 100


def test_the_largest_samples_that_a_round_can_hold_are_read() -> None:
    assert read_one(samples_ns=[2**53 - 2, 1], avg_ts=1).records["wall_ns"] == [2**53 - 2, 1]


# The table of tools.


def test_a_tool_is_found_by_its_name_and_an_unknown_one_is_refused_with_the_names() -> None:
    assert find_adapter("llama-bench") is ADAPTERS["llama-bench"]
    with pytest.raises(RefusedError) as caught:
        find_adapter("fast-bench")
    assert caught.value.code == "E_TOOL"
    assert all(name in caught.value.message for name in ADAPTERS)


@pytest.mark.parametrize("number", ["1e-999999999", "1E-99999999999999999999"])
def test_a_printed_number_of_a_billion_digits_is_flagged_and_not_calculated(number: str) -> None:
    raw = json.dumps([{**ROW, "avg_ts": 1234567.25}]).replace("1234567.25", number)
    (row,) = LlamaBench().read(raw.encode(), "run.json")
    assert "F_REPORTED_MISMATCH" in [note.partition(":")[0] for note in row.notes]
