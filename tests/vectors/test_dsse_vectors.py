"""The DSSE v1 vectors, and the forms of an envelope that the standard allows."""

from __future__ import annotations

import hashlib

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, utils

from ledger.dsse import PAYLOAD_TYPE, pae, statement_identity, statement_pae
from ledger.strict import b64decode

# The key and the signature of the standard's example.
X = 46950820868899156662930047687818585632848591499744589407958293238635476079160
Y = 5640078356564379163099075877009565129882514886557779369047442380624545832820
SIGNATURE = "A3JqsQGtVsJ2O2xqrI5IcnXip5GToJ3F+FnZ+O88SjtR6rDAajabZKciJTfUiHqJPcIAriEGAHTVeCUjW2JIZA=="


def test_the_encoding_of_the_standards_example_is_the_published_one_and_its_signature_verifies() -> None:
    encoded = pae("http://example.com/HelloWorld", b"hello world")
    assert encoded == b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
    key = ec.EllipticCurvePublicNumbers(X, Y, ec.SECP256R1()).public_key()
    raw = b64decode(SIGNATURE)
    r, s = int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big")
    key.verify(utils.encode_dss_signature(r, s), encoded, ec.ECDSA(hashes.SHA256()))


def test_a_type_of_22_characters_and_23_bytes_counts_23() -> None:
    kind = "application/vnd.é+json"
    assert (len(kind), len(kind.encode())) == (22, 23)
    assert pae(kind, b"{}") == b"DSSEv1 23 application/vnd.\xc3\xa9+json 2 {}"


def test_a_payload_counts_bytes_and_is_taken_raw() -> None:
    assert pae("t", "é".encode()) == b"DSSEv1 1 t 2 \xc3\xa9"
    assert pae("t", b"\x00\xff \n") == b"DSSEv1 1 t 4 \x00\xff \n"
    assert pae("t", b"") == b"DSSEv1 1 t 0 "
    assert pae("", b"") == b"DSSEv1 0  0 "


@pytest.mark.parametrize("length", [0, 9, 10, 99, 100, 12345])
def test_lengths_are_decimal_without_leading_zeros(length: int) -> None:
    assert pae("type", b"x" * length) == b"DSSEv1 4 type " + str(length).encode() + b" " + b"x" * length


def test_moving_a_byte_between_type_and_payload_changes_the_encoding() -> None:
    assert pae("ab", b"c") != pae("a", b"bc")
    assert pae("a 1", b"x") != pae("a", b"1 x")


def test_a_statement_is_signed_under_the_ascii_type_of_in_toto_and_named_by_the_hash_of_what_is_signed() -> None:
    assert PAYLOAD_TYPE == "application/vnd.in-toto+json"
    encoded = statement_pae(b"{}")
    assert encoded == b"DSSEv1 28 application/vnd.in-toto+json 2 {}"
    assert statement_identity(b"{}") == hashlib.sha256(encoded).digest()
