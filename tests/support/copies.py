"""A small ledger whose writer keeps an index of samples, and rounds for it."""

from __future__ import annotations

import hashlib
import sqlite3
from typing import TYPE_CHECKING

import pytest

from ledger.caches import Caches
from ledger.draft import Draft
from ledger.errors import RefusedError
from ledger.log import Log
from ledger.store.copy_index import DiskCopyIndex
from ledger.store.directory import DirectoryStore
from tests.support.ledgers import LEDGER, ROOT, SCORER_1, Clock, MemoryAnchor, start_small_ledger
from tests.support.rounds import round_body

if TYPE_CHECKING:
    from pathlib import Path

    from ledger.canonical import JsonObject
    from ledger.sealed import Sealed

FIRST = 2
"""Index of the first round that a test seals."""


def samples(start: int) -> list[int]:
    return [1_000_001 + start, 1_000_003 + start, 1_000_005 + start]


def measured(name: str, *starts: int) -> JsonObject:
    """A round with one repetition of three samples per start."""
    body = round_body(name)
    (rep,) = body["reps"]
    body["reps"] = [
        rep | {"order": at, "wall_ns": 10**9, "records": {"prompt_tokens": [512] * 3, "wall_ns": samples(start)}}
        for at, start in enumerate(starts)
    ]
    return body


class Desk:
    """A small ledger whose writer keeps an index in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.store = DirectoryStore(folder)
        self.anchor = MemoryAnchor()
        self.path = folder.parent / "copies.sqlite"
        self.log = self.open()
        start_small_ledger(self.log)

    def open(self, *, indexed: bool = True) -> Log:
        kept = DiskCopyIndex(self.path) if indexed else None
        return Log(self.store, LEDGER, lambda _: self.anchor, clock=Clock(), caches=Caches(copies=kept))

    def seal(self, *bodies: JsonObject, log: Log | None = None) -> list[Sealed]:
        return (log or self.log).append([Draft(kind="round", body=body, signers=[SCORER_1]) for body in bodies])

    def rule(self, index: int, action: str, **members: str) -> None:
        digest = file_sha256(self.store.read_receipt(index))
        body = {"action": action, "receipt": digest, "reason": "r"} | members
        self.log.append([Draft(kind="ruling", body=body, signers=[ROOT])])

    def rows(self) -> dict[bytes, int]:
        with sqlite3.connect(self.path) as connection:
            return dict(connection.execute("SELECT digest, receipt FROM copies"))

    def covered(self) -> tuple[int, str]:
        return DiskCopyIndex(self.path).covered()


def file_sha256(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


def refused(desk: Desk, *bodies: JsonObject, log: Log | None = None) -> RefusedError:
    with pytest.raises(RefusedError) as caught:
        desk.seal(*bodies, log=log)
    assert caught.value.code == "E_COPIED_SAMPLES"
    return caught.value
