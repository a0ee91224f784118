"""``rungbook rescore``: the same history under another rule, side by side. Nothing else changes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from cli import output
from cli.context import find_ledger, load_private_key
from cli.history import check_as_of, find_rule, open_log, slot_filter
from cli.options import (
    AsOfOption,
    CsvOption,
    JsonOption,
    LedgerKeyOption,
    LedgerOption,
    LockTimeoutOption,
    PlotOption,
    SlotFilterOption,
)
from cli.outcome import write_whole
from cli.plot import step_chart
from cli.status import reports_errors
from ledger.canonical import JsonObject
from ledger.draft import Draft
from ledger.errors import RefusedError
from ledger.log import LOCK_TIMEOUT_S
from ledger.scoring.replay import replay
from ledger.scoring.rescore import Rescored, Side, compare, output_digest, summary, to_json
from ledger.sealed import Sealed


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: rungbook rescore --rule new-rule.json --changed")(rescore)


@reports_errors
def rescore(
    *,
    rule: Annotated[list[str], typer.Option(metavar="RULE", help="File, receipt index or digest. Repeat it.")],
    against: Annotated[
        list[str] | None, typer.Option(metavar="RULE", help="Rule to hold it against; default: the rules in force.")
    ] = None,
    slot: SlotFilterOption = "",
    as_of: AsOfOption = None,
    changed: Annotated[bool, typer.Option("--changed", help="Print only rungs whose label differs.")] = False,
    record: Annotated[bool, typer.Option("--record", help="Seal the outcome as a receipt; needs --key.")] = False,
    plot: PlotOption = None,
    key: Annotated[list[Path] | None, typer.Option(metavar="FILE", help="Maintainer's key, for --record.")] = None,
    ledger: LedgerOption = None,
    ledger_key: LedgerKeyOption = None,
    lock_timeout: LockTimeoutOption = LOCK_TIMEOUT_S,
    as_json: JsonOption = False,
    as_csv: CsvOption = False,
) -> None:
    """Score the whole history again under another rule and print both labels of every rung.

    Several rules are tried in the order given; the first that covers a slot judges it.
    """
    if record and not key:
        raise RefusedError("E_KEY_MISSING", "--record seals a statement: give --key", where="--key")
    if record and slot:
        raise RefusedError(
            "E_OPTION", "--record seals the whole outcome, not the part that --slot selects", where="--slot"
        )
    found = find_ledger(ledger)
    log = open_log(found)
    check_as_of(log, as_of)
    rules = [find_rule(each, log) for each in rule]
    others = [find_rule(each, log) for each in against or ()]
    after = replay(log, rules, as_of=as_of)
    rungs = compare(replay(log, others, as_of=as_of), after)
    wanted = slot_filter(slot)
    rungs = [item for item in rungs if wanted(item.judged.rung.slot)]
    whole = to_json(rungs)
    sealed: Sealed | None = None
    if record:
        body: JsonObject = {
            "rules": [each.digest for each in rules],
            "against": [each.digest for each in others],
            "tree_size": after.size,
            "root_hash": log.root_at(after.size).hex(),
            "output_sha256": output_digest(whole),
            "rungs": len(rungs),
            "changed": summary(rungs)["changed"],
        }
        draft = Draft(kind="rescore", body=body, signers=[load_private_key(path) for path in key or []])
        (sealed,) = found.writer(ledger_key, lock_timeout).append([draft])
    shown = [item for item in rungs if item.changed or not (item.before and item.after)] if changed else rungs
    if plot:
        notes = {item.judged.rung.index: _change(item) for item in rungs}
        write_whole(plot, step_chart(after, [item.judged for item in rungs], notes))
        output.say(f"wrote {plot}")
    if as_json:
        output.write_json(
            "rescore",
            {
                "rules": [each.digest for each in rules],
                "against": [each.digest for each in others],
                "summary": summary(rungs),
                "output_sha256": output_digest(whole),
                "recorded": sealed.index if sealed else None,
                "rungs": to_json(shown),
            },
        )
        return
    _print(rungs, shown, as_csv=as_csv)
    if sealed:
        output.say(f"sealed as receipt {sealed.index}  {sealed.digest.hex()}")


def _print(rungs: Sequence[Rescored], shown: Sequence[Rescored], *, as_csv: bool) -> None:
    head = ["receipt", "slot", "before", "after", "bound before", "bound after", "frontier", "credited", "notes"]
    rows = [_row(item, mark="" if as_csv else " *") for item in shown]
    if as_csv:
        output.write_csv([head, *rows])
        return
    if rows:
        typer.echo(output.table([head, *rows], right=frozenset({0, 6, 7})))
    counts = summary(rungs)
    only = [f"{counts[side]} judged only {side[5:]}" for side in ("only_before", "only_after") if counts[side]]
    typer.echo("; ".join([f"{counts['changed']} of {counts['rungs']} labels change", *only]))
    typer.echo(f"before  {_counts(counts['before'])}")
    typer.echo(f"after   {_counts(counts['after'])}")


def _row(item: Rescored, mark: str) -> list[str]:
    before, after = item.before, item.after
    notes = [] if item.judged.stands else [f"{item.judged.gone_by} by receipt {item.judged.gone_at}"]
    for name, side in (("before", before), ("after", after)):
        if side and side.unattested and (name == "before" or not before or side.unattested != before.unattested):
            notes.append(f"unattested {', '.join(side.unattested)}")
        if side and side.fragile:
            notes.append(f"half a unit would flip {name}")
    return [
        str(item.judged.rung.index),
        str(item.judged.rung.slot),
        before.label if before else "-",
        (after.label if after else "-") + (mark if item.changed else ""),
        _bound(before),
        _bound(after),
        after.frontier if after else "",
        after.credited if after else "",
        "; ".join(notes),
    ]


def _change(item: Rescored) -> str:
    labels = [side.label if side else "-" for side in (item.before, item.after)]
    return " → ".join(labels) if item.changed else labels[1]


def _bound(side: Side | None) -> str:
    return f"{side.gate} {side.bound}".strip() if side else ""


def _counts(labels: dict[str, int]) -> str:
    return ", ".join(f"{label} {count}" for label, count in labels.items()) or "no rung is covered"
