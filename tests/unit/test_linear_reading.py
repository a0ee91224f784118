"""Files of any length are read in a time that grows as they do: six times the file in about six times the time."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from ledger.ingest import ADAPTERS
from ledger.ingest.build import build_round
from ledger.ingest.checks import examine_round
from ledger.ingest.options import RoundOptions
from ledger.ingest.run import Run
from tests.support.dense_files import DENSE

if TYPE_CHECKING:
    from ledger.ingest.adapter import Row

pytestmark = pytest.mark.soak  # times are measured: not for machines that are shared

SIZE, TIMES = 100_000, 6
MOST = 16
"""Times as long that a file of six times the size may take: what grows with the square takes 36."""

NOISE_S = 0.2


def cpu_of(name: str, raw: bytes) -> tuple[float, list[Row]]:
    began = time.process_time()
    rows = ADAPTERS[name].read(raw, "result.json")
    return time.process_time() - began, rows


@pytest.mark.parametrize("dense", DENSE)
def test_reading_is_linear(dense: str) -> None:
    name, make = DENSE[dense]
    small, large = make(SIZE), make(TIMES * SIZE)
    cpu_of(name, small)
    short, rows = cpu_of(name, small)
    long, more = cpu_of(name, large)
    assert len(more) >= len(rows) > 0
    assert long < MOST * short + NOISE_S


def test_building_and_examining_is_linear() -> None:
    digest = "0" * 64
    options = RoundOptions(
        tool="llama-bench",
        slot={"project": "p", "node": "n", "quant": "q", "context": "512", "metric": "prefill_tok_s"},
        code={"main": digest},
        weights=digest,
        harness=digest,
        environment={"os": "any"},
    )
    found = []
    for times in (1, 1, TIMES):
        raw = DENSE["llama-bench, rows"][1](times * SIZE)
        _, rows = cpu_of("llama-bench", raw)
        began = time.process_time()
        built = build_round([Run(role="main", name="result.json", raw=raw, rows=rows)], options)
        examine_round(built.body, built.said)
        found.append(time.process_time() - began)
    assert found[-1] < MOST * found[1]
