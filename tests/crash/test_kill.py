"""A process that appends is killed at a random moment, again and again, on one ledger that grows."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING

import pytest

from ledger.store.directory import DirectoryStore
from ledger.verify import verify
from tests.support.files import receipt_path
from tests.support.ledgers import grant, keys_draft, make_key, open_log, round_draft, round_ids, start_small_ledger
from tests.support.worker import Worker, append_until_killed, open_shared_log

if TYPE_CHECKING:
    from pathlib import Path

    from ledger.verified import VerifiedLog

SCORER = "scorer killed"
RACERS = [f"racer {number}" for number in range(8)]
BEGUN = 3
"""Receipts of the ledger before the first worker starts: genesis and two grants."""
LONGEST_S = 0.25


def start(folder: Path) -> None:
    """A ledger for the workers, remembered where they look."""
    log = open_log(folder)
    start_small_ledger(log)
    log.append([keys_draft(*(grant(make_key(name).public, "n1") for name in [SCORER, *RACERS]))])


def check(folder: Path, acknowledged: dict[str, tuple[int, str]], *, quick: bool) -> VerifiedLog:
    """The ledger verifies, holds everything that was acknowledged, and every group is whole or absent."""
    result = verify(DirectoryStore(folder), mode="quick" if quick else "full")
    assert result.findings == []
    assert {flag.code for flag in result.flags} <= {"F_CLOCK_BACK"}  # it is the machine's clock
    assert result.log is not None
    entries = result.log.entries
    for name, (index, digest) in acknowledged.items():
        assert entries[index].digest.hex() == digest, name
    return result.log


def whole_groups(names: list[str]) -> bool:
    """Whether of each group all members are there or none."""
    present = set(names)
    for name in names:
        head, _, tail = name.rpartition("-")
        size = int(tail.partition("of")[2])
        if not {f"{head}-{at}of{size}" for at in range(size)} <= present:
            return False
    return True


def run_and_kill(folder: Path, runs: int, seed: int) -> None:
    rng = random.Random(seed)
    start(folder)
    acknowledged: dict[str, tuple[int, str]] = {}
    size, busy = BEGUN, 0
    for number in range(runs):
        worker = Worker(append_until_killed, folder, SCORER, f"run{number}", rng.randrange(2**32))
        worker.go()
        if number % 2:  # in its middle; otherwise perhaps while it opens the ledger and mends what the last one left
            worker.read_line()
        time.sleep(rng.uniform(0, LONGEST_S))
        worker.kill()
        lines = worker.acknowledged(killed=True)
        assert not any(existed for _, _, _, existed in lines)
        acknowledged |= {name: (index, digest) for name, index, digest, _ in lines}
        busy += bool(lines)
        log = check(folder, acknowledged, quick=True)
        assert whole_groups(round_ids(log, size)), number
        size = log.checkpoint.size
    assert busy >= runs // 2
    assert len(acknowledged) <= size - BEGUN

    (sealed,) = open_shared_log(folder).append([round_draft("after")])
    assert sealed.index == size
    log = check(folder, acknowledged, quick=False)
    assert not receipt_path(folder, log.checkpoint.size).exists()
    assert not [path for path in (folder / "receipts").rglob("*") if path.name.startswith(".tmp-")]


def test_kill_minus_9_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    run_and_kill(tmp_path / "ledger", runs=8, seed=20261129)


@pytest.mark.soak
@pytest.mark.parametrize("seed", [1, 2])
def test_kill_minus_9_a_hundred_times_loses_nothing_that_was_acknowledged(tmp_path: Path, seed: int) -> None:
    run_and_kill(tmp_path / "ledger", runs=100, seed=seed)


def race_and_kill(folder: Path, racers: int, kills: int, seed: int) -> None:
    """Several workers at once; one after the other is killed and replaced."""
    rng = random.Random(seed)
    start(folder)
    acknowledged: dict[str, tuple[int, str]] = {}

    def begin(racer: int, generation: int) -> Worker:
        worker = Worker(append_until_killed, folder, RACERS[racer], f"w{racer}-{generation}", rng.randrange(2**32))
        worker.go()
        return worker

    def end(worker: Worker) -> None:
        worker.kill()
        lines = worker.acknowledged(killed=True)
        acknowledged.update({name: (index, digest) for name, index, digest, _ in lines})

    workers = [begin(racer, 0) for racer in range(racers)]
    for generation in range(1, kills + 1):
        workers[rng.randrange(racers)].read_line()
        time.sleep(rng.uniform(0, LONGEST_S))
        victim = rng.randrange(racers)
        end(workers[victim])
        workers[victim] = begin(victim, generation)
    for worker in workers:
        end(worker)
    open_shared_log(folder).append([round_draft("after")])
    log = check(folder, acknowledged, quick=False)
    assert len({index for index, _ in acknowledged.values()}) == len(acknowledged) > kills
    assert whole_groups([name for name in round_ids(log, BEGUN) if name != "after"])


def test_kill_minus_9_among_other_writers_loses_nothing(tmp_path: Path) -> None:
    race_and_kill(tmp_path / "ledger", racers=3, kills=4, seed=20261129)


@pytest.mark.soak
def test_kill_minus_9_among_8_writers_loses_nothing(tmp_path: Path) -> None:
    race_and_kill(tmp_path / "ledger", racers=8, kills=60, seed=3)
