"""Keys and ledgers for the tests of the commands."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from tests.cli.program import OK, Result, run
from tests.cli.samples import NODE

if TYPE_CHECKING:
    from pathlib import Path

ORIGIN = "example.org/bench"
NAMES = ("root", "root-2", "ledger", "scorer", "contributor", "stranger")


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """A ledger, and the keys of the people around it, as files outside of it."""

    root: Path
    keys: Path

    def key(self, name: str) -> Path:
        """A private key file."""
        return self.keys / name

    def pub(self, name: str) -> Path:
        """A public key file."""
        return self.keys / f"{name}.pub"

    def run(self, *words: str | Path, status: int = OK) -> Result:
        """Run the program in the ledger's folder and insist on its exit status."""
        done = run(*words, cwd=self.root)
        assert done.status == status, done
        return done

    def receipt(self, index: int) -> Path:
        """A receipt file."""
        return self.root / "receipts" / "000" / "000" / f"{index:03d}.json"

    @property
    def size(self) -> int:
        """Number of receipts that the checkpoint commits to."""
        return int((self.root / "receipts" / "checkpoint").read_text().splitlines()[1])


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of keys."""
    folder = tmp_path_factory.mktemp("keys")
    for name in NAMES:
        assert run("key", "new", folder / name).status == OK
    return folder


@pytest.fixture
def empty_desk(tmp_path: Path, keys: Path) -> Desk:
    """Keys, and a folder in which there is no ledger yet."""
    folder = tmp_path / "ledger"
    folder.mkdir()
    return Desk(root=folder, keys=keys)


@pytest.fixture
def new_desk(empty_desk: Desk) -> Desk:
    """A ledger with its genesis only."""
    return start_ledger(empty_desk)


def start_ledger(desk: Desk) -> Desk:
    """Make the ledger of an empty desk."""
    desk.run("init", "--origin", ORIGIN, "--root-key", desk.key("root"), "--ledger-key", desk.key("ledger"))
    return desk


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory, keys: Path) -> Path:
    """A folder with what `desk` copies: a ledger, and the state folder of its writer."""
    folder = tmp_path_factory.mktemp("model")
    (folder / "ledger").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        desk = start_ledger(Desk(root=folder / "ledger", keys=keys))
        by_root = ("--key", desk.key("root"))
        desk.run("grant", desk.pub("scorer"), "--role", "scorer", "--node", NODE, *by_root)
        desk.run("grant", desk.pub("contributor"), "--role", "contributor", *by_root)
    return folder


@pytest.fixture
def desk(empty_desk: Desk, model: Path) -> Desk:
    """A ledger with a scorer for one node and a contributor: three receipts."""
    shutil.copytree(model / "ledger", empty_desk.root, dirs_exist_ok=True)
    shutil.copytree(model / "state", os.environ["XDG_STATE_HOME"], dirs_exist_ok=True)
    return empty_desk
