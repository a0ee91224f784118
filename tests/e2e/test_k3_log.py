"""A real public log: from its files to sealed receipts, verdicts under ten rules, and the re-score it never had."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ledger.draft import Draft
from ledger.ingest.sparkinfer.log import read_log
from ledger.ingest.sparkinfer.tdx import verify_tdx
from ledger.log import MAX_GROUP
from ledger.scoring.pins import pins
from ledger.scoring.replay import replay
from ledger.scoring.rescore import compare, summary
from ledger.store.directory import DirectoryStore
from ledger.verify import verify
from tests.support.k3 import cases, final_rules, published_rules, strict
from tests.support.ledgers import ORIGIN, ROOT, SCORER_1, genesis_draft, grant, keys_draft, open_log
from tests.support.outside import outside

if TYPE_CHECKING:
    import datetime as dt
    from pathlib import Path

    from ledger.canonical import JsonObject
    from ledger.verified import VerifiedLog

FIRST = 2  # genesis and the grant


def check_quote(tdx: JsonObject, at: dt.datetime) -> list[JsonObject]:
    report = verify_tdx(tdx, at=at)
    return [{"name": item.name, "holds": item.holds, "detail": item.detail} for item in report.checks]


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> VerifiedLog:
    """Every run of the log, and before each the rule that came into force since the run before."""
    folder: Path = tmp_path_factory.mktemp("k3")
    writer = open_log(folder)
    writer.create(ORIGIN, genesis_draft())
    writer.append([keys_draft(grant(SCORER_1.public, "h200x8"))])
    rules, adopted, drafts = published_rules(), "", []
    for run, case in zip(read_log(outside("k3-log"), attest=check_quote), cases(), strict=True):
        if case["rule_then"] != adopted:
            adopted = case["rule_then"]
            drafts.append(Draft(kind="rule", body=strict(rules[adopted]).body, signers=[ROOT]))
        drafts.append(Draft(kind="imported", body=run.body, signers=[SCORER_1]))
    assert len(drafts) < MAX_GROUP
    writer.append(drafts)
    return verify(DirectoryStore(folder)).require_log()


def test_the_log_is_51_receipts_and_every_quote_holds(log: VerifiedLog) -> None:
    bodies = [log.receipt(at).statement.body for at in log.of_kind("imported")]
    assert len(bodies) == 51
    assert [case["run_id"] for case in cases()] == [body["source"]["record"] for body in bodies]
    assert all(check["holds"] for body in bodies for check in body["checks"])
    assert {len(body["checks"]) for body in bodies} == {11}
    assert not any(log.entries[at].attested for at in log.of_kind("imported"))


def test_under_the_rules_in_force_all_51_recorded_labels_come_out_again(log: VerifiedLog) -> None:
    history = replay(log)
    found = [item.verdict.label for item in history.judged if item.verdict]
    assert [label.lower() for label in found] == [case["sealed_label"].lower() for case in cases()]
    assert len(log.of_kind("rule")) == len({case["rule_then"] for case in cases()})


def test_the_final_rules_change_exactly_the_ten_labels_that_nobody_published(log: VerifiedLog) -> None:
    rescored = compare(replay(log), replay(log, final_rules()))
    seqs = {case["run_id"]: case["seq"] for case in cases()}
    changed = {
        seqs[item.judged.rung.id.rpartition("/")[2]]: (item.before.label, item.after.label)
        for item in rescored
        if item.changed and item.before and item.after
    }
    assert changed == {
        19: ("m", "s"), 22: ("xl", "l"), 24: ("xl", "l"), 27: ("xl", "l"), 30: ("xl", "l"), 31: ("m", "s"),
        34: ("xl", "l"), 37: ("xl", "l"), 38: ("s", "xs"), 48: ("s", "l"),
    }  # fmt: skip
    assert summary(rescored)["rungs"] == 51


def test_a_past_state_is_the_same_whenever_it_is_asked_for(log: VerifiedLog) -> None:
    whole = {item.rung.index: item.verdict for item in replay(log).judged}
    for size in (0, FIRST, 10, 30, len(log.entries)):
        part = replay(log, as_of=size)
        assert [item.verdict for item in part.judged] == [whole[item.rung.index] for item in part.judged]
        assert all(item.rung.index < size for item in part.judged)


def test_no_pin_comes_out_of_imported_figures_however_many_there_are(log: VerifiedLog) -> None:
    found = pins(replay(log))
    assert found
    assert all(pin.held is None and pin.measured is not None for pin in found)


def test_the_one_rejection_names_its_gate_and_keeps_its_speed_to_itself(log: VerifiedLog) -> None:
    (rejected,) = [item for item in replay(log).judged if item.verdict and item.verdict.label == "REJECT"]
    assert rejected.verdict is not None
    assert (rejected.verdict.gate, rejected.verdict.code) == ("parity", "E_PARITY")
    assert rejected.verdict.diagnostic == {"value": "169.72"}
    assert not rejected.verdict.gain
