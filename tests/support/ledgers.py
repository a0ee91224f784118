"""Ledgers made for tests: fixed keys, a clock that ticks by the second, the same bytes every time."""

from __future__ import annotations

import datetime as dt
import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from ledger.draft import Draft
from ledger.keys import PrivateKey, PublicKey
from ledger.log import Log
from ledger.note import NoteKey
from ledger.store.directory import DirectoryStore
from tests.support.rounds import round_body

if TYPE_CHECKING:
    from collections.abc import Callable

    from ledger.canonical import JsonObject
    from ledger.sealed import Sealed
    from ledger.store import Store
    from ledger.verified import VerifiedLog

ORIGIN = "ledger.example/tests"


def make_key(name: str) -> PrivateKey:
    """The key of this name: the same in every run."""
    return PrivateKey.from_seed(hashlib.sha256(f"key of {name}".encode()).digest())


LEDGER = make_key("ledger")
ROOT = make_key("root")
MAINTAINERS = [make_key(f"maintainer {number}") for number in range(3)]
SCORER_1, SCORER_2 = make_key("scorer 1"), make_key("scorer 2")
REVOKED = make_key("scorer 3")
CONTRIBUTOR = make_key("contributor")
OUTSIDER = make_key("outsider")
NOTE_KEY = NoteKey(name=ORIGIN, public=LEDGER.public)


class Clock:
    """A clock that goes on by a second with every reading."""

    def __init__(self, start: str = "2026-11-29T20:00:00+00:00") -> None:
        self.now = dt.datetime.fromisoformat(start)

    def __call__(self) -> dt.datetime:
        self.now += dt.timedelta(seconds=1)
        return self.now


class MemoryAnchor:
    """An anchor that lives as long as the test."""

    def __init__(self, checkpoint: bytes | None = None) -> None:
        self.checkpoint = checkpoint

    def read(self) -> bytes | None:
        return self.checkpoint

    def write(self, checkpoint: bytes) -> None:
        self.checkpoint = checkpoint

    def describe(self) -> str:
        return "the anchor in memory"


def open_log(
    store: Path | Store,
    anchor: MemoryAnchor | None = None,
    *,
    key: PrivateKey = LEDGER,
    clock: Clock | None = None,
    lock_timeout_s: float = 30.0,
    notice: Callable[[str], None] = lambda _: None,
) -> Log:
    """A writer of the ledger in a folder or another store."""
    kept = anchor or MemoryAnchor()
    return Log(
        DirectoryStore(store) if isinstance(store, Path) else store,
        key,
        lambda _: kept,
        clock=clock or Clock(),
        lock_timeout_s=lock_timeout_s,
        notice=notice,
    )


def genesis_body(
    *, maintainers: list[PrivateKey] | None = None, threshold: int = 1, roots: list[PrivateKey] | None = None
) -> JsonObject:
    """What the genesis says: by default one root key, which is the only maintainer."""
    return {
        "origin": ORIGIN,
        "ledger_key": LEDGER.public.openssh,
        "root": {"keys": [key.public.openssh for key in roots or [ROOT]], "threshold": 1},
        "maintainers": {"keys": [key.public.openssh for key in maintainers or [ROOT]], "threshold": threshold},
    }


def genesis_draft(body: JsonObject | None = None) -> Draft:
    """The genesis, to be signed by the root key."""
    return Draft(kind="genesis", body=body or genesis_body(), signers=[ROOT])


def grant(key: PublicKey, *nodes: str, role: str = "scorer") -> JsonObject:
    """One change of roles."""
    change: JsonObject = {"action": "grant", "role": role, "key": key.openssh}
    return change | ({"nodes": list(nodes)} if nodes else {})


def revoke(key: PublicKey, *, role: str = "scorer") -> JsonObject:
    """One change of roles."""
    return {"action": "revoke", "role": role, "key": key.openssh}


def keys_draft(*changes: JsonObject, signers: list[PrivateKey] | None = None) -> Draft:
    """Changes of roles, to be signed by the only maintainer of a small ledger."""
    return Draft(kind="keys", body={"changes": list(changes)}, signers=signers or [ROOT])


def round_draft(name: str, *signers: PrivateKey, node: str = "n1", wall_ns: int = 1_000_000) -> Draft:
    """The smallest round, to be signed by a scorer."""
    return Draft(kind="round", body=round_body(name, node=node, wall_ns=wall_ns), signers=signers or [SCORER_1])


def start_small_ledger(log: Log) -> list[Sealed]:
    """Genesis and the grant of one scorer: what every writer's test begins with."""
    return [log.create(ORIGIN, genesis_draft()), *log.append([keys_draft(grant(SCORER_1.public, "n1"))])]


SIZE = 10
"""Receipts of the ledger that `build_ledger` makes."""


def build_ledger(folder: Path, anchor: MemoryAnchor | None = None) -> None:
    """A healthy ledger with everything that can be in one.

    ==  =====================================================
    0   genesis: one root key, three maintainers, two must sign
    1   scorer 1 for node n1, scorer 2 for node n2, a contributor
    2   round-2 by scorer 1
    3   round-3 by scorer 2
    4   scorer 3 for node n1
    5   round-5 by scorer 3
    6   round-6 by the contributor: measured, not attested
    7   scorer 3 is revoked
    8   round-8 by scorer 1
    9   round-9 by scorer 2
    ==  =====================================================
    """
    log = open_log(folder, anchor)
    two = MAINTAINERS[:2]
    granted = [
        grant(SCORER_1.public, "n1"),
        grant(SCORER_2.public, "n2"),
        grant(CONTRIBUTOR.public, role="contributor"),
    ]
    log.create(ORIGIN, genesis_draft(genesis_body(maintainers=MAINTAINERS, threshold=2)))
    for draft in (
        keys_draft(*granted, signers=two),
        round_draft("round-2", SCORER_1),
        round_draft("round-3", SCORER_2, node="n2"),
        keys_draft(grant(REVOKED.public, "n1"), signers=two),
        round_draft("round-5", REVOKED),
        round_draft("round-6", CONTRIBUTOR, node="n2"),
        keys_draft(revoke(REVOKED.public), signers=two),
        round_draft("round-8", SCORER_1),
        round_draft("round-9", SCORER_2, node="n2"),
    ):
        log.append([draft])


def round_ids(log: VerifiedLog, first: int = 0) -> list[str]:
    """Ids of the rounds in a ledger, from an index on."""
    return [log.receipt(at).statement.body["id"] for at in log.of_kind("round") if at >= first]
