"""Entry point: the program `rungbook`."""

from __future__ import annotations

import typer

from cli.commands import check, keys, read, setup, write

app = typer.Typer(
    name="rungbook",
    help="An append-only ledger of benchmark measurements with sealed receipts.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(keys.app, name="key")
for module in (setup, write, check, read):
    module.register(app)


def main() -> None:
    """Run the program."""
    app()
