"""What verification cannot refute, must not refute, or cannot judge: it has to say so, each in its own way."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING

import orjson
import pytest

from ledger.checkpoint import Checkpoint, sign_checkpoint
from ledger.errors import StorageError
from ledger.merkle import EMPTY_ROOT, Tree
from ledger.note import encode_note, parse_note, sign_note
from ledger.receipt import file_digest
from ledger.statement import Statement, sign_statement
from ledger.store.directory import DirectoryStore
from ledger.verified import Pins
from ledger.verify import verify
from tests.support import commands
from tests.support.attacker import Forgery, commit, dump
from tests.support.files import changed, checkpoint_path, read_receipts, receipt_path
from tests.support.ledgers import LEDGER, NOTE_KEY, ORIGIN, SCORER_1, SIZE, Clock, open_log, round_draft
from tests.support.rounds import round_body

if TYPE_CHECKING:
    from pathlib import Path

    from ledger.canonical import JsonObject
    from ledger.verified import Verification


def check(folder: Path, pins: Pins | None = None) -> Verification:
    return verify(DirectoryStore(folder), pins=pins)


def test_C41_a_clock_that_goes_back_is_flagged_and_the_order_stays_the_index(ledger_folder: Path) -> None:  # noqa: N802 - the name of the case
    log = open_log(ledger_folder, clock=Clock("2026-08-03T12:00:00+00:00"))
    (sealed,) = log.append([round_draft("backdated")])
    result = check(ledger_folder)
    assert [(flag.code, flag.index) for flag in result.flags] == [("F_CLOCK_BACK", SIZE)]
    assert result.findings == []
    assert result.log is not None
    assert sealed.index == SIZE
    assert result.log.entries[-1].digest == sealed.digest
    done = commands.run("verify", "--json", "-C", ledger_folder)
    assert (done.status, done.document()["flags"][0]["code"]) == (0, "F_CLOCK_BACK")


def test_a_clock_that_stands_still_is_not_flagged(ledger_folder: Path) -> None:
    forgery = Forgery.of(ledger_folder)
    forgery.add(forgery.state("round", round_body("same-second"), SCORER_1), at=forgery.times[-1])
    forgery.seal()
    assert check(ledger_folder).flags == []


def test_a_dropped_statement_leaves_a_gap_that_names_key_and_number(ledger_folder: Path) -> None:
    forgery = Forgery.of(ledger_folder)
    dropped = forgery.state("round", round_body("dropped"), SCORER_1)
    follower = replace(
        forgery.producer(SCORER_1), seq=forgery.producer(SCORER_1).seq + 1, prev=dropped.statement.identity
    )
    forgery.add(forgery.state("round", round_body("kept"), SCORER_1, producer=follower))
    forgery.seal()
    result = check(ledger_folder)
    assert result.log is not None
    (flag,) = result.flags
    assert flag.code == "F_SEQ_GAP"
    assert SCORER_1.public.keyid in flag.message
    assert "statements 2 " in flag.message


def test_a_dropped_statement_that_comes_late_closes_the_gap(ledger_folder: Path) -> None:
    forgery = Forgery.of(ledger_folder)
    first = forgery.state("round", round_body("first"), SCORER_1)
    number = forgery.producer(SCORER_1).seq
    follower = replace(forgery.producer(SCORER_1), seq=number + 1, prev=first.statement.identity)
    forgery.add(forgery.state("round", round_body("second"), SCORER_1, producer=follower))
    forgery.add(first)
    forgery.seal()
    result = check(ledger_folder)
    assert (result.findings, result.flags) == ([], [])


def test_a_gap_of_quadrillions_is_judged_in_seconds_and_a_gigabyte(ledger_folder: Path) -> None:
    # One granted key must not be able to stop everybody from verifying.
    forgery = Forgery.of(ledger_folder)
    far = replace(forgery.producer(SCORER_1), seq=2**53 - 1, prev=bytes(32))
    forgery.add(forgery.state("round", round_body("far"), SCORER_1, producer=far))
    forgery.seal()
    done = subprocess.run(
        ["sh", "-c", 'ulimit -v 1500000; exec "$@"', "sh", commands.PROGRAM, "verify", "--json", "-C", ledger_folder],
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert done.returncode in {0, 3}, done.stderr.decode()[-500:]
    document = orjson.loads(done.stdout)
    assert document["flags"] or document["findings"]


def test_a_kind_of_a_newer_release_is_unknown_not_refuted(ledger_folder: Path) -> None:
    forgery = Forgery.of(ledger_folder)
    forgery.add(forgery.state("ticket", {"expires": "2026-12-01T00:00:00Z"}, SCORER_1))
    forgery.seal()
    result = check(ledger_folder)
    assert [(item.code, item.index, item.error) for item in result.unknown] == [("E_KIND_UNKNOWN", SIZE, "PolicyError")]
    assert result.findings == []
    assert result.log is None
    done = commands.run("verify", "--json", "-C", ledger_folder)
    assert done.status == 4
    document = done.document()
    assert document["verdict"] == "unknown"
    assert [(item["code"], item["index"]) for item in document["unknown"]] == [("E_KIND_UNKNOWN", SIZE)]


def test_a_kind_of_a_newer_release_does_not_excuse_what_is_refuted(ledger_folder: Path) -> None:
    forgery = Forgery.of(ledger_folder)
    forgery.add(forgery.state("ticket", {"expires": "2026-12-01T00:00:00Z"}, SCORER_1))
    forgery.alter(5, lambda value: value["predicate"]["round"].update(purpose="noise"))
    forgery.seal()
    done = commands.run("verify", "--json", "-C", ledger_folder)
    assert done.status == 3
    first = done.document()["findings"][0]
    assert (first["code"], first["index"]) == ("E_SIGNATURE", 5)


def test_a_statement_of_an_unknown_kind_is_not_a_gap_in_the_numbers_of_its_producer(ledger_folder: Path) -> None:
    # It is in the ledger: "dropped, or never handed in" would accuse the operator of nothing.
    forgery = Forgery.of(ledger_folder)
    forgery.add(forgery.state("ticket", {"expires": "2026-12-01T00:00:00Z"}, SCORER_1))
    forgery.add(forgery.state("round", round_body("after"), SCORER_1))
    forgery.seal()
    result = check(ledger_folder)
    assert result.findings == []
    assert [flag.code for flag in result.flags] == []


def test_an_older_checkpoint_with_the_newer_receipts_kept_is_named_as_a_tail(ledger_folder: Path) -> None:
    files = read_receipts(ledger_folder)
    tree = Tree(file_digest(raw) for raw in files[:6])
    older = sign_checkpoint(Checkpoint(origin=ORIGIN, size=6, root=tree.root()), LEDGER)
    newer = checkpoint_path(ledger_folder).read_bytes()
    checkpoint_path(ledger_folder).write_bytes(changed(newer, older))
    result = check(ledger_folder)
    assert result.findings == []
    assert any("4 receipt file(s) from index 6 on, behind the checkpoint" in text for text in result.not_checked)


def test_A8_a_ledger_cut_at_its_end_says_that_truncation_is_not_excluded(ledger_folder: Path) -> None:  # noqa: N802 - the name of the case
    known = checkpoint_path(ledger_folder).read_bytes()
    commit(ledger_folder, read_receipts(ledger_folder)[:-3])
    result = check(ledger_folder)
    assert result.findings == []
    assert any("cut off at the end" in text and "--since" in text for text in result.not_checked)
    told = check(ledger_folder, Pins(since=known))
    assert [item.code for item in told.findings] == ["E_ROLLBACK"]


@pytest.mark.parametrize("pinned", [False, True])
@pytest.mark.parametrize("kept", [0, 1, SIZE])
def test_a_checkpoint_over_nothing_does_not_verify(ledger_folder: Path, kept: int, *, pinned: bool) -> None:
    # A ledger begins with its genesis. "Verified, 0 receipts" is how all of it disappears.
    commit(ledger_folder, read_receipts(ledger_folder)[:kept])
    checkpoint_path(ledger_folder).write_bytes(
        sign_checkpoint(Checkpoint(origin=ORIGIN, size=0, root=EMPTY_ROOT), LEDGER)
    )
    result = check(ledger_folder, Pins(key=NOTE_KEY) if pinned else None)
    assert result.findings
    assert result.log is None


def test_signatures_of_strangers_under_the_checkpoint_change_nothing_in_any_order(ledger_folder: Path) -> None:
    own = parse_note(checkpoint_path(ledger_folder).read_bytes())
    witness = sign_note(own.text, "witness.example/w1", SCORER_1)
    for signatures in ((*witness.signatures, *own.signatures), (*own.signatures, *witness.signatures)):
        checkpoint_path(ledger_folder).write_bytes(encode_note(replace(own, signatures=signatures)))
        assert check(ledger_folder).findings == []


def test_a_stranger_alone_under_the_checkpoint_is_not_enough(ledger_folder: Path) -> None:
    own = parse_note(checkpoint_path(ledger_folder).read_bytes())
    witness = sign_note(own.text, "witness.example/w1", SCORER_1)
    checkpoint_path(ledger_folder).write_bytes(encode_note(witness))
    assert [item.code for item in check(ledger_folder).findings] == ["E_NOTE_UNSIGNED"]


def test_a_revoked_scorer_keeps_the_rounds_before_its_revocation(ledger_folder: Path) -> None:
    result = check(ledger_folder)
    assert result.log is not None
    assert [(at, result.log.entries[at].attested) for at in result.log.of_kind("round")] == [
        (2, True),
        (3, True),
        (5, True),
        (6, False),
        (8, True),
        (9, True),
    ]


def test_pins_that_agree_and_an_older_checkpoint_that_is_a_prefix_refute_nothing(ledger_folder: Path) -> None:
    tree = Tree(file_digest(raw) for raw in read_receipts(ledger_folder)[:4])
    older = sign_checkpoint(Checkpoint(origin=ORIGIN, size=4, root=tree.root()), LEDGER)
    genesis = file_digest(read_receipts(ledger_folder)[0]).hex()
    result = check(ledger_folder, Pins(key=NOTE_KEY, genesis=genesis, since=older))
    assert result.findings == []
    assert not any("--vkey" in text or "--since" in text for text in result.not_checked)


def test_a_bad_root_signature_line_does_not_blame_a_receipt(ledger_folder: Path) -> None:
    # One letter of the root line: the receipts are all as they were, so no receipt may be named.
    raw = checkpoint_path(ledger_folder).read_bytes()
    at = raw.index(b"\n10\n") + 4
    checkpoint_path(ledger_folder).write_bytes(raw[:at] + (b"B" if raw[at : at + 1] == b"A" else b"A") + raw[at + 1 :])
    findings = check(ledger_folder).findings
    assert findings[0].code == "E_NOTE_SIGNATURE"
    assert [item.index for item in findings if item.index is not None] == []


def test_autocrlf_of_git_does_not_touch_the_receipts_of_a_new_ledger(tmp_path: Path) -> None:
    for name in ("root", "ledger"):
        assert commands.run("key", "new", tmp_path / name).status == 0
    made = commands.run(
        "init", tmp_path / "origin", "--origin", ORIGIN, "--root-key", tmp_path / "root", "--ledger-key",
        tmp_path / "ledger",
    )  # fmt: skip
    assert made.status == 0, made.stderr
    git = ["git", "-c", "core.autocrlf=true", "-c", "user.name=t", "-c", "user.email=t@t.example"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "ledger"]):
        subprocess.run([*git, *words], cwd=tmp_path / "origin", check=True, capture_output=True)
    subprocess.run([*git, "clone", "-q", "origin", "copy"], cwd=tmp_path, check=True, capture_output=True)
    assert read_receipts(tmp_path / "copy") == read_receipts(tmp_path / "origin")
    assert commands.run("verify", "-C", tmp_path / "copy").status == 0


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_file_that_cannot_be_read_is_no_verdict(
    ledger_folder: Path, monkeypatch: pytest.MonkeyPatch, jobs: int
) -> None:
    # A folder in a receipt's place stands for a disk error: also root cannot read it.
    monkeypatch.setattr("ledger.examined.CHUNK", 2)
    receipt_path(ledger_folder, 7).unlink()
    receipt_path(ledger_folder, 7).mkdir()
    with pytest.raises(StorageError) as caught:
        verify(DirectoryStore(ledger_folder), jobs=jobs)
    assert (caught.value.code, caught.value.index) == ("E_IO", 7)
    assert caught.value.where == str(receipt_path(ledger_folder, 7))


SHAPELESS: dict[str, tuple[str, JsonObject]] = {
    "a round that says nothing": ("round", {}),
    "a round without a slot": ("round", {key: value for key, value in round_body("x").items() if key != "slot"}),
    "a round with words for arms": ("round", {**round_body("x"), "arms": ["main"]}),
    "a round with a word for its repetitions": ("round", {**round_body("x"), "reps": "many"}),
    "a change of roles without a change": ("keys", {}),
    "a change of roles with a word for one": ("keys", {"changes": ["grant"]}),
}


@pytest.mark.parametrize("name", SHAPELESS)
def test_commands_that_look_at_hashes_only_survive_a_statement_without_its_shape(
    ledger_folder: Path, name: str
) -> None:
    # Sealed by whoever holds the ledger's key: `verify` refutes it, `log` and `show` do not fall over it.
    kind, body = SHAPELESS[name]
    forgery = Forgery.of(ledger_folder)
    signed = forgery.state("ticket", {}, SCORER_1)  # of any kind: the subject is not at issue
    value = {**signed.statement.value, "predicateType": f"urn:rungbook:{kind}:v1"}
    value["predicate"] = {**signed.statement.predicate, kind: body}
    forgery.add(sign_statement(Statement(raw=dump(value), value=value), [SCORER_1]))
    forgery.seal()
    assert commands.run("verify", "-C", ledger_folder).status == 3
    for words in (["log"], ["show", str(SIZE)], ["export", str(SIZE)]):
        for as_json in ([], ["--json"]):
            done = commands.run(*words, "-C", ledger_folder, *as_json)
            assert done.status in {0, 3}, done.stderr
