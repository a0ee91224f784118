"""Programs by other people that the tests call."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


def missing(what: str) -> None:
    """End the test: as a failure where everything must be there (CI), else as skipped."""
    if os.environ.get("CI"):
        pytest.fail(f"{what} is missing, and CI must have it")
    pytest.skip(f"{what} is not installed here")


def need(tool: str) -> None:
    """Go on only when a program is on PATH."""
    if shutil.which(tool) is None:
        missing(tool)


def status(*command: str | Path, cwd: Path | None = None) -> int:
    """Exit status of a command; its output is shown when the test fails."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, cwd=cwd)
    print(done.stdout, done.stderr)  # noqa: T201 - pytest shows it with a failed assertion
    return done.returncode


def output(*command: str | Path) -> str:
    """Standard output of a command that must succeed."""
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True).stdout
