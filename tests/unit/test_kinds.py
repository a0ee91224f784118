"""Rules, rulings, re-scores and imported figures at the door: who may say them, about what, and how often.

Each refusal is asked twice: of the writer, and of `examine` with `State.admit`, which the verifier uses.
"""

from __future__ import annotations

import itertools
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from ledger import snapshot
from ledger.caches import Caches
from ledger.draft import Draft, sign_draft
from ledger.errors import LedgerError, RefusedError
from ledger.examine import examine
from ledger.kinds import ENDINGS, REVIEWS, RULINGS, body_subject, check_body, ledger_subject
from ledger.loading import read_state
from ledger.log import Log
from ledger.receipt import file_digest
from ledger.rule import rule_digest
from ledger.schema import load_schema
from ledger.statement import Producer, SignedStatement, build_statement, sign_statement
from ledger.store.directory import DirectoryStore
from ledger.verify import verify
from tests.support.files import read_receipts
from tests.support.ledgers import (
    CONTRIBUTOR,
    LEDGER,
    MAINTAINERS,
    ORIGIN,
    OUTSIDER,
    REVOKED,
    ROOT,
    SCORER_1,
    SCORER_2,
    SIZE,
    Clock,
    MemoryAnchor,
    build_ledger,
    open_log,
    round_draft,
)
from tests.support.rounds import round_body, sha256_hex
from tests.support.scoring import DECODE, imported_body, make_rule, rule_body

if TYPE_CHECKING:
    from pathlib import Path

    from ledger.canonical import JsonObject
    from ledger.keys import PrivateKey

TWO = MAINTAINERS[:2]
NOWHERE = "0" * 64
MAINTAINED = ("rule", "ruling", "rescore")


def test_the_words_of_rulings_and_incidents_are_those_of_their_schemas() -> None:
    ruling_says = load_schema("ruling")["properties"]["predicate"]["properties"]["ruling"]["properties"]
    incident_says = load_schema("incident")["properties"]["predicate"]["properties"]["incident"]["properties"]
    assert list(RULINGS) == ruling_says["action"]["enum"]
    assert list(REVIEWS) == ruling_says["outcome"]["enum"]
    assert list(ENDINGS) == incident_says["outcome"]["enum"]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ledger of `build_ledger`: two of three maintainers must sign. To be read only."""
    folder = tmp_path_factory.mktemp("kinds")
    build_ledger(folder)
    return folder


@pytest.fixture
def folder(built: Path, tmp_path: Path) -> Path:
    """A copy, to be continued."""
    shutil.copytree(built, tmp_path / "ledger")
    return tmp_path / "ledger"


def digests_of(folder: Path) -> list[str]:
    return [file_digest(raw).hex() for raw in read_receipts(folder)]


def digest_of(folder: Path, index: int) -> str:
    return digests_of(folder)[index]


def ruling(receipt: str, action: str = "void", **members: Any) -> JsonObject:  # noqa: ANN401 - members of any kind
    return {"action": action, "receipt": receipt, "reason": "it was said why"} | members


def rescore_body() -> JsonObject:
    return {
        "rules": [make_rule().digest],
        "against": [],
        "tree_size": SIZE,
        "root_hash": sha256_hex("root"),
        "output_sha256": sha256_hex("output"),
        "rungs": 3,
        "changed": 1,
    }


def imported(name: str = "i", value: str = "10", *, node: str = "n1", **members: Any) -> JsonObject:  # noqa: ANN401 - members of any kind
    return imported_body(name, value, "9", slot=DECODE | {"node": node}, **members)


def body_of(kind: str, folder: Path) -> JsonObject:
    """A good body of each kind."""
    if kind == "rule":
        return rule_body()
    if kind == "ruling":
        return ruling(digest_of(folder, 2))
    return rescore_body() if kind == "rescore" else imported()


def sign_as_it_is(folder: Path, kind: str, body: JsonObject, subject: tuple[str, str]) -> SignedStatement:
    """A statement by two maintainers about any subject."""
    state = read_state(DirectoryStore(folder))
    keyid = TWO[0].public.keyid
    numbering = state.producers[keyid]
    producer = Producer(keyid=keyid, seq=numbering.last + 1, prev=numbering.identities[numbering.last])
    return sign_statement(build_statement(kind, body, subject=subject, basis=state.basis(), producer=producer), TWO)


def judge(folder: Path, item: Draft | SignedStatement) -> bool:
    """What the functions say that writer and verifier share."""
    state = read_state(DirectoryStore(folder))
    signed = item if isinstance(item, SignedStatement) else sign_draft(state, item, state.basis())
    return state.admit(examine(signed, state.keys))


def refusal(folder: Path, item: Draft | SignedStatement) -> tuple[str, str]:
    """Code and place of a refusal, which the writer and the verifier's own functions must give alike."""
    before = read_receipts(folder)
    with pytest.raises(LedgerError) as written:
        open_log(folder).append([item])
    assert read_receipts(folder) == before
    with pytest.raises(LedgerError) as judged:
        judge(folder, item)
    assert (written.value.code, written.value.where) == (judged.value.code, judged.value.where)
    return written.value.code, written.value.where


def seal(folder: Path, kind: str, body: JsonObject, *signers: PrivateKey) -> int:
    """Seal a draft, which must be accepted by writer and verifier; returns its index."""
    (sealed,) = open_log(folder).append([Draft(kind=kind, body=body, signers=signers or TWO)])
    assert not sealed.existed
    assert verify(DirectoryStore(folder)).findings == []
    return sealed.index


class TestWhoMaySayWhatMaintainersSay:
    @pytest.mark.parametrize("kind", MAINTAINED)
    @pytest.mark.parametrize(
        ("signers", "code", "where"),
        [
            pytest.param([MAINTAINERS[0]], "E_THRESHOLD", "/signatures", id="one-of-two-maintainers"),
            pytest.param([SCORER_1], "E_ROLE", "/signatures", id="scorer"),
            pytest.param([SCORER_2], "E_ROLE", "/signatures", id="scorer-of-another-node"),
            pytest.param([SCORER_1, SCORER_2], "E_ROLE", "/signatures", id="two-scorers"),
            pytest.param([*TWO, SCORER_1], "E_ROLE", "/signatures", id="maintainers-and-a-scorer"),
            pytest.param([CONTRIBUTOR], "E_ROLE", "/signatures", id="contributor"),
            pytest.param([REVOKED], "E_KEY_REVOKED", "/signatures", id="revoked"),
            pytest.param([ROOT], "E_ROLE", "/signatures", id="root"),
            pytest.param([LEDGER], "E_KEY_UNKNOWN", "/signatures/0", id="key-of-the-ledger"),
            pytest.param([OUTSIDER], "E_KEY_UNKNOWN", "/signatures/0", id="outsider"),
        ],
    )
    def test_nobody_else(self, kind: str, signers: list[PrivateKey], code: str, where: str, folder: Path) -> None:
        draft = Draft(kind=kind, body=body_of(kind, folder), signers=signers)
        assert refusal(folder, draft) == (code, where)

    @pytest.mark.parametrize("kind", MAINTAINED)
    @pytest.mark.parametrize("signers", [TWO, MAINTAINERS[1:], MAINTAINERS], ids=["first-two", "last-two", "all"])
    def test_as_many_maintainers_as_the_threshold_says(
        self, kind: str, signers: list[PrivateKey], folder: Path
    ) -> None:
        assert seal(folder, kind, body_of(kind, folder), *signers) == SIZE

    def test_one_maintainer_twice_is_one(self, folder: Path) -> None:
        with pytest.raises(RefusedError) as caught:
            open_log(folder).append([Draft(kind="rule", body=rule_body(), signers=[MAINTAINERS[0]] * 2)])
        assert caught.value.code == "E_DUPLICATE_SIGNER"

    def test_a_statement_that_lacked_a_signature_is_accepted_with_it(self, folder: Path) -> None:
        state = read_state(DirectoryStore(folder))
        draft = Draft(kind="rule", body=rule_body(), signers=[MAINTAINERS[0]])
        alone = sign_draft(state, draft, state.basis())
        assert refusal(folder, alone) == ("E_THRESHOLD", "/signatures")
        (sealed,) = open_log(folder).append([alone.cosign(MAINTAINERS[2])])
        assert (sealed.index, sealed.existed) == (SIZE, False)


class TestWhoMayImport:
    @pytest.mark.parametrize(
        ("signers", "code", "where"),
        [
            pytest.param([SCORER_2], "E_NODE", "/signatures", id="scorer-of-another-node"),
            pytest.param([SCORER_1, SCORER_2], "E_NODE", "/signatures", id="scorers-of-both-nodes"),
            pytest.param([CONTRIBUTOR], "E_ROLE", "/signatures", id="contributor"),
            pytest.param([SCORER_1, CONTRIBUTOR], "E_ROLE", "/signatures", id="scorer-and-contributor"),
            pytest.param([REVOKED], "E_KEY_REVOKED", "/signatures", id="revoked"),
            pytest.param([ROOT], "E_ROLE", "/signatures", id="root"),
            pytest.param([LEDGER], "E_KEY_UNKNOWN", "/signatures/0", id="key-of-the-ledger"),
            pytest.param([OUTSIDER], "E_KEY_UNKNOWN", "/signatures/0", id="outsider"),
        ],
    )
    def test_nobody_else(self, signers: list[PrivateKey], code: str, where: str, folder: Path) -> None:
        assert refusal(folder, Draft(kind="imported", body=imported(), signers=signers)) == (code, where)

    @pytest.mark.parametrize(
        ("signers", "node"),
        [
            pytest.param([SCORER_1], "n1", id="scorer-of-the-node"),
            pytest.param([SCORER_2], "n2", id="scorer-of-the-other-node"),
            pytest.param([MAINTAINERS[2]], "n9", id="one-maintainer-for-any-node"),
            pytest.param([SCORER_1, MAINTAINERS[0]], "n1", id="both"),
        ],
    )
    def test_a_scorer_of_the_node_or_one_maintainer_and_nobody_attests_it(
        self, signers: list[PrivateKey], node: str, folder: Path
    ) -> None:
        index = seal(folder, "imported", imported(node=node), *signers)
        entry = verify(DirectoryStore(folder)).require_log().entries[index]
        assert (entry.kind, entry.attested) == ("imported", False)


class TestSubjects:
    def test_each_kind_names_what_it_is_about(self, folder: Path) -> None:
        rule, figure = rule_body(), imported()
        log = open_log(folder)
        log.append([Draft(kind=kind, body=body_of(kind, folder), signers=TWO) for kind in MAINTAINED])
        log.append([Draft(kind="imported", body=figure, signers=[SCORER_1])])
        verified = verify(DirectoryStore(folder)).require_log()
        ledger = ("ledger", sha256_hex(ORIGIN))
        assert [verified.receipt(SIZE + at).statement.subject for at in range(4)] == [
            ("rule", rule_digest(rule)),
            ledger,
            ledger,
            ("imported", figure["files"][0]["sha256"]),
        ]
        assert ledger_subject(ORIGIN) == ledger
        assert [body_subject(kind, {}) for kind in ("keys", "ruling", "rescore")] == [None] * 3

    @pytest.mark.parametrize(
        ("kind", "subject"),
        [
            ("rule", ("rule", rule_digest(rule_body(min_reps=3)))),
            ("rule", ("ledger", sha256_hex(ORIGIN))),
            ("rule", ("Rule", rule_digest(rule_body()))),
            ("ruling", ("ledger", sha256_hex("ledger.example/other"))),
            ("ruling", ("round", sha256_hex(ORIGIN))),
            ("rescore", ("ledger", sha256_hex("ledger.example/other"))),
            ("rescore", ("rule", rule_digest(rule_body()))),
            ("imported", ("imported", sha256_hex("another file"))),
            ("imported", ("ledger", sha256_hex(ORIGIN))),
        ],
    )
    def test_another_subject_is_refused(self, kind: str, subject: tuple[str, str], folder: Path) -> None:
        signed = sign_as_it_is(folder, kind, body_of(kind, folder), subject)
        assert refusal(folder, signed) == ("E_SUBJECT", "/subject/0")


class TestTargetOfARuling:
    @pytest.mark.parametrize("index", [0, 1, 4], ids=["genesis", "keys", "later-keys"])
    def test_a_receipt_that_is_no_figure(self, index: int, folder: Path) -> None:
        draft = Draft(kind="ruling", body=ruling(digest_of(folder, index)), signers=TWO)
        assert refusal(folder, draft) == ("E_RULING_TARGET", "/predicate/ruling/receipt")

    @pytest.mark.parametrize("kind", MAINTAINED)
    def test_a_receipt_of_the_maintainers_themselves(self, kind: str, folder: Path) -> None:
        index = seal(folder, kind, body_of(kind, folder))
        draft = Draft(kind="ruling", body=ruling(digest_of(folder, index)), signers=TWO)
        assert refusal(folder, draft) == ("E_RULING_TARGET", "/predicate/ruling/receipt")

    def test_a_receipt_that_is_not_there(self, folder: Path) -> None:
        identity = verify(DirectoryStore(folder)).require_log().receipt(2).statement.identity.hex()
        for digest in (NOWHERE, sha256_hex("a receipt of another ledger"), identity):
            draft = Draft(kind="ruling", body=ruling(digest), signers=TWO)
            assert refusal(folder, draft) == ("E_RULING_TARGET", "/predicate/ruling/receipt")

    @pytest.mark.parametrize("index", [2, 5, 6, SIZE - 1], ids=["round", "revoked-scorers", "measured", "last"])
    def test_any_round_that_was_sealed_before(self, index: int, folder: Path) -> None:
        assert seal(folder, "ruling", ruling(digest_of(folder, index))) == SIZE

    def test_an_imported_figure(self, folder: Path) -> None:
        index = seal(folder, "imported", imported(), SCORER_1)
        assert seal(folder, "ruling", ruling(digest_of(folder, index))) == SIZE + 1

    def test_a_receipt_of_its_own_group_only_when_it_comes_first(self, built: Path, tmp_path: Path) -> None:
        # The same clock gives the same bytes, so the digest is known before the receipt is there.
        copies = [tmp_path / name for name in ("first", "before", "behind")]
        for copy in copies:
            shutil.copytree(built, copy)
        new = round_draft("new", SCORER_1)
        (known,) = open_log(copies[0], clock=Clock()).append([new])
        decision = Draft(kind="ruling", body=ruling(known.digest.hex()), signers=TWO)
        sealed = open_log(copies[1], clock=Clock()).append([new, decision])
        assert [(item.index, item.existed) for item in sealed] == [(SIZE, False), (SIZE + 1, False)]
        assert sealed[0].digest == known.digest
        assert verify(DirectoryStore(copies[1])).findings == []
        with pytest.raises(RefusedError) as caught:
            open_log(copies[2], clock=Clock()).append([decision, new])
        assert (caught.value.code, caught.value.where) == ("E_RULING_TARGET", "/0/predicate/ruling/receipt")
        assert len(read_receipts(copies[2])) == SIZE


class TestSupersede:
    @pytest.mark.parametrize(
        ("target", "by", "code", "where"),
        [
            pytest.param(8, 2, "E_SUPERSEDE_BACKWARDS", "/predicate/ruling/by", id="by-an-earlier-one"),
            pytest.param(8, 8, "E_SUPERSEDE_BACKWARDS", "/predicate/ruling/by", id="by-itself"),
            pytest.param(3, 4, "E_RULING_TARGET", "/predicate/ruling/by", id="by-a-change-of-roles"),
            pytest.param(1, 2, "E_RULING_TARGET", "/predicate/ruling/receipt", id="a-change-of-roles"),
        ],
    )
    def test_only_a_figure_by_a_later_figure(self, target: int, by: int, code: str, where: str, folder: Path) -> None:
        body = ruling(digest_of(folder, target), "supersede", by=digest_of(folder, by))
        assert refusal(folder, Draft(kind="ruling", body=body, signers=TWO)) == (code, where)

    def test_not_by_one_that_is_not_there(self, folder: Path) -> None:
        body = ruling(digest_of(folder, 2), "supersede", by=NOWHERE)
        draft = Draft(kind="ruling", body=body, signers=TWO)
        assert refusal(folder, draft) == ("E_RULING_TARGET", "/predicate/ruling/by")

    @pytest.mark.parametrize(("target", "by"), [(2, 3), (2, 9), (8, 9)])
    def test_forward_it_is_accepted(self, target: int, by: int, folder: Path) -> None:
        body = ruling(digest_of(folder, target), "supersede", by=digest_of(folder, by))
        assert seal(folder, "ruling", body) == SIZE


MEMBERS: dict[str, Any] = {"by": "1" * 64, "outcome": "accepted", "commit": "c0ffee", "gate": "plausibility"}
NEEDED = {"void": (), "supersede": ("by",), "review": ("outcome",), "merged": ("commit",), "waiver": ("gate",)}
SUBSETS = [names for size in range(5) for names in itertools.combinations(MEMBERS, size)]


class TestMembersOfARuling:
    @pytest.mark.parametrize("action", NEEDED)
    @pytest.mark.parametrize("names", SUBSETS, ids=lambda names: "+".join(names) or "none")
    def test_each_action_takes_its_own_member_and_no_other(self, action: str, names: tuple[str, ...]) -> None:
        body = ruling(NOWHERE, action, **{name: MEMBERS[name] for name in names})
        if names == NEEDED[action]:
            check_body("ruling", body)
            assert body.keys() == {"action", "receipt", "reason", *names}
            return
        with pytest.raises(RefusedError) as caught:
            check_body("ruling", body)
        assert (caught.value.code, caught.value.where) == ("E_RULING", "/predicate/ruling")
        assert repr(action) in caught.value.message

    def test_C39_a_waiver_of_guards_names_the_guard_and_nothing_else_does(self) -> None:  # noqa: N802 - as the case
        named = {"guard": {"metric": "ttft", "context": 512}}
        waiver = ruling(NOWHERE, "waiver", gate="guards")
        check_body("ruling", waiver | named)
        nameless = [ruling(NOWHERE, action, **{each: MEMBERS[each] for each in NEEDED[action]}) for action in NEEDED]
        for body in (waiver, *(each | named for each in nameless)):
            with pytest.raises(RefusedError) as caught:
                check_body("ruling", body)
            assert caught.value.code == "E_RULING"

    @pytest.mark.parametrize(
        ("action", "members"),
        [
            ("void", {"commit": "c0ffee"}),
            ("supersede", {}),
            ("review", {"outcome": "accepted", "gate": "guards"}),
            ("merged", {}),
            ("waiver", {}),
        ],
    )
    def test_the_door_refuses_the_same(self, action: str, members: dict[str, str], folder: Path) -> None:
        body = ruling(digest_of(folder, 2), action, **members)
        assert refusal(folder, Draft(kind="ruling", body=body, signers=TWO)) == ("E_RULING", "/predicate/ruling")

    @pytest.mark.parametrize(
        ("member", "value"),
        [
            ("action", "annul"),
            ("receipt", "2"),
            ("receipt", "A" * 64),
            ("reason", ""),
            ("outcome", "maybe"),
            ("gate", "parity"),
            ("gate", "significance"),
            ("commit", ""),
            ("by", 3),
        ],
    )
    def test_a_value_that_no_ruling_has_is_refused_by_its_place(self, member: str, value: object, folder: Path) -> None:
        body = ruling(digest_of(folder, 2)) | {member: value}
        draft = Draft(kind="ruling", body=body, signers=TWO)
        assert refusal(folder, draft) == ("E_SCHEMA", f"/predicate/ruling/{member}")


class TestIdsOfFigures:
    def test_a_round_has_taken_the_id(self, folder: Path) -> None:
        draft = Draft(kind="imported", body=imported("round-2"), signers=[SCORER_1])
        assert refusal(folder, draft) == ("E_ID_CONFLICT", "/predicate/imported/id")

    def test_an_imported_figure_has_taken_the_id(self, folder: Path) -> None:
        seal(folder, "imported", imported("i"), SCORER_1)
        draft = Draft(kind="round", body=round_body("i"), signers=[SCORER_1])
        assert refusal(folder, draft) == ("E_ID_CONFLICT", "/predicate/round/id")

    def test_the_message_names_the_receipt_that_has_it(self, folder: Path) -> None:
        with pytest.raises(RefusedError, match="'round-3' is taken by receipt 3"):
            open_log(folder).append([Draft(kind="imported", body=imported("round-3"), signers=[SCORER_1])])

    def test_the_same_figure_again_is_the_receipt_that_exists(self, folder: Path) -> None:
        draft = Draft(kind="imported", body=imported(), signers=[SCORER_1])
        log = open_log(folder)
        (first,) = log.append([draft])
        (again,) = log.append([draft])
        (elsewhere,) = open_log(folder, MemoryAnchor()).append([draft])
        assert not first.existed
        for item in (again, elsewhere):
            assert (item.index, item.digest, item.identity) == (SIZE, first.digest, first.identity)
            assert item.existed
        assert len(read_receipts(folder)) == SIZE + 1

    def test_the_same_figure_twice_in_one_group_is_sealed_once(self, folder: Path) -> None:
        draft = Draft(kind="imported", body=imported(), signers=[SCORER_1])
        sealed = open_log(folder).append([draft, round_draft("new"), draft])
        assert [(item.index, item.existed) for item in sealed] == [(SIZE, False), (SIZE + 1, False), (SIZE, True)]
        assert len(read_receipts(folder)) == SIZE + 2

    @pytest.mark.parametrize(
        ("body", "signers"),
        [
            pytest.param(imported(value="10.5"), [SCORER_1], id="other-value"),
            pytest.param(imported(value="10.0"), [SCORER_1], id="the-same-value-written-otherwise"),
            pytest.param(imported(node="n2"), [SCORER_2], id="other-slot"),
            pytest.param(imported(faults=[{"code": "K_X", "message": "m"}]), [SCORER_1], id="a-fault-more"),
            pytest.param(imported(), [MAINTAINERS[0]], id="by-somebody-else"),
            pytest.param(imported(), [SCORER_1, MAINTAINERS[0]], id="by-one-more"),
        ],
    )
    def test_another_figure_of_that_id_is_refused(
        self, body: JsonObject, signers: list[PrivateKey], folder: Path
    ) -> None:
        seal(folder, "imported", imported(), SCORER_1)
        draft = Draft(kind="imported", body=body, signers=signers)
        assert refusal(folder, draft) == ("E_ID_CONFLICT", "/predicate/imported/id")

    def test_a_rule_may_be_adopted_again(self, folder: Path) -> None:
        assert [seal(folder, "rule", rule_body()) for _ in range(2)] == [SIZE, SIZE + 1]


class TestFilesOfAFigure:
    def test_two_files_of_one_name_are_refused(self, folder: Path) -> None:
        files = [{"name": "receipt.json", "sha256": sha256_hex(text), "size": 1} for text in ("one", "other")]
        draft = Draft(kind="imported", body=imported(files=files), signers=[SCORER_1])
        assert refusal(folder, draft) == ("E_FILE_TWICE", "/predicate/imported/files")

    def test_one_file_under_two_names_is_accepted(self, folder: Path) -> None:
        files = [{"name": name, "sha256": sha256_hex("one"), "size": 1} for name in ("a.json", "b.json")]
        assert seal(folder, "imported", imported(files=files), SCORER_1) == SIZE

    def test_a_figure_without_a_file_is_refused(self, folder: Path) -> None:
        body = imported()
        signed = sign_as_it_is(folder, "imported", body | {"files": []}, ("imported", sha256_hex("nothing")))
        assert refusal(folder, signed) == ("E_SCHEMA", "/predicate/imported/files")


class TestSnapshots:
    @pytest.fixture
    def store(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> DirectoryStore:
        """A ledger with an imported figure, of which a snapshot is kept after every receipt."""
        monkeypatch.setattr(snapshot, "EVERY", 1)
        store = DirectoryStore(folder)
        self.open(store).append([Draft(kind="imported", body=imported(), signers=[SCORER_1])])
        return store

    def open(self, store: DirectoryStore) -> Log:
        """A new writer, which starts from the snapshot."""
        anchor = MemoryAnchor()
        return Log(
            store,
            LEDGER,
            lambda _: anchor,
            clock=Clock(),
            caches=Caches(snapshot=store.snapshot_file()),
        )

    def test_it_holds_the_figures_of_both_kinds(self, store: DirectoryStore) -> None:
        raw = store.snapshot_file().read()
        assert raw is not None
        state = snapshot.decode_snapshot(raw, store)
        assert state is not None
        assert state.size == SIZE + 1
        rounds = {f"round-{at}": at for at in (2, 3, 5, 6, 8, 9)}
        assert state.figures == rounds | {"i": SIZE} == read_state(store).figures

    @pytest.mark.parametrize(("name", "kind"), [("i", "imported"), ("round-2", "round")])
    def test_a_figure_in_it_is_found_again(self, name: str, kind: str, store: DirectoryStore) -> None:
        body = imported() if kind == "imported" else round_body(name)
        (sealed,) = self.open(store).append([Draft(kind=kind, body=body, signers=[SCORER_1])])
        assert (sealed.index, sealed.existed) == ({"i": SIZE, "round-2": 2}[name], True)

    @pytest.mark.parametrize("name", ["i", "round-2"])
    def test_an_id_in_it_is_taken(self, name: str, store: DirectoryStore) -> None:
        with pytest.raises(RefusedError) as caught:
            self.open(store).append([Draft(kind="imported", body=imported(name, "11"), signers=[SCORER_1])])
        assert (caught.value.code, caught.value.where) == ("E_ID_CONFLICT", "/predicate/imported/id")

    def test_a_ruling_finds_its_figure_in_it(self, store: DirectoryStore, folder: Path) -> None:
        digests = digests_of(folder)
        decisions = [ruling(digests[SIZE]), ruling(digests[2], "supersede", by=digests[SIZE])]
        sealed = self.open(store).append([Draft(kind="ruling", body=body, signers=TWO) for body in decisions])
        assert [item.index for item in sealed] == [SIZE + 1, SIZE + 2]
        with pytest.raises(RefusedError) as caught:
            self.open(store).append([Draft(kind="ruling", body=ruling(digests[1]), signers=TWO)])
        assert caught.value.code == "E_RULING_TARGET"
        assert verify(store).findings == []
