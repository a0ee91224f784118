"""A disk that is really full, a limit on file sizes, a file system that is read-only: status 4, and later it works."""

from __future__ import annotations

import os
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import orjson
import pytest

from ledger.errors import StorageError
from ledger.store.directory import DirectoryStore
from ledger.verify import verify
from tests.support import commands
from tests.support.attacker import dump
from tests.support.files import snapshot
from tests.support.ledgers import LEDGER, SCORER_1, MemoryAnchor, open_log, round_draft, start_small_ledger
from tests.support.rounds import round_body

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def small_disk(folder: Path) -> Iterator[None]:
    """A file system of one megabyte in a folder."""
    folder.mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], check=True, capture_output=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def may_mount() -> bool:
    """Whether this process may mount a file system."""
    with tempfile.TemporaryDirectory() as name:
        try:
            with small_disk(Path(name)):
                return True
        except (subprocess.CalledProcessError, OSError):
            return False


if may_mount():  # elsewhere the injected faults and the limit on file sizes stand in; a skipped test would fail in CI

    def test_a_full_disk_at_any_moment_of_an_append_loses_nothing(tmp_path: Path) -> None:
        folder = tmp_path / "disk"
        anchor = MemoryAnchor()
        outcomes = set()
        with small_disk(folder):
            start_small_ledger(open_log(folder, anchor))
            for pages in range(12):
                filler = folder / "filler"
                free = os.statvfs(folder)
                filler.write_bytes(bytes((free.f_bavail - pages) * free.f_frsize))
                size = len(snapshot(folder))
                names = [f"{pages}-{number}" for number in range(3)]
                try:
                    open_log(folder, anchor).append([round_draft(name) for name in names])
                except StorageError as err:
                    outcomes.add(err.code)
                else:
                    outcomes.add("sealed")
                filler.unlink()
                sealed = open_log(folder, anchor).append([round_draft(name) for name in names])
                assert len({item.existed for item in sealed}) == 1  # the group was in the ledger, or not at all
                assert verify(DirectoryStore(folder)).findings == []
                assert len(snapshot(folder)) == size + len(names)
        assert outcomes == {"E_DISK_FULL", "sealed"}

    def test_a_read_only_disk_is_status_4(tmp_path: Path) -> None:
        folder = tmp_path / "disk"
        anchor = MemoryAnchor()
        with small_disk(folder):
            start_small_ledger(open_log(folder, anchor))
            subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
            with pytest.raises(StorageError) as caught:
                open_log(folder, anchor).append([round_draft("next")])
            assert caught.value.code == "E_READ_ONLY"
            assert verify(DirectoryStore(folder)).findings == []  # reading needs no place to write
            subprocess.run(["mount", "-o", "remount,rw", folder], check=True)
            open_log(folder, anchor).append([round_draft("next")])
            assert verify(DirectoryStore(folder)).findings == []


@pytest.mark.parametrize("blocks", [0, 1, 2])
def test_a_file_size_limit_is_a_full_disk_for_the_command(tmp_path: Path, blocks: int) -> None:
    # 0: not even the anchor can be written; 1: it can, at 512 bytes, a receipt cannot; 2: nor can it at 1024.
    folder = tmp_path / "ledger"
    start_small_ledger(open_log(folder))
    key = commands.write_key(tmp_path / "scorer", SCORER_1)
    ledger_key = commands.write_key(tmp_path / "ledger-key", LEDGER)
    path = tmp_path / "round.json"
    path.write_bytes(dump(round_body("next")))
    words: list[str | Path] = ["append", path, "--key", key, "--ledger-key", ledger_key, "-C", folder, "--json"]
    script = f'ulimit -f {blocks}; exec "$@"'
    before = {name: data for name, data in snapshot(folder).items() if ".tmp-" not in name}
    done = subprocess.run(["sh", "-c", script, "sh", commands.PROGRAM, *words], capture_output=True, check=False)
    assert done.returncode == 4, done.stderr
    error = orjson.loads(done.stdout)["error"]
    assert (error["class"], error["code"]) == ("StorageError", "E_DISK_FULL")
    assert {name: data for name, data in snapshot(folder).items() if ".tmp-" not in name} == before
    again = commands.run(*words)
    assert again.status == 0, again.stderr
    assert not [name for name in snapshot(folder) if ".tmp-" in name]
    assert commands.run("verify", "-C", folder).status == 0


def test_a_ledger_in_a_folder_that_is_a_file_is_status_4(tmp_path: Path) -> None:
    (tmp_path / "ledger").mkdir()
    (tmp_path / "ledger" / "receipts").write_text("in the way")
    root = commands.write_key(tmp_path / "root", SCORER_1)
    ledger_key = commands.write_key(tmp_path / "ledger-key", LEDGER)
    done = commands.run(
        *("init", tmp_path / "ledger", "--origin", "ledger.example/x", "--root-key", root),
        *("--ledger-key", ledger_key, "--json"),
    )
    assert done.status == 4, done.stderr
    assert done.document()["error"]["class"] == "StorageError"
