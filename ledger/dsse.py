"""DSSE: what exactly is signed, and the envelope that other people's tools read.

A signature is over the *pre-authentication encoding* (PAE) of the statement's bytes, never over parsed JSON. The
SHA-256 of that encoding is the *statement identity*: an envelope may be laid out in many ways, the identity is one.

Source: DSSE v1.0.2 (github.com/secure-systems-lab/dsse).
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeGuard

from ledger.canonical import MAX_BYTES
from ledger.errors import MalformedError
from ledger.json_input import NumberText, parse_json
from ledger.keys import SIGNATURE_SIZE
from ledger.strict import b64decode, b64encode

if TYPE_CHECKING:
    from collections.abc import Sequence

PAYLOAD_TYPE = "application/vnd.in-toto+json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """One signature and the key id that it names. The key id is a hint until a known key has verified it."""

    keyid: str
    sig: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """A payload with its signatures."""

    payload: bytes
    signatures: tuple[Signature, ...]


def pae(payload_type: str, payload: bytes) -> bytes:
    """Pre-authentication encoding; both lengths count bytes."""
    kind = payload_type.encode("utf-8")
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def statement_pae(statement: bytes) -> bytes:
    """The bytes that a producer signs."""
    return pae(PAYLOAD_TYPE, statement)


def statement_identity(statement: bytes) -> bytes:
    """SHA-256 of the signed bytes: 32 bytes that name a statement, whoever signed it and however it travels."""
    return hashlib.sha256(statement_pae(statement)).digest()


def encode_envelope(payload: bytes, signatures: Sequence[Signature]) -> bytes:
    """The envelope as one line of JSON with a newline; key ids are always given."""
    document = {
        "payload": b64encode(payload),
        "payloadType": PAYLOAD_TYPE,
        "signatures": [{"keyid": item.keyid, "sig": b64encode(item.sig)} for item in signatures],
    }
    return json.dumps(document, separators=(",", ":")).encode("ascii") + b"\n"


def decode_envelope(raw: bytes) -> Envelope:
    """Read an envelope that any DSSE tool wrote.

    As the standard asks, unknown members are ignored and both base64 alphabets are accepted; each strictly. Nothing of
    the envelope is kept but the payload's bytes and the signatures.

    Raises:
        MalformedError: ``E_ENVELOPE`` or what the readers of its parts raise.
    """
    document = parse_json(raw, what="envelope", max_bytes=2 * MAX_BYTES, fractions=True)  # base64 adds a third
    if not isinstance(document, dict):
        raise MalformedError("E_ENVELOPE", "a DSSE envelope is a JSON object")
    if document.get("payloadType") != PAYLOAD_TYPE:
        raise MalformedError(
            "E_ENVELOPE",
            f"expected payloadType {PAYLOAD_TYPE!r}, found {document.get('payloadType')!r}",
            where="/payloadType",
        )
    payload = _decode_either(document.get("payload"), "/payload")
    listed = document.get("signatures")
    if not isinstance(listed, list) or not listed:
        raise MalformedError("E_ENVELOPE", "expected at least one signature", where="/signatures")
    return Envelope(
        payload=payload,
        signatures=tuple(_decode_signature(item, f"/signatures/{at}") for at, item in enumerate(listed)),
    )


def _decode_signature(item: object, where: str) -> Signature:
    if not isinstance(item, dict):
        raise MalformedError("E_ENVELOPE", "a signature is a JSON object", where=where)
    keyid = item.get("keyid")
    if not _is_text(keyid) or not keyid:
        raise MalformedError("E_ENVELOPE", "a signature must name its key by keyid", where=where + "/keyid")
    sig = _decode_either(item.get("sig"), where + "/sig")
    if len(sig) != SIGNATURE_SIZE:
        raise MalformedError("E_ENVELOPE", f"expected {SIGNATURE_SIZE} bytes", where=where + "/sig")
    return Signature(keyid=keyid, sig=sig)


def _is_text(value: object) -> TypeGuard[str]:
    """Whether a value was a string in the file: a fraction is kept as text too, but never was one."""
    return isinstance(value, str) and not isinstance(value, NumberText)


def _decode_either(text: object, where: str) -> bytes:
    if not _is_text(text):
        raise MalformedError("E_ENVELOPE", "expected base64 text", where=where)
    url_safe = "-" in text or "_" in text
    if url_safe and ("+" in text or "/" in text):
        raise MalformedError("E_BASE64", "two base64 alphabets in one value", where=where)
    return b64decode(text.replace("-", "+").replace("_", "/"), what=where)
