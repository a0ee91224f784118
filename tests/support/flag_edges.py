"""Files of tools on the whole way to a round that is sealed, and the codes that they get on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ledger.ingest import ADAPTERS
from ledger.ingest.build import build_round
from ledger.ingest.companions import read_whole
from ledger.ingest.options import RoundOptions
from ledger.ingest.run import Run
from tests.support.examined import codes, examine
from tests.support.rounds import sha256_hex

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def sealed(*runs: Run, context: int | None = None, starts: Sequence[int] = (0,), **given: Any) -> list[str]:  # noqa: ANN401 - options
    """Codes of a round of some runs of one tool, which start at these seconds of a minute if nobody says when."""
    rows = [row for run in runs for row in run.rows]
    silent = not rows[0].started_at
    options = RoundOptions(
        slot={
            "project": "p",
            "node": "n",
            "quant": "q",
            "metric": rows[0].metrics[0],
            "context": str((rows[0].context or 0) if context is None else context),
        },
        code={} if rows[0].code_sha256 else {"main": sha256_hex("code")},
        weights=sha256_hex("weights"),
        harness=sha256_hex("harness"),
        environment={} if rows[0].environment else {"gpu": "one"},
        commits={"main": "abc1234"},
        started_at={"main": [f"2026-11-29T20:00:{second:02}Z" for second in starts]} if silent else {},
        zone="+00:00",
        **given,
    )
    built = build_round(runs, options)
    return [fault.code for fault in built.faults] + codes(examine(built.body, built.said))


def read(tool: str, raw: bytes, files: Mapping[str, bytes] | None = None) -> Run:
    """A file as a run of all of its rows."""
    reading = read_whole(ADAPTERS[tool], raw, "x.json", (files or {}).get)
    return Run(role="main", name="x.json", raw=raw, rows=reading.rows, companions=reading.companions)


def of_file(tool: str, raw: bytes, files: Mapping[str, bytes] | None = None, **given: Any) -> list[str]:  # noqa: ANN401 - as above
    """The same of one file, with the contents of those that it names."""
    return sealed(read(tool, raw, files), tool=tool, **given)
