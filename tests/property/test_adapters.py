"""Every adapter over mutated files: out comes a round or a typed refusal, and no figure but that of the samples.

Real files and made-up sound ones are mutated. A round is checked as one that is sealed. Where an independent reader of
the format can still read the mutated file, every sample is held against it, whatever the mutation did to the numbers.
``make soak`` does this for two minutes an adapter; here it is a short look.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from ledger.errors import LedgerError, MalformedError, RefusedError
from ledger.ingest import ADAPTERS, recognise
from ledger.ingest.companions import read_whole
from ledger.metrics import METRICS
from ledger.scoring.facts import record_values, round_facts
from tests.support import tandem
from tests.support.mutation import mutated
from tests.support.outside import outside
from tests.support.tool_figures import READERS
from tests.support.tool_outcomes import OUTCOMES
from tests.support.tool_rounds import ADAPTER_OF, round_of_anything
from tests.support.tool_seeds import seeds

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ledger.ingest.adapter import Row

EXAMPLES = 40
MORE = 5
SOAK_S = 120
LARGEST = 200_000
LONGEST_ERROR = 4000
FIGURES_ONLY = {"k3-baseline"}
"""Adapters that never give a row: what they read is imported, and refused as a round."""


class Seed(NamedTuple):
    """A file to start from, with its format where an independent reader knows it, and the files that it names."""

    format: str
    raw: bytes
    companions: Mapping[str, bytes]


def seeds_of(name: str) -> list[Seed]:
    """Made-up files, and the real ones that are not too large to mutate often: about as many of either."""
    beside = tandem.files_of() if name == "tandem-report" else {}
    own = [Seed(form, raw, beside) for form, raw in seeds().get(name, ())]
    found = []
    for item in OUTCOMES:
        if ADAPTER_OF.get(item.format) == name and item.kind != "parity":
            path = outside(*item.path.split("/"))
            raw, form = path.read_bytes(), item.format if item.format in READERS else ""
            if len(raw) <= LARGEST:
                found.append(Seed(form, raw, _beside(path)))
    return found + own * max(1, len(found) // max(1, len(own)))


def _beside(path: Path) -> Mapping[str, bytes]:
    root = path.parents[1]
    return {str(each.relative_to(root)): each.read_bytes() for each in path.parent.rglob("*") if each.is_file()}


def test_every_adapter_has_a_file_to_start_from() -> None:
    assert {*seeds(), *ADAPTER_OF.values()} == set(ADAPTERS)


@pytest.mark.parametrize("name", ADAPTERS)
def test_a_mutated_file_gives_a_round_or_a_typed_refusal(name: str, tmp_path: Path) -> None:
    counts = fuzz(name, tmp_path, EXAMPLES)
    for _ in range(MORE):  # one time in twenty nothing of a fragile format gets through
        counts += fuzz(name, tmp_path, EXAMPLES) if counts["rows"] + counts["round"] == 0 else Counter()
    assert counts.total() >= EXAMPLES
    assert counts["rows"] + counts["round"] > 0 or name in FIGURES_ONLY


@pytest.mark.soak
@pytest.mark.parametrize("name", ADAPTERS)
def test_two_minutes_of_mutated_files(name: str, tmp_path: Path) -> None:
    counts: Counter[str] = Counter()
    end = time.monotonic() + SOAK_S
    while time.monotonic() < end:
        counts += fuzz(name, tmp_path, 500)
    print(f"{name}: {counts.total()} mutated files: {dict(counts)}")  # noqa: T201 - the figure of the soak
    assert counts["round"] > 0 or name in FIGURES_ONLY


def fuzz(name: str, folder: Path, examples: int) -> Counter[str]:
    """What came of so many mutated files of an adapter."""
    known = seeds_of(name)
    counts: Counter[str] = Counter()

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def run(data: Any) -> None:  # noqa: ANN401 - Hypothesis has no type for it
        seed = data.draw(st.sampled_from(known))
        raw = data.draw(mutated(seed.raw))
        if name == "tandem-record" and data.draw(st.integers(0, 4)):
            raw = mend(raw)
        counts[check(name, seed, raw, folder / "file")] += 1

    run()
    return counts


def mend(raw: bytes) -> bytes:
    """A record with the digest of what its payload has become: else that refuses it before anything else is read."""
    with contextlib.suppress(ValueError, TypeError, KeyError, AttributeError):
        return tandem.encode(tandem.seal(json.loads(raw)))
    return raw


def check(name: str, seed: Seed, raw: bytes, path: Path) -> str:
    """How far a mutated file got: ``refused``, ``rows`` or ``round``."""
    adapter = ADAPTERS[name]
    with contextlib.suppress(MalformedError):
        recognise(raw, "file")
    try:
        rows = read_whole(adapter, raw, "file", seed.companions.get).rows
    except (MalformedError, RefusedError) as err:
        return outcome_of(err, "refused")
    assert rows
    compare(seed, rows, raw, path)
    built = [try_round([row], raw, name) for row in rows if not row.warmup]
    try_round(rows, raw, name)
    return "round" if "round" in built else "rows"


def try_round(rows: Sequence[Row], raw: bytes, name: str) -> str:
    """Make a round of rows: it has facts, or is refused."""
    try:
        body = round_of_anything(rows, raw, name)
    except (MalformedError, RefusedError) as err:
        return outcome_of(err, "rows")
    assert round_facts(body)
    return "round"


def outcome_of(err: LedgerError, outcome: str) -> str:
    """A refusal must be readable: a code, and no more text than a person reads."""
    assert err.code.startswith("E_")
    assert len(str(err)) < LONGEST_ERROR
    return outcome


def compare(seed: Seed, rows: Sequence[Row], raw: bytes, path: Path) -> None:
    """Hold every sample against the independent reader, where that can read the file at all."""
    if not seed.format or seed.companions:
        return
    path.write_bytes(raw)
    try:
        figures = READERS[seed.format](path)
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
