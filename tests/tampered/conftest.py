"""A healthy ledger, made once and copied for each test."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests.support.ledgers import build_ledger

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def healthy_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ledger of `build_ledger`: to be read only."""
    folder = tmp_path_factory.mktemp("healthy")
    build_ledger(folder)
    return folder


@pytest.fixture
def ledger_folder(healthy_folder: Path, ram_path: Path) -> Path:
    """A copy that a test may tamper with."""
    folder = ram_path / "ledger"
    shutil.copytree(healthy_folder, folder)
    return folder
