"""What may follow: numbering, place and form of a statement, judged as the writer and the verifier do."""

from __future__ import annotations

import itertools
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from ledger.admission import Numbering
from ledger.errors import LedgerError
from ledger.store.directory import DirectoryStore
from ledger.verify import verify
from tests.support.attacker import Forgery
from tests.support.ledgers import (
    CONTRIBUTOR,
    MAINTAINERS,
    REVOKED,
    SCORER_1,
    SCORER_2,
    SIZE,
    build_ledger,
    grant,
    keys_draft,
    make_key,
    open_log,
    round_draft,
    start_small_ledger,
)
from tests.support.rounds import round_body

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ledger.canonical import JsonObject
    from ledger.keys import PrivateKey
    from ledger.statement import SignedStatement
    from ledger.verified import Finding, Verification


def identity(number: int) -> bytes:
    return bytes([number]) * 32


def claim(number: int) -> str:
    return identity(number).hex()


def code_of(act: Callable[[], object]) -> str:
    with pytest.raises(LedgerError) as caught:
        act()
    return caught.value.code


class TestNumbering:
    def test_it_continues_from_zero(self) -> None:
        numbering = Numbering()
        for seq in range(4):
            prev = claim(seq - 1) if seq else None
            numbering.check(seq, prev, identity(seq))
            numbering.add(seq, prev, identity(seq))
        assert (numbering.last, numbering.gaps()) == (3, [])

    @pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
    def test_any_order_of_arrival_ends_without_a_gap(self, order: tuple[int, ...]) -> None:
        numbering = Numbering()
        for count, seq in enumerate(order, start=1):
            prev = claim(seq - 1) if seq else None
            numbering.check(seq, prev, identity(seq))
            numbering.add(seq, prev, identity(seq))
            arrived = set(order[:count])
            missing = [n for first, last in numbering.gaps() for n in range(first, last + 1)]
            assert missing == [n for n in range(max(arrived)) if n not in arrived]
        assert numbering.last == 3

    def test_a_number_is_used_once(self) -> None:
        numbering = Numbering()
        numbering.add(0, None, identity(0))
        assert code_of(lambda: numbering.check(0, None, identity(9))) == "E_SEQ_TAKEN"

    @pytest.mark.parametrize(("seq", "prev"), [(0, claim(7)), (1, None), (5, None)])
    def test_only_the_first_has_no_predecessor(self, seq: int, prev: str | None) -> None:
        assert code_of(lambda: Numbering().check(seq, prev, identity(9))) == "E_PREV_STATEMENT"

    def test_the_predecessor_is_the_one_in_the_ledger(self) -> None:
        numbering = Numbering()
        numbering.add(0, None, identity(0))
        assert code_of(lambda: numbering.check(1, claim(7), identity(1))) == "E_PREV_STATEMENT"

    def test_a_late_statement_is_the_one_that_its_follower_names(self) -> None:
        numbering = Numbering()
        numbering.add(2, claim(1), identity(2))
        assert code_of(lambda: numbering.check(1, claim(0), identity(9))) == "E_PREV_STATEMENT"
        numbering.check(1, claim(0), identity(1))

    def test_a_late_statement_must_fit_on_both_sides(self) -> None:
        numbering = Numbering()
        numbering.add(0, None, identity(0))
        numbering.add(2, claim(1), identity(2))
        assert code_of(lambda: numbering.check(1, claim(7), identity(1))) == "E_PREV_STATEMENT"
        numbering.check(1, claim(0), identity(1))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ledger of `build_ledger`: to be read only."""
    folder = tmp_path_factory.mktemp("admission")
    build_ledger(folder)
    return folder


@pytest.fixture
def forgery(built: Path, tmp_path: Path) -> Forgery:
    """A copy, to be continued."""
    shutil.copytree(built, tmp_path / "ledger")
    return Forgery.of(tmp_path / "ledger")


def judge(forgery: Forgery, *signed: SignedStatement) -> Verification:
    """What the verifier says when these are sealed next."""
    for item in signed:
        forgery.add(item)
    forgery.seal()
    return verify(DirectoryStore(forgery.folder))


def first_finding(result: Verification) -> Finding:
    assert result.findings
    return result.findings[0]


class TestBasis:
    def test_every_earlier_state_will_do(self, forgery: Forgery) -> None:
        bases = [forgery.basis(size) for size in range(SIZE + 1)]
        for size, basis in enumerate(bases):
            forgery.add(forgery.state("round", round_body(f"on-{size}"), SCORER_1, basis=basis))
        assert judge(forgery).findings == []

    def test_the_state_must_come_before_the_statement(self, forgery: Forgery) -> None:
        future = Forgery(forgery.folder, [*forgery.signed], [*forgery.times])
        future.add(forgery.state("round", round_body("a"), SCORER_1))
        signed = forgery.state("round", round_body("b", node="n2"), SCORER_2, basis=future.basis())
        finding = first_finding(judge(forgery, signed))
        assert (finding.code, finding.where, finding.index) == ("E_BASIS", "/predicate/basis", SIZE)


class TestAttested:
    def test_it_depends_on_the_role_at_the_index(self, forgery: Forgery) -> None:
        by_both = forgery.state("round", round_body("a"), SCORER_1, CONTRIBUTOR)
        result = judge(forgery, by_both)
        assert result.log is not None
        by_contributor = forgery.state("round", round_body("b"), CONTRIBUTOR)
        result = judge(forgery, by_contributor)
        assert result.log is not None
        assert [entry.attested for entry in result.log.entries[-2:]] == [True, False]


class TestNumbersOfAProducer:
    """The producer is named in the statement; other signers' numbers are not touched."""

    def test_a_cosigner_keeps_its_own_numbers(self, forgery: Forgery) -> None:
        forgery.add(forgery.state("round", round_body("a"), SCORER_1, CONTRIBUTOR))
        result = judge(forgery, forgery.state("round", round_body("b"), CONTRIBUTOR))
        assert (result.findings, result.flags) == ([], [])

    def test_they_may_arrive_in_any_order(self, forgery: Forgery) -> None:
        ahead = Forgery(forgery.folder, [*forgery.signed], [*forgery.times])
        statements = []
        for name in "abcd":
            statements.append(ahead.state("round", round_body(name), SCORER_1, basis=forgery.basis()))
            ahead.add(statements[-1])
        result = judge(forgery, *(statements[at] for at in (2, 0, 3, 1)))
        assert (result.findings, result.flags) == ([], [])

    def test_gaps_are_told_for_each_key(self, forgery: Forgery) -> None:
        for key, skipped in ((SCORER_1, 1), (SCORER_2, 3)):
            number = forgery.producer(key).seq
            far = replace(forgery.producer(key), seq=number + skipped, prev=bytes(32))
            forgery.add(forgery.state("round", round_body(f"far-{skipped}", node=node_of(key)), key, producer=far))
        flags = judge(forgery).flags
        assert sorted(flag.code for flag in flags) == ["F_SEQ_GAP"] * 2
        told = {key.public.keyid: flag.message for flag in flags for key in (SCORER_1, SCORER_2) if key_in(key, flag)}
        assert "statements 2 " in told[SCORER_1.public.keyid]
        assert "statements 2 to 4 " in told[SCORER_2.public.keyid]


def node_of(key: object) -> str:
    return "n1" if key is SCORER_1 else "n2"


def key_in(key: PrivateKey, flag: Finding) -> bool:
    return key.public.keyid in flag.message


class TestPlaces:
    """A finding says where in the receipt."""

    def test_of_a_signature(self, forgery: Forgery) -> None:
        signed = forgery.state("round", round_body("a"), SCORER_1, CONTRIBUTOR)
        own = [item.keyid for item in signed.signatures].index(SCORER_1.public.keyid)
        nobody = replace(signed.signatures[own], keyid=make_key("nobody").public.keyid)
        signatures = sorted([signed.signatures[1 - own], nobody], key=lambda item: item.keyid)
        finding = first_finding(judge(forgery, replace(signed, signatures=tuple(signatures))))
        assert (finding.code, finding.where) == ("E_KEY_UNKNOWN", f"/signatures/{signatures.index(nobody)}")

    def test_of_a_member(self, forgery: Forgery) -> None:
        body = round_body("a")
        body["reps"][0]["wall_ns"] = "1"
        finding = first_finding(judge(forgery, forgery.state("round", body, SCORER_1)))
        assert (finding.code, finding.where) == ("E_SCHEMA", "/predicate/round/reps/0/wall_ns")

    def test_of_a_sample(self, forgery: Forgery) -> None:
        body = round_body("a")
        body["reps"][0]["records"]["wall_ns"] = [0]
        finding = first_finding(judge(forgery, forgery.state("round", body, SCORER_1)))
        assert finding.code == "E_ZERO_TIME"
        assert finding.where.endswith("/reps/0/records/wall_ns/0")


def test_a_bad_signature_is_the_first_reason(forgery: Forgery) -> None:
    # Of a statement that its producer has not signed, nothing else may be said of the producer.
    body = {**round_body("a"), "extra": 1}
    signed = forgery.state("round", body, REVOKED)
    other = forgery.state("round", round_body("b"), REVOKED)
    result = judge(forgery, replace(signed, signatures=other.signatures))
    assert [(item.code, item.index) for item in result.findings] == [("E_SIGNATURE", SIZE)]


def test_a_keys_statement_about_another_ledger_is_refused_by_both(forgery: Forgery) -> None:
    def edit(value: JsonObject) -> None:
        value["subject"][0]["digest"]["sha256"] = "0" * 64

    body = {"changes": [grant(make_key("new").public, "n1")]}
    signed = forgery.state("keys", body, *MAINTAINERS[:2], edit=edit)
    with pytest.raises(LedgerError) as caught:
        open_log(forgery.folder).append([signed])
    assert caught.value.code == "E_SUBJECT"
    assert first_finding(judge(forgery, signed)).code == "E_SUBJECT"


def test_a_change_of_roles_holds_for_the_next_statement_of_its_group(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    start_small_ledger(log)
    new = make_key("new scorer")
    sealed = log.append([keys_draft(grant(new.public, "n7")), round_draft("first", new, node="n7")])
    assert [item.index for item in sealed] == [2, 3]
    assert verify(DirectoryStore(tmp_path)).findings == []


def test_a_change_of_roles_does_not_hold_for_the_statement_before_it(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    start_small_ledger(log)
    new = make_key("new scorer")
    with pytest.raises(LedgerError) as caught:
        log.append([round_draft("first", new, node="n7"), keys_draft(grant(new.public, "n7"))])
    assert (caught.value.code, caught.value.where) == ("E_KEY_UNKNOWN", "/0/signatures/0")
