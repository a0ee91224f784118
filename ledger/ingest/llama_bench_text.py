"""llama-bench, the outputs that people read: ``-o csv``, ``-o md`` and ``-o sql``.

All three drop ``samples_ns`` and keep averages of an unknown number of samples, so none of them can be sealed. They are
told apart from files that are no output of llama-bench, because what to do is different: run it again with another
option. A CSV whose rows are shorter than its header is named as that: read by name, every value behind the gap would
stand for another column, and a standard deviation for the speed.
"""

from __future__ import annotations

import csv
import io
import re

from ledger.errors import MalformedError

# Other builds and forks begin with other columns; the speed is in this one.
_CSV = re.compile(r"\A\s*(?:build_commit,|(?:\w+,)+avg_ts\b(?:,\w+)*\s*$)", re.ASCII | re.MULTILINE)
_SQL = re.compile(r"^[ \t]*(CREATE TABLE IF NOT EXISTS|INSERT INTO) (test|llama_bench)\b", re.ASCII | re.MULTILINE)
_TABLE = re.compile(r"^\| model .*\| *t/s \|\s*$", re.ASCII | re.MULTILINE)
_PARTS = (b"build_commit,", b",avg_ts", b"CREATE TABLE IF NOT EXISTS ", b"INSERT INTO ", b"| model ")
"""One of these stands in each of them."""

_LOOK = 1 << 20
"""Bytes that are looked at: a log may run before the table."""


def is_text_output(raw: bytes) -> bool:
    """Whether it is one of these outputs."""
    if not any(part in raw for part in _PARTS):  # nearly every file, and the patterns take a hundred times as long
        return False
    text = _start(raw)
    return any(mark.search(text) for mark in (_CSV, _SQL, _TABLE))


def refuse_text(raw: bytes, what: str) -> None:
    """Refuse the outputs that hold no samples; say nothing of other files.

    Raises:
        MalformedError: ``E_COLUMN_COUNT`` or ``E_NO_SAMPLES``.
    """
    if not is_text_output(raw):
        return
    text = _start(raw)
    if _CSV.search(text):
        _check_columns(text, what, whole=len(raw) <= _LOOK)
    raise MalformedError(
        "E_NO_SAMPLES", "averages without the samples behind them; run llama-bench with -o json or -o jsonl", where=what
    )


def _start(raw: bytes) -> str:
    return raw[:_LOOK].decode("utf-8", errors="replace")


def _check_columns(text: str, what: str, *, whole: bool) -> None:
    rows = [row for row in csv.reader(io.StringIO(text), strict=False) if row]
    header, *others = rows if whole else rows[:-1]
    for number, row in enumerate(others, 1):
        if len(row) != len(header):
            raise MalformedError(
                "E_COLUMN_COUNT", f"row {number} has {len(row)} values for {len(header)} names", where=what
            )
