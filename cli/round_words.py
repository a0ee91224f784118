"""A round in words: what ``show`` prints of a sealed one, and ``ingest`` of one that would be sealed."""

from __future__ import annotations

from collections.abc import Sequence

import typer

from cli import output
from ledger.canonical import JsonObject
from ledger.flags import CONFOUNDED, QUARANTINE
from ledger.scoring.unscorable import find_unscorable


def print_round(body: JsonObject, facts: Sequence[JsonObject]) -> None:
    """Print a round: arms, what differs between them, faults, parity, facts."""
    attempt = body.get("attempt", 1)
    after = f"  attempt {attempt} ({retries_text(attempt)})" if attempt > 1 else ""
    typer.echo(f"round      {body['id']}{after}")
    print_arms(body["arms"])
    for name, values in _differing_settings(body["arms"]):
        typer.echo(f"differs    {name}: {', '.join(values)}")
    unscorable = find_unscorable(body)
    final = {CONFOUNDED} if unscorable else set[str]()
    for fault in body.get("faults", ()):
        kept_out = "  quarantines it: out of frontier and pins until a review accepts it"
        typer.echo(_fault_line(fault) + (kept_out if fault["code"] in QUARANTINE - final else ""))
    if unscorable:
        typer.echo(f"no speed   {unscorable.code}: {unscorable.detail}; no review lets it count")
    for point in body.get("parity", []):
        kl, top1 = (point.get(name, "not measured") for name in ("kl", "top1"))
        typer.echo(f"parity     {point['arm']}  depth {point['depth']}  KL {kl}  top-1 {top1}  of {point['trials']}")
    rows = [["metric", "context", "arm", "reps", "median", "lowest", "highest", "spread %", "unit"]]
    for fact in facts:
        spread = fact["spread_pct"]
        rows.append(
            [
                fact["metric"],
                str(fact["context"]),
                fact["arm"],
                str(len(fact["reps"])),
                _short(fact["median"]),
                _short(fact["lowest"]),
                _short(fact["highest"]),
                "one rep" if spread is None else _short(spread),
                fact["unit"],
            ]
        )
    typer.echo("facts      computed from the raw records; better is higher for tok/s, lower for times")
    typer.echo(output.table(rows, right=frozenset({1, 3, 4, 5, 6, 7})))


def retries_text(attempt: int) -> str:
    """How often a round was tried again before this attempt gave its number."""
    return "1 retry" if attempt == 2 else f"{attempt - 1} retries"  # noqa: PLR2004 - the second is the first retry


def incident_words(body: JsonObject) -> tuple[str, str]:
    """How an attempt ended, and why, in one line."""
    return body["outcome"], " ".join(body.get("diagnosis", "").split()) or "not said"


def print_incident(body: JsonObject) -> None:
    """Print an incident: what was tried, how it ended, and why."""
    outcome, why = incident_words(body)
    typer.echo(f"round      {body['round']}  attempt {body['attempt']}")
    print_arms(body["arms"])
    typer.echo(f"ended      {outcome}: {why}")
    if "log" in body:
        log = body["log"]
        typer.echo(f"log        {log['name']}  {log['size']} bytes  {log['sha256']}")


def print_arms(arms: Sequence[JsonObject]) -> None:
    """Print the arms, each with its code."""
    for arm in arms:
        commit = f"  commit {arm['commit']}" if "commit" in arm else ""
        typer.echo(f"arm        {arm['role']}  code {arm['code_sha256'][:12]}{commit}")


def _differing_settings(arms: Sequence[JsonObject]) -> list[tuple[str, list[str]]]:
    """Settings in which the arms differ, with each arm's value."""
    settings = [arm.get("settings", {}) for arm in arms]
    names = sorted({name for each in settings for name in each})
    values = {name: [str(each.get(name, "not given")) for each in settings] for name in names}
    return [(name, found) for name, found in values.items() if len(set(found)) > 1]


def _short(decimal: str) -> str:
    """A six-place decimal with two places, for the table; ``--json`` has them all."""
    return f"{float(decimal):.2f}"


def print_imported(body: JsonObject) -> None:
    """Print an imported figure: what its source printed, and every fault of it."""
    for name in ("value", "main", "frontier"):
        if name in body:
            typer.echo(f"{name:<10} {body[name]['value']}  from {body[name]['origin']}")
    for fault in body["faults"]:
        typer.echo(_fault_line(fault))


def _fault_line(fault: JsonObject) -> str:
    where = f"  ({fault['where']})" if fault.get("where") else ""
    return f"fault      {fault['code']}: {fault['message']}{where}"
