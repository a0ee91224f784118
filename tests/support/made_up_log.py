"""Made-up folders in the layout of the public log: runs in which everything fits, until a test changes something."""

from __future__ import annotations

import base64
import copy
import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ledger.ingest.sparkinfer.log import read_log
from ledger.schema import validate

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ledger.canonical import JsonObject

COMMIT = "ab" * 20
MAIN = "0123abcd"
EVERY = {"K_CHAIN_NULL", "K_ID_PARTIAL"}
"""What the log's own format cannot do better: the made-up runs have these faults and no other."""


@dataclass(kw_only=True)
class Source:
    """A run before it is written.

    `seal` makes every copy and digest agree with result and receipt; what a test changes before it is consistent, what
    it changes after it is a contradiction.
    """

    commit: str = COMMIT
    at: str = "2026-08-05T01:00:00+00:00"
    tps: float = 20.0
    result: JsonObject = field(default_factory=dict)
    receipt: JsonObject = field(default_factory=dict)
    extra: dict[str, str] = field(default_factory=dict)
    absent: set[str] = field(default_factory=set)
    rows: dict[str, list[JsonObject]] = field(default_factory=dict)
    text: str = ""
    id: str = ""

    def __post_init__(self) -> None:
        self.result = {
            "commit": self.commit[:7],
            "frontier_tps": 16.0,
            "delta_tps": self.tps - 16,
            "pct_over_frontier": round((self.tps - 16) / 0.16, 1),
            "kl": 0.006694998,
            "label": "XL",
            "ms_per_token": 1000 / self.tps,
            "samples": [1, 2],
            "scored_ctx": 131072,
            "speed_source": "self_report_wall_clock_bounded",
            "top1": 1.0,
            "tps": self.tps,
        }
        self.receipt = {
            "attestation": {
                "code": {"build_hash": self.commit, "commit": self.commit, "scoring_scripts_commit": MAIN * 5},
                "environment": {
                    "clock_mhz": 1980,
                    "clocks_pinned": True,
                    "cuda_version": "12",
                    "driver_version": "580",
                    "gpu_arch": "sm_90",
                    "gpu_name": "a gpu",
                },
                "measurements": {"primary": {"ctx_128_tps": 20.0, "kl": 0.006694998, "top1": 1.0}},
                "references": {"eval_seed": "e", "llamacpp_commit": "l", "model_file": "m", "model_sha256": "s"},
                "timestamp_utc": self.at,
                "verdict": {"delta_tps": self.tps - 16, "label": "XL", "tps": self.tps},
            },
            "chain": {"chain_index": 0, "prev_receipt_hash": None},
            "tdx": {"quote_b64": base64.b64encode(self.at.encode() + self.commit.encode()).decode()},
        }

    def seal(self) -> Source:
        attestation, tdx = self.receipt["attestation"], self.receipt["tdx"]
        output = json.dumps({"label": self.result["label"], "tps": self.result["tps"]}).encode()
        tdx["stdout_b64"] = base64.b64encode(output).decode()
        tdx["result_sha256"] = hashlib.sha256(output).hexdigest()
        self.id = self.receipt["receipt_id"] = self.own_id()
        payload = {name: value for name, value in self.result.items() if name not in {"receipt_id", "kl_depths"}}
        digest = hashlib.sha256(json.dumps(payload, sort_keys=True).encode()).hexdigest()
        self.receipt["_expected"] = {"result_sha256": digest}
        row = {
            "commit": attestation["code"]["commit"],
            "kl": self.result["kl"],
            "label": self.result["label"],
            "run_id": self.id,
            "timestamp_utc": attestation["timestamp_utc"],
            "tps": self.result["tps"],
        }
        self.rows = {"ledger": [dict(row)], "index": [dict(row)]}
        self.text = (
            f"main: frontier = {self.result['frontier_tps']} tok/s @ {MAIN}\n"
            f"#5: evaluating {self.commit[:8]} on h200x8 against frontier 16.0 …\n"
            f"#5: tps={self.result['tps']} top1=1.0\n"
            f">> #5: published runs/{self.id} to somewhere\n"
            f">> #5: tier applied by label.yml — eval:{self.result['label'].lower()}\n"
        )
        self.extra["attestation.json"] = json.dumps(attestation)
        return self

    def own_id(self) -> str:
        tdx = self.receipt["tdx"]
        return hashlib.sha256((tdx["quote_b64"][:64] + tdx["result_sha256"]).encode()).hexdigest()[:32]

    def attested(self, output: bytes) -> None:
        """Give it another output, and the id that follows from that."""
        tdx = self.receipt["tdx"]
        tdx["stdout_b64"], tdx["result_sha256"] = base64.b64encode(output).decode(), hashlib.sha256(output).hexdigest()
        self.text = self.text.replace(self.id, self.own_id())
        self.id = self.receipt["receipt_id"] = self.own_id()
        for rows in self.rows.values():
            rows[0]["run_id"] = self.id

    def files(self) -> dict[str, str]:
        made = {"receipt.json": json.dumps(self.receipt), "result.json": json.dumps(self.result), "eval.log": self.text}
        return {name: text for name, text in (made | self.extra).items() if name not in self.absent}


def write_log(folder: Path, *sources: Source) -> Path:
    for source in sources:
        place = folder / "runs" / source.id
        place.mkdir(parents=True)
        for name, text in source.files().items():
            (place / name).write_text(text, "utf-8")
    ledger = [row for source in sources for row in source.rows["ledger"]]
    (folder / "ledger.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in ledger), "utf-8")
    (folder / "index.json").write_text(json.dumps([row for source in sources for row in source.rows["index"]]), "utf-8")
    return folder


def read_codes(folder: Path) -> list[set[str]]:
    """The codes of each run's faults, without those that every run has."""
    bodies = [run.body for run in read_log(folder)]
    for body in bodies:
        validate("imported-input", body)
    return [{fault["code"] for fault in body["faults"]} - EVERY for body in bodies]


def put(document: str, path: str, value: Any) -> Callable[[Source], None]:  # noqa: ANN401 - any JSON value
    def change(source: Source) -> None:
        *steps, last = path.split("/")
        target = getattr(source, document)
        for step in steps:
            target = target[int(step) if isinstance(target, list) else step]
        target[last] = copy.deepcopy(value)

    return change


def take(document: str, path: str) -> Callable[[Source], None]:
    def change(source: Source) -> None:
        *steps, last = path.split("/")
        target = getattr(source, document)
        for step in steps:
            target = target[step]
        del target[last]

    return change
