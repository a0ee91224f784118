"""Durable appends, one by one and in groups, against a signed git commit of the same file; and opening a ledger."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from functools import partial
from typing import TYPE_CHECKING

from ledger.admission import State
from ledger.checkpoint import parse_checkpoint
from ledger.loading import load_state
from ledger.store.directory import DirectoryStore
from tests.bench.measure import RECOVERY_S, Cost, cost, cpu_ratio, cpu_time, micro, milli, table, wall_ratio, wall_time
from tests.bench.rounds import GROUP, draft, start_ledger

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_GROUPS = 3
_TURN = 10


class GitPeer:
    """A repository that signs its commits with an ssh key."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir()
        key = folder.parent / "git-key"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
        self._environment = os.environ | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        self._git("init", "--quiet")
        for name, value in {
            "user.name": "bench",
            "user.email": "bench@example",
            "gpg.format": "ssh",
            "user.signingkey": str(key),
            "gc.auto": "0",
            "core.fsync": "all",  # by default git does not sync loose objects: a power cut loses such a commit
        }.items():
            self._git("config", name, value)

    def commit(self, name: str, data: bytes) -> None:
        """Write a file and commit it, signed."""
        (self._folder / name).write_bytes(data)
        self._git("add", name)
        self._git("commit", "--quiet", "--gpg-sign", "--message", name)

    def _git(self, *words: str) -> None:
        subprocess.run(["git", *words], cwd=self._folder, env=self._environment, check=True)


def run(folder: Path, commits: int) -> None:
    """Print the table. `folder` is empty and ours."""
    home = folder / "ledger"
    home.mkdir()
    log = start_ledger(home)
    peer = GitPeer(folder / "git")
    singles: list[Cost] = []
    signed: list[Cost] = []
    for first in range(0, commits, _TURN):
        numbers = range(first, min(first + _TURN, commits))
        time.sleep(RECOVERY_S)
        singles += [cost(partial(log.append, [draft(number)])) for number in numbers]
        time.sleep(RECOVERY_S)
        for number in numbers:
            raw = DirectoryStore(home).read_receipt(number + 2)
            signed.append(cost(partial(peer.commit, f"{number:05d}.json", raw)))
    groups = [
        cost(partial(log.append, [draft(number) for number in range(first, first + GROUP)]))
        for first in range(commits, commits + _GROUPS * GROUP, GROUP)
    ]
    table(
        "Append a round of 10 kB durably, against git add and git commit -S with an ssh key",
        [
            (
                "one by one, CPU",
                milli(cpu_time(singles)),
                milli(cpu_time(signed)),
                _times_faster(cpu_ratio(singles, signed)),
                "<= 0.80 ms, >= 10 x",
            ),
            (
                "one by one, on the clock",
                milli(wall_time(singles)),
                milli(wall_time(signed)),
                _times_faster(wall_ratio(singles, signed)),
                ">= 10 x",
            ),
            (f"groups of {GROUP}, CPU each", milli(cpu_time(groups), GROUP), "", "", "<= 0.20 ms"),
            (f"groups of {GROUP}, on the clock each", milli(wall_time(groups), GROUP), "", "", ""),
        ],
    )


def _times_faster(ratio: float) -> str:
    return f"1 / {1 / ratio:.0f}"


def open_large(folder: Path, repeats: int) -> None:
    """Print what a new process pays to append to the large ledger in `folder`."""
    store = DirectoryStore(folder)
    raw = store.read_checkpoint()
    if raw is None:
        raise SystemExit("the ledger to be opened has no checkpoint")
    checkpoint = parse_checkpoint(raw)
    replay = [cost(lambda: load_state(store, checkpoint, State())) for _ in range(repeats)]
    cold = _append_in_a_process(folder, 1)
    warm = _append_in_a_process(folder, repeats)
    table(
        f"Open a ledger of {checkpoint.size} receipts for writing",
        [
            ("replay, CPU per receipt", micro(cpu_time(replay), checkpoint.size), "", "", ""),
            ("append in a new process without snapshot, CPU", milli(cpu_time(cold)), "", "", ""),
            ("append in a new process with snapshot, CPU", milli(cpu_time(warm)), "", "", "<= 1000 ms"),
        ],
    )


def _append_in_a_process(folder: Path, times: int) -> Sequence[Cost]:
    words = [sys.executable, "-m", "tests.bench.append_once", str(folder)]
    return [cost(lambda: subprocess.run(words, check=True)) for _ in range(times)]
