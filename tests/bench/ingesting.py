"""From a tool's files to sealed receipts: many files, each a round, sealed in one group through the library.

The floor is what nobody can leave out: the bytes are parsed and hashed, and one signature is made for each file. Floor
and steps run in turns, over a part of the files each; only the sealing is one action over all of them.
"""

from __future__ import annotations

import hashlib
import json
import time
from typing import TYPE_CHECKING

from ledger.caches import Caches
from ledger.canonical import MAX_BYTES
from ledger.draft import Draft
from ledger.ingest import recognise
from ledger.ingest.build import build_round
from ledger.ingest.checks import examine_round
from ledger.ingest.run import Run
from ledger.kinds import check_body
from ledger.log import MAX_GROUP
from ledger.schema import validate
from ledger.store.directory import DirectoryStore
from ledger.store.disk import read_file
from tests.bench.measure import (
    RECOVERY_S,
    Cost,
    cost,
    cpu_ratio,
    cpu_time,
    in_turns,
    milli,
    table,
    wall_ratio,
    wall_time,
)
from tests.bench.rounds import SCORER_KEY, open_log, start_ledger
from tests.bench.tool_files import OPTIONS, llama_file

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ledger.canonical import JsonObject

_TURN = 500
"""Files in a turn, about."""


def run(folder: Path, count: int) -> None:
    """Print the table. `folder` is empty and ours."""
    if count > MAX_GROUP:
        raise SystemExit(f"BENCH_FILES: at most {MAX_GROUP} files are sealed in one group")
    paths = [folder / f"bench-{number:05d}.json" for number in range(count)]
    for number, path in enumerate(paths):
        path.write_bytes(llama_file(number))
    size = sum(path.stat().st_size for path in paths) / count / 1000
    turns = max(1, count // _TURN)
    passes = _Passes([paths[at::turns] for at in range(turns)])
    costs = in_turns({"floor": passes.floor, "read": passes.read, "build": passes.build}, turns)
    seal = passes.seal(folder / "ledger")
    table(
        f"{count} llama-bench files of {size:.1f} kB, each a round, sealed in one group; for each file, floor: "
        "json.loads, SHA-256 and one signature",
        _rows(costs, seal, turns, count),
    )


def _rows(
    costs: Mapping[str, Sequence[Cost]], seal: Cost, turns: int, count: int
) -> list[tuple[str, str, str, str, str]]:
    sealing = [Cost(seal.cpu / turns, seal.wall / turns)] * turns
    floor, steps = costs["floor"], (costs["read"], costs["build"], sealing)
    whole = [Cost(sum(each.cpu for each in turn), sum(each.wall for each in turn)) for turn in zip(*steps, strict=True)]
    each = count / turns

    def row(what: str, ours: Sequence[Cost], target: str = "") -> tuple[str, str, str, str, str]:
        ratio = f"{cpu_ratio(ours, floor):.1f}"
        return f"{what}, CPU", milli(cpu_time(ours), each), milli(cpu_time(floor), each), ratio, target

    clock = f"{wall_ratio(whole, floor):.1f}"
    return [
        row("read, recognise, parse, adapter", costs["read"], "<= 4 x"),
        row("build, schema, checks", costs["build"], "<= 6 x"),
        row("number, sign, admit, seal, commit", sealing),
        row("all of it", whole),
        ("all of it, on the clock", milli(wall_time(whole), each), milli(wall_time(floor), each), clock, ""),
    ]


class _Passes:
    """The steps over the files, part by part, each of them with what the one before it left."""

    def __init__(self, parts: Sequence[Sequence[Path]]) -> None:
        self._for_floor, self._for_read = iter(parts), iter(parts)
        self._runs: list[Run] = []
        self._rounds: list[JsonObject] = []

    def floor(self) -> None:
        """Parse, hash and sign, and keep nothing."""
        for path in next(self._for_floor):
            raw = read_file(path, MAX_BYTES)
            json.loads(raw)
            SCORER_KEY.sign(hashlib.sha256(raw).digest())

    def read(self) -> None:
        """Files into runs."""
        self._runs = [_read_run(path) for path in next(self._for_read)]

    def build(self) -> None:
        """Runs into rounds, checked as they are before they are signed."""
        for run in self._runs:
            built = build_round([run], OPTIONS)
            validate("round-input", built.body)
            check_body("round", built.body)
            examine_round(built.body, built.said)
            self._rounds.append(built.body)

    def seal(self, home: Path) -> Cost:
        """All rounds into receipts, in one group, with what a writer keeps to save time."""
        home.mkdir()
        start_ledger(home)
        store = DirectoryStore(home)
        log = open_log(home, caches=Caches(snapshot=store.snapshot_file(), copies=store.copy_index()))
        drafts = [Draft(kind="round", body=body, signers=[SCORER_KEY]) for body in self._rounds]
        time.sleep(RECOVERY_S)
        return cost(lambda: log.append(drafts))


def _read_run(path: Path) -> Run:
    raw = read_file(path, MAX_BYTES)
    return Run(role="main", name=path.name, raw=raw, rows=recognise(raw, path.name).read(raw, path.name))
