"""Every reader is the inverse of its writer, and is total: a value or `MalformedError`, whatever the bytes."""

from __future__ import annotations

import base64
import datetime as dt
import json
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PrivateFormat
from hypothesis import given
from hypothesis import strategies as st

from ledger import canonical, json_input, strict
from ledger.checkpoint import Checkpoint, format_body, parse_body, parse_checkpoint, sign_checkpoint
from ledger.dsse import decode_envelope, encode_envelope
from ledger.errors import LedgerError, MalformedError, PolicyError, ProofError, RefusedError, SignatureError
from ledger.keys import PrivateKey, PublicKey, parse_private_key, parse_public_key, parse_public_key_file
from ledger.merkle import Tree
from ledger.note import NoteKey, encode_note, open_note, parse_note, parse_vkey
from ledger.proof import ProofBundle, check_proof, decode_proof, encode_proof
from ledger.receipt import NO_PREV, Receipt, Seal, decode_receipt, encode_receipt, file_digest, to_json
from ledger.statement import (
    STATEMENT_TYPE,
    Basis,
    Producer,
    Statement,
    build_statement,
    decode_statement,
    export_envelope,
    import_envelope,
    sign_statement,
)
from tests.property import strategies as own

if TYPE_CHECKING:
    from collections.abc import Callable

    from hypothesis.strategies import SearchStrategy


@dataclass(frozen=True, slots=True, kw_only=True)
class Codec:
    """A writer and its reader.

    Attributes:
        values: what may be written.
        encode: the writer.
        decode: the reader.
    """

    values: SearchStrategy[Any]
    encode: Callable[[Any], bytes]
    decode: Callable[[bytes], Any]


def textual(values: SearchStrategy[Any], write: Callable[[Any], str], read: Callable[[str], Any]) -> Codec:
    """A codec of text, seen as bytes."""
    return Codec(
        values=values,
        encode=lambda value: own.as_bytes(write(value)),
        decode=lambda raw: read(own.as_text(raw)),
    )


CODECS = {
    "base64": textual(st.binary(max_size=50), strict.b64encode, strict.b64decode),
    "decimal": textual(own.sizes, str, strict.parse_decimal),
    "digest": textual(own.hashes, bytes.hex, strict.parse_digest),
    "time": textual(own.times.map(strict.parse_time), strict.format_time, strict.parse_time),
    "canonical JSON": Codec(values=own.documents, encode=canonical.encode, decode=canonical.decode),
    "verifier key": textual(
        st.builds(NoteKey, name=own.names, public=own.private_keys.map(lambda key: key.public)),
        lambda key: key.vkey,
        parse_vkey,
    ),
    "note": Codec(values=own.notes(), encode=encode_note, decode=parse_note),
    "checkpoint body": textual(own.checkpoints, format_body, parse_body),
    "statement": Codec(values=own.statements(), encode=lambda value: value.raw, decode=decode_statement),
    "receipt": Codec(values=own.receipts, encode=encode_receipt, decode=decode_receipt),
    "proof bundle": Codec(values=own.proof_bundles, encode=encode_proof, decode=decode_proof),
    "public key": textual(own.private_keys.map(lambda key: key.public), lambda key: key.openssh, parse_public_key),
}
# An envelope may be laid out in many ways: its reader is the inverse of its writer, but not the reverse.
ENVELOPE = Codec(values=own.signed_statements(), encode=export_envelope, decode=import_envelope)


@pytest.mark.parametrize("name", [*CODECS, "envelope"])
@own.PROFILE
@given(data=st.data())
def test_what_is_written_is_read_back_as_the_same_value(name: str, data: st.DataObject) -> None:
    codec = CODECS.get(name, ENVELOPE)
    value = data.draw(codec.values)
    assert codec.decode(codec.encode(value)) == value


@pytest.mark.parametrize("name", CODECS)
@own.MANY
@given(data=st.data())
def test_damaged_bytes_are_malformed_or_the_very_bytes_that_their_value_is_written_as(
    name: str, data: st.DataObject
) -> None:
    codec = CODECS[name]
    raw = data.draw(own.mutated(codec.values.map(codec.encode)))
    try:
        value = codec.decode(raw)
    except MalformedError:
        return
    assert codec.encode(value) == raw


@pytest.mark.parametrize("name", [*CODECS, "envelope"])
@own.PROFILE
@given(raw=st.binary(max_size=120) | st.text(max_size=60).map(str.encode) | st.sampled_from(own.SPLINTERS))
def test_arbitrary_bytes_are_malformed_or_the_very_bytes_that_their_value_is_written_as(name: str, raw: bytes) -> None:
    codec = CODECS.get(name, ENVELOPE)
    try:
        value = codec.decode(raw)
    except MalformedError:
        return
    assert codec.encode(value) == raw


@own.MANY
@given(raw=own.mutated(ENVELOPE.values.map(ENVELOPE.encode)))
def test_a_damaged_envelope_is_malformed_or_keeps_its_identity_when_written_again(raw: bytes) -> None:
    try:
        signed = import_envelope(raw)
    except MalformedError:
        return
    again = import_envelope(export_envelope(signed))
    assert again == signed
    assert again.statement.identity == signed.statement.identity


@own.MANY
@given(raw=own.mutated(ENVELOPE.values.map(ENVELOPE.encode)) | st.binary(max_size=80))
def test_an_envelope_around_any_payload_is_malformed_or_read_back_the_same(raw: bytes) -> None:
    try:
        envelope = decode_envelope(raw)
    except MalformedError:
        return
    assert decode_envelope(encode_envelope(envelope.payload, envelope.signatures)) == envelope


@own.MANY
@given(raw=own.mutated(own.signed_checkpoints) | st.binary(max_size=80), key=own.signers)
def test_a_damaged_checkpoint_is_malformed_or_unsigned_unless_it_is_intact(raw: bytes, key: PrivateKey) -> None:
    try:
        checkpoint = parse_checkpoint(raw)
    except MalformedError:
        return
    try:
        note = open_note(raw, [NoteKey(name=checkpoint.origin, public=key.public)])
    except SignatureError:
        return
    assert encode_note(note) == raw
    assert parse_body(note.text) == checkpoint


@own.PROFILE
@given(raw=own.mutated(own.proof_bundles.map(encode_proof)), key=own.signers)
def test_checking_a_damaged_proof_bundle_raises_nothing_but_the_ledgers_own_errors(raw: bytes, key: PrivateKey) -> None:
    # No bundle here is of a tree, so none may hold.
    with pytest.raises(LedgerError):
        check_proof(decode_proof(raw), NoteKey(name="any.example", public=key.public))


@pytest.mark.parametrize(("claimed", "place"), [(0, 1), (1, 0), (2, 0)])
def test_a_receipt_that_names_another_index_than_its_place_in_the_tree_is_refused(claimed: int, place: int) -> None:
    # The ledger's own key signs the tree: only the seal shows that the receipt was moved.
    key = PrivateKey.from_seed(bytes(32))
    value = {"_type": STATEMENT_TYPE, "predicate": {}, "predicateType": "x", "subject": []}
    signed = sign_statement(Statement(raw=canonical.encode(value), value=value), [key])
    seal = Seal(index=claimed, prev=NO_PREV, sealed_at="2026-11-29T20:30:00Z")
    raw = encode_receipt(Receipt(seal=seal, signed=signed))
    entries = [b"another"] * 2
    entries[place] = file_digest(raw)
    tree = Tree(entries)
    checkpoint = sign_checkpoint(Checkpoint(origin="ledger.example", size=2, root=tree.root()), key)
    hashes = tuple(tree.inclusion_proof(place))
    bundle = ProofBundle(receipt=raw, index=place, hashes=hashes, checkpoint=checkpoint)
    with pytest.raises(ProofError) as caught:
        check_proof(bundle, NoteKey(name="ledger.example", public=key.public))
    assert caught.value.code == "E_INDEX"


def test_a_proof_bundle_of_64_hashes_is_refused() -> None:
    checkpoint = sign_checkpoint(Checkpoint(origin="a", size=1, root=bytes(32)), PrivateKey.from_seed(bytes(32)))
    for count in (63, 64):
        bundle = ProofBundle(receipt=b"", index=0, hashes=(bytes(32),) * count, checkpoint=checkpoint)
        if count == 63:
            assert decode_proof(encode_proof(bundle)) == bundle
        else:
            with pytest.raises(MalformedError):
                decode_proof(encode_proof(bundle))


@pytest.mark.parametrize(
    "change",
    [
        lambda value: value["signatures"].clear(),
        lambda value: value["signatures"].reverse(),
        lambda value: value["signatures"].append(value["signatures"][1]),
        lambda value: value["signatures"][0].update(keyid=value["signatures"][1]["keyid"]),
        lambda value: value["signatures"][0].update(keyid="SHA256:short"),
        lambda value: value["signatures"][0].update(keyid="MD5:" + "A" * 43),
        lambda value: value["signatures"][0].update(sig="AAAA"),
        lambda value: value["signatures"][0].update(extra=1),
        lambda value: value["signatures"][0].pop("sig"),
        lambda value: value["seal"].update(index=-1),
        lambda value: value["seal"].update(index=True),
        lambda value: value["seal"].update(prev="A" * 64),
        lambda value: value["seal"].update(sealed_at="2026-11-29 20:30:00Z"),
        lambda value: value["seal"].update(extra=1),
        lambda value: value["seal"].pop("prev"),
        lambda value: value.update(receipt="v2"),
        lambda value: value.update(extra=1),
        lambda value: value["statement"].update(_type="https://in-toto.io/Statement/v0.1"),
        lambda value: value["statement"].update(extra=1),
        lambda value: value["statement"].update(predicate=[]),
        lambda value: value["statement"].update(predicateType=1),
        lambda value: value["statement"].pop("subject"),
        lambda value: value["statement"]["predicate"].update(fraction=0.5),
    ],
)
def test_a_receipt_in_canonical_form_but_of_another_shape_is_refused(change: Callable[[Any], object]) -> None:
    value: Any = {"_type": STATEMENT_TYPE, "predicate": {}, "predicateType": "x", "subject": []}
    keys = [PrivateKey.from_seed(bytes([at]) * 32) for at in range(2)]
    signed = sign_statement(Statement(raw=canonical.encode(value), value=value), keys)
    seal = Seal(index=1, prev=NO_PREV, sealed_at="2026-11-29T20:30:00Z")
    raw = encode_receipt(Receipt(seal=seal, signed=signed))
    decode_receipt(raw)
    whole = json.loads(raw)
    change(whole)
    bad = orjson.dumps(whole, option=orjson.OPT_SORT_KEYS) + b"\n"
    assert bad != raw
    with pytest.raises(MalformedError):
        decode_receipt(bad)


def test_a_key_signs_a_statement_once() -> None:
    key = PrivateKey.from_seed(bytes(32))
    value: Any = {"_type": STATEMENT_TYPE, "predicate": {}, "predicateType": "x", "subject": []}
    signed = sign_statement(Statement(raw=canonical.encode(value), value=value), [key])
    with pytest.raises(RefusedError) as caught:
        signed.cosign(key)
    assert caught.value.code == "E_DUPLICATE_SIGNER"


@own.MANY
@given(raw=own.mutated(own.documents.map(canonical.encode)) | st.binary(max_size=80))
def test_json_in_any_layout_is_malformed_or_outside_the_domain_or_keeps_its_value_in_canonical_form(raw: bytes) -> None:
    for fractions in (False, True):
        try:
            value = json_input.parse_json(raw, fractions=fractions)
            written = canonical.encode(value)
        except MalformedError:
            continue
        assert json_input.parse_json(written) == value


@own.MANY
@given(value=own.documents, indent=st.sampled_from([None, 0, 2]), ascii_only=st.booleans())
def test_json_in_any_layout_has_the_value_that_was_written(value: object, indent: int | None, ascii_only: bool) -> None:
    raw = json.dumps(value, indent=indent, ensure_ascii=ascii_only).encode()
    assert json_input.parse_json(raw) == value


@pytest.mark.parametrize("text", ["plain", "two\nlines", "back\\slash", "é"])
def test_a_statement_of_64_levels_is_refused_by_a_receipt_or_read_back_from_it(text: str) -> None:
    value: Any = text
    for _ in range(62):  # the statement and its predicate are two levels
        value = [value]
    producer = Producer(keyid="SHA256:" + "A" * 43, seq=0, prev=None)
    basis = Basis(tree_size=0, root=bytes(32))
    statement = build_statement("x", {}, subject=("a", "0" * 64), basis=basis, producer=producer)
    deep = decode_statement(canonical.encode({**statement.value, "predicate": {"x": value}}))
    seal = Seal(index=0, prev=NO_PREV, sealed_at="2026-11-29T20:30:00Z")
    receipt = Receipt(seal=seal, signed=sign_statement(deep, [PrivateKey.from_seed(bytes(32))]))
    try:
        raw = encode_receipt(receipt)
    except MalformedError:
        return
    assert decode_receipt(raw) == receipt
    assert to_json(receipt)["statement"] == deep.value


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00Z", "0999-12-31T23:59:59Z", "1000-01-01T00:00:00Z"])
def test_a_time_before_the_year_1000_is_refused_or_written_again_as_it_stands(text: str) -> None:
    try:
        moment = strict.parse_time(text)
    except MalformedError:
        assert text < "1000"
    else:
        assert strict.format_time(moment) == text


@pytest.mark.parametrize(
    "text",
    [
        "2026-02-29T00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-01-01T24:00:00Z",
        "2016-12-31T23:59:60Z",
        "0000-01-01T00:00:00Z",
    ],
)
def test_a_time_that_the_calendar_does_not_have_is_refused(text: str) -> None:
    with pytest.raises(MalformedError) as caught:
        strict.parse_time(text)
    assert caught.value.code == "E_TIME"


def test_a_time_of_another_zone_is_written_in_utc() -> None:
    moment = dt.datetime(2026, 11, 29, 22, 30, 1, 999_999, tzinfo=dt.timezone(dt.timedelta(hours=2)))
    assert strict.format_time(moment) == "2026-11-29T20:30:01Z"


# Key files


@own.PROFILE
@given(key=own.private_keys, comment=own.texts.filter(lambda text: "\n" not in text), end=st.sampled_from(["", "\n"]))
def test_a_public_key_file_with_any_comment_gives_the_key(key: PrivateKey, comment: str, end: str) -> None:
    raw = f"{key.public.openssh} {comment}{end}".encode()
    assert parse_public_key_file(raw) == key.public


@own.MANY
@given(raw=own.mutated(own.private_keys.map(lambda key: f"{key.public.openssh} me@here\n".encode())) | st.binary())
def test_a_damaged_public_key_file_is_malformed_or_still_holds_a_key_that_stands_in_it(raw: bytes) -> None:
    try:
        key = parse_public_key_file(raw)
    except MalformedError:
        return
    assert key.openssh.split()[1].encode() in raw


@own.PROFILE
@given(seed=own.hashes)
def test_a_private_key_file_gives_the_key_that_was_written(seed: bytes) -> None:
    key = PrivateKey.from_seed(seed)
    again = parse_private_key(key.to_openssh())
    assert again.public == key.public
    assert again.sign(b"x") == key.sign(b"x")


@own.VERY_FEW
@given(seed=own.hashes, passphrase=st.binary(min_size=1, max_size=72))
def test_an_encrypted_private_key_file_gives_the_key_with_its_passphrase_only(seed: bytes, passphrase: bytes) -> None:
    key = PrivateKey.from_seed(seed)
    raw = key.to_openssh(passphrase)
    assert parse_private_key(raw, lambda: passphrase).public == key.public
    with pytest.raises(PolicyError):
        parse_private_key(raw, lambda: passphrase + b"x")


def test_an_encrypted_private_key_file_is_not_opened_without_a_passphrase() -> None:
    raw = quickly_encrypted(bytes(32), b"secret")
    for nothing in (None, lambda: None, lambda: b""):
        with pytest.raises(PolicyError):
            parse_private_key(raw, nothing)


def test_the_passphrase_is_asked_for_once_and_for_an_encrypted_key_only() -> None:
    asked = []

    def ask() -> bytes:
        asked.append(1)
        return b"secret"

    parse_private_key(PrivateKey.from_seed(bytes(32)).to_openssh(), ask)
    assert asked == []
    parse_private_key(quickly_encrypted(bytes(32), b"secret"), ask)
    assert asked == [1]


@own.MANY
@given(raw=own.mutated(own.private_keys.map(PrivateKey.to_openssh)) | st.binary(max_size=80))
def test_a_damaged_private_key_file_is_refused_or_gives_a_key_that_the_file_names(raw: bytes) -> None:
    try:
        key = parse_private_key(raw, lambda: None)
    except (MalformedError, PolicyError):
        return
    assert key.public.raw in openssh_body(raw)


@pytest.mark.parametrize("what", ["plain", "encrypted"])
def test_a_private_key_file_with_any_bit_of_its_contents_flipped_is_refused_or_gives_the_same_key(what: str) -> None:
    seed, secret = bytes(range(32)), b"secret"
    raw = PrivateKey.from_seed(seed).to_openssh() if what == "plain" else quickly_encrypted(seed, secret)
    body, whole = openssh_body(raw), parse_private_key(raw, lambda: secret).public
    rounds = body.find(struct.pack(">I", 1) + struct.pack(">I", 1) + struct.pack(">I", 51))
    refused = 0
    for at in range(len(body)):
        if rounds <= at < rounds + 4:
            continue  # a flipped bit here asks for up to 2^31 rounds of key derivation
        bad = bytearray(body)
        bad[at] ^= 1 << at % 8
        try:
            found = parse_private_key(openssh_file(bytes(bad)), lambda: secret).public
        except (MalformedError, PolicyError):
            refused += 1
        else:
            assert found == whole
    assert refused > 0.9 * len(body)


def quickly_encrypted(seed: bytes, passphrase: bytes) -> bytes:
    """An encrypted key file with one round of key derivation."""
    lock = PrivateFormat.OpenSSH.encryption_builder().kdf_rounds(1).build(passphrase)
    return Ed25519PrivateKey.from_private_bytes(seed).private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, lock)


def openssh_body(raw: bytes) -> bytes:
    """The bytes inside an OpenSSH private key file."""
    return base64.b64decode(raw.partition(b"KEY-----")[2].partition(b"-----END")[0])


def openssh_file(body: bytes) -> bytes:
    """Inverse of `openssh_body`."""
    head, tail = "BEGIN", "END"  # apart, so that no scanner takes this file for a leaked key
    words = "OPENSSH PRIVATE KEY-----"
    return f"-----{head} {words}\n{base64.b64encode(body).decode()}\n-----{tail} {words}\n".encode()


def test_the_helpers_take_a_key_file_apart_and_put_it_together_again() -> None:
    raw = PrivateKey.from_seed(bytes(32)).to_openssh()
    assert parse_private_key(openssh_file(openssh_body(raw))).public == PrivateKey.from_seed(bytes(32)).public
    assert openssh_body(openssh_file(b"any bytes")) == b"any bytes"
    assert isinstance(PrivateKey.from_seed(bytes(32)).public, PublicKey)
