"""Files to which tools append: a line that is there again is one run, and the same run in other bytes is a copy."""

# ruff: noqa: N802 - the names of cases have capitals

from __future__ import annotations

import json
from typing import Any

import pytest

from ledger.errors import MalformedError
from ledger.ingest import ADAPTERS
from ledger.ingest.repeats import run_lines
from tests.support.llama_bench import ROW as LLAMA
from tests.support.serving import dump, one_batch, sglang_run
from tests.support.vllm import totals

RUNS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "sglang-serving": (sglang_run(), sglang_run(duration=19.5)),
    "sglang-one-batch": (one_batch(), one_batch(total_latency=3.5)),
    "llama-bench": (LLAMA, LLAMA | {"samples_ns": [1001, 2000, 4000]}),
    "vllm-serve": (totals(), totals(date="20290228-143006")),
}


def said(raw: bytes, tool: str) -> list[tuple[int, list[str]]]:
    """Number of every row, and what is said of its repeats."""
    rows = ADAPTERS[tool].read(raw, "run")
    return [(row.number, [note for note in row.notes if note.startswith("F_ROWS_REPEATED")]) for row in rows]


@pytest.mark.parametrize("tool", RUNS)
def test_C15_a_line_that_is_there_again_is_read_once_and_said(tool: str) -> None:
    one, other = RUNS[tool]
    note = "F_ROWS_REPEATED: row 1 repeats row 0, byte for byte: it is one run, and read once"
    assert said(dump(one, one, other), tool) == [(0, [note]), (2, [])]
    assert said(dump(one, one), tool) == [(0, [note])]
    assert said(dump(one, other), tool) == [(0, []), (1, [])]
    many = "F_ROWS_REPEATED: rows 1, 3-4 each repeat row 0, byte for byte: it is one run, and read once"
    assert said(dump(one, one, other, one, one), tool) == [(0, [many]), (2, [])]


@pytest.mark.parametrize("tool", RUNS)
def test_C15_the_same_run_in_other_bytes_is_a_copy(tool: str) -> None:
    one, other = RUNS[tool]
    copied = dump(one, other) + json.dumps(dict(reversed(one.items()))).encode()
    with pytest.raises(MalformedError) as caught:
        ADAPTERS[tool].read(copied, "run")
    assert (caught.value.code, caught.value.where) == ("E_COPIED_SAMPLES", "run/2")
    assert caught.value.message == "the run of run/0 again, to the last digit"


def test_C15_empty_lines_are_no_rows_and_no_repeats() -> None:
    lines = run_lines(b"\na\n\n\nb\na\n")
    assert [(line.row, line.number, line.raw, line.repeats) for line in lines] == [(0, 2, b"a", (2,)), (1, 5, b"b", ())]
