"""``rungbook init``, ``grant`` and ``revoke``: a ledger and who may write to it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from cli import output
from cli.context import (
    CONFIG,
    LEDGER_PASSPHRASE_VARIABLE,
    LOCAL_CONFIG,
    PASSPHRASE_VARIABLE,
    Ledger,
    find_ledger,
    load_private_key,
    load_public_key,
    open_anchor,
)
from cli.options import AttestOption, JsonOption, KeyOption, LedgerKeyOption, LedgerOption, LockTimeoutOption
from cli.outcome import seal_or_attest
from cli.status import reports_errors
from ledger.canonical import JsonObject
from ledger.draft import Draft
from ledger.errors import MalformedError, RefusedError
from ledger.keys import PrivateKey, PublicKey
from ledger.log import LOCK_TIMEOUT_S, Log
from ledger.note import NoteKey, check_name
from ledger.receipt import decode_receipt, file_digest
from ledger.store import MissingReceiptError
from ledger.store.directory import LOCAL, RECEIPTS, DirectoryStore
from ledger.store.disk import storage_errors

_CONFIG_TEXT = """\
# Published with the ledger: no secrets and no paths of one machine.
origin = {origin}

# Defaults for rungbook append --slot …, --weights and --harness:
# [slot]
# project = "my-engine"
# node = "node-1"
# quant = "Q4_K_M"
# [round]
# weights = "SHA-256 of the weights file"
# harness = "SHA-256 of the benchmark program"
"""
ROLES = ("scorer", "contributor", "maintainer")
ATTRIBUTES = ".gitattributes"
_ATTRIBUTES = f"{RECEIPTS}/** -text\n"


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(epilog="Example: rungbook init --origin example.org/bench --root-key root --ledger-key ledger")(init)
    app.command(epilog="Example: rungbook grant scorer.pub --role scorer --node node-1 --key root")(grant)
    app.command(epilog="Example: rungbook revoke scorer.pub --role scorer --key root")(revoke)


@reports_errors
def init(
    folder: Annotated[Path, typer.Argument(metavar="[DIR]", help="Folder of the new ledger.")] = Path(),
    *,
    origin: Annotated[str, typer.Option(metavar="NAME", help="Unique name, such as example.org/bench.")],
    root_key: Annotated[list[Path], typer.Option(metavar="FILE", help="Private key that signs the genesis.")],
    ledger_key: Annotated[Path, typer.Option(metavar="FILE", help="Private key that will sign checkpoints.")],
    threshold: Annotated[int, typer.Option(min=1, help="How many root keys must sign.")] = 1,
    maintainer: Annotated[
        list[Path] | None, typer.Option(metavar="PUB", help="First maintainers; default: the root keys.")
    ] = None,
    maintainer_threshold: Annotated[int, typer.Option(min=1, help="How many maintainers must sign.")] = 1,
    lock_timeout: LockTimeoutOption = LOCK_TIMEOUT_S,
    as_json: JsonOption = False,
) -> None:
    """Make a ledger: its genesis receipt, its first checkpoint, and rungbook.toml."""
    check_name(origin)
    roots = [load_private_key(path) for path in root_key]
    sealing = load_private_key(ledger_key, LEDGER_PASSPHRASE_VARIABLE, PASSPHRASE_VARIABLE)
    maintainers = [load_public_key(path) for path in maintainer or []] or [key.public for key in roots]
    body: JsonObject = {
        "origin": origin,
        "ledger_key": sealing.public.openssh,
        "root": _key_set([key.public for key in roots], threshold),
        "maintainers": _key_set(maintainers, maintainer_threshold),
    }
    _check_separate(sealing, roots)
    with storage_errors("create the folder", folder):
        folder.mkdir(parents=True, exist_ok=True)
    store = DirectoryStore(folder)
    genesis = _begun(store, folder, body)
    if genesis is None:
        log = Log(store, sealing, open_anchor, lock_timeout_s=lock_timeout, notice=output.notice)
        genesis = log.create(origin, Draft(kind="genesis", body=body, signers=roots)).digest
    _write_files(folder, origin, ledger_key)
    vkey = NoteKey(name=origin, public=sealing.public).vkey
    if as_json:
        output.write_json(
            "init", {"root": str(folder.absolute()), "origin": origin, "vkey": vkey, "genesis": genesis.hex()}
        )
        return
    typer.echo(f"new ledger {origin} in {folder.absolute()}")
    typer.echo(f"verification key  {vkey}")
    typer.echo(f"genesis           {genesis.hex()}")
    output.say("publish both where the ledger cannot change them; auditors pin them with verify --vkey and --genesis")
    output.say("next: rungbook grant SCORER.pub --role scorer --node NODE --key ROOT")


def _begun(store: DirectoryStore, folder: Path, body: JsonObject) -> bytes | None:
    """SHA-256 of the genesis of this very ledger, when it was committed and the files beside it were not written."""
    complete = all((folder / name).exists() for name in (CONFIG, ATTRIBUTES, f"{LOCAL}/{LOCAL_CONFIG}"))
    if complete or store.read_checkpoint() is None:
        return None
    try:
        raw = store.read_receipt(0)
        same = decode_receipt(raw).statement.predicate.get("genesis") == body
    except (MissingReceiptError, MalformedError):
        return None  # another ledger, or a damaged one: creating it will say so
    return file_digest(raw) if same else None


def _key_set(keys: list[PublicKey], threshold: int) -> JsonObject:
    return {"keys": [key.openssh for key in keys], "threshold": threshold}


def _check_separate(sealing: PrivateKey, roots: list[PrivateKey]) -> None:
    if any(key.public == sealing.public for key in roots):
        raise RefusedError(
            "E_SAME_KEY", "the ledger's key is used by a machine, a root key is not: take two", where="--ledger-key"
        )


def _write_files(folder: Path, origin: str, ledger_key: Path) -> None:
    config = folder / CONFIG
    attributes = folder / ATTRIBUTES
    local = folder / LOCAL / LOCAL_CONFIG
    with storage_errors("write", folder):
        if not config.exists():
            config.write_text(_CONFIG_TEXT.format(origin=_quote(origin)))
        present = attributes.read_text() if attributes.exists() else ""
        if _ATTRIBUTES not in present:
            attributes.write_text(present + _ATTRIBUTES)
        local.write_text(f"ledger_key = {_quote(str(ledger_key.absolute()))}\n")


def _quote(text: str) -> str:
    """A TOML string; for these characters it is written as JSON writes it."""
    return json.dumps(text)


@reports_errors
def grant(
    pub: Annotated[Path, typer.Argument(metavar="PUB", help="Public key file.")],
    *,
    role: Annotated[str, typer.Option(metavar="ROLE", help="scorer, contributor or maintainer.")],
    key: KeyOption,
    node: Annotated[list[str] | None, typer.Option(metavar="NODE", help="Node of a scorer; repeat it.")] = None,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Kept in the receipt.")] = "",
    output_file: AttestOption = "",
    ledger: LedgerOption = None,
    ledger_key: LedgerKeyOption = None,
    lock_timeout: LockTimeoutOption = LOCK_TIMEOUT_S,
    as_json: JsonOption = False,
) -> None:
    """Give a key a role, from this receipt on. A scorer is granted named nodes; granting again adds nodes."""
    change: JsonObject = {"action": "grant", "role": _check_role(role), "key": load_public_key(pub).openssh}
    if role == "scorer":
        if not node:
            raise RefusedError("E_NODE_MISSING", "a scorer is granted named nodes: give --node", where="--node")
        change["nodes"] = sorted(set(node))
    elif node:
        raise RefusedError("E_NODE_UNUSED", f"a {role} is not bound to nodes", where="--node")
    _change_keys(
        change, reason, key, find_ledger(ledger), output_file, ledger_key, lock_timeout=lock_timeout, as_json=as_json
    )


@reports_errors
def revoke(
    pub: Annotated[Path, typer.Argument(metavar="PUB", help="Public key file.")],
    *,
    role: Annotated[str, typer.Option(metavar="ROLE", help="scorer, contributor or maintainer.")],
    key: KeyOption,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Kept in the receipt.")] = "",
    output_file: AttestOption = "",
    ledger: LedgerOption = None,
    ledger_key: LedgerKeyOption = None,
    lock_timeout: LockTimeoutOption = LOCK_TIMEOUT_S,
    as_json: JsonOption = False,
) -> None:
    """Take a role from a key, from this receipt on. What it signed before stays valid."""
    change: JsonObject = {"action": "revoke", "role": _check_role(role), "key": load_public_key(pub).openssh}
    _change_keys(
        change, reason, key, find_ledger(ledger), output_file, ledger_key, lock_timeout=lock_timeout, as_json=as_json
    )


def _check_role(role: str) -> str:
    if role not in ROLES:
        raise RefusedError("E_ROLE_NAME", f"there is no role {role!r}; known: {', '.join(ROLES)}", where="--role")
    return role


def _change_keys(
    change: JsonObject,
    reason: str,
    keys: list[Path],
    ledger: Ledger,
    output_file: str,
    ledger_key: Path | None,
    *,
    lock_timeout: float,
    as_json: bool,
) -> None:
    body: JsonObject = {"changes": [change]} | ({"reason": reason} if reason else {})
    draft = Draft(kind="keys", body=body, signers=[load_private_key(path) for path in keys])
    seal_or_attest(ledger, draft, output_file, ledger_key, lock_timeout=lock_timeout, as_json=as_json)
