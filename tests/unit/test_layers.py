"""Who may make what, and what is not even imported by those who only verify."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ledger.checkpoint import Checkpoint
from ledger.keys import PrivateKey
from ledger.merkle import EMPTY_ROOT, Tree
from ledger.note import NoteKey
from ledger.store.directory import DirectoryStore
from ledger.verified import VerifiedLog

KEY = NoteKey(name="example.org/bench", public=PrivateKey.from_seed(bytes([1]) * 32).public)
# Slow to import, or not for those who only read: validation of the odd value, locks, terminals, databases.
HEAVY = ("jsonschema", "filelock", "typer", "rich", "sqlmodel", "platformdirs", "referencing", "asyncio")


@pytest.mark.parametrize(
    "maker", [None, True, object(), "ledger.verify", VerifiedLog], ids=["none", "true", "object", "name", "class"]
)
def test_nobody_but_verify_makes_a_verified_log(tmp_path: Path, maker: object) -> None:
    with pytest.raises(TypeError, match=r"only ledger\.verify\.verify"):
        VerifiedLog(
            mode="full",
            key=KEY,
            checkpoint=Checkpoint(origin=KEY.name, size=0, root=EMPTY_ROOT),
            entries=(),
            tree=Tree(),
            fresh={},
            store=DirectoryStore(tmp_path),
            maker=maker,
        )


def test_the_maker_of_verified_logs_is_used_by_verify_alone() -> None:
    package = Path(sys.modules["ledger"].__path__[0])
    users = {path.relative_to(package).as_posix() for path in package.rglob("*.py") if "MAKER" in path.read_text()}
    assert users == {"verified.py", "verify.py"}
    program = package.parent / "cli"
    assert not [path for path in program.rglob("*.py") if "MAKER" in path.read_text()]


def loaded_by(statement: str) -> set[str]:
    """Top-level names of the modules that a statement loads in a new process."""
    code = f"import sys; {statement}; print(*{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize("module", ["ledger", "ledger.verify", "ledger.scoring.facts", "ledger.log", "ledger.ingest"])
def test_the_library_loads_nothing_heavy(module: str) -> None:
    assert loaded_by(f"import {module}") & set(HEAVY) == set()


def test_the_library_never_loads_the_program() -> None:
    statement = "import ledger.verify, ledger.log, ledger.ingest.build, ledger.scoring.facts, ledger.schema"
    assert "cli" not in loaded_by(statement)
