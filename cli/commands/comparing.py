"""``rungbook compare``: is one build better than another, worse, or can nobody tell."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from cli import output
from cli.comparison import answer_json, answer_table, blocks_json, blocks_table
from cli.context import read_input
from cli.options import DIVIDER, JsonOption
from cli.sides import read_ledger_noise, read_noise, read_side
from cli.status import OK, REFUTED, UNAVAILABLE, reports_errors
from ledger.errors import RefusedError
from ledger.ingest.sides import block_session
from ledger.ingest.tandem_block_ab import TandemBlockAb, read_block_ab
from ledger.metrics import METRICS
from ledger.scoring.compare import paired, row3
from ledger.scoring.compare.answer import compare_pairs, compare_rows
from ledger.scoring.compare.blocks import judge_blocks
from ledger.scoring.compare.gate import NEEDS

_STATUSES = {"PASS": OK, "FAIL": REFUTED, "UNRESOLVED": UNAVAILABLE}
_BLOCK_MODES = ("noworse", "block")
_BLOCK_OUTCOMES = ("PASS", "FAIL", "UNRESOLVED")
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
            help="Files of a tool, rounds or receipts (FILE@ROLE for one arm of several); with --mode block also the "
            "one file of a block A/B session, and no other side.",
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
        _judge_session(files, mode, as_json=as_json)
        return
    at = files.index(DIVIDER)
    if not files[:at] or not files[at + 1 :] or files.count(DIVIDER) > 1:
        raise typer.BadParameter("expected two sides, BASE... -- OTHER..., each of at least one file")
    base, other = (read_side(words, tool) for words in (files[:at], files[at + 1 :]))
    if rule == row3.RULE:
        answer = compare_rows(base, other, mode)
    elif mode != "noworse":
        raise RefusedError("E_OPTION", f"the mode {mode} is one of row3-v1: give --rule row3-v1", where="--mode")
    else:
        sessions = read_noise(noise or [], tool) + (read_ledger_noise(ledger, base) if ledger else [])
        answer = compare_pairs(base, other, sessions, metric or [])
    if as_json:
        output.write_json("compare", answer_json(answer, base, other))
    else:
        typer.echo(answer_table(answer, base, other))
    _exit(answer.outcome)


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


def _judge_session(files: Sequence[str], mode: str, *, as_json: bool) -> None:
    """One file: a session that holds both sides itself."""
    if len(files) > 1 or mode not in _BLOCK_MODES:
        raise typer.BadParameter("give BASE... -- OTHER...: the side to compare with is missing")
    raw = read_input(Path(files[0]))
    if not TandemBlockAb().recognises(raw):
        raise typer.BadParameter("give BASE... -- OTHER...: this file is no block A/B session that holds both sides")
    answer = judge_blocks(block_session(read_block_ab(raw, files[0])), ask_better=mode == "block")
    outcome = _BLOCK_OUTCOMES[answer.status]
    if as_json:
        output.write_json("compare", blocks_json(answer, mode, outcome))
    else:
        typer.echo(blocks_table(answer, outcome))
    _exit(outcome)


def _exit(outcome: str) -> None:
    if outcome != "PASS":
        raise typer.Exit(_STATUSES[outcome])
