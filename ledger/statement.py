"""Statements: what a producer signs, as in-toto Statement v1.

    {"_type": "https://in-toto.io/Statement/v1",
     "predicate": {"basis": {…}, "producer": {…}, "<kind>": {…}},
     "predicateType": "urn:rungbook:<kind>:v1",
     "subject": [{"digest": {"sha256": "…"}, "name": "…"}]}

``basis`` is the ledger's state that the producer saw, so the statement was made after it. ``producer`` numbers the
statements of one key without a gap, so that a statement which the ledger's operator drops leaves one. The member named
like the kind holds what the statement says.

Source: github.com/in-toto/attestation spec/v1/statement.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from ledger import canonical
from ledger.dsse import Signature, decode_envelope, encode_envelope, statement_identity, statement_pae
from ledger.errors import MalformedError, RefusedError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger.canonical import JsonObject
    from ledger.keys import PrivateKey, PublicKey

STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
_KIND_HEAD, _KIND_TAIL = "urn:rungbook:", ":v1"


@dataclass(frozen=True, kw_only=True)
class Statement:
    """A statement as bytes and as the value they hold.

    Attributes:
        raw: canonical bytes, without a newline; what is signed.
        value: the parsed bytes. Treat it as read-only.
    """

    raw: bytes
    value: JsonObject

    @cached_property
    def identity(self) -> bytes:
        """SHA-256 of the signed encoding, 32 bytes."""
        return statement_identity(self.raw)

    @property
    def kind(self) -> str:
        """``round``, ``keys``, …; the whole predicate type when it is not one of ours."""
        return _kind_of(self.value["predicateType"])

    @property
    def predicate(self) -> JsonObject:
        """The predicate object."""
        predicate: JsonObject = self.value["predicate"]
        return predicate

    @property
    def body(self) -> JsonObject:
        """What the statement says: the predicate's member named like the kind."""
        body: JsonObject = self.predicate[self.kind]
        return body

    @property
    def subject(self) -> tuple[str, str]:
        """Name and SHA-256 (hex) of the only subject."""
        subject = self.value["subject"][0]
        return subject["name"], subject["digest"]["sha256"]


@lru_cache(maxsize=16)
def _kind_of(predicate_type: str) -> str:
    ours = predicate_type.startswith(_KIND_HEAD) and predicate_type.endswith(_KIND_TAIL)
    return predicate_type[len(_KIND_HEAD) : -len(_KIND_TAIL)] if ours else predicate_type


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """The ledger's state that a producer saw: tree size and root hash (32 bytes)."""

    tree_size: int
    root: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Producer:
    """Who numbers a statement: key id, sequence number from 0, identity of the previous one (none at 0)."""

    keyid: str
    seq: int
    prev: bytes | None


def build_statement(
    kind: str, body: JsonObject, *, subject: tuple[str, str], basis: Basis, producer: Producer
) -> Statement:
    """Make a statement.

    Args:
        kind: one of ours, such as ``round``.
        body: what it says; goes into the predicate's member named like the kind.
        subject: name and SHA-256 (hex) of what it is about.
        basis: the ledger's state it was made on.
        producer: numbering of the producer's statements.

    Raises:
        MalformedError: the body is outside canonical JSON.
    """
    name, digest = subject
    value = {
        "_type": STATEMENT_TYPE,
        "predicate": {
            "basis": {"root_hash": basis.root.hex(), "tree_size": basis.tree_size},
            "producer": {
                "keyid": producer.keyid,
                "prev_statement": producer.prev.hex() if producer.prev else None,
                "seq": producer.seq,
            },
            kind: body,
        },
        "predicateType": f"{_KIND_HEAD}{kind}{_KIND_TAIL}",
        "subject": [{"digest": {"sha256": digest}, "name": name}],
    }
    return Statement(raw=canonical.encode(value), value=value)


def decode_statement(raw: bytes) -> Statement:
    """Read canonical statement bytes. Only the outermost shape is checked here; schemas check the rest.

    Raises:
        MalformedError: ``E_STATEMENT``, or what `canonical.decode` raises.
    """
    value = canonical.decode(raw)
    check_outline(value)
    return Statement(raw=raw, value=value)


def check_outline(value: object) -> None:
    """The least that makes a value a statement: the four members, with the right types.

    Raises:
        MalformedError: ``E_STATEMENT``.
    """
    if not isinstance(value, dict) or value.keys() != {"_type", "predicate", "predicateType", "subject"}:
        raise MalformedError("E_STATEMENT", "expected _type, predicate, predicateType and subject")
    if value["_type"] != STATEMENT_TYPE:
        raise MalformedError("E_STATEMENT", f"expected _type {STATEMENT_TYPE}", where="/_type")
    if not isinstance(value["predicateType"], str) or not isinstance(value["predicate"], dict):
        raise MalformedError("E_STATEMENT", "predicateType is a string, predicate an object")


@dataclass(frozen=True, kw_only=True)
class SignedStatement:
    """A statement with its signatures, ordered by key id: an attestation that is not sealed yet."""

    statement: Statement
    signatures: tuple[Signature, ...]

    def cosign(self, key: PrivateKey) -> SignedStatement:
        """The same statement with one signature more.

        Raises:
            RefusedError: ``E_DUPLICATE_SIGNER`` when the key has signed already.
        """
        if any(item.keyid == key.public.keyid for item in self.signatures):
            raise RefusedError("E_DUPLICATE_SIGNER", f"{key.public.keyid} has signed this statement already")
        return sign_statement(self.statement, [key], self.signatures)


def sign_statement(
    statement: Statement, keys: Sequence[PrivateKey], already: Sequence[Signature] = ()
) -> SignedStatement:
    """Sign a statement with one or more keys."""
    message = statement_pae(statement.raw)
    signatures = [Signature(keyid=key.public.keyid, sig=key.sign(message)) for key in keys]
    return SignedStatement(
        statement=statement,
        signatures=tuple(sorted([*already, *signatures], key=lambda item: item.keyid)),
    )


def verify_signature(statement: Statement, signature: Signature, key: PublicKey) -> None:
    """Check one signature over a statement.

    Raises:
        SignatureError: ``E_SIGNATURE``.
    """
    key.verify(signature.sig, statement_pae(statement.raw))


def export_envelope(signed: SignedStatement) -> bytes:
    """A signed statement as a standard DSSE envelope."""
    return encode_envelope(signed.statement.raw, signed.signatures)


def import_envelope(raw: bytes) -> SignedStatement:
    """Inverse of `export_envelope`, for any layout of the envelope.

    Raises:
        MalformedError: not an envelope around a canonical statement.
    """
    envelope = decode_envelope(raw)
    return SignedStatement(
        statement=decode_statement(envelope.payload),
        signatures=tuple(sorted(envelope.signatures, key=lambda item: item.keyid)),
    )
