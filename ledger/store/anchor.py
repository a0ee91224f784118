"""The anchor in the user's state folder: one file per ledger, named by its verification key.

It is keyed by origin and key, not by path: a ledger and a restored copy of it share one anchor, which is the point; two
ledgers of one user do not.
"""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

from ledger import note
from ledger.store.disk import read_file_if_any, storage_errors

if TYPE_CHECKING:
    from pathlib import Path


class FileAnchor:
    """A `ledger.store.Anchor` in a file.

    Args:
        folder: state folder of the user.
        vkey: verification key of the ledger.
    """

    def __init__(self, folder: Path, vkey: str) -> None:
        self.path = folder / "anchors" / (hashlib.sha256(vkey.encode()).hexdigest()[:32] + ".checkpoint")

    def read(self) -> bytes | None:
        """See `Anchor`."""
        return read_file_if_any(self.path, note.MAX_BYTES)

    def write(self, checkpoint: bytes) -> None:
        """See `Anchor`. The folder is not fsynced: an anchor that falls back still guards all that came before."""
        temporary = self.path.with_name(f".tmp-{os.getpid()}-{self.path.name}")
        with storage_errors("remember the checkpoint (set XDG_STATE_HOME to a writable folder)", self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with temporary.open("wb") as file:
                file.write(checkpoint)
                file.flush()
                os.fsync(file.fileno())  # or a power cut leaves the new name with an empty file
            temporary.replace(self.path)

    def describe(self) -> str:
        """See `Anchor`."""
        return str(self.path)
