"""An accelerator for signatures: libsodium, by way of PyNaCl, where that is installed.

`cryptography` stays the authority. libsodium takes about half its time, and only a *yes* of libsodium counts, because
it is a yes of `cryptography` too; on a *no*, `cryptography` decides.

That yes implies yes does not hold for every libsodium. The classic one works out S·B - h·A, encodes it and compares it
with R byte by byte, as OpenSSL does, and refuses more besides: S beyond the order of the group, R of small order. Newer
ones compare but for a point of small order, so that whoever holds a key can make signatures which they accept and
OpenSSL refuses. `PROBES` are such signatures; a libsodium that accepts one of them is left alone.

Source: crypto_sign/ed25519/ref10/open.c of libsodium; RFC 8032 section 5.1.7, which allows both equations.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple, TypeAlias

Verifier: TypeAlias = Callable[[bytes, bytes, bytes], bool]

IMPORT_PAYS_AFTER = 1000
"""Signatures that a process verifies before it imports libsodium: the import takes what some hundred of them save."""

_SIGNATURE_SIZE = 64


class Probe(NamedTuple):
    """A signature that a lenient verifier accepts and OpenSSL refuses."""

    why: str
    public: bytes
    signature: bytes
    message: bytes


_PUBLIC = bytes.fromhex("88aa55e6afeed8960a3191de78600347db8acd0a3795412f275f049b86260488")
PROBES = (
    Probe(
        "a point of order 8 was added to R",
        _PUBLIC,
        bytes.fromhex(
            "5b61c2e3b93e6c06450f327ea72cdfeb8cde6aa020d2dd827ab3f86e708c8393"
            "fc2ee7e95fdd33a7c507ae80b9b1daac8ca0f472e48ef52f0ee55865d188690a"
        ),
        b"R and a point of order 8",
    ),
    Probe(
        "a point of order 8 was added to the public key",
        bytes.fromhex("99555efe5dbf5b50b6fb4d8c38ee05c4ea8a97011c08e11366e8c8c00e8ce5d5"),
        bytes.fromhex(
            "3e54c441927f9f0ee5e13e34f0b0404c5043651a8f4b7ef087a1c42262a85d0a"
            "49158cd48cf05c5aeb6727487f7a298a27abdf660848bd42932e7e52ac89c200"
        ),
        b"A and a point of order 8, 0",
    ),
    Probe(
        "the order of the group was added to S",
        _PUBLIC,
        bytes.fromhex(
            "3e54c441927f9f0ee5e13e34f0b0404c5043651a8f4b7ef087a1c42262a85d0a"
            "cd5225b7a8abb0d77434a7347e5569c5cbe35d26539d22609a2b28a30b337611"
        ),
        b"S and the order of the group",
    ),
    Probe(
        "R is the neutral point, not canonically encoded",
        _PUBLIC,
        bytes.fromhex(
            "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"
            "6a3f33e9dfaf32e0a3773805ade0f4c2ec95f3c7929933d59201e763f1955000"
        ),
        b"R is zero, not canonically encoded",
    ),
)


@cache
def load_libsodium() -> Verifier | None:
    """A verifier that takes public key, signature and message; none when there is none that is strict enough."""
    try:
        from nacl.bindings import crypto_sign_open  # noqa: PLC0415 - optional, and slow to import
        from nacl.exceptions import BadSignatureError  # noqa: PLC0415
    except ImportError:
        return None

    def accepts(public: bytes, signature: bytes, message: bytes) -> bool:
        try:
            crypto_sign_open(signature + message, public)
        except BadSignatureError:
            return False
        return True

    return accepts if is_strict(accepts) else None


def is_strict(accepts: Verifier) -> bool:
    """Whether a verifier refuses every one of `PROBES`."""
    return not any(accepts(probe.public, probe.signature, probe.message) for probe in PROBES)


class Accelerator:
    """Says yes to good signatures, once a process has verified so many that it pays."""

    def __init__(self, pays_after: int = IMPORT_PAYS_AFTER) -> None:
        self._left = pays_after

    def accepts(self, public: bytes, signature: bytes, message: bytes) -> bool:
        """Whether a signature is good; false when it may be good all the same."""
        if self._left:
            self._left -= 1
            return False
        verifier = load_libsodium()
        # The size first: signature and message travel as one string, and must not be parted elsewhere.
        return verifier is not None and len(signature) == _SIGNATURE_SIZE and verifier(public, signature, message)
