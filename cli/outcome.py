"""What writing commands do at the end: seal and report, or attest into files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import typer

from cli import output
from cli.context import Ledger
from ledger.admission import State
from ledger.checkpoint import parse_checkpoint
from ledger.draft import Draft, sign_draft
from ledger.dsse import PAYLOAD_TYPE
from ledger.errors import RefusedError
from ledger.examine import examine
from ledger.loading import read_state
from ledger.log import Sealed
from ledger.statement import SignedStatement, export_envelope, import_envelope
from ledger.store.disk import storage_errors

INBOX = "inbox"


def report_sealed(ledger: Ledger, sealed: Sequence[Sealed], notes: Sequence[str], *, as_json: bool) -> None:
    """Print what was sealed."""
    for note in notes:
        output.notice(note)
    checkpoint = parse_checkpoint(ledger.store.read_checkpoint() or b"")
    if as_json:
        output.write_json(
            "append",
            {
                "origin": checkpoint.origin,
                "tree_size": checkpoint.size,
                "root_hash": checkpoint.root.hex(),
                "receipts": [
                    {
                        "index": item.index,
                        "sha256": item.digest.hex(),
                        "statement": item.identity.hex(),
                        "existed": item.existed,
                    }
                    for item in sealed
                ],
                "notes": list(notes),
            },
        )
        return
    for item in sealed:
        word = "already sealed as" if item.existed else "sealed"
        typer.echo(f"{word} receipt {item.index}  {item.digest.hex()}")


def attest_drafts(ledger: Ledger, drafts: Sequence[Draft], target: Path | None, *, as_json: bool) -> None:
    """Sign drafts and write each as an envelope, to be sealed by whoever holds the ledger's key."""
    inbox = ledger.root / INBOX
    state = read_state(ledger.store, ledger.store.snapshot_file())
    waiting = _note_waiting(state, inbox)
    signed = []
    for draft in drafts:
        same = next((item for item in waiting if _says(item, draft)), None)
        if same is None:
            same = sign_draft(state, draft, state.basis())
            claim = examine(same, state.keys)
            if draft.kind == "round":  # keys statements may still lack signatures
                state.admit(claim)
            state.expect(claim)
            waiting.append(same)
        signed.append(same)
    write_envelopes(signed, target, inbox, as_json=as_json)


def _says(signed: SignedStatement, draft: Draft) -> bool:
    statement = signed.statement
    return statement.kind == draft.kind and statement.predicate.get(draft.kind) == draft.body


def _note_waiting(state: State, inbox: Path) -> list[SignedStatement]:
    """Statements in the inbox that are not sealed yet: they have taken numbers of their producers."""
    waiting = []
    for path in sorted(inbox.glob("*.json")) if inbox.is_dir() else []:
        with storage_errors("read", path):
            signed = import_envelope(path.read_bytes())
        if signed.statement.identity not in state.identities:
            state.expect(examine(signed, None))
            waiting.append(signed)
    return waiting


def write_envelopes(signed: Sequence[SignedStatement], target: Path | None, inbox: Path, *, as_json: bool) -> None:
    """Write signed statements as DSSE envelopes: to one file, or into a folder under names made of their digests."""
    into_folder = target is None or target.is_dir() or str(target).endswith(os.sep)
    if not into_folder and len(signed) != 1:
        raise RefusedError("E_OUTPUT", f"{len(signed)} statements need a folder, not a file", where=str(target))
    written = []
    for item in signed:
        name = f"{item.statement.identity.hex()}.json"
        path = (target or inbox) / name if into_folder else target or inbox / name
        write_whole(path, export_envelope(item))
        written.append(path)
    if as_json:
        output.write_json(
            "attest",
            {
                "payload_type": PAYLOAD_TYPE,
                "files": [
                    {"file": str(path), "statement": item.statement.identity.hex()}
                    for path, item in zip(written, signed, strict=True)
                ],
            },
        )
        return
    for path in written:
        typer.echo(f"attested  {path}")
    output.say("not sealed yet: the holder of the ledger's key runs rungbook seal on it")


def write_whole(path: Path, data: bytes) -> None:
    """Write a file in one step: a reader sees all of it or the old one."""
    temporary = path.with_name(f".tmp-{os.getpid()}-{path.name}")
    with storage_errors("write", path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            temporary.write_bytes(data)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
