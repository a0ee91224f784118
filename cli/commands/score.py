"""``rungbook frontier``, ``pins``, ``ladder``, ``check-lock``: what the sealed receipts say, computed on the spot."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Annotated

import orjson
import typer

from cli import output
from cli.context import read_input
from cli.history import open_history, slot_filter, why_empty
from cli.options import AsOfOption, CsvOption, JsonOption, LedgerOption, PlotOption, RuleOption, SlotFilterOption
from cli.outcome import write_whole
from cli.plot import step_chart
from cli.round_words import retries_text
from cli.status import REFUTED, reports_errors
from ledger.canonical import JsonObject
from ledger.scoring import lock
from ledger.scoring.facts import decimal_text, reading_text
from ledger.scoring.history import SCORED, History, Judged
from ledger.scoring.pins import Pin
from ledger.scoring.pins import pins as all_pins
from ledger.scoring.slots import Holding
from ledger.scoring.verdict import verdict_to_json


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(epilog="Example: rungbook frontier --slot metric=decode_tok_s")(frontier)
    app.command(epilog="Example: rungbook pins --write bench/pins.json")(pins)
    app.command(epilog="Example: rungbook ladder --slot metric=decode_tok_s --as-of 40")(ladder)
    app.command("check-lock", epilog="Example: rungbook check-lock bench/pins.json")(check_lock)


@reports_errors
def frontier(
    *,
    slot: SlotFilterOption = "",
    as_of: AsOfOption = None,
    rule: RuleOption = None,
    ledger: LedgerOption = None,
    as_json: JsonOption = False,
    as_csv: CsvOption = False,
) -> None:
    """Print the number to beat in every slot: the best attested figure of main, and how it got there."""
    history = open_history(ledger, rule or (), as_of)
    wanted = slot_filter(slot)
    states = [history.slots[each] for each in sorted(history.slots) if wanted(each)]
    states = [state for state in states if state.moves or state.measured.best]
    if as_json:
        slots = [
            {
                "slot": state.slot._asdict(),
                "frontier": _holding_json(state.frontier.best),
                "measured": _holding_json(state.measured.best),
                "moves": [{"index": move.index, "holding": _holding_json(move.holding)} for move in state.moves],
            }
            for state in states
        ]
        output.write_json("frontier", {"tree_size": history.size, "slots": slots})
        return
    head = ["slot", "frontier", "unit", "receipt", "commit", "moves", "measured only"]
    rows = [
        [
            str(state.slot),
            _value(state.frontier.best),
            state.slot.unit,
            _receipt(state.frontier.best),
            state.frontier.best.commit[:12] if state.frontier.best else "",
            str(len(state.moves)),
            _value(state.measured.best),
        ]
        for state in states
    ]
    _print_rows([head, *rows], right=frozenset({1, 3, 5, 6}), as_csv=as_csv, hints=why_empty(history))


@reports_errors
def pins(
    *,
    slot: SlotFilterOption = "",
    as_of: AsOfOption = None,
    rule: RuleOption = None,
    write: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the attested pins as a pin file.")] = None,
    ledger: LedgerOption = None,
    as_json: JsonOption = False,
    as_csv: CsvOption = False,
) -> None:
    """Print the pins: attested value with its receipt, the best measured one beside it, stale ones named."""
    history = open_history(ledger, rule or (), as_of)
    wanted = slot_filter(slot)
    found = [pin for pin in all_pins(history) if wanted(pin.slot)]
    if write:
        write_whole(write, orjson.dumps(lock.pin_file(history, found), option=orjson.OPT_INDENT_2) + b"\n")
        output.say(f"wrote {write}")
    if as_json:
        output.write_json("pins", {"tree_size": history.size, "pins": [_pin_json(pin) for pin in found]})
        return
    head = ["slot", "role", "attested", "receipt", "commit", "measured only", "state"]
    rows = [
        [
            str(pin.slot),
            pin.role,
            _value(pin.held),
            _receipt(pin.held),
            pin.held.commit[:12] if pin.held else "",
            _value(pin.measured),
            _state(pin),
        ]
        for pin in found
    ]
    _print_rows([head, *rows], right=frozenset({2, 3, 5}), as_csv=as_csv, hints=why_empty(history))


def _state(pin: Pin) -> str:
    if pin.held is None:
        return "not attested"
    return "STALE: something better was only measured" if pin.stale else "current"


@reports_errors
def ladder(
    *,
    slot: SlotFilterOption = "",
    as_of: AsOfOption = None,
    rule: RuleOption = None,
    everything: Annotated[bool, typer.Option("--all", help="Also rungs that were voided or superseded.")] = False,
    plot: PlotOption = None,
    ledger: LedgerOption = None,
    as_json: JsonOption = False,
    as_csv: CsvOption = False,
) -> None:
    """Print every rung: label, gate that bound, and what it was held against. A rejected speed is not printed."""
    history = open_history(ledger, rule or (), as_of)
    wanted = slot_filter(slot)
    rungs = [
        item
        for item in history.judged
        if item.rung.purpose in SCORED and wanted(item.rung.slot) and (everything or item.stands)
    ]
    if plot:
        write_whole(plot, step_chart(history, rungs))
        output.say(f"wrote {plot}")
    if as_json:
        output.write_json("ladder", {"tree_size": history.size, "rungs": [_rung_json(item) for item in rungs]})
        return
    head = ["receipt", "slot", "evidence", "label", "gate", "value", "frontier", "gain", "notes"]
    _print_rows([head, *map(_rung_row, rungs)], right=frozenset({0, 5, 6, 7}), as_csv=as_csv, hints=why_empty(history))


def _rung_row(item: Judged) -> list[str]:
    rung, verdict = item.rung, item.verdict
    basis, shown = item.context.basis.used if item.context else None, item.shown
    return [
        str(rung.index),
        str(rung.slot),
        rung.evidence,
        verdict.label if verdict else "-",
        verdict.gate if verdict else "",
        _short(shown.value) if shown else "",
        _short(basis.value) if basis else "",
        f"{verdict.gain_share:+.2%}" if verdict and verdict.gain else "",
        _notes(item),
    ]


def _notes(item: Judged) -> str:
    notes = [f"{item.gone_by} by receipt {item.gone_at}"] if item.gone_at is not None else []
    notes += [f"merged by receipt {item.merged_at}"] if item.merged_at is not None else []
    notes += [retries_text(item.rung.attempt)] if item.rung.attempt > 1 else []
    if item.rule is None:
        notes.append("no rule was in force for this slot: --rule judges it under a later one")
    if item.verdict is not None:
        notes += [item.verdict.code] if item.verdict.code else []
        notes += [f"unattested {', '.join(item.verdict.unattested)}"] if item.verdict.unattested else []
        notes += ["half a unit would flip it"] if item.verdict.fragile else []
        notes += item.verdict.flags
    return "; ".join(notes)


def _rung_json(item: Judged) -> JsonObject:
    rung, context, shown = item.rung, item.context, item.shown
    return {
        "index": rung.index,
        "sha256": rung.digest,
        "id": rung.id,
        "purpose": rung.purpose,
        "slot": rung.slot._asdict(),
        "evidence": rung.evidence,
        "retries": rung.attempt - 1,
        "value": reading_text(shown.value) if shown else None,
        "frontier": {
            "used": reading_text(context.basis.used.value) if context and context.basis.used else None,
            "source": context.basis.source if context else "",
            "receipt": context.basis.receipt if context else None,
            "main": reading_text(context.basis.measured.value) if context and context.basis.measured else None,
        },
        "verdict": verdict_to_json(item.verdict) if item.verdict else None,
        "gone": {"by": item.gone_by, "index": item.gone_at} if item.gone_at is not None else None,
        "merged": item.merged_at,
    }


@reports_errors
def check_lock(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Pin file.")],
    *,
    ledger: LedgerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Trace every number of a pin file to a sealed receipt of its exact slot. Status 3 names those that have none."""
    history: History = open_history(ledger)
    count, findings = lock.check_pin_file(read_input(file), history, what=str(file))
    if as_json:
        listed = [{"where": item.where, "code": item.code, "message": item.message} for item in findings]
        output.write_json("check-lock", {"values": count, "findings": listed})
    else:
        for item in findings:
            typer.echo(f"UNTRACED  {item.where}  {item.code}: {item.message}")
        typer.echo(f"{count - len(findings)} of {count} values trace to sealed receipts or are 0")
    if findings:
        raise typer.Exit(REFUTED)


def _pin_json(pin: Pin) -> JsonObject:
    return {
        "slot": pin.slot._asdict(),
        "role": pin.role,
        "attested": _holding_json(pin.held),
        "measured": _holding_json(pin.measured),
        "stale": pin.stale,
    }


def _holding_json(item: Holding | None) -> JsonObject | None:
    if item is None:
        return None
    return {
        "value": reading_text(item.figure.value),
        "receipt": item.receipt,
        "since": item.since,
        "arm": item.arm,
        "commit": item.commit or None,
        "evidence": item.evidence,
    }


def _value(item: Holding | None) -> str:
    return _short(item.figure.value) if item else ""


def _short(value: Fraction) -> str:
    """A figure for a table: four places at most; --json has six, and the exact fraction where it decided."""
    return decimal_text(value, 4).rstrip("0").rstrip(".")


def _receipt(item: Holding | None) -> str:
    return str(item.receipt) if item else ""


def _print_rows(
    rows: Sequence[Sequence[str]], *, right: frozenset[int], as_csv: bool, hints: Sequence[str] = ()
) -> None:
    if as_csv:
        output.write_csv(rows)
    elif len(rows) == 1:
        typer.echo("nothing here yet")
        for hint in hints:
            output.notice(hint)
    else:
        typer.echo(output.table(rows, right=right))
