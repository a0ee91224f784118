"""Processes that write to one ledger: started by tests, killed or raced by them.

`python -c "…" TASK FOLDER …` with this module's `main`. A worker prints ``ready`` and waits for a line on its standard
input; then it works, and prints one line for every receipt that was acknowledged to it.
"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from platformdirs import user_state_path

from ledger import snapshot
from ledger.caches import Caches
from ledger.log import Log
from ledger.statement import import_envelope
from ledger.store.anchor import FileAnchor
from ledger.store.directory import DirectoryStore
from tests.support.ledgers import LEDGER, make_key, round_draft

if TYPE_CHECKING:
    from collections.abc import Callable

    from ledger.sealed import Sealed

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 300.0


def open_shared_log(folder: Path) -> Log:
    """A writer as the command opens it: anchor in the state folder, snapshot in the ledger's local folder."""
    store = DirectoryStore(folder)
    return Log(
        store,
        LEDGER,
        lambda key: FileAnchor(user_state_path("rungbook"), key.vkey),
        caches=Caches(snapshot=store.snapshot_file(), copies=store.copy_index()),
        lock_timeout_s=PATIENCE_S,
        notice=tell,
    )


def tell(text: str) -> None:
    """What the writer repaired, for whoever reads a failed test."""
    sys.stderr.write(f"{text}\n")


def acknowledge(name: str, sealed: Sealed) -> None:
    """One line, in one write: a reader never sees half of it."""
    sys.stdout.write(f"{name} {sealed.index} {sealed.digest.hex()} {int(sealed.existed)}\n")
    sys.stdout.flush()


def append_each(folder: Path, key_name: str, prefix: str, count: int) -> None:
    """Append rounds one by one."""
    log = open_shared_log(folder)
    key = make_key(key_name)
    for number in range(count):
        name = f"{prefix}-{number}"
        (sealed,) = log.append([round_draft(name, key)])
        acknowledge(name, sealed)


def append_until_killed(folder: Path, key_name: str, prefix: str, seed: int) -> None:
    """Append rounds, alone and in groups, until somebody ends this process."""
    snapshot.EVERY = 16
    rng = random.Random(seed)
    log = open_shared_log(folder)
    key = make_key(key_name)
    turn = 0
    while True:
        size = rng.choice([1, 1, 2, 5])
        names = [f"{prefix}-{turn}-{at}of{size}" for at in range(size)]
        for name, sealed in zip(names, log.append([round_draft(name, key) for name in names]), strict=True):
            acknowledge(name, sealed)
        turn += 1


def seal_envelopes(folder: Path, inbox: str, _: str, __: int) -> None:
    """Seal attested statements, each alone."""
    log = open_shared_log(folder)
    for path in sorted(Path(inbox).iterdir()):
        (sealed,) = log.append([import_envelope(path.read_bytes())])
        acknowledge(path.name, sealed)


TASKS: dict[str, Callable[[Path, str, str, int], None]] = {
    task.__name__: task for task in (append_each, append_until_killed, seal_envelopes)
}


def main() -> None:
    """Do what the command line says, after a line on standard input."""
    task, folder, first, second, number = sys.argv[1:]
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    TASKS[task](Path(folder), first, second, int(number))


class Worker:
    """A worker process, seen from the test.

    Args:
        task: one of `TASKS`.
        folder: the ledger.
        words: three arguments of the task.
    """

    def __init__(self, task: Callable[[Path, str, str, int], None], folder: Path, *words: str | int) -> None:
        self._talk = tempfile.TemporaryFile("w+")  # noqa: SIM115 - lives as long as the process
        script = "import sys; sys.path.append(sys.argv.pop(1)); from tests.support.worker import main; main()"
        self._process = subprocess.Popen(
            [sys.executable, "-c", script, ROOT, task.__name__, folder, *map(str, words)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._talk,
            text=True,
        )
        self._lines: list[str] = []
        if self.read_line() != "ready\n":
            raise AssertionError(self._said())
        self._lines.clear()

    def go(self) -> None:
        """Let it work."""
        assert self._process.stdin is not None
        self._process.stdin.write("go\n")
        self._process.stdin.flush()

    def read_line(self) -> str:
        """Wait until it acknowledges something."""
        assert self._process.stdout is not None
        self._lines.append(self._process.stdout.readline())
        return self._lines[-1]

    def kill(self) -> None:
        """End it as the system does when memory is short: no handler runs."""
        self._process.kill()

    def acknowledged(self, *, killed: bool = False) -> list[tuple[str, int, str, bool]]:
        """Name, index, digest and whether it existed, of all that was acknowledged; waits for the end."""
        while self.read_line():
            pass
        status = self._process.wait(PATIENCE_S)
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()
        if status != (-signal.SIGKILL if killed else 0):
            raise AssertionError(f"ended with {status}: {self._said()}")
        self._talk.close()
        whole = [line.split() for line in self._lines if line.endswith("\n")]
        return [(name, int(index), digest, existed == "1") for name, index, digest, existed in whole]

    def _said(self) -> str:
        self._talk.seek(0)
        return self._talk.read()
