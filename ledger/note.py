"""C2SP signed notes: a text and the signatures under it.

    <text, ends with a newline>
    <empty line>
    — <name> <base64(key hash || signature)>
    …

The *key hash* is the first four bytes of ``SHA256(name || 0x0A || 0x01 || public key)``: a hint, not a digest to rely
on. Signatures by keys that the reader does not know are kept apart and ignored; a signature by a known key that does
not verify condemns the whole note; a note without a single good known signature is not opened.

Source: github.com/C2SP/C2SP signed-note.md; two lines for one (name, key hash) are refused, as C2SP#257 decided.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ledger.errors import MalformedError, SignatureError
from ledger.keys import SIGNATURE_SIZE, PrivateKey, PublicKey
from ledger.strict import b64decode, b64encode

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_BYTES = 1_000_000
MAX_SIGNATURES = 100

_ED25519 = b"\x01"
_KEY_HASH_SIZE = 4
_LINE_HEAD = "\N{EM DASH} "
_CONTROL = re.compile("[\x00-\x09\x0b-\x1f]")  # but the newline
_HEX8 = re.compile(r"[0-9a-f]{8}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteSignature:
    """One signature line: `payload` is everything behind the key hash (a cosignature carries a time there)."""

    name: str
    key_hash: bytes
    payload: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A parsed note. Parsing verifies nothing."""

    text: str
    signatures: tuple[NoteSignature, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteKey:
    """A name with its Ed25519 key: what a verifier key (*vkey*) holds."""

    name: str
    public: PublicKey

    def __post_init__(self) -> None:
        check_name(self.name)

    @property
    def key_hash(self) -> bytes:
        """Four bytes that say which key a signature line may be by."""
        material = self.name.encode() + b"\n" + _ED25519 + self.public.raw
        return hashlib.sha256(material).digest()[:_KEY_HASH_SIZE]

    @property
    def vkey(self) -> str:
        """``name+hash+base64``, the form in which verification keys are published."""
        return f"{self.name}+{self.key_hash.hex()}+{b64encode(_ED25519 + self.public.raw)}"


def check_name(name: str) -> None:
    """Refuse what cannot be the name of a note's key.

    Raises:
        MalformedError: ``E_NAME``.
    """
    if not name or "+" in name or " " in name or not name.isprintable():  # no other space is printable
        raise MalformedError("E_NAME", f"{name!r} is empty or holds white space or '+'")


def parse_vkey(text: str) -> NoteKey:
    """Inverse of `NoteKey.vkey`.

    Raises:
        MalformedError: ``E_VKEY``, or what the readers of its parts raise.
    """
    name, _, rest = text.partition("+")
    key_hash, _, data = rest.partition("+")
    if not _HEX8.fullmatch(key_hash):
        raise MalformedError("E_VKEY", f"expected name+hash+key, found {text[:80]!r}")
    blob = b64decode(data, what="verification key")
    if blob[:1] != _ED25519 or len(blob) != len(_ED25519) + 32:
        raise MalformedError("E_VKEY", "the verification key is not an Ed25519 note key")
    key = NoteKey(name=name, public=PublicKey(blob[1:]))
    if key.key_hash.hex() != key_hash:
        raise MalformedError("E_VKEY", f"the key hash of this name and key is {key.key_hash.hex()}")
    return key


def sign_note(text: str, name: str, key: PrivateKey) -> Note:
    """Sign a text under a name."""
    note_key = NoteKey(name=name, public=key.public)
    _check_text(text)
    line = NoteSignature(name=name, key_hash=note_key.key_hash, payload=key.sign(text.encode()))
    return Note(text=text, signatures=(line,))


def encode_note(note: Note) -> bytes:
    """The bytes of a note."""
    lines = [f"{_LINE_HEAD}{item.name} {b64encode(item.key_hash + item.payload)}\n" for item in note.signatures]
    return (note.text + "\n" + "".join(lines)).encode()


def parse_note(raw: bytes) -> Note:
    """Inverse of `encode_note`; verifies nothing.

    Raises:
        MalformedError: ``E_NOTE``, or what the readers of its parts raise.
    """
    if len(raw) > MAX_BYTES:
        raise MalformedError("E_NOTE", f"a note of {len(raw)} bytes, at most {MAX_BYTES} are accepted")
    try:
        whole = raw.decode("utf-8")
    except UnicodeDecodeError as err:
        raise MalformedError("E_NOTE", f"not UTF-8 at byte {err.start}") from err
    head, blank, tail = whole.rpartition("\n\n")
    if not blank or not tail.endswith("\n"):
        raise MalformedError("E_NOTE", "expected a text, an empty line and signature lines")
    _check_text(head + "\n")
    lines = tail[:-1].split("\n")
    if len(lines) > MAX_SIGNATURES:
        raise MalformedError("E_NOTE", f"{len(lines)} signatures, at most {MAX_SIGNATURES} are accepted")
    signatures = tuple(_parse_line(line) for line in lines)
    if len({(item.name, item.key_hash) for item in signatures}) != len(signatures):
        raise MalformedError("E_NOTE", "two signature lines for one name and key")
    return Note(text=head + "\n", signatures=signatures)


def open_note(raw: bytes, known: Sequence[NoteKey]) -> Note:
    """Parse a note and verify it under the known keys.

    Raises:
        MalformedError: it is not a note.
        SignatureError: ``E_NOTE_SIGNATURE`` when a known key's signature does not verify, ``E_NOTE_UNSIGNED`` when no
            known key signed it.
    """
    note = parse_note(raw)
    message, good = note.text.encode(), 0
    for item in note.signatures:
        for key in known:
            if (item.name, item.key_hash) != (key.name, key.key_hash):
                continue
            if len(item.payload) != SIGNATURE_SIZE:
                raise SignatureError("E_NOTE_SIGNATURE", f"the signature by {key.name} is not 64 bytes long")
            try:
                key.public.verify(item.payload, message)
            except SignatureError as err:
                raise SignatureError(
                    "E_NOTE_SIGNATURE", f"the signature by {key.name} ({key.vkey}) does not verify"
                ) from err
            good += 1
    if not good:
        names = ", ".join(sorted({item.name for item in note.signatures}))
        raise SignatureError("E_NOTE_UNSIGNED", f"no signature by a known key; it is signed by {names}")
    return note


def _parse_line(line: str) -> NoteSignature:
    if not line.startswith(_LINE_HEAD):
        raise MalformedError("E_NOTE", f"expected a signature line, found {line[:60]!r}")
    name, space, data = line[len(_LINE_HEAD) :].partition(" ")
    if not space:
        raise MalformedError("E_NOTE", f"a signature line is '— name base64', found {line[:60]!r}")
    check_name(name)
    blob = b64decode(data, what="note signature")
    if len(blob) <= _KEY_HASH_SIZE:
        raise MalformedError("E_NOTE", "a signature line without a signature")
    return NoteSignature(name=name, key_hash=blob[:_KEY_HASH_SIZE], payload=blob[_KEY_HASH_SIZE:])


def _check_text(text: str) -> None:
    if not text.endswith("\n"):
        raise MalformedError("E_NOTE", "the text of a note ends with a newline")
    if _CONTROL.search(text):
        raise MalformedError("E_NOTE", "the text of a note holds a control character")
