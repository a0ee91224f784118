"""Generated rounds for the benchmarks: realistic, all different, the same on every machine.

One round is a session of six repetitions, `main` and `candidate` alternated, each with 30 requests in columns:
prompt_tokens, completion_tokens, ttft_ns and e2e_ns. With the header that a careful bot writes (node, weights, harness,
toolchains, parity at two depths, a guard, one shortcut, one attachment) a sealed receipt has about 10 kB. Ids, times,
numbers and the digests of code, binaries and logs come from a generator with a fixed seed and never repeat; what one
node says again and again repeats here too: its description, labels, weights, harness, settings.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import random
from typing import TYPE_CHECKING, Any

from ledger.caches import NO_CACHES, Caches
from ledger.draft import Draft
from ledger.keys import PrivateKey
from ledger.log import Log
from ledger.store.directory import DirectoryStore
from ledger.store.disk import Disk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


ORIGIN = "bench.example/ledger"
NODE = "h200-sxm-8a"
SEED = 20261129
REPS = 6
REQUESTS = 30
GROUP = 100

LEDGER_KEY = PrivateKey.from_seed(bytes([1]) * 32)
ROOT_KEY = PrivateKey.from_seed(bytes([2]) * 32)
SCORER_KEY = PrivateKey.from_seed(bytes([3]) * 32)

_WEIGHTS = hashlib.sha256(b"weights").hexdigest()
_HARNESS = hashlib.sha256(b"harness").hexdigest()


class MemoryAnchor:
    """An anchor that forgets: the benchmarks' ledgers live for one run."""

    def __init__(self) -> None:
        self._checkpoint: bytes | None = None

    def read(self) -> bytes | None:
        return self._checkpoint

    def write(self, checkpoint: bytes) -> None:
        self._checkpoint = checkpoint

    def describe(self) -> str:
        return "memory"


class Clock:
    """A clock that goes on by a second with every reading."""

    def __init__(self) -> None:
        self._now = dt.datetime(2026, 11, 29, 20, 0, tzinfo=dt.UTC)

    def __call__(self) -> dt.datetime:
        self._now += dt.timedelta(seconds=1)
        return self._now


def round_body(number: int, *, requests: int = REQUESTS, gaps: bool = False) -> dict[str, Any]:
    """One round.

    Args:
        number: which one; its contents follow from it.
        requests: requests per repetition.
        gaps: with the gaps between pieces of every answer (``itl_ns``), a column of lists.
    """
    rng = random.Random(SEED + number)
    start = dt.datetime(2026, 11, 1, tzinfo=dt.UTC) + dt.timedelta(seconds=611 * number)
    return {
        "id": f"bench-{number:07d}",
        "purpose": "score",
        "slot": {"project": "tandem", "node": NODE, "quant": "fp8", "context": 4096, "metric": "decode_tok_s"},
        "protocol": {"name": "serve-ab", "version": "3", "description": "alternated arms, closed loop, fixed prompts"},
        "environment": {
            "cpu": "2 x Xeon Platinum 8480C",
            "gpu": "NVIDIA H200",
            "gpus": 8,
            "cores": 112,
            "memory_bytes": 2164663517184,
            "os": "Ubuntu 24.04.1 LTS",
            "kernel": "6.8.0-49-generic",
            "driver": "560.35.03",
            "runtime": "CUDA 12.6",
            "governor": "performance",
            "load": f"{rng.uniform(0.1, 2):.2f}",
        },
        "weights": {"sha256": _WEIGHTS, "name": "tandem-70b-instruct", "size": 70553706496, "type": "safetensors"},
        "harness": {"sha256": _HARNESS, "name": "serve-bench", "version": "0.9.4"},
        "arms": [_arm(rng, "main"), _arm(rng, "candidate")],
        "reps": [_rep(rng, order, start, requests=requests, gaps=gaps) for order in range(REPS)],
        "parity": [
            {
                "arm": arm,
                "depth": depth,
                "trials": 512,
                "kl": f"0.000{rng.randrange(10, 1000):03d}",
                "top1": f"0.99{rng.randrange(100):02d}",
                "path": "fp8 kv, chunked prefill",
            }
            for arm in ("main", "candidate")
            for depth in (0, 4096)
        ],
        "guards": [{"metric": "ttft", "context": 4096}],
        "shortcuts": [
            {
                "name": "fixed prompt set",
                "faithful": "length distribution of production",
                "unfaithful": "no repeated prefixes across users",
                "assertion": "prefix cache hit rate below 1 %",
                "observed": f"0.{rng.randrange(100):02d} %",
            }
        ],
        "attachments": [{"name": "serve-bench.log", "sha256": _digest(rng), "size": rng.randrange(10**5, 10**6)}],
    }


def _digest(rng: random.Random) -> str:
    return hashlib.sha256(rng.randbytes(8)).hexdigest()


def _arm(rng: random.Random, role: str) -> dict[str, Any]:
    return {
        "role": role,
        "code_sha256": _digest(rng),
        "commit": rng.randbytes(20).hex(),
        "clean_build": True,
        "toolchain": "nvcc 12.6.77, gcc 13.2.0",
        "binary_sha256": _digest(rng),
        "settings": {"max-num-seqs": "64", "kv-cache-dtype": "fp8", "enable-chunked-prefill": "1"},
    }


def _rep(rng: random.Random, order: int, start: dt.datetime, *, requests: int, gaps: bool) -> dict[str, Any]:
    began = start + dt.timedelta(seconds=95 * order)
    completion = [rng.randrange(180, 260) for _ in range(requests)]
    ttft = [rng.randrange(90_000_000, 260_000_000) for _ in range(requests)]
    spans = [(count - 1) * rng.randrange(14_000_000, 19_000_000) for count in completion]
    e2e = [first + span for first, span in zip(ttft, spans, strict=True)]
    records: dict[str, Any] = {
        "prompt_tokens": [rng.randrange(3900, 4300) for _ in range(requests)],
        "completion_tokens": completion,
        "ttft_ns": ttft,
        "e2e_ns": e2e,
    }
    if gaps:
        records["itl_ns"] = [_gaps(rng, count - 1, span) for count, span in zip(completion, spans, strict=True)]
    return {
        "arm": ("main", "candidate")[order % 2],
        "order": order,
        "started_at": began.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "warmup": False,
        "wall_ns": sum(e2e) // 4,
        "metrics": ["decode_tok_s", "ttft"],
        "context": 4096,
        "workload": {"prompt_tokens": 4096, "gen_tokens": 256, "concurrency": 4, "dataset": "prompts-v2"},
        "records": records,
    }


def _gaps(rng: random.Random, count: int, span: int) -> list[int]:
    cuts = sorted(rng.randrange(span) for _ in range(count - 1))
    return [after - before for before, after in zip([0, *cuts], [*cuts, span], strict=True)]


def draft(number: int) -> Draft:
    """Round `number`, to be signed by the scorer."""
    return Draft(kind="round", body=round_body(number), signers=[SCORER_KEY])


def genesis() -> Draft:
    """The genesis statement of the benchmarks' ledgers."""
    return Draft(
        kind="genesis",
        body={
            "origin": ORIGIN,
            "ledger_key": LEDGER_KEY.public.openssh,
            "root": {"keys": [ROOT_KEY.public.openssh], "threshold": 1},
            "maintainers": {"keys": [ROOT_KEY.public.openssh], "threshold": 1},
        },
        signers=[ROOT_KEY],
    )


def grant() -> Draft:
    """The statement that lets the scorer attest."""
    change = {"action": "grant", "role": "scorer", "key": SCORER_KEY.public.openssh, "nodes": [NODE]}
    return Draft(kind="keys", body={"changes": [change]}, signers=[ROOT_KEY])


class CarelessDisk(Disk):
    """Writes without fsync: for ledgers that are only made to be read."""

    def write(self, path: Path, data: bytes) -> None:
        with path.open("xb") as handle:
            handle.write(data)

    def sync_folder(self, path: Path) -> None:
        pass


def open_log(folder: Path, disk: Disk | None = None, caches: Caches = NO_CACHES) -> Log:
    """The writer of a benchmark's ledger."""
    anchor = MemoryAnchor()
    return Log(DirectoryStore(folder, disk), LEDGER_KEY, lambda _: anchor, clock=Clock(), caches=caches)


def start_ledger(folder: Path, disk: Disk | None = None) -> Log:
    """A ledger with its genesis and the grant that lets the scorer attest."""
    log = open_log(folder, disk)
    log.create(ORIGIN, genesis())
    log.append([grant()])
    return log


def make_ledger(folder: Path, rounds: int) -> None:
    """Write a ledger of `rounds` rounds behind its genesis and the grant, quickly."""
    log = start_ledger(folder, CarelessDisk())
    for first in range(0, rounds, GROUP):
        log.append([draft(number) for number in range(first, min(first + GROUP, rounds))])


def receipt_files(folder: Path) -> Iterator[Path]:
    """Paths of the receipt files, in order."""
    yield from sorted((folder / "receipts").rglob("*.json"))
