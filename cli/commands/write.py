"""``rungbook append``, ``attest`` and ``seal``: rounds into the ledger."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from cli import output
from cli.context import Ledger, find_ledger, load_private_key, read_envelope
from cli.inbox import in_sealing_order
from cli.inputs import read_rounds
from cli.options import JsonOption, KeyOption, LedgerKeyOption, LedgerOption, LockTimeoutOption
from cli.outcome import attest_drafts, report_sealed, write_envelopes
from cli.status import REFUSED, reports_errors
from cli.tool_options import ToolOptions, takes_tool_options
from ledger.draft import Draft
from ledger.errors import LedgerError, MalformedError, RefusedError
from ledger.json_input import parse_json
from ledger.log import LOCK_TIMEOUT_S, MAX_GROUP
from ledger.sealed import Sealed
from ledger.statement import SignedStatement, import_envelope
from ledger.store.disk import storage_errors

FilesArgument: TypeAlias = Annotated[
    list[Path] | None, typer.Argument(metavar="[FILE]...", help="Round JSON; with --from, runs of the arm main.")
]
_EXAMPLE = (
    "Example: rungbook {} --from llama-bench --arm main=a.json --arm candidate=b.json "
    "--slot project=demo,node=n1,quant=F32,context=512,metric=prefill_tok_s --code main=SHA256 "
    "--code candidate=SHA256 --weights model.gguf --harness llama-bench --key scorer"
)

_MARK = b'"payloadType"'
"""What stands in every envelope."""


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(epilog=_EXAMPLE.format("append"))(append)
    app.command(epilog=_EXAMPLE.format("attest"))(attest)
    app.command(epilog="Example: rungbook seal inbox/ --ledger-key ledger")(seal)


@reports_errors
@takes_tool_options
def append(
    files: FilesArgument = None,
    *,
    key: KeyOption,
    options: ToolOptions,
    ledger: LedgerOption = None,
    ledger_key: LedgerKeyOption = None,
    lock_timeout: LockTimeoutOption = LOCK_TIMEOUT_S,
    as_json: JsonOption = False,
) -> None:
    """Sign rounds and seal them at once: all of them, or none. Doing it again returns the receipts that exist."""
    found = find_ledger(ledger)
    drafts, notes = _drafts(found, files or [], options, key)
    try:
        sealed = found.writer(ledger_key, lock_timeout).append(drafts)
    except (MalformedError, RefusedError) as err:
        raise name_file(err, files or []) from err
    report_sealed(found, sealed, notes, as_json=as_json)


@reports_errors
@takes_tool_options
def attest(
    files: FilesArgument = None,
    *,
    key: KeyOption,
    options: ToolOptions,
    target: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE|DIR", help="Where to; default: the ledger's folder inbox.")
    ] = "",
    ledger: LedgerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Sign rounds without sealing them: write DSSE envelopes that the ledger's holder seals.

    Given an envelope, adds the signature of --key to it.
    """
    found = find_ledger(ledger)
    envelopes = [] if options.tool else _envelopes(files or [])
    if envelopes:
        if options.given():
            raise RefusedError("E_OPTION", f"{options.given()[0]} needs --from TOOL; an envelope says all of it itself")
        cosigned = [_cosign(item, key) for item in envelopes]
        write_envelopes(cosigned, target, found, as_json=as_json)
        return
    drafts, notes = _drafts(found, files or [], options, key)
    for note in notes:
        output.notice(note)
    attest_drafts(found, drafts, target, as_json=as_json)


@reports_errors
def seal(
    paths: Annotated[
        list[Path], typer.Argument(metavar="FILE|DIR...", help="Attested statements, or folders of them.")
    ],
    *,
    skip_refused: Annotated[
        bool, typer.Option(help="Seal what is acceptable although other files are refused (status 5 all the same).")
    ] = False,
    remove: Annotated[bool, typer.Option(help="Remove the files of sealed statements afterwards.")] = False,
    ledger: LedgerOption = None,
    ledger_key: LedgerKeyOption = None,
    lock_timeout: LockTimeoutOption = LOCK_TIMEOUT_S,
    as_json: JsonOption = False,
) -> None:
    """Seal attested statements: all of them, or none. What is sealed already stays as it is."""
    found = find_ledger(ledger)
    log = found.writer(ledger_key, lock_timeout)
    waiting, refused = _read_waiting(paths, skip_refused=skip_refused)
    sealed: list[Sealed] = []
    done: list[Path] = []
    stopped: LedgerError | None = None
    step = 1 if skip_refused else MAX_GROUP
    for start in range(0, len(waiting), step):
        group = waiting[start : start + step]
        files = [path for path, _ in group]
        try:
            sealed += log.append([signed for _, signed in group])
        except LedgerError as err:
            if not skip_refused or not isinstance(err, MalformedError | RefusedError):
                stopped = name_file(err, files)
                break
            refused.append(f"{files[0]}: {err}")
            continue
        done += files
    if sealed or not stopped:
        with output.unread_is_no_error():
            report_sealed(found, sealed, refused, as_json=as_json and not stopped)
    for path in done if remove else []:
        with storage_errors("remove", path):
            path.unlink()
    if stopped:
        raise stopped
    if refused:
        raise typer.Exit(REFUSED)


def _drafts(ledger: Ledger, files: list[Path], options: ToolOptions, keys: list[Path]) -> tuple[list[Draft], list[str]]:
    bodies, notes = read_rounds(files, options, ledger.config)
    signers = [load_private_key(path) for path in keys]
    return [Draft(kind="round", body=body, signers=signers) for body in bodies], notes


def _envelopes(files: list[Path]) -> list[SignedStatement]:
    """The files as envelopes, when they are envelopes; empty when they are rounds."""
    raws = [read_envelope(path) for path in files]
    if not all(_MARK in raw for raw in raws):  # what is no JSON at all may be a tool's file
        return []
    values = [parse_json(raw, what=str(path), fractions=True) for raw, path in zip(raws, files, strict=True)]
    if not all(isinstance(value, dict) and "payloadType" in value for value in values):
        return []
    return [import_envelope(raw) for raw in raws]


def _cosign(signed: SignedStatement, keys: list[Path]) -> SignedStatement:
    for path in keys:
        signed = signed.cosign(load_private_key(path))
    return signed


def _read_waiting(paths: list[Path], *, skip_refused: bool) -> tuple[list[tuple[Path, SignedStatement]], list[str]]:
    """Attested statements in the order in which their producers numbered them."""
    waiting: list[tuple[Path, SignedStatement]] = []
    refused: list[str] = []
    for path in _expand(paths):
        try:
            waiting.append((path, import_envelope(read_envelope(path))))
        except MalformedError as err:
            if not skip_refused:
                raise MalformedError(err.code, err.message, where=f"{path} {err.where}".strip()) from err
            refused.append(f"{path}: {err}")
    return in_sealing_order(waiting), refused


def _expand(paths: list[Path]) -> list[Path]:
    files: list[Path] = []
    for path in paths:
        files += sorted(path.glob("*.json")) if path.is_dir() else [path]
    return files


def name_file(error: LedgerError, files: Sequence[Path]) -> LedgerError:
    """The error, with the file that it is about instead of the position in the group."""
    if error.index is not None or not files:
        return error
    position, _, rest = error.where.removeprefix("/").partition("/")
    if len(files) == 1:
        place = error.where
    elif position.isdecimal() and int(position) < len(files):
        place = f"/{rest}" if rest else ""
    else:
        return error
    file = files[int(position)] if len(files) > 1 else files[0]
    return type(error)(error.code, error.message, where=f"{file} {place}".strip())
