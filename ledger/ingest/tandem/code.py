"""The digest of the measured code as TandemLLM's tools say it."""

from __future__ import annotations

import hashlib

from ledger.errors import MalformedError
from ledger.ingest.plain_text import as_digest

_NO_FILES = hashlib.sha256(b"").hexdigest()


def read_code(value: object, where: str) -> str | None:
    """The digest; none when there is none.

    Raises:
        MalformedError: ``E_NO_CODE`` for that of an empty folder, ``E_FIELD`` or ``E_DIGEST`` for what is none.
    """
    if value is None:
        return None
    text = as_digest(value, where)
    if text == _NO_FILES:
        raise MalformedError("E_NO_CODE", "the digest of no file at all: the folder had no code", where=where)
    return text
