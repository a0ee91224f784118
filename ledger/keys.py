"""Ed25519 keys in OpenSSH form.

A public key is written as OpenSSH writes it, ``ssh-ed25519 AAAA…``, without a comment; its *key id* is the OpenSSH
fingerprint ``SHA256:…``, so ``ssh-keygen -lf`` shows the same text. A private key is an OpenSSH file of mode 0600.

Signature libraries disagree about hostile public keys: `PublicKey` refuses those of small order, not canonically
encoded or not on the curve. (A key with a component of small order beside one of large order is left: see LIMITS.md.)

Source: RFC 8032 section 5.1; RFC 8709 for the blob; ssh-keygen(1) for fingerprints.
"""

from __future__ import annotations

import base64
import hashlib
import struct
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from ledger.errors import MalformedError, PolicyError, SignatureError
from ledger.keys_fast import Accelerator
from ledger.strict import b64decode, b64encode

if TYPE_CHECKING:
    from collections.abc import Callable

KEY_TYPE = "ssh-ed25519"
SIGNATURE_SIZE = 64

_BLOB_HEAD = struct.pack(">I", len(KEY_TYPE)) + KEY_TYPE.encode() + struct.pack(">I", 32)
_FIELD = 2**255 - 19
_D = -121665 * pow(121666, -1, _FIELD) % _FIELD
_accelerator = Accelerator()


@dataclass(frozen=True)
class PublicKey:
    """An Ed25519 public key that is not hostile on its face.

    Attributes:
        raw: the 32 bytes of RFC 8032.

    Raises:
        MalformedError: ``E_KEY`` when the bytes are not a point of large order in canonical form.
    """

    raw: bytes

    def __post_init__(self) -> None:
        problem = _point_problem(self.raw)
        if problem:
            raise MalformedError("E_KEY", f"not an acceptable Ed25519 public key: {problem}")

    def __reduce__(self) -> tuple[type[PublicKey], tuple[bytes]]:
        """Travel between processes by the bytes alone."""
        return PublicKey, (self.raw,)

    @cached_property
    def keyid(self) -> str:
        """OpenSSH fingerprint, ``SHA256:`` and 43 base64 digits."""
        digest = hashlib.sha256(_BLOB_HEAD + self.raw).digest()
        return "SHA256:" + base64.b64encode(digest).decode().rstrip("=")

    @cached_property
    def openssh(self) -> str:
        """``ssh-ed25519 AAAA…`` without a comment."""
        return f"{KEY_TYPE} {b64encode(_BLOB_HEAD + self.raw)}"

    @cached_property
    def _verifier(self) -> Ed25519PublicKey:
        return Ed25519PublicKey.from_public_bytes(self.raw)

    def verify(self, signature: bytes, message: bytes) -> None:
        """Check a signature.

        Raises:
            SignatureError: ``E_SIGNATURE``.
        """
        if _accelerator.accepts(self.raw, signature, message):
            return
        try:
            self._verifier.verify(signature, message)
        except InvalidSignature as err:
            raise SignatureError("E_SIGNATURE", f"the signature does not verify with key {self.keyid}") from err


def parse_public_key(line: str) -> PublicKey:
    """Read ``ssh-ed25519 AAAA…``; no comment, no options. Inverse of `PublicKey.openssh`.

    Raises:
        MalformedError: ``E_KEY`` or ``E_BASE64``.
    """
    kind, _, text = line.partition(" ")
    if kind != KEY_TYPE:
        raise MalformedError("E_KEY", f"expected a key of type {KEY_TYPE}, found {line[:40]!r}")
    blob = b64decode(text, length=len(_BLOB_HEAD) + 32, what="public key")
    if not blob.startswith(_BLOB_HEAD):
        raise MalformedError("E_KEY", f"the blob of {line[:40]!r} is not of type {KEY_TYPE}")
    return PublicKey(blob[len(_BLOB_HEAD) :])


def parse_public_key_file(raw: bytes) -> PublicKey:
    """Read a ``.pub`` file: one key, perhaps with a comment, perhaps with a final newline.

    Raises:
        MalformedError: ``E_KEY`` or ``E_BASE64``.
    """
    try:
        words = raw.decode("utf-8").split()
    except UnicodeDecodeError as err:
        raise MalformedError("E_KEY", "not an OpenSSH public key file: not text") from err
    if len(words) < 2 or len(raw.strip().splitlines()) != 1:  # noqa: PLR2004 - type and blob
        raise MalformedError("E_KEY", f"expected one line '{KEY_TYPE} AAAA… comment'")
    return parse_public_key(" ".join(words[:2]))


class PrivateKey:
    """An Ed25519 private key; `public` is always derived from the private half, never read beside it."""

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key
        self.public = PublicKey(key.public_key().public_bytes_raw())

    def __repr__(self) -> str:
        return f"PrivateKey({self.public.keyid})"

    @classmethod
    def generate(cls) -> PrivateKey:
        """A new key from the system's random source."""
        return cls(Ed25519PrivateKey.generate())

    @classmethod
    def from_seed(cls, seed: bytes) -> PrivateKey:
        """The key of a 32-byte RFC 8032 seed."""
        return cls(Ed25519PrivateKey.from_private_bytes(seed))

    def sign(self, message: bytes) -> bytes:
        """64-byte signature."""
        return self._key.sign(message)

    def to_openssh(self, passphrase: bytes | None = None) -> bytes:
        """The private key file, encrypted when a passphrase is given."""
        from cryptography.hazmat.primitives import serialization  # noqa: PLC0415 - slow to import, rarely needed

        lock: serialization.KeySerializationEncryption = serialization.NoEncryption()
        if passphrase:
            lock = serialization.BestAvailableEncryption(passphrase)
        return self._key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.OpenSSH, lock)


def parse_private_key(raw: bytes, passphrase: Callable[[], bytes | None] | None = None) -> PrivateKey:
    """Read an OpenSSH private key file.

    Args:
        raw: the file.
        passphrase: called once, and only when the key is encrypted.

    Raises:
        MalformedError: ``E_KEY`` when it is not an intact OpenSSH Ed25519 key; the public half inside must be the one
            that belongs to the private half.
        PolicyError: ``E_PASSPHRASE`` when the key is encrypted and the passphrase is missing or wrong.
    """
    from cryptography.exceptions import InvalidTag, UnsupportedAlgorithm  # noqa: PLC0415 - rarely needed
    from cryptography.hazmat.primitives.serialization import load_ssh_private_key  # noqa: PLC0415

    secret = None
    if _is_encrypted(raw):
        secret = passphrase() if passphrase else None
        if not secret:
            raise PolicyError("E_PASSPHRASE", "the private key is encrypted and no passphrase was given")
    try:
        key = load_ssh_private_key(raw, secret)
    except UnsupportedAlgorithm as err:
        raise MalformedError("E_KEY", f"the private key is locked in a way that cannot be opened here: {err}") from err
    except (ValueError, TypeError, InvalidTag, IndexError, struct.error) as err:
        if secret:
            raise PolicyError("E_PASSPHRASE", "the passphrase does not open the private key") from err
        raise MalformedError("E_KEY", f"not an OpenSSH private key: {err}") from err
    if not isinstance(key, Ed25519PrivateKey):
        raise MalformedError("E_KEY", f"expected an Ed25519 private key, found {type(key).__name__}")
    found = PrivateKey(key)
    if _outer_public_key(raw) != found.public.raw:
        raise MalformedError("E_KEY", "the public half in the private key file belongs to another key")
    return found


_PEM_HEAD = b"-----BEGIN OPENSSH PRIVATE KEY-----"
_PEM_TAIL = b"-----END OPENSSH PRIVATE KEY-----"
_MAGIC = b"openssh-key-v1\x00"


def _openssh_fields(raw: bytes) -> list[bytes]:
    """Cipher name, KDF name, KDF options and public blob of an OpenSSH private key file."""
    body = raw.partition(_PEM_HEAD)[2].partition(_PEM_TAIL)[0]
    try:
        data = base64.b64decode(b"".join(body.split()), validate=True)
        if not data.startswith(_MAGIC):
            raise MalformedError("E_KEY", "expected an OpenSSH private key file")
        fields, at = [], len(_MAGIC)
        for skip in (0, 0, 0, 4):  # a key count stands before the public blob
            (size,) = struct.unpack_from(">I", data, at + skip)
            fields.append(data[at + skip + 4 : at + skip + 4 + size])
            at += skip + 4 + size
    except (ValueError, struct.error) as err:
        raise MalformedError("E_KEY", f"damaged OpenSSH private key file: {err}") from err
    return fields


def _is_encrypted(raw: bytes) -> bool:
    return _openssh_fields(raw)[0] != b"none"


def _outer_public_key(raw: bytes) -> bytes:
    return _openssh_fields(raw)[3][len(_BLOB_HEAD) :]


def _point_problem(raw: bytes) -> str:
    """Why 32 bytes are not a canonical point of large order; empty when they are."""
    if len(raw) != 32:  # noqa: PLR2004 - the size of an Ed25519 key
        return f"{len(raw)} bytes instead of 32"
    y = int.from_bytes(raw, "little") & (2**255 - 1)
    if y >= _FIELD:
        return "not the canonical encoding of a point"
    x_squared = (y * y - 1) * pow(_D * y * y + 1, -1, _FIELD) % _FIELD
    if x_squared and pow(x_squared, (_FIELD - 1) // 2, _FIELD) != 1:
        return "not a point of the curve"
    # Order 1, 2: x = 0. Order 4: y = 0. Order 8: doubling must give y = 0, that is x^2 = -y^2.
    if x_squared == 0 or y == 0 or (x_squared + y * y) % _FIELD == 0:
        return "a point of small order"
    return ""
