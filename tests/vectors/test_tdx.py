"""TDX quotes: the receipts of a public log, and quotes of a made-up platform of which every key is known."""

from __future__ import annotations

import base64
import copy
import datetime as dt
import hashlib
import json
import struct
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa, x25519
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import given
from hypothesis import strategies as st

from ledger.errors import MalformedError
from ledger.ingest.sparkinfer import tdx as module
from ledger.ingest.sparkinfer.tdx import (
    COVERED,
    MAX_BYTES,
    NOT_COVERED,
    QE_SIGNER,
    ROOT_PEM,
    Quote,
    parse_quote,
    verify_tdx,
)
from tests.property.strategies import MANY
from tests.support.outside import outside

if TYPE_CHECKING:
    from collections.abc import Callable

    from ledger.ingest.sparkinfer.tdx import TdxReport

RECEIPTS = 51
CHECKS = (
    "quote_signature",
    "attestation_key",
    "qe_signature",
    "quoting_enclave",
    "td_debug",
    "pck_chain",
    "root",
    "validity",
    "session",
    "result",
    "result_sha256",
)
MRTD = "c1ee9c16e3afc506cfe042c5b846a368528f3b37618eafb27469bc114cf914e9222c91618470e7f2b28ac360968270a5"
FINGERPRINT = "44a0196b2b99f889b8e149e95b807a350e7424964399e885a7cbb8ccfab674d3"
REFUSED = "refused"

# Offsets in a quote with 32 bytes of authentication data, as all of the log have it.
QE_REPORT, QE_SIGNATURE, AUTH, CHAIN_HEAD, CHAIN = 770, 1154, 1220, 1252, 1258
REGIONS: dict[str, tuple[int, set[str] | str]] = {
    "version": (0, REFUSED),
    "type of key": (2, REFUSED),
    "type of TEE": (4, REFUSED),
    "reserved": (8, {"quote_signature"}),
    "vendor of the QE": (12, {"quote_signature"}),
    "user data": (47, {"quote_signature"}),
    "TCB of the TEE": (48, {"quote_signature"}),
    "debug bit of the TD": (168, {"quote_signature", "td_debug"}),
    "other attribute of the TD": (171, {"quote_signature"}),
    "MRTD": (184, {"quote_signature"}),
    "last RTMR": (567, {"quote_signature"}),
    "report data, first": (568, {"quote_signature", "session"}),
    "report data, end of the first half": (599, {"quote_signature", "session"}),
    "report data, second half": (600, {"quote_signature", "result"}),
    "report data, last": (631, {"quote_signature", "result"}),
    "size of the signature data": (632, REFUSED),
    "r of the signature": (636, {"quote_signature"}),
    "s of the signature": (699, {"quote_signature"}),
    "x of the attestation key": (700, REFUSED),
    "y of the attestation key": (763, REFUSED),
    "type of the QE's certification": (764, REFUSED),
    "size of the QE's certification": (766, REFUSED),
    "QE report": (QE_REPORT, {"qe_signature"}),
    "signer of the QE": (QE_REPORT + 128, {"qe_signature", "quoting_enclave"}),
    "product of the QE": (QE_REPORT + 256, {"qe_signature", "quoting_enclave"}),
    "version of the QE": (QE_REPORT + 258, {"qe_signature"}),
    "report data of the QE": (QE_REPORT + 320, {"qe_signature", "attestation_key"}),
    "report data of the QE, zeros": (QE_REPORT + 383, {"qe_signature", "attestation_key"}),
    "r of the QE's signature": (QE_SIGNATURE, {"qe_signature"}),
    "s of the QE's signature": (QE_SIGNATURE + 63, {"qe_signature"}),
    "size of the authentication data": (QE_SIGNATURE + 64, REFUSED),
    "authentication data, first": (AUTH, {"attestation_key"}),
    "authentication data, last": (CHAIN_HEAD - 1, {"attestation_key"}),
    "type of the chain": (CHAIN_HEAD, REFUSED),
    "size of the chain": (CHAIN_HEAD + 2, REFUSED),
    "PEM": (CHAIN, REFUSED),
}


# A made-up platform.


def private(number: int) -> ec.EllipticCurvePrivateKey:
    return ec.derive_private_key(number, ec.SECP256R1())


ROOT_KEY, ISSUER_KEY, PCK_KEY, ATTESTATION_KEY = private(11), private(12), private(13), private(14)
BORN, DEAD = dt.datetime(2026, 7, 1, tzinfo=dt.UTC), dt.datetime(2033, 7, 1, tzinfo=dt.UTC)
NOW = dt.datetime(2026, 8, 10, tzinfo=dt.UTC)


class Wish(NamedTuple):
    """What a certificate shall say."""

    name: str
    key: Any
    issuer: str
    issuer_key: ec.EllipticCurvePrivateKey
    issues: bool | None
    signs_certificates: bool = True
    extra: x509.UnrecognizedExtension | None = None
    born: dt.datetime = BORN
    dead: dt.datetime = DEAD


PCK = Wish("PCK", PCK_KEY, "Platform CA", ISSUER_KEY, issues=False)
ISSUER = Wish("Platform CA", ISSUER_KEY, "Root CA", ROOT_KEY, issues=True)
ROOT = Wish("Root CA", ROOT_KEY, "Root CA", ROOT_KEY, issues=True)


@cache
def issue(wish: Wish) -> x509.Certificate:
    def named(text: str) -> x509.Name:
        return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)])

    rights = ("digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement")
    usage = dict.fromkeys((*rights, "crl_sign", "encipher_only", "decipher_only"), False)
    made = (
        x509.CertificateBuilder()
        .subject_name(named(wish.name))
        .issuer_name(named(wish.issuer))
        .public_key(wish.key.public_key())
        .serial_number(0x1234567890)
        .not_valid_before(wish.born)
        .not_valid_after(wish.dead)
        .add_extension(x509.KeyUsage(**usage, key_cert_sign=wish.signs_certificates), critical=True)
    )
    if wish.issues is not None:
        made = made.add_extension(x509.BasicConstraints(ca=wish.issues, path_length=None), critical=True)
    if wish.extra is not None:
        made = made.add_extension(wish.extra, critical=False)
    return made.sign(wish.issuer_key, hashes.SHA256())


def sign_again(old: x509.Certificate, key: ec.EllipticCurvePrivateKey, edit: Callable[[bytes], bytes]) -> bytes:
    """PEM of a certificate that the library would not write; the edit keeps the length."""
    body = edit(old.tbs_certificate_bytes)
    algorithm = bytes.fromhex("300a06082a8648ce3d040302")
    signature = key.sign(body, ec.ECDSA(hashes.SHA256()))
    content = body + algorithm + bytes([3, len(signature) + 1, 0]) + signature
    return as_pem(b"\x30\x82" + struct.pack(">H", len(content)) + content)


def as_pem(der: bytes) -> bytes:
    body = text64(der)
    lines = [body[at : at + 64] for at in range(0, len(body), 64)]
    return "\n".join(["-----BEGIN CERTIFICATE-----", *lines, "-----END CERTIFICATE-----", ""]).encode()


def pem(*chain: x509.Certificate) -> bytes:
    return b"".join(one.public_bytes(Encoding.PEM) for one in chain)


OWN_CHAIN = (issue(PCK), issue(ISSUER), issue(ROOT))


def raw_signature(key: ec.EllipticCurvePrivateKey, message: bytes) -> bytes:
    r, s = decode_dss_signature(key.sign(message, ec.ECDSA(hashes.SHA256())))
    return r.to_bytes(32, "big") + s.to_bytes(32, "big")


def digest(text: str | bytes) -> bytes:
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).digest()


def make_quote(
    report_data: bytes,
    *,
    chain: bytes | None = None,
    attributes: bytes = bytes(8),
    qe_attributes: int = 0,
    qe_signer: bytes = QE_SIGNER,
    qe_product: int = 2,
    padding: bytes = bytes(9),
) -> bytes:
    """A quote, every signature in which is good."""
    certificates = pem(*OWN_CHAIN) if chain is None else chain
    header = struct.pack("<HHI4x16s20x", 4, 2, 0x81, bytes(range(16)))
    signed = header + bytes(120) + attributes + bytes(8) + b"M" * 48 + bytes(144) + b"R" * 192 + report_data
    public = ATTESTATION_KEY.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)[1:]
    auth = bytes(range(32))
    qe = struct.pack("<48xQ72x32s96xH62x32s32x", qe_attributes, qe_signer, qe_product, digest(public + auth))
    inner = qe + raw_signature(PCK_KEY, qe) + struct.pack("<H32sHI", 32, auth, 5, len(certificates)) + certificates
    data = raw_signature(ATTESTATION_KEY, signed) + public + struct.pack("<HI", 6, len(inner)) + inner
    return signed + struct.pack("<I", len(data)) + data + padding


def text64(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def make_tdx(**wishes: Any) -> dict[str, Any]:  # noqa: ANN401 - the wishes of `make_quote`
    """A member ``tdx`` in which only the root is not Intel's, but for the wishes."""
    nonce, public, image, files = "0123456789abcdef" * 2, text64(bytes(32)), f"sha256:{'5' * 64}", "f" * 64
    stdout = b"12.5 tokens per second\n"
    result = digest(stdout).hex()
    return {
        "quote_b64": text64(make_quote(digest(nonce + public) + digest(image + result + files), **wishes)),
        "nonce": nonce,
        "e2e_pubkey_b64": public,
        "bound_digest": image,
        "stdout_b64": text64(stdout),
        "files_sha256": files,
        "result_sha256": result,
        "verification": {"intel_verified": True, "report_data_match": True},
    }


OWN = make_tdx()
OWN_QUOTE = base64.b64decode(OWN["quote_b64"])
OWN_END = len(OWN_QUOTE) - 9


@pytest.fixture
def own_root(monkeypatch: pytest.MonkeyPatch) -> None:
    """Believe in the made-up root."""
    monkeypatch.setattr(module, "ROOT_PEM", pem(OWN_CHAIN[-1]))


# The public log.


@pytest.fixture(scope="module")
def receipts() -> list[dict[str, Any]]:
    return [json.loads(path.read_bytes()) for path in outside("k3-log", "runs").glob("*/receipt.json")]


def sealed_at(receipt: dict[str, Any]) -> dt.datetime:
    return dt.datetime.fromisoformat(receipt["attestation"]["timestamp_utc"])


def failing(report: TdxReport) -> set[str]:
    assert tuple(check.name for check in report.checks) == CHECKS
    assert all(check.detail for check in report.checks)
    return {check.name for check in report.checks if not check.holds}


def outcome(tdx: dict[str, Any], at: dt.datetime = NOW) -> set[str] | str:
    """Names of the checks that fail, or that the parser refused."""
    try:
        report = verify_tdx(tdx, at=at)
    except MalformedError as err:
        code, where = err.code, err.where
    else:
        assert report.holds is (not failing(report))
        assert report.covered == (COVERED if report.holds else ())
        return failing(report)
    assert (code, where.partition("/")[0]) == ("E_TDX_QUOTE", "")
    assert where[1:] in tdx
    return REFUSED


def with_quote(tdx: dict[str, Any], raw: bytes) -> dict[str, Any]:
    return {**tdx, "quote_b64": text64(raw)}


def flip(raw: bytes, at: int, mask: int = 1) -> bytes:
    return raw[:at] + bytes([raw[at] ^ mask]) + raw[at + 1 :]


def change(tdx: dict[str, Any], place: int, mask: int = 1) -> dict[str, Any]:
    return with_quote(tdx, flip(base64.b64decode(tdx["quote_b64"]), place, mask))


def with_certificate(tdx: dict[str, Any], number: int, edit: Callable[[bytes], bytes]) -> dict[str, Any]:
    """Put another DER of the same length into the place of a certificate."""
    raw = base64.b64decode(tdx["quote_b64"])
    old = parse_quote(raw).chain[number]
    before, new = pem(old), as_pem(edit(old.public_bytes(Encoding.DER)))
    assert raw.count(before) == 1
    assert len(new) == len(before)
    return with_quote(tdx, raw.replace(before, new))


def test_every_receipt_of_the_log_holds_in_every_check_at_the_time_of_its_sealing(
    receipts: list[dict[str, Any]],
) -> None:
    reports = [verify_tdx(receipt["tdx"], at=sealed_at(receipt)) for receipt in receipts]
    assert len(reports) == RECEIPTS
    assert [failing(report) for report in reports] == [set()] * RECEIPTS
    assert {report.covered for report in reports} == {COVERED}
    assert {report.mrtd for report in reports} == {MRTD}
    assert len({report.rtmrs for report in reports}) == 1


def test_every_chain_of_the_log_ends_in_the_root_that_the_module_ships(receipts: list[dict[str, Any]]) -> None:
    quotes = [base64.b64decode(receipt["tdx"]["quote_b64"]) for receipt in receipts]
    assert {pem(parse_quote(raw).chain[-1]) for raw in quotes} == {ROOT_PEM}
    assert len({pem(parse_quote(raw).chain[0]) for raw in quotes}) == 2  # platforms


def test_the_root_that_the_module_ships_is_the_published_one() -> None:
    root = x509.load_pem_x509_certificate(ROOT_PEM)
    assert root.subject.rfc4514_string() == "C=US,ST=CA,L=Santa Clara,O=Intel Corporation,CN=Intel SGX Root CA"
    assert root.fingerprint(hashes.SHA256()).hex() == FINGERPRINT
    root.verify_directly_issued_by(root)


@pytest.mark.parametrize("region", REGIONS)
def test_a_flipped_bit_in_a_quote_of_the_log_fails_the_right_check(receipts: list[dict[str, Any]], region: str) -> None:
    place, expected = REGIONS[region]
    assert outcome(change(receipts[0]["tdx"], place)) == expected


@pytest.mark.usefixtures("own_root")
@pytest.mark.parametrize("region", REGIONS)
def test_a_flipped_bit_in_a_quote_fails_the_right_check(region: str) -> None:
    place, expected = REGIONS[region]
    assert outcome(OWN) == set()
    assert outcome(change(OWN, place)) == expected


def test_no_byte_of_a_quote_of_the_log_can_be_changed(receipts: list[dict[str, Any]]) -> None:
    tdx = receipts[0]["tdx"]
    size = len(base64.b64decode(tdx["quote_b64"]))
    results = {place: outcome(change(tdx, place, 1 << place % 8)) for place in range(0, size, 11)}
    assert [place for place, result in results.items() if not result] == []


@pytest.mark.parametrize(("number", "expected"), [(0, {"pck_chain"}), (1, {"pck_chain"}), (2, {"root"})])
def test_a_flipped_bit_in_a_certificate_of_the_log_fails_the_chain_or_the_root(
    receipts: list[dict[str, Any]], number: int, expected: set[str]
) -> None:
    in_serial = 20
    edited = with_certificate(receipts[0]["tdx"], number, lambda der: flip(der, in_serial))
    assert outcome(edited) == expected


@pytest.mark.parametrize(
    ("member", "place", "expected"),
    [
        ("nonce", 0, {"session"}),
        ("nonce", 31, {"session"}),
        ("e2e_pubkey_b64", 0, {"session"}),
        ("bound_digest", 7, {"result"}),
        ("bound_digest", 70, {"result"}),
        ("bound_digest", 0, REFUSED),
        ("files_sha256", 0, {"result"}),
        ("files_sha256", 63, {"result"}),
        ("result_sha256", 0, {"result_sha256"}),
        ("stdout_b64", 0, {"result", "result_sha256"}),
    ],
)
def test_a_changed_character_in_a_member_fails_the_right_check(
    receipts: list[dict[str, Any]], member: str, place: int, expected: set[str] | str
) -> None:
    tdx = receipts[0]["tdx"]
    text = tdx[member]
    other = "1" if text[place] != "1" else "2"
    assert outcome({**tdx, member: text[:place] + other + text[place + 1 :]}) == expected


def test_a_character_cannot_move_from_one_member_to_the_next(receipts: list[dict[str, Any]]) -> None:
    tdx = receipts[0]["tdx"]
    nonce, key = tdx["nonce"], tdx["e2e_pubkey_b64"]
    assert outcome({**tdx, "nonce": nonce[:-1], "e2e_pubkey_b64": nonce[-1] + key}) == REFUSED
    assert outcome({**tdx, "nonce": nonce + key[:1], "e2e_pubkey_b64": key[1:]}) == REFUSED


def test_what_the_quote_does_not_cover_can_be_edited_unnoticed(receipts: list[dict[str, Any]]) -> None:
    for receipt in receipts:
        edited = copy.deepcopy(receipt)
        for pointer in NOT_COVERED:
            *path, last = pointer.split("/")[1:]
            holder = edited
            for name in path:
                holder = holder[name]
            assert last in holder, pointer
            holder[last] = "edited"
        assert edited["attestation"] != receipt["attestation"]
        assert verify_tdx(edited["tdx"], at=NOW) == verify_tdx(receipt["tdx"], at=NOW)
    assert {pointer.rpartition("/")[2] for pointer in NOT_COVERED} >= {"commit", "model_sha256", "verdict"}


# What the checks ask for, shown on the made-up platform.


def test_a_platform_of_another_root_fails_at_the_root_alone() -> None:
    assert outcome(OWN) == {"root"}


def test_a_root_that_only_has_the_name_of_intels_fails_at_the_root() -> None:
    name = "Intel SGX Root CA"
    chain = (issue(PCK), issue(ISSUER._replace(issuer=name)), issue(ROOT._replace(name=name, issuer=name)))
    assert outcome(make_tdx(chain=pem(*chain))) == {"root"}


def test_intels_root_behind_an_issuer_of_ones_own_fails_the_chain() -> None:
    chain = pem(*OWN_CHAIN[:2]) + ROOT_PEM
    assert outcome(make_tdx(chain=chain)) == {"pck_chain"}
    same_name = x509.load_pem_x509_certificate(ROOT_PEM)
    assert OWN_CHAIN[1].issuer != same_name.subject


@pytest.mark.usefixtures("own_root")
@pytest.mark.parametrize(
    "chain",
    [
        pytest.param((PCK._replace(issues=True), ISSUER, ROOT), id="the leaf is an issuer"),
        pytest.param((PCK._replace(issues=None), ISSUER, ROOT), id="the leaf does not say what it is"),
        pytest.param((PCK, ISSUER._replace(issues=False), ROOT), id="the intermediate is no issuer"),
        pytest.param((PCK, ISSUER._replace(issues=None), ROOT), id="the intermediate does not say what it is"),
        pytest.param((PCK, ISSUER._replace(signs_certificates=False), ROOT), id="it may not sign certificates"),
        pytest.param((PCK._replace(issuer="Other CA"), ISSUER, ROOT), id="the leaf names another issuer"),
        pytest.param((PCK, ISSUER._replace(issuer="Other CA"), ROOT), id="the intermediate names another issuer"),
        pytest.param((PCK._replace(issuer_key=private(21)), ISSUER, ROOT), id="the leaf is signed by another key"),
        pytest.param((PCK, ISSUER._replace(issuer_key=private(21)), ROOT), id="so is the intermediate"),
        pytest.param((PCK._replace(issuer_key=ROOT_KEY, issuer="Root CA"), ISSUER, ROOT), id="issued by the root"),
    ],
)
def test_a_chain_that_is_none_fails_as_a_chain(chain: tuple[Wish, Wish, Wish]) -> None:
    assert outcome(make_tdx(chain=pem(*map(issue, chain)))) == {"pck_chain"}


@pytest.mark.usefixtures("own_root")
def test_an_issuer_whose_key_cannot_sign_fails_as_a_chain() -> None:
    issuer = ISSUER._replace(key=x25519.X25519PrivateKey.from_private_bytes(bytes(range(32))))
    assert outcome(make_tdx(chain=pem(*map(issue, (PCK, issuer, ROOT))))) == {"pck_chain"}


@pytest.mark.usefixtures("own_root")
def test_an_issuer_with_a_name_of_a_kind_that_nobody_reads_fails_as_a_chain() -> None:
    x400_address = x509.UnrecognizedExtension(x509.OID_SUBJECT_ALTERNATIVE_NAME, bytes.fromhex("3002a300"))
    issuer = ISSUER._replace(extra=x400_address)
    assert outcome(make_tdx(chain=pem(*map(issue, (PCK, issuer, ROOT))))) == {"pck_chain"}


@pytest.mark.usefixtures("own_root")
def test_a_certificate_that_says_twice_what_it_is_fails_as_a_chain() -> None:
    other, basic = bytes.fromhex("0603551d63"), bytes.fromhex("0603551d13")
    issuer = issue(ISSUER._replace(extra=x509.UnrecognizedExtension(x509.ObjectIdentifier("2.5.29.99"), b"\x30\x00")))
    once = sign_again(issuer, ROOT_KEY, lambda body: body)
    twice = sign_again(issuer, ROOT_KEY, lambda body: body.replace(other, basic))
    assert outcome(make_tdx(chain=pem(OWN_CHAIN[0]) + once + pem(OWN_CHAIN[2]))) == set()
    assert outcome(make_tdx(chain=pem(OWN_CHAIN[0]) + twice + pem(OWN_CHAIN[2]))) == {"pck_chain"}


@pytest.mark.usefixtures("own_root")
@pytest.mark.parametrize(
    ("at", "expected"),
    [
        (BORN - dt.timedelta(seconds=1), {"validity"}),
        (BORN, set()),
        (DEAD, set()),
        (DEAD + dt.timedelta(seconds=1), {"validity"}),
    ],
)
def test_the_caller_says_when_the_certificates_must_be_valid(at: dt.datetime, expected: set[str]) -> None:
    assert outcome(OWN, at) == expected


@pytest.mark.usefixtures("own_root")
@pytest.mark.parametrize("number", range(2))
@pytest.mark.parametrize("times", [{"born": NOW + dt.timedelta(days=1)}, {"dead": NOW - dt.timedelta(days=1)}])
def test_every_certificate_must_be_valid(number: int, times: dict[str, Any]) -> None:
    wishes = [PCK, ISSUER, ROOT]
    wishes[number] = wishes[number]._replace(**times)
    assert outcome(make_tdx(chain=pem(*map(issue, wishes)))) == {"validity"}


@pytest.mark.usefixtures("own_root")
@pytest.mark.parametrize(
    ("wishes", "expected"),
    [
        ({"qe_signer": bytes(32)}, {"quoting_enclave"}),
        ({"qe_product": 1}, {"quoting_enclave"}),
        ({"qe_attributes": 0b10}, {"quoting_enclave"}),
        ({"qe_attributes": 0b10101}, set()),
        ({"attributes": b"\x01" + bytes(7)}, {"td_debug"}),
        ({"attributes": b"\x80" + bytes(7)}, {"td_debug"}),
        ({"attributes": b"\x00\x00\x00\x10" + bytes(4)}, set()),
        ({"padding": b""}, set()),
    ],
)
def test_enclave_and_domain_must_be_in_production(wishes: dict[str, Any], expected: set[str]) -> None:
    assert outcome(make_tdx(**wishes)) == expected


@pytest.mark.usefixtures("own_root")
def test_another_key_that_signed_the_quote_is_not_the_one_that_the_enclave_named() -> None:
    stranger = private(22)
    public = stranger.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)[1:]
    signed = OWN_QUOTE[:632]
    own = with_quote(OWN, OWN_QUOTE[:636] + raw_signature(stranger, signed) + public + OWN_QUOTE[764:])
    assert outcome(own) == {"attestation_key"}
    assert outcome(with_quote(OWN, OWN_QUOTE[:700] + public + OWN_QUOTE[764:])) == {
        "attestation_key",
        "quote_signature",
    }


@pytest.mark.usefixtures("own_root")
def test_another_pck_key_did_not_sign_the_enclaves_report() -> None:
    chain = pem(issue(PCK._replace(key=private(23))), *OWN_CHAIN[1:])
    assert outcome(make_tdx(chain=chain)) == {"qe_signature"}


@pytest.mark.usefixtures("own_root")
@pytest.mark.parametrize("r", [0, 1])
@pytest.mark.parametrize("s", [0, 1, 2**256 - 1])
def test_a_signature_of_hostile_numbers_is_none(r: int, s: int) -> None:
    numbers = r.to_bytes(32, "big") + s.to_bytes(32, "big")
    assert outcome(with_quote(OWN, OWN_QUOTE[:636] + numbers + OWN_QUOTE[700:])) == {"quote_signature"}


@pytest.mark.usefixtures("own_root")
@pytest.mark.parametrize("verification", [None, {}, {"intel_verified": False, "report_data_match": False}, ...])
def test_the_flags_of_a_receipt_are_not_believed(verification: object) -> None:
    flagless = {name: value for name, value in OWN.items() if name != "verification"}
    tdx = flagless if verification is ... else {**flagless, "verification": verification}
    assert verify_tdx(tdx, at=NOW) == verify_tdx(OWN, at=NOW)
    assert outcome({**change(OWN, 184), "verification": {"intel_verified": True}}) == {"quote_signature"}


@pytest.mark.usefixtures("own_root")
def test_a_report_says_which_software_it_was() -> None:
    report = verify_tdx(OWN, at=NOW)
    assert report.mrtd == b"M".hex() * 48
    assert report.rtmrs == (b"R".hex() * 48,) * 4


# What is refused.


def place_of(tdx: dict[str, Any]) -> str:
    with pytest.raises(MalformedError) as caught:
        verify_tdx(tdx, at=NOW)
    assert caught.value.code == "E_TDX_QUOTE"
    return caught.value.where


@pytest.mark.parametrize("member", [name for name in OWN if name != "verification"])
@pytest.mark.parametrize("value", [..., None, 1, True, [], {}, "\n", "é", "=", "0" * 10])
def test_a_member_that_is_missing_or_of_another_form_is_refused_by_its_place(member: str, value: object) -> None:
    tdx = {name: text for name, text in OWN.items() if name != member}
    if value is not ...:
        tdx[member] = value
    assert place_of(tdx) == f"/{member}"


@pytest.mark.parametrize("member", [name for name in OWN if name != "verification"])
def test_a_member_with_something_behind_it_is_refused(member: str) -> None:
    assert place_of({**OWN, member: OWN[member] + "\n"}) == f"/{member}"
    assert place_of({**OWN, member: OWN[member] + "0"}) == f"/{member}"


def test_a_public_key_has_one_base64() -> None:
    assert OWN["e2e_pubkey_b64"].endswith("AA=")
    assert place_of({**OWN, "e2e_pubkey_b64": OWN["e2e_pubkey_b64"][:-2] + "B="}) == "/e2e_pubkey_b64"


def parse_refusal(raw: bytes) -> str:
    with pytest.raises(MalformedError) as caught:
        parse_quote(raw)
    assert caught.value.code == "E_TDX_QUOTE"
    return caught.value.message


@pytest.mark.parametrize(
    ("chain", "message"),
    [
        (b"", "a certificate cannot be read"),
        (pem(*OWN_CHAIN[:2]), "expected 3 certificates"),
        (pem(*OWN_CHAIN, OWN_CHAIN[2]), "expected 3 certificates"),
        (pem(*OWN_CHAIN) + b"\n", "nothing beside them"),
        (b"text\n" + pem(*OWN_CHAIN), "nothing beside them"),
        (pem(*OWN_CHAIN).replace(b"\n", b"\r\n"), "nothing beside them"),
        (pem(*OWN_CHAIN)[:-40], "expected 3 certificates"),
        (pem(OWN_CHAIN[0]).replace(b"MII", b"MIJ"), "a certificate cannot be read"),
    ],
)
def test_a_chain_is_three_certificates_and_nothing_else(chain: bytes, message: str) -> None:
    assert message in parse_refusal(make_quote(bytes(64), chain=chain))


@pytest.mark.parametrize(
    "key",
    [
        pytest.param(ec.derive_private_key(5, ec.SECP384R1()), id="P-384"),
        pytest.param(rsa.generate_private_key(public_exponent=65537, key_size=2048), id="RSA"),
    ],
)
def test_a_pck_key_is_one_of_p256(key: object) -> None:
    chain = pem(issue(PCK._replace(key=key)), *OWN_CHAIN[1:])
    assert "no key of P-256" in parse_refusal(make_quote(bytes(64), chain=chain))


def test_a_pck_key_that_is_no_point_is_refused() -> None:
    point = PCK_KEY.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    tdx = with_certificate(OWN, 0, lambda der: der.replace(point, flip(point, 64)))
    assert "a key cannot be read" in parse_refusal(base64.b64decode(tdx["quote_b64"]))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("a003020102", "a003020103", id="version 4"),
        pytest.param("02051234567890", "0205f234567890", id="a negative serial number"),
    ],
)
def test_a_certificate_that_is_none_is_refused(old: str, new: str) -> None:
    edited = with_certificate(OWN, 1, lambda der: der.replace(bytes.fromhex(old), bytes.fromhex(new)))
    assert "a certificate cannot be read" in parse_refusal(base64.b64decode(edited["quote_b64"]))


def test_unused_bits_of_a_signature_are_refused() -> None:
    even = next(one for one in map(fresh_pck, range(200)) if not one.signature[-1] & 1)
    tdx = make_tdx(chain=pem(even, *OWN_CHAIN[1:]))
    assert outcome(tdx) == {"root"}
    ending = b"\x00" + even.signature
    edited = with_certificate(tdx, 0, lambda der: der.replace(ending, b"\x01" + even.signature))
    assert "no whole number of bytes" in parse_refusal(base64.b64decode(edited["quote_b64"]))


def fresh_pck(day: int) -> x509.Certificate:
    return issue(PCK._replace(dead=DEAD + dt.timedelta(days=day)))


def sized(raw: bytes, more: int) -> bytes:
    """Both outer sizes enlarged."""
    (data,), (certified,) = struct.unpack_from("<I", raw, 632), struct.unpack_from("<I", raw, 766)
    sizes = struct.pack("<I", data + more), struct.pack("<I", certified + more)
    return raw[:632] + sizes[0] + raw[636:766] + sizes[1] + raw[770:]


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(OWN_QUOTE[:OWN_END] + b"\x01", id="something behind the quote"),
        pytest.param(OWN_QUOTE + bytes(MAX_BYTES), id="more than a quote can be"),
        pytest.param(OWN_QUOTE[:632], id="no signature data"),
        pytest.param(OWN_QUOTE[:632] + struct.pack("<I", OWN_END - 635) + OWN_QUOTE[636:], id="a size too many"),
        pytest.param(OWN_QUOTE[:1218] + b"\xff\xff" + OWN_QUOTE[1220:], id="authentication data beyond the end"),
        pytest.param(b"\x05" + OWN_QUOTE[1:], id="version 5"),
        pytest.param(sized(OWN_QUOTE[:OWN_END], 5), id="five bytes less than both sizes say"),
        pytest.param(sized(OWN_QUOTE, 5), id="a size that takes padding in"),
    ],
)
def test_bytes_that_are_no_quote_are_refused(raw: bytes) -> None:
    assert parse_refusal(raw).startswith("expected")


def test_a_quote_that_ends_early_is_refused_wherever_it_ends() -> None:
    assert isinstance(parse_quote(OWN_QUOTE[:OWN_END]), Quote)
    assert all(parse_refusal(OWN_QUOTE[:size]) for size in range(OWN_END))


@MANY
@given(st.binary(max_size=2000), st.booleans())
def test_any_bytes_are_a_quote_or_malformed(raw: bytes, after_the_head: bool) -> None:
    assert parse_refusal(OWN_QUOTE[:636] + raw if after_the_head else raw)


PLACES = st.tuples(st.integers(0, OWN_END - 1), st.integers(1, 255))


@MANY
@given(st.lists(PLACES, min_size=1, max_size=4, unique_by=lambda damage: damage[0]))
def test_a_damaged_quote_does_not_hold(damages: list[tuple[int, int]]) -> None:
    raw = OWN_QUOTE
    for place, mask in damages:
        raw = flip(raw, place, mask)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "ROOT_PEM", pem(OWN_CHAIN[-1]))
        assert outcome(with_quote(OWN, raw)) != set()


@MANY
@given(st.integers(0, 2), st.data())
def test_a_damaged_certificate_does_not_hold(number: int, data: st.DataObject) -> None:
    size = len(OWN_CHAIN[number].public_bytes(Encoding.DER))
    place, mask = data.draw(st.integers(0, size - 1)), data.draw(st.integers(1, 255))
    edited = with_certificate(OWN, number, lambda der: flip(der, place, mask))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "ROOT_PEM", pem(OWN_CHAIN[-1]))
        result = outcome(edited)
    allowed = {"pck_chain", "qe_signature", "validity"} if number < 2 else {"pck_chain", "root", "validity"}
    assert result == REFUSED or (result and set(result) <= allowed)
