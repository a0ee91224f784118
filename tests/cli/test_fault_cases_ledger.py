"""Faults of data that people reported, by their number in the collection: those that only a whole ledger shows."""

# ruff: noqa: N802 - the names of cases have capitals

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from ledger.draft import Draft
from ledger.ingest import ADAPTERS
from ledger.scoring.replay import replay
from ledger.store.directory import DirectoryStore
from ledger.verify import verify
from tests.cli.program import REFUSED
from tests.cli.samples import SLOT
from tests.support.ledgers import ROOT, SCORER_1, Clock, open_log, start_small_ledger
from tests.support.scoring import PREFILL_SLOT, rule_body, scored_body
from tests.support.timed import PYTEST, changed, raw

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Desk


def append(desk: Desk, name: str, main: int) -> int:
    """A round of two repetitions of main; gives its index."""
    body = scored_body(name, [main] * 2, [main] * 2, slot={**SLOT, "context": 512})
    path = desk.root / f"{name}.json"
    path.write_text(json.dumps(body))
    done = desk.run("append", path, "--key", desk.key("scorer"), "--json")
    return int(done.document("append")["receipts"][0]["index"])


def frontier(desk: Desk, *words: str) -> tuple[str, int]:
    (slot,) = desk.run("frontier", "--json", *words).document("frontier")["slots"]
    return slot["frontier"]["value"], slot["frontier"]["receipt"]


def test_C34_a_bad_build_is_superseded_and_never_erased(desk: Desk) -> None:
    bad, good = append(desk, "r1", 3200), append(desk, "r2", 2000)
    sealed = desk.receipt(bad).read_bytes()
    by_root = ("--reason", "dirty build dir", "--key", desk.key("root"))
    for words in (("99", "--by", str(good)), (str(bad), "--by", "99"), ("c0ffee" * 4, "--by", str(good))):
        assert desk.run("ruling", "supersede", *words, *by_root, status=REFUSED).code() == "E_NO_RECEIPT"
    by_scorer = ("--by", str(good), "--reason", "mine", "--key", desk.key("scorer"))
    assert desk.run("ruling", "supersede", str(bad), *by_scorer, status=REFUSED).code() == "E_ROLE"
    assert frontier(desk) == ("3200", bad)
    desk.run("ruling", "supersede", str(bad), "--by", str(good), *by_root)
    assert frontier(desk) == ("2000", good)
    assert frontier(desk, "--as-of", str(good + 1)) == ("3200", bad)
    pins = desk.run("pins", "--json").document("pins")["pins"]
    assert {pin["attested"]["receipt"] for pin in pins if pin["attested"]} == {good}
    assert desk.receipt(bad).read_bytes() == sealed
    desk.run("verify")


@pytest.mark.parametrize(("first", "second"), [("12:00:00", "09:00:00"), ("09:00:00", "12:00:00")])
def test_C41_what_is_latest_is_what_stands_last_and_no_clock_decides_it(
    tmp_path: Path, first: str, second: str
) -> None:
    start_small_ledger(open_log(tmp_path, clock=Clock("2026-08-01T00:00:00+00:00")))
    for at, drafts in (
        (first, [Draft(kind="rule", body=rule_body(), signers=[ROOT])]),
        (first, [Draft(kind="round", body=scored_body("r1", [1100] * 3, [1000] * 3), signers=[SCORER_1])]),
        (second, [Draft(kind="round", body=scored_body("r2", [1100] * 3, [1050] * 3), signers=[SCORER_1])]),
    ):
        open_log(tmp_path, clock=Clock(f"2026-08-03T{at}+00:00")).append(drafts)
    result = verify(DirectoryStore(tmp_path))
    assert [flag.code for flag in result.flags] == ["F_CLOCK_BACK"] * (second < first)
    history = replay(result.require_log())
    best = history.slots[PREFILL_SLOT].frontier.best
    assert best is not None
    assert best.receipt == 4
    assert [item.context.basis.receipt for item in history.judged if item.context] == [3, 4]


def test_C41_a_time_without_a_zone_is_flagged() -> None:
    local = raw(changed(PYTEST, "datetime", "2027-01-15T08:00:00"))
    notes = ADAPTERS["pytest-benchmark"].read(local, "x.json")[0].notes
    assert "F_TZ_MISSING" in {note.partition(":")[0] for note in notes}
