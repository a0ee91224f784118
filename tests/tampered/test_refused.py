"""Input that is not accepted: status 5, a code, and nothing written. What could not be told: status 4, and the same."""

from __future__ import annotations

import copy
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import orjson
import pytest

from ledger.canonical import MAX_BYTES
from ledger.schema import validate
from ledger.statement import export_envelope
from ledger.store.directory import DirectoryStore
from ledger.verify import verify
from tests.support import commands
from tests.support.attacker import Forgery, dump
from tests.support.files import changed, snapshot
from tests.support.ledgers import (
    LEDGER,
    MAINTAINERS,
    OUTSIDER,
    REVOKED,
    SCORER_1,
    SCORER_2,
    SIZE,
    grant,
    make_key,
    open_log,
    round_draft,
)
from tests.support.rounds import round_body, sha256_hex, stream_round_body

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from ledger.canonical import JsonObject
    from ledger.keys import PrivateKey
    from ledger.statement import SignedStatement
    from tests.support.commands import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """A ledger with the key files that its commands need."""

    ledger: Path
    scorer: Path
    ledger_key: Path
    spare: Path

    def file(self, name: str, data: bytes) -> Path:
        """A file outside the ledger."""
        path = self.spare / name
        path.write_bytes(data)
        return path

    def append(self, *words: str | Path, key: Path | None = None, ledger_key: Path | None = None) -> Outcome:
        return commands.run(
            *("append", *words, "--key", key or self.scorer, "--ledger-key", ledger_key or self.ledger_key),
            *("-C", self.ledger, "--json"),
        )

    def seal(self, *words: str | Path) -> Outcome:
        return commands.run("seal", *words, "--ledger-key", self.ledger_key, "-C", self.ledger, "--json")


@pytest.fixture
def desk(ledger_folder: Path, tmp_path: Path) -> Desk:
    """The healthy ledger and its keys."""
    return Desk(
        ledger=ledger_folder,
        scorer=commands.write_key(tmp_path / "scorer", SCORER_1),
        ledger_key=commands.write_key(tmp_path / "ledger-key", LEDGER),
        spare=tmp_path,
    )


@contextmanager
def nothing_written(desk: Desk) -> Iterator[None]:
    """The receipts and the checkpoint are the same before and after, byte for byte."""
    before = snapshot(desk.ledger)
    yield
    assert snapshot(desk.ledger) == before


def expect_error(done: Outcome, status: int, code: str) -> None:
    """The command ended with this status, and says this code on stdout and on stderr."""
    assert done.status == status, done.stderr
    document = done.document()
    validate("output-error", document)
    assert (document["status"], document["error"]["code"]) == (status, code), document
    assert code in done.stderr


# ---- Rounds.

TEXT = dump(round_body("next"))


def text_with(old: bytes, new: bytes) -> bytes:
    return changed(TEXT, TEXT.replace(old, new, 1))


def body_with(edit: Callable[[JsonObject], object], body: JsonObject | None = None) -> bytes:
    value = copy.deepcopy(body or round_body("next"))
    edit(value)
    return dump(value)


def rep_with(**members: object) -> bytes:
    return body_with(lambda body: body["reps"][0].update(members))


def slot_with(**members: object) -> bytes:
    return body_with(lambda body: body["slot"].update(members))


def without(name: str) -> bytes:
    return body_with(lambda body: body.pop(name))


def two_arms(body: JsonObject) -> None:
    """A second arm with its repetition."""
    body["arms"].append({"role": "candidate", "code_sha256": sha256_hex("candidate")})
    body["reps"].append({**body["reps"][0], "arm": "candidate", "order": 1})


def noise_of_two_codes(body: JsonObject) -> None:
    two_arms(body)
    body["purpose"] = "noise"


def one_run_of_two_arms(body: JsonObject) -> None:
    two_arms(body)
    body["reps"][1]["order"] = 0


ROUNDS: dict[str, tuple[bytes, str]] = {
    "an empty file": (b"", "E_EMPTY_RESULTS"),
    "no JSON": (b"tokens per second: 42\n", "E_JSON"),
    "cut off": (TEXT[:-20], "E_JSON"),
    "something behind it": (TEXT + b"{}", "E_JSON"),
    "a byte order mark": (b"\xef\xbb\xbf" + TEXT, "E_JSON"),
    "not UTF-8": (text_with(b'"one"', b'"\xff"'), "E_UTF8"),
    "a pointer to large file storage": (b"version https://git-lfs.github.com/spec/v1\n", "E_LFS_POINTER"),
    "a member twice": (text_with(b'"cpu":"one"', b'"cpu":"one","cpu":"two"'), "E_DUPLICATE_KEY"),
    "NaN": (text_with(b'"wall_ns":1000000', b'"wall_ns":NaN'), "E_NONFINITE"),
    "infinity": (text_with(b'"wall_ns":1000000', b'"wall_ns":-Infinity'), "E_NONFINITE"),
    "a fraction": (text_with(b'"wall_ns":1000000', b'"wall_ns":1000000.5'), "E_FRACTION"),
    "a number with an exponent": (text_with(b'"wall_ns":1000000', b'"wall_ns":1e6'), "E_FRACTION"),
    "an integer of 5000 digits": (text_with(b'"wall_ns":1000000', b'"wall_ns":' + b"9" * 5000), "E_DOMAIN"),
    "an integer that other readers round": (rep_with(wall_ns=2**53), "E_SCHEMA"),
    "lists in lists": (b"[" * 100_000, "E_DEPTH"),
    "larger than any receipt": (b" " * MAX_BYTES + TEXT, "E_SIZE"),
    "a list": (b"[]", "E_SCHEMA"),
    "null": (b"null", "E_SCHEMA"),
    "a text": (b'"round"', "E_SCHEMA"),
    "an empty object": (b"{}", "E_SCHEMA"),
    **{f"no {name}": (without(name), "E_SCHEMA") for name in round_body("next")},
    "a member of no schema": (body_with(lambda body: body.update(tok_s=42)), "E_SCHEMA"),
    "a verdict": (body_with(lambda body: body.update(verdict="xl")), "E_SCHEMA"),
    "a number as text": (rep_with(wall_ns="1000000"), "E_SCHEMA"),
    "a truth value as a number": (rep_with(order=False), "E_SCHEMA"),
    "a time that is negative": (rep_with(wall_ns=-1), "E_SCHEMA"),
    "a repetition that took no time": (rep_with(wall_ns=0), "E_SCHEMA"),
    "a start without its zone": (rep_with(started_at="2026-11-29T20:00:00"), "E_SCHEMA"),
    "an unknown metric": (rep_with(metrics=["speed"]), "E_SCHEMA"),
    "no records": (rep_with(records={}), "E_SCHEMA"),
    "an id with a space": (body_with(lambda body: body.update(id="round 2")), "E_SCHEMA"),
    "a digest in capital letters": (
        body_with(lambda body: body["weights"].update(sha256="A" * 64)), "E_SCHEMA"
    ),
    "an escape that moves the cursor": (body_with(lambda body: body["environment"].update(cpu="\x1b[1A")), "E_DOMAIN"),
    "half a surrogate pair": (text_with(b'"one"', b'"\\ud800"'), "E_DOMAIN"),
    "another context than measured": (slot_with(context=131072), "E_CONTEXT_MISMATCH"),
    "another metric than measured": (slot_with(metric="ttft"), "E_CONTEXT_MISMATCH"),
    "columns of unequal length": (rep_with(records={"prompt_tokens": [512], "wall_ns": [1, 2]}), "E_COLUMN_LENGTH"),
    "empty columns": (rep_with(records={"prompt_tokens": [], "wall_ns": []}), "E_COLUMN_LENGTH"),
    "a duration of zero": (rep_with(records={"prompt_tokens": [512], "wall_ns": [0]}), "E_ZERO_TIME"),
    "a sample longer than its repetition": (rep_with(wall_ns=1), "E_WALL"),
    "a first token after the end": (dump(stream_round_body("next", ttft_ns=512, e2e_ns=498)), "E_TTFT_AFTER_END"),
    "a metric without its records": (rep_with(metrics=["prefill_tok_s", "ttft"]), "E_RECORDS_MISSING"),
    "only a warm-up": (rep_with(warmup=True), "E_ARM_UNMEASURED"),
    "a repetition of no arm": (rep_with(arm="candidate"), "E_ARM_UNKNOWN"),
    "one arm twice": (body_with(lambda body: body["arms"].append(body["arms"][0])), "E_ARM_TWICE"),
    "two arms in one run": (body_with(one_run_of_two_arms), "E_ORDER"),
    "runs out of order": (
        body_with(lambda body: body["reps"].insert(0, {**body["reps"][0], "order": 5})), "E_ORDER"
    ),
    "a noise round of two codes": (body_with(noise_of_two_codes), "E_NOISE_ARMS"),
    "a source that is not attached": (rep_with(source={"attachment": "log.txt", "row": 0}), "E_ATTACHMENT"),
    "parity twice for one depth": (
        body_with(lambda body: body.update(parity=[{"arm": "main", "depth": 4, "trials": 512}] * 2)), "E_PARITY_TWICE"
    ),
    "a guard that was not measured": (
        body_with(lambda body: body.update(guards=[{"metric": "ttft", "context": 512}])), "E_GUARD_UNMEASURED"
    ),
    "a node that the key may not speak for": (dump(round_body("next", node="n2")), "E_NODE"),
    "the id of another round": (dump(round_body("round-2", wall_ns=7)), "E_ID_CONFLICT"),
}  # fmt: skip


def test_the_round_that_the_others_are_made_from_is_accepted(desk: Desk) -> None:
    done = desk.append(desk.file("round.json", TEXT))
    assert done.status == 0, done.stderr
    assert done.document()["tree_size"] == SIZE + 1


@pytest.mark.parametrize("name", ROUNDS)
def test_a_malformed_round_is_refused_with_status_5_and_nothing_is_written(desk: Desk, name: str) -> None:
    data, code = ROUNDS[name]
    path = desk.file("round.json", data)
    with nothing_written(desk):
        expect_error(desk.append(path), 5, code)


def test_a_good_round_is_not_sealed_beside_a_bad_one(desk: Desk) -> None:
    good = desk.file("good.json", TEXT)
    bad = desk.file("bad.json", dump(round_body("other", node="n2")))
    with nothing_written(desk):
        done = desk.append(good, bad)
        expect_error(done, 5, "E_NODE")
        assert done.document()["error"]["where"].startswith(str(bad))


def test_a_refused_round_is_refused_in_a_process_of_its_own_too(desk: Desk) -> None:
    path = desk.file("round.json", ROUNDS["a first token after the end"][0])
    words = ("append", path, "--key", desk.scorer, "--ledger-key", desk.ledger_key, "-C", desk.ledger, "--json")
    with nothing_written(desk):
        expect_error(commands.run_process(*words), 5, "E_TTFT_AFTER_END")


# ---- Attested statements.


def forge(desk: Desk) -> Forgery:
    return Forgery.of(desk.ledger)


def honest(desk: Desk) -> SignedStatement:
    return forge(desk).state("round", round_body("next"), SCORER_1)


def envelope(desk: Desk, **members: object) -> bytes:
    value: JsonObject = orjson.loads(export_envelope(honest(desk)))
    return dump({**value, **members})


def forged_signature(desk: Desk) -> bytes:
    own = honest(desk)
    other = forge(desk).state("round", round_body("other"), SCORER_1)
    return export_envelope(replace(own, signatures=other.signatures))


def by(key: PrivateKey) -> Callable[[Desk], bytes]:
    return lambda desk: export_envelope(forge(desk).state("round", round_body("next"), key))


def on_a_state_that_never_was(desk: Desk) -> bytes:
    forgery = forge(desk)
    basis = replace(forgery.basis(), root=bytes(32))
    return export_envelope(forgery.state("round", round_body("next"), SCORER_1, basis=basis))


def with_a_number_used_before(desk: Desk) -> bytes:
    forgery = forge(desk)
    producer = replace(forgery.producer(SCORER_1), seq=0, prev=None)
    return export_envelope(forgery.state("round", round_body("next"), SCORER_1, producer=producer))


def role_change(*signers: int) -> Callable[[Desk], bytes]:
    body = {"changes": [grant(OUTSIDER.public, "n1")]}
    return lambda desk: export_envelope(forge(desk).state("keys", body, *(MAINTAINERS[at] for at in signers)))


def payload_of(raw: bytes) -> Callable[[Desk], bytes]:
    """An envelope around other bytes: they are refused before anybody asks for the signature."""
    return lambda desk: export_envelope(replace(honest(desk), statement=replace(honest(desk).statement, raw=raw)))


ENVELOPES: dict[str, tuple[Callable[[Desk], bytes], str]] = {
    "garbage": (lambda _: b"\x00\x01garbage", "E_JSON"),
    "nothing": (lambda _: b"", "E_JSON"),
    "a list": (lambda _: b"[]", "E_ENVELOPE"),
    "a round that is not attested": (lambda _: TEXT, "E_ENVELOPE"),
    "another payload type": (lambda desk: envelope(desk, payloadType="application/json"), "E_ENVELOPE"),
    "no signatures": (lambda desk: envelope(desk, signatures=[]), "E_ENVELOPE"),
    "a signature without a key": (lambda desk: envelope(desk, signatures=[{"sig": "AA=="}]), "E_ENVELOPE"),
    "a signature that is too short": (
        lambda desk: envelope(desk, signatures=[{"keyid": SCORER_1.public.keyid, "sig": "AA=="}]), "E_ENVELOPE"
    ),
    "a payload in two alphabets": (lambda desk: envelope(desk, payload="+-__"), "E_BASE64"),
    "a payload with loose bits": (lambda desk: envelope(desk, payload="QUJ="), "E_BASE64"),
    "a payload that is not JSON": (payload_of(b"hello"), "E_JSON"),
    "a payload with white space": (payload_of(b'{"_type": 1}'), "E_CANONICAL"),
    "a payload that is no statement": (payload_of(b"{}"), "E_STATEMENT"),
    "a signature of another statement": (forged_signature, "E_SIGNATURE"),
    "a key that was never granted": (by(OUTSIDER), "E_KEY_UNKNOWN"),
    "a key that was revoked": (by(REVOKED), "E_KEY_REVOKED"),
    "a scorer of another node": (by(SCORER_2), "E_NODE"),
    "a maintainer": (by(MAINTAINERS[0]), "E_ROLE"),
    "a state that never was": (on_a_state_that_never_was, "E_BASIS"),
    "a number used before": (with_a_number_used_before, "E_SEQ_TAKEN"),
    "too few maintainers": (role_change(0), "E_THRESHOLD"),
}  # fmt: skip


def test_the_statement_that_the_others_are_made_from_is_sealed(desk: Desk) -> None:
    done = desk.seal(desk.file("next.json", envelope(desk)))
    assert done.status == 0, done.stderr
    done = desk.seal(desk.file("keys.json", role_change(0, 2)(desk)))
    assert (done.status, done.document()["tree_size"]) == (0, SIZE + 2)


@pytest.mark.parametrize("name", ENVELOPES)
def test_a_bad_envelope_is_refused_with_status_5_and_nothing_is_written(desk: Desk, name: str) -> None:
    make, code = ENVELOPES[name]
    path = desk.file("statement.json", make(desk))
    with nothing_written(desk):
        expect_error(desk.seal(path), 5, code)


def test_a_kind_of_a_newer_release_is_not_sealed_and_not_called_wrong(desk: Desk) -> None:
    signed = forge(desk).state("ticket", {"expires": "2026-12-01T00:00:00Z"}, SCORER_1)
    path = desk.file("ticket.json", export_envelope(signed))
    with nothing_written(desk):
        expect_error(desk.seal(path), 4, "E_KIND_UNKNOWN")


def test_one_signature_given_twice_never_spoils_the_ledger(desk: Desk) -> None:
    value = orjson.loads(envelope(desk))
    done = desk.seal(desk.file("twice.json", dump({**value, "signatures": value["signatures"] * 2})))
    assert done.status in {0, 5}, done.stderr
    assert verify(DirectoryStore(desk.ledger)).findings == []
    open_log(desk.ledger).append([round_draft("and-on-it-goes")])


def test_one_key_given_twice_never_spoils_the_ledger(desk: Desk) -> None:
    done = desk.append(desk.file("round.json", TEXT), "--key", desk.scorer)
    assert done.status in {0, 5}, done.stderr
    assert verify(DirectoryStore(desk.ledger)).findings == []
    open_log(desk.ledger).append([round_draft("and-on-it-goes")])


def test_one_maintainer_twice_does_not_meet_the_threshold(desk: Desk) -> None:
    value = orjson.loads(role_change(0)(desk))
    path = desk.file("twice.json", dump({**value, "signatures": value["signatures"] * 2}))
    with nothing_written(desk):
        assert desk.seal(path).status == 5


def test_more_signers_than_a_receipt_may_have_are_refused(desk: Desk) -> None:
    # The published schema of a receipt allows 64: a receipt that is sealed must satisfy it.
    many = [make_key(f"contributor {number}") for number in range(65)]
    log = open_log(desk.ledger)
    body = {"changes": [grant(key.public, role="contributor") for key in many]}
    log.append([forge(desk).state("keys", body, *MAINTAINERS[:2])])
    path = desk.file("many.json", export_envelope(forge(desk).state("round", round_body("next"), *many)))
    with nothing_written(desk):
        assert desk.seal(path).status == 5


# ---- What could not be told.


def missing_key(desk: Desk) -> Outcome:
    return desk.append(desk.file("round.json", TEXT), key=desk.spare / "nobody")


def folder_as_key(desk: Desk) -> Outcome:
    return desk.append(desk.file("round.json", TEXT), key=desk.spare)


def readable_key(desk: Desk) -> Outcome:
    return desk.append(desk.file("round.json", TEXT), key=commands.write_key(desk.spare / "open", SCORER_1, mode=0o644))


def readable_ledger_key(desk: Desk) -> Outcome:
    return desk.append(
        desk.file("round.json", TEXT), ledger_key=commands.write_key(desk.spare / "open", LEDGER, mode=0o640)
    )


def locked_key(desk: Desk) -> Outcome:
    key = commands.write_key(desk.spare / "locked", SCORER_1, passphrase=b"secret")
    return desk.append(desk.file("round.json", TEXT), key=key)


def locked_ledger_key(desk: Desk) -> Outcome:
    key = commands.write_key(desk.spare / "locked", LEDGER, passphrase=b"secret")
    return desk.append(desk.file("round.json", TEXT), ledger_key=key)


def missing_ledger_key(desk: Desk) -> Outcome:
    return desk.append(desk.file("round.json", TEXT), ledger_key=desk.spare / "nobody")


def foreign_ledger_key(desk: Desk) -> Outcome:
    return desk.append(
        desk.file("round.json", TEXT), ledger_key=commands.write_key(desk.spare / "other", make_key("other"))
    )


def unnamed_ledger_key(desk: Desk) -> Outcome:
    path = desk.file("round.json", TEXT)
    return commands.run("append", path, "--key", desk.scorer, "-C", desk.ledger, "--json")


def missing_round(desk: Desk) -> Outcome:
    return desk.append(desk.spare / "nothing.json")


def missing_envelope(desk: Desk) -> Outcome:
    return desk.seal(desk.spare / "nothing.json")


UNAVAILABLE: dict[str, tuple[Callable[[Desk], Outcome], str]] = {
    "the key file is missing": (missing_key, "E_IO"),
    "the key file is a folder": (folder_as_key, "E_IO"),
    "others can read the key": (readable_key, "E_KEY_MODE"),
    "others can read the ledger's key": (readable_ledger_key, "E_KEY_MODE"),
    "the key is encrypted": (locked_key, "E_PASSPHRASE"),
    "the ledger's key is encrypted": (locked_ledger_key, "E_PASSPHRASE"),
    "the ledger's key file is missing": (missing_ledger_key, "E_IO"),
    "the ledger's key is of another ledger": (foreign_ledger_key, "E_LEDGER_KEY"),
    "nobody names the ledger's key": (unnamed_ledger_key, "E_LEDGER_KEY_MISSING"),
    "the round file is missing": (missing_round, "E_IO"),
    "the envelope is missing": (missing_envelope, "E_IO"),
}


@pytest.mark.parametrize("name", UNAVAILABLE)
def test_what_cannot_be_told_exits_4_and_nothing_is_written(desk: Desk, name: str) -> None:
    act, code = UNAVAILABLE[name]
    with nothing_written(desk):
        expect_error(act(desk), 4, code)


def test_a_wrong_passphrase_exits_4(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUNGBOOK_PASSPHRASE", "not the secret")
    with nothing_written(desk):
        expect_error(locked_key(desk), 4, "E_PASSPHRASE")


def test_the_right_passphrase_opens_the_key(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUNGBOOK_PASSPHRASE", "secret")
    assert locked_key(desk).status == 0


@contextmanager
def held_by_another_process(lock: Path) -> Iterator[None]:
    """Another process holds the lock until the block ends."""
    lock.parent.mkdir(exist_ok=True)
    script = (
        "import fcntl, sys\nlock = open(sys.argv[1], 'a')\nfcntl.flock(lock, fcntl.LOCK_EX)\n"
        "print('held', flush=True)\nsys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, lock], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        yield
        holder.communicate()


def test_a_held_lock_exits_4_after_its_timeout_and_works_when_it_is_free(desk: Desk) -> None:
    path = desk.file("round.json", TEXT)
    with held_by_another_process(desk.ledger / ".rungbook" / "lock"), nothing_written(desk):
        done = desk.append(path, "--lock-timeout", "0.2")
        expect_error(done, 4, "E_LOCKED")
        assert "0.2 s" in done.document()["error"]["message"]
    assert desk.append(path, "--lock-timeout", "0.2").status == 0


def test_reading_needs_no_lock(desk: Desk) -> None:
    with held_by_another_process(desk.ledger / ".rungbook" / "lock"):
        assert commands.run("verify", "-C", desk.ledger).status == 0


def test_no_ledger_exits_4(tmp_path: Path) -> None:
    for command in ("verify", "log"):
        expect_error(commands.run(command, "--json", "-C", tmp_path), 4, "E_NO_LEDGER")
