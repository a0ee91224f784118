"""Re-scoring a million rungs from an index of their numbers; floor: reading the same rows and doing nothing."""

from __future__ import annotations

import random
import sqlite3
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

from ledger.rule import read_rule
from ledger.scoring.bulk import ExactRow, needs_replay, rescore_slot
from tests.bench.measure import cpu_ratio, cpu_time, in_turns, table

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_SLOTS = 64
_QUERY = "SELECT receipt, value, main, kl, top1 FROM rungs WHERE slot = ? ORDER BY receipt"
_RULE = {
    "name": "bench",
    "slots": [{"metric": "decode_tok_s"}],
    "statistic": "median",
    "min_reps": 2,
    "numbers": "exact",
    "evidence": "attested",
    "frontier": {"basis": "ledger"},
    "parity": {"top1_min": "0.9", "kl_max": "0.05"},
    "significance": {"share": "0.02"},
    "denominator": {"unattested": "90"},
    "cap": "1",
    "bands": [{"tier": "xl", "from": "0.18"}, {"tier": "l", "from": "0.1"}, {"tier": "m", "from": "0.06"}],
    "floor_tier": "xs",
}


def _figures(count: int) -> Iterator[tuple[int, int, float, float, float, float]]:
    """Rungs of slots whose main creeps upwards, some with a gain, a few that parity stops."""
    rng = random.Random(1)
    best = [100.0] * _SLOTS
    for receipt in range(count):
        slot = rng.randrange(_SLOTS)
        main = best[slot] * rng.uniform(0.98, 1.0005)
        best[slot] = max(best[slot], main)
        yield slot, receipt, main * rng.uniform(0.95, 1.06), main, rng.uniform(0, 0.051), rng.uniform(0.9, 1)


def _exact(_: int) -> ExactRow:
    raise SystemExit("a random double lies on an edge: take another seed")


def _rescore(database: sqlite3.Connection) -> Counter[str]:
    rule, labels = read_rule(_RULE), Counter[str]()
    if needs_replay(rule):
        raise SystemExit("the rule of this benchmark needs a replay")
    for slot in range(_SLOTS):
        labels.update(rescore_slot(database.execute(_QUERY, (slot,)), rule, _exact))
    return labels


def _read(database: sqlite3.Connection) -> None:
    for slot in range(_SLOTS):
        for _ in database.execute(_QUERY, (slot,)):
            pass


def run(folder: Path, rungs: int, repeats: int) -> None:
    """Print the table. `folder` is empty and ours."""
    database = sqlite3.connect(folder / "index.sqlite")
    database.execute(
        "CREATE TABLE rungs (slot INT, receipt INT, value REAL, main REAL, kl REAL, top1 REAL, "
        "PRIMARY KEY (slot, receipt)) WITHOUT ROWID"
    )
    database.executemany("INSERT INTO rungs VALUES (?, ?, ?, ?, ?, ?)", _figures(rungs))
    database.commit()
    labels = _rescore(database)
    costs = in_turns({"ours": partial(_rescore, database), "floor": partial(_read, database)}, repeats)
    table(
        f"Re-score {rungs} rungs of {_SLOTS} slots from an index in SQLite, CPU time; floor: reading the rows",
        [
            (
                "all of them",
                f"{cpu_time(costs['ours']):.2f} s",
                f"{cpu_time(costs['floor']):.2f} s",
                f"{cpu_ratio(costs['ours'], costs['floor']):.2f}",
                "<= 3 s, better 1.5",
            )
        ],
    )
    print("labels: " + ", ".join(f"{label} {count}" for label, count in sorted(labels.items())))
