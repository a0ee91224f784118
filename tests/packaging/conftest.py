"""What is packaged: a wheel built from this source tree, or the installed one when the tests run against it."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import ledger

ROOT = Path(__file__).resolve().parents[2]
RUNS_ON_SOURCE = Path(str(ledger.__file__)).resolve().is_relative_to(ROOT / "ledger")
# Written by the installer, not by the wheel.
_BY_INSTALLER = {"INSTALLER", "REQUESTED", "direct_url.json", "RECORD"}


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Contents of the wheel, by name."""
    if not RUNS_ON_SOURCE:
        return _read_installed()
    folder = tmp_path_factory.mktemp("dist")
    words: list[str | Path] = [
        sys.executable,
        "-m",
        "build",
        "--quiet",
        "--no-isolation",
        "--wheel",
        "--outdir",
        folder,
        ROOT,
    ]
    subprocess.run(words, check=True, capture_output=True)
    (path,) = folder.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if name.rpartition("/")[2] not in _BY_INSTALLER]
        return {name: archive.read(name) for name in names}


def _read_installed() -> dict[str, bytes]:
    files = importlib.metadata.files("rungbook") or []
    kept = [
        file for file in files if file.suffix != ".pyc" and file.parts[0] != ".." and file.name not in _BY_INSTALLER
    ]
    return {file.as_posix(): Path(str(file.locate())).read_bytes() for file in kept}
