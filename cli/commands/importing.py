"""``rungbook import``: figures of other ledgers, kept whole with every fault that was found in them. Never attested."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from cli import output
from cli.context import Ledger, find_ledger, load_private_key
from cli.options import JsonOption, KeyOption, LedgerKeyOption, LedgerOption, LockTimeoutOption
from cli.status import reports_errors
from ledger.canonical import JsonObject
from ledger.checkpoint import parse_checkpoint
from ledger.draft import Draft
from ledger.errors import MalformedError
from ledger.ingest.sparkinfer_faults import FAULTS
from ledger.ingest.sparkinfer_log import ImportedRun, read_log
from ledger.ingest.tdx import NOT_COVERED, verify_tdx
from ledger.loading import find_figure, read_again, read_state
from ledger.log import LOCK_TIMEOUT_S
from ledger.receipt import decode_receipt, file_digest
from ledger.sealed import Sealed


def register(app: typer.Typer) -> None:
    """Add the commands."""
    importing = typer.Typer(name="import", help="Import figures from another ledger.", no_args_is_help=True)
    importing.command("sparkinfer-log", epilog="Example: rungbook import sparkinfer-log ../log --key scorer")(
        sparkinfer_log
    )
    importing.callback()(_group)
    app.add_typer(importing)


def _group() -> None:
    """Import figures from another ledger."""


@reports_errors
def sparkinfer_log(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder with ledger.jsonl, index.json and runs/.")],
    *,
    key: KeyOption,
    ledger: LedgerOption = None,
    ledger_key: LedgerKeyOption = None,
    lock_timeout: LockTimeoutOption = LOCK_TIMEOUT_S,
    as_json: JsonOption = False,
) -> None:
    """Seal every run of a sparkinfer log as an imported figure: its bytes by digest, its verdicts, and its faults.

    The hardware quote of each run is verified offline. Doing it again seals nothing twice.
    """
    found = find_ledger(ledger)
    runs = read_log(folder, attest=_check_quote)
    signers = [load_private_key(path) for path in key]
    known = _sealed_before(found, runs, {signer.public.keyid for signer in signers})
    drafts = [Draft(kind="imported", body=run.body, signers=signers) for run in runs if run.body["id"] not in known]
    new = iter(found.writer(ledger_key, lock_timeout).append(drafts) if drafts else ())
    sealed = [known.get(run.body["id"]) or next(new) for run in runs]
    faults = Counter(fault["code"] for run in runs for fault in run.body["faults"])
    if as_json:
        checkpoint = parse_checkpoint(found.store.read_checkpoint() or b"")
        output.write_json(
            "import",
            {
                "origin": checkpoint.origin,
                "tree_size": checkpoint.size,
                "root_hash": checkpoint.root.hex(),
                "runs": [_run_json(run, item) for run, item in zip(runs, sealed, strict=True)],
                "faults": dict(sorted(faults.items())),
                "not_covered": list(NOT_COVERED),
            },
        )
        return
    _print(runs, sealed, faults)


def _sealed_before(ledger: Ledger, runs: Sequence[ImportedRun], keyids: set[str]) -> dict[str, Sealed]:
    """Runs whose files are sealed already, byte for byte, by the same keys.

    What is said of a run depends on the others (its place, a figure that comes again), so a log that has grown says it
    differently. The same files are the same run all the same.
    """
    state = read_state(ledger.store, ledger.store.snapshot_file())
    found = {}
    for run in runs:
        index = find_figure(state, "imported", run.body)
        if index is None:
            continue
        raw = read_again(ledger.store, state, index)
        signed = decode_receipt(raw).signed
        statement, same_keys = signed.statement, {item.keyid for item in signed.signatures} == keyids
        if same_keys and statement.kind == "imported" and statement.body["files"] == run.body["files"]:
            digest = file_digest(raw)
            found[run.body["id"]] = Sealed(index=index, digest=digest, identity=statement.identity, existed=True)
    return found


def _check_quote(tdx: JsonObject, at: dt.datetime) -> list[JsonObject]:
    try:
        report = verify_tdx(tdx, at=at)
    except MalformedError as err:  # a fault of what is imported: kept with it, like every other one
        return [{"name": "quote", "holds": False, "detail": f"{err.code}: {err.message}"}]
    return [{"name": check.name, "holds": check.holds, "detail": check.detail} for check in report.checks]


def _run_json(run: ImportedRun, sealed: Sealed) -> JsonObject:
    held = sum(check["holds"] for check in run.body.get("checks", []))
    return {
        "index": sealed.index,
        "sha256": sealed.digest.hex(),
        "existed": sealed.existed,
        "id": run.body["id"],
        "faults": [fault["code"] for fault in run.body["faults"]],
        "checks": {"held": held, "failed": len(run.body.get("checks", [])) - held},
    }


def _print(runs: Sequence[ImportedRun], sealed: Sequence[Sealed], faults: Counter[str]) -> None:
    head = ["receipt", "run", "context", "metric", "value", "quote", "faults"]
    rows = [head]
    for run, item in zip(runs, sealed, strict=True):
        body, checks = run.body, run.body.get("checks", [])
        quote = "none" if not checks else "holds" if all(check["holds"] for check in checks) else "FAILS"
        rows.append(
            [
                str(item.index),
                body["source"]["record"][:12],
                str(body["slot"]["context"]),
                body["slot"]["metric"],
                body["value"]["value"],
                quote,
                str(len(body["faults"])),
            ]
        )
    typer.echo(output.table(rows, right=frozenset({0, 2, 4, 6})))
    new = sum(not item.existed for item in sealed)
    typer.echo(f"{new} sealed, {len(sealed) - new} were sealed already; none of them is attested")
    for code, count in sorted(faults.items()):
        typer.echo(f"  {count:4}  {code}: {FAULTS[code]}")
    typer.echo("a quote that holds vouches for container, output, input digest, nonce and key; not for:")
    typer.echo(f"  {', '.join(NOT_COVERED)}")
