"""The index of samples under locks, old copies, and times that a fast benchmark really has again."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ledger import copies
from ledger.store.copy_index import DiskCopyIndex
from ledger.timing import timing_digest
from tests.support.copies import Desk, measured, refused

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.setattr(copies, "EVERY", 1)
    return Desk(tmp_path / "ledger")


# What is a copy.


def test_a_few_short_times_may_come_again() -> None:
    assert timing_digest({"wall_ns": [12, 13, 14], "iterations": [1, 1, 1]}) is None
    assert timing_digest({"wall_ns": [99_997, 99_998, 99_999]}) is None
    assert timing_digest({"wall_ns": [100_001, 100_002, 100_003]}) is not None


def test_many_short_times_do_not() -> None:
    assert timing_digest({"wall_ns": [*range(1, 20)]}) is None
    assert timing_digest({"wall_ns": [*range(1, 21)]}) is not None


def test_honest_rounds_of_a_fast_function_are_hardly_ever_called_copies() -> None:
    """Three samples of 200 ns with 2 % of noise: as whole nanoseconds they come again within some hundred rounds."""
    rng = random.Random(1)
    rounds = [[max(round(rng.gauss(200, 4)), 1) for _ in range(3)] for _ in range(3000)]
    assert len({*map(tuple, rounds)}) < len(rounds)
    assert {timing_digest({"wall_ns": each}) for each in rounds} == {None}
    longer = [[round(rng.gauss(200_000, 2_000)) for _ in range(3)] for _ in range(20_000)]
    found = [timing_digest({"wall_ns": each}) for each in longer if len({*each}) == len(each)]
    assert None not in found
    assert len({*found}) == len(found)


# The index.


@pytest.fixture
def busy(desk: Desk) -> Iterator[Desk]:
    """An index that another process writes at this moment."""
    desk.seal(measured("a", 0))
    with closing(sqlite3.connect(desk.path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        yield desk
        other.execute("ROLLBACK")


def test_an_index_that_is_busy_is_left_alone_and_the_receipts_are_read(
    busy: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ledger.store.copy_index.TIMEOUT_S", 0.01)
    before = busy.path.stat().st_ino
    log = busy.open()
    refused(busy, measured("b", 0), log=log)
    busy.seal(measured("c", 100), log=log)
    assert busy.path.stat().st_ino == before


def test_a_broken_index_leaves_no_journal_for_the_next_one(desk: Desk) -> None:
    desk.seal(measured("a", 0))
    desk.path.write_bytes(b"no database at all" * 100)
    journal = Path(f"{desk.path}-journal")
    journal.write_bytes(b"of the broken one")
    assert DiskCopyIndex(desk.path).covered() == (0, "")
    assert not journal.exists()


def test_what_was_committed_is_on_the_disk(desk: Desk) -> None:
    index = DiskCopyIndex(desk.path)
    index.covered()
    assert index._connection is not None
    assert index._connection.execute("PRAGMA synchronous").fetchone() == (2,)


# Samples that stand twice already.


@pytest.mark.parametrize("anew", [False, True])
@pytest.mark.parametrize("every", [1, 100])
@pytest.mark.parametrize("gone", [0, 1])
def test_of_two_receipts_with_the_same_samples_one_may_go_and_the_other_still_counts(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, *, anew: bool, every: int, gone: int
) -> None:
    monkeypatch.setattr(copies, "EVERY", every)
    with monkeypatch.context() as careless:
        careless.setattr(copies, "round_prints", lambda _: {})  # as a release that did not look
        twice = [desk.seal(measured(name, 0))[0].index for name in ("a", "b")]
    desk.path.unlink(missing_ok=True)
    desk.log = desk.open()
    refused(desk, measured("c", 0))
    desk.rule(twice[gone], "void")
    desk.seal(measured("other", 500))
    log = desk.open() if anew else desk.log
    assert f"receipt {twice[1 - gone]}:" in refused(desk, measured("d", 0), log=log).message
