"""``rungbook views`` and ``rungbook sql``: the ledger as tables, made from verified receipts, thrown away at will."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from cli import output
from cli.options import CsvOption, JsonOption, LedgerOption
from cli.status import OK, REFUTED, UNAVAILABLE, reports_errors

if TYPE_CHECKING:
    from ledger.canonical import JsonObject
    from ledger.views.build import ViewStatus
    from ledger.views.check import Comparison, Difference

UrlOption: TypeAlias = Annotated[
    str,
    typer.Option(
        metavar="URL", help="Database, as SQLAlchemy names it; default: a SQLite file in the ledger's local folder."
    ),
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    views = typer.Typer(name="views", help="SQL tables made from the ledger; never a source.", no_args_is_help=True)
    views.command(epilog="Example: rungbook views rebuild --url sqlite:////srv/views.sqlite")(rebuild)
    views.command(epilog="Example: rungbook views extend --json")(extend)
    views.command(epilog="Example: rungbook views follow --every 5")(follow)
    views.command(epilog="Example: rungbook views status --json")(status)
    views.command(epilog="Example: rungbook views check --url sqlite:////srv/views.sqlite")(check)
    app.add_typer(views)
    app.command(epilog=_SQL_EXAMPLE)(sql)


_SQL_EXAMPLE = 'Example: rungbook sql "SELECT receipt, label, value FROM ladder ORDER BY value_real DESC" --csv'


@reports_errors
def rebuild(*, url: UrlOption = "", ledger: LedgerOption = None, as_json: JsonOption = False) -> None:
    """Verify the ledger and make the tables anew, in place of those that are there."""
    from cli import tables  # noqa: PLC0415 - SQL takes longer to import than most commands take

    _print_status(tables.rebuild(ledger, url), "built", as_json=as_json)


@reports_errors
def extend(*, url: UrlOption = "", ledger: LedgerOption = None, as_json: JsonOption = False) -> None:
    """Verify the ledger and add to the tables what they lack."""
    from cli import tables  # noqa: PLC0415 - SQL takes longer to import than most commands take

    state, added = tables.extend(ledger, url)
    _print_status(state, f"{output.receipts(added)} added", as_json=as_json)


@reports_errors
def follow(
    *,
    every: Annotated[float, typer.Option(min=0.05, metavar="SECONDS", help="Time between two looks.")] = 1.0,
    url: UrlOption = "",
    ledger: LedgerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Keep the tables up to date while the ledger grows, until Ctrl-C or SIGTERM.

    The ledger is verified in full at the start; from then on what is new is, and that it continues what was there.
    """
    from cli import tables  # noqa: PLC0415 - SQL takes longer to import than most commands take

    state = tables.follow(ledger, url, every)
    _print_status(state, _WORDS[state.state], as_json=as_json)


@reports_errors
def status(*, url: UrlOption = "", ledger: LedgerOption = None, as_json: JsonOption = False) -> None:
    """Verify the ledger and say whether the tables were made from it. Status 3 when from another history."""
    from cli import tables  # noqa: PLC0415 - SQL takes longer to import than most commands take

    state = tables.status(ledger, url)
    _print_status(state, _WORDS[state.state], as_json=as_json)
    code = {"fresh": OK, "behind": OK, "fork": REFUTED}.get(state.state, UNAVAILABLE)
    if code != OK:
        raise typer.Exit(code)


@reports_errors
def check(*, url: UrlOption = "", ledger: LedgerOption = None, as_json: JsonOption = False) -> None:
    """Verify the ledger and compare every row of the tables with what it gives. Writes nothing.

    Status 0: exactly the rows of the ledger. 3: a row is missing (E_INDEX_GAP), one too many (E_INDEX_EXTRA) or
    different (E_INDEX_DIFFERS); rungbook views rebuild makes them anew. 4: there are none, or they are behind.
    """
    from cli import tables  # noqa: PLC0415 - SQL takes longer to import than most commands take

    found = tables.check(ledger, url)
    with output.unread_is_no_error():
        if as_json:
            output.write_json("views-check", _comparison_json(found))
        else:
            _print_comparison(found)
    if found.count:
        raise typer.Exit(REFUTED)
    if found.status.state != "fresh":
        raise typer.Exit(UNAVAILABLE)


_WORDS = {
    "fresh": "up to date",
    "behind": "behind the ledger: run rungbook views extend",
    "fork": "made from another history",
    "version": "made by another version: run rungbook views rebuild",
    "foreign": "tables of the same names that are no views",
    "absent": "no views yet: run rungbook views rebuild",
}


@reports_errors
def sql(
    statement: Annotated[str, typer.Argument(metavar="SELECT", help="One SELECT or WITH statement.")],
    *,
    url: UrlOption = "",
    ledger: LedgerOption = None,
    as_json: JsonOption = False,
    as_csv: CsvOption = False,
) -> None:
    """Ask the tables; they are brought up to date first. Nothing that the statement says can change them.

    Tables: receipts, rounds, arms, reps, facts, verdicts, frontier, pins, findings, incidents, ladder,
    stamp.
    """
    from cli import tables  # noqa: PLC0415 - SQL takes longer to import than most commands take

    answer = tables.query(ledger, url, statement)
    if as_json:
        output.write_json("sql", {"columns": answer.columns, "rows": answer.rows})
        return
    rows = [["" if cell is None else str(cell) for cell in row] for row in answer.rows]
    if as_csv:
        output.write_csv([answer.columns, *rows])
        return
    numeric = {at for at in range(len(answer.columns)) if all(not isinstance(row[at], str) for row in answer.rows)}
    shown = [[_printable(cell) for cell in row] for row in (answer.columns, *rows)]
    typer.echo(output.table(shown, right=frozenset(numeric)))


def _print_status(state: ViewStatus, words: str, *, as_json: bool) -> None:
    if as_json:
        output.write_json("views", _status_json(state))
        return
    typer.echo(_made_from(state) + words)


def _made_from(state: ViewStatus) -> str:
    return "" if state.tree_size is None else f"{output.receipts(state.tree_size)}, root {state.root_hash}: "


def _status_json(state: ViewStatus) -> JsonObject:
    return {
        "state": state.state,
        "tree_size": state.tree_size,
        "root_hash": state.root_hash or None,
        "behind": state.behind,
    }


def _comparison_json(found: Comparison) -> JsonObject:
    findings = [
        {"code": each.code, "table": each.table, "receipt": each.receipt, "key": each.key, "columns": [*each.columns]}
        for each in found.differences
    ]
    return {**_status_json(found.status), "rows": found.rows, "count": found.count, "findings": findings}


def _print_comparison(found: Comparison) -> None:
    for each in found.differences:
        typer.echo(_printable(_difference_words(each)))
    if found.count > len(found.differences):
        typer.echo(f"… and {found.count - len(found.differences)} more")
    words = f"all {found.rows} rows are those of the ledger"
    if found.count:
        differences = "1 difference" if found.count == 1 else f"{found.count} differences"
        words = f"{differences} from the {found.rows} rows of the ledger; run rungbook views rebuild"
    elif found.status.state != "fresh":
        words += f" so far; {_WORDS[found.status.state]}"
    typer.echo(_made_from(found.status) + words)


def _difference_words(found: Difference) -> str:
    key = ", ".join(f"{name} {value}" for name, value in found.key.items())
    if found.receipt is not None and "receipt" not in found.key:
        key += f", of receipt {found.receipt}"
    columns = f": {', '.join(found.columns)}" if found.columns else ""
    return ": ".join(each for each in (found.code, found.table, key, _DIFFERENT[found.code]) if each) + columns


_DIFFERENT = {"E_INDEX_GAP": "missing", "E_INDEX_EXTRA": "not of the ledger", "E_INDEX_DIFFERS": "differs"}


def _printable(cell: str) -> str:
    """A cell on one line of a terminal, whatever the statement made of it."""
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in cell)
