"""Every step to the disk fails once, in every way: no acknowledged receipt is lost, and nothing needs mending by hand.

A step fails before it does anything, after half of a write, or after it has been done; the disk is full, broken for a
moment or from then on, or the process dies. Afterwards the ledger is opened by a healthy process: it verifies, what was
acknowledged is there, what was not is wholly in or wholly out, and the next append works.
"""

from __future__ import annotations

import errno
import shutil
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import pytest

from ledger.errors import ConflictError, LedgerError, StorageError
from ledger.receipt import decode_receipt, file_digest
from ledger.store.directory import DirectoryStore, receipt_name
from ledger.verify import verify
from tests.support.attacker import Forgery
from tests.support.faults import EIO, ENOSPC, EROFS, Died, Fault, FaultyDisk, Mode
from tests.support.files import checkpoint_path, read_receipts, receipt_path, snapshot
from tests.support.ledgers import (
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
from tests.support.rounds import round_body

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ledger.draft import Draft
    from ledger.log import Log
    from ledger.sealed import Sealed

GROUP = ["a", "b", "c"]
MODES: list[Mode] = ["before", "half", "after"]
FAULTS = [
    pytest.param(mode, number, lasting, id=f"{name} {mode}")
    for name, number, lasting, modes in (
        ("full", ENOSPC, False, MODES),
        ("broken for good", EIO, True, MODES[::2]),
        ("dead", None, False, MODES),
    )
    for mode in modes
]
EVERY_FAULT = pytest.mark.parametrize(("mode", "number", "lasting"), FAULTS)


@pytest.fixture(autouse=True)
def _no_wait_for_the_real_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """The faults are simulated, so nothing has to reach the platters."""
    monkeypatch.setattr("os.fsync", lambda _: None)


@dataclass(slots=True)
class Bench:
    """A ledger on a disk that fails."""

    folder: Path
    anchor: MemoryAnchor = field(default_factory=MemoryAnchor)
    disk: FaultyDisk = field(default_factory=FaultyDisk)
    notices: list[str] = field(default_factory=list)

    def log(self, disk: FaultyDisk | None = None) -> Log:
        """A writer; on a healthy disk unless one is given."""
        store = DirectoryStore(self.folder, disk or FaultyDisk())
        return open_log(store, self.anchor, notice=self.notices.append)

    def ids(self) -> list[str]:
        """Ids of the rounds in the ledger, which must verify."""
        result = verify(DirectoryStore(self.folder))
        assert result.findings == []
        assert result.log is not None
        return round_ids(result.log)

    def set_aside(self) -> dict[str, bytes]:
        """Files that a repair has moved away."""
        folder = self.folder / ".rungbook" / "uncommitted"
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in folder.rglob("*.json")}


def fail(act: Callable[[], object], number: int | None) -> None:
    """The step's fault comes out of the call as what it is."""
    with pytest.raises((LedgerError, Died)) as caught:
        act()
    if number is None:
        assert isinstance(caught.value, Died)
    else:
        assert isinstance(caught.value, StorageError)
        assert caught.value.code == {ENOSPC: "E_DISK_FULL", EIO: "E_IO"}[number]


def steps_of(act: Callable[[Bench], object], bench: Bench) -> int:
    """How many steps to the disk a call takes when nothing fails."""
    bench.disk = FaultyDisk()
    act(bench)
    return len(bench.disk.steps)


def group_drafts() -> list[Draft]:
    return [round_draft(name) for name in GROUP]


def append_group(bench: Bench) -> list[Sealed]:
    return bench.log(bench.disk).append(group_drafts())


@pytest.fixture(scope="module")
def pattern(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """Genesis, grant and one acknowledged round: to be copied."""
    bench = Bench(tmp_path_factory.mktemp("pattern"))
    log = bench.log()
    start_small_ledger(log)
    log.append([round_draft("first")])
    return bench


@pytest.fixture
def small_bench(pattern: Bench) -> Callable[[Path], Bench]:
    """Makes a copy of the pattern in a folder."""

    def copy(folder: Path) -> Bench:
        shutil.copytree(pattern.folder, folder, dirs_exist_ok=True)
        return Bench(folder, MemoryAnchor(pattern.anchor.read()))

    return copy


def check_aside(bench: Bench) -> None:
    """Every file that was set aside is still there, whole, and a notice names it."""
    for name, data in bench.set_aside().items():
        assert any(name in notice for notice in bench.notices), (name, bench.notices)
        assert decode_receipt(data).statement.body["id"] in GROUP


@EVERY_FAULT
def test_a_group_survives_a_fault_at_every_step(
    ram_path: Path, small_bench: Callable[[Path], Bench], mode: Mode, number: int | None, *, lasting: bool
) -> None:
    steps = steps_of(append_group, small_bench(ram_path / "counted"))
    assert steps > 3 * len(GROUP)
    for at in range(steps):
        bench = small_bench(ram_path / str(at))
        acknowledged = read_receipts(bench.folder)
        bench.disk = FaultyDisk(Fault(at=at, mode=mode, number=number, lasting=lasting))
        fail(partial(append_group, bench), number)
        assert bench.ids() in (["first"], ["first", *GROUP]), at
        committed = bench.ids() == ["first", *GROUP]
        replaced = ("replace", "checkpoint") in bench.disk.steps[: at + (mode == "after")]
        assert committed == replaced, at

        assert [item.index for item in bench.log().append([round_draft("next")])] == [3 + 3 * committed]
        assert bench.ids() == ["first", *(GROUP if committed else []), "next"], at
        assert read_receipts(bench.folder)[: len(acknowledged)] == acknowledged
        check_aside(bench)

        again = bench.log().append(group_drafts())
        assert [item.existed for item in again] == [committed] * 3, at
        assert sorted(bench.ids()) == sorted(["first", "next", *GROUP]), at


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("number", [ENOSPC, EIO])
def test_the_same_writer_goes_on_after_a_fault_at_every_step(
    ram_path: Path, small_bench: Callable[[Path], Bench], mode: Mode, number: int
) -> None:
    steps = steps_of(append_group, small_bench(ram_path / "counted"))
    for at in range(steps):
        bench = small_bench(ram_path / str(at))
        disk = FaultyDisk(Fault(at=at, mode=mode, number=number))
        log = bench.log(disk)
        fail(partial(log.append, group_drafts()), number)
        done = log.append(group_drafts())
        assert [item.index for item in done] == [3, 4, 5], at
        log.append([round_draft("next")])
        assert bench.ids() == ["first", *GROUP, "next"], at
        check_aside(bench)


def init(bench: Bench) -> Sealed:
    return bench.log(bench.disk).create(ORIGIN, genesis_draft())


@EVERY_FAULT
def test_a_new_ledger_survives_a_fault_at_every_step(
    ram_path: Path, mode: Mode, number: int | None, *, lasting: bool
) -> None:
    steps = steps_of(init, Bench(ram_path / "counted"))
    assert steps > 8
    for at in range(steps):
        bench = Bench(ram_path / str(at), disk=FaultyDisk(Fault(at=at, mode=mode, number=number, lasting=lasting)))
        fail(partial(init, bench), number)
        if checkpoint_path(bench.folder).exists():
            with pytest.raises(LedgerError) as caught:
                bench.log().create(ORIGIN, genesis_draft())
            assert caught.value.code == "E_LEDGER_EXISTS", at
        else:
            bench.log().create(ORIGIN, genesis_draft())
        bench.log().append([keys_draft(grant(SCORER_1.public, "n1"))])
        bench.log().append([round_draft("next")])
        assert bench.ids() == ["next"], at


def leave_tail(bench: Bench) -> dict[str, bytes]:
    """Files of a group whose writer died before the commit, and one that it had not finished."""
    forgery = Forgery.of(bench.folder)
    for name in GROUP:
        forgery.add(forgery.state("round", round_body(name), SCORER_1))
    tail = forgery.files()[3:]
    for index, raw in enumerate(tail, start=3):
        receipt_path(bench.folder, index).write_bytes(raw)
    receipt_path(bench.folder, 0).with_name(".tmp-1-006.json").write_bytes(b'{"receipt":')
    return {receipt_name(index).replace("/", ""): raw for index, raw in enumerate(tail, start=3)}


@EVERY_FAULT
def test_a_repair_survives_a_fault_at_every_step(
    ram_path: Path, small_bench: Callable[[Path], Bench], mode: Mode, number: int | None, *, lasting: bool
) -> None:
    counted = small_bench(ram_path / "counted")
    leave_tail(counted)
    steps = steps_of(append_group, counted)
    assert steps > 20
    for at in range(steps):
        bench = small_bench(ram_path / str(at))
        tail = leave_tail(bench)
        bench.disk = FaultyDisk(Fault(at=at, mode=mode, number=number, lasting=lasting))
        fail(partial(append_group, bench), number)
        committed = bench.ids() == ["first", *GROUP]
        assert committed or bench.ids() == ["first"], at
        bench.log().append([round_draft("next")])
        assert bench.ids() == ["first", *(GROUP if committed else []), "next"], at
        kept = bench.set_aside().items()
        for name, raw in tail.items():
            assert any(path.endswith(name) and data == raw for path, data in kept), (at, name)
        assert not [name for name in snapshot(bench.folder) if ".tmp-" in name], at


def test_what_was_set_aside_is_told_by_name(ram_path: Path, small_bench: Callable[[Path], Bench]) -> None:
    bench = small_bench(ram_path)
    tail = leave_tail(bench)
    bench.log().append([round_draft("next")])
    assert {path.rpartition("/")[2]: data for path, data in bench.set_aside().items()} == tail
    for index, path in zip((5, 4, 3), sorted(bench.set_aside(), reverse=True), strict=True):
        assert f"receipt file {index} was never committed; moved to {path}" in bench.notices
    assert "removed the unfinished file receipts/000/000/.tmp-1-006.json" in bench.notices


def test_a_tail_that_appears_while_a_writer_lives_is_set_aside_too(
    ram_path: Path, small_bench: Callable[[Path], Bench]
) -> None:
    # Another process died between its receipts and its checkpoint, after this one had looked.
    bench = small_bench(ram_path)
    log = bench.log()
    log.append([])
    tail = leave_tail(bench)
    log.append([round_draft("next")])
    assert bench.ids() == ["first", "next"]
    assert {path.rpartition("/")[2]: data for path, data in bench.set_aside().items()} == tail


def test_a_repair_does_not_touch_the_receipts_of_another_history_that_arrives_meanwhile(
    ram_path: Path, small_bench: Callable[[Path], Bench]
) -> None:
    # Somebody pulls the newer ledger into the folder while this writer is between its look and its first file. The
    # lock does not keep version control out; the receipts that came with a checkpoint are committed ones.
    bench = small_bench(ram_path / "ledger")
    newer = small_bench(ram_path / "newer")
    newer.log().append([round_draft("pulled")])

    class PulledInto(FaultyDisk):
        def write(self, path: Path, data: bytes) -> None:
            if not self.steps:
                receipt_path(bench.folder, 3).write_bytes(receipt_path(newer.folder, 3).read_bytes())
                checkpoint_path(bench.folder).write_bytes(checkpoint_path(newer.folder).read_bytes())
            super().write(path, data)

    with pytest.raises(ConflictError) as caught:
        bench.log(PulledInto()).append([round_draft("own")])
    assert caught.value.code == "E_HEAD_MOVED"
    assert bench.ids() == ["first", "pulled"]
    bench.log().append([round_draft("own")])
    assert bench.ids() == ["first", "pulled", "own"]


def test_a_read_only_folder_is_status_4_and_changes_nothing(
    ram_path: Path, small_bench: Callable[[Path], Bench]
) -> None:
    bench = small_bench(ram_path)
    before = snapshot(ram_path)
    bench.disk = FaultyDisk(Fault(at=0, mode="before", number=EROFS, lasting=True))
    with pytest.raises(StorageError) as caught:
        append_group(bench)
    assert caught.value.code == "E_READ_ONLY"
    assert snapshot(ram_path) == before


@pytest.mark.parametrize("failing", [0, 1, 2, 3])
def test_an_fsync_that_failed_is_never_tried_again(
    ram_path: Path, small_bench: Callable[[Path], Bench], monkeypatch: pytest.MonkeyPatch, failing: int
) -> None:
    # The kernel drops the pages and reports success the second time: only writing the data anew can be trusted.
    bench = small_bench(ram_path)
    log = bench.log(bench.disk)
    log.append([])
    calls: list[int] = []

    def fsync(_: int) -> None:
        calls.append(len(calls))
        if len(calls) == failing + 1:
            raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr("os.fsync", fsync)
    with pytest.raises(StorageError) as caught:
        log.append(group_drafts())
    assert caught.value.code == "E_IO"
    assert len(calls) == failing + 1  # nothing was synced after it
    assert ("replace", "checkpoint") not in bench.disk.steps
    assert bench.ids() == ["first"]

    bench.disk.steps.clear()
    log.append(group_drafts())
    steps = [step for step, _ in bench.disk.steps]
    assert steps.index("remove") < steps.index("write")  # what the failed attempt left is out of the way first
    assert steps.count("write") == len(GROUP) + 1  # every receipt and the checkpoint: nothing of it is used again
    assert bench.ids() == ["first", *GROUP]


def test_a_read_that_fails_is_not_taken_for_not_there(ram_path: Path, small_bench: Callable[[Path], Bench]) -> None:
    # Whoever takes an unreadable receipt for an absent one seals a statement twice.
    bench = small_bench(ram_path)

    class Unreadable(DirectoryStore):
        broken = False

        def read_receipt(self, index: int) -> bytes:
            if self.broken:
                raise StorageError("E_IO", "cannot read", index=index)
            return super().read_receipt(index)

    store = Unreadable(ram_path)
    log = open_log(store, bench.anchor)
    log.append([])
    store.broken = True
    before = snapshot(ram_path)
    with pytest.raises(StorageError):
        log.append([round_draft("first")])
    assert snapshot(ram_path) == before
    store.broken = False
    (found,) = log.append([round_draft("first")])
    assert (found.index, found.existed, found.digest) == (2, True, file_digest(read_receipts(ram_path)[2]))


def test_an_uncommitted_file_of_any_length_never_stops_opening(
    ram_path: Path, small_bench: Callable[[Path], Bench]
) -> None:
    bench = small_bench(ram_path / "ledger")
    forgery = Forgery.of(bench.folder)
    forgery.add(forgery.state("round", round_body("lost"), SCORER_1))
    whole = forgery.files()[3]
    for length in sorted({*range(0, len(whole), 41), 1, 2, len(whole) - 1, len(whole)}):
        bench = small_bench(ram_path / str(length))
        receipt_path(bench.folder, 3).write_bytes(whole[:length])
        result = verify(DirectoryStore(bench.folder), mode="quick")
        assert result.findings == []
        assert any("1 receipt file(s) from index 3 on" in text for text in result.not_checked)
        assert [item.index for item in bench.log().append([round_draft("next")])] == [3]
        assert list(bench.set_aside().values()) == [whole[:length]]
        assert bench.ids() == ["first", "next"]


@pytest.mark.parametrize("length", [0, 1, 60, 150])
def test_an_unfinished_checkpoint_beside_the_good_one_never_stops_opening(
    ram_path: Path, small_bench: Callable[[Path], Bench], length: int
) -> None:
    bench = small_bench(ram_path)
    newer = checkpoint_path(ram_path).read_bytes()[:length]
    checkpoint_path(ram_path).with_name(".tmp-99-checkpoint").write_bytes(newer)
    assert bench.ids() == ["first"]
    bench.log().append([round_draft("next")])
    assert bench.ids() == ["first", "next"]
    assert sorted(path.name for path in (ram_path / "receipts").iterdir()) == ["000", "checkpoint"]
