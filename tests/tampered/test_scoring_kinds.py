"""What only whoever holds the ledger's key can seal: rules, rulings, re-scores and figures that nobody could have said.

Chain, root and checkpoint are right in each of these ledgers, and every statement is signed by the key that it names.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from ledger.errors import MalformedError, RefusedError
from ledger.kinds import body_subject
from ledger.receipt import file_digest
from ledger.schema import validate
from ledger.scoring.replay import replay
from ledger.store.directory import DirectoryStore
from ledger.verify import verify
from tests.support import commands
from tests.support.attacker import Forgery
from tests.support.files import read_receipts
from tests.support.ledgers import (
    CONTRIBUTOR,
    LEDGER,
    MAINTAINERS,
    OUTSIDER,
    REVOKED,
    ROOT,
    SCORER_1,
    SCORER_2,
    SIZE,
    open_log,
)
from tests.support.rounds import round_body, sha256_hex
from tests.support.scoring import DECODE, imported_body, rule_body

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ledger.canonical import JsonObject
    from ledger.keys import PrivateKey
    from ledger.statement import SignedStatement

TWO = tuple(MAINTAINERS[:2])


def say(
    forgery: Forgery, kind: str, body: JsonObject, *signers: PrivateKey, subject: tuple[str, str] | None = None
) -> None:
    """Put a statement at the end, with the subject that its body asks for unless another is given."""
    named = subject or body_subject(kind, body)

    def edit(value: JsonObject) -> None:
        if named is not None:
            value["subject"] = [{"digest": {"sha256": named[1]}, "name": named[0]}]

    forgery.add(forgery.state(kind, body, *signers, edit=edit))


def digest_of(forgery: Forgery, index: int) -> str:
    return file_digest(forgery.files()[index]).hex()


def ruling(receipt: str, action: str = "void", **members: str) -> JsonObject:
    return {"action": action, "receipt": receipt, "reason": "because"} | members


def rescore_body() -> JsonObject:
    return {
        "rules": [sha256_hex("rule")],
        "against": [],
        "tree_size": SIZE,
        "root_hash": sha256_hex("root"),
        "output_sha256": sha256_hex("output"),
        "rungs": 1,
        "changed": 1,
    }


def imported(name: str = "i", *, node: str = "n1") -> JsonObject:
    return imported_body(name, "10", "9", slot=DECODE | {"node": node})


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A statement that was sealed as receipt `index`, and what verification must find there."""

    name: str
    make: Callable[[Forgery], None]
    error: str
    code: str
    index: int


CASES: list[Case] = []


def _forge(error: str, code: str, index: int = SIZE) -> Callable[[Callable[[Forgery], None]], None]:
    """Put a function into the table."""

    def register(make: Callable[[Forgery], None]) -> None:
        CASES.append(Case(name=make.__name__.strip("_"), make=make, error=error, code=code, index=index))

    return register


# ---- Rules.


@_forge("RefusedError", "E_ROLE")
def _a_rule_by_a_scorer(forgery: Forgery) -> None:
    say(forgery, "rule", rule_body(), SCORER_1)


@_forge("RefusedError", "E_ROLE")
def _a_rule_by_two_maintainers_and_a_contributor(forgery: Forgery) -> None:
    say(forgery, "rule", rule_body(), *TWO, CONTRIBUTOR)


@_forge("RefusedError", "E_THRESHOLD")
def _a_rule_by_one_maintainer_of_two(forgery: Forgery) -> None:
    say(forgery, "rule", rule_body(), MAINTAINERS[0])


@_forge("RefusedError", "E_KEY_UNKNOWN")
def _a_rule_by_the_key_of_the_ledger(forgery: Forgery) -> None:
    say(forgery, "rule", rule_body(), LEDGER)


@_forge("RefusedError", "E_RULE_BANDS")
def _a_rule_whose_bands_are_out_of_order(forgery: Forgery) -> None:
    bands = [{"tier": "xs", "from": "0.02"}, {"tier": "xl", "from": "0.18"}]
    say(forgery, "rule", rule_body(bands=bands), *TWO)


@_forge("RefusedError", "E_RULE_NUMBER")
def _a_rule_with_a_negative_share(forgery: Forgery) -> None:
    say(forgery, "rule", rule_body(significance={"share": "-0.02"}), *TWO)


@_forge("RefusedError", "E_RULE_TWICE")
def _a_rule_that_lists_a_slot_twice(forgery: Forgery) -> None:
    say(forgery, "rule", rule_body(slots=[{"metric": "ttft"}] * 2), *TWO)


@_forge("RefusedError", "E_RULE_DENOMINATOR")
def _a_rule_with_a_multiple_of_nothing(forgery: Forgery) -> None:
    say(forgery, "rule", rule_body(plausibility={"ceiling": "2"}), *TWO)


@_forge("RefusedError", "E_RULE_EVIDENCE")
def _a_rule_against_a_frontier_that_nobody_records(forgery: Forgery) -> None:
    say(forgery, "rule", rule_body(frontier={"basis": "recorded"}), *TWO)


@_forge("RefusedError", "E_SUBJECT")
def _a_rule_under_the_digest_of_another(forgery: Forgery) -> None:
    say(forgery, "rule", rule_body(min_reps=5), *TWO, subject=body_subject("rule", rule_body()))


@_forge("MalformedError", "E_SCHEMA")
def _a_rule_with_a_member_that_nobody_reads(forgery: Forgery) -> None:
    say(forgery, "rule", rule_body(winner="candidate"), *TWO)


# ---- Rulings.


@_forge("RefusedError", "E_RULING_TARGET")
def _a_ruling_about_nothing(forgery: Forgery) -> None:
    say(forgery, "ruling", ruling("0" * 64), *TWO)


@_forge("RefusedError", "E_RULING_TARGET")
def _a_ruling_about_a_change_of_roles(forgery: Forgery) -> None:
    say(forgery, "ruling", ruling(digest_of(forgery, 1)), *TWO)


@_forge("RefusedError", "E_RULING_TARGET", SIZE + 1)
def _a_ruling_about_a_rule(forgery: Forgery) -> None:
    say(forgery, "rule", rule_body(), *TWO)
    say(forgery, "ruling", ruling(digest_of(forgery, SIZE)), *TWO)


@_forge("RefusedError", "E_SUPERSEDE_BACKWARDS")
def _a_receipt_superseded_by_an_earlier_one(forgery: Forgery) -> None:
    say(forgery, "ruling", ruling(digest_of(forgery, 8), "supersede", by=digest_of(forgery, 2)), *TWO)


@_forge("RefusedError", "E_SUPERSEDE_BACKWARDS")
def _a_receipt_superseded_by_itself(forgery: Forgery) -> None:
    say(forgery, "ruling", ruling(digest_of(forgery, 8), "supersede", by=digest_of(forgery, 8)), *TWO)


@_forge("RefusedError", "E_RULING_TARGET")
def _a_receipt_superseded_by_nothing(forgery: Forgery) -> None:
    say(forgery, "ruling", ruling(digest_of(forgery, 8), "supersede", by="0" * 64), *TWO)


@_forge("RefusedError", "E_RULING")
def _a_void_that_names_a_commit(forgery: Forgery) -> None:
    say(forgery, "ruling", ruling(digest_of(forgery, 8), commit="c0ffee"), *TWO)


@_forge("RefusedError", "E_RULING")
def _a_review_without_an_outcome(forgery: Forgery) -> None:
    say(forgery, "ruling", ruling(digest_of(forgery, 8), "review"), *TWO)


@_forge("MalformedError", "E_SCHEMA")
def _a_waiver_of_parity(forgery: Forgery) -> None:
    say(forgery, "ruling", ruling(digest_of(forgery, 8), "waiver", gate="parity"), *TWO)


@_forge("RefusedError", "E_ROLE")
def _a_ruling_by_the_scorer_of_the_round(forgery: Forgery) -> None:
    say(forgery, "ruling", ruling(digest_of(forgery, 8), "review", outcome="accepted"), SCORER_1)


@_forge("RefusedError", "E_THRESHOLD")
def _a_ruling_by_one_maintainer_of_two(forgery: Forgery) -> None:
    say(forgery, "ruling", ruling(digest_of(forgery, 8)), MAINTAINERS[1])


@_forge("RefusedError", "E_SUBJECT")
def _a_ruling_about_another_ledger(forgery: Forgery) -> None:
    subject = "ledger", sha256_hex("ledger.example/other")
    say(forgery, "ruling", ruling(digest_of(forgery, 8)), *TWO, subject=subject)


@_forge("RefusedError", "E_RULING_TARGET", 3)
def _a_ruling_sealed_before_its_round(forgery: Forgery) -> None:
    # The time of sealing of the round is known to whoever seals it, so its digest can be too, but not its index.
    body = ruling(digest_of(forgery, 8))
    early = forgery.state("ruling", body, *TWO, basis=forgery.basis(3))
    forgery.signed.insert(3, early)
    forgery.times.insert(3, forgery.times[3])


# ---- Figures and re-scores.


@_forge("RefusedError", "E_ROLE")
def _an_imported_figure_by_a_contributor(forgery: Forgery) -> None:
    say(forgery, "imported", imported(), CONTRIBUTOR)


@_forge("RefusedError", "E_KEY_REVOKED")
def _an_imported_figure_by_a_revoked_key(forgery: Forgery) -> None:
    say(forgery, "imported", imported(), REVOKED)


@_forge("RefusedError", "E_NODE")
def _an_imported_figure_by_a_scorer_of_another_node(forgery: Forgery) -> None:
    say(forgery, "imported", imported(), SCORER_2)


@_forge("RefusedError", "E_ID_CONFLICT")
def _an_imported_figure_with_the_id_of_a_round(forgery: Forgery) -> None:
    say(forgery, "imported", imported("round-2"), SCORER_1)


@_forge("RefusedError", "E_ID_CONFLICT", SIZE + 1)
def _a_round_with_the_id_of_an_imported_figure(forgery: Forgery) -> None:
    say(forgery, "imported", imported("i"), SCORER_1)
    forgery.add(forgery.state("round", round_body("i"), SCORER_1))


@_forge("RefusedError", "E_ID_CONFLICT", SIZE + 1)
def _an_imported_figure_said_twice(forgery: Forgery) -> None:
    say(forgery, "imported", imported(), SCORER_1)
    say(forgery, "imported", imported(), SCORER_1)


@_forge("RefusedError", "E_FILE_TWICE")
def _an_imported_figure_with_two_files_of_one_name(forgery: Forgery) -> None:
    body = imported()
    say(forgery, "imported", body | {"files": [*body["files"], *body["files"]]}, SCORER_1)


@_forge("RefusedError", "E_SUBJECT")
def _an_imported_figure_about_another_file(forgery: Forgery) -> None:
    say(forgery, "imported", imported(), SCORER_1, subject=("imported", sha256_hex("another file")))


@_forge("RefusedError", "E_KEY_UNKNOWN")
def _a_rescore_by_a_key_that_never_had_a_role(forgery: Forgery) -> None:
    say(forgery, "rescore", rescore_body(), OUTSIDER)


@_forge("RefusedError", "E_ROLE")
def _a_rescore_by_the_root_key(forgery: Forgery) -> None:
    say(forgery, "rescore", rescore_body(), ROOT)


@_forge("RefusedError", "E_ROLE")
def _a_rescore_by_a_contributor(forgery: Forgery) -> None:
    say(forgery, "rescore", rescore_body(), CONTRIBUTOR)


@_forge("MalformedError", "E_SCHEMA")
def _a_rescore_of_a_negative_number_of_rungs(forgery: Forgery) -> None:
    say(forgery, "rescore", rescore_body() | {"rungs": -1}, *TWO)


EVERY = pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])


@pytest.fixture
def forgery(ledger_folder: Path) -> Forgery:
    """A copy of the healthy ledger, to be continued by its dishonest holder."""
    return Forgery.of(ledger_folder)


def test_the_table_names_each_case_once() -> None:
    assert len({case.name for case in CASES}) == len(CASES)


def test_the_same_things_said_by_whoever_may_say_them_verify(forgery: Forgery) -> None:
    say(forgery, "rule", rule_body(), *TWO)
    say(forgery, "imported", imported(), SCORER_1)
    say(forgery, "ruling", ruling(digest_of(forgery, 2), "supersede", by=digest_of(forgery, 8)), *TWO)
    say(forgery, "rescore", rescore_body(), *TWO)
    forgery.seal()
    result = verify(DirectoryStore(forgery.folder))
    assert (result.findings, result.unknown, result.flags) == ([], [], [])
    assert {kind: result.kinds[kind] for kind in ("rule", "imported", "ruling", "rescore")} == dict.fromkeys(
        ("rule", "imported", "ruling", "rescore"), 1
    )
    assert result.log is not None
    gone = [item.rung.index for item in replay(result.log).judged if not item.stands]
    assert gone == [2]


@EVERY
def test_the_library_names_class_code_and_index(case: Case, forgery: Forgery) -> None:
    case.make(forgery)
    forgery.seal()
    result = verify(DirectoryStore(forgery.folder))
    assert result.findings
    first = result.findings[0]
    assert (first.error, first.code, first.index) == (case.error, case.code, case.index)
    assert result.log is None


@EVERY
def test_the_command_exits_3_and_names_code_and_index(case: Case, forgery: Forgery) -> None:
    case.make(forgery)
    forgery.seal()
    done = commands.run("verify", "--json", "-C", forgery.folder)
    assert done.status == 3, done.stderr
    document = done.document()
    validate("output-verify", document)
    assert document["verdict"] == "refuted"
    first = document["findings"][0]
    assert (first["class"], first["code"], first["index"]) == (case.error, case.code, case.index)


@EVERY
def test_no_command_that_judges_gives_a_verdict_on_it(case: Case, forgery: Forgery, tmp_path: Path) -> None:
    case.make(forgery)
    forgery.seal()
    pins = tmp_path / "pins.json"
    pins.write_text('{"rungbook": "pin-file/v1", "pins": []}')
    for words in (["ladder"], ["frontier"], ["pins"], ["rule", "list"], ["check-lock", pins]):
        done = commands.run(*words, "--json", "-C", forgery.folder)
        assert done.status == 3, (words, done.stderr)
        document = done.document()
        validate("output-error", document)
        assert (document["error"]["code"], document["error"]["index"]) == (case.code, case.index)


@EVERY
def test_log_and_show_do_not_fall_over_it(case: Case, forgery: Forgery) -> None:
    # They look at hashes only, which the ledger's holder has made right; show says what the signers' roles are worth.
    case.make(forgery)
    forgery.seal()
    listed = commands.run("log", "--json", "-C", forgery.folder)
    assert listed.status == 0, listed.stderr
    validate("output-log", listed.document())
    assert [row["index"] for row in listed.document()["receipts"]] == list(range(len(forgery.signed)))
    shown = commands.run("show", str(case.index), "--json", "-C", forgery.folder)
    assert shown.status == 0, shown.stderr
    validate("output-show", shown.document())
    assert (shown.document()["index"], shown.document()["facts"] == []) == (
        case.index,
        shown.document()["kind"] != "round",
    )


AT_THE_END = [case for case in CASES if case.index == SIZE]


@pytest.mark.parametrize("case", AT_THE_END, ids=[case.name for case in AT_THE_END])
def test_an_honest_writer_refuses_it_with_the_code_of_the_verifier(case: Case, forgery: Forgery) -> None:
    before = read_receipts(forgery.folder)
    case.make(forgery)
    signed: SignedStatement = forgery.signed[SIZE]
    with pytest.raises((MalformedError, RefusedError)) as caught:
        open_log(forgery.folder).append([signed])
    assert (type(caught.value).__name__, caught.value.code) == (case.error, case.code)
    assert read_receipts(forgery.folder) == before
