"""Samples that the ledger has already: one look-up for each repetition, however many there are.

Two indices, of a small ledger and of a large one, are asked in turns for fingerprints that they lack, as those of
honest rounds are. Beside it: to open an index, and to bring up one that is as far behind as it ever is.
"""

from __future__ import annotations

import random
from functools import partial
from typing import TYPE_CHECKING

from ledger.admission import State
from ledger.caches import Caches
from ledger.checkpoint import parse_checkpoint
from ledger.copies import EVERY, Copies
from ledger.loading import load_state
from ledger.store.copy_index import DiskCopyIndex
from ledger.store.directory import DirectoryStore
from ledger.timing import round_prints
from tests.bench.measure import Cost, cpu_ratio, cpu_time, in_turns, micro, milli, table
from tests.bench.rounds import GROUP, REPS, SEED, CarelessDisk, draft, open_log, round_body, start_ledger

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

_LOOK_UPS = 5_000
_ROUNDS = 200
_OPENED = 50


def run(folder: Path, few: int, many: int, repeats: int) -> None:
    """Print the table. `folder` is empty and ours.

    Args:
        folder: where the ledgers and indices are made.
        few: rounds of the small ledger, of six repetitions each.
        many: rounds of the large one.
        repeats: turns.
    """
    sizes = {"few": few, "many": many}
    indices = {name: _make_index(folder / f"{name}.sqlite", size) for name, size in sizes.items()}
    costs = in_turns(_sides(indices, folder), repeats)
    table(
        f"Ask whether the samples of a repetition are sealed already: {REPS * many} fingerprints, beside {REPS * few}",
        _rows(costs),
    )
    _run_behind(folder / "behind", repeats)


def _rows(costs: Mapping[str, Sequence[Cost]]) -> list[tuple[str, str, str, str, str]]:
    def row(what: str, name: str, count: int, target: str) -> tuple[str, str, str, str, str]:
        ours, theirs = costs[f"{name} many"], costs[f"{name} few"]
        ratio = f"{cpu_ratio(ours, theirs):.2f}"
        return what, micro(cpu_time(ours), count), micro(cpu_time(theirs), count), ratio, target

    return [
        row("one look-up in the index, CPU", "find", _LOOK_UPS, "<= 2"),
        row("a repetition of 30 requests, CPU", "take", REPS * _ROUNDS, "<= 1.5"),
        row("open the index, CPU", "open", _OPENED, "<= 2"),
    ]


def _make_index(path: Path, rounds: int) -> Path:
    rng = random.Random(SEED + rounds)
    index = DiskCopyIndex(path)
    added = {rng.randbytes(32): [at] for at in range(rounds) for _ in range(REPS)}
    if not index.extend(rounds, _state(rounds).prev, added, frozenset()):
        raise SystemExit(f"the index {path} cannot be made")
    return path


def _state(size: int) -> State:
    """A ledger of so many receipts, as far as the check for copies looks at it."""
    state = State()
    for number in range(size):
        state.add_file(number.to_bytes(32, "big"))
    return state


def _sides(indices: Mapping[str, Path], folder: Path) -> dict[str, Callable[[], object]]:
    rng = random.Random(SEED)
    lacking = [rng.randbytes(32) for _ in range(_LOOK_UPS)]
    bodies = [round_body(number) for number in range(_ROUNDS)]
    sides: dict[str, Callable[[], object]] = {}
    for name, path in indices.items():
        index = DiskCopyIndex(path)
        state = _state(index.covered()[0])
        copies = Copies(DirectoryStore(folder), index)
        copies.begin(state)
        sides[f"find {name}"] = partial(_find_all, index, lacking)
        sides[f"take {name}"] = partial(_take_all, copies, state, bodies)
        sides[f"open {name}"] = partial(_open_often, path)
    return sides


def _find_all(index: DiskCopyIndex, digests: Sequence[bytes]) -> None:
    for digest in digests:
        if index.find(digest):
            raise SystemExit("a fingerprint that was never there is found")


def _take_all(copies: Copies, state: State, bodies: Sequence[dict[str, object]]) -> None:
    copies.begin(state)
    for body in bodies:
        copies.take(state, "round", body)


def _open_often(path: Path) -> None:
    for _ in range(_OPENED):
        index = DiskCopyIndex(path)
        index.covered()
        index.find(bytes(32))


# An index that lacks the latest receipts.


def _run_behind(home: Path, repeats: int) -> None:
    lacks = EVERY - 1
    home.mkdir()
    store, state = DirectoryStore(home), State()
    _make_ledger(home, lacks)
    load_state(store, parse_checkpoint(store.read_checkpoint() or b""), state)
    covered, _ = store.copy_index().covered()
    if state.size - covered != lacks:
        raise SystemExit(f"the index covers {covered} of {state.size} receipts")
    asked = round_body(state.size)

    def bring_up() -> None:
        copies = Copies(store, store.copy_index())
        copies.begin(state)
        copies.take(state, "round", asked)

    def fingerprint() -> None:
        for number in range(lacks):
            round_prints(bodies[number])

    bodies = [round_body(number) for number in range(lacks)]
    costs = in_turns({"bring up": bring_up, "fingerprint": fingerprint}, repeats)
    ours, theirs = costs["bring up"], costs["fingerprint"]
    table(
        f"The first round of a process, with an index that lacks {lacks} receipts of 10 kB; floor: their fingerprints",
        [
            (
                "bring up, CPU",
                milli(cpu_time(ours)),
                milli(cpu_time(theirs)),
                f"{cpu_ratio(ours, theirs):.2f}",
                "<= 100 ms",
            )
        ],
    )


def _make_ledger(home: Path, lacks: int) -> None:
    """A ledger whose index covers all but so many receipts."""
    start_ledger(home, CarelessDisk())
    log = open_log(home, CarelessDisk(), Caches(copies=DirectoryStore(home).copy_index()))
    for first in range(0, EVERY, GROUP):
        log.append([draft(number) for number in range(first, first + GROUP)])
    log.append([draft(number) for number in range(10 * EVERY, 10 * EVERY + lacks)])
