"""README.md shows what the commands print, and its pins are those of the project's own ledger."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from ledger.note import parse_vkey
from ledger.store.directory import DirectoryStore
from ledger.verified import Pins
from ledger.verify import verify
from tests.tools import readme_commands

README = Path(__file__).resolve().parents[2] / "README.md"
OWN = README.parent

_TOOLS = ("bash", "jq", "openssl", "sha256sum", "sed")
_VKEY = re.compile(r"`(rungbook/own\+[0-9a-f]{8}\+[A-Za-z0-9+/=]+)`")
_GENESIS = re.compile(r"genesis receipt has SHA-256\s+`([0-9a-f]{64})`")


@pytest.mark.usefixtures("need_tools")
def test_every_command_of_the_readme_prints_what_the_readme_shows(tmp_path: Path) -> None:
    blocks = readme_commands.read_commands(README.read_text())
    readme_commands.run_commands(blocks, tmp_path)
    commands = [command for block in blocks for command in block]
    assert len(commands) > 20
    for command in commands:
        assert readme_commands.normalise(command.printed) == readme_commands.normalise(command.shown), command.text


def test_the_comparison_notices_another_output() -> None:
    assert readme_commands.normalise(["verified"]) != readme_commands.normalise(["refuted"])
    assert readme_commands.normalise(["sealed receipt 1"]) != readme_commands.normalise(["sealed receipt 2"])


def test_the_own_ledger_verifies_under_the_key_and_the_genesis_that_the_readme_pins() -> None:
    text = README.read_text()
    vkey, genesis = _VKEY.search(text), _GENESIS.search(text)
    assert vkey, "README.md names the verification key of receipts/"
    assert genesis, "README.md names the genesis digest of receipts/"
    pins = Pins(key=parse_vkey(vkey.group(1)), genesis=genesis.group(1))
    result = verify(DirectoryStore(OWN), pins=pins)
    assert result.findings == []
    assert result.unknown == []
    assert result.log is not None
    assert result.kinds["round"] >= 2


@pytest.fixture
def need_tools() -> None:
    missing = [name for name in _TOOLS if shutil.which(name) is None]
    if missing:
        pytest.skip(f"README's commands need {', '.join(missing)}")
