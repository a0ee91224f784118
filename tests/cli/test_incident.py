"""``rungbook incident``: what is told of an attempt that ended without a number, and of the one that gave it."""

# ruff: noqa: N802 - the names of cases have capitals

from __future__ import annotations

import csv
import hashlib
import io
import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.forge import seal_anything
from tests.cli.program import REFUSED, REFUTED, UNAVAILABLE, USAGE
from tests.cli.samples import CODE, NODE, REAL_ROUND, SLOT, slot_text, tool_words, write_round
from tests.support.outside import outside
from tests.support.scoring import rule_body

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Desk
    from tests.cli.program import Result

PAIR = REAL_ROUND[:4]
CODES = ("--code", f"main={CODE['main']}", "--code", f"candidate={CODE['candidate']}")
WHY = "CUDA error 2: cudaErrorMemoryAllocation"


def words(*more: str | Path, **options: str) -> list[str | Path]:
    """Options of an incident; an option in `options` replaces a default, "" drops it."""
    given = {"round": "pr-7", "outcome": "infra", "diagnosis": WHY, "slot": slot_text(), **options}
    texts: list[str | Path] = []
    for name, value in given.items():
        texts += [f"--{name}", value] if value else []
    return [*texts, *more]


def record(desk: Desk, *more: str | Path, by: str = "scorer", status: int = 0, **options: str) -> Result:
    codes = () if "--code" in more else CODES
    return desk.run("incident", "record", *words(*codes, *more, **options), "--key", desk.key(by), status=status)


def append(desk: Desk, *more: str | Path, status: int = 0) -> Result:
    return desk.run("append", *tool_words(*PAIR), *more, "--key", desk.key("scorer"), status=status)


def body_at(desk: Desk, index: int) -> dict[str, Any]:
    body = json.loads(desk.receipt(index).read_bytes())["statement"]["predicate"]["incident"]
    assert isinstance(body, dict)
    return body


# The whole way, as a bot goes it.


def test_C42_a_failure_with_a_diagnosis_and_the_retry_that_gave_the_number(desk: Desk) -> None:
    log = desk.root / "run.log"
    log.write_text("out of memory\n")
    assert record(desk, "--log", log, "--commit", "candidate=c0ffee").out.startswith("sealed receipt 3  ")
    assert body_at(desk, 3) == {
        "round": "pr-7",
        "attempt": 1,
        "outcome": "infra",
        "diagnosis": WHY,
        "slot": {**SLOT, "context": 512},
        "arms": [
            {"role": "main", "code_sha256": CODE["main"]},
            {"role": "candidate", "code_sha256": CODE["candidate"], "commit": "c0ffee"},
        ],
        "log": {"name": "run.log", "sha256": hashlib.sha256(log.read_bytes()).hexdigest(), "size": 14},
    }
    append(desk, "--round", "pr-7", "--attempt", "2")
    desk.run("rule", "adopt", rule_file(desk), "--key", desk.key("root"))
    (row,) = csv.DictReader(io.StringIO(desk.run("ladder", "--rule", "5", "--csv").out))
    assert (row["label"], row["notes"]) == ("xl", "1 retry")
    (rung,) = desk.run("ladder", "--rule", "5", "--json").document("ladder")["rungs"]
    assert (rung["retries"], rung["verdict"]["label"]) == (1, "xl")
    told = desk.run("show", "4").out.splitlines()
    assert f"retried    receipt 3: attempt 1 ended, infra: {WHY}" in told
    assert "round      pr-7  attempt 2 (1 retry)" in told
    (listed,) = desk.run("incident", "list", "--json").document("incidents")["incidents"]
    assert (listed["index"], listed["number"], listed["diagnosis"]) == (3, 4, WHY)
    assert desk.run("incident", "list").out.splitlines()[1].endswith("  receipt 4")
    desk.run("verify")


def rule_file(desk: Desk) -> Path:
    path = desk.root / "rule.json"
    path.write_text(json.dumps(rule_body(slots=[{"metric": SLOT["metric"]}])))
    return path


def test_C42_a_failure_without_a_diagnosis_leaves_the_retry_unscorable(desk: Desk) -> None:
    done = record(desk, diagnosis="")
    assert done.err == (
        "note: it does not say why: a later attempt at pr-7 is refused until the same is recorded with --diagnosis\n"
    )
    again = append(desk, "--round", "pr-7", "--attempt", "2", status=REFUSED)
    assert again.code() == "E_RETRY_NO_DIAG"
    assert "rungbook incident record --round pr-7 --attempt 1 --diagnosis" in again.err
    assert desk.size == 4
    assert "not said" in desk.run("incident", "list").out
    record(desk)
    append(desk, "--round", "pr-7", "--attempt", "2")
    desk.run("verify")


def test_C05_a_run_whose_requests_all_failed_is_kept_as_an_attempt_only(desk: Desk) -> None:
    file = outside("tool-outputs", "vllm-serve", "all_requests_failed_v0.25.1.json")
    slot = slot_text(metric="ttft")
    given = ("--slot", slot, *CODES[:2], "--weights", "0" * 64, "--harness", "0" * 64, "--environment", "gpu=one")
    more = ("--commit", "main=c", "--zone", "+00:00", "--key", desk.key("scorer"))
    assert desk.run("append", file, *given, *more, status=REFUSED).code() == "E_ALL_FAILED"
    assert "rungbook incident record" in desk.run("faults", "E_ALL_FAILED").out
    record(desk, "--log", file, *CODES[:2], slot=slot, diagnosis="the server was not up")
    assert body_at(desk, 3)["log"]["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
    for view in ("frontier", "pins", "ladder"):
        assert desk.run(view).out == "nothing here yet\n"


def timed(times: list[float], status: int) -> bytes:
    """What hyperfine writes of a command."""
    run = {"command": "./bench", "times": times, "exit_codes": [status] * len(times)}
    return json.dumps({"results": [run]}).encode()


def test_C25_a_killed_run_is_an_attempt_and_gives_no_ratio(desk: Desk) -> None:
    base, killed = desk.root / "base.json", desk.root / "killed.json"
    base.write_bytes(timed([15.05] * 3, 0))
    killed.write_bytes(timed([0.35] * 3, -9))
    given = ("--slot", slot_text(metric="wall", context="0"), "--weights", "0" * 64, "--harness", "0" * 64)
    starts = ("--started-at", "main=2026-11-29T20:00:00Z", "--started-at", "candidate=2026-11-29T20:01:00Z")
    both = ("--arm", f"main={base}", "--arm", f"candidate={killed}", "--commit", "main=a", "--commit", "candidate=b")
    more = (*given, *starts, *both, *CODES, "--environment", "cpu=one", "--key", desk.key("scorer"))
    done = desk.run("append", *more, status=REFUSED)
    assert done.code() == "E_EXIT_NONZERO"
    assert "rungbook incident record" in desk.run("faults", "E_EXIT_NONZERO").out
    record(desk, "--log", killed, slot=slot_text(metric="wall", context="0"), diagnosis="killed by signal 9")
    compared = desk.run("compare", base, "--", killed, status=REFUSED)
    assert compared.code() == "E_EXIT_NONZERO"
    shown = [desk.run(*words.split()) for words in ("show 3", "ladder", "frontier", "log", "incident list")]
    assert shown[1].out == shown[2].out == "nothing here yet\n"
    assert "killed by signal 9" in shown[4].out
    for told in (done, compared, *shown):  # 15.05 / 0.35
        assert "43.0" not in told.out + told.err
        assert "43 " not in told.out + told.err
        assert "0.35" not in told.out


# What is shown.


def test_show_and_log_say_what_was_tried_and_how_it_ended(desk: Desk) -> None:
    log = desk.root / "a log.txt"
    log.write_text("12345678")
    record(desk, "--log", log, "--attempt", "3", diagnosis="two\nlines of it")
    told = desk.run("show", "3").out.splitlines()
    assert (
        told[1]
        == f"kind       incident  pr-7 attempt 3  infra: two lines of it  demo · {NODE} · F32 · 512 · prefill_tok_s"
    )
    assert told[5:] == [
        "standing   attested",
        "round      pr-7  attempt 3",
        f"arm        main  code {CODE['main'][:12]}",
        f"arm        candidate  code {CODE['candidate'][:12]}",
        "ended      infra: two lines of it",
        f"log        {body_at(desk, 3)['log']['name']}  8 bytes  {hashlib.sha256(b'12345678').hexdigest()}",
    ]
    assert "pr-7 attempt 3  infra: two lines of it" in desk.run("log", "--last", "1").out


def test_the_list_is_of_all_or_of_some_slots(desk: Desk) -> None:
    assert desk.run("incident", "list").out == "nothing here yet\n"
    record(desk)
    record(desk, round="pr-8", outcome="config", slot=slot_text(metric="wall"))
    rows = desk.run("incident", "list").out.splitlines()
    assert rows[0].split() == ["receipt", "round", "attempt", "outcome", "diagnosis", "number"]
    assert [row.split()[:4] for row in rows[1:]] == [["3", "pr-7", "1", "infra"], ["4", "pr-8", "1", "config"]]
    assert all(row.endswith("  none") for row in rows[1:])
    assert len(desk.run("incident", "list", "--slot", "metric=wall").out.splitlines()) == 2
    assert desk.run("incident", "list", "--slot", "node=other").out == "nothing here yet\n"


def test_the_number_of_another_node_is_not_that_of_the_round(desk: Desk) -> None:
    desk.run("grant", desk.pub("scorer"), "--role", "scorer", "--node", "node-2", "--key", desk.key("root"))
    record(desk, slot=slot_text(node="node-2"))
    append(desk, "--round", "pr-7")
    (listed,) = desk.run("incident", "list", "--json").document("incidents")["incidents"]
    assert listed["number"] is None
    assert "retried" not in desk.run("show", "5").out


def test_what_was_sealed_without_the_program_and_makes_no_sense_is_no_failure_of_it(desk: Desk) -> None:
    seal_anything(desk, "incident", {"round": "pr-7"})
    assert "does not make sense" in desk.run("show", "3").out
    assert "does not make sense" in desk.run("log").out
    append(desk, "--round", "pr-7", status=REFUTED)
    assert desk.run("incident", "list", status=REFUTED).code() == "E_SCHEMA"


# Other ways in.


def test_it_can_be_attested_and_sealed_later_with_the_round_that_follows(desk: Desk) -> None:
    record(desk, "-o", "inbox/")
    attested = desk.run(
        "attest", *tool_words(*PAIR), "--round", "pr-7", "--attempt", "2", "--key", desk.key("scorer"), "-o", "inbox/"
    )
    assert attested.out.startswith("attested  ")
    again = record(desk, "-o", "inbox/")
    assert len(list((desk.root / "inbox").iterdir())) == 2
    assert again.out.startswith("attested  ")
    desk.run("seal", "inbox/", "--remove")
    assert desk.size == 5
    desk.run("verify")
    sealed = record(desk, "-o", "inbox/", status=REFUSED)
    assert sealed.code() == "E_SEALED"
    assert "this incident is sealed already, as receipt 3" in sealed.err


def grant_second(desk: Desk) -> None:
    desk.run("grant", desk.pub("stranger"), "--role", "scorer", "--node", NODE, "--key", desk.key("root"))


@pytest.mark.parametrize("first", ["scorer", "stranger"])
def test_C42_the_key_that_sorts_first_does_not_decide_whether_a_failure_is_sealed(desk: Desk, first: str) -> None:
    grant_second(desk)
    second = "stranger" if first == "scorer" else "scorer"
    record(desk, "-o", "inbox/", by=first)
    attest = ("attest", *tool_words(*PAIR), "--round", "pr-7", "-o", "inbox/", "--key")
    desk.run(*attest, desk.key(second))  # as if it were the first attempt
    done = desk.run("seal", "inbox/", "--skip-refused", status=REFUSED)
    assert "E_ATTEMPT" in done.err
    assert body_at(desk, 4)["diagnosis"] == WHY
    assert desk.size == 5


@pytest.mark.parametrize("first", ["scorer", "stranger"])
def test_a_round_waits_for_the_incident_of_another_scorer(desk: Desk, first: str) -> None:
    grant_second(desk)
    second = "stranger" if first == "scorer" else "scorer"
    record(desk, "-o", "inbox/", by=first)
    attest = ("attest", *tool_words(*PAIR), "--round", "pr-7", "--attempt", "2", "-o", "inbox/", "--key")
    desk.run(*attest, desk.key(second))
    desk.run("seal", "inbox/", "--remove")
    assert desk.size == 6
    desk.run("verify")


def test_an_incident_that_was_attested_and_never_handed_in_hinders_nobody(desk: Desk) -> None:
    away = desk.root / "away.json"
    record(desk, "-o", away, diagnosis="wrong")
    away.unlink()
    record(desk, "-o", "inbox/", diagnosis="right")
    desk.run("attest", *tool_words(*PAIR), "--round", "other", "--key", desk.key("scorer"), "-o", "inbox/")
    desk.run("seal", "inbox/")
    assert body_at(desk, 3)["diagnosis"] == "right"


def test_a_wrong_incident_is_voided_and_its_attempt_is_free(desk: Desk) -> None:
    record(desk, diagnosis="typo: this was pr-8")
    desk.run("ruling", "void", "3", "--reason", "of another round", "--key", desk.key("root"))
    append(desk, "--round", "pr-7")
    (listed,) = desk.run("incident", "list", "--json").document("incidents")["incidents"]
    assert (listed["gone_at"], listed["number"], listed["number_gone_at"]) == (4, 5, None)
    assert desk.run("incident", "list").out.splitlines()[1].endswith("  the incident is void since receipt 4")
    assert "retried" not in desk.run("show", "5").out
    assert "ruling     receipt 4: void" in desk.run("show", "3").out
    for command in ("verify", "frontier", "ladder"):
        desk.run(command)


def test_a_number_that_was_voided_is_said_to_be(desk: Desk) -> None:
    record(desk)
    append(desk, "--round", "pr-7", "--attempt", "2")
    desk.run("ruling", "void", "4", "--reason", "a dirty build", "--key", desk.key("root"))
    assert desk.run("incident", "list").out.splitlines()[1].endswith("  receipt 4, void since receipt 5")


def test_a_round_that_says_that_it_is_the_first_attempt_is_the_one_that_does_not(desk: Desk) -> None:
    desk.run("append", write_round(desk.root, 7), "--key", desk.key("scorer"))
    again = desk.run("append", write_round(desk.root, 7, attempt=1), "--key", desk.key("scorer"))
    assert again.out.startswith("already sealed as receipt 3")


def test_the_same_words_again_add_nothing(desk: Desk) -> None:
    record(desk)
    assert record(desk).out.startswith("already sealed as receipt 3")
    assert record(desk, "--json").document("append")["receipts"][0]["existed"]
    assert desk.size == 4


def test_a_round_in_json_says_its_attempt_itself(desk: Desk) -> None:
    path = write_round(desk.root, 7, attempt=2)
    done = desk.run("append", path, "--key", desk.key("scorer"), status=REFUSED)
    assert (done.code(), desk.size) == ("E_RETRY_NO_DIAG", 3)
    record(desk, round="round-7")
    desk.run("append", path, "--key", desk.key("scorer"))
    assert desk.run("append", path, "--attempt", "2", "--key", desk.key("scorer"), status=REFUSED).code() == "E_OPTION"


def test_a_dry_run_shows_which_attempt_it_is(desk: Desk) -> None:
    told = desk.run("ingest", *tool_words(*PAIR), "--round", "pr-7", "--attempt", "3").out
    assert "round      pr-7  attempt 3 (2 retries)" in told.splitlines()


def test_defaults_of_the_slot_are_those_of_the_ledger(desk: Desk) -> None:
    (desk.root / "rungbook.toml").write_text(
        (desk.root / "rungbook.toml").read_text() + f'\n[slot]\nproject = "demo"\nnode = "{NODE}"\n'
    )
    record(desk, slot="quant=F32,context=512,metric=wall")
    assert body_at(desk, 3)["slot"]["project"] == "demo"


# What is refused.


@pytest.mark.parametrize(
    ("options", "more", "code", "where"),
    [
        ({"outcome": "oom"}, (), "E_OPTION", "--outcome"),
        ({"diagnosis": " "}, (), "E_RETRY_NO_DIAG", "/predicate/incident/diagnosis"),
        ({"diagnosis": "\u200b"}, (), "E_RETRY_NO_DIAG", "/predicate/incident/diagnosis"),
        ({"slot": slot_text(node="")}, (), "E_SLOT", "--slot"),
        ({"slot": slot_text(metric="speed")}, (), "E_SLOT", "--slot"),
        ({"slot": slot_text(node="node-2")}, (), "E_NODE", "/signatures"),
        ({"round": "pr 7"}, (), "E_SCHEMA", "/predicate/incident/round"),
        ({"diagnosis": "x\x1b[2J"}, (), "E_DOMAIN", ""),
        ({}, ("--code", "rival=" + "a" * 64), "E_OPTION", "--code"),
        ({}, ("--code", "main=abc"), "E_DIGEST_OR_PATH", "--code main"),
        ({}, ("--code", "main=" + "a" * 64, "--code", "main=" + "b" * 64), "E_OPTION", "--code"),
        ({}, ("--commit", "reference=abc"), "E_OPTION", "--commit"),
        ({}, ("--commit", "main=a b"), "E_SCHEMA", "/predicate/incident/arms/0/commit"),
        ({}, ("--log", "empty.log"), "E_DIGEST_OR_PATH", "--log"),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_written(
    desk: Desk, options: dict[str, str], more: tuple[str, ...], code: str, where: str
) -> None:
    (desk.root / "empty.log").touch()
    done = record(desk, *more, "--json", status=REFUSED, **options)
    error = done.document("error")["error"]
    assert error["code"] == code
    assert where in error["where"]
    assert desk.size == 3


def test_an_empty_diagnosis_is_not_the_same_as_none(desk: Desk) -> None:
    given = words(*CODES, diagnosis="")
    done = desk.run("incident", "record", *given, "--diagnosis", "", "--key", desk.key("scorer"), status=REFUSED)
    assert done.code() == "E_RETRY_NO_DIAG"
    assert "say why, or leave it out" in done.err


def test_the_code_is_named_when_it_is_missing(desk: Desk) -> None:
    done = desk.run("incident", "record", *words(), "--key", desk.key("scorer"), status=REFUSED)
    assert done.code() == "E_MISSING"
    assert "--code ROLE=" in done.err


@pytest.mark.parametrize("name", ["none.log", "."])
def test_a_log_that_cannot_be_read(desk: Desk, name: str) -> None:
    record(desk, "--log", name, status=UNAVAILABLE)
    assert desk.size == 3


@pytest.mark.parametrize("attempt", ["0", "1001", "two"])
def test_attempts_are_counted_from_one(desk: Desk, attempt: str) -> None:
    assert "--attempt" in record(desk, "--attempt", attempt, status=USAGE).err
    assert "--attempt" in append(desk, "--round", "pr-7", "--attempt", attempt, status=USAGE).err


def test_a_contributor_records_no_incident(desk: Desk) -> None:
    assert record(desk, by="contributor", status=REFUSED).code() == "E_ROLE"


def test_a_later_attempt_names_its_round(desk: Desk) -> None:
    done = append(desk, "--attempt", "2", status=REFUSED)
    assert done.code() == "E_MISSING"
    assert "--round ID (that of the incident)" in done.err
    each = desk.run("append", "--each", PAIR[0][1], "--attempt", "2", "--key", desk.key("scorer"), status=REFUSED)
    assert each.code() == "E_OPTION"
    assert "--attempt" in each.err


def test_the_first_attempt_may_say_so(desk: Desk) -> None:
    append(desk, "--attempt", "1")
    assert append(desk).out.startswith("already sealed as receipt 3")


def test_a_second_end_of_an_attempt_says_what_there_is(desk: Desk) -> None:
    record(desk)
    done = record(desk, diagnosis="it was the driver", status=REFUSED)
    assert done.code() == "E_ATTEMPT"
    assert "attempt 1 at 'pr-7' has ended already (receipt 3)" in done.err
    hidden = append(desk, "--round", "pr-7", status=REFUSED)
    assert hidden.code() == "E_ATTEMPT"
    assert "a later one says so, with --attempt 2" in hidden.err
