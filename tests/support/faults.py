"""Disks that fail, processes that die and power that goes, at a step that the test chooses."""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeAlias

from ledger.store.disk import Disk, storage_errors

if TYPE_CHECKING:
    import random
    from collections.abc import Callable
    from pathlib import Path

Mode: TypeAlias = Literal["before", "half", "after"]


class Died(BaseException):
    """The process is gone at this step: no handler may reach the disk any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What goes wrong, and when.

    Attributes:
        at: number of the step, from 0.
        mode: the step fails before it does anything, halfway through a write, or after it has been done.
        number: error number; none when the process dies.
        lasting: every later step fails too.
    """

    at: int
    mode: Mode
    number: int | None
    lasting: bool = False

    def strike(self, path: Path) -> None:
        """Raise what the disk would."""
        if self.number is None:
            raise Died
        with storage_errors("do the step", path):
            raise OSError(self.number, os.strerror(self.number))


class FaultyDisk(Disk):
    """A disk that counts its steps and fails at one.

    Attributes:
        steps: what was asked for, in order: the step and the name of the file.
        fault: what fails; none for a healthy disk.
    """

    def __init__(self, fault: Fault | None = None) -> None:
        self.fault = fault
        self.steps: list[tuple[str, str]] = []
        self._dead = False

    def write(self, path: Path, data: bytes) -> None:
        def half() -> None:
            path.write_bytes(data[: len(data) // 2])

        self._step("write", path, partial(super().write, path, data), half)

    def link(self, temporary: Path, final: Path) -> None:
        self._step("link", final, partial(super().link, temporary, final))

    def replace(self, temporary: Path, final: Path) -> None:
        self._step("replace", final, partial(super().replace, temporary, final))

    def remove(self, path: Path) -> None:
        self._step("remove", path, partial(super().remove, path))

    def make_folder(self, path: Path) -> None:
        if not path.is_dir():
            self._step("make_folder", path, partial(super().make_folder, path))

    def sync_folder(self, path: Path) -> None:
        self._step("sync_folder", path, partial(super().sync_folder, path))

    def _step(self, name: str, path: Path, act: Callable[[], None], half: Callable[[], None] = lambda: None) -> None:
        number, fault = len(self.steps), self.fault
        self.steps.append((name, path.name))
        if self._dead:
            raise AssertionError(f"{name} {path} was tried by a process that is dead")
        if fault is None or number < fault.at or (number > fault.at and not fault.lasting):
            act()
            return
        if fault.mode == "after" and number == fault.at:
            act()
        elif fault.mode == "half" and number == fault.at:
            half()
        self._dead = fault.number is None
        fault.strike(path)


ENOSPC, EIO, EROFS = errno.ENOSPC, errno.EIO, errno.EROFS


@dataclass(slots=True)
class Undo:
    """One name in a folder that no fsync of the folder has made durable yet."""

    folder: Path
    revert: Callable[[], object]


@dataclass(slots=True, eq=False)
class VolatileDisk(Disk):
    """A disk that remembers which names are not durable yet, so that a power cut can take them back.

    Bytes of a file are durable once `write` has returned. Names are durable once their folder has been synced; before
    that a cut may keep or lose each of them.

    Attributes:
        pending: what a cut may undo, oldest first.
        cut_at: number of the step before which the power goes; none for never.
    """

    pending: list[Undo] = field(default_factory=list)
    cut_at: int | None = None
    step: int = 0

    def write(self, path: Path, data: bytes) -> None:
        self._tick()
        Disk.write(self, path, data)
        self._note(path.parent, partial(path.unlink, missing_ok=True))

    def link(self, temporary: Path, final: Path) -> None:
        self._tick()
        Disk.link(self, temporary, final)
        self._note(final.parent, partial(final.unlink, missing_ok=True))

    def replace(self, temporary: Path, final: Path) -> None:
        self._tick()
        before = final.read_bytes() if final.exists() else None
        after = temporary.read_bytes()
        Disk.replace(self, temporary, final)

        def revert() -> None:
            temporary.write_bytes(after)
            if before is None:
                final.unlink()
            else:
                final.write_bytes(before)

        self._note(final.parent, revert)

    def remove(self, path: Path) -> None:
        self._tick()
        if path.exists():
            data = path.read_bytes()
            Disk.remove(self, path)
            self._note(path.parent, partial(path.write_bytes, data))

    def make_folder(self, path: Path) -> None:
        if not path.is_dir():
            self._tick()
            Disk.make_folder(self, path)  # syncs the parents itself

    def sync_folder(self, path: Path) -> None:
        self._tick()
        Disk.sync_folder(self, path)
        self.pending = [undo for undo in self.pending if undo.folder != path]

    def cut(self, rng: random.Random, share: float) -> None:
        """Take back some of what is not durable.

        Args:
            rng: decides which.
            share: probability of each to be lost; 1 loses all, 0 nothing.
        """
        for undo in reversed(self.pending):
            if rng.random() < share:
                undo.revert()
        self.pending.clear()

    def _tick(self) -> None:
        if self.step == self.cut_at:
            raise Died
        self.step += 1

    def _note(self, folder: Path, revert: Callable[[], object]) -> None:
        self.pending.append(Undo(folder, revert))
