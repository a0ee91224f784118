"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

LedgerOption: TypeAlias = Annotated[
    Path | None, typer.Option("--ledger", "-C", metavar="DIR", help="The ledger; default: found upward from here.")
]
JsonOption: TypeAlias = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")]
KeyOption: TypeAlias = Annotated[
    list[Path], typer.Option("--key", metavar="FILE", help="Private key that signs. Repeat it for a threshold.")
]
LedgerKeyOption: TypeAlias = Annotated[
    Path | None, typer.Option("--ledger-key", metavar="FILE", help="The ledger's private key, which seals.")
]
LockTimeoutOption: TypeAlias = Annotated[
    float, typer.Option("--lock-timeout", min=0, metavar="SECONDS", help="How long to wait for other writers.")
]
AttestOption: TypeAlias = Annotated[
    str, typer.Option("--output", "-o", metavar="FILE", help="Do not seal: write the attested statement.")
]
AsOfOption: TypeAlias = Annotated[
    int | None, typer.Option("--as-of", min=0, metavar="N", help="The state after N receipts; default: all.")
]
RuleOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--rule", metavar="RULE", help="Judge under this rule (file, receipt index or digest) instead. Repeat it."
    ),
]
SlotFilterOption: TypeAlias = Annotated[
    str, typer.Option("--slot", metavar="AXIS=VALUE,...", help="Only slots with these axes, such as metric=ttft.")
]
PlotOption: TypeAlias = Annotated[
    Path | None, typer.Option("--plot", metavar="FILE", help="Draw a step chart as SVG (needs rungbook[plot]).")
]
CsvOption: TypeAlias = Annotated[bool, typer.Option("--csv", help="Print the table as CSV.")]

DIVIDER = "\0"
"""Stands for the ``--`` between two lists of files; no word of a command line can hold it."""


def mark_divider(words: Sequence[str]) -> list[str]:
    """The words of a command that takes two lists of files, so that options may stand on either side of ``--``.

    The parser would end the options at the first ``--``, and forget where it was.
    """
    return [DIVIDER if word == "--" else word for word in words]
