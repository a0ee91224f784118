"""`make demo`: a ledger from nothing, the real round in it, two alterations found, a verdict and a re-score.

All of it in a temporary folder.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

RUNS = Path(__file__).resolve().parent / "data" / "own" / "llama-bench"
RULES = RUNS.parent / "rules"
PROGRAM = Path(sys.executable).with_name("rungbook")
# The tool cannot say what code and weights it ran: README.md beside the runs says it.
CODE = "cedb359416274bf03a2039a3c8622707308888ae650a84c6d17fba5c55bc7d77"
WEIGHTS = "b08cdd04b053ede43185a16757f4131e3d6fea33f8f0f36bdacd67d3efb855ae"
FLIPPED_RECEIPT = 2


class Demo:
    """One run of the demo.

    Args:
        folder: empty folder to work in.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {**os.environ, "XDG_STATE_HOME": str(folder / "state")}

    def run(self, *words: str, status: int = 0) -> None:
        """Run the program, show the command and what it printed, and insist on its exit status."""
        print(f"\n$ rungbook {' '.join(map(_short, words))}")
        done = subprocess.run(
            [PROGRAM, *words], cwd=self.folder, env=self.environment, capture_output=True, text=True, check=False
        )
        print(f"{done.stdout}{done.stderr}".rstrip())
        print(f"[exit status {done.returncode}]")
        if done.returncode != status:
            sys.exit(f"demo: expected exit status {status}, found {done.returncode}")

    def receipt(self, index: int) -> Path:
        """The file of a receipt."""
        return self.folder / "receipts" / "000" / "000" / f"{index:03d}.json"


def main() -> None:
    """Run the demo."""
    with tempfile.TemporaryDirectory() as name:
        show(Demo(Path(name)))


def show(demo: Demo) -> None:
    """Everything, in order."""
    print("--- three keys, a ledger, a scorer for one node")
    for key in ("root", "ledger", "scorer"):
        demo.run("key", "new", key)
    demo.run("init", "--origin", "example.org/demo", "--root-key", "root", "--ledger-key", "ledger")
    demo.run("grant", "scorer.pub", "--role", "scorer", "--node", "node-1", "--key", "root")

    print("\n--- the real round: ten runs of llama-bench, main and candidate in turn; then a noise round")
    demo.run("append", *tool_options("score", scored_runs()), "--key", "scorer")
    demo.run("append", *tool_options("noise", noise_runs()), "--key", "scorer")
    demo.run("log")
    demo.run("show", "2")
    demo.run("verify")

    print(f"\n--- flip one bit in the middle: in a raw sample of receipt {FLIPPED_RECEIPT}")
    path = demo.receipt(FLIPPED_RECEIPT)
    healthy = path.read_bytes()
    at = healthy.index(b"67926149")
    path.write_bytes(healthy[:at] + bytes([healthy[at] ^ 1]) + healthy[at + 1 :])
    demo.run("verify", status=3)
    path.write_bytes(healthy)

    print("\n--- drop the last receipt")
    last = demo.receipt(3)
    kept = last.read_bytes()
    last.unlink()
    demo.run("verify", status=3)

    print("\n--- restore it")
    last.write_bytes(kept)
    demo.run("verify")

    print("\n--- a rule: what is the number to beat, and what was the round worth?")
    demo.run("rule", "adopt", str(RULES / "prefill-v1.json"), "--key", "root")
    demo.run("frontier")
    demo.run("ladder", "--rule", "4")

    print("\n--- a stricter rule: what would it have been? Nothing in the ledger changes")
    demo.run("rescore", "--rule", str(RULES / "prefill-v2.json"), "--against", "4")


def scored_runs() -> list[tuple[str, Path]]:
    """Runs of the round in the order in which they ran."""
    return [
        (role, RUNS / f"round1_{number}{letter}_{role}.json")
        for number in range(1, 6)
        for letter, role in (("a", "main"), ("b", "candidate"))
    ]


def noise_runs() -> list[tuple[str, Path]]:
    """Runs of main against itself, in order."""
    return [
        (role, RUNS / f"noise_{number}{letter}_main.jsonl")
        for number in range(1, 6)
        for letter, role in (("a", "main"), ("b", "candidate"))
    ]


def tool_options(purpose: str, runs: list[tuple[str, Path]]) -> list[str]:
    """Options of ``append`` for these runs."""
    arms = [word for role, path in runs for word in ("--arm", f"{role}={path}")]
    slot = "project=tiny-llama,node=node-1,quant=F32,context=512,metric=prefill_tok_s"
    codes = ["--code", f"main={CODE}", "--code", f"candidate={CODE}"]
    return [
        *("--from", "llama-bench", "--purpose", purpose, *arms, "--slot", slot, *codes),
        *("--weights", WEIGHTS, "--harness", CODE),
    ]


def _short(word: str) -> str:
    """A word of a command as a reader needs it: file names without folders, the start of a digest."""
    word = word.replace(f"{RUNS}/", "").replace(f"{RULES}/", "")
    name, equals, value = word.rpartition("=")
    digest = len(value) == len(CODE) and value.isalnum()
    return shlex.quote(f"{name}{equals}{value[:12]}…" if digest else word)


if __name__ == "__main__":
    main()
