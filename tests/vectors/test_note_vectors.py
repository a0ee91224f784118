"""Published signed notes, verifier keys and checkpoints, and a proof bundle that other people's programs accepted."""

from __future__ import annotations

import hashlib

import pytest

from ledger.checkpoint import Checkpoint, format_body, open_checkpoint, parse_body, parse_checkpoint, sign_checkpoint
from ledger.errors import MalformedError, SignatureError
from ledger.keys import PrivateKey, PublicKey
from ledger.merkle import check_consistency, check_inclusion, leaf_hash
from ledger.note import NoteKey, encode_note, open_note, parse_note, parse_vkey, sign_note
from ledger.proof import decode_proof
from ledger.strict import b64decode, b64encode

CRYPTOGRAPHY = "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n"
# verifier key, text, signature
NOTES = {
    "example.com/foo": (
        "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k",
        "This is an example message.\n",
        "Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=",
    ),
    "PeterNeumann": (
        "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
        CRYPTOGRAPHY,
        "x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=",
    ),
    "EnochRoot": (
        "EnochRoot+af0cfe78+ATtqJ7zOtqQtYqOo0CpvDXNlMhV3HeJDpjrASKGLWdop",
        CRYPTOGRAPHY,
        "rwz+eBzmZa0SO3NbfRGzPCpDckykFXSdeX+MNtCOXm2/5n2tiOHp+vAF1aGrQ5ovTG01oOTGwnWLox33WWd1RvMc+QQ=",
    ),
}
PETER_SEED = bytes.fromhex("810a1402d5146c8d84f2443330f54080ebf98ee17d9c74f6252fc5d5c7283173")

ROOT_8 = bytes.fromhex("5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328")
LEAF_8 = "P0Nr7F8r4diQ6Y/CIoSI+SQb9sYh1KqvIHFr4cB2vyc="
SAMPLE = """\
c2sp.org/tlog-proof@v1
index 8
XcnaeacGWamtVZy3Ad7ZoqudgjqtL0lgz+Nw7/RgQyg=

ledger.example/bench
9
REAQJ7M+QKPLts6Xg/6Q966w3LzcnCRGLJxUssbg6D8=

— ledger.example/bench znwVU0TTlM4xl12Md3RJF6tFrXKj7EUIb45YecDHvBDjk9NNDsYO4E9ZdXy0I+oRyg1KKOPsBpvKKPLgDgW1EJerhgg=
— witness.example/w1 \
BNLYMwAAAABlU/EADJON/vrYCnBBgFFSWik2nrazTXFxq3X+PSQUNl2Zg0NnafFSD2K9q2cvybP1gSabTl8O/FmiFvkSNX/cWYZUCQ==
"""
SAMPLE_HASH = "XcnaeacGWamtVZy3Ad7ZoqudgjqtL0lgz+Nw7/RgQyg="
SAMPLE_CHECKPOINT = SAMPLE.partition("\n\n")[2].encode()
SAMPLE_VKEY = "ledger.example/bench+ce7c1553+AddamAGCsQq31Uv+08lkBzoO4XLz2qYjJa8CGmj3B1Ea"
WITNESS_VKEY = "witness.example/w1+04d2d833+BD1AF8PoQ4lakrcKp00bfrycmCzPLsSWjMDNVfEq9GYM"


def note_of(*names: str, text: str) -> bytes:
    return (text + "\n" + "".join(f"— {name} {NOTES[name][2]}\n" for name in names)).encode()


@pytest.mark.parametrize("name", NOTES)
def test_a_published_note_opens_with_its_key_and_is_written_again_byte_for_byte(name: str) -> None:
    vkey, text, signature = NOTES[name]
    raw = note_of(name, text=text)
    note = open_note(raw, [parse_vkey(vkey)])
    assert note.text == text
    assert [b64encode(item.key_hash + item.payload) for item in note.signatures] == [signature]
    assert encode_note(note) == raw


@pytest.mark.parametrize("name", NOTES)
def test_a_published_verifier_key_is_read_and_written_again(name: str) -> None:
    key = parse_vkey(NOTES[name][0])
    assert (key.name, key.vkey) == (name, NOTES[name][0])


def test_signing_with_the_published_seed_gives_the_published_signature() -> None:
    note = sign_note(CRYPTOGRAPHY, "PeterNeumann", PrivateKey.from_seed(PETER_SEED))
    assert encode_note(note) == note_of("PeterNeumann", text=CRYPTOGRAPHY)


@pytest.mark.parametrize("order", [("PeterNeumann", "EnochRoot"), ("EnochRoot", "PeterNeumann")])
def test_a_note_opens_with_either_key_wherever_its_line_stands(order: tuple[str, str]) -> None:
    raw = note_of(*order, text=CRYPTOGRAPHY)
    for name in order:
        assert open_note(raw, [parse_vkey(NOTES[name][0])]).text == CRYPTOGRAPHY


def test_a_note_without_a_known_signer_is_refused() -> None:
    with pytest.raises(SignatureError) as caught:
        open_note(note_of("PeterNeumann", text=CRYPTOGRAPHY), [parse_vkey(NOTES["EnochRoot"][0])])
    assert caught.value.code == "E_NOTE_UNSIGNED"


def test_one_known_bad_signature_condemns_a_note_with_a_good_one() -> None:
    keys = [parse_vkey(NOTES[name][0]) for name in ("PeterNeumann", "EnochRoot")]
    raw = bytearray(note_of("PeterNeumann", "EnochRoot", text=CRYPTOGRAPHY))
    raw[raw.index(b"ovTG01oOTG")] ^= 1  # inside EnochRoot's signature
    with pytest.raises(SignatureError) as caught:
        open_note(bytes(raw), keys)
    assert caught.value.code == "E_NOTE_SIGNATURE"


def test_a_signature_of_another_length_by_a_known_key_condemns_the_note() -> None:
    vkey, text, signature = NOTES["PeterNeumann"]
    for cut in (b64decode(signature)[:-1], b64decode(signature) + b"\x00", b64decode(signature)[:5]):
        with pytest.raises(SignatureError) as caught:
            open_note(f"{text}\n— PeterNeumann {b64encode(cut)}\n".encode(), [parse_vkey(vkey)])
        assert caught.value.code == "E_NOTE_SIGNATURE"


@pytest.mark.parametrize("name", NOTES)
def test_every_proper_substring_of_a_verifier_key_is_refused(name: str) -> None:
    vkey = NOTES[name][0]
    parts = {vkey[start:end] for start in range(len(vkey)) for end in range(start, len(vkey) + 1)} - {vkey}
    assert len(parts) > 1000
    for part in parts:
        with pytest.raises(MalformedError):
            parse_vkey(part)


@pytest.mark.parametrize("name", NOTES)
def test_every_verifier_key_with_one_byte_incremented_is_refused(name: str) -> None:
    vkey = NOTES[name][0]
    for at, char in enumerate(vkey):
        with pytest.raises(MalformedError):
            parse_vkey(vkey[:at] + chr(ord(char) + 1) + vkey[at + 1 :])


def vkey_with(blob: bytes, name: str = "PeterNeumann") -> str:
    """A verifier key around any blob, with the key hash that belongs to it."""
    key_hash = hashlib.sha256(name.encode() + b"\n" + blob).hexdigest()[:8]
    return f"{name}+{key_hash}+{b64encode(blob)}"


def test_the_helper_makes_the_published_verifier_key() -> None:
    assert vkey_with(b"\x01" + PrivateKey.from_seed(PETER_SEED).public.raw) == NOTES["PeterNeumann"][0]


def test_a_verifier_key_of_another_length_or_algorithm_is_refused_though_its_hash_matches() -> None:
    public = PrivateKey.from_seed(PETER_SEED).public.raw
    blobs = [bytes([kind]) + public for kind in (0, 2, 4, 5, 6, 0x65, 255)]
    blobs += [b"\x01" + public + b"\x04", b"\x01" + public + public, b"\x01" + public[:-1], b"\x01", b""]
    published = (
        "PeterNeumann+cc469956+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TWBADKEY==",
        "PeterNeumann+173116ae+ZRpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
    )
    assert published[1] in [vkey_with(blob) for blob in blobs]
    for vkey in (*published, *map(vkey_with, blobs)):
        with pytest.raises(MalformedError):
            parse_vkey(vkey)


@pytest.mark.parametrize("name", ["", "two words", "tab\there", "no-break\u00a0space", "line\nbreak", "plus+sign"])
def test_a_name_that_the_note_format_does_not_allow_makes_no_key(name: str) -> None:
    with pytest.raises(MalformedError):
        NoteKey(name=name, public=PrivateKey.from_seed(PETER_SEED).public)


BROKEN = {
    "no signature line": "text\n\n",
    "no empty line": "text\n— a AAAAAAA=\n",
    "no final newline": "text\n\n— a AAAAAAA=",
    "a hyphen for the dash": "text\n\n- a AAAAAAA=\n",
    "an en dash": "text\n\n\u2013 a AAAAAAA=\n",
    "no space after the dash": "text\n\n—a AAAAAAA=\n",
    "two spaces after the dash": "text\n\n—  a AAAAAAA=\n",
    "two spaces before the signature": "text\n\n— a  AAAAAAA=\n",
    "a space at the end": "text\n\n— a AAAAAAA= \n",
    "a carriage return": "text\r\n\n— a AAAAAAA=\n",
    "a carriage return in the signature line": "text\n\n— a AAAAAAA=\r\n",
    "a tab in the text": "te\txt\n\n— a AAAAAAA=\n",
    "a key hash alone": "text\n\n— a AAAAAA==\n",
    "an empty signature": "text\n\n— a \n",
    "a text line after the signatures": "text\n\n— a AAAAAAA=\ntext\n",
    "an empty line after the signatures": "text\n\n— a AAAAAAA=\n\n",
    "a byte-order mark between": "text\n\n\ufeff— a AAAAAAA=\n",
    "one name and key twice": "text\n\n— a AAAAAAA=\n— a AAAAAAE=\n",
    "nothing": "",
}


@pytest.mark.parametrize("name", BROKEN)
def test_bytes_that_are_no_note_are_refused(name: str) -> None:
    parse_note("text\n\n— a AAAAAAA=\n".encode())
    with pytest.raises(MalformedError):
        parse_note(BROKEN[name].encode())


def test_a_note_may_hold_empty_lines_and_ends_at_the_last_one() -> None:
    key = PrivateKey.from_seed(PETER_SEED)
    text = "one\n\n— a AAAAAAA=\n\ntwo\n"
    raw = encode_note(sign_note(text, "PeterNeumann", key))
    assert open_note(raw, [parse_vkey(NOTES["PeterNeumann"][0])]).text == text


def test_sixteen_signatures_are_accepted_and_a_thousand_are_not() -> None:
    lines = [f"— name{at} AAAAAAA=\n" for at in range(1000)]
    assert len(parse_note(("text\n\n" + "".join(lines[:16])).encode()).signatures) == 16
    with pytest.raises(MalformedError):
        parse_note(("text\n\n" + "".join(lines)).encode())


def test_the_body_of_the_go_checksum_database_is_written_byte_for_byte_but_its_origin_is_no_note_name() -> None:
    # Go's database calls itself "go.sum database tree": white space, so it cannot be the name of its own key.
    root = leaf_hash(b"hello world")
    body = "go.sum database tree\n123456789012\nTszzRgjTG6xce+z2AG31kAXYKBgQVtCSCE40HmuwBb0=\n"
    assert format_body(Checkpoint(origin="go.sum database tree", size=123456789012, root=root)) == body
    with pytest.raises(MalformedError) as caught:
        parse_body(body)
    assert caught.value.code == "E_NAME"
    renamed = body.replace("go.sum database tree", "sum.example/tree")
    assert parse_body(renamed) == Checkpoint(origin="sum.example/tree", size=123456789012, root=root)


BODIES = {
    "an extension line": "o\n1\n{root}\nmore\n",
    "a missing line": "o\n1\n",
    "no final newline": "o\n1\n{root}",
    "an empty origin": "\n1\n{root}\n",
    "a leading zero": "o\n01\n{root}\n",
    "a sign": "o\n+1\n{root}\n",
    "a negative size": "o\n-1\n{root}\n",
    "white space around the size": "o\n 1\n{root}\n",
    "an underscore": "o\n1_0\n{root}\n",
    "digits of another script": "o\n٣\n{root}\n",
    "a size of 2^64": "o\n18446744073709551616\n{root}\n",
    "a root without padding": "o\n1\nTszzRgjTG6xce+z2AG31kAXYKBgQVtCSCE40HmuwBb0\n",
    "a root with trailing bits": "o\n1\nTszzRgjTG6xce+z2AG31kAXYKBgQVtCSCE40HmuwBb1=\n",
    "a root in the other alphabet": "o\n1\nTszzRgjTG6xce-z2AG31kAXYKBgQVtCSCE40HmuwBb0=\n",
    "a short root": "o\n1\nTszzRgjTG6xce+z2AG31kAXYKBgQVtCSCE40HmuwBQ==\n",
}


@pytest.mark.parametrize("name", BODIES)
def test_a_checkpoint_body_in_another_form_is_refused(name: str) -> None:
    root = "TszzRgjTG6xce+z2AG31kAXYKBgQVtCSCE40HmuwBb0="
    parse_body(f"o\n1\n{root}\n")
    with pytest.raises(MalformedError):
        parse_body(BODIES[name].format(root=root))


def test_a_checkpoint_of_another_origin_is_refused_though_the_key_signed_it() -> None:
    key = PrivateKey.from_seed(PETER_SEED)
    body = format_body(Checkpoint(origin="other.example", size=8, root=ROOT_8))
    raw = encode_note(sign_note(body, "ledger.example", key))
    with pytest.raises(SignatureError) as caught:
        open_checkpoint(raw, NoteKey(name="ledger.example", public=key.public))
    assert caught.value.code == "E_ORIGIN"


def test_the_sample_checkpoint_opens_with_the_log_key_and_the_witness_line_is_ignored() -> None:
    checkpoint = open_checkpoint(SAMPLE_CHECKPOINT, parse_vkey(SAMPLE_VKEY))
    assert checkpoint == parse_checkpoint(SAMPLE_CHECKPOINT)
    assert (checkpoint.origin, checkpoint.size) == ("ledger.example/bench", 9)
    assert b64encode(checkpoint.root) == "REAQJ7M+QKPLts6Xg/6Q966w3LzcnCRGLJxUssbg6D8="
    lines = SAMPLE_CHECKPOINT.decode().splitlines(keepends=True)
    witness_first = "".join([*lines[:4], lines[5], lines[4]]).encode()
    assert open_checkpoint(witness_first, parse_vkey(SAMPLE_VKEY)) == checkpoint
    without_log_line = "".join([*lines[:4], lines[5]]).encode()
    with pytest.raises(SignatureError):
        open_checkpoint(without_log_line, parse_vkey(SAMPLE_VKEY))


def test_the_sample_checkpoint_is_what_the_first_rfc_8032_key_signs() -> None:
    key = PrivateKey.from_seed(bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"))
    assert NoteKey(name="ledger.example/bench", public=key.public).vkey == SAMPLE_VKEY
    signed = sign_checkpoint(parse_checkpoint(SAMPLE_CHECKPOINT), key)
    assert signed.decode().splitlines() == SAMPLE_CHECKPOINT.decode().splitlines()[:5]


def test_the_sample_cosignature_line_is_kept_whole_and_is_over_time_and_body() -> None:
    note = parse_note(SAMPLE_CHECKPOINT)
    witness = note.signatures[1]
    assert (witness.name, witness.key_hash.hex()) == ("witness.example/w1", "04d2d833")
    time = int.from_bytes(witness.payload[:8], "big")
    assert time == 1700000000
    message = f"cosignature/v1\ntime {time}\n{note.text}".encode()
    public = PublicKey(b64decode(WITNESS_VKEY.rpartition("+")[2])[1:])
    public.verify(witness.payload[8:], message)
    with pytest.raises(SignatureError):
        public.verify(witness.payload[8:], message.replace(b"1700000000", b"1700000001"))


def test_the_verifier_key_of_a_cosigner_is_no_key_for_checkpoints() -> None:
    with pytest.raises(MalformedError):
        parse_vkey(WITNESS_VKEY)


def test_the_sample_proofs_hold() -> None:
    leaf, root = b64decode(LEAF_8), parse_checkpoint(SAMPLE_CHECKPOINT).root
    check_inclusion(8, 9, leaf, [b64decode(SAMPLE_HASH)], root)
    check_consistency(8, 9, ROOT_8, root, [leaf])


def test_a_bundle_without_the_receipt_that_it_proves_is_refused() -> None:
    with pytest.raises(MalformedError) as caught:
        decode_proof(SAMPLE.encode())
    assert caught.value.code == "E_PROOF_FILE"
    with_extra = SAMPLE.replace("index 8", "extra \nindex 8").encode()
    assert decode_proof(with_extra).index == 8
    assert decode_proof(with_extra).checkpoint == SAMPLE_CHECKPOINT
    assert decode_proof(with_extra).hashes == (b64decode(SAMPLE_HASH),)
