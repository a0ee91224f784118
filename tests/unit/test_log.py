"""The only writer: idempotent, a group at a time, and never on top of what it has not checked."""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ledger import snapshot as snapshots
from ledger.admission import State
from ledger.caches import Caches
from ledger.checkpoint import parse_checkpoint
from ledger.draft import Draft
from ledger.errors import ConflictError, LedgerError, MalformedError, RefusedError, StorageError, VerificationError
from ledger.log import MAX_GROUP, Log
from ledger.receipt import decode_receipt
from ledger.store.directory import DirectoryStore
from ledger.verify import verify
from tests.support.attacker import Forgery
from tests.support.files import (
    checkpoint_path,
    edit_receipt,
    flip_bit,
    read_receipts,
    receipt_path,
    snapshot,
    swap_text,
)
from tests.support.ledgers import (
    CONTRIBUTOR,
    LEDGER,
    ORIGIN,
    OUTSIDER,
    REVOKED,
    ROOT,
    SCORER_1,
    Clock,
    MemoryAnchor,
    genesis_body,
    genesis_draft,
    grant,
    keys_draft,
    open_log,
    revoke,
    round_draft,
    round_ids,
    start_small_ledger,
)
from tests.support.rounds import round_body, stream_round_body

if TYPE_CHECKING:
    from ledger.examine import Claim
    from ledger.statement import SignedStatement

BEGUN = 3
"""Receipts of the ledger that these tests start with: genesis, grant, `first`."""
IMPOSSIBLE = stream_round_body("bad", ttft_ns=2, e2e_ns=1)


@pytest.fixture(scope="module")
def pattern(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pattern")
    log = open_log(folder)
    start_small_ledger(log)
    log.append([round_draft("first")])
    return folder


@pytest.fixture
def folder(pattern: Path, tmp_path: Path) -> Path:
    """Genesis, the grant of one scorer, one round."""
    return Path(shutil.copytree(pattern, tmp_path / "ledger"))


@pytest.fixture
def log(folder: Path) -> Log:
    """A writer that lives as long as the test."""
    return open_log(folder)


def attested(folder: Path, name: str, wall_ns: int = 1_000_000) -> SignedStatement:
    """A statement that a scorer has signed and not handed in yet."""
    return Forgery.of(folder).state("round", round_body(name, wall_ns=wall_ns), SCORER_1)


def ids(folder: Path) -> list[str]:
    """Ids of the rounds of a ledger that verifies without a gap; every new writer's clock starts anew here."""
    result = verify(DirectoryStore(folder))
    assert result.findings == []
    assert {flag.code for flag in result.flags} <= {"F_CLOCK_BACK"}
    assert result.log is not None
    return round_ids(result.log)


class TestCreate:
    def test_it_makes_receipt_0_and_a_checkpoint(self, tmp_path: Path) -> None:
        sealed = open_log(tmp_path).create(ORIGIN, genesis_draft())
        raw = read_receipts(tmp_path)[0]
        assert (sealed.index, sealed.digest, sealed.existed) == (0, hashlib.sha256(raw).digest(), False)
        assert decode_receipt(raw).statement.identity == sealed.identity
        assert parse_checkpoint(checkpoint_path(tmp_path).read_bytes()).size == 1

    def test_there_is_one_ledger_in_a_folder(self, folder: Path) -> None:
        before = snapshot(folder)
        with pytest.raises(RefusedError) as caught:
            open_log(folder).create("ledger.example/another", genesis_draft())
        assert caught.value.code == "E_LEDGER_EXISTS"
        assert snapshot(folder) == before

    @pytest.mark.parametrize(
        ("draft", "code"),
        [
            (Draft(kind="genesis", body=genesis_body(), signers=[OUTSIDER]), "E_ROLE"),
            (Draft(kind="genesis", body={**genesis_body(), "motto": "x"}, signers=[ROOT]), "E_SCHEMA"),
            (Draft(kind="genesis", body=genesis_body(threshold=2), signers=[ROOT]), "E_THRESHOLD"),
            (Draft(kind="genesis", body=genesis_body(), signers=[ROOT, ROOT]), "E_DUPLICATE_SIGNER"),
        ],
    )
    def test_a_bad_genesis_leaves_nothing_and_the_next_one_works(self, tmp_path: Path, draft: Draft, code: str) -> None:
        log = open_log(tmp_path)
        with pytest.raises((RefusedError, MalformedError)) as caught:
            log.create(ORIGIN, draft)
        assert caught.value.code == code
        assert snapshot(tmp_path) == {}
        assert log.create(ORIGIN, genesis_draft()).index == 0

    def test_what_lies_in_the_folder_uncommitted_is_set_aside(self, tmp_path: Path) -> None:
        receipt_path(tmp_path, 0).parent.mkdir(parents=True)
        receipt_path(tmp_path, 0).write_bytes(b"half of a genesis")
        notices: list[str] = []
        open_log(tmp_path, notice=notices.append).create(ORIGIN, genesis_draft())
        assert any("receipt file 0 was never committed" in notice for notice in notices)
        assert verify(DirectoryStore(tmp_path)).findings == []

    def test_appending_without_a_ledger_is_status_4(self, tmp_path: Path) -> None:
        with pytest.raises(StorageError) as caught:
            open_log(tmp_path).append([round_draft("a")])
        assert caught.value.code == "E_NO_LEDGER"


class TestAgain:
    """Doing it again returns the receipt that exists, and writes nothing."""

    @pytest.mark.parametrize("reopened", [False, True])
    def test_the_same_statement(self, folder: Path, log: Log, *, reopened: bool) -> None:
        signed = attested(folder, "a")
        (first,) = log.append([signed])
        before = snapshot(folder)
        (again,) = (open_log(folder) if reopened else log).append([signed])
        assert again == replace(first, existed=True)
        assert snapshot(folder) == before

    @pytest.mark.parametrize("reopened", [False, True])
    def test_the_same_round_by_draft(self, folder: Path, log: Log, *, reopened: bool) -> None:
        (first,) = log.append([round_draft("a")])
        before = snapshot(folder)
        (again,) = (open_log(folder) if reopened else log).append([round_draft("a")])
        assert again == replace(first, existed=True)
        assert snapshot(folder) == before

    def test_the_same_round_attested_first_and_drafted_later(self, folder: Path, log: Log) -> None:
        (first,) = log.append([attested(folder, "a")])
        assert log.append([round_draft("a")]) == [replace(first, existed=True)]

    def test_twice_in_one_group(self, folder: Path, log: Log) -> None:
        signed = attested(folder, "a")
        sealed = log.append([signed, signed, round_draft("b"), round_draft("b")])
        assert [(item.index, item.existed) for item in sealed] == [(3, False), (3, True), (4, False), (4, True)]
        assert sealed[0].digest == sealed[1].digest
        assert ids(folder) == ["first", "a", "b"]

    def test_old_and_new_in_one_group(self, folder: Path, log: Log) -> None:
        sealed = log.append([round_draft("a"), round_draft("first"), round_draft("b")])
        assert [(item.index, item.existed) for item in sealed] == [(3, False), (2, True), (4, False)]
        assert ids(folder) == ["first", "a", "b"]

    def test_with_more_signatures(self, folder: Path, log: Log) -> None:
        log.append([keys_draft(grant(CONTRIBUTOR.public, role="contributor"))])
        signed = attested(folder, "a")
        (first,) = log.append([signed])
        assert log.append([signed.cosign(CONTRIBUTOR)]) == [replace(first, existed=True)]
        assert len(decode_receipt(read_receipts(folder)[first.index]).signed.signatures) == 1

    def test_the_same_id_with_other_contents_is_refused(self, folder: Path, log: Log) -> None:
        before = snapshot(folder)
        for item in (round_draft("first", wall_ns=7), attested(folder, "first", wall_ns=7)):
            with pytest.raises(RefusedError) as caught:
                log.append([item])
            assert caught.value.code == "E_ID_CONFLICT"
        assert snapshot(folder) == before

    def test_a_round_that_somebody_else_sealed_as_merely_measured_does_not_pass_for_a_scorers(
        self, folder: Path, log: Log
    ) -> None:
        # Whoever sees a scorer's round before it is sealed could hand it in under his own name, and the scorer would
        # be told that it is sealed: it would never count as attested.
        log.append([keys_draft(grant(CONTRIBUTOR.public, role="contributor"))])
        signed = attested(folder, "a")
        log.append([round_draft("a", CONTRIBUTOR)])
        try:
            (told,) = log.append([signed])
        except RefusedError as err:
            assert err.code == "E_ID_CONFLICT"  # noqa: PT017 - either outcome is right, a false promise is not
            return
        result = verify(DirectoryStore(folder))
        assert result.log is not None
        assert result.log.entries[told.index].attested

    def test_a_change_of_roles_is_never_taken_for_an_earlier_one(self, folder: Path, log: Log) -> None:
        # Granting, revoking and granting again are three statements, though two of them say the same.
        changes = [grant(OUTSIDER.public, "n2"), revoke(OUTSIDER.public), grant(OUTSIDER.public, "n2")]
        sealed = [log.append([keys_draft(change)])[0] for change in changes]
        assert [(item.index, item.existed) for item in sealed] == [(3, False), (4, False), (5, False)]
        assert log.append([round_draft("a", OUTSIDER, node="n2")])[0].index == 6
        assert ids(folder) == ["first", "a"]


class TestGroup:
    """All of it or none."""

    @pytest.mark.parametrize("position", [0, 1, 2])
    @pytest.mark.parametrize(
        ("bad", "code"),
        [
            (round_draft("bad", node="n2"), "E_NODE"),
            (round_draft("bad", OUTSIDER), "E_KEY_UNKNOWN"),
            (round_draft("first", wall_ns=7), "E_ID_CONFLICT"),
            (Draft(kind="round", body={**round_body("bad"), "x": 1}, signers=[SCORER_1]), "E_SCHEMA"),
            (Draft(kind="round", body=IMPOSSIBLE, signers=[SCORER_1]), "E_TTFT_AFTER_END"),
            (keys_draft(revoke(OUTSIDER.public)), "E_NOT_GRANTED"),
            (keys_draft(grant(OUTSIDER.public, "n1"), signers=[SCORER_1]), "E_ROLE"),
            (Draft(kind="round", body=round_body("bad"), signers=[SCORER_1, SCORER_1]), "E_DUPLICATE_SIGNER"),
        ],
    )  # fmt: skip
    def test_one_bad_statement_stops_it_and_the_writer_goes_on(
        self, folder: Path, log: Log, position: int, bad: Draft, code: str
    ) -> None:
        good = [round_draft("a"), round_draft("b")]
        before = snapshot(folder)
        with pytest.raises((RefusedError, MalformedError)) as caught:
            log.append([*good[:position], bad, *good[position:]])
        assert caught.value.code == code
        assert caught.value.where.startswith(f"/{position}")
        assert snapshot(folder) == before
        assert [item.index for item in log.append(good)] == [BEGUN, BEGUN + 1]
        assert ids(folder) == ["first", "a", "b"]  # without a gap in the numbers, too

    def test_alone_it_has_no_position(self, log: Log) -> None:
        with pytest.raises(RefusedError) as caught:
            log.append([round_draft("bad", node="n2")])
        assert caught.value.where == "/signatures"

    def test_a_bad_signature_is_bad_input_not_a_bad_ledger(self, folder: Path, log: Log) -> None:
        forged = replace(attested(folder, "a"), signatures=attested(folder, "b").signatures)
        with pytest.raises(RefusedError) as caught:
            log.append([round_draft("good"), forged])
        assert (caught.value.code, caught.value.where) == ("E_SIGNATURE", "/1")
        assert ids(folder) == ["first"]

    def test_one_signature_twice_is_not_sealed_twice(self, folder: Path, log: Log) -> None:
        signed = attested(folder, "a")
        try:
            log.append([replace(signed, signatures=signed.signatures * 2)])
        except LedgerError as err:
            assert isinstance(err, MalformedError | RefusedError)  # noqa: PT017 - accepting it once is right as well
        assert set(ids(folder)) <= {"first", "a"}

    def test_nothing_is_a_group_too(self, folder: Path, log: Log) -> None:
        before = snapshot(folder)
        assert log.append([]) == []
        assert snapshot(folder) == before

    def test_it_has_a_limit(self, folder: Path, log: Log) -> None:
        before = snapshot(folder)
        with pytest.raises(RefusedError) as caught:
            log.append([round_draft("a")] * (MAX_GROUP + 1))
        assert caught.value.code == "E_GROUP"
        assert snapshot(folder) == before

    def test_its_statements_share_a_basis_and_count_on(self, folder: Path, log: Log) -> None:
        root = parse_checkpoint(checkpoint_path(folder).read_bytes()).root.hex()
        log.append([round_draft(name) for name in "abc"])
        predicates = [decode_receipt(raw).statement.predicate for raw in read_receipts(folder)[BEGUN:]]
        assert [predicate["basis"] for predicate in predicates] == [{"root_hash": root, "tree_size": BEGUN}] * 3
        assert [predicate["producer"]["seq"] for predicate in predicates] == [1, 2, 3]

    def test_it_is_one_checkpoint(self, folder: Path) -> None:
        written: list[bytes] = []

        class Watched(DirectoryStore):
            def swap_checkpoint(self, old: bytes | None, new: bytes) -> None:
                super().swap_checkpoint(old, new)
                written.append(new)

        open_log(Watched(folder)).append([round_draft(name) for name in "abc"])
        assert [parse_checkpoint(raw).size for raw in written] == [BEGUN + 3]

    def test_an_interruption_between_two_thoughts_leaves_no_hole(
        self, folder: Path, log: Log, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        # The state has taken the statement in, and Control-C comes before the writer has noted that.
        log.append([])
        whole = State.add
        with monkeypatch.context() as patch:

            def interrupted(state: State, digest: bytes, claim: Claim) -> None:
                whole(state, digest, claim)
                raise KeyboardInterrupt

            patch.setattr(State, "add", interrupted)
            with pytest.raises(KeyboardInterrupt):
                log.append([round_draft("a")])
        assert [item.index for item in log.append([round_draft("b")])] == [BEGUN]
        assert ids(folder) == ["first", "b"]

    def test_every_receipt_has_the_time_of_its_sealing(self, folder: Path) -> None:
        log = open_log(folder, clock=Clock("2026-12-31T23:59:57+00:00"))
        log.append([round_draft(name) for name in "abc"])
        times = [decode_receipt(raw).seal.sealed_at for raw in read_receipts(folder)[BEGUN:]]
        assert times == ["2026-12-31T23:59:58Z", "2026-12-31T23:59:59Z", "2027-01-01T00:00:00Z"]

    def test_a_clock_of_another_zone_is_written_in_utc(self, folder: Path) -> None:
        open_log(folder, clock=Clock("2026-12-01T01:00:00+02:00")).append([round_draft("a")])
        assert decode_receipt(read_receipts(folder)[BEGUN]).seal.sealed_at == "2026-11-30T23:00:01Z"


class TestTwoWriters:
    def test_each_takes_up_what_the_other_sealed(self, folder: Path) -> None:
        anchor = MemoryAnchor()
        writers = [open_log(folder, anchor) for _ in range(2)]
        for number in range(6):
            (sealed,) = writers[number % 2].append([round_draft(f"round-{number}")])
            assert sealed.index == BEGUN + number
        assert ids(folder) == ["first", *(f"round-{number}" for number in range(6))]

    def test_one_waits_for_the_lock_and_says_so(self, folder: Path) -> None:
        store = DirectoryStore(folder)
        log = open_log(folder, lock_timeout_s=0.1)
        with store.lock(1), pytest.raises(ConflictError) as caught:
            log.append([round_draft("a")])
        assert caught.value.code == "E_LOCKED"
        assert log.append([round_draft("a")])[0].index == BEGUN

    def test_the_lock_is_free_after_a_refusal(self, folder: Path) -> None:
        with pytest.raises(RefusedError):
            open_log(folder).append([round_draft("bad", node="n2")])
        assert open_log(folder, lock_timeout_s=0).append([round_draft("a")])[0].index == BEGUN


class TestEvidence:
    """What is wrong with the ledger's own files is never blamed on the input."""

    def test_a_receipt_altered_behind_a_living_writer_is_refuted_when_it_is_read_again(
        self, folder: Path, log: Log
    ) -> None:
        log.append([])
        edit_receipt(folder, 2, lambda raw: raw[:-1])
        with pytest.raises(VerificationError):
            log.append([round_draft("first")])

    def test_a_receipt_replaced_behind_a_living_writer_is_not_taken_for_the_one_that_was_sealed(
        self, folder: Path, log: Log
    ) -> None:
        # It still says the same round, but it is not the file whose digest the writer has in its tree.
        log.append([])
        edit_receipt(folder, 2, swap_text("2026-11-29T20:", "2026-11-29T19:"))
        with pytest.raises(VerificationError):
            log.append([round_draft("first")])

    @pytest.mark.parametrize("index", [0, 1, 2])
    def test_a_receipt_that_is_gone_stops_the_writer(self, folder: Path, index: int) -> None:
        receipt_path(folder, index).unlink()
        before = snapshot(folder)
        with pytest.raises((StorageError, VerificationError)):
            open_log(folder).append([round_draft("a")])
        assert snapshot(folder) == before

    def test_a_receipt_of_a_newer_release_stops_the_writer_without_a_verdict(self, folder: Path) -> None:
        forgery = Forgery.of(folder)
        forgery.add(forgery.state("ticket", {}, SCORER_1))
        forgery.seal()
        with pytest.raises(LedgerError) as caught:
            open_log(folder).append([round_draft("a")])
        assert caught.value.code == "E_KIND_UNKNOWN"
        assert not isinstance(caught.value, VerificationError)


class TestSnapshot:
    """A snapshot saves time and decides nothing."""

    @pytest.fixture(autouse=True)
    def _soon(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(snapshots, "EVERY", 4)

    def open(self, folder: Path, anchor: MemoryAnchor | None = None) -> Log:
        store, kept = DirectoryStore(folder), anchor or MemoryAnchor()
        return Log(
            store,
            LEDGER,
            lambda _: kept,
            clock=Clock(),
            caches=Caches(snapshot=store.snapshot_file()),
        )

    @pytest.fixture
    def saved(self, folder: Path) -> Path:
        """The ledger with a snapshot of 7 receipts, the rounds `a` to `d` among them."""
        self.open(folder).append([round_draft(name) for name in "abcd"])
        assert self.file(folder).exists()
        return folder

    @staticmethod
    def file(folder: Path) -> Path:
        return DirectoryStore(folder).snapshot_file().path

    def check(self, folder: Path) -> None:
        """A new writer numbers, refuses and recognises as one without a snapshot would."""
        assert [item.index for item in self.open(folder).append([round_draft("e")])] == [7]
        assert [item.existed for item in self.open(folder).append([round_draft("a"), round_draft("e")])] == [True] * 2
        with pytest.raises(RefusedError) as caught:
            self.open(folder).append([round_draft("b", wall_ns=7)])
        assert caught.value.code == "E_ID_CONFLICT"
        assert ids(folder) == ["first", *"abcde"]

    def test_a_new_writer_goes_on_from_it(self, saved: Path) -> None:
        self.check(saved)

    def test_it_knows_the_roles(self, saved: Path) -> None:
        self.open(saved).append([keys_draft(grant(REVOKED.public, "n1"))])
        self.open(saved).append([keys_draft(revoke(REVOKED.public)), *(round_draft(f"x{n}") for n in range(4))])
        with pytest.raises(RefusedError) as caught:
            self.open(saved).append([round_draft("y", REVOKED)])
        assert caught.value.code == "E_KEY_REVOKED"

    @pytest.mark.parametrize("step", range(8))
    def test_a_damaged_one_is_not_used(self, saved: Path, step: int) -> None:
        path = self.file(saved)
        whole = path.read_bytes()
        path.write_bytes(flip_bit(whole, step * len(whole) // 8, step))
        self.check(saved)

    @pytest.mark.parametrize("size", [0, 1, 64, 65, 66, 400, -1])
    def test_half_of_one_is_not_used(self, saved: Path, size: int) -> None:
        path = self.file(saved)
        path.write_bytes(path.read_bytes()[:size])
        self.check(saved)

    @pytest.mark.parametrize("body", [b"", b"{}", b"[]", b"null", b'{"version":2}', b'{"version":1}', b"\xff"])
    def test_something_else_with_a_good_checksum_is_not_used(self, saved: Path, body: bytes) -> None:
        # Such as the snapshot of another release.
        self.file(saved).write_bytes(hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
        self.check(saved)

    def test_the_one_of_another_ledger_is_not_used(self, saved: Path, tmp_path: Path) -> None:
        other = tmp_path / "other"
        start_small_ledger(self.open(other))
        self.open(other).append([round_draft(f"other-{number}") for number in range(6)])
        shutil.copy(self.file(other), self.file(saved))
        self.check(saved)

    def test_the_one_of_another_history_is_not_used(self, saved: Path) -> None:
        fork = self.file(saved).read_bytes()
        forgery = Forgery.of(saved)
        forgery.drop(6)
        forgery.add(forgery.state("round", round_body("instead"), SCORER_1))
        forgery.seal()
        self.file(saved).write_bytes(fork)
        assert self.open(saved).append([round_draft("d")])[0].existed is False
        assert ids(saved) == ["first", *"abc", "instead", "d"]

    def test_one_that_is_ahead_is_not_used(self, saved: Path) -> None:
        forgery = Forgery.of(saved)
        forgery.drop(6)
        forgery.seal()  # an older copy was restored, and the anchor was given up
        assert self.open(saved).append([round_draft("d")])[0].existed is False
        assert ids(saved) == ["first", *"abcd"]

    def test_verification_does_not_look_at_it(self, saved: Path) -> None:
        edit_receipt(saved, 4, swap_text('"wall_ns":[1000000]', '"wall_ns":[1000001]'))
        self.open(saved).append([round_draft("e")])
        findings = verify(DirectoryStore(saved)).findings
        assert [(item.code, item.index) for item in findings[:2]] == [("E_SIGNATURE", 4), ("E_CHAIN", 5)]

    def test_it_is_written_when_it_spares_the_next_process_enough_and_not_for_every_receipt(self, saved: Path) -> None:
        written = []
        for number in range(9):
            before = self.file(saved).stat().st_mtime_ns, self.file(saved).stat().st_ino
            self.open(saved).append([round_draft(f"more-{number}")])
            after = self.file(saved).stat().st_mtime_ns, self.file(saved).stat().st_ino
            written.append(before != after)
        assert written == [False, False, False, True, False, False, False, True, False]

    def test_a_folder_that_cannot_hold_it_does_not_matter(self, folder: Path) -> None:
        self.file(folder).mkdir()
        self.open(folder).append([round_draft(name) for name in "abcd"])
        self.check(folder)
