"""The program `rungbook`: its commands (it starts in `cli.entry`)."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from cli import output
from cli.options import mark_divider
from ledger import __version__

COMMANDS = {
    "key": "keys",
    "init": "setup",
    "grant": "setup",
    "revoke": "setup",
    "append": "write",
    "attest": "write",
    "seal": "write",
    "verify": "check",
    "log": "read",
    "show": "read",
    "export": "read",
    "frontier": "score",
    "pins": "score",
    "ladder": "score",
    "check-lock": "score",
    "rule": "rules",
    "ruling": "rulings",
    "incident": "incidents",
    "rescore": "rescoring",
    "import": "importing",
    "faults": "faults",
    "ingest": "ingesting",
    "compare": "comparing",
    "views": "views",
    "sql": "views",
}
"""Module of each command below `cli.commands`."""

_TWO_LISTS = "compare"
"""The command that takes two lists of files with ``--`` between them."""


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"rungbook {__version__}")
        raise typer.Exit


def build_app(words: Sequence[str]) -> typer.Typer:
    """The program, with the module of the command that `words` start with; with all modules for anything else.

    Importing all commands costs more than most of them do, and a bot starts this program once per round.
    """
    app = typer.Typer(
        name="rungbook",
        help="An append-only ledger of benchmark measurements with sealed receipts.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_program)
    named = COMMANDS.get(words[0]) if words else None
    for module in [named] if named else dict.fromkeys(COMMANDS.values()):
        importlib.import_module(f"cli.commands.{module}").register(app)
    return app


def _program(
    *,
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version and exit.")
    ] = False,
) -> None:
    """An append-only ledger of benchmark measurements with sealed receipts."""


def main() -> None:
    """Run the program."""
    words = sys.argv[1:]
    output.write_names_readably()
    build_app(words)(mark_divider(words) if words[:1] == [_TWO_LISTS] else words)
