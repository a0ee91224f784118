"""``rungbook compare``: is one build better than another, worse, or can nobody tell."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from cli import output
from cli.comparison import answer_json, answer_table
from cli.options import DIVIDER, JsonOption
from cli.sessions import MODES, Shown, judge_checks, judge_session
from cli.sides import read_ledger_noise, read_noise, read_side
from cli.status import OK, REFUTED, UNAVAILABLE, reports_errors
from ledger.errors import RefusedError
from ledger.metrics import METRICS
from ledger.scoring.compare import paired, row3
from ledger.scoring.compare.answer import compare_pairs, compare_rows
from ledger.scoring.compare.gate import NEEDS

_STATUSES = {"PASS": OK, "FAIL": REFUTED, "UNRESOLVED": UNAVAILABLE}
_RULES = (row3.RULE, paired.RULE)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        epilog="Example: rungbook compare base-1.json base-2.json base-3.json -- new-1.json new-2.json new-3.json "
        "--noise noise.json",
    )(compare)


@reports_errors
def compare(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="BASE... -- OTHER...",
            help="Files of a tool, rounds or receipts (FILE@ROLE for one arm of several), or checks of texts; without "
            "OTHER one session of a block A/B or a forced bench, which holds both.",
        ),
    ],
    *,
    rule: Annotated[
        str, typer.Option("--rule", metavar="RULE", help="paired-v1, or row3-v1: the row harness's own, word for word.")
    ] = paired.RULE,
    mode: Annotated[
        str,
        typer.Option("--mode", metavar="MODE", help="Under row3-v1: noworse, or a gain in adopt, block or tokens."),
    ] = "noworse",
    noise: Annotated[
        list[str] | None,
        typer.Option("--noise", metavar="FILE", help="Runs of one build against itself. Repeat it."),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option("--metric", metavar="METRIC", help="Judge only this under paired-v1. Repeat it."),
    ] = None,
    ledger: Annotated[
        Path | None,
        typer.Option("--ledger", "-C", metavar="DIR", help="Take the noise of rounds from this ledger too."),
    ] = None,
    tool: Annotated[
        str, typer.Option("--from", metavar="TOOL", help="The tool that wrote the files; default: as they look.")
    ] = "",
    as_json: JsonOption = False,
) -> None:
    """Tell whether OTHER is better than BASE, worse, or whether nobody can tell. Writes nothing, needs no ledger.

    Status 0 not worse (paired-v1: resolved better), 3 worse, 4 unresolved, 5 not comparable. By paired-v1 a verdict
    takes three runs a side in turn, three A/A pairs (--noise), and a change beyond all noise.
    """
    _check_words(rule, mode, noise or [], metric or [])
    if DIVIDER not in files:
        _print(_judge_alone(files, mode), as_json=as_json)
        return
    at = files.index(DIVIDER)
    if not files[:at] or not files[at + 1 :] or files.count(DIVIDER) > 1:
        raise typer.BadParameter("expected two sides, BASE... -- OTHER..., each of at least one file")
    checks = judge_checks(files[:at], files[at + 1 :])
    if checks:
        _print(checks, as_json=as_json)
        return
    base, other = (read_side(words, tool) for words in (files[:at], files[at + 1 :]))
    if rule == row3.RULE:
        answer = compare_rows(base, other, mode)
    elif mode != "noworse":
        raise RefusedError("E_OPTION", f"the mode {mode} is one of row3-v1: give --rule row3-v1", where="--mode")
    else:
        sessions = read_noise(noise or [], tool) + (read_ledger_noise(ledger, base) if ledger else [])
        answer = compare_pairs(base, other, sessions, metric or [])
    document, table = answer_json(answer, base, other), answer_table(answer, base, other)
    _print(Shown(outcome=answer.outcome, document=document, table=table), as_json=as_json)


def _check_words(rule: str, mode: str, noise: Sequence[str], metrics: Sequence[str]) -> None:
    for option, word, known in (("--rule", rule, _RULES), ("--mode", mode, (*NEEDS,))):
        if word not in known:
            raise RefusedError("E_OPTION", f"there is no {word!r}; known: {', '.join(known)}", where=option)
    for name in metrics:
        if name not in METRICS:
            raise RefusedError(
                "E_OPTION", f"there is no metric {name!r}; known: {', '.join(METRICS)}", where="--metric"
            )
    if rule == row3.RULE and (noise or metrics):
        raise RefusedError("E_OPTION", "row3-v1 takes neither --noise nor --metric: it has its own", where="--rule")


def _judge_alone(files: Sequence[str], mode: str) -> Shown:
    """One file: a session that holds both sides itself."""
    if len(files) > 1 or mode not in MODES:
        raise typer.BadParameter("give BASE... -- OTHER...: the side to compare with is missing")
    shown = judge_session(Path(files[0]), mode)
    if shown is None:
        raise typer.BadParameter("give BASE... -- OTHER...: this file is no session that holds both sides")
    return shown


def _print(shown: Shown, *, as_json: bool) -> None:
    if as_json:
        output.write_json("compare", shown.document)
    else:
        typer.echo(shown.table)
    if shown.outcome != "PASS":
        raise typer.Exit(_STATUSES[shown.outcome])
