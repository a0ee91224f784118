"""Receipts: a statement with its signatures and its seal, as one canonical JSON line.

    {"receipt":"v1","seal":{"index":1,"prev":"5ddb…","sealed_at":"…"},"signatures":[…],"statement":{…}}

``prev`` is the SHA-256 of the previous receipt *file*, newline included, so ``sha256sum`` checks the chain; 64 zeros at
index 0. The tree's entry for a receipt is the 32-byte SHA-256 of its file.

Because the form is canonical, the statement's bytes stand in the file as they were signed, between
``,"statement":`` and the closing brace. Reading takes that slice; nothing is ever encoded a second time to be checked.
"""

from __future__ import annotations

import binascii
import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ledger import canonical
from ledger.dsse import Signature
from ledger.errors import MalformedError
from ledger.keys import SIGNATURE_SIZE
from ledger.statement import SignedStatement, Statement, check_outline
from ledger.strict import b64decode, b64encode, is_time, parse_digest, parse_time

if TYPE_CHECKING:
    from ledger.canonical import JsonObject

NO_PREV = "0" * 64
MAX_BYTES = canonical.MAX_BYTES
MAX_SIGNATURES = 64

_STATEMENT_MARK = b'],"statement":'
_KIND_MARK = b'"predicateType":"urn:rungbook:'
_TAIL = b"}\n"
# All that stands before the statement when one key signed. The last digit of a base64 text that ends within a byte is
# one of few: the others would decode to the same bytes.
_USUAL_HEAD = re.compile(
    rb'\{"receipt":"v1","seal":\{"index":(0|[1-9][0-9]{0,14}),"prev":"([0-9a-f]{64})","sealed_at":"([0-9TZ:-]{20})"\},'
    rb'"signatures":\[\{"keyid":"(SHA256:[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048])","sig":"([A-Za-z0-9+/]{85}[AQgw]==)"\}\],'
    rb'"statement":'
)


@dataclass(frozen=True, slots=True)
class Seal:
    """Position in the ledger: index, SHA-256 (hex) of the previous receipt file, RFC 3339 time of sealing."""

    index: int
    prev: str
    sealed_at: str

    def __reduce__(self) -> tuple[type[Seal], tuple[int, str, str]]:
        # Seals travel between processes by the thousand, and a frozen class with slots would be copied by Python code.
        return Seal, (self.index, self.prev, self.sealed_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """One receipt."""

    seal: Seal
    signed: SignedStatement

    @property
    def statement(self) -> Statement:
        """The sealed statement."""
        return self.signed.statement


def file_digest(raw: bytes) -> bytes:
    """SHA-256 of a receipt file: the next receipt's ``prev`` and this one's entry in the tree."""
    return hashlib.sha256(raw).digest()


def encode_receipt(receipt: Receipt) -> bytes:
    """The bytes of a receipt file.

    Raises:
        MalformedError: ``E_SIZE`` over 16 MiB.
    """
    raw = canonical.encode(_head(receipt))[:-1] + b',"statement":' + receipt.statement.raw + _TAIL
    if len(raw) > MAX_BYTES:
        raise MalformedError(
            "E_SIZE",
            f"the receipt would have {len(raw)} bytes, at most {MAX_BYTES} are accepted; "
            "name large raw data under attachments, by digest",
        )
    return raw


def _head(receipt: Receipt) -> JsonObject:
    seal = receipt.seal
    return {
        "receipt": "v1",
        "seal": {"index": seal.index, "prev": seal.prev, "sealed_at": seal.sealed_at},
        "signatures": [{"keyid": item.keyid, "sig": b64encode(item.sig)} for item in receipt.signed.signatures],
    }


def decode_receipt(raw: bytes) -> Receipt:
    """Inverse of `encode_receipt`.

    Raises:
        MalformedError: for any bytes that `encode_receipt` does not emit.
    """
    receipt, proven = decode_receipt_bytes(raw)
    if not proven:
        canonical.check_domain(receipt.statement.value)
    return receipt


def decode_receipt_bytes(raw: bytes) -> tuple[Receipt, bool]:
    """Like `decode_receipt`, but may leave the domain check of the statement to a caller that has its schema.

    Returns:
        The receipt, and whether `canonical.check_domain` has already been done.
    """
    return _decode_usual(raw) or _decode_any(raw)


def _decode_usual(raw: bytes) -> tuple[Receipt, bool] | None:
    """A receipt with one signature, read at a glance; none when anything is wrong: `_decode_any` says what."""
    head = _USUAL_HEAD.match(raw)
    if head is None or not raw.endswith(_TAIL) or len(raw) > MAX_BYTES:
        return None
    content = raw[head.end() : -len(_TAIL)]
    index, prev, sealed_at, keyid, sig = head.groups()
    seal = Seal(index=int(index), prev=prev.decode(), sealed_at=sealed_at.decode())
    try:
        if not is_time(seal.sealed_at):
            parse_time(seal.sealed_at)
        value, proven = canonical.decode_bytes(content)
        check_outline(value)
    except MalformedError:
        return None
    signature = Signature(keyid=keyid.decode(), sig=binascii.a2b_base64(sig))
    signed = SignedStatement(statement=Statement(raw=content, value=value), signatures=(signature,))
    return Receipt(seal=seal, signed=signed), proven


def _decode_any(raw: bytes) -> tuple[Receipt, bool]:
    if len(raw) > MAX_BYTES:
        raise MalformedError("E_SIZE", f"a receipt of more than {MAX_BYTES} bytes")
    if not raw.endswith(b"\n"):
        raise MalformedError("E_RECEIPT", "a receipt file ends with one newline")
    value, proven = canonical.decode_bytes(raw[:-1])
    if not isinstance(value, dict) or value.keys() != {"receipt", "seal", "signatures", "statement"}:
        raise MalformedError("E_RECEIPT", "expected the members receipt, seal, signatures and statement")
    if value["receipt"] != "v1":
        raise MalformedError(
            "E_RECEIPT", f"expected receipt version 'v1', found {value['receipt']!r}", where="/receipt"
        )
    seal = _decode_seal(value["seal"])
    signatures = _decode_signatures(value["signatures"])
    check_outline(value["statement"])
    # Nothing before the mark can hold it: key ids and base64 have no brackets, checked just above.
    start = raw.index(_STATEMENT_MARK) + len(_STATEMENT_MARK)
    statement = Statement(raw=raw[start : -len(_TAIL)], value=value["statement"])
    return Receipt(seal=seal, signed=SignedStatement(statement=statement, signatures=signatures)), proven


def seal_head(index: int, prev: str) -> bytes:
    """The first bytes of the receipt that follows `prev` at `index`: enough to check the chain without parsing."""
    return b'{"receipt":"v1","seal":{"index":%d,"prev":"%b","sealed_at":"' % (index, prev.encode())


def peek_kind(raw: bytes) -> str:
    """Kind of the statement in a canonical receipt file, without parsing it; empty when it is none of ours.

    In a string of JSON every quote is escaped, and of the statement's members only the subject stands behind this one.
    """
    start = raw.rfind(_KIND_MARK) + len(_KIND_MARK)
    end = raw.find(b":", start)
    return "" if start < len(_KIND_MARK) or end < 0 else raw[start:end].decode("ascii", "replace")


def _decode_seal(value: object) -> Seal:
    if not isinstance(value, dict) or value.keys() != {"index", "prev", "sealed_at"}:
        raise MalformedError("E_RECEIPT", "a seal has index, prev and sealed_at", where="/seal")
    index, prev, sealed_at = value["index"], value["prev"], value["sealed_at"]
    if isinstance(index, bool) or not isinstance(index, int) or index < 0:
        raise MalformedError("E_RECEIPT", f"expected an index, found {index!r}", where="/seal/index")
    if not isinstance(prev, str) or not isinstance(sealed_at, str):
        raise MalformedError("E_RECEIPT", "prev and sealed_at are strings", where="/seal")
    parse_digest(prev, what="prev")
    parse_time(sealed_at, what="sealed_at")
    return Seal(index=index, prev=prev, sealed_at=sealed_at)


def _decode_signatures(value: object) -> tuple[Signature, ...]:
    if not isinstance(value, list) or not 1 <= len(value) <= MAX_SIGNATURES:
        raise MalformedError("E_RECEIPT", f"expected 1 to {MAX_SIGNATURES} signatures", where="/signatures")
    signatures = []
    for at, item in enumerate(value):
        where = f"/signatures/{at}"
        if not isinstance(item, dict) or item.keys() != {"keyid", "sig"}:
            raise MalformedError("E_RECEIPT", "a signature has keyid and sig", where=where)
        if not isinstance(item["keyid"], str) or not isinstance(item["sig"], str):
            raise MalformedError("E_RECEIPT", "keyid and sig are strings", where=where)
        check_keyid(item["keyid"], where)
        sig = b64decode(item["sig"], length=SIGNATURE_SIZE, what="signature")
        signatures.append(Signature(keyid=item["keyid"], sig=sig))
    keyids = [item.keyid for item in signatures]
    if keyids != sorted(set(keyids)):
        raise MalformedError(
            "E_SIGNATURE_ORDER",
            "signatures stand in the order of their key ids, one per key",
            where="/signatures",
        )
    return tuple(signatures)


def check_keyid(keyid: str, where: str) -> None:
    """Refuse what is not an OpenSSH SHA-256 fingerprint.

    Raises:
        MalformedError: ``E_KEYID`` or ``E_BASE64``.
    """
    head, _, digest = keyid.partition(":")
    if head != "SHA256":
        raise MalformedError("E_KEYID", f"expected SHA256:…, found {keyid[:60]!r}", where=where)
    b64decode(digest + "=", length=32, what="key id")


def to_json(receipt: Receipt) -> JsonObject:
    """The receipt as the JSON value that its file holds."""
    return {**_head(receipt), "statement": receipt.statement.value}
