# ruff: noqa: N802 - tests are named after the failures of others that they exclude
"""Failures that other logs had, by their numbers in the list of failures: none may happen here."""

from __future__ import annotations

import hashlib
import os
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from ledger.checkpoint import open_checkpoint
from ledger.errors import ConflictError, LedgerError, MalformedError, RefusedError, SignatureError
from ledger.log import Log
from ledger.note import NoteKey
from ledger.receipt import decode_receipt, file_digest
from ledger.statement import import_envelope, verify_signature
from ledger.store.anchor import FileAnchor
from ledger.store.directory import DirectoryStore
from ledger.verified import Pins
from ledger.verify import verify
from tests.support import commands
from tests.support.attacker import Forgery, commit, dump, restate
from tests.support.files import checkpoint_path, edit_receipt, read_receipts, receipt_path, swap_text, write_receipts
from tests.support.ledgers import (
    LEDGER,
    NOTE_KEY,
    ORIGIN,
    SCORER_1,
    SIZE,
    Clock,
    MemoryAnchor,
    build_ledger,
    genesis_body,
    genesis_draft,
    make_key,
    open_log,
    round_draft,
    start_small_ledger,
)
from tests.support.rounds import round_body
from tests.tampered.cases import CASES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def listed(folder: Path) -> list[tuple[int, str]]:
    """Index and digest of every receipt that the command `log` lists."""
    done = commands.run("log", "--json", "-C", folder)
    assert done.status == 0, done.stderr
    return [(row["index"], row["sha256"]) for row in done.document()["receipts"]]


def test_C35_the_listing_is_made_from_the_chain_and_lists_every_receipt(ledger_folder: Path) -> None:
    files = read_receipts(ledger_folder)
    expected = [(index, hashlib.sha256(raw).hexdigest()) for index, raw in enumerate(files)]
    assert listed(ledger_folder) == expected
    for path in sorted(ledger_folder.rglob("*"), reverse=True):  # everything but the receipts and the checkpoint
        if path.is_file() and "receipts" not in path.parts:
            path.unlink()
    assert listed(ledger_folder) == expected


@pytest.mark.parametrize("index", [0, 4, SIZE - 1])
def test_C35_a_receipt_that_is_not_there_is_not_left_out_in_silence(ledger_folder: Path, index: int) -> None:
    receipt_path(ledger_folder, index).unlink()
    for command in ("log", "verify"):
        assert commands.run(command, "--json", "-C", ledger_folder).status == 3
    codes = {(item.code, item.index) for item in verify(DirectoryStore(ledger_folder)).findings}
    assert ("E_RECEIPT_MISSING", index) in codes


def test_C36_receipts_that_all_claim_to_be_the_first_are_refuted_at_the_second(ledger_folder: Path) -> None:
    files = read_receipts(ledger_folder)
    first = b'"seal":{"index":0,"prev":"%b"' % (b"0" * 64)
    claims = [first.join((raw.partition(b'"seal":{')[0], raw[raw.index(b',"sealed_at"') :])) for raw in files]
    assert claims[0] == files[0]
    commit(ledger_folder, claims)  # by the ledger's own key
    findings = verify(DirectoryStore(ledger_folder)).findings
    assert [(item.code, item.index) for item in findings[:2]] == [("E_INDEX", 1), ("E_CHAIN", 1)]


@pytest.mark.parametrize("dropped", [1, 3, SIZE - 1])
def test_C36_dropping_the_last_receipts_is_caught_by_a_published_checkpoint(ledger_folder: Path, dropped: int) -> None:
    published = checkpoint_path(ledger_folder).read_bytes()
    commit(ledger_folder, read_receipts(ledger_folder)[:-dropped])
    findings = verify(DirectoryStore(ledger_folder), pins=Pins(since=published)).findings
    assert [item.code for item in findings] == ["E_ROLLBACK"]


def test_k3_K1_nothing_unsigned_is_sealed_or_believed(ledger_folder: Path) -> None:
    forgery = Forgery.of(ledger_folder)
    signed = forgery.state("round", round_body("next"), SCORER_1)
    unsigned = replace(signed, signatures=())
    with pytest.raises(LedgerError):
        open_log(ledger_folder).append([unsigned])
    assert len(read_receipts(ledger_folder)) == SIZE
    envelope = dump({"payload": "e30=", "payloadType": "application/vnd.in-toto+json", "signatures": []})
    with pytest.raises(MalformedError) as caught:
        import_envelope(envelope)
    assert caught.value.code == "E_ENVELOPE"


def test_k3_K3_a_receipt_is_never_written_over(ledger_folder: Path) -> None:
    before = read_receipts(ledger_folder)
    with pytest.raises(ConflictError) as caught:
        DirectoryStore(ledger_folder).put_receipts(SIZE - 1, [b"{}\n"])
    assert caught.value.code == "E_EXISTS"
    with pytest.raises(RefusedError) as refused:
        open_log(ledger_folder).append([round_draft("round-2", wall_ns=7)])
    assert refused.value.code == "E_ID_CONFLICT"
    assert read_receipts(ledger_folder) == before


def test_k3_K6_a_receipt_is_found_by_its_content_whatever_its_file_time(ledger_folder: Path) -> None:
    digest = file_digest(read_receipts(ledger_folder)[2]).hex()
    for index in range(SIZE):
        os.utime(receipt_path(ledger_folder, index), (2_000_000_000 - index, 2_000_000_000 - index))
    done = commands.run("show", digest[:12], "--json", "-C", ledger_folder)
    assert (done.status, done.document()["index"], done.document()["sha256"]) == (0, 2, digest)
    shown = done.document()["receipt"]["statement"]["predicate"]["round"]
    assert shown["id"] == "round-2"


def test_k3_K8_every_attempt_on_one_code_is_kept(ledger_folder: Path) -> None:
    log = open_log(ledger_folder)
    same_code = [round_draft(f"attempt-{number}") for number in range(3)]
    for draft in same_code:
        draft.body["arms"] = same_code[0].body["arms"]
    sealed = [log.append([draft])[0] for draft in same_code]
    assert [item.index for item in sealed] == [SIZE, SIZE + 1, SIZE + 2]
    assert not any(item.existed for item in sealed)
    assert verify(DirectoryStore(ledger_folder)).findings == []


def test_k3_K9_the_listing_is_never_behind_the_ledger(ledger_folder: Path) -> None:
    log = open_log(ledger_folder)
    for number in range(3):
        (sealed,) = log.append([round_draft(f"new-{number}")])
        assert listed(ledger_folder)[-1] == (sealed.index, sealed.digest.hex())


@pytest.mark.parametrize(
    "name",
    [
        "one_letter_of_a_signature",  # forged
        "a_receipt_without_a_signature",  # absent
        "the_key_id_of_another_scorer",  # another key of this ledger
        "a_round_by_a_key_that_was_never_granted",  # another key
        "a_checkpoint_by_another_key",
        "an_unsigned_checkpoint",
    ],
)
def test_k3_K10_the_verifier_says_no_to_forged_absent_and_foreign_signatures(ledger_folder: Path, name: str) -> None:
    case = next(case for case in CASES if case.name == name)
    case.make(ledger_folder)
    assert commands.run("verify", "-C", ledger_folder).status == 3


def test_k3_K13_rounds_that_print_the_same_are_two_receipts(ledger_folder: Path) -> None:
    # One raw sample differs by one nanosecond: printed to two places, the two rounds read the same.
    log = open_log(ledger_folder)
    ((first,), (second,)) = [log.append([round_draft(f"twin-{ns}", wall_ns=ns)]) for ns in (10**9, 10**9 + 1)]
    assert first.identity != second.identity
    assert first.digest != second.digest
    facts = [
        commands.run("show", str(item.index), "--json", "-C", ledger_folder).document() for item in (first, second)
    ]
    assert f"{float(facts[0]['facts'][0]['median']):.2f}" == f"{float(facts[1]['facts'][0]['median']):.2f}"


def test_k3_K13_the_identity_covers_every_byte_of_the_statement(ledger_folder: Path) -> None:
    statement = decode_receipt(read_receipts(ledger_folder)[2]).statement
    pae = b"DSSEv1 28 application/vnd.in-toto+json %d %b" % (len(statement.raw), statement.raw)
    assert statement.identity == hashlib.sha256(pae).digest()


def test_k3_K14_every_seal_names_its_index_and_the_file_before_it(ledger_folder: Path) -> None:
    prev = "0" * 64
    for index, raw in enumerate(read_receipts(ledger_folder)):
        seal = decode_receipt(raw).seal
        assert (seal.index, seal.prev) == (index, prev)
        prev = hashlib.sha256(raw).hexdigest()


def leaves(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Paths of all values in a JSON value that are no containers."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield from leaves(item, (*path, name))
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from leaves(item, (*path, at))
    else:
        yield path


def alter_leaf(value: Any, path: tuple[str | int, ...]) -> None:  # noqa: ANN401 - any JSON value
    """Change one leaf into another value of its type."""
    for step in path[:-1]:
        value = value[step]
    old = value[path[-1]]
    value[path[-1]] = old + 1 if isinstance(old, int) else f"{old}x"


def test_k3_K15_no_part_of_a_statement_is_outside_its_signature(ledger_folder: Path) -> None:
    signed = decode_receipt(read_receipts(ledger_folder)[2]).signed
    paths = list(leaves(signed.statement.value))
    assert len(paths) > 25
    for path in paths:
        other = restate(signed.statement, partial(alter_leaf, path=path))
        with pytest.raises(SignatureError) as caught:
            verify_signature(other, signed.signatures[0], SCORER_1.public)
        assert caught.value.code == "E_SIGNATURE", path


def test_k3_K16_a_corrected_round_leaves_the_first_one_as_it_was(ledger_folder: Path) -> None:
    before = read_receipts(ledger_folder)
    open_log(ledger_folder).append([round_draft("round-2-corrected", wall_ns=7)])
    assert read_receipts(ledger_folder)[:SIZE] == before
    result = verify(DirectoryStore(ledger_folder))
    assert result.log is not None
    assert result.log.entries[2].attested
    assert result.log.receipt(2).statement.body == round_body("round-2")


@pytest.mark.parametrize(("one", "other"), [(2**53 - 1, 2**53 - 2), (10**15, 10**15 + 1)])
def test_k3_K17_no_number_is_rounded_before_it_is_hashed(tmp_path: Path, one: int, other: int) -> None:
    log = open_log(tmp_path)
    start_small_ledger(log)
    for number in (one, other):
        log.append([round_draft(f"round-{number}", wall_ns=number)])
    stored = [decode_receipt(raw).statement.body["reps"][0] for raw in read_receipts(tmp_path)[2:]]
    assert [rep["wall_ns"] for rep in stored] == [one, other]
    assert [rep["records"]["wall_ns"] for rep in stored] == [[one], [other]]


def test_k3_K17_fractions_keep_every_digit(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    start_small_ledger(log)
    written = ["0.000000123456789012345", "0.000000123456789012346"]
    for number, kl in enumerate(written):
        draft = round_draft(f"round-{number}")
        draft.body["parity"] = [{"arm": "main", "depth": 4, "trials": 512, "kl": kl}]
        log.append([draft])
    stored = [decode_receipt(raw).statement for raw in read_receipts(tmp_path)[2:]]
    assert [statement.body["parity"][0]["kl"] for statement in stored] == written
    assert stored[0].identity != stored[1].identity


def test_A10_the_anchor_keeps_the_whole_signed_checkpoint_as_evidence(ledger_folder: Path, tmp_path: Path) -> None:
    anchor = FileAnchor(tmp_path / "state", NOTE_KEY.vkey)
    anchor.write(checkpoint_path(ledger_folder).read_bytes())
    forgery = Forgery.of(ledger_folder)
    forgery.drop(SIZE - 1)
    forgery.add(forgery.state("round", round_body("instead"), SCORER_1))
    forgery.seal()
    kept = MemoryAnchor(anchor.read())
    with pytest.raises(LedgerError) as caught:
        open_log(ledger_folder, kept).append([round_draft("next")])
    assert caught.value.code == "E_FORK"
    assert kept.describe() in caught.value.message
    mine = open_checkpoint(kept.checkpoint or b"", NOTE_KEY)
    other = open_checkpoint(checkpoint_path(ledger_folder).read_bytes(), NOTE_KEY)
    assert mine.size == other.size
    assert mine.root != other.root  # two signatures of one key over two histories: proof for anybody


def test_A11_two_healthy_ledgers_of_one_user_do_not_disturb_each_other(tmp_path: Path) -> None:
    state = tmp_path / "state"
    for number in range(2):
        key = make_key(f"ledger {number}")
        origin = f"ledger.example/{number}"
        body = genesis_body() | {"origin": origin, "ledger_key": key.public.openssh}
        store = DirectoryStore(tmp_path / str(number))
        Log(store, key, lambda note_key: FileAnchor(state, note_key.vkey)).create(origin, genesis_draft(body))
    sizes = [len(read_receipts(tmp_path / str(number))) for number in range(2)]
    assert sizes == [1, 1]
    assert len(list((state / "anchors").iterdir())) == 2


def test_A11_one_key_may_seal_two_ledgers_of_different_origin(tmp_path: Path) -> None:
    anchors = {FileAnchor(tmp_path, NoteKey(name=f"{ORIGIN}/{end}", public=LEDGER.public).vkey).path for end in "ab"}
    assert len(anchors) == 2


def test_A13_entries_are_hashed_again_although_the_checkpoints_agree(ledger_folder: Path) -> None:
    # The checkpoints of sizes 6 and 10 are consistent with each other; an entry between them is not what was signed.
    forgery = Forgery.of(ledger_folder)
    older = ledger_folder.with_name("older")
    build_ledger(older)
    files = read_receipts(older)
    commit(older, files[:6])
    since = checkpoint_path(older).read_bytes()
    assert verify(DirectoryStore(ledger_folder), pins=Pins(since=since)).findings == []
    forgery.times[7] = "2026-11-29T20:00:07Z"
    write_receipts(ledger_folder, forgery.files())
    findings = verify(DirectoryStore(ledger_folder), mode="quick", pins=Pins(since=since)).findings
    assert [item.code for item in findings] == ["E_ROOT"]


def test_A1_a_flipped_bit_stops_the_command_that_appends(tmp_path: Path) -> None:
    key = commands.write_key(tmp_path / "scorer", SCORER_1)
    ledger_key = commands.write_key(tmp_path / "ledger-key", LEDGER)
    folder = tmp_path / "ledger"
    build_ledger(folder)
    (tmp_path / "round.json").write_bytes(dump(round_body("next")))
    edit_receipt(folder, 5, swap_text('"wall_ns":[1000000]', '"wall_ns":[1000001]'))
    words = ("append", tmp_path / "round.json", "--key", key, "--ledger-key", ledger_key, "-C", folder, "--json")
    done = commands.run(*words)
    assert done.status == 3
    assert done.document()["error"]["index"] in {5, 6}  # there, or where the chain breaks
    assert len(read_receipts(folder)) == SIZE


def test_the_clock_of_these_ledgers_is_fixed(tmp_path: Path) -> None:
    # Otherwise no two runs would test the same bytes.
    for name in "ab":
        build_ledger(tmp_path / name)
    assert read_receipts(tmp_path / "a") == read_receipts(tmp_path / "b")
    assert Clock()() == Clock()()
