"""Intel TDX quotes, version 4, verified without a network.

What a receipt's own flags say about its quote is never read. The way of trust, each step a check of `TdxReport`:

1. the attestation key in the quote signed header and body of the quote;
2. the report of the quoting enclave (QE) names that key, by hash;
3. the platform's PCK certificate signed that report;
4. Intel's root, whose certificate is `ROOT_PEM`, issued the issuer of that certificate;
5. ``report_data``, in the signed body, is made of the receipt's nonce, key, image digest, output and input files.

Not checked, because it takes fresh documents by Intel: the TCB status of the platform, revocation (CRLs), and of the
QE identity all but signer, product and debug switch. Nor is it judged which software the trust domain (TD) ran: every
owner of such a machine can start a TD that writes any report data. `TdxReport.mrtd` and `TdxReport.rtmrs` say which one
it was; compare them with known ones. `NOT_COVERED` can be edited without any check failing. The bytes of a quote are no
identity: an ECDSA signature also verifies with n - s for s, and the number of zeros behind a quote is free.

Source: Intel TDX DCAP Quoting Library API, appendix A (quote version 4); Intel SGX PCK Certificate and CRL Profile
Specification; Intel TDX Module 1.0 specification, TDREPORT. What ``report_data`` hashes was found from public receipts.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.utils import CryptographyDeprecationWarning

from ledger.errors import MalformedError
from ledger.strict import b64decode

if TYPE_CHECKING:
    import datetime as dt

    from ledger.canonical import JsonObject

# The public certificate "Intel SGX Root CA" (certificates.trustedservices.intel.com), valid from 2018 to 2049.
ROOT_PEM = b"""\
-----BEGIN CERTIFICATE-----
MIICjzCCAjSgAwIBAgIUImUM1lqdNInzg7SVUr9QGzknBqwwCgYIKoZIzj0EAwIw
aDEaMBgGA1UEAwwRSW50ZWwgU0dYIFJvb3QgQ0ExGjAYBgNVBAoMEUludGVsIENv
cnBvcmF0aW9uMRQwEgYDVQQHDAtTYW50YSBDbGFyYTELMAkGA1UECAwCQ0ExCzAJ
BgNVBAYTAlVTMB4XDTE4MDUyMTEwNDUxMFoXDTQ5MTIzMTIzNTk1OVowaDEaMBgG
A1UEAwwRSW50ZWwgU0dYIFJvb3QgQ0ExGjAYBgNVBAoMEUludGVsIENvcnBvcmF0
aW9uMRQwEgYDVQQHDAtTYW50YSBDbGFyYTELMAkGA1UECAwCQ0ExCzAJBgNVBAYT
AlVTMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEC6nEwMDIYZOj/iPWsCzaEKi7
1OiOSLRFhWGjbnBVJfVnkY4u3IjkDYYL0MxO4mqsyYjlBalTVYxFP2sJBK5zlKOB
uzCBuDAfBgNVHSMEGDAWgBQiZQzWWp00ifODtJVSv1AbOScGrDBSBgNVHR8ESzBJ
MEegRaBDhkFodHRwczovL2NlcnRpZmljYXRlcy50cnVzdGVkc2VydmljZXMuaW50
ZWwuY29tL0ludGVsU0dYUm9vdENBLmRlcjAdBgNVHQ4EFgQUImUM1lqdNInzg7SV
Ur9QGzknBqwwDgYDVR0PAQH/BAQDAgEGMBIGA1UdEwEB/wQIMAYBAf8CAQEwCgYI
KoZIzj0EAwIDSQAwRgIhAOW/5QkR+S9CiSDcNoowLuPRLsWGf/Yi7GSX94BgwTwg
AiEA4J0lrHoMs+Xo5o/sX6O9QWxHRAvZUGOdRQ7cvqRXaqI=
-----END CERTIFICATE-----
"""
# Signer and product of Intel's TD quoting enclave, as Intel's QE identity states them. The platform also certifies keys
# of enclaves that its owner wrote; without this check such an enclave could sign quotes of TDs that never were.
QE_SIGNER = bytes.fromhex("dc9e2a7c6f948f17474e34a7fc43ed030f7c1563f1babddf6340c82e0e54a8c5")
QE_PRODUCT = bytes.fromhex("0200")

COVERED = ("container image digest", "stdout", "input files digest", "nonce", "public key")
"""What ``report_data`` is made of."""

NOT_COVERED = (
    "/attestation/code/commit",
    "/attestation/code/build_hash",
    "/attestation/code/scoring_scripts_commit",
    "/attestation/references/model_sha256",
    "/attestation/environment/gpu_name",
    "/attestation/environment/driver_version",
    "/attestation/environment/clock_mhz",
    "/attestation/timestamp_utc",
    "/attestation/verdict",
    "/attestation/measurements",
    "/tdx/workload_sha256",
    "/tdx/verification",
)
"""Members of a receipt that the quote does not bind, as JSON pointers."""

MAX_BYTES = 65_536
"""Of a quote; real ones have 8000 with their padding."""

_HEADER = bytes.fromhex("0400 0200 81000000")  # version 4, ECDSA over P-256, TDX
# Header and TD report; size of what follows; signature, key; type and size of the certification data; in it QE report,
# signature, size of the authentication data. That data, and type and size of the PCK chain, stand behind.
_FIXED = struct.Struct("<632s I 64s 64s HI 384s 64s H")
_CHAIN_HEAD = struct.Struct("<HI")
_QE_CERTIFICATION, _PCK_CHAIN = 6, 5  # types of certification data
_SIZED_AT, _CERTIFIED_AT = 636, 770  # where the bytes begin that the two sizes count
_TD_DEBUG_GROUP = 168
_MRTD = slice(184, 232)
_RTMRS = tuple(slice(at, at + 48) for at in range(376, 568, 48))
_REPORT_DATA = slice(568, 632)
_QE_ATTRIBUTES, _QE_DEBUG = 48, 0b10
_QE_MRSIGNER = slice(128, 160)
_QE_PRODUCT_ID = slice(256, 258)
_QE_REPORT_DATA = slice(320, 384)
_CHAIN_LENGTH = 3  # PCK leaf, intermediate, root
# The library decodes late: these can come from every look into a certificate. A warning is an error where a caller
# made it one.
_UNREADABLE = (ValueError, TypeError, UnsupportedAlgorithm, x509.InvalidVersion, CryptographyDeprecationWarning)
_BAD_EXTENSION = (x509.DuplicateExtension, x509.ExtensionNotFound, x509.UnsupportedGeneralNameType)
# ``report_data`` hashes texts one behind the other without a separator: only where the length of each is fixed can no
# character move from one to the next. The public key is 32 bytes in base64.
_FORMS = {
    "nonce": re.compile(r"[0-9a-f]{32}"),
    "e2e_pubkey_b64": re.compile(r"[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]="),
    "bound_digest": re.compile(r"sha256:[0-9a-f]{64}"),
    "files_sha256": re.compile(r"[0-9a-f]{64}"),
    "result_sha256": re.compile(r"[0-9a-f]{64}"),
    "stdout_b64": re.compile(r"(?s:.*)"),
    "quote_b64": re.compile(r"(?s:.+)"),
}


class Quote(NamedTuple):
    """A parsed quote; parsing verifies nothing. A signature is r and s, 32 bytes each, and a key likewise x and y."""

    signed: bytes  # header and TD report
    signature: bytes
    key_bytes: bytes
    key: ec.EllipticCurvePublicKey
    qe_report: bytes
    qe_signature: bytes
    qe_auth: bytes
    chain: tuple[x509.Certificate, ...]  # PCK leaf, intermediate, root
    pck_key: ec.EllipticCurvePublicKey


class TdxCheck(NamedTuple):
    """One check: whether it holds, and what it asks for or what is wrong."""

    name: str
    holds: bool
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TdxReport:
    """Every check of one quote, and which software it is of: `mrtd` and the four `rtmrs`, hexadecimal."""

    checks: tuple[TdxCheck, ...]
    mrtd: str
    rtmrs: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether every check holds."""
        return all(check.holds for check in self.checks)

    @property
    def covered(self) -> tuple[str, ...]:
        """`COVERED`, but nothing when a check does not hold: then the quote vouches for nothing."""
        return COVERED if self.holds else ()


def verify_tdx(tdx: JsonObject, *, at: dt.datetime) -> TdxReport:
    """Verify the member ``tdx`` of a receipt.

    Args:
        tdx: the member; what is not read (``verification``, ``collateral_b64`` and others) may be missing.
        at: aware time at which the certificates must be valid.

    Raises:
        MalformedError: ``E_TDX_QUOTE`` with a JSON pointer into `tdx`.
    """
    text = {name: _read_text(tdx, name) for name in _FORMS}
    quote, stdout = parse_quote(_decode(text, "quote_b64")), sha256(_decode(text, "stdout_b64")).hexdigest()
    session, result = text["nonce"] + text["e2e_pubkey_b64"], text["bound_digest"] + stdout + text["files_sha256"]
    bound = quote.signed[_REPORT_DATA]
    checks = (
        *_check_quote(quote),
        *_check_chain(quote.chain, at),
        TdxCheck("session", bound[:32] == sha256(session.encode()).digest(), "nonce and public key are bound"),
        TdxCheck("result", bound[32:] == sha256(result.encode()).digest(), "image, stdout and input files are bound"),
        TdxCheck("result_sha256", text["result_sha256"] == stdout, "it is the digest of stdout"),
    )
    rtmrs = tuple(quote.signed[place].hex() for place in _RTMRS)
    return TdxReport(checks=checks, mrtd=quote.signed[_MRTD].hex(), rtmrs=rtmrs)


def parse_quote(raw: bytes) -> Quote:
    """Read a quote; zeros may follow it, for the quoting service pads.

    Raises:
        MalformedError: ``E_TDX_QUOTE`` with the place that a quote has in the member ``tdx``.
    """
    if not raw.startswith(_HEADER) or not _FIXED.size <= len(raw) <= MAX_BYTES:
        raise _malformed("expected a TDX quote of version 4 with an ECDSA P-256 key")
    signed, size, signature, key, kind, certified, qe_report, qe_signature, auth_size = _FIXED.unpack_from(raw)
    end, auth_end = _SIZED_AT + size, _FIXED.size + auth_size
    pem = raw[auth_end + _CHAIN_HEAD.size : end]
    if kind != _QE_CERTIFICATION or not end == _CERTIFIED_AT + certified <= len(raw) or any(raw[end:]):
        raise _malformed("expected certification data of the QE as long as it says, and at most zeros behind it")
    if raw[auth_end : auth_end + _CHAIN_HEAD.size] != _CHAIN_HEAD.pack(_PCK_CHAIN, len(pem)):
        raise _malformed("expected a PCK chain as long as it says")
    chain, qe_auth = _read_chain(pem), raw[_FIXED.size : auth_end]
    try:
        point = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), b"\x04" + key)
        pck_key = chain[0].public_key()
    except _UNREADABLE as err:
        raise _malformed(f"a key cannot be read: {err}") from err
    if not isinstance(pck_key, ec.EllipticCurvePublicKey) or not isinstance(pck_key.curve, ec.SECP256R1):
        raise _malformed("the PCK certificate has no key of P-256")
    return Quote(signed, signature, key, point, qe_report, qe_signature, qe_auth, chain, pck_key)


def _read_chain(pem: bytes) -> tuple[x509.Certificate, ...]:
    try:
        chain = tuple(x509.load_pem_x509_certificates(pem))
    except _UNREADABLE as err:
        raise _malformed(f"a certificate cannot be read: {err}") from err
    if len(chain) != _CHAIN_LENGTH or b"".join(one.public_bytes(Encoding.PEM) for one in chain) != pem:
        raise _malformed(f"expected {_CHAIN_LENGTH} certificates in PEM and nothing beside them")
    # The count of unused bits before a signature is signed by nobody, and where last bits are zero, others pass too.
    if not all(one.public_bytes(Encoding.DER).endswith(b"\x00" + one.signature) for one in chain):
        raise _malformed("the signature of a certificate is no whole number of bytes")
    return chain


def _check_quote(quote: Quote) -> tuple[TdxCheck, ...]:
    qe, bound = quote.qe_report, sha256(quote.key_bytes + quote.qe_auth).digest() + bytes(32)
    intel = (qe[_QE_MRSIGNER], qe[_QE_PRODUCT_ID]) == (QE_SIGNER, QE_PRODUCT) and not qe[_QE_ATTRIBUTES] & _QE_DEBUG
    return (
        TdxCheck("quote_signature", _signed(quote.key, quote.signature, quote.signed), "by the attestation key"),
        TdxCheck("attestation_key", qe[_QE_REPORT_DATA] == bound, "the QE names key and authentication data"),
        TdxCheck("qe_signature", _signed(quote.pck_key, quote.qe_signature, qe), "the PCK key signed the QE report"),
        TdxCheck("quoting_enclave", intel, "the QE is Intel's and not in debug mode"),
        TdxCheck("td_debug", not quote.signed[_TD_DEBUG_GROUP], "the TD is not under debug"),
    )


def _signed(key: ec.EllipticCurvePublicKey, signature: bytes, message: bytes) -> bool:
    encoded = encode_dss_signature(int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big"))
    try:
        key.verify(encoded, message, ec.ECDSA(hashes.SHA256()))
    except InvalidSignature:
        return False
    return True


def _check_chain(chain: tuple[x509.Certificate, ...], at: dt.datetime) -> tuple[TdxCheck, ...]:
    pinned, problem = x509.load_pem_x509_certificate(ROOT_PEM), _chain_problem(chain)
    first, last = max(one.not_valid_before_utc for one in chain), min(one.not_valid_after_utc for one in chain)
    return (
        TdxCheck("pck_chain", not problem, problem or "each certificate is issued by the next"),
        TdxCheck("root", chain[-1] == pinned, "the chain ends in the Intel SGX Root CA"),
        TdxCheck("validity", first <= at <= last, f"judged at {at}; all are valid from {first} to {last}"),
    )


def _chain_problem(chain: tuple[x509.Certificate, ...]) -> str:
    try:
        for subject, issuer in pairwise(chain):
            subject.verify_directly_issued_by(issuer)
        # No look at lengths of paths: Intel's root allows one issuer below it, and the chain has no more.
        if [_may_issue(one) for one in chain] != [False, True, True]:
            return "the PCK certificate is an issuer, or one of its issuers is none"
    except InvalidSignature:
        return "a certificate is not signed by the next"
    except (*_UNREADABLE, *_BAD_EXTENSION) as err:  # a ValueError also for an issuer of another name
        return f"a certificate is not issued by the next, or cannot be read: {err}"
    return ""


def _may_issue(one: x509.Certificate) -> bool:
    basic = one.extensions.get_extension_for_class(x509.BasicConstraints).value
    return basic.ca and one.extensions.get_extension_for_class(x509.KeyUsage).value.key_cert_sign


def _read_text(tdx: JsonObject, name: str) -> str:
    value = tdx.get(name)
    if not isinstance(value, str) or not _FORMS[name].fullmatch(value):
        raise _malformed("missing, no text, or not of the form that it has in a receipt", f"/{name}")
    return value


def _decode(text: dict[str, str], name: str) -> bytes:
    try:
        return b64decode(text[name])
    except MalformedError as err:
        raise _malformed(err.message, f"/{name}") from err


def _malformed(message: str, where: str = "/quote_b64") -> MalformedError:
    return MalformedError("E_TDX_QUOTE", message, where=where)
