"""What is printed: results on stdout, talk on stderr.

With ``--json`` stdout is exactly one object, whose member ``rungbook`` names its kind and version; the schemas
``output-*`` describe every kind.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import orjson
import typer

from ledger.canonical import JsonObject


def write_json(kind: str, value: JsonObject) -> None:
    """Print the one object of a command."""
    document = {"rungbook": f"{kind}/v1", **value}
    try:
        text = orjson.dumps(document, option=orjson.OPT_INDENT_2)
    except orjson.JSONEncodeError:  # the name of a file need not be UTF-8, and JSON must be
        text = orjson.dumps(_readable(document), option=orjson.OPT_INDENT_2)
    typer.echo(text.decode())


def _readable(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    r"""The same with every byte of a name that is no text written as ``\udcNN``, as it stands on stderr too."""
    if isinstance(value, dict):
        return {name: _readable(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_readable(each) for each in value]
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


def write_names_readably() -> None:
    """Print names of files that are no text, on whatever terminal, instead of failing."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def say(text: str) -> None:
    """Talk to the person: not part of the result."""
    typer.echo(text, err=True)


def notice(text: str) -> None:
    """Something that the person did not ask for but should know."""
    say(f"note: {text}")


@contextmanager
def unread_is_no_error() -> Iterator[None]:
    """Print something whose reader may have gone: the exit status must still say what was found."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        drop_unwritten()


def drop_unwritten() -> None:
    """Give up what stdout cannot take: at its end the interpreter would try again, and exit with another status."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def table(rows: Sequence[Sequence[str]], *, right: frozenset[int] = frozenset()) -> str:
    """Rows as aligned columns; the first row is the head. Columns in `right` are aligned at the right."""
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [
            cell.rjust(width) if at in right else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def receipts(number: int) -> str:
    """A number of receipts in words."""
    return f"{number} receipt" + ("" if number == 1 else "s")


def write_csv(rows: Sequence[Sequence[str]]) -> None:
    """Rows as CSV (RFC 4180); the first row is the head."""
    import csv  # noqa: PLC0415 - few commands need it

    csv.writer(sys.stdout, lineterminator="\n").writerows(rows)


def progress_line(done: int, total: int) -> None:
    """Show progress on a terminal; silent elsewhere."""
    if sys.stderr.isatty():
        ended = "\n" if done >= total else ""
        sys.stderr.write(f"\rverified {done} of {total} receipts{ended}")
        sys.stderr.flush()
