"""A ledger in which everything happens that views show, a receipt at a time; and what views hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import text

from ledger.draft import Draft
from ledger.store.directory import DirectoryStore
from ledger.verify import verify
from ledger.views.build import rebuild
from ledger.views.database import open_database, sqlite_url
from ledger.views.tables import LADDER_VIEW, TABLES
from tests.support.ledgers import (
    CONTRIBUTOR,
    ORIGIN,
    OUTSIDER,
    ROOT,
    SCORER_1,
    genesis_draft,
    grant,
    keys_draft,
    open_log,
    round_draft,
)
from tests.support.rounds import round_body, sha256_hex

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ledger.canonical import JsonObject
    from ledger.keys import PrivateKey
    from ledger.log import Log
    from ledger.verified import VerifiedLog

SLOT = {"project": "p", "node": "n1", "quant": "q8", "context": 512, "metric": "prefill_tok_s"}
MAIN_NS = 100_000_000
REJECTED_NS, REVIEWED_NS, MEASURED_NS = 77_777_777, 1_234_567, 66_666_667
IMPORTED = "8765.4321"

SAME_CODE = [{"role": role, "code_sha256": sha256_hex("one code")} for role in ("main", "candidate")]

RULE: JsonObject = {
    "name": "r1",
    "slots": [{"metric": "prefill_tok_s"}],
    "statistic": "median",
    "min_reps": 2,
    "numbers": "exact",
    "evidence": "imported",
    "frontier": {"basis": "ledger"},
    "parity": {"top1_min": "0.9", "kl_max": "0.01", "kl_prefer": "0.004"},
    "significance": {"share": "0.01"},
    "plausibility": {"ceiling": "4"},
    "denominator": {"unattested": "5120"},
    "bands": [{"tier": "m", "from": "0.1"}, {"tier": "xs", "from": "0.01"}],
}


def score_body(name: str, wall_ns: int, *, kl: str = "0.005", **members: Any) -> JsonObject:  # noqa: ANN401 - of any type
    """A round of main and a candidate, two repetitions each and a warm-up."""
    body = round_body(name)
    rep = body["reps"][0]
    walls = {"main": MAIN_NS, "candidate": wall_ns}
    body["arms"] = [
        {"role": role, "code_sha256": sha256_hex(f"{role} {name}"), "commit": f"c-{role}"} for role in walls
    ]
    body["reps"] = [
        rep
        | {"arm": role, "order": order * 2 + at, "warmup": order == 2, "wall_ns": wall}
        | {"records": {"prompt_tokens": [512], "wall_ns": [wall]}}
        for order in range(3)
        for at, (role, wall) in enumerate(walls.items())
    ]
    body["parity"] = [{"arm": "candidate", "depth": 512, "trials": 1000, "kl": kl, "top1": "0.99"}]
    return body | members


def score(name: str, wall_ns: int, key: PrivateKey = SCORER_1, **members: Any) -> Draft:  # noqa: ANN401 - as above
    return Draft(kind="round", body=score_body(name, wall_ns, **members), signers=[key])


IMPORT: JsonObject = {
    "id": "other-1",
    "source": {"log": "other", "record": "r-1"},
    "slot": SLOT,
    "at": "2026-11-01T00:00:00Z",
    "commit": "c-old",
    "value": {"value": IMPORTED, "origin": "file"},
    "parity": [{"depth": 512, "kl": "0.5", "top1": "0.5"}],
    "files": [{"name": "r-1.json", "sha256": sha256_hex("r-1"), "size": 10}],
    "faults": [
        {"code": "F_TWO_VALUES", "message": f"the log says {IMPORTED}, the file says 1", "where": "/value"},
        {"code": "F_NO_MAIN", "message": "main is not named", "record": "r-0"},
    ],
}
INCIDENT: JsonObject = {
    "round": "retried",
    "attempt": 1,
    "outcome": "infra",
    "slot": SLOT,
    "arms": [{"role": "candidate", "code_sha256": sha256_hex("candidate later")}],
    "diagnosis": "out of memory",
    "log": {"name": "run.log", "sha256": sha256_hex("log"), "size": 9},
}
REJECTED, REVIEWED, MEASURED, IMPORT_AT = 4, 5, 6, 7


def ruling(log: VerifiedLog, at: int, action: str, **members: str) -> Draft:
    body = {"action": action, "receipt": log.entries[at].digest.hex(), "reason": "because", **members}
    return Draft(kind="ruling", body=body, signers=[ROOT])


STEPS: tuple[Callable[[VerifiedLog], Draft], ...] = (
    lambda _: keys_draft(grant(SCORER_1.public, "n1"), grant(CONTRIBUTOR.public, role="contributor")),
    lambda _: Draft(kind="rule", body=RULE, signers=[ROOT]),
    lambda _: score("first", 95_000_000),
    lambda _: score("rejected", REJECTED_NS, kl="0.5"),
    lambda _: score("reviewed", REVIEWED_NS),
    lambda _: score("measured", MEASURED_NS, CONTRIBUTOR, kl="0.5"),
    lambda _: Draft(kind="imported", body=IMPORT, signers=[SCORER_1]),
    lambda log: ruling(log, REVIEWED, "review", outcome="accepted"),
    lambda log: ruling(log, REVIEWED, "merged", commit="merged-1"),
    lambda _: score("against the frontier", 90_000_000, id="later", environment={"cpu": "two"}),
    lambda log: ruling(log, REVIEWED, "review", outcome="rejected"),
    lambda _: round_draft("main-only", wall_ns=99_000_000),
    lambda log: ruling(log, REJECTED, "void"),
    lambda log: ruling(log, 3, "supersede", by=log.entries[10].digest.hex()),
    lambda _: score("noise", 99_000_000, purpose="noise", arms=SAME_CODE),
    lambda _: keys_draft(grant(OUTSIDER.public, "n2")),
    lambda log: ruling(log, IMPORT_AT, "void"),
    lambda _: Draft(kind="incident", body=INCIDENT, signers=[SCORER_1]),
    lambda _: score("later", 88_000_000, id="retried", attempt=2),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A ledger that grows by one receipt at a time."""

    folder: Path
    writer: Log

    def read(self) -> VerifiedLog:
        return verify(DirectoryStore(self.folder)).require_log()

    def grow(self, until: int) -> VerifiedLog:
        """Append steps until there are so many receipts."""
        log = self.read()
        while len(log.entries) < until:
            self.writer.append([STEPS[len(log.entries) - 1](log)])
            log = self.read()
        return log


def new_sample(folder: Path) -> Sample:
    writer = open_log(folder)
    writer.create(ORIGIN, genesis_draft())
    return Sample(folder=folder, writer=writer)


ALL = len(STEPS) + 1
"""Receipts of the whole."""


def contents(file: Path) -> dict[str, list[dict[str, object]]]:
    """Every row of every table and of the ladder."""
    with open_database(sqlite_url(file), "read").connect() as connection:
        return {
            name: sorted(
                (dict(row) for row in connection.execute(text(f"SELECT * FROM {name}")).mappings()),  # noqa: S608 - our names
                key=repr,
            )
            for name in (*TABLES, LADDER_VIEW)
        }


def built(file: Path, log: VerifiedLog) -> dict[str, list[dict[str, object]]]:
    assert rebuild(open_database(sqlite_url(file), "create"), log).state == "fresh"
    return contents(file)
