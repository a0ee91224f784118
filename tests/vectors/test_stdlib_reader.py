"""The independent reader: agrees with the golden ledger, and with no altered copy of it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ledger.checkpoint import Checkpoint, sign_checkpoint
from ledger.merkle import Tree
from ledger.receipt import file_digest
from tests.vectors import golden_ledger as golden

READER = Path(__file__).parents[1] / "tools" / "stdlib_reader.py"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the golden ledger that a test may alter."""
    shutil.copytree(golden.FOLDER / "receipts", tmp_path / "receipts")
    return tmp_path


def run(folder: Path) -> tuple[int, str]:
    """Status and output of the reader, started without site-packages: it cannot reach the ledger's code."""
    command = [sys.executable, "-I", "-S", str(READER), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.returncode, done.stdout


def test_the_reader_is_at_most_80_lines_and_imports_the_standard_library_only() -> None:
    lines = READER.read_text().splitlines()
    assert len(lines) <= 80
    imported = {line.split()[1].partition(".")[0] for line in lines if line.startswith(("import ", "from "))}
    assert imported
    assert imported <= sys.stdlib_module_names


def test_the_reader_agrees_with_the_golden_ledger(folder: Path) -> None:
    status, output = run(folder)
    assert status == 0
    assert "checkpoint 3 receipts" in output
    assert Tree(map(file_digest, golden.read_receipts())).root().hex() in output
    assert "signatures are not checked" in output


@pytest.mark.parametrize("size", [0, 1, 2])
def test_the_reader_agrees_with_every_earlier_state_and_says_what_it_does_not_count(folder: Path, size: int) -> None:
    files = golden.read_receipts()[:size]
    checkpoint = Checkpoint(origin="golden", size=size, root=Tree(map(file_digest, files)).root())
    (folder / "receipts/checkpoint").write_bytes(sign_checkpoint(checkpoint, golden.KEYS["ledger"]))
    status, output = run(folder)
    assert status == 0
    assert f"not counted by the checkpoint: {3 - size} files" in output


@pytest.mark.parametrize("index", range(3))
def test_the_reader_refuses_a_receipt_with_a_flipped_bit(folder: Path, index: int) -> None:
    path = folder / golden.RECEIPTS[index]
    raw = path.read_bytes()
    for at in (0, len(raw) // 3, len(raw) // 2, len(raw) - 1):
        bad = bytearray(raw)
        bad[at] ^= 1
        path.write_bytes(bad)
        status, output = run(folder)
        assert status == 1
        assert "does NOT agree" in output
        assert "the receipts have the root" in output
        if index < 2:
            assert f"receipt {index + 1} follows" in output


@pytest.mark.parametrize("index", range(3))
def test_the_reader_refuses_a_ledger_with_a_receipt_dropped(folder: Path, index: int) -> None:
    (folder / golden.RECEIPTS[index]).unlink()
    status, output = run(folder)
    assert status == 1
    assert f"receipt {index} is missing" in output


@pytest.mark.parametrize(("one", "other"), [(0, 1), (0, 2), (1, 2)])
def test_the_reader_refuses_receipts_in_another_order(folder: Path, one: int, other: int) -> None:
    files = golden.read_receipts()
    (folder / golden.RECEIPTS[one]).write_bytes(files[other])
    (folder / golden.RECEIPTS[other]).write_bytes(files[one])
    status, output = run(folder)
    assert status == 1
    assert f"receipt {one} says that it is number {other}" in output


def test_the_reader_refuses_a_broken_chain_even_below_a_root_that_fits(folder: Path) -> None:
    # Whoever holds the ledger key can sign any root; the chain must be looked at for its own sake.
    path = folder / golden.RECEIPTS[1]
    path.write_bytes(path.read_bytes().replace(b'"prev":"5ddb', b'"prev":"5ddc'))
    files = [(folder / name).read_bytes() for name in golden.RECEIPTS]
    checkpoint = Checkpoint(origin="golden", size=3, root=Tree(map(file_digest, files)).root())
    (folder / "receipts/checkpoint").write_bytes(sign_checkpoint(checkpoint, golden.KEYS["ledger"]))
    status, output = run(folder)
    assert status == 1
    assert "receipt 1 follows 5ddc" in output
    assert "the receipts have the root" not in output


@pytest.mark.parametrize(
    ("old", "new"),
    [(b"\n3\n", b"\n2\n"), (b"\n3\n", b"\n4\n"), (b"\n3\n", b"\n03\n"), (b"5n9n", b"5n9m"), (b"\n3\n", b"\nx\n")],
)
def test_the_reader_refuses_an_altered_checkpoint(folder: Path, old: bytes, new: bytes) -> None:
    path = folder / "receipts/checkpoint"
    assert path.read_bytes().count(old) == 1
    path.write_bytes(path.read_bytes().replace(old, new))
    status, output = run(folder)
    assert status == 1
    assert "does NOT agree" in output


def test_the_reader_refuses_a_folder_without_a_checkpoint(folder: Path) -> None:
    (folder / "receipts/checkpoint").unlink()
    status, output = run(folder)
    assert status == 1
    assert "there is no readable ledger" in output
