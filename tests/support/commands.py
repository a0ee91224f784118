"""The program `rungbook`, in this process (fast) or in one of its own (as a user has it)."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import mock

import orjson

from cli.main import main

if TYPE_CHECKING:
    from ledger.canonical import JsonObject
    from ledger.keys import PrivateKey

PROGRAM = Path(sys.executable).with_name("rungbook")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a command did: exit status and what it printed."""

    status: int
    stdout: str
    stderr: str

    def document(self) -> JsonObject:
        """The one JSON object on stdout."""
        value: JsonObject = orjson.loads(self.stdout)
        return value


def run(*words: str | Path) -> Outcome:
    """Run a command in this process."""
    out, err = io.StringIO(), io.StringIO()
    status = 0
    with (
        mock.patch.object(sys, "argv", ["rungbook", *map(str, words)]),
        mock.patch.object(sys, "stdin", io.StringIO()),  # nobody is there to type a passphrase
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as stop:
            status = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    return Outcome(status=status, stdout=out.getvalue(), stderr=err.getvalue())


def run_process(*words: str | Path, **variables: str) -> Outcome:
    """Run a command in a process of its own."""
    done = subprocess.run(
        [PROGRAM, *words],
        env={**os.environ, **variables},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    return Outcome(status=done.returncode, stdout=done.stdout, stderr=done.stderr)


def write_key(path: Path, key: PrivateKey, *, passphrase: bytes | None = None, mode: int = 0o600) -> Path:
    """A private key file."""
    path.write_bytes(key.to_openssh(passphrase))
    path.chmod(mode)
    return path
