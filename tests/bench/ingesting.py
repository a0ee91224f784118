"""From a tool's files to sealed receipts: many files, each a round, sealed in one group through the library.

The floor is what nobody can leave out: the bytes are parsed and hashed, and one signature is made for each file.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from ledger.caches import Caches
from ledger.canonical import MAX_BYTES
from ledger.draft import Draft
from ledger.ingest import recognise
from ledger.ingest.build import BuiltRound, build_round
from ledger.ingest.checks import examine_round
from ledger.ingest.run import Run
from ledger.kinds import check_body
from ledger.log import MAX_GROUP
from ledger.schema import validate
from ledger.store.directory import DirectoryStore
from ledger.store.disk import read_file
from tests.bench.measure import Cost, cpu_ratio, cpu_time, in_turns, milli, table, wall_ratio, wall_time
from tests.bench.rounds import SCORER_KEY, open_log, start_ledger
from tests.bench.tool_files import OPTIONS, llama_file

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

STEPS = ("read", "build", "seal")


def run(folder: Path, count: int, repeats: int) -> None:
    """Print the table. `folder` is empty and ours."""
    if count > MAX_GROUP:
        raise SystemExit(f"BENCH_FILES: at most {MAX_GROUP} files are sealed in one group")
    paths = [folder / f"bench-{number:05d}.json" for number in range(count)]
    for number, path in enumerate(paths):
        path.write_bytes(llama_file(number))
    size = sum(path.stat().st_size for path in paths) / count / 1000
    passes = _Passes(folder, paths)
    costs = in_turns(passes.sides(), repeats)
    table(
        f"{count} llama-bench files of {size:.1f} kB, each a round, sealed in one group; for each file, floor: "
        "json.loads, SHA-256 and one signature",
        _rows(costs, count),
    )


def _rows(costs: Mapping[str, Sequence[Cost]], count: int) -> list[tuple[str, str, str, str, str]]:
    names = {
        "read": "read, recognise, parse, adapter",
        "build": "build, schema, checks",
        "seal": "number, sign, admit, seal, commit",
    }
    whole = [
        Cost(sum(each.cpu for each in steps), sum(each.wall for each in steps))
        for steps in zip(*(costs[step] for step in STEPS), strict=True)
    ]
    floor = costs["floor"]

    def row(what: str, ours: Sequence[Cost], target: str) -> tuple[str, str, str, str, str]:
        ratio = f"{cpu_ratio(ours, floor):.1f}"
        return f"{what}, CPU", milli(cpu_time(ours), count), milli(cpu_time(floor), count), ratio, target

    clock = f"{wall_ratio(whole, floor):.1f}"
    return [
        *(row(names[step], costs[step], "") for step in STEPS),
        row("all of it", whole, "<= 1.50 ms"),
        ("all of it, on the clock", milli(wall_time(whole), count), milli(wall_time(floor), count), clock, ""),
    ]


class _Passes:
    """The steps over all files, each of them with what the one before it left."""

    def __init__(self, folder: Path, paths: Sequence[Path]) -> None:
        self._folder = folder
        self._paths = paths
        self._runs: list[Run] = []
        self._built: list[BuiltRound] = []
        self._ledgers = 0

    def sides(self) -> Mapping[str, Callable[[], object]]:
        """The floor and the steps, to be measured in turns."""
        return {"floor": self.floor, "read": self.read, "build": self.build, "seal": self.seal}

    def floor(self) -> None:
        """Parse, hash and sign, and keep nothing."""
        for path in self._paths:
            raw = read_file(path, MAX_BYTES)
            json.loads(raw)
            SCORER_KEY.sign(hashlib.sha256(raw).digest())

    def read(self) -> None:
        """Files into runs."""
        self._runs = [self._read(path) for path in self._paths]

    @staticmethod
    def _read(path: Path) -> Run:
        raw = read_file(path, MAX_BYTES)
        return Run(role="main", name=path.name, raw=raw, rows=recognise(raw, path.name).read(raw, path.name))

    def build(self) -> None:
        """Runs into rounds, checked as they are before they are signed."""
        self._built = [build_round([run], OPTIONS) for run in self._runs]
        for each in self._built:
            validate("round-input", each.body)
            check_body("round", each.body)
            examine_round(each.body, each.notes)

    def seal(self) -> None:
        """Rounds into receipts, in one group, in a ledger of their own, with what a writer keeps to save time."""
        home = self._folder / f"ledger-{self._ledgers}"
        self._ledgers += 1
        home.mkdir()
        start_ledger(home)
        store = DirectoryStore(home)
        log = open_log(home, caches=Caches(snapshot=store.snapshot_file(), copies=store.copy_index()))
        sealed = log.append([Draft(kind="round", body=each.body, signers=[SCORER_KEY]) for each in self._built])
        if any(each.existed for each in sealed):
            raise SystemExit("two of the generated files are the same round")
