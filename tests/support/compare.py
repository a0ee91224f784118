"""Made-up sides of a comparison, and an independent reading of one project's row reports as such."""

from __future__ import annotations

import datetime as dt
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ledger.scoring.compare.side import CompareRun, Side
from tests.support.exact_figures import parse, to_ns
from tests.support.tandem_figures import read_record, read_rounds

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

START = dt.datetime(2026, 11, 29, 10, 0, tzinfo=dt.UTC)
MINUTE_S = 60


def start(minutes: int) -> str:
    """A time, in minutes after ten o'clock."""
    return (START + dt.timedelta(minutes=minutes)).isoformat().replace("+00:00", "Z")


def made_up_run(name: str, decode_ms: Sequence[int], *, at: int | None = None, **changes: Any) -> CompareRun:  # noqa: ANN401 - any field
    """A run whose records answer with 101 tokens, 100 ms to the first one and these times after it.

    Args:
        name: of the run.
        decode_ms: of each record.
        at: start in minutes; none when nobody says it.
        changes: other fields.
    """
    records = {
        "prompt_tokens": [64 + place for place in range(len(decode_ms))],
        "completion_tokens": [101] * len(decode_ms),
        "ttft_ns": [100_000_000] * len(decode_ms),
        "e2e_ns": [100_000_000 + ms * 1_000_000 for ms in decode_ms],
    }
    fields: dict[str, Any] = {
        "name": name,
        "test": "a test",
        "metrics": ("decode_tok_s",),
        "records": records,
        "wall_ns": sum(records["e2e_ns"]),
        "started_at": "" if at is None else start(at),
    }
    return CompareRun(**{**fields, **changes})


def made_up_sides(
    base: Sequence[int],
    other: Sequence[int],
    *,
    every: int = 5,
    **changes: Any,  # noqa: ANN401 - any field of a run
) -> tuple[Side, Side]:
    """Two alternated sides, whose runs take these milliseconds per answer, base first."""
    sides = []
    for label, values, first in (("base", base, 0), ("other", other, 1)):
        runs = [
            made_up_run(f"{label}-{place}", [ms - 1, ms, ms + 1], at=every * (2 * place + first), **changes)
            for place, ms in enumerate(values)
        ]
        sides.append(Side(label=label, runs=tuple(runs)))
    return sides[0], sides[1]


def read_report(path: Path) -> Side:
    """A row report with its records and logs as a side, apart from the package's own reader."""
    report = parse(path.read_text())
    runs = []
    for place, run in enumerate(report["runs"]):
        record = path.parents[1] / run["record"]
        log = record.parents[1] / f"server-slice-{record.parent.name.removeprefix('raw-')}.log"
        runs.append(_run(record, log, f"{report['label']}-{place}"))
    return Side(label=str(report["label"]), runs=tuple(runs), code=str(report["code_sha256"]))


def read_runner_record(path: Path) -> CompareRun:
    """A runner's record alone."""
    return _run(path, None, path.stem)


def _run(path: Path, log: Path | None, name: str) -> CompareRun:
    record = read_record(path)
    measured = [item for item in record.body["raw"]["payload"]["requests"] if not item["warmup"]]
    records: dict[str, Any] = {
        "prompt_tokens": list(record.prompts),
        "completion_tokens": list(record.tokens),
        "ttft_ns": list(record.firsts),
        "e2e_ns": list(record.ends),
    }
    if log is not None:
        rounds = read_rounds(log, record)
        records |= {"rounds": list(rounds.blocks), "decode_ns": list(rounds.decodes)}
    return CompareRun(
        name=name,
        test="row",
        metrics=("decode_tok_s", "ttft"),
        records=records,
        wall_ns=to_ns(record.duration),
        prompts=tuple(item["prompt_id"] for item in measured),
        source=name,
    )


def fractions(values: Sequence[float]) -> list[Fraction]:
    """Printed numbers as fractions, by their digits."""
    return [Fraction(str(value)) for value in values]


def agree(found: Fraction | None, printed: float | None, *, slack: Fraction = Fraction(1, 10**9)) -> bool:
    """Whether an exact figure is what somebody printed from doubles."""
    if found is None or printed is None:
        return found is None and printed is None
    exact = Fraction(printed)
    return bool(abs(found - exact) <= slack * max(abs(exact), Fraction(1)))
