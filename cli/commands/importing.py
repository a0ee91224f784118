"""``rungbook import``: figures of other ledgers, kept whole with every fault that was found in them. Never attested."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from cli import output
from cli.context import Ledger, find_ledger, load_private_key, read_input
from cli.given import read_counts
from cli.options import JsonOption, KeyOption, LedgerKeyOption, LedgerOption, LockTimeoutOption
from cli.status import reports_errors
from ledger.canonical import JsonObject
from ledger.checkpoint import parse_checkpoint
from ledger.draft import Draft
from ledger.errors import MalformedError
from ledger.ingest.faults import CATALOGUE
from ledger.ingest.k3_baseline import Given, read_baseline
from ledger.ingest.sparkinfer.log import ImportedRun, read_log
from ledger.ingest.sparkinfer.tdx import NOT_COVERED, verify_tdx
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
    importing.command(
        "k3-baseline",
        epilog="Example: rungbook import k3-baseline baseline.json --at 2026-07-31T02:12:13Z --key scorer",
    )(k3_baseline)
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
    sealed = _seal(found, runs, key, ledger_key, lock_timeout)
    if as_json:
        _write_json(found, runs, sealed, NOT_COVERED)
        return
    _print(runs, sealed)
    typer.echo("a quote that holds vouches for container, output, input digest, nonce and key; not for:")
    typer.echo(f"  {', '.join(NOT_COVERED)}")


@reports_errors
def k3_baseline(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Files of K3's bench/results.")],
    *,
    key: KeyOption,
    at: Annotated[
        str, typer.Option("--at", metavar="TIME", help="When it was measured, where the file is silent.")
    ] = "",
    context: Annotated[
        list[str] | None,
        typer.Option("--context", metavar="ENTRY=TOKENS", help="Tokens in context of an entry, where no option tells."),
    ] = None,
    project: Annotated[
        str, typer.Option("--project", metavar="P", help="Project of the slot; default: the engine that was measured.")
    ] = "",
    ledger: LedgerOption = None,
    ledger_key: LedgerKeyOption = None,
    lock_timeout: LockTimeoutOption = LOCK_TIMEOUT_S,
    as_json: JsonOption = False,
) -> None:
    """Seal every figure of K3's baselines as an imported one, with its faults: no repetition of any is kept.

    Doing it again seals nothing twice.
    """
    found = find_ledger(ledger)
    given = Given(at=at, contexts=read_counts(context or [], "--context"), project=project)
    runs = [ImportedRun(body=body) for path in files for body in read_baseline(read_input(path), str(path), given)]
    sealed = _seal(found, runs, key, ledger_key, lock_timeout)
    if as_json:
        _write_json(found, runs, sealed, ())
        return
    _print(runs, sealed)


def _seal(
    found: Ledger, runs: Sequence[ImportedRun], key: Sequence[Path], ledger_key: Path | None, lock_timeout: float
) -> list[Sealed]:
    """Seal what is new of these runs; what is sealed already is named."""
    signers = [load_private_key(path) for path in key]
    known = _sealed_before(found, runs, {signer.public.keyid for signer in signers})
    drafts = [Draft(kind="imported", body=run.body, signers=signers) for run in runs if run.body["id"] not in known]
    new = iter(found.writer(ledger_key, lock_timeout).append(drafts) if drafts else ())
    return [known.get(run.body["id"]) or next(new) for run in runs]


def _write_json(
    found: Ledger, runs: Sequence[ImportedRun], sealed: Sequence[Sealed], not_covered: Sequence[str]
) -> None:
    checkpoint = parse_checkpoint(found.store.read_checkpoint() or b"")
    output.write_json(
        "import",
        {
            "origin": checkpoint.origin,
            "tree_size": checkpoint.size,
            "root_hash": checkpoint.root.hex(),
            "runs": [_run_json(run, item) for run, item in zip(runs, sealed, strict=True)],
            "faults": dict(sorted(_count_faults(runs).items())),
            "not_covered": list(not_covered),
        },
    )


def _count_faults(runs: Sequence[ImportedRun]) -> Counter[str]:
    return Counter(fault["code"] for run in runs for fault in run.body["faults"])


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


def _print(runs: Sequence[ImportedRun], sealed: Sequence[Sealed]) -> None:
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
    for code, count in sorted(_count_faults(runs).items()):
        typer.echo(f"  {count:4}  {code}: {CATALOGUE[code].meaning}")
