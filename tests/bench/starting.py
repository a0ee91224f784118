"""What a process pays before it does anything: `rungbook verify` on ten receipts, against an empty Python program."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from typing import TYPE_CHECKING

from tests.bench.measure import cpu_ratio, cpu_time, in_turns, milli, table
from tests.bench.rounds import make_ledger

if TYPE_CHECKING:
    from pathlib import Path

_ROUNDS = 8  # and two receipts before them


def run(folder: Path, repeats: int) -> None:
    """Print the table. `folder` is empty and ours."""
    make_ledger(folder, _ROUNDS)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def start(program: str, *words: str) -> None:
        subprocess.run(
            [sys.executable, "-c", program, *words], cwd=folder, env=environment, stdout=subprocess.DEVNULL, check=True
        )

    sides = {
        "nothing": partial(start, "pass"),
        "verify": partial(start, "from cli.main import main; main()", "verify"),
        "library": partial(start, "import ledger.verify, ledger.store.directory"),
    }
    for action in sides.values():
        action()  # compiled files are written once
    costs = in_turns(sides, repeats)
    floor = milli(cpu_time(costs["nothing"]))

    def row(what: str, side: str, target: str) -> tuple[str, str, str, str, str]:
        return what, milli(cpu_time(costs[side])), floor, f"{cpu_ratio(costs[side], costs['nothing']):.1f}", target

    table(
        "Start, CPU time of a process; floor: python -c pass",
        [
            row("rungbook verify, 10 receipts", "verify", "<= 200 ms, better 150"),
            row("import of the library's verifier", "library", ""),
        ],
    )
