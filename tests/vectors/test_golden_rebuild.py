"""The golden ledger, made again from its seeds: every file must come out byte for byte.

Another implementation made the files; `golden/README.md` says how and with what they were checked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ledger import canonical
from ledger.checkpoint import Checkpoint, open_checkpoint, sign_checkpoint
from ledger.errors import RootMismatchError
from ledger.keys import parse_public_key
from ledger.merkle import Tree, check_consistency, check_inclusion, leaf_hash
from ledger.note import NoteKey
from ledger.proof import ProofBundle, check_proof, decode_proof, encode_proof
from ledger.receipt import NO_PREV, Receipt, Seal, decode_receipt, encode_receipt, file_digest, to_json
from ledger.statement import Statement, decode_statement, export_envelope, import_envelope, sign_statement
from ledger.strict import b64decode, b64encode
from tests.vectors import golden_ledger as golden

if TYPE_CHECKING:
    from ledger.canonical import JsonObject

FACTS = golden.FACTS
# kind, subject, predicate, signer and time of sealing of each receipt
MADE_FROM: list[tuple[str, tuple[str, str], JsonObject, str, str]] = [
    ("golden-a", ("ledger", "0" * 64), {"n": 0, "text": "first"}, "root", "2026-11-29T20:30:00Z"),
    (
        "golden-b",
        ("candidate", "5694d08a2e53ffcae0c3103e5ad6f6076abd960eb1f8a56577040bc1028f702b"),
        {
            "empty": {},
            "list": [True, False, None, "0.000064", []],
            "n": 9007199254740991,
            "neg": -9007199254740991,
            "text": "µs “quoted” \\ / \t tab\nline, \u00e9 and e\u0301 stay different",
        },
        "scorer",
        "2026-11-29T20:31:00Z",
    ),
    (
        "golden-c",
        ("candidate", "ebcf038fb622fa7f116765c91adb79f4cd49c03c5d0a17cc5eca8090d90f70c8"),
        {"n": 2, "text": "third"},
        "scorer",
        "2026-11-29T20:32:00Z",
    ),
]


def make_statement(index: int) -> Statement:
    kind, (name, digest), predicate, _, _ = MADE_FROM[index]
    value: dict[str, Any] = {
        "subject": [{"name": name, "digest": {"sha256": digest}}],
        "predicateType": f"urn:rungbook:{kind}:v1",
        "predicate": predicate,
        "_type": "https://in-toto.io/Statement/v1",
    }
    return Statement(raw=canonical.encode(value), value=value)


def make_receipts() -> list[bytes]:
    files: list[bytes] = []
    for index, (_, _, _, signer, sealed_at) in enumerate(MADE_FROM):
        prev = file_digest(files[-1]).hex() if files else NO_PREV
        signed = sign_statement(make_statement(index), [golden.KEYS[signer]])
        files.append(
            encode_receipt(Receipt(seal=Seal(index=index, prev=prev, sealed_at=sealed_at), signed=signed)),
        )
    return files


def make_tree() -> Tree:
    return Tree(file_digest(raw) for raw in make_receipts())


def make_checkpoint(size: int) -> bytes:
    checkpoint = Checkpoint(origin=FACTS["origin"], size=size, root=make_tree().root(size))
    return sign_checkpoint(checkpoint, golden.KEYS["ledger"])


@pytest.mark.parametrize("who", ["root", "scorer", "ledger"])
def test_keys_and_key_ids_are_the_golden_ones(who: str) -> None:
    public = golden.KEYS[who].public
    assert public.keyid == FACTS["keyids"][who]
    assert public.openssh == FACTS["openssh"][who]
    assert parse_public_key(FACTS["openssh"][who]) == public


def test_the_verifier_key_is_the_golden_one() -> None:
    key = NoteKey(name=FACTS["origin"], public=golden.KEYS["ledger"].public)
    assert key.vkey == FACTS["vkey"]
    assert key == golden.LEDGER_KEY


@pytest.mark.parametrize("index", range(3))
def test_statements_and_their_identities_are_the_golden_ones(index: int) -> None:
    statement = make_statement(index)
    found = decode_receipt(golden.read(golden.RECEIPTS[index])).statement
    assert (statement.raw, statement.value, statement.kind) == (found.raw, found.value, MADE_FROM[index][0])
    assert decode_statement(statement.raw) == statement
    assert statement.identity.hex() == FACTS["receipts"][index]["statement_sha256_of_pae"]


@pytest.mark.parametrize("index", range(3))
def test_receipt_files_and_their_hashes_are_the_golden_ones(index: int) -> None:
    raw = make_receipts()[index]
    assert raw == golden.read(golden.RECEIPTS[index])
    assert file_digest(raw).hex() == FACTS["receipts"][index]["file_sha256"]
    assert leaf_hash(file_digest(raw)).hex() == FACTS["receipts"][index]["leaf_hash"]


@pytest.mark.parametrize("index", range(3))
def test_a_receipt_file_is_read_and_written_again(index: int) -> None:
    raw = golden.read(golden.RECEIPTS[index])
    receipt = decode_receipt(raw)
    assert encode_receipt(receipt) == raw
    assert canonical.encode(to_json(receipt)) + b"\n" == raw
    assert [item.keyid for item in receipt.signed.signatures] == [FACTS["keyids"][MADE_FROM[index][3]]]


@pytest.mark.parametrize("size", range(4))
def test_roots_are_the_golden_ones(size: int) -> None:
    assert make_tree().root(size) == b64decode(FACTS["roots"][str(size)])


@pytest.mark.parametrize(("name", "size"), [("checkpoint.2", 2), ("receipts/checkpoint", 3)])
def test_checkpoints_are_the_golden_ones(name: str, size: int) -> None:
    assert make_checkpoint(size) == golden.read(name)
    opened = open_checkpoint(golden.read(name), golden.LEDGER_KEY)
    assert (opened.origin, opened.size, b64encode(opened.root)) == (FACTS["origin"], size, FACTS["roots"][str(size)])


@pytest.mark.parametrize("index", range(3))
def test_envelopes_are_the_golden_ones(index: int) -> None:
    signed = sign_statement(make_statement(index), [golden.KEYS[MADE_FROM[index][3]]])
    assert export_envelope(signed) == golden.read(golden.ENVELOPES[index])
    assert import_envelope(golden.read(golden.ENVELOPES[index])) == signed


@pytest.mark.parametrize("index", range(3))
def test_proof_bundles_are_the_golden_ones_and_hold(index: int) -> None:
    hashes = tuple(make_tree().inclusion_proof(index))
    bundle = ProofBundle(receipt=make_receipts()[index], index=index, hashes=hashes, checkpoint=make_checkpoint(3))
    assert [b64encode(digest) for digest in hashes] == FACTS["inclusion"][str(index)]
    assert encode_proof(bundle) == golden.read(golden.PROOFS[index])
    assert decode_proof(golden.read(golden.PROOFS[index])) == bundle
    receipt, checkpoint = check_proof(bundle, golden.LEDGER_KEY)
    assert (receipt.seal.index, checkpoint.size) == (index, 3)


@pytest.mark.parametrize("index", range(3))
def test_a_golden_leaf_hash_leads_to_the_golden_root(index: int) -> None:
    leaf = bytes.fromhex(FACTS["receipts"][index]["leaf_hash"])
    proof = [b64decode(text) for text in FACTS["inclusion"][str(index)]]
    check_inclusion(index, 3, leaf, proof, b64decode(FACTS["roots"]["3"]))


def test_the_consistency_proof_is_the_golden_one_and_holds() -> None:
    proof = make_tree().consistency_proof(2, 3)
    assert [b64encode(digest) for digest in proof] == FACTS["consistency_2_3"]
    old, new = (
        open_checkpoint(golden.read(name), golden.LEDGER_KEY) for name in ("checkpoint.2", "receipts/checkpoint")
    )
    check_consistency(old.size, new.size, old.root, new.root, proof)


def test_the_golden_ledger_verifies_end_to_end_at_both_sizes() -> None:
    files = golden.read_receipts()
    assert golden.check_ledger(files, golden.read("receipts/checkpoint")).size == 3
    assert golden.check_ledger(files[:2], golden.read("checkpoint.2")).size == 2
    with pytest.raises(RootMismatchError):
        golden.check_ledger(files[:2], golden.read("receipts/checkpoint"))
    with pytest.raises(RootMismatchError):
        golden.check_ledger(files, golden.read("checkpoint.2"))


def test_every_file_of_the_golden_ledger_is_made_again_by_a_test_here() -> None:
    described = {"README.md", "golden.json"}
    found = {path.relative_to(golden.FOLDER).as_posix() for path in golden.FOLDER.rglob("*") if path.is_file()}
    assert found - described == {*golden.RECEIPTS, *golden.CHECKPOINTS, *golden.PROOFS, *golden.ENVELOPES}
