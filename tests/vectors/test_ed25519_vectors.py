"""RFC 8032 section 7.1, tests 1 to 3."""

from __future__ import annotations

import pytest

from ledger.errors import SignatureError
from ledger.keys import PrivateKey, PublicKey

ORDER = 2**252 + 27742317777372353535851937790883648493

# seed, public key, message, the two halves of the signature
VECTORS = {
    "test 1": (
        "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155",
        "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
    ),
    "test 2": (
        "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da",
        "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    ),
    "test 3": (
        "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac",
        "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
    ),
}


def unhex(name: str) -> tuple[bytes, bytes, bytes, bytes]:
    seed, public, message, point, scalar = (bytes.fromhex(text) for text in VECTORS[name])
    return seed, public, message, point + scalar


@pytest.mark.parametrize("name", VECTORS)
def test_the_seed_gives_the_published_key_and_signature(name: str) -> None:
    seed, public, message, signature = unhex(name)
    key = PrivateKey.from_seed(seed)
    assert key.public == PublicKey(public)
    assert key.sign(message) == signature
    PublicKey(public).verify(signature, message)


@pytest.mark.parametrize("name", VECTORS)
def test_any_flipped_bit_of_the_signature_is_refused(name: str) -> None:
    _, public, message, signature = unhex(name)
    key = PublicKey(public)
    for at in range(8 * len(signature)):
        bad = bytearray(signature)
        bad[at // 8] ^= 1 << at % 8
        with pytest.raises(SignatureError):
            key.verify(bytes(bad), message)


@pytest.mark.parametrize("name", VECTORS)
def test_the_second_form_of_a_signature_with_the_group_order_added_is_refused(name: str) -> None:
    _, public, message, signature = unhex(name)
    scalar = int.from_bytes(signature[32:], "little")
    second = signature[:32] + (scalar + ORDER).to_bytes(32, "little")
    with pytest.raises(SignatureError):
        PublicKey(public).verify(second, message)


@pytest.mark.parametrize("length", [0, 32, 63, 65, 128])
def test_a_signature_of_another_length_is_refused(length: int) -> None:
    _, public, message, signature = unhex("test 2")
    with pytest.raises(SignatureError):
        PublicKey(public).verify((signature * 2)[:length], message)


def test_a_signature_is_refused_for_another_message_and_under_another_key() -> None:
    _, public, message, signature = unhex("test 3")
    with pytest.raises(SignatureError):
        PublicKey(public).verify(signature, message + b"\x00")
    with pytest.raises(SignatureError):
        PublicKey(unhex("test 1")[1]).verify(signature, message)
