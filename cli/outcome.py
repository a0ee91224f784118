"""What writing commands do at the end: seal and report, or attest into files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import typer

from cli import output
from cli.context import Ledger, read_envelope
from ledger.admission import State
from ledger.canonical import JsonObject
from ledger.checkpoint import parse_checkpoint
from ledger.draft import Draft, sign_draft
from ledger.dsse import PAYLOAD_TYPE
from ledger.errors import MalformedError, PolicyError, RefusedError
from ledger.examine import Claim, examine
from ledger.flags import quarantine_codes
from ledger.kinds import NODE_KINDS
from ledger.loading import find_figure, read_again, read_state
from ledger.receipt import decode_receipt
from ledger.round import says_the_same
from ledger.scoring.unscorable import find_unscorable
from ledger.sealed import Sealed
from ledger.statement import SignedStatement, export_envelope, import_envelope
from ledger.store.disk import storage_errors

INBOX = "inbox"
ATTESTED = "attested"


def report_sealed(ledger: Ledger, sealed: Sequence[Sealed], notes: Sequence[str], *, as_json: bool) -> None:
    """Print what was sealed."""
    for note in notes:
        output.notice(note)
    checkpoint = parse_checkpoint(ledger.store.read_checkpoint() or b"")
    rounds = [_sealed_round(ledger, item.index) for item in sealed]
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
                        "quarantine": list(quarantine_codes(body)) if body else [],
                    }
                    for item, body in zip(sealed, rounds, strict=True)
                ],
                "notes": list(notes),
            },
        )
        return
    for item, body in zip(sealed, rounds, strict=True):
        word = "already sealed as" if item.existed else "sealed"
        typer.echo(f"{word} receipt {item.index}  {item.digest.hex()}")
        if body:
            _say_what_keeps_out(item.index, body)


def _say_what_keeps_out(index: int, body: JsonObject) -> None:
    """Say what keeps a round out of frontier and pins, if anything does."""
    unscorable, codes = find_unscorable(body), quarantine_codes(body)
    if unscorable:
        output.notice(
            f"receipt {index} tells no speed, and no review lets it count: {unscorable.code}: {unscorable.detail}"
        )
    elif codes:
        output.notice(
            f"receipt {index} is in quarantine ({', '.join(codes)}): it stays out of frontier and pins until "
            f"rungbook ruling review {index} --outcome accepted"
        )


def _sealed_round(ledger: Ledger, index: int) -> JsonObject | None:
    """What a sealed round says; none for every other kind."""
    statement = decode_receipt(ledger.store.read_receipt(index)).statement
    return statement.body if statement.kind == "round" else None


def seal_or_attest(
    ledger: Ledger, draft: Draft, target: str, ledger_key: Path | None, *, lock_timeout: float, as_json: bool
) -> None:
    """Seal one draft, or write it as an envelope when `target` names one."""
    if target:
        attest_drafts(ledger, [draft], target, as_json=as_json)
        return
    sealed = ledger.writer(ledger_key, lock_timeout).append([draft])
    report_sealed(ledger, sealed, [], as_json=as_json)


def attest_drafts(ledger: Ledger, drafts: Sequence[Draft], target: str, *, as_json: bool) -> None:
    """Sign drafts and write each as an envelope, to be sealed by whoever holds the ledger's key."""
    state = read_state(ledger.store, ledger.store.snapshot_file())
    waiting = _note_waiting(state, ledger)
    signed = []
    for draft in drafts:
        same = next((item for item in waiting if _says(item, draft)), None)
        if same is None:
            _refuse_sealed(ledger, state, draft)
            same = sign_draft(state, draft, state.basis())
            claim = examine(same, state.keys)
            if draft.kind in NODE_KINDS:  # what maintainers sign may still lack signatures
                state.admit(claim)
            state.expect(claim)
            waiting.append(same)
        signed.append(same)
    write_envelopes(signed, target, ledger, as_json=as_json)


def _refuse_sealed(ledger: Ledger, state: State, draft: Draft) -> None:
    index = find_figure(state, draft.kind, draft.body)
    if index is not None:
        receipt = decode_receipt(read_again(ledger.store, state, index))
        if says_the_same(receipt.statement.body, draft.body):
            raise RefusedError("E_SEALED", f"this {draft.kind} is sealed already, as receipt {index}")


def _says(signed: SignedStatement, draft: Draft) -> bool:
    statement = signed.statement
    body = statement.predicate.get(draft.kind)
    return statement.kind == draft.kind and isinstance(body, dict) and says_the_same(body, draft.body)


def _note_waiting(state: State, ledger: Ledger) -> list[SignedStatement]:
    """Statements that were attested here and are not sealed yet: they have taken numbers of their producers."""
    waiting: list[SignedStatement] = []
    for folder in (ledger.root / INBOX, ledger.store.local / ATTESTED):
        for path in sorted(folder.glob("*.json")) if folder.is_dir() else []:
            signed = _read_attested(path)
            claim = _claim_of(signed)
            if claim is None or any(item.statement.raw == signed.statement.raw for item in waiting):
                continue
            if claim.identity not in state.identities:
                state.expect(claim)
                waiting.append(signed)
            elif folder.name == ATTESTED:
                path.unlink(missing_ok=True)  # sealed: its number is in the ledger now
    return waiting


def _read_attested(path: Path) -> SignedStatement:
    try:
        return import_envelope(read_envelope(path))
    except MalformedError as err:
        raise MalformedError(err.code, err.message, where=f"{path} {err.where}".strip()) from err


def _claim_of(signed: SignedStatement) -> Claim | None:
    """What a waiting statement claims; none when it is no statement of ours, and so has taken no number."""
    try:
        return examine(signed, None)
    except (MalformedError, RefusedError, PolicyError):
        return None


def write_envelopes(signed: Sequence[SignedStatement], target: str, ledger: Ledger, *, as_json: bool) -> None:
    """Write signed statements as DSSE envelopes: to one file, or into a folder under names made of their digests."""
    inbox = ledger.root / INBOX
    into_folder = not target or target.endswith(os.sep) or Path(target).is_dir()
    if not into_folder and len(signed) != 1:
        raise RefusedError("E_OUTPUT", f"{len(signed)} statements need a folder, not a file", where=target)
    written = []
    for item in signed:
        name = f"{item.statement.identity.hex()}.json"
        path = (Path(target) if target else inbox) / name if into_folder else Path(target)
        write_whole(path, export_envelope(item))
        if path.parent.absolute() != inbox.absolute():  # remember the number that it has taken
            ledger.store.prepare_local()
            write_whole(ledger.store.local / ATTESTED / name, export_envelope(item))
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
