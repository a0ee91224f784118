"""Verification of a whole ledger against its floors."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from ledger import keys
from ledger.keys_fast import Accelerator
from ledger.merkle import Tree, check_inclusion, leaf_hash
from ledger.store.directory import DirectoryStore
from ledger.verify import verify
from tests.bench import floors
from tests.bench.measure import Cost, cost, cpu_ratio, cpu_time, in_turns, micro, table, wall_ratio, wall_time

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from ledger.verified import Mode

_NEVER = 10**9


@contextlib.contextmanager
def _accelerated(after: int) -> Iterator[None]:
    """Verify signatures with libsodium after so many."""
    usual = keys._accelerator
    keys._accelerator = Accelerator(after)
    try:
        yield
    finally:
        keys._accelerator = usual


def _verify(folder: Path, mode: Mode = "full", *, fast: bool, jobs: int = 1) -> None:
    with _accelerated(0 if fast else _NEVER):
        verify(DirectoryStore(folder), mode=mode, jobs=jobs).require_log()


def run(folder: Path, repeats: int) -> None:
    """Print the table for the ledger in `folder`."""
    files = floors.prepare(folder)
    costs = in_turns(
        {
            "floor": lambda: floors.read_hash_and_verify(files),
            "full": lambda: _verify(folder, fast=False),
            "fast": lambda: _verify(folder, fast=True),
            "fast floor": lambda: floors.read_hash_and_verify_fast(files),
            "hash floor": lambda: floors.read_and_hash(files),
            "quick": lambda: _verify(folder, "quick", fast=False),
        },
        repeats,
    )
    count = len(files)
    size = sum(len(floors._read(item.path)) for item in files)

    def row(what: str, ours: Sequence[Cost], theirs: Sequence[Cost], target: str) -> tuple[str, str, str, str, str]:
        return (
            what,
            micro(cpu_time(ours), count),
            micro(cpu_time(theirs), count),
            f"{cpu_ratio(ours, theirs):.2f}",
            target,
        )

    two = in_turns(
        {"floor": lambda: floors.read_hash_and_verify(files), "full": lambda: _verify(folder, fast=True, jobs=2)},
        repeats,
    )
    table(
        f"Verify {count} receipts of {size / count / 1000:.1f} kB, CPU time per receipt, one process",
        [
            row("full / read + SHA-256 + Ed25519 (cryptography)", costs["full"], costs["floor"], "<= 1.40"),
            row("full with libsodium / the same floor", costs["fast"], costs["floor"], "<= 1.40"),
            row("full with libsodium / the floor with libsodium", costs["fast"], costs["fast floor"], ""),
            row("quick / read + SHA-256", costs["quick"], costs["hash floor"], "<= 1.30"),
            (
                "the same in 2 processes, on the clock / the same floor",
                micro(wall_time(two["full"]), count),
                micro(wall_time(two["floor"]), count),
                f"{wall_ratio(two['full'], two['floor']):.2f}",
                "",
            ),
        ],
    )
    _inclusion(count)


def _inclusion(count: int) -> None:
    tree = Tree(index.to_bytes(32) for index in range(count))
    root, index = tree.root(), count // 3
    proof, leaf = tree.inclusion_proof(index), leaf_hash(index.to_bytes(32))
    times = 1000

    def check() -> None:
        for _ in range(times):
            check_inclusion(index, count, leaf, proof, root)

    table("Proofs", [("inclusion check", micro(cost(check).cpu, times), "", "", "<= 50 us")])
