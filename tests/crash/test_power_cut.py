"""The power goes at every step: names that no fsync of their folder made durable may be there afterwards or not.

A file system may keep the younger of two names and lose the older one. What was acknowledged must not depend on luck.
"""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING

import pytest

from ledger.errors import StorageError
from ledger.log import Log
from ledger.store.anchor import FileAnchor
from ledger.store.directory import DirectoryStore
from ledger.verify import verify
from tests.support.faults import Died, VolatileDisk
from tests.support.files import checkpoint_path
from tests.support.ledgers import (
    LEDGER,
    NOTE_KEY,
    ORIGIN,
    SCORER_1,
    MemoryAnchor,
    genesis_draft,
    grant,
    keys_draft,
    open_log,
    round_draft,
    round_ids,
    start_small_ledger,
)

if TYPE_CHECKING:
    from pathlib import Path

STEPS = 45
SHARES = [0.5, 1.0]  # of the names that are not durable are lost; that none is lost, `test_injected.py` tries


@pytest.fixture(autouse=True)
def _no_wait_for_the_real_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """What an fsync makes durable is simulated."""
    monkeypatch.setattr("os.fsync", lambda _: None)


def ids(folder: Path) -> list[str]:
    result = verify(DirectoryStore(folder))
    assert result.findings == []
    assert result.log is not None
    return round_ids(result.log)


@pytest.mark.parametrize("share", SHARES)
def test_a_power_cut_at_every_step_of_two_appends_loses_nothing_acknowledged(ram_path: Path, share: float) -> None:
    # The second cut falls into the repair that the first one made necessary.
    undisturbed = []
    for first_cut in range(STEPS):
        rng = random.Random(first_cut)
        folder = ram_path / str(first_cut)
        anchor = MemoryAnchor()
        start_small_ledger(open_log(folder, anchor))
        acknowledged: list[str] = []
        for turn, cut_at in enumerate([first_cut, rng.randrange(STEPS), None]):
            disk = VolatileDisk(cut_at=cut_at)
            log = open_log(DirectoryStore(folder, disk), anchor)
            try:
                for group in (["a", "b"], ["c"]):
                    names = [f"{turn}-{name}" for name in group]
                    log.append([round_draft(name) for name in names])
                    acknowledged += names
            except Died:
                pass
            else:
                undisturbed.append((first_cut, turn))
            disk.cut(rng, share)
            found = ids(folder)
            assert [name for name in found if name in acknowledged] == acknowledged, (first_cut, turn)
            assert all((f"{turn}-a" in found) == (f"{turn}-b" in found) for turn in range(turn + 1))
    assert (0, 0) not in undisturbed
    assert (STEPS - 1, 0) in undisturbed  # every step has been cut


@pytest.mark.parametrize("share", SHARES)
def test_a_power_cut_at_every_step_of_a_new_ledger_leaves_one_or_none(ram_path: Path, share: float) -> None:
    for cut_at in range(STEPS):
        rng = random.Random(cut_at)
        folder = ram_path / str(cut_at)
        disk = VolatileDisk(cut_at=cut_at)
        try:
            open_log(DirectoryStore(folder, disk)).create(ORIGIN, genesis_draft())
        except Died:
            created = False
        else:
            created = True
        disk.cut(rng, share)
        assert checkpoint_path(folder).exists() or not created, cut_at
        if not checkpoint_path(folder).exists():
            open_log(folder).create(ORIGIN, genesis_draft())
        open_log(folder).append([keys_draft(grant(SCORER_1.public, "n1"))])
        open_log(folder).append([round_draft("next")])
        assert ids(folder) == ["next"], cut_at
    assert created  # the last cut came too late: every step has been cut


@pytest.mark.parametrize("size", [0, 1, 50])
def test_an_anchor_torn_by_a_power_cut_does_not_stop_the_ledger(
    ram_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    # A file that was not synced before it got its name may be empty or cut after a power cut.
    synced: set[int] = set()
    monkeypatch.setattr("os.fsync", lambda handle: synced.add(os.fstat(handle).st_ino))
    anchor = FileAnchor(ram_path / "state", NOTE_KEY.vkey)
    store = DirectoryStore(ram_path / "ledger")
    start_small_ledger(Log(store, LEDGER, lambda _: anchor))
    if anchor.path.stat().st_ino not in synced:
        anchor.path.write_bytes(anchor.path.read_bytes()[:size])
    try:
        Log(store, LEDGER, lambda _: anchor).append([round_draft("next")])
    except StorageError as err:
        pytest.fail(f"somebody has to remove a file by hand: {err}")
    assert ids(ram_path / "ledger") == ["next"]
