"""Receipt files, examined one after the other: in this process, or in several when there are many.

Reading, parsing, schemas and signatures need no more than a file and the keys, so they are spread over processes; what
needs the ledger's state (`ledger.admission`) stays with the one caller, who takes the results in the order of the
indices. Both ways call the same `examine_file`.
"""

from __future__ import annotations

import os
import signal
from collections import deque
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from ledger.errors import MalformedError, PolicyError, RefusedError, VerificationError
from ledger.examine import Claim, examine
from ledger.receipt import Seal, decode_receipt_bytes, file_digest
from ledger.store import MissingReceiptError, Store
from ledger.verified import Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from concurrent.futures import Future

    from ledger.keys import PublicKey
    from ledger.sealed import Taken

Keys: TypeAlias = "Mapping[str, PublicKey]"

CHUNK = 128
PARALLEL_FROM = 2000
MAX_JOBS = 8

_STALE_KEYS = {"E_KEY_UNKNOWN", "E_NO_GENESIS"}


class Examined(NamedTuple):
    """What a receipt file shows by itself. A tuple is made and pickled several times as quickly.

    Attributes:
        digest: its SHA-256; empty when the file is missing.
        kind: kind of its statement; empty when it could not be read.
        identity: identity of its statement; empty when it could not be read.
        seal: its seal; none when it could not be read.
        claim: for `ledger.admission`; none when there is a problem.
        problem: what does not hold.
    """

    digest: bytes
    kind: str = ""
    identity: bytes = b""
    seal: Seal | None = None
    claim: Claim | None = None
    problem: Finding | None = None


def examine_file(index: int, raw: bytes, keys: Keys) -> Examined:
    """Examine one receipt file under the keys that are known so far."""
    digest = file_digest(raw)
    try:
        receipt, in_domain = decode_receipt_bytes(raw)
    except MalformedError as err:
        return Examined(digest=digest, problem=Finding.of(err, index))
    statement = receipt.statement
    claim, problem = None, None
    try:
        claim = examine(receipt.signed, keys, in_domain=in_domain)
    except (MalformedError, VerificationError, RefusedError, PolicyError) as err:
        problem = Finding.of(err, index)
    return Examined(
        digest=digest,
        kind=statement.kind,
        identity=statement.identity,
        seal=receipt.seal,
        claim=claim,
        problem=problem,
    )


def examine_range(store: Store, start: int, stop: int, keys: Keys) -> list[Examined]:
    """Examine receipts `start` to `stop`: the work of one process."""
    return [_examine_at(store, index, keys) for index in range(start, stop)]


def _examine_at(store: Store, index: int, keys: Keys) -> Examined:
    try:
        raw = store.read_receipt(index)
    except MissingReceiptError as err:
        return Examined(digest=b"", problem=Finding.of(err, index))
    return examine_file(index, raw, keys)


def default_jobs(size: int) -> int:
    """How many processes pay for this many receipts: starting one costs as much as some hundred of them."""
    if size < PARALLEL_FROM:
        return 1
    return min(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1, MAX_JOBS)


def of_writer(taken: Taken) -> Examined:
    """What the writer in this process has found when it examined a receipt, just before it sealed it."""
    claim = taken.claim
    return Examined(digest=taken.digest, kind=claim.kind, identity=claim.identity, seal=taken.receipt.seal, claim=claim)


def examine_all(
    store: Store, indices: range, keys: Callable[[], Keys], jobs: int, taken: Mapping[int, Taken] | None = None
) -> Iterator[Examined]:
    """Examine receipts in the order of the indices.

    Args:
        store: where they are.
        indices: which; those of the whole ledger, or those that it has grown by.
        keys: gives the keys that are known after the results that were taken so far.
        jobs: number of processes.
        taken: receipts that the writer in this process has examined, by index.
    """
    split = indices.stop if jobs == 1 or taken else min(indices.start + CHUNK, indices.stop)
    for index in range(indices.start, split):
        yield of_writer(taken[index]) if taken and index in taken else _examine_at(store, index, keys())
    if split < indices.stop:
        yield from _examine_in_processes(store, range(split, indices.stop), keys, jobs)


def _examine_in_processes(store: Store, indices: range, keys: Callable[[], Keys], jobs: int) -> Iterator[Examined]:
    from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415 - slow to import, for large ledgers only

    with ProcessPoolExecutor(jobs, initializer=_ignore_interrupts) as pool:
        starts = iter(range(indices.start, indices.stop, CHUNK))
        waiting: deque[tuple[int, Future[list[Examined]]]] = deque()

        def submit() -> None:
            for start in starts:
                stop = min(start + CHUNK, indices.stop)
                waiting.append((start, pool.submit(examine_range, store, start, stop, dict(keys()))))
                return

        try:
            for _ in range(2 * jobs):
                submit()
            while waiting:
                start, future = waiting.popleft()
                for index, item in enumerate(future.result(), start):
                    yield _with_fresh_keys(store, index, item, keys())
                submit()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _with_fresh_keys(store: Store, index: int, item: Examined, keys: Keys) -> Examined:
    """Examine again what failed for a key that was granted after its chunk had been handed out."""
    if item.problem is None or item.problem.code not in _STALE_KEYS:
        return item
    return _examine_at(store, index, keys)


def _ignore_interrupts() -> None:
    """Ctrl-C is for the caller, who ends the processes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
