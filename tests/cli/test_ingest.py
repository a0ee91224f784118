"""``rungbook ingest``: files as they are, and ``append`` of files whose tool is recognised."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ledger.ingest import ADAPTERS, recognise
from tests.cli.program import OK, REFUSED, UNAVAILABLE, run
from tests.cli.samples import REAL_ROUND, RUNS, tool_words
from tests.support import tandem
from tests.support.aiperf import lines, request

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Desk

REAL = REAL_ROUND[0][1]


def test_the_rows_of_a_file_are_shown_beside_what_the_tool_printed(tmp_path: Path) -> None:
    done = run("ingest", REAL, cwd=tmp_path)
    assert (done.status, done.err) == (OK, "")
    name, head, *rows = done.out.splitlines()
    assert name == f"{REAL}: llama-bench"
    assert head.split()[:6] == ["row", "metric", "context", "samples", "median", "unit"]
    assert [row.split()[:4] for row in rows] == [
        ["0", "prefill_tok_s", "512", "10"],
        ["1", "gen_tok_s", "0", "10"],
    ] or rows
    assert all("avg_ts" in row for row in rows)


def test_as_json_every_figure_is_exact(tmp_path: Path) -> None:
    document = run("ingest", REAL, "--json", cwd=tmp_path).document("ingest")
    (file,) = document["files"]
    assert (file["file"], file["tool"], file["error"]) == (str(REAL), "llama-bench", None)
    assert [row["figures"][0]["metric"] for row in file["rows"]] == ["prefill_tok_s", "gen_tok_s"]
    assert all("/" in row["figures"][0]["median_exact"] for row in file["rows"])
    assert {entry["tool"] for entry in document["tools"]} == set(ADAPTERS)


def test_flags_are_printed_below_the_rows(tmp_path: Path) -> None:
    path = tmp_path / "anything.txt"
    warm = request(0)
    warm["metadata"]["benchmark_phase"] = "warmup"
    path.write_bytes(lines(warm, request(1, http_req_chunks_received=7)))
    out = run("ingest", path, cwd=tmp_path).out
    assert "decode_tok_s (warm-up)" in out
    assert out.endswith("  row 1  F_CHUNKED: 1 answers came in another number of pieces than they have tokens\n")


def test_a_refused_file_is_named_with_what_to_do_and_the_others_are_shown(tmp_path: Path) -> None:
    done = run("ingest", RUNS / "sample.csv", REAL, cwd=tmp_path)
    assert done.status == REFUSED
    assert "refused  E_NO_SAMPLES" in done.out
    assert "to do    run the tool with its raw output on" in done.out
    assert f"{REAL}: llama-bench" in done.out
    document = run("ingest", RUNS / "sample.csv", "--json", cwd=tmp_path)
    assert document.status == REFUSED
    assert document.document("ingest")["files"][0]["error"]["code"] == "E_NO_SAMPLES"


def test_the_tools_are_listed(tmp_path: Path) -> None:
    done = run("ingest", "--list", cwd=tmp_path)
    assert [row.split()[0] for row in done.out.splitlines()] == ["tool", *ADAPTERS]


@pytest.mark.parametrize(
    ("words", "status", "code"),
    [
        (["ingest"], REFUSED, "E_OPTION"),
        (["ingest", str(REAL), "--list"], REFUSED, "E_OPTION"),
        (["ingest", str(REAL), "--from", "stopwatch"], REFUSED, "E_TOOL"),
        (["ingest", "missing.json"], UNAVAILABLE, "E_IO"),
    ],
)
def test_wrong_words(tmp_path: Path, words: list[str], status: int, code: str) -> None:
    done = run(*words, cwd=tmp_path)
    assert (done.status, done.code()) == (status, code)


@pytest.mark.parametrize("text", ["", " \n"])
def test_an_empty_file_is_called_so(tmp_path: Path, text: str) -> None:
    path = tmp_path / "file"
    path.write_text(text)
    done = run("ingest", path, cwd=tmp_path)
    assert done.status == REFUSED
    assert "refused  E_EMPTY_RESULTS: the file is empty" in done.out


@pytest.mark.parametrize("text", ["hello", "[]", "{}", "\x00", '{"samples_ns": [1]}'])
def test_what_nobody_wrote_is_of_no_tool(tmp_path: Path, text: str) -> None:
    path = tmp_path / "file"
    path.write_text(text)
    done = run("ingest", path, cwd=tmp_path)
    assert done.status == REFUSED
    assert f"{path}: unknown\n  refused  E_FORMAT" in done.out


def test_every_tool_is_recognised_by_its_contents_alone() -> None:
    samples = {
        "llama-bench": REAL.read_bytes(),
        "aiperf": lines(request()),
        "tandem-record": tandem.encode(tandem.record()),
        "tandem-report": tandem.encode(tandem.report()),
        "tandem-block-ab": tandem.encode(tandem.block_ab()),
        "tandem-forced": tandem.encode(tandem.forced()),
        "k3-baseline": b'{"contexts": {"128": {"decode_tps": 18.5, "prefill_pp": 0.0}}}',
    }
    assert samples.keys() == ADAPTERS.keys()
    for name, raw in samples.items():
        assert recognise(raw, "a file").name == name
        assert [adapter.name for adapter in ADAPTERS.values() if adapter.recognises(raw)] == [name]
    for name in ("sample.csv", "sample.md", "sample.sql", "noise_1a_main.jsonl"):
        assert recognise((RUNS / name).read_bytes(), name).name == "llama-bench"


def test_append_recognises_the_tool_of_its_arms(desk: Desk) -> None:
    words = [word for word in tool_words(*REAL_ROUND) if word not in ("--from", "llama-bench")]
    desk.run("append", *words, "--key", desk.key("scorer"))
    again = desk.run("append", *tool_words(*REAL_ROUND), "--key", desk.key("scorer"), "--json").document("append")
    assert [item["existed"] for item in again["receipts"]] == [True]


def test_files_of_two_tools_are_not_one_round(desk: Desk, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(lines(request()))
    words = [word for word in tool_words(REAL_ROUND[0], ("candidate", path)) if word not in ("--from", "llama-bench")]
    done = desk.run("append", *words, "--key", desk.key("scorer"), status=REFUSED)
    assert done.code() == "E_FORMAT"
    assert desk.size == 3
