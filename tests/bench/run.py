"""The benchmarks: `make bench`. Each table says what was measured, the floor or the peer beside it, and the target.

Sizes come from the environment: BENCH_RECEIPTS (20000), BENCH_REPEATS (3), BENCH_COMMITS (30), BENCH_RUNGS (1000000),
BENCH_FOLLOWED (10000), BENCH_FILES (10000), BENCH_COPIES (100000). What they need is generated, in a temporary folder
that is removed at the end.
"""

from __future__ import annotations

import platform
import tempfile
import time
from pathlib import Path

from tests.bench import appending, copying, following, ingesting, rescoring, starting, validation, verification
from tests.bench.measure import number
from tests.bench.rounds import make_ledger

_FEW = 167
"""Rounds of six repetitions in the small index of fingerprints."""


def main() -> None:
    """Run all of them."""
    receipts, repeats, commits = (
        number("BENCH_RECEIPTS", 20_000),
        number("BENCH_REPEATS", 3),
        number("BENCH_COMMITS", 30),
    )
    began = time.perf_counter()
    print(f"Python {platform.python_version()}, {platform.machine()}; {receipts} receipts, {repeats} repeats")
    with tempfile.TemporaryDirectory(prefix="rungbook-bench-") as name:
        folder = Path(name)
        validation.run(5 * repeats)
        (folder / "append").mkdir()
        appending.run(folder / "append", commits)
        (folder / "start").mkdir()
        starting.run(folder / "start", 5 * repeats)
        (folder / "rescore").mkdir()
        rescoring.run(folder / "rescore", number("BENCH_RUNGS", 1_000_000), repeats)
        following.run(folder / "follow", number("BENCH_FOLLOWED", 10_000))
        (folder / "ingest").mkdir()
        ingesting.run(folder / "ingest", number("BENCH_FILES", 10_000))
        (folder / "copies").mkdir()
        copying.run(folder / "copies", _FEW, number("BENCH_COPIES", 100_000), repeats)
        large = folder / "large"
        large.mkdir()
        make_ledger(large, receipts - 2)
        print(f"\n(generated in {time.perf_counter() - began:.0f} s)")
        verification.run(large, repeats)
        appending.open_large(large, repeats)
    print(f"\n{time.perf_counter() - began:.0f} s in all")


if __name__ == "__main__":
    main()
