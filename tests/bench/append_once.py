"""Append one round to the ledger in the folder given, as a bot's process does: `python -m tests.bench.append_once`."""

from __future__ import annotations

import sys
from pathlib import Path

from ledger.caches import Caches
from ledger.store.directory import DirectoryStore
from tests.bench.rounds import draft, open_log

_FIRST_NUMBER = 10**6


def main() -> None:
    folder = Path(sys.argv[1])
    store = DirectoryStore(folder)
    log = open_log(folder, caches=Caches(snapshot=store.snapshot_file(), copies=store.copy_index()))
    log.append([draft(_FIRST_NUMBER + len(list((folder / "receipts").rglob("*.json"))))])


if __name__ == "__main__":
    main()
