"""What libsodium accepts, `cryptography` accepts too.

Tried on good signatures, on damaged ones, and on such as only a holder of the key can make: these add points of small
order to R or to the public key, or write R or S in a second way.
"""

from __future__ import annotations

import hashlib
import sys
from itertools import product
from typing import TypeAlias

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from ledger import keys, keys_fast
from ledger.errors import MalformedError, SignatureError
from ledger.keys import PrivateKey, PublicKey
from ledger.keys_fast import PROBES, Accelerator, Probe, is_strict, load_libsodium

Point: TypeAlias = tuple[int, int]

FIELD = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, FIELD) % FIELD
NEUTRAL: Point = (0, 1)


def add(left: Point, right: Point) -> Point:
    (x1, y1), (x2, y2) = left, right
    both = D * x1 * x2 * y1 * y2 % FIELD
    return (
        (x1 * y2 + x2 * y1) * pow(1 + both, -1, FIELD) % FIELD,
        (y1 * y2 + x1 * x2) * pow(1 - both, -1, FIELD) % FIELD,
    )


def times(number: int, point: Point) -> Point:
    result = NEUTRAL
    while number:
        if number & 1:
            result = add(result, point)
        point = add(point, point)
        number >>= 1
    return result


def point_at(y: int, odd: int) -> Point:
    """The point of the curve with this y; ArithmeticError when there is none."""
    square = (y * y - 1) * pow(D * y * y + 1, -1, FIELD) % FIELD
    x = pow(square, (FIELD + 3) // 8, FIELD)
    if (x * x - square) % FIELD:
        x = x * pow(2, (FIELD - 1) // 4, FIELD) % FIELD
    if (x * x - square) % FIELD:
        raise ArithmeticError
    return (FIELD - x if x & 1 != odd else x), y


def encode(point: Point) -> bytes:
    return (point[1] | (point[0] & 1) << 255).to_bytes(32, "little")


def decode(raw: bytes) -> Point:
    number = int.from_bytes(raw, "little")
    return point_at((number & 2**255 - 1) % FIELD, number >> 255)


def challenge(r: bytes, public: bytes, message: bytes) -> int:
    return int.from_bytes(hashlib.sha512(r + public + message).digest(), "little") % ORDER


def of_order_8() -> Point:
    for y in range(2, 50):
        try:
            point = times(ORDER, point_at(y, 0))
        except ArithmeticError:
            continue
        if times(4, point) != NEUTRAL:
            return point
    raise AssertionError


BASE = point_at(4 * pow(5, -1, FIELD) % FIELD, 0)
SMALL = [times(number, of_order_8()) for number in range(8)]
SECRET, NONCE = (int.from_bytes(hashlib.sha512(word).digest(), "little") % ORDER for word in (b"a", b"r"))
A, R = times(SECRET, BASE), times(NONCE, BASE)


def accepts_with_cofactor(public: bytes, signature: bytes, message: bytes) -> bool:
    """The other equation of RFC 8032: both sides times eight, so that points of small order vanish."""
    s = int.from_bytes(signature[32:], "little")
    right = add(decode(signature[:32]), times(challenge(signature[:32], public, message), decode(public)))
    return times(8, times(s, BASE)) == times(8, right)


def accepts(public: bytes, signature: bytes, message: bytes) -> bool:
    """The authority."""
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


def sign(public: bytes, r: bytes, message: bytes, nonce: int = NONCE) -> bytes:
    s = (nonce + challenge(r, public, message) * SECRET) % ORDER
    return r + s.to_bytes(32, "little")


def hostile() -> list[Probe]:
    cases = []
    for (to_a, t), (to_r, u), number in product(enumerate(SMALL), enumerate(SMALL), range(2)):
        public, r, message = encode(add(A, t)), encode(add(R, u)), b"%d" % number
        cases.append(Probe(f"A+{to_a}T, R+{to_r}T", public, sign(public, r, message), message))
    public = encode(A)
    for number in range(4):
        message = b"S %d" % number
        good = sign(public, encode(R), message)
        s = int.from_bytes(good[32:], "little")
        for factor in (1, 2, 7, 15):
            if s + factor * ORDER < 2**256:
                twin = good[:32] + (s + factor * ORDER).to_bytes(32, "little")
                cases.append(Probe(f"S+{factor}L", public, twin, message))
        cases += [
            Probe(f"bit {bit} of S", public, good[:32] + (s | 1 << bit).to_bytes(32, "little"), message)
            for bit in (253, 254, 255)
        ]
    for number, small in enumerate(SMALL):
        forms = [encode(small), *second_encodings(small)]
        cases += [Probe(f"R={number}T as {r.hex()}", public, sign(public, r, b"m", 0), b"m") for r in forms]
        cases += [
            Probe(f"R=A={number}T as {r.hex()}, {a.hex()}", a, r + bytes(32), b"m") for r, a in product(forms, forms)
        ]
    return cases


def second_encodings(point: Point) -> list[bytes]:
    """Encodings of a point that RFC 8032 does not allow: y not reduced, or the sign of x = 0 set."""
    x, y = point
    values = [y + FIELD] if y + FIELD < 2**255 else []
    found = [(value | (x & 1) << 255).to_bytes(32, "little") for value in values]
    return found + [(value | 1 << 255).to_bytes(32, "little") for value in [y, *values] if x == 0]


def damaged() -> list[Probe]:
    key = PrivateKey.from_seed(bytes(32))
    message = b"a message"
    good = key.sign(message)
    flipped = [good[:at] + bytes([good[at] ^ 1 << bit]) + good[at + 1 :] for at in range(64) for bit in (0, 3, 7)]
    return [
        Probe("good", key.public.raw, good, message),
        *(Probe(f"flip {at}", key.public.raw, signature, message) for at, signature in enumerate(flipped)),
        Probe("other message", key.public.raw, good, b"another message"),
        Probe("zeros", key.public.raw, bytes(64), message),
        Probe("short", key.public.raw, good[:63], good[63:] + message),
        Probe("long", key.public.raw, good + message[:1], message[1:]),
        Probe("empty", key.public.raw, b"", good + message),
    ]


CORPUS = [*hostile(), *damaged()]


def test_the_corpus_holds_what_the_two_equations_judge_apart() -> None:
    assert sum(accepts(*probe[1:]) for probe in CORPUS) > 10
    some = [probe for probe in CORPUS if probe.why.startswith("A+")][::4]  # the slow equation takes its time
    apart = [probe for probe in some if not accepts(*probe[1:]) and accepts_with_cofactor(*probe[1:])]
    assert len(apart) > 15


def test_libsodium_is_installed_here_and_strict() -> None:
    assert load_libsodium() is not None


def test_the_accelerator_accepts_nothing_that_cryptography_refuses() -> None:
    accelerator = Accelerator(0)
    seen = 0
    for probe in CORPUS:
        if accelerator.accepts(probe.public, probe.signature, probe.message):
            assert accepts(*probe[1:]), probe.why
            seen += 1
    assert seen > 10


def test_a_key_judges_the_corpus_alike_with_and_without_the_accelerator(monkeypatch: pytest.MonkeyPatch) -> None:
    verdicts = []
    for after in (0, 10**9):
        monkeypatch.setattr(keys, "_accelerator", Accelerator(after))
        verdicts.append([judge(probe) for probe in CORPUS])
    assert verdicts[0] == verdicts[1]
    assert {"good", "refused", "no key"} <= set(verdicts[0])


def judge(probe: Probe) -> str:
    try:
        PublicKey(probe.public).verify(probe.signature, probe.message)
    except SignatureError:
        return "refused"
    except MalformedError:
        return "no key"
    return "good"


@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe.why)
def test_a_probe_is_refused_by_cryptography_and_accepted_by_a_lenient_verifier(probe: Probe) -> None:
    assert not accepts(*probe[1:])
    s = int.from_bytes(probe.signature[32:], "little")
    reduced = probe.signature[:32] + (s % ORDER).to_bytes(32, "little")
    assert accepts_with_cofactor(probe.public, reduced, probe.message)
    PublicKey(probe.public)  # the key itself is acceptable


@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe.why)
def test_a_libsodium_that_accepts_one_probe_is_not_used(probe: Probe) -> None:
    assert not is_strict(lambda public, signature, message: (public, signature, message) == probe[1:])
    assert is_strict(accepts)
    assert not is_strict(accepts_with_cofactor)


def test_without_pynacl_every_signature_is_left_to_cryptography(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nacl.bindings", None)
    load_libsodium.cache_clear()
    try:
        assert load_libsodium() is None
        good = damaged()[0]
        assert not Accelerator(0).accepts(good.public, good.signature, good.message)
    finally:
        load_libsodium.cache_clear()


def test_a_lenient_libsodium_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nacl.bindings.crypto_sign_open", lambda smessage, _: smessage)
    load_libsodium.cache_clear()
    try:
        assert load_libsodium() is None
    finally:
        load_libsodium.cache_clear()


def test_the_accelerator_waits_until_its_import_pays() -> None:
    good, accelerator = damaged()[0], Accelerator(2)
    answers = [accelerator.accepts(good.public, good.signature, good.message) for _ in range(4)]
    assert answers == [False, False, True, True]
    assert keys_fast.IMPORT_PAYS_AFTER >= 100
