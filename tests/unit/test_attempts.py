"""Attempts at a round: none vanishes, and a retry counts only where somebody has said why it was one."""

# ruff: noqa: N802 - the names of cases have capitals

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import pytest

from ledger import snapshot
from ledger.attempts import Attempts
from ledger.caches import Caches
from ledger.draft import Draft, sign_draft
from ledger.errors import LedgerError, MalformedError, RefusedError
from ledger.examine import examine
from ledger.kinds import body_subject, check_body
from ledger.loading import find_figure, read_state
from ledger.log import Log
from ledger.receipt import file_digest
from ledger.schema import validate
from ledger.scoring.replay import replay
from ledger.store.directory import DirectoryStore
from ledger.verify import verify
from tests.support.attacker import Forgery
from tests.support.files import read_receipts
from tests.support.ledgers import (
    CONTRIBUTOR,
    LEDGER,
    MAINTAINERS,
    SCORER_1,
    SCORER_2,
    SIZE,
    Clock,
    MemoryAnchor,
    build_ledger,
    open_log,
)
from tests.support.rounds import round_body, sha256_hex

if TYPE_CHECKING:
    from pathlib import Path

    from ledger.canonical import JsonObject
    from ledger.keys import PrivateKey

DIAG = "cudaErrorMemoryAllocation"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The ledger of `build_ledger`, to be continued."""
    build_ledger(tmp_path / "ledger")
    return tmp_path / "ledger"


def incident_body(round_id: str, attempt: int = 1, *, node: str = "n1", **members: Any) -> JsonObject:  # noqa: ANN401 - of any type
    """An attempt at a round of `round_body` that ended for lack of memory; None removes a member."""
    body = {
        "round": round_id,
        "attempt": attempt,
        "outcome": "infra",
        "slot": round_body(round_id, node=node)["slot"],
        "arms": round_body(round_id)["arms"],
        "diagnosis": DIAG,
    } | members
    return {name: value for name, value in body.items() if value is not None}


def incident(round_id: str, attempt: int = 1, *signers: PrivateKey, node: str = "n1", **members: Any) -> Draft:  # noqa: ANN401 - as above
    body = incident_body(round_id, attempt, node=node, **members)
    return Draft(kind="incident", body=body, signers=signers or [SCORER_1])


def attempt_at(round_id: str, attempt: int | None, *signers: PrivateKey, node: str = "n1") -> Draft:
    """The round itself, of one attempt; none when it does not say of which."""
    body = round_body(round_id, node=node, wall_ns=1_000_000 + 1000 * sum(round_id.encode()))
    return Draft(
        kind="round", body=body | ({} if attempt is None else {"attempt": attempt}), signers=signers or [SCORER_1]
    )


def seal(folder: Path, *drafts: Draft) -> list[int]:
    return [sealed.index for sealed in open_log(folder).append(drafts)]


def refusal(folder: Path, draft: Draft) -> tuple[str, str]:
    """Code and place of a refusal, which the writer and the verifier's own functions must give alike."""
    with pytest.raises(LedgerError) as written:
        seal(folder, draft)
    state = read_state(DirectoryStore(folder))
    with pytest.raises(LedgerError) as judged:
        state.admit(examine(sign_draft(state, draft, state.basis()), state.keys))
    assert str(judged.value) == str(written.value)
    return written.value.code, written.value.where


def holds(folder: Path) -> bool:
    return verify(DirectoryStore(folder)).log is not None


def test_C42_a_retry_after_a_diagnosed_failure_counts_and_shows_that_it_is_one(folder: Path) -> None:
    seal(folder, incident("R", 1), attempt_at("R", 2))
    log = verify(DirectoryStore(folder)).require_log()
    (rung,) = (item.rung for item in replay(log).judged if item.rung.id == "R")
    assert (rung.attempt, rung.index) == (2, SIZE + 1)
    assert rung.evidence == "attested"
    assert log.receipt(SIZE).statement.body["diagnosis"] == DIAG


def test_C42_a_retry_that_nothing_explains_is_no_measurement(folder: Path) -> None:
    seal(folder, incident("S", 1, diagnosis=None))
    assert refusal(folder, attempt_at("S", 2)) == ("E_RETRY_NO_DIAG", "/predicate/round/attempt")
    for vain in (" ", "\t\n", "\u00a0", "\u3000", "\u200b", " \u2060 "):
        with pytest.raises(RefusedError) as caught:
            seal(folder, incident("S", 1, diagnosis=vain))
        assert (caught.value.code, caught.value.where) == ("E_RETRY_NO_DIAG", "/predicate/incident/diagnosis")
    with pytest.raises(MalformedError) as empty:
        seal(folder, incident("S", 1, diagnosis=""))
    assert (empty.value.code, empty.value.where) == ("E_SCHEMA", "/predicate/incident/diagnosis")
    assert refusal(folder, attempt_at("never-announced", 2))[0] == "E_RETRY_NO_DIAG"
    seal(folder, incident("S", 1), attempt_at("S", 2))
    assert holds(folder)


def test_C42_an_attempt_that_was_signed_and_is_not_there_leaves_a_gap(folder: Path) -> None:
    state = read_state(DirectoryStore(folder))
    failed = sign_draft(state, incident("R", 1), state.basis())
    state.expect(examine(failed, state.keys))
    retried = sign_draft(state, attempt_at("R", 2), state.basis())
    assert state.admit(examine(retried, state.keys))
    with pytest.raises(RefusedError) as caught:  # it was deleted before publishing
        open_log(folder).append([retried])
    assert caught.value.code == "E_RETRY_NO_DIAG"
    renamed = attempt_at("R-again", None)  # and the round was given another name
    open_log(folder).append([sign_draft(state, renamed, state.basis())])
    assert "F_SEQ_GAP" in [flag.code for flag in verify(DirectoryStore(folder)).flags]


@pytest.mark.parametrize(
    ("explained", "attempt", "named"),
    [
        ((), 2, "attempt 1 "),
        ((1,), 3, "attempt 2 "),
        ((2,), 4, "attempts 1, 3 "),
        ((), 9, "attempts 1, 2, 3, 4, 5, … "),
    ],
)
def test_every_earlier_attempt_must_be_explained(
    folder: Path, explained: tuple[int, ...], attempt: int, named: str
) -> None:
    seal(folder, *(incident("R", number) for number in explained))
    with pytest.raises(RefusedError, match=f"says why {named}gave no number") as caught:
        seal(folder, attempt_at("R", attempt))
    assert caught.value.code == "E_RETRY_NO_DIAG"
    assert f"--round R --attempt {1 if 1 not in explained else 2} --diagnosis" in str(caught.value)
    seal(folder, *(incident("R", number) for number in range(1, attempt) if number not in explained))
    seal(folder, attempt_at("R", attempt))
    assert holds(folder)


def test_explanations_on_another_node_or_of_another_round_are_none(folder: Path) -> None:
    seal(folder, incident("R", 1, SCORER_2, node="n2"), incident("Q", 1))
    assert refusal(folder, attempt_at("R", 2))[0] == "E_RETRY_NO_DIAG"


def test_an_attempt_has_one_end(folder: Path) -> None:
    seal(folder, incident("R", 1))
    where = "/predicate/incident/attempt"
    for other in (incident("R", 1, diagnosis="it was the driver"), incident("R", 1, outcome="config")):
        assert refusal(folder, other) == ("E_ATTEMPT", where)
    assert refusal(folder, incident("R", 1, diagnosis=None)) == ("E_ATTEMPT", where)
    seal(folder, incident("P", 1, diagnosis=None))
    assert refusal(folder, incident("P", 1, diagnosis=None, outcome="config")) == ("E_ATTEMPT", where)
    assert seal(folder, incident("P", 1, outcome="config")) == [SIZE + 2]  # the diagnosis may say what it was
    assert refusal(folder, incident("P", 1, diagnosis="another")) == ("E_ATTEMPT", where)


@pytest.mark.parametrize("other", ["slot", "arms"])
def test_a_diagnosis_that_is_added_is_of_the_same_work(folder: Path, other: str) -> None:
    seal(folder, incident("R", 1, diagnosis=None))
    members = {
        "slot": incident_body("R")["slot"] | {"metric": "wall"},
        "arms": [{"role": "main", "code_sha256": sha256_hex("other code")}],
    }
    place = ("E_ATTEMPT", "/predicate/incident/attempt")
    assert refusal(folder, incident("R", 1, **{other: members[other]})) == place
    seal(folder, incident("R", 1))


def test_the_same_incident_again_is_the_receipt_that_exists(folder: Path) -> None:
    assert seal(folder, incident("R", 1)) == seal(folder, incident("R", 1)) == [SIZE]
    assert seal(folder, incident("R", 2), incident("R", 2)) == [SIZE + 1] * 2
    silent = incident("P", 1, diagnosis=None)
    assert seal(folder, silent, incident("P", 1)) == [SIZE + 2, SIZE + 3]
    assert seal(folder, silent, incident("P", 1)) == [SIZE + 2, SIZE + 3]


def test_an_attempt_that_failed_gives_no_number_either(folder: Path) -> None:
    seal(folder, incident("R", 1), incident("R", 2))
    place = ("E_ATTEMPT", "/predicate/round/attempt")
    assert refusal(folder, attempt_at("R", None)) == refusal(folder, attempt_at("R", 1)) == place
    assert refusal(folder, attempt_at("R", 2)) == place
    seal(folder, attempt_at("R", 3))
    assert holds(folder)


@pytest.mark.parametrize("diagnosis", [None, DIAG])
def test_C42_a_round_cannot_pass_for_an_earlier_attempt_than_one_that_failed(
    folder: Path, diagnosis: str | None
) -> None:
    seal(folder, incident("R", 2, diagnosis=diagnosis), incident("R", 3))
    for attempt in (None, 1, 2, 3):
        with pytest.raises(RefusedError, match="with --attempt 4") as caught:
            seal(folder, attempt_at("R", attempt))
        assert caught.value.code == "E_ATTEMPT"
    assert refusal(folder, attempt_at("R", 4))[0] == "E_RETRY_NO_DIAG"


@pytest.mark.parametrize("attempt", [1, 2])
def test_a_round_that_has_its_number_is_not_tried_again(folder: Path, attempt: int) -> None:
    seal(folder, attempt_at("R", 1))
    assert refusal(folder, incident("R", attempt)) == ("E_ATTEMPT", "/predicate/incident/round")
    assert refusal(folder, attempt_at("R", 2))[0] == "E_ID_CONFLICT"


def test_one_id_on_two_nodes_is_two_rounds(folder: Path) -> None:
    seal(folder, attempt_at("R", 1))
    seal(folder, incident("R", 1, SCORER_2, node="n2"))  # the other node's failure is not lost
    assert holds(folder)


def test_a_retry_by_a_contributor_needs_a_scorer_who_says_why(folder: Path) -> None:
    with pytest.raises(RefusedError, match="a scorer of n1 seals it first") as caught:
        seal(folder, attempt_at("R", 2, CONTRIBUTOR))
    assert caught.value.code == "E_RETRY_NO_DIAG"
    seal(folder, incident("R", 1), attempt_at("R", 2, CONTRIBUTOR))
    assert holds(folder)


def void(folder: Path, index: int) -> Draft:
    digest = file_digest(read_receipts(folder)[index]).hex()
    body = {"action": "void", "receipt": digest, "reason": "mistaken"}
    return Draft(kind="ruling", body=body, signers=MAINTAINERS[:2])


def test_maintainers_void_an_incident_that_was_wrong_and_its_attempt_is_free(folder: Path) -> None:
    seal(folder, incident("R", 1, diagnosis="typo: this was Q"))
    seal(folder, void(folder, SIZE))
    seal(folder, attempt_at("R", 1))
    log = verify(DirectoryStore(folder)).require_log()
    assert "R" in {item.rung.id for item in replay(log).judged}
    assert refusal(folder, void(folder, SIZE))[0] == "E_RULING_TARGET"  # it does not stand any more
    state = read_state(DirectoryStore(folder))
    again = snapshot.decode_snapshot(snapshot.encode_snapshot(state), DirectoryStore(folder))
    assert again is not None
    again.attempts.check_round("n1", "R", 1)


def test_C42_an_incident_that_explains_a_retry_is_not_taken_back(folder: Path) -> None:
    seal(folder, incident("R", 1), attempt_at("R", 2))
    assert refusal(folder, void(folder, SIZE)) == ("E_ATTEMPT", "/predicate/ruling/receipt")
    seal(folder, void(folder, SIZE + 1))  # the round can be
    assert holds(folder)


def test_of_two_incidents_about_an_attempt_the_other_still_stands(folder: Path) -> None:
    seal(folder, incident("R", 1, diagnosis=None), incident("R", 1, diagnosis="a wrong one"))
    seal(folder, void(folder, SIZE + 1))
    assert refusal(folder, attempt_at("R", 2))[0] == "E_RETRY_NO_DIAG"
    seal(folder, incident("R", 1), attempt_at("R", 2))
    assert holds(folder)


def test_an_incident_is_voided_by_maintainers_and_nothing_else_is_ruled_on_it(folder: Path) -> None:
    seal(folder, incident("R", 1))
    draft = void(folder, SIZE)
    for members in ({"action": "review", "outcome": "rejected"}, {"action": "merged", "commit": "c"}):
        other = Draft(kind="ruling", body=draft.body | members, signers=draft.signers)
        assert refusal(folder, other) == ("E_RULING_TARGET", "/predicate/ruling/receipt")
    assert refusal(folder, Draft(kind="ruling", body=draft.body, signers=[SCORER_1]))[0] == "E_ROLE"


@pytest.mark.parametrize(
    ("signers", "code"),
    [
        ((CONTRIBUTOR,), "E_ROLE"),
        ((SCORER_2,), "E_NODE"),
        ((MAINTAINERS[0],), "E_ROLE"),
        ((SCORER_1, CONTRIBUTOR), "E_ROLE"),
        ((SCORER_1, SCORER_2), "E_NODE"),
    ],
)
def test_only_scorers_of_the_node_say_that_an_attempt_failed(
    folder: Path, signers: tuple[PrivateKey, ...], code: str
) -> None:
    assert refusal(folder, incident("R", 1, *signers)) == (code, "/signatures")


def test_an_incident_is_about_the_code_that_was_to_be_measured(folder: Path) -> None:
    arms = [{"role": role, "code_sha256": sha256_hex(role)} for role in ("main", "candidate")]
    assert body_subject("incident", incident_body("R", arms=arms)) == ("candidate", sha256_hex("candidate"))
    with pytest.raises(RefusedError) as caught:
        check_body("incident", incident_body("R", arms=[arms[0], arms[0]]))
    assert (caught.value.code, caught.value.where) == ("E_ARM_TWICE", "/arms")
    seal(folder, incident("R", arms=arms))


@pytest.mark.parametrize(
    ("members", "where"),
    [
        ({"attempt": 0}, "/attempt"),
        ({"attempt": 1001}, "/attempt"),
        ({"attempt": True}, "/attempt"),
        ({"outcome": "ok"}, "/outcome"),
        ({"arms": []}, "/arms"),
        ({"round": "with space"}, "/round"),
        ({"diagnosis": "x" * 4097}, "/diagnosis"),
        ({"log": {"name": "run.log", "sha256": "0" * 64, "size": 0}}, "/log/size"),
        ({"slot": None}, ""),
        ({"ticket": 1}, ""),
    ],
)
def test_what_an_incident_must_say(folder: Path, members: dict[str, Any], where: str) -> None:
    state = read_state(DirectoryStore(folder))
    signed = sign_draft(state, incident("R"), state.basis())
    validate("incident", signed.statement.value)
    said = signed.statement.body | members
    value = signed.statement.value | {
        "predicate": signed.statement.predicate | {"incident": {k: v for k, v in said.items() if v is not None}}
    }
    with pytest.raises(MalformedError) as caught:
        validate("incident", value)
    assert (caught.value.code, caught.value.where) == ("E_SCHEMA", f"/predicate/incident{where}")


@pytest.mark.parametrize("member", ["attempt", "slot", "round"])
@pytest.mark.parametrize("odd", [None, [], {}, "x", 1.5])
def test_a_body_of_anything_has_no_receipt(folder: Path, member: str, odd: object) -> None:
    seal(folder, incident("R", 1))
    state = read_state(DirectoryStore(folder))
    assert find_figure(state, "incident", incident_body("R", 1)) == SIZE
    assert find_figure(state, "incident", incident_body("R", 1) | {member: odd}) is None
    assert find_figure(state, "incident", odd) is None


def test_what_waits_to_be_sealed_explains_and_hinders_nobody(folder: Path) -> None:
    state = read_state(DirectoryStore(folder))
    for draft in (incident("R", 1, diagnosis=None), incident("R", 1), incident("R", 1, diagnosis="corrected")):
        claim = examine(sign_draft(state, draft, state.basis()), state.keys)
        state.admit(claim)
        state.expect(claim)
    for attempt in (1, 2):
        assert state.admit(examine(sign_draft(state, attempt_at("R", attempt), state.basis()), state.keys))
    assert find_figure(state, "incident", incident_body("R", 1)) is None


def test_a_diagnosis_is_not_lost_to_what_says_less_whatever_is_read_first() -> None:
    for order in itertools.permutations([incident_body("R", 1), incident_body("R", 1, diagnosis=None)]):
        found = Attempts()
        for receipt, body in enumerate(order):
            found.add_incident(body, receipt)
        found.check_round("n1", "R", 2)


def test_after_an_interrupt_in_the_middle_of_taking_one_in_the_writer_knows_the_ledger_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    take = Attempts.add_incident

    def interrupted(found: Attempts, body: JsonObject, receipt: int | None) -> None:
        take(found, body, receipt)
        raise KeyboardInterrupt

    log = open_log(folder)
    with monkeypatch.context() as patch:
        patch.setattr(Attempts, "add_incident", interrupted)
        with pytest.raises(KeyboardInterrupt):
            log.append([incident("R", 1)])
    with pytest.raises(RefusedError) as caught:
        log.append([attempt_at("R", 2)])
    assert caught.value.code == "E_RETRY_NO_DIAG"
    assert [item.index for item in log.append([attempt_at("R", 1)])] == [SIZE]
    assert holds(folder)


def test_a_snapshot_remembers_them(folder: Path) -> None:
    class Kept:
        data: bytes | None = None

        def read(self) -> bytes | None:
            return self.data

        def write(self, data: bytes) -> None:
            self.data = data

    seal(folder, incident("R", 1), incident("S", 1, diagnosis=None))
    store = DirectoryStore(folder)
    state = read_state(store)
    again = snapshot.decode_snapshot(snapshot.encode_snapshot(state), store)
    assert again is not None
    assert again.attempts.to_rows() == state.attempts.to_rows()
    endings, numbers = state.attempts.to_rows()
    assert [row[:5] for row in endings] == [("n1", "R", 1, SIZE, True), ("n1", "S", 1, SIZE + 1, False)]
    assert len(numbers) == len(verify(store).require_log().of_kind("round"))
    kept = Kept()
    kept.write(snapshot.encode_snapshot(state))
    log = Log(store, LEDGER, lambda _: MemoryAnchor(), clock=Clock(), caches=Caches(snapshot=kept, copies=None))
    with pytest.raises(RefusedError, match="no incident says why attempt 1 gave no number"):
        log.append([attempt_at("S", 2)])
    assert [sealed.index for sealed in log.append([attempt_at("R", 2)])] == [SIZE + 2]


def test_a_ledger_whose_holder_lets_a_retry_pass_is_refuted(folder: Path) -> None:
    forgery = Forgery.of(folder)
    bare = attempt_at("R", 2)
    forgery.add(forgery.state("round", bare.body, SCORER_1))
    forgery.seal()
    found = verify(DirectoryStore(folder)).findings
    assert [(item.code, item.index) for item in found] == [("E_RETRY_NO_DIAG", SIZE)]


def test_a_ledger_with_two_ends_of_one_attempt_is_refuted(folder: Path) -> None:
    forgery = Forgery.of(folder)
    for body in (incident_body("R", 1), incident_body("R", 1, outcome="config")):
        forgery.add(forgery.state("incident", body, SCORER_1))
    forgery.seal()
    found = verify(DirectoryStore(folder)).findings
    assert [(item.code, item.index) for item in found] == [("E_ATTEMPT", SIZE + 1)]
