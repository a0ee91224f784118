"""Samples that the ledger has already: found in one look-up, whoever sealed them and whenever."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ledger import copies
from ledger.draft import Draft
from ledger.errors import RefusedError, StorageError
from ledger.store.copy_index import DiskCopyIndex
from ledger.timing import round_prints, round_timings, timing_digest
from tests.support.copies import FIRST, Desk, file_sha256, measured, refused, samples
from tests.support.files import receipt_path
from tests.support.ledgers import ROOT, SCORER_1
from tests.support.rounds import round_body

if TYPE_CHECKING:
    from ledger.canonical import JsonObject


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "ledger")


@pytest.fixture
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copies, "EVERY", 1)


# What is a copy.


def test_a_fingerprint_is_of_the_times_and_tokens_alone() -> None:
    one = {"wall_ns": samples(0), "prompt_tokens": [1, 2, 3]}
    assert timing_digest(one) == timing_digest(one | {"prompt_tokens": [4, 5, 6], "chunks": [1, 1, 1]})
    assert timing_digest(one) != timing_digest(one | {"completion_tokens": [1, 1, 1]})
    assert timing_digest(one) != timing_digest({"e2e_ns": samples(0)})


@pytest.mark.parametrize(
    "times", [[], [1_000_001, 1_000_002], [1_000_001] * 9, [1_000_001, 2_000_000, 3_000_000, 4_000_000], [None, 7, 8]]
)
def test_a_few_times_or_coarse_ones_may_come_again(times: list[int | None]) -> None:
    assert timing_digest({"wall_ns": times}) is None


def test_times_of_several_columns_count_together() -> None:
    assert timing_digest({"ttft_ns": [100_001], "e2e_ns": [100_002], "wall_ns": [100_003]}) is not None
    assert round_timings(measured("r", 0, 9)).keys() == {0, 1}


# Across the ledger.


@pytest.mark.parametrize("indexed", [True, False])
@pytest.mark.parametrize("anew", [True, False])
@pytest.mark.usefixtures("_soon")
def test_samples_of_an_earlier_receipt_are_refused_by_every_writer(desk: Desk, *, indexed: bool, anew: bool) -> None:
    desk.seal(measured("a", 0, 100))
    log = desk.open(indexed=indexed) if anew else desk.log
    error = refused(desk, measured("b", 300, 100), log=log)
    assert error.where == "/predicate/round/reps/1/records"
    assert f"receipt {FIRST}:" in error.message
    desk.seal(measured("c", 300, 400), log=log)


def test_a_group_is_held_against_itself_and_nothing_of_it_is_kept_when_it_fails(desk: Desk) -> None:
    error = refused(desk, measured("a", 0), measured("b", 100), measured("c", 0))
    assert error.where.startswith("/2/predicate/round/reps/0")
    assert f"receipt {FIRST}:" in error.message
    desk.seal(measured("d", 100))
    desk.seal(measured("e", 0))


def test_two_repetitions_of_one_round_are_not_held_against_each_other_here(desk: Desk) -> None:
    desk.seal(measured("a", 0, 0))


def test_the_same_round_again_is_no_copy(desk: Desk) -> None:
    (first,) = desk.seal(measured("a", 0))
    (again,) = desk.seal(measured("a", 0))
    assert (again.index, again.existed) == (first.index, True)


@pytest.mark.parametrize("action", ["void", "supersede"])
@pytest.mark.parametrize("anew", [True, False])
@pytest.mark.usefixtures("_soon")
def test_what_was_voided_may_be_filed_again_once(desk: Desk, action: str, *, anew: bool) -> None:
    desk.seal(measured("a", 0), measured("later", 100))
    by = {"by": file_sha256(desk.store.read_receipt(FIRST + 1))} if action == "supersede" else {}
    desk.rule(FIRST, action, **by)
    log = desk.open() if anew else desk.log
    desk.seal(measured("b", 0), log=log)
    assert "receipt 5:" in refused(desk, measured("c", 0), log=log).message
    assert desk.rows()[next(iter(round_timings(measured("a", 0)).values()))] == 5


def test_another_ruling_frees_nothing(desk: Desk) -> None:
    desk.seal(measured("a", 0))
    desk.rule(FIRST, "review", outcome="accepted")
    refused(desk, measured("b", 0))


def test_a_void_in_the_same_group_frees_too(desk: Desk) -> None:
    desk.seal(measured("a", 0))
    body = {"action": "void", "receipt": file_sha256(desk.store.read_receipt(FIRST)), "reason": "r"}
    ruling = Draft(kind="ruling", body=body, signers=[ROOT])
    again = Draft(kind="round", body=measured("b", 0), signers=[SCORER_1])
    with pytest.raises(RefusedError):
        desk.log.append([again, ruling])
    desk.log.append([ruling, again])


def test_what_another_writer_has_sealed_is_seen(desk: Desk) -> None:
    desk.seal(measured("mine", 0))
    other = desk.open(indexed=False)
    desk.seal(measured("theirs", 100), log=other)
    refused(desk, measured("copy", 100))
    desk.seal(measured("mine-too", 200))
    refused(desk, measured("copy", 200), log=other)


# The index.


@pytest.mark.usefixtures("_soon")
def test_the_index_has_a_row_per_repetition_and_spares_reading_the_receipts(desk: Desk) -> None:
    desk.seal(measured("a", 0, 100))
    assert desk.rows() == dict.fromkeys(round_timings(measured("a", 0, 100)).values(), FIRST)
    assert desk.covered() == (3, file_sha256(desk.store.read_receipt(FIRST)))
    index = DiskCopyIndex(desk.path)
    assert index.find(next(iter(desk.rows()))) == [FIRST]
    assert index.find(b"unknown") == []


def test_the_index_is_extended_now_and_then(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copies, "EVERY", 5)
    desk.seal(measured("a", 0))
    assert desk.covered()[0] == 0
    desk.seal(measured("b", 100), measured("c", 200))
    assert desk.covered()[0] == 5
    assert sorted(desk.rows().values()) == [2, 3, 4]


@pytest.mark.usefixtures("_soon")
@pytest.mark.parametrize("last", ["0" * 64, "another ledger"])
def test_an_index_of_another_ledger_is_made_again(desk: Desk, last: str) -> None:
    desk.seal(measured("a", 0))
    index = DiskCopyIndex(desk.path)
    assert index.extend(2, last, {b"x" * 32: [1]}, set())
    log = desk.open()
    refused(desk, measured("b", 0), log=log)
    desk.seal(measured("c", 100), log=log)
    assert sorted(desk.rows().values()) == [2, 3]


@pytest.mark.usefixtures("_soon")
def test_an_index_that_is_ahead_is_made_again(desk: Desk) -> None:
    desk.seal(measured("a", 0))
    DiskCopyIndex(desk.path).extend(99, "0" * 64, {b"x" * 32: [98]}, set())
    log = desk.open()
    desk.seal(measured("b", 100), log=log)
    assert sorted(desk.rows().values()) == [2, 3]


@pytest.mark.usefixtures("_soon")
def test_a_broken_index_is_made_again(desk: Desk) -> None:
    desk.seal(measured("a", 0))
    desk.path.write_bytes(b"no database at all" * 100)
    log = desk.open()
    refused(desk, measured("b", 0), log=log)
    desk.seal(measured("c", 100), log=log)
    assert sorted(desk.rows().values()) == [2, 3]


@pytest.mark.usefixtures("_soon")
def test_an_index_that_breaks_meanwhile_is_an_error_and_no_answer(desk: Desk) -> None:
    desk.seal(measured("a", 0))
    with sqlite3.connect(desk.path) as connection:
        connection.execute("DROP TABLE copies")
    with pytest.raises(StorageError) as caught:
        desk.seal(measured("b", 0))
    assert (caught.value.code, caught.value.where) == ("E_COPY_INDEX", str(desk.path))
    assert desk.store.tail(3) == []


def test_an_index_that_cannot_be_written_costs_only_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copies, "EVERY", 1)
    desk = Desk(tmp_path / "ledger")
    desk.path = tmp_path / "nowhere" / "copies.sqlite"
    log = desk.open()
    desk.seal(measured("a", 0), log=log)
    refused(desk, measured("b", 0), log=log)
    assert not desk.path.parent.exists()


def test_a_receipt_that_has_changed_since_is_noticed(desk: Desk) -> None:
    desk.seal(measured("a", 0))
    log = desk.open(indexed=False)
    log.append([])
    path = receipt_path(Path(desk.store.root), FIRST)
    path.write_bytes(path.read_bytes().replace(b'"id":"a"', b'"id":"z"'))
    with pytest.raises(Exception, match="E_CHANGED"):
        desk.seal(measured("b", 100), log=log)


# Repetitions of too few times.


def totals(name: str, sha256: str = "ab" * 32, row: int = 0) -> JsonObject:
    """A round of one total of one file."""
    body = round_body(name)
    body["reps"][0]["source"] = {"attachment": "run.json", "row": row}
    return body | {"attachments": [{"name": "run.json", "sha256": sha256, "size": 1}]}


def test_totals_are_known_again_by_their_file_and_row(desk: Desk) -> None:
    desk.seal(totals("a"))
    refused(desk, totals("b"))
    desk.seal(totals("c", row=1), totals("d", sha256="cd" * 32))
    desk.seal(round_body("no-file"), round_body("no-file-either"))


def test_a_source_that_is_not_attached_tells_nothing() -> None:
    body = totals("a") | {"attachments": []}
    assert round_prints(body) == {}
    assert round_prints(measured("r", 0, 9)) == round_timings(measured("r", 0, 9))
