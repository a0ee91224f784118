"""Failures that transparency logs and JSON signers have had, each as a test that this ledger does not.

C: proofs and verifiers. D: keys and signatures. E: canonical forms. The numbers group the tests of one failure.
"""
# ruff: noqa: N802 - the capital letters are the groups above

from __future__ import annotations

import base64
import hashlib
import json
import unicodedata
from itertools import combinations
from typing import TYPE_CHECKING, Any

import orjson
import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from ledger import canonical, json_input
from ledger.checkpoint import Checkpoint, format_body, parse_body, parse_checkpoint, sign_checkpoint
from ledger.dsse import PAYLOAD_TYPE, Signature, decode_envelope, pae, statement_pae
from ledger.errors import MalformedError, SignatureError
from ledger.keys import PrivateKey, PublicKey, parse_private_key, parse_public_key
from ledger.merkle import EMPTY_ROOT
from ledger.note import NoteKey, parse_note, parse_vkey
from ledger.proof import ProofBundle, decode_proof, encode_proof
from ledger.receipt import Receipt, Seal, decode_receipt, encode_receipt
from ledger.statement import (
    Basis,
    Producer,
    SignedStatement,
    Statement,
    build_statement,
    decode_statement,
    export_envelope,
    import_envelope,
    sign_statement,
    verify_signature,
)
from ledger.strict import b64decode, format_time, parse_decimal, parse_digest, parse_time
from tests.property import strategies as own

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

KEY = PrivateKey.from_seed(bytes(range(32)))
KEY_RAW = KEY.public.raw
OTHER = PrivateKey.from_seed(bytes(range(1, 33)))


def make_statement(text: str = "first", seq: int = 7) -> Statement:
    return build_statement(
        "test",
        {"text": text},
        subject=("candidate", "ab" * 32),
        basis=Basis(tree_size=3, root=EMPTY_ROOT),
        producer=Producer(keyid=KEY.public.keyid, seq=seq, prev=bytes(32)),
    )


SIGNED = sign_statement(make_statement(), [KEY])
RECEIPT = encode_receipt(
    Receipt(seal=Seal(index=12, prev="0123" * 16, sealed_at="2026-11-29T20:30:00Z"), signed=SIGNED)
)
CHECKPOINT = sign_checkpoint(Checkpoint(origin="ledger.example", size=12, root=EMPTY_ROOT), KEY)
BUNDLE = encode_proof(ProofBundle(receipt=b"{}", index=12, hashes=(EMPTY_ROOT,), checkpoint=CHECKPOINT))
VKEY = NoteKey(name="ledger.example", public=KEY.public).vkey


def refused(read: Callable[..., object], *arguments: object) -> bool:
    """Whether a reader calls its input malformed; any other error fails the test."""
    try:
        read(*arguments)
    except MalformedError:
        return True
    return False


# C10: two byte forms of one base64 value


def other_forms(text: str) -> Iterator[str]:
    """Texts that a lenient reader takes for the same bytes, or for base64 at all."""
    body, pad = text.rstrip("="), text[len(text.rstrip("=")) :]
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    last = alphabet.index(body[-1])
    for spare in range(1, 4 ** len(pad)):  # bits behind the last byte
        yield body[:-1] + alphabet[last ^ spare] + pad
    yield body + pad + "="
    yield body + pad + "===="
    yield f"{body[:4]} {body[4:]}{pad}"
    yield f" {text}"
    yield f"{text} "
    yield f"{text[:4]}\t{text[4:]}"
    yield f"{body[:4]}={body[4:]}{pad}"
    yield f"{text[:8]}*{text[8:]}"
    yield text[:-1]
    yield "é" + text[1:]
    if pad:
        yield body
        yield f"{text}AAAA"
    if "+" in text or "/" in text:
        yield text.replace("+", "-").replace("/", "_")


def test_C10_the_forms_that_lenient_readers_take_are_refused() -> None:
    for text in (
        "QUJ=",
        "QUJD====",
        "QUJD=",
        "QU=JD",
        "QUI",
        "QUJD\n",
        "QU JD",
        "QUJD-_==",
        "=",
        "====",
        "A",
        "AA=",
        "é",
    ):
        assert refused(b64decode, text)
    assert [b64decode(text) for text in ("", "QQ==", "QUI=", "QUJD")] == [b"", b"A", b"AB", b"ABC"]
    assert base64.b64decode("QUJ=", validate=True)  # the reason for a reader of our own


@own.MANY
@given(data=st.binary(min_size=5, max_size=70))
def test_C10_every_other_form_of_a_base64_value_is_refused(data: bytes) -> None:
    text = base64.b64encode(data).decode()
    assert b64decode(text) == data
    for other in other_forms(text):
        assert refused(b64decode, other)


@pytest.mark.parametrize("length", [31, 33, 0, 64])
def test_C10_a_value_of_another_length_is_refused(length: int) -> None:
    assert refused(lambda: b64decode(base64.b64encode(bytes(length)).decode(), length=32))


READERS: dict[str, tuple[bytes, Callable[[bytes], object], str]] = {
    "root of a checkpoint": (CHECKPOINT, parse_checkpoint, base64.b64encode(EMPTY_ROOT).decode()),
    "signature of a note": (CHECKPOINT, parse_note, CHECKPOINT.decode().split()[-1]),
    "hash of a proof": (BUNDLE, decode_proof, base64.b64encode(EMPTY_ROOT).decode()),
    "receipt in a proof": (
        encode_proof(ProofBundle(receipt=RECEIPT[:-3], index=12, hashes=(), checkpoint=CHECKPOINT)),
        decode_proof,
        base64.b64encode(RECEIPT[:-3]).decode(),
    ),
    "verifier key": (VKEY.encode(), lambda raw: parse_vkey(raw.decode()), VKEY.rpartition("+")[2]),
    "public key": (
        KEY.public.openssh.encode(),
        lambda raw: parse_public_key(raw.decode()),
        KEY.public.openssh.split()[1],
    ),
    "signature of a receipt": (RECEIPT, decode_receipt, base64.b64encode(SIGNED.signatures[0].sig).decode()),
    "key id of a receipt": (RECEIPT, decode_receipt, SIGNED.signatures[0].keyid.partition(":")[2]),
}


@pytest.mark.parametrize("what", READERS)
def test_C10_every_place_that_holds_base64_refuses_its_other_forms(what: str) -> None:
    raw, read, text = READERS[what]
    assert raw.count(text.encode()) >= 1
    read(raw)
    for other in other_forms(text):
        assert refused(read, raw.replace(text.encode(), other.encode(), 1))


def test_C10_an_envelope_may_use_either_alphabet_but_only_one_and_strictly() -> None:
    document = json.loads(export_envelope(SIGNED))
    url_safe = {**document, "payload": document["payload"].replace("+", "-").replace("/", "_")}
    assert import_envelope(json.dumps(url_safe).encode()) == SIGNED
    for text in (document["payload"], url_safe["payload"]):
        for other in other_forms(text):
            if other.replace("-", "+").replace("_", "/") != document["payload"]:
                assert refused(import_envelope, json.dumps({**document, "payload": other}).encode())
    for sig in ("+-" + "A" * 84 + "==", "/_" + "A" * 84 + "=="):
        changed = {**document, "signatures": [{**document["signatures"][0], "sig": sig}]}
        assert refused(import_envelope, json.dumps(changed).encode())


DIGEST = "0123456789abcdef" * 4


@pytest.mark.parametrize(
    "text",
    [
        *(
            DIGEST.upper(),
            DIGEST + "\n",
            "\n" + DIGEST,
            " " + DIGEST,
            DIGEST + " ",
            DIGEST[:-1],
            DIGEST + "0",
            DIGEST[:-2],
            "",
        ),
        *(
            "0x" + DIGEST[2:],
            DIGEST[:-1] + "g",
            DIGEST[:-1] + "\u0660",
            DIGEST[:-1] + "\uff11",
            DIGEST[:32] + " " + DIGEST[33:],
        ),
    ],
)
def test_C10_a_digest_in_another_form_is_refused(text: str) -> None:
    assert parse_digest(DIGEST).hex() == DIGEST
    assert refused(parse_digest, text)
    prev = b'"prev":"' + b"0123" * 16 + b'"'
    assert RECEIPT.count(prev) == 1
    assert refused(decode_receipt, RECEIPT.replace(prev, b'"prev":' + json.dumps(text).encode()))


TIME = "2026-11-29T20:30:00Z"


@pytest.mark.parametrize(
    "text",
    [
        *(
            TIME + "\n",
            " " + TIME,
            TIME + " ",
            TIME[:-1],
            TIME.lower(),
            TIME[:-1] + "+00:00",
            TIME.replace("T", " "),
            "",
        ),
        *(
            "2026-11-29T20:30:00.0Z",
            "2026-11-29T20:30Z",
            "20261129T203000Z",
            "+2026-11-29T20:30:00Z",
            "12026-11-29T20:30:00Z",
        ),
        *("2026-11-9T20:30:00Z", "2026-11- 9T20:30:00Z", "\u0662026-11-29T20:30:00Z", "2026-02-30T00:00:00Z"),
    ],
)
def test_C10_a_time_in_another_form_is_refused(text: str) -> None:
    assert format_time(parse_time(TIME)) == TIME
    assert refused(parse_time, text)
    assert refused(decode_receipt, RECEIPT.replace(TIME.encode(), json.dumps(text)[1:-1].encode()))


# C12: lenient integers

LENIENT = [
    "1_2",
    " 12",
    "12 ",
    "12\n",
    "\t12",
    "١٢",
    "\uff11\uff12",
    "+12",
    "-12",
    "012",
    "0x12",
    "1e1",
    "12.0",
    "12.",
    "",
]


@pytest.mark.parametrize("text", [*LENIENT, "12\x00", "1 2", "twelve", "18446744073709551616", "1" * 20, "00", "-0"])
def test_C12_an_integer_in_another_form_is_refused_wherever_one_is_read(text: str) -> None:
    assert refused(parse_decimal, text)
    body = f"ledger.example\n{text}\n{base64.b64encode(EMPTY_ROOT).decode()}\n"
    assert refused(parse_body, body)
    bundle = BUNDLE.replace(b"\nindex 12\n", b"\nindex " + text.encode() + b"\n")
    assert bundle != BUNDLE
    assert refused(decode_proof, bundle)
    receipt = RECEIPT.replace(b'"index":12,', b'"index":' + text.encode() + b",")
    assert receipt != RECEIPT
    assert refused(decode_receipt, receipt)
    assert refused(decode_receipt, RECEIPT.replace(b'"index":12,', b'"index":"12",'))


def test_C12_the_numbers_from_0_to_19_digits_are_read() -> None:
    for number in (0, 1, 9, 10, 10**18, 10**19 - 1):
        assert parse_decimal(str(number)) == number
        body = format_body(Checkpoint(origin="ledger.example", size=number, root=EMPTY_ROOT))
        assert parse_body(body).size == number
    assert refused(parse_decimal, str(10**19))


@pytest.mark.parametrize("index", [b"true", b"null", b"1.0", b"-1", b'"1"', b"[1]", b"9007199254740992", b"1e0"])
def test_C12_the_index_of_a_seal_is_a_plain_integer(index: bytes) -> None:
    assert refused(decode_receipt, RECEIPT.replace(b'"index":12,', b'"index":' + index + b","))


@own.MANY
@given(text=st.text(st.sampled_from("0123456789 +-_.\n\te٣\uff12"), max_size=21))
def test_C12_what_is_read_is_what_would_be_written(text: str) -> None:
    if not refused(parse_decimal, text):
        assert str(parse_decimal(text)) == text


# D3: public keys about which signature libraries disagree. The curve, computed here for its own sake:

P = 2**255 - 19
D = -121665 * pow(121666, P - 2, P) % P
ORDER = 2**252 + 27742317777372353535851937790883648493
ROOT_OF_MINUS_ONE = pow(2, (P - 1) // 4, P)
Point = tuple[int, int]
NEUTRAL = (0, 1)


def add(one: Point, two: Point) -> Point:
    product = D * one[0] * two[0] * one[1] * two[1] % P
    x = (one[0] * two[1] + one[1] * two[0]) * pow(1 + product, P - 2, P)
    y = (one[1] * two[1] + one[0] * two[0]) * pow(1 - product, P - 2, P)
    return x % P, y % P


def times(factor: int, point: Point) -> Point:
    total = NEUTRAL
    while factor:
        if factor & 1:
            total = add(total, point)
        point = add(point, point)
        factor >>= 1
    return total


def point_at(y: int) -> Point | None:
    """A point with this y, if the curve has one."""
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    for x in (pow(square, (P + 3) // 8, P), pow(square, (P + 3) // 8, P) * ROOT_OF_MINUS_ONE % P):
        if x * x % P == square:
            return x, y % P
    return None


def torsion() -> set[Point]:
    """The eight points of small order: multiples of a point of order eight."""
    candidates = (times(ORDER, point) for point in map(point_at, range(2, 100)) if point)
    generator = next(point for point in candidates if times(4, point) != NEUTRAL)
    return {times(factor, generator) for factor in range(8)}


def encodings(y: int) -> list[bytes]:
    """All 32-byte strings that a lenient reader takes for a point with this y: both signs, and y + p where it fits."""
    return [(form | sign << 255).to_bytes(32, "little") for form in (y, y + P) if form < 2**255 for sign in (0, 1)]


def test_D3_the_arithmetic_here_knows_the_curve() -> None:
    base = point_at(4 * pow(5, P - 2, P) % P)
    assert base is not None
    assert times(ORDER, base) == NEUTRAL
    assert times(8, base) != NEUTRAL
    assert len(torsion()) == 8
    assert all(times(8, point) == NEUTRAL for point in torsion())


def test_D3_no_encoding_of_a_point_of_small_order_is_a_key() -> None:
    hostile = {raw for _, y in torsion() for raw in encodings(y)}
    assert len(hostile) == 14
    assert vkey_of(KEY_RAW) == VKEY
    for raw in hostile:
        assert refused(PublicKey, raw)
        assert refused(parse_vkey, vkey_of(raw))


def vkey_of(raw: bytes) -> str:
    """A verifier key with the right key hash around 32 bytes that need not be a point."""
    blob = b"\x01" + raw
    key_hash = hashlib.sha256(b"ledger.example\n" + blob).hexdigest()[:8]
    return f"ledger.example+{key_hash}+{base64.b64encode(blob).decode()}"


def test_D3_no_point_that_is_not_encoded_canonically_is_a_key() -> None:
    for y in range(P, 2**255):
        for sign in (0, 1):
            assert refused(PublicKey, (y | sign << 255).to_bytes(32, "little"))


@pytest.mark.parametrize("length", [0, 31, 33, 64])
def test_D3_a_key_has_32_bytes(length: int) -> None:
    assert refused(PublicKey, (KEY_RAW * 2)[:length])


@own.MANY
@given(raw=own.hashes)
def test_D3_bytes_are_a_key_exactly_when_they_are_a_canonical_point_of_large_order(raw: bytes) -> None:
    y = int.from_bytes(raw, "little") & 2**255 - 1
    point = point_at(y)
    acceptable = y < P and point is not None and times(8, point) != NEUTRAL
    assert refused(PublicKey, raw) == (not acceptable)


@own.PROFILE
@given(seed=own.hashes)
def test_D3_the_key_of_every_seed_is_a_key(seed: bytes) -> None:
    assert not refused(PublicKey, PrivateKey.from_seed(seed).public.raw)


# D4: a private key file that names another public key


def openssh_body(raw: bytes) -> bytes:
    return base64.b64decode(b"".join(raw.splitlines()[1:-1]))


def openssh_file(lines: list[bytes], body: bytes) -> bytes:
    """The body between the first and last line of a real file."""
    return b"\n".join([lines[0], base64.b64encode(body), lines[-1], b""])


@pytest.mark.parametrize("count", [1, 2, 3])
def test_D4_a_private_key_file_whose_public_half_is_of_another_key_is_refused(count: int) -> None:
    # The public key stands in the open section once and in the private section twice.
    raw = KEY.to_openssh()
    pieces = openssh_body(raw).split(KEY_RAW)
    assert len(pieces) == 4
    assert parse_private_key(openssh_file(raw.splitlines(), KEY_RAW.join(pieces))).public == KEY.public
    for places in combinations(range(3), count):
        halves = [OTHER.public.raw if at in places else KEY_RAW for at in range(3)]
        body = b"".join(piece + half for piece, half in zip(pieces, [*halves, b""], strict=True))
        assert refused(parse_private_key, openssh_file(raw.splitlines(), body))


def test_D4_a_private_key_file_with_the_private_half_of_another_key_is_refused() -> None:
    raw, seed = KEY.to_openssh(), bytes(range(32))
    body = openssh_body(raw)
    assert body.count(seed) == 1
    assert refused(parse_private_key, openssh_file(raw.splitlines(), body.replace(seed, bytes(range(1, 33)))))


# E1: parsers that see another meaning than the one signed

MEANINGS = {
    "the last of two keys": b'{"a":1,"a":2}',
    "the last of two equal members": b'{"a":1,"a":1}',
    "two keys, one of them escaped": b'{"a":1,"\\u0061":2}',
    "two keys in a nested object": b'[{"b":{"a":1,"a":2}}]',
    "2^64": b"18446744073709551616",
    "2^53": b"9007199254740992",
    "-2^53": b"-9007199254740992",
    "a number of 5000 digits": b"1" * 5000,
    "not a number": b"NaN",
    "infinity": b"Infinity",
    "minus infinity": b"-Infinity",
    "a fraction": b"0.1",
    "a fraction that is whole": b"1.0",
    "an exponent": b"1e2",
    "minus zero": b"-0.0",
    "a byte-order mark": b"\xef\xbb\xbf1",
    "trailing data": b"1 2",
    "a second document": b"{}{}",
    "65 levels": b"[" * 65 + b"]" * 65,
    "100 000 levels": b"[" * 100_000 + b"]" * 100_000,
}


@pytest.mark.parametrize("what", MEANINGS)
def test_E1_canonical_json_refuses_what_parsers_read_differently(what: str) -> None:
    for raw in (MEANINGS[what], b"[" + MEANINGS[what] + b"]", b'{"x":' + MEANINGS[what] + b"}"):
        assert refused(canonical.decode, raw)
        assert refused(decode_statement, raw)
        assert refused(decode_receipt, raw + b"\n")


@pytest.mark.parametrize("what", MEANINGS)
def test_E1_what_parsers_read_differently_has_no_canonical_form_in_any_layout(what: str) -> None:
    assert refused(lambda: canonical.encode(json_input.parse_json(MEANINGS[what])))


@pytest.mark.parametrize("what", MEANINGS)
def test_E1_a_receipt_or_envelope_refuses_what_parsers_read_differently(what: str) -> None:
    place = b'"test":{"text":"first"}'
    assert RECEIPT.count(place) == 1
    assert refused(decode_receipt, RECEIPT.replace(place, b'"test":' + MEANINGS[what]))
    raw = SIGNED.statement.raw.replace(place, b'"test":' + MEANINGS[what])
    document = {**json.loads(export_envelope(SIGNED)), "payload": base64.b64encode(raw).decode()}
    assert refused(import_envelope, json.dumps(document).encode())


@pytest.mark.parametrize(
    "member",
    [b'"payload":1e10', b'"payloadType":1.5', b'"signatures":1', b'"signatures":[[]]', b'"payload":null', b'"x":NaN'],
)
def test_E1_an_envelope_with_a_member_of_another_type_is_refused(member: bytes) -> None:
    name = member.partition(b":")[0]
    document = json.loads(export_envelope(SIGNED))
    document.pop(json.loads(name), None)
    assert refused(decode_envelope, json.dumps(document).encode()[:-1] + b", " + member + b"}")


@pytest.mark.parametrize("keyid", [b"1.5", b"1e5", b"1", b"null", b"true", b'""', b"[]", b'["a"]', b"{}"])
def test_E1_a_key_id_in_an_envelope_is_a_string_and_nothing_like_one(keyid: bytes) -> None:
    raw = export_envelope(SIGNED)
    name = b'"' + KEY.public.keyid.encode() + b'"'
    assert raw.count(name) == 1
    assert refused(decode_envelope, raw.replace(name, keyid))


@pytest.mark.parametrize("length", [0, 1, 63, 65, 128])
def test_E1_a_signature_in_an_envelope_has_64_bytes(length: int) -> None:
    document = json.loads(export_envelope(SIGNED))
    document["signatures"][0]["sig"] = base64.b64encode(bytes(length)).decode()
    assert refused(decode_envelope, json.dumps(document).encode())


# E2: home-made canonical forms


@own.MOST
@given(value=own.documents)
def test_E2_random_documents_have_the_bytes_that_rfc8785_gives(value: Any) -> None:  # noqa: ANN401 - any JSON value
    assert canonical.encode(value) == rfc8785.dumps(value)


def test_E2_composed_and_decomposed_letters_stay_distinct() -> None:
    one, two = unicodedata.normalize("NFC", "café"), unicodedata.normalize("NFD", "café")
    assert one != two
    assert canonical.encode(one) != canonical.encode(two)
    assert [canonical.decode(canonical.encode(text)) for text in (one, two)] == [one, two]
    assert make_statement(one).identity != make_statement(two).identity
    assert json_input.parse_json(json.dumps([one, two]).encode()) == [one, two]


@own.MANY
@given(text=own.texts)
def test_E2_no_text_is_normalised(text: str) -> None:
    assert canonical.decode(canonical.encode(text)) == text
    for other in (unicodedata.normalize("NFC", text), unicodedata.normalize("NFKD", text)):
        assert (canonical.encode(text) == canonical.encode(other)) == (text == other)


@pytest.mark.parametrize("value", [1e-07, 5.0, -0.0, 1e21, 0.1 + 0.2])
def test_E2_there_is_no_text_of_a_float_to_get_wrong(value: float) -> None:
    assert refused(canonical.encode, value)
    assert refused(canonical.encode, {"a": [value]})
    assert refused(canonical.decode, orjson.dumps(value))


@own.MANY
@given(value=st.dictionaries(st.text(max_size=4), st.integers(-5, 5), max_size=6))
def test_E2_keys_in_which_two_orders_differ_are_refused(value: dict[str, Any]) -> None:
    if all(key.isascii() for key in value) and not refused(canonical.encode, value):
        assert canonical.encode(value) == rfc8785.dumps(value)
    else:
        assert refused(canonical.encode, value)


# E3: broken Unicode

BROKEN = {
    "reversed surrogates": b'"\\ude00\\ud83d"',
    "a lone high surrogate": b'"\\ud83d"',
    "a lone low surrogate": b'"\\ude00"',
    "a high surrogate before a letter": b'"\\ud83da"',
    "a surrogate in a key": b'{"\\ud800":1}',
    "raw 0xFF": b'"\xff"',
    "a raw surrogate": b'"\xed\xa0\x80"',
    "an overlong slash": b'"\xc0\xaf"',
    "a letter cut short": b'"\xc3"',
    "beyond the last character": b'"\xf4\x90\x80\x80"',
    "a continuation byte": b'"\x80"',
}


@pytest.mark.parametrize("what", BROKEN)
def test_E3_broken_unicode_is_refused(what: str) -> None:
    for raw in (BROKEN[what], b'{"a":[' + BROKEN[what] + b"]}"):
        assert refused(canonical.decode, raw)
        assert refused(lambda raw=raw: canonical.encode(json_input.parse_json(raw)))
    place = b'"first"'
    assert refused(decode_receipt, RECEIPT.replace(place, BROKEN[what]))
    assert refused(decode_statement, SIGNED.statement.raw.replace(place, BROKEN[what]))


def test_E3_a_pair_of_surrogate_escapes_is_the_character_but_not_its_canonical_form() -> None:
    assert json_input.parse_json(b'"\\ud83d\\ude00"') == "\U0001f600"
    assert refused(canonical.decode, b'"\\ud83d\\ude00"')
    assert canonical.decode('"\U0001f600"'.encode()) == "\U0001f600"


@pytest.mark.parametrize("what", ["raw 0xFF", "a raw surrogate", "a letter cut short"])
def test_E3_broken_unicode_is_refused_in_notes_proofs_and_keys(what: str) -> None:
    broken = BROKEN[what].strip(b'"')
    assert refused(parse_note, CHECKPOINT.replace(b"ledger.example", b"ledger" + broken))
    assert refused(decode_proof, BUNDLE.replace(b"ledger.example", b"ledger" + broken))
    assert refused(decode_proof, BUNDLE.replace(b"index", b"index" + broken))
    assert refused(import_envelope, export_envelope(SIGNED).replace(b"payloadType", b"payloadType" + broken))


# E5: signatures over something else than the payload's bytes


def test_E5_the_signature_counts_bytes_of_type_and_payload() -> None:
    kind = "application/vnd.é+json"
    assert pae(kind, "é".encode()) == b"DSSEv1 23 application/vnd.\xc3\xa9+json 2 \xc3\xa9"


@own.PROFILE
@given(text=own.texts)
def test_E5_a_signature_over_text_base64_or_character_counts_is_refused(text: str) -> None:
    statement = make_statement(text + "é")
    raw, kind = statement.raw, PAYLOAD_TYPE
    right = statement_pae(raw)
    assert right == f"DSSEv1 {len(kind)} {kind} {len(raw)} ".encode() + raw
    coded = base64.b64encode(raw)
    wrongs = [
        raw,
        coded,
        pae(kind, coded),
        f"DSSEv1 {len(kind)} {kind} {len(raw.decode())} ".encode() + raw,  # characters, not bytes
        f"DSSEv1 {kind} ".encode() + raw,
        right + b"\n",
        pae("application/json", raw),
        orjson.dumps(statement.value, option=orjson.OPT_INDENT_2),
    ]
    verify_signature(statement, Signature(keyid="", sig=KEY.sign(right)), KEY.public)
    for wrong in wrongs:
        signature = Signature(keyid="", sig=KEY.sign(wrong))
        with pytest.raises(SignatureError):
            verify_signature(statement, signature, KEY.public)


def test_E5_an_envelope_of_another_payload_type_is_refused() -> None:
    document = json.loads(export_envelope(SIGNED))
    for kind in ("application/json", "application/vnd.in-toto+json ", "application/vnd.é+json", "", None, 1):
        assert refused(import_envelope, json.dumps({**document, "payloadType": kind}).encode())


def test_E5_the_payload_is_taken_as_bytes_and_never_normalised() -> None:
    document = json.loads(export_envelope(SIGNED))
    spaced = SIGNED.statement.raw.replace(b'"predicate":', b'"predicate": ')
    assert json.loads(spaced) == SIGNED.statement.value
    for payload in (spaced, SIGNED.statement.raw + b"\n", b"\xef\xbb\xbf" + SIGNED.statement.raw):
        changed = {**document, "payload": base64.b64encode(payload).decode()}
        assert refused(import_envelope, json.dumps(changed).encode())


# E6: one statement under many envelopes


def layouts(signed: SignedStatement) -> Iterator[bytes]:
    """Envelopes of other bytes around one statement."""
    document: dict[str, Any] = json.loads(export_envelope(signed))
    first = document["signatures"][0]
    yield json.dumps(document, indent=2).encode()
    yield json.dumps(dict(reversed(document.items()))).encode()
    yield json.dumps({**document, "extra": [1, {"payload": "AAAA"}], "_": None}).encode()
    yield json.dumps({**document, "signatures": [{**first, "cert": "x"}]}).encode()
    yield json.dumps({**document, "signatures": [{**first, "keyid": "someone else"}]}).encode()
    yield json.dumps({**document, "signatures": [{**first, "sig": "A" * 86 + "=="}]}).encode()
    yield json.dumps({**document, "signatures": [first, {"keyid": "another", "sig": first["sig"]}]}).encode()
    yield json.dumps({**document, "payload": document["payload"].replace("+", "-").replace("/", "_")}).encode()
    yield export_envelope(signed).replace(b'"payload"', b'"p\\u0061yload"')
    yield b"\n\t " + export_envelope(signed) + b"\r\n "


@own.FEW
@given(text=own.texts)
def test_E6_every_layout_of_an_envelope_has_the_identity_of_its_statement(text: str) -> None:
    signed = sign_statement(make_statement(text + "\u00bf\u00ff?>\u00fb\u00ef"), [KEY])
    raws = list(layouts(signed))
    assert len({*raws, export_envelope(signed)}) >= len(raws)
    for raw in raws:
        found = import_envelope(raw)
        assert found.statement == signed.statement
        assert found.statement.identity == signed.statement.identity


def test_E6_a_layout_that_keeps_key_and_signature_is_written_again_as_the_one_canonical_envelope() -> None:
    same = [raw for raw in layouts(SIGNED) if import_envelope(raw) == SIGNED]
    assert len(same) >= 6
    assert {export_envelope(import_envelope(raw)) for raw in same} == {export_envelope(SIGNED)}


def test_E6_a_repeated_payload_or_signature_list_is_refused() -> None:
    raw = export_envelope(SIGNED)
    assert refused(import_envelope, raw.replace(b'{"payload":', b'{"payload":"AAAA","payload":', 1))
    assert refused(import_envelope, raw.replace(b'"signatures":', b'"signatures":[],"signatures":', 1))


def test_E6_the_identity_does_not_depend_on_who_signed_but_on_every_byte_of_the_statement() -> None:
    twice = SIGNED.cosign(OTHER)
    assert len(twice.signatures) == 2
    assert twice.statement.identity == SIGNED.statement.identity
    others = {make_statement("first", seq=8).identity, make_statement("First").identity, SIGNED.statement.identity}
    assert len(others) == 3


def test_E6_the_order_of_the_signatures_in_an_envelope_is_no_part_of_what_it_says() -> None:
    twice = SIGNED.cosign(OTHER)
    document = json.loads(export_envelope(twice))
    document["signatures"].reverse()
    raw = json.dumps(document).encode()
    assert import_envelope(raw) == twice
    assert export_envelope(import_envelope(raw)) == export_envelope(twice)


def test_E6_a_sealed_receipt_has_one_form_only() -> None:
    value = json.loads(RECEIPT)
    for other in (
        json.dumps(value, separators=(",", ":")).encode() + b"\n",
        json.dumps(dict(reversed(value.items())), separators=(",", ":")).encode() + b"\n",
        json.dumps({**value, "extra": 1}, separators=(",", ":"), sort_keys=True).encode() + b"\n",
        RECEIPT + b"\n",
        RECEIPT[:-1],
        RECEIPT[:-1] + b"\r\n",
        b" " + RECEIPT,
    ):
        assert other == RECEIPT or refused(decode_receipt, other)
