"""Every adapter over mutated real files: out comes a round or a typed refusal, and no figure but that of the samples.

The round is checked as one that is sealed. Where an independent reader of the format can still read the mutated file,
the figures of the round are held against its figures, whatever the mutation did to the numbers.
"""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from ledger.errors import LedgerError, MalformedError, RefusedError
from ledger.ingest import ADAPTERS, recognise
from ledger.metrics import METRICS
from ledger.scoring.facts import record_values, round_facts
from tests.support.mutation import mutated
from tests.support.outside import outside
from tests.support.tool_figures import READERS
from tests.support.tool_outcomes import OUTCOMES, Outcome
from tests.support.tool_rounds import round_of_anything
from tests.unit.test_tool_outcomes_met import ADAPTER_OF

if TYPE_CHECKING:
    from pathlib import Path

    from ledger.ingest.adapter import Row

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "40"))
LARGEST = 300_000
LONGEST_ERROR = 2000

FILES = {
    name: [item for item in OUTCOMES if ADAPTER_OF.get(item.format) == name and item.kind == "round"]
    for name in sorted(set(ADAPTER_OF.values()))
}
SETTINGS = settings(
    max_examples=EXAMPLES,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
)


def test_every_adapter_has_a_real_file_here() -> None:
    assert set(ADAPTERS) - set(FILES) <= WITHOUT_FILES


WITHOUT_FILES: set[str] = set()
"""Adapters of tools of which no output is public: their own tests make files up."""


@pytest.mark.parametrize("name", FILES)
def test_a_mutated_file_gives_a_round_or_a_typed_refusal(name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    raws = [(item, outside(*item.path.split("/")).read_bytes()) for item in FILES[name]]
    small = [(item, raw) for item, raw in raws if len(raw) <= LARGEST]
    folder = tmp_path_factory.mktemp("mutated")
    counts: Counter[str] = Counter()

    @SETTINGS
    @given(st.data())
    def run(data: Any) -> None:  # noqa: ANN401 - Hypothesis has no type for it
        item, raw = data.draw(st.sampled_from(small))
        changed = data.draw(mutated(raw))
        counts[check(item, changed, folder / "file")] += 1

    run()
    assert counts["round"] + counts["refused"] == counts.total()
    assert counts["round"]


def check(item: Outcome, raw: bytes, path: Path) -> str:
    """What came of a mutated file: ``round`` or ``refused``."""
    adapter = ADAPTERS[ADAPTER_OF[item.format]]
    try:
        with contextlib.suppress(MalformedError):
            recognise(raw, "file")
        rows = adapter.read(raw, "file")
        assert rows
        compare(item, rows, raw, path)
        for row in rows:
            facts = round_facts(round_of_anything([row], raw, adapter.name))
            assert facts or row.warmup
        round_of_anything(rows, raw, adapter.name)
    except (MalformedError, RefusedError) as err:
        return outcome_of(err)
    return "round"


def outcome_of(err: LedgerError) -> str:
    """A refusal must be readable: a code, and no more text than a person reads."""
    assert err.code.startswith("E_")
    assert len(str(err)) < LONGEST_ERROR
    return "refused"


def compare(item: Outcome, rows: list[Row], raw: bytes, path: Path) -> None:
    """Hold every sample against the independent reader, where that can read the file at all."""
    path.write_bytes(raw)
    try:
        figures = READERS[item.format](path)
    except Exception:  # noqa: BLE001 - it was written for sound files
        return
    ours = Counter(
        (metric, value)
        for row in rows
        if not row.warmup
        for metric in row.metrics
        for value in record_values(METRICS[metric], row.records)
    )
    theirs = Counter((figure.metric, Fraction(value)) for figure in figures for rep in figure.reps for value in rep)
    assert not ours - theirs, f"figures that are not in the file: {ours - theirs}"
