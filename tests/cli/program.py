"""The program as the tests run it: in this process, which is quick, or as a process of its own, which is real."""

from __future__ import annotations

import contextlib
import fcntl
import io
import json
import os
import pty
import select
import shutil
import subprocess
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

from cli.main import main
from ledger.schema import validate_slowly

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# The program of the environment that runs the tests: of the source tree, or of the wheel.
PROGRAM = shutil.which("rungbook", path=str(Path(sys.executable).parent)) or "rungbook"

OK, CRASH, USAGE, REFUTED, UNAVAILABLE, REFUSED, INTERRUPTED = 0, 1, 2, 3, 4, 5, 130


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a run of the program left: exit status, stdout, stderr."""

    status: int
    out: str
    err: str

    def document(self, kind: str) -> dict[str, Any]:
        """The one object on stdout, which must be of this kind and satisfy its schema."""
        value = json.loads(self.out)
        assert value["rungbook"] == f"{kind}/v1", self
        validate_slowly(f"output-{kind}", value)
        assert isinstance(value, dict)
        return value

    def code(self) -> str:
        """The code of the one error that stderr names."""
        lines = [line for line in self.err.splitlines() if line.startswith("rungbook: ")]
        assert len(lines) == 1, self
        return lines[0].removeprefix("rungbook: ").partition(":")[0]


def run(*words: str | Path, cwd: Path | None = None) -> Result:
    """Run the program in this process. A failure that it does not foresee is status 1, as Python has it."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with (
        contextlib.chdir(cwd or Path.cwd()),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        mock.patch.object(sys, "stdin", io.StringIO()),
        mock.patch.object(sys, "argv", ["rungbook", *map(str, words)]),
    ):
        status = _run_main()
    return Result(status=status, out=_text(out), err=_text(err))


def _run_main() -> int:
    try:
        main()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except Exception:  # noqa: BLE001 - whatever it is: as a process it would end in a traceback and status 1
        traceback.print_exc()
        return CRASH
    return OK


def _text(stream: io.TextIOWrapper) -> str:
    data = stream.detach()
    assert isinstance(data, io.BytesIO)
    return data.getvalue().decode()


@contextlib.contextmanager
def writing_elsewhere(root: Path) -> Iterator[None]:
    """Hold the lock of a ledger as another writer does."""
    with (root / ".rungbook" / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def run_process(
    *words: str | Path, cwd: Path, command: Sequence[str | Path] = (PROGRAM,), timeout_s: float = 60
) -> Result:
    """Run the program as a process without a terminal."""
    done = subprocess.run(
        [*command, *words],
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout_s,
    )
    return Result(status=done.returncode, out=done.stdout, err=done.stderr)


# The child of a new session takes the terminal on its stdin, so that a prompt finds it.
_TAKE_TERMINAL = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
)
_PATIENCE_S = 15


def run_on_terminal(*words: str | Path, cwd: Path, answers: Sequence[tuple[str, str]] = ()) -> Result:
    """Run the program with stdin and stderr on a terminal, and answer its prompts: (text to wait for, line to type).

    When a prompt does not come, the program is killed.
    """
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", _TAKE_TERMINAL, PROGRAM, *map(str, words)]
    with (
        os.fdopen(ours, "rb+", buffering=0) as terminal,
        subprocess.Popen(
            command, cwd=cwd, stdin=theirs, stdout=subprocess.PIPE, stderr=theirs, text=True, start_new_session=True
        ) as process,
    ):
        os.close(theirs)
        seen = _converse(terminal, answers)
        if seen is None:
            process.kill()
        out, _ = process.communicate(timeout=_PATIENCE_S)
        err = "(killed: a prompt did not come)" if seen is None else seen
        return Result(status=process.returncode, out=out, err=err)


def _converse(terminal: io.FileIO, answers: Sequence[tuple[str, str]]) -> str | None:
    """Everything that came over the terminal until the other side closed it; none when it went silent."""
    seen, waiting, asked_at = b"", list(answers), 0
    while select.select([terminal], [], [], _PATIENCE_S)[0]:
        try:
            data = terminal.read(4096)
        except OSError:  # how a terminal says that nobody is at the other end
            data = b""
        if not data:
            return seen.decode().replace("\r\n", "\n")
        seen += data
        if waiting and waiting[0][0].encode() in seen[asked_at:]:
            asked_at = len(seen)
            terminal.write(waiting.pop(0)[1].encode() + b"\n")
    return None
