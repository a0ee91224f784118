"""``rungbook incident``: attempts at a round that ended without a number."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from cli import output
from cli.context import find_ledger, load_private_key, read_input
from cli.given import code_digest, digest_of, read_axes, read_pairs
from cli.history import open_log, slot_filter
from cli.options import (
    AttestOption,
    JsonOption,
    KeyOption,
    LedgerKeyOption,
    LedgerOption,
    LockTimeoutOption,
    SlotFilterOption,
)
from cli.outcome import seal_or_attest
from cli.round_words import incident_words
from cli.status import reports_errors
from ledger.canonical import JsonObject
from ledger.draft import Draft
from ledger.errors import RefusedError
from ledger.ingest.companions import attachment_name
from ledger.ingest.options import ROLES, read_slot
from ledger.kinds import ENDINGS, check_body
from ledger.log import LOCK_TIMEOUT_S
from ledger.scoring.rung import read_slot as as_slot
from ledger.verified import VerifiedLog


def register(app: typer.Typer) -> None:
    """Add the commands."""
    incident = typer.Typer(
        name="incident", help="Attempts at a round that ended without a number.", no_args_is_help=True
    )
    incident.command(
        epilog="Example: rungbook incident record --round pr-7 --outcome infra --diagnosis 'CUDA out of memory' "
        "--log run.log --slot project=demo,node=n1,quant=F32,context=512,metric=prefill_tok_s "
        "--code candidate=SHA256 --key scorer"
    )(record)
    incident.command("list", epilog="Example: rungbook incident list --slot node=n1")(list_incidents)
    app.add_typer(incident)


@reports_errors
def record(
    *,
    round_id: Annotated[str, typer.Option("--round", metavar="ID", help="Id of the round that it was to be.")],
    outcome: Annotated[
        str,
        typer.Option(
            metavar="WORD",
            help="infra: machine or engine failed; config: set up wrongly; refused: no measurement came out.",
        ),
    ],
    key: KeyOption,
    attempt: Annotated[int, typer.Option(metavar="N", min=1, max=1000, help="Which attempt at that round.")] = 1,
    diagnosis: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Why. Without it no later attempt at the round is accepted.")
    ] = None,
    log_file: Annotated[
        Path | None, typer.Option("--log", metavar="FILE", help="What the run left behind; kept by digest.")
    ] = None,
    slot: Annotated[
        list[str] | None, typer.Option(metavar="AXIS=VALUE,...", help="What was to be measured, as for append.")
    ] = None,
    code: Annotated[
        list[str] | None, typer.Option(metavar="ROLE=SHA256|FILE|DIR[:SUB,...]", help="The code of an arm, likewise.")
    ] = None,
    commit: Annotated[list[str] | None, typer.Option(metavar="ROLE=COMMIT", help="Commit of an arm.")] = None,
    output_file: AttestOption = "",
    ledger: LedgerOption = None,
    ledger_key: LedgerKeyOption = None,
    lock_timeout: LockTimeoutOption = LOCK_TIMEOUT_S,
    as_json: JsonOption = False,
) -> None:
    """Seal that an attempt at a round ended without a number. Signed by a scorer of the slot's node.

    The round itself, measured by a later attempt, is appended with --round ID --attempt N.
    """
    if outcome not in ENDINGS:
        raise RefusedError("E_OPTION", f"expected {', '.join(ENDINGS)}, found {outcome!r}", where="--outcome")
    found = find_ledger(ledger)
    body: JsonObject = {
        "round": round_id,
        "attempt": attempt,
        "outcome": outcome,
        "slot": read_slot({**found.config.slot, **read_axes(slot or [])}),
        "arms": _read_arms(code or [], commit or []),
    }
    body |= {"diagnosis": diagnosis} if diagnosis is not None else {}
    body |= {"log": _read_log(log_file)} if log_file else {}
    check_body("incident", body)
    draft = Draft(kind="incident", body=body, signers=[load_private_key(path) for path in key])
    seal_or_attest(found, draft, output_file, ledger_key, lock_timeout=lock_timeout, as_json=as_json)
    if diagnosis is None:
        output.notice(
            f"it does not say why: a later attempt at {round_id} is refused until the same is recorded with --diagnosis"
        )


def _read_arms(codes: list[str], commits: list[str]) -> list[JsonObject]:
    if not codes:
        raise RefusedError("E_MISSING", "give --code ROLE=… of what was to be measured", where="--code")
    digests, named = read_pairs(codes, "--code", ROLES), read_pairs(commits, "--commit", ROLES)
    for role in named.keys() - digests.keys():
        raise RefusedError("E_OPTION", f"the arm {role!r} has no --code", where="--commit")
    return [
        {"role": role, "code_sha256": code_digest(value, f"--code {role}")}
        | ({"commit": named[role]} if role in named else {})
        for role, value in digests.items()
    ]


def _read_log(path: Path) -> JsonObject:
    if not path.is_file():
        read_input(path)  # says what it is instead
    return {"name": attachment_name(path.name), "sha256": digest_of(str(path), "--log"), "size": path.stat().st_size}


@reports_errors
def list_incidents(*, slot: SlotFilterOption = "", ledger: LedgerOption = None, as_json: JsonOption = False) -> None:
    """List attempts that ended without a number, and whether a later one gave one. Verifies the ledger first."""
    log, wanted = open_log(find_ledger(ledger)), slot_filter(slot)
    bodies = {index: log.receipt(index).statement.body for index in log.of_kind("incident")}
    bodies = {index: body for index, body in bodies.items() if wanted(as_slot(body["slot"]))}
    ends = _ends(log, bodies) if bodies else {}
    if as_json:
        listed = [
            {"diagnosis": None, "log": None}
            | body
            | {"index": index, "sha256": log.entries[index].digest.hex()}
            | ends[index]._asdict()
            for index, body in bodies.items()
        ]
        output.write_json("incidents", {"tree_size": len(log.entries), "incidents": listed})
        return
    if not bodies:
        typer.echo("nothing here yet")
        return
    rows = [
        [str(index), body["round"], str(body["attempt"]), *incident_words(body), ends[index].text()]
        for index, body in bodies.items()
    ]
    head = ["receipt", "round", "attempt", "outcome", "diagnosis", "number"]
    typer.echo(output.table([head, *rows], right=frozenset({0, 2})))


class _End(NamedTuple):
    """What came of a failed attempt: the receipt with the number, and rulings about that and about the incident."""

    number: int | None
    number_gone_at: int | None
    gone_at: int | None

    def text(self) -> str:
        """In words."""
        found = "none" if self.number is None else f"receipt {self.number}"
        if self.number_gone_at is not None:
            found += f", void since receipt {self.number_gone_at}"
        return found if self.gone_at is None else f"the incident is void since receipt {self.gone_at}"


def _ends(log: VerifiedLog, incidents: Mapping[int, JsonObject]) -> dict[int, _End]:
    rulings = [(index, log.receipt(index).statement.body) for index in log.of_kind("ruling")]
    gone: dict[str, int] = {}
    for index, body in rulings:
        if body["action"] in ("void", "supersede"):
            gone.setdefault(body["receipt"], index)
    bodies = ((index, log.receipt(index).statement.body) for index in log.of_kind("round"))
    rounds = {(body["slot"]["node"], body["id"]): index for index, body in bodies}

    def gone_at(index: int | None) -> int | None:
        return None if index is None else gone.get(log.entries[index].digest.hex())

    found = {}
    for index, body in incidents.items():
        number = rounds.get((body["slot"]["node"], body["round"]))
        found[index] = _End(number, gone_at(number), gone_at(index))
    return found
