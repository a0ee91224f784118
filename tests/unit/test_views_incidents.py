"""Incidents in the views: from a ruling ``void`` on they name it, however many receipts are taken in at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ledger.admission import State
from ledger.draft import Draft
from ledger.following import Following
from ledger.store.directory import DirectoryStore
from ledger.views import projection
from ledger.views.build import extend
from ledger.views.database import open_database, sqlite_url
from ledger.views.follow import Follower
from tests.support.ledgers import SCORER_1
from tests.support.views import ALL, INCIDENT, REVIEWED, Sample, built, contents, new_sample, ruling

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ledger.verified import VerifiedLog

SEALED = ALL - 2
"""Receipt of the incident that the sample has, which explains a retry and so stays."""


def incident(attempt: int) -> Draft:
    return Draft(kind="incident", body=INCIDENT | {"round": "never", "attempt": attempt}, signers=[SCORER_1])


STEPS: tuple[Callable[[VerifiedLog], Draft], ...] = (
    lambda _: incident(1),
    lambda _: incident(2),
    lambda log: ruling(log, ALL, "void"),
    lambda log: ruling(log, ALL + 1, "void"),
    lambda _: incident(3),
    lambda log: ruling(log, REVIEWED, "review", outcome="accepted", reason="a rung in the same step"),
)
GONE = {SEALED: None, ALL: ALL + 2, ALL + 1: ALL + 3, ALL + 4: None}


@pytest.fixture
def sample(tmp_path: Path) -> Sample:
    return new_sample(tmp_path / "ledger")


def append_rulings(sample: Sample, count: int) -> VerifiedLog:
    log = sample.read()
    for step in STEPS[len(log.entries) - ALL : len(log.entries) - ALL + count]:
        sample.writer.append([step(log)])
        log = sample.read()
    return log


def gone(rows: dict[str, list[dict[str, object]]]) -> dict[object, object]:
    return {row["receipt"]: row["gone_at"] for row in rows["incidents"]}


@pytest.mark.parametrize("count", [1, 2, 3, len(STEPS)])
@pytest.mark.parametrize("step", [1, 2, 5, 256])
def test_an_incident_that_was_voided_says_so_whether_it_is_built_or_extended(
    sample: Sample, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int, step: int
) -> None:
    file = tmp_path / "grown.sqlite"
    built(file, sample.grow(ALL - 3))
    log = sample.grow(ALL)
    monkeypatch.setattr(projection, "STEP", step)
    while True:
        extend(open_database(sqlite_url(file), "write"), log)
        assert contents(file) == built(tmp_path / "new.sqlite", log)
        if len(log.entries) == ALL + len(STEPS):
            break
        log = append_rulings(sample, count)
    assert gone(contents(file)) == GONE


def test_views_that_follow_see_it_go(sample: Sample, tmp_path: Path) -> None:
    file = tmp_path / "followed.sqlite"
    built(file, sample.grow(ALL))
    follower = Follower(open_database(sqlite_url(file), "write"), Following(DirectoryStore(sample.folder)))
    assert gone(contents(file)) == {SEALED: None}
    while len(sample.read().entries) < ALL + len(STEPS):
        log = append_rulings(sample, 1)
        assert follower.catch_up().behind == 1
        assert contents(file) == built(tmp_path / "new.sqlite", log)
    assert gone(contents(file)) == GONE


@pytest.mark.parametrize("step", [1, 256])
def test_of_what_is_ruled_on_an_incident_the_first_void_counts(
    sample: Sample, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    file = tmp_path / "grown.sqlite"
    built(file, sample.grow(ALL))
    monkeypatch.setattr(State, "_check_ruling", lambda *_: None)  # which admits no second ruling on an incident
    for action, members in (("review", {"outcome": "rejected"}), ("void", {}), ("void", {"reason": "again"})):
        sample.writer.append([ruling(sample.read(), SEALED, action, **members)])
    monkeypatch.setattr(projection, "STEP", step)
    log = sample.read()
    extend(open_database(sqlite_url(file), "write"), log)
    assert contents(file) == built(tmp_path / "new.sqlite", log)
    assert gone(contents(file)) == {SEALED: ALL + 1}
