"""Views that follow a ledger hold, after every look, the rows that building them anew would give."""

from __future__ import annotations

import random
import shutil
import sqlite3
from typing import TYPE_CHECKING, Any

import pytest

from ledger.errors import ConflictError, PolicyError, StorageError, VerificationError
from ledger.following import Following
from ledger.store.directory import DirectoryStore
from ledger.views import projection
from ledger.views.build import extend, rebuild
from ledger.views.database import open_database, sqlite_url
from ledger.views.follow import Follower
from tests.support.attacker import Forgery
from tests.support.ledgers import SCORER_1, Clock, open_log, round_draft
from tests.support.rounds import round_body
from tests.support.views import ALL, Sample, built, contents, new_sample

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def sample(tmp_path: Path) -> Sample:
    return new_sample(tmp_path / "ledger")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "followed.sqlite"


def follow(sample: Sample, file: Path, *, own_writer: bool = False) -> Follower:
    """A follower of a ledger whose views there are."""
    built(file, sample.read())
    following = Following(DirectoryStore(sample.folder))
    if own_writer:
        sample.writer.watch = following.take
    follower = Follower(open_database(sqlite_url(file), "write"), following)
    assert follower.catch_up().state == "fresh"
    return follower


@pytest.mark.parametrize("own_writer", [False, True])
def test_after_every_append_the_rows_are_those_that_building_gives(
    sample: Sample, file: Path, tmp_path: Path, own_writer: bool
) -> None:
    follower = follow(sample, file, own_writer=own_writer)
    for size in range(2, ALL + 1):
        log = sample.grow(size)
        before = follower.catch_up()
        assert (before.state, before.behind, before.tree_size) == ("behind", 1, size - 1)
        assert contents(file) == built(tmp_path / "new.sqlite", log)


@pytest.mark.parametrize("step", [1, 3, 256])
@pytest.mark.parametrize("seed", range(4))
def test_however_many_receipts_come_at_once_the_rows_are_those_that_building_gives(
    sample: Sample, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int, seed: int
) -> None:
    rng = random.Random(seed)
    follower = follow(sample, file, own_writer=bool(seed % 2))
    size = 1
    while size < ALL:
        size = min(size + rng.randrange(1, 7), ALL)
        sample.grow(size)
        monkeypatch.setattr(projection, "STEP", step)
        follower.catch_up()
    monkeypatch.setattr(projection, "STEP", 256)
    assert contents(file) == built(tmp_path / "new.sqlite", sample.read())


def test_what_is_up_to_date_is_not_written(sample: Sample, file: Path) -> None:
    sample.grow(ALL)
    follower = follow(sample, file)
    before = file.read_bytes()
    assert follower.catch_up().state == "fresh"
    assert file.read_bytes() == before


def test_only_what_is_new_is_read(sample: Sample, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sample.grow(6)
    follower = follow(sample, file)
    sample.grow(7)
    read: list[int] = []
    original = DirectoryStore.read_receipt

    def remember(self: DirectoryStore, index: int) -> bytes:
        read.append(index)
        return original(self, index)

    monkeypatch.setattr(DirectoryStore, "read_receipt", remember)
    follower.catch_up()
    assert set(read) == {0, 6}  # the genesis names the key


def test_a_writer_in_the_same_process_spares_the_reading(
    sample: Sample, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    follower = follow(sample, file, own_writer=True)
    sample.grow(4)
    monkeypatch.setattr(DirectoryStore, "read_receipt", _only_the_first(DirectoryStore.read_receipt))
    assert follower.catch_up().behind == 3


def _only_the_first(original: Any) -> Any:  # noqa: ANN401 - a method, to be put in its own place
    def read(self: DirectoryStore, index: int) -> bytes:
        assert index == 0
        raw: bytes = original(self, index)
        return raw

    return read


def test_what_another_writer_seals_in_between_is_read(sample: Sample, file: Path, tmp_path: Path) -> None:
    follower = follow(sample, file, own_writer=True)
    sample.grow(3)
    other = open_log(sample.folder, clock=Clock("2026-11-30T00:00:00+00:00"))
    Sample(folder=sample.folder, writer=other).grow(5)
    log = sample.grow(7)
    assert follower.catch_up().behind == 6
    assert contents(file) == built(tmp_path / "new.sqlite", log)


def test_views_that_somebody_else_has_extended_or_built_anew_are_taken_as_they_are(
    sample: Sample, file: Path, tmp_path: Path
) -> None:
    follower = follow(sample, file)
    log = sample.grow(6)
    extend(open_database(sqlite_url(file), "write"), log)
    sample.grow(8)
    assert follower.catch_up().tree_size == 6
    rebuild(open_database(sqlite_url(file), "create"), sample.read())
    log = sample.grow(ALL)
    assert follower.catch_up().tree_size == 8
    assert contents(file) == built(tmp_path / "new.sqlite", log)


def test_views_that_fell_back_are_brought_up_again(sample: Sample, file: Path, tmp_path: Path) -> None:
    sample.grow(4)
    follower = follow(sample, file)
    shutil.copy(file, tmp_path / "older.sqlite")
    log = sample.grow(9)
    follower.catch_up()
    shutil.copy(tmp_path / "older.sqlite", file)
    assert follower.catch_up().behind == 5
    assert contents(file) == built(tmp_path / "new.sqlite", log)


def test_when_writing_fails_nothing_is_lost_and_the_next_look_writes_it(
    sample: Sample, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    follower = follow(sample, file)
    log = sample.grow(8)
    with monkeypatch.context() as patch:
        patch.setattr("ledger.views.build._drop", _fail)
        with pytest.raises(StorageError):
            follower.catch_up()
    assert follower.catch_up().behind == 7
    assert contents(file) == built(tmp_path / "new.sqlite", log)


def _fail(*_: object) -> None:
    raise StorageError("E_IO", "the disk is full")


def test_another_writer_of_the_views_is_named(
    sample: Sample, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ledger.views.database.WAIT_S", 0.05)
    follower = follow(sample, file)
    log = sample.grow(5)
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(ConflictError) as caught:
        follower.catch_up()
    assert caught.value.code == "E_VIEWS_LOCKED"
    other.execute("ROLLBACK")
    other.close()
    follower.catch_up()
    assert contents(file) == built(tmp_path / "new.sqlite", log)


def test_another_history_is_never_written_over_the_first(sample: Sample, file: Path) -> None:
    sample.grow(6)
    follower = follow(sample, file)
    before = contents(file)
    forgery = Forgery.of(sample.folder)
    forgery.drop(5)
    for name in ("other-1", "other-2"):
        forgery.add(forgery.state("round", round_body(name), SCORER_1))
    forgery.seal()
    for _ in range(2):
        with pytest.raises(VerificationError):
            follower.catch_up()
    assert contents(file) == before


def test_views_of_another_history_are_refused(sample: Sample, file: Path, tmp_path: Path) -> None:
    sample.grow(5)
    follower = follow(sample, file)
    other = new_sample(tmp_path / "other")
    other.grow(5)
    other.writer.append([round_draft("of-the-other-history")])
    rebuild(open_database(sqlite_url(file), "create"), other.read())
    sample.grow(7)
    with pytest.raises(VerificationError) as caught:
        follower.catch_up()
    assert caught.value.code == "E_VIEWS_FORK"


def test_without_views_none_are_made(sample: Sample, file: Path) -> None:
    follower = Follower(open_database(sqlite_url(file), "write"), Following(DirectoryStore(sample.folder)))
    with pytest.raises(PolicyError) as caught:
        follower.catch_up()
    assert caught.value.code == "E_VIEWS_ABSENT"
    assert not file.exists()
