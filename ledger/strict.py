r"""Strict readers for the small things inside the formats: base64, integers, digests, times.

Python's own readers are lenient: ``int`` takes ``"1_0"``, ``" 7\\n"`` and ``"٣"``; ``b64decode(validate=True)`` takes
``"QUJ="``. Two byte forms of one value split a quorum and defeat comparison by bytes, so every reader here accepts
exactly what its writer emits.
"""

from __future__ import annotations

import base64
import binascii
import datetime as dt
import re

from ledger.errors import MalformedError

_DECIMAL = re.compile(r"(?:0|[1-9][0-9]{0,18})", re.ASCII)
_HEX32 = re.compile(r"[0-9a-f]{64}", re.ASCII)
# The hour is bounded here: the reader of Python 3.14 takes 24:00:00 for midnight.
_RFC3339_UTC = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T(?:[01][0-9]|2[0-3]):[0-9]{2}:[0-9]{2}Z", re.ASCII)
_USUAL_TIME = re.compile(
    r"(?!0000)[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z"
)


def b64encode(data: bytes) -> str:
    """Standard base64 with padding (RFC 4648 section 4)."""
    return base64.b64encode(data).decode("ascii")


def b64decode(text: str, *, length: int | None = None, what: str = "base64") -> bytes:
    """Inverse of `b64encode`; refuses other alphabets, missing padding and non-zero trailing bits.

    Args:
        text: standard base64 with padding.
        length: number of bytes that must come out, if it is fixed.
        what: name of the value, for the error.

    Raises:
        MalformedError: ``E_BASE64``.
    """
    try:
        data = binascii.a2b_base64(text.encode("ascii"), strict_mode=True)
    except (binascii.Error, UnicodeEncodeError) as err:
        raise MalformedError("E_BASE64", f"{what}: expected standard base64, found {text[:60]!r}") from err
    if b64encode(data) != text:
        raise MalformedError("E_BASE64", f"{what}: {text[:60]!r} is not the canonical base64 of its bytes")
    if length is not None and len(data) != length:
        raise MalformedError("E_BASE64", f"{what}: expected {length} bytes, found {len(data)}")
    return data


def parse_decimal(text: str, *, what: str = "number") -> int:
    """A non-negative decimal integer below 10^19: ASCII digits, no sign, no leading zero.

    Raises:
        MalformedError: ``E_INTEGER``.
    """
    if not _DECIMAL.fullmatch(text):
        raise MalformedError("E_INTEGER", f"{what}: expected a decimal number, found {text[:40]!r}")
    return int(text)


def parse_digest(text: str, *, what: str = "SHA-256") -> bytes:
    """32 bytes from 64 lower-case hexadecimal digits.

    Raises:
        MalformedError: ``E_DIGEST``.
    """
    if not _HEX32.fullmatch(text):
        raise MalformedError("E_DIGEST", f"{what}: expected 64 lower-case hexadecimal digits, found {text[:80]!r}")
    return bytes.fromhex(text)


def format_time(moment: dt.datetime) -> str:
    """RFC 3339 in UTC with whole seconds, ``2026-11-29T20:30:00Z``. `moment` must be aware."""
    return moment.astimezone(dt.UTC).replace(tzinfo=None).isoformat(timespec="seconds") + "Z"


def is_time(text: str) -> bool:
    """Whether `parse_time` accepts a text, for days that every month has; false leaves it open."""
    return _USUAL_TIME.fullmatch(text) is not None


def parse_time(text: str, *, what: str = "time") -> dt.datetime:
    """Inverse of `format_time`.

    Raises:
        MalformedError: ``E_TIME``, also for a date that the calendar does not have.
    """
    if not _RFC3339_UTC.fullmatch(text):
        raise MalformedError("E_TIME", f"{what}: expected a UTC time like 2026-11-29T20:30:00Z, found {text[:40]!r}")
    try:
        return dt.datetime.fromisoformat(text)  # aware: the pattern asks for the Z
    except ValueError as err:
        raise MalformedError("E_TIME", f"{what}: the calendar has no {text!r}") from err
