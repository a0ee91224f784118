"""``rungbook key``: make and show keys."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from cli import output
from cli.context import PASSPHRASE_VARIABLE, load_private_key, load_public_key, read_input
from cli.options import JsonOption
from cli.status import reports_errors
from ledger.errors import PolicyError, RefusedError
from ledger.keys import PrivateKey, PublicKey
from ledger.store.disk import storage_errors

app = typer.Typer(help="Make and show OpenSSH Ed25519 keys.", no_args_is_help=True, rich_markup_mode=None)

_PRIVATE_HEAD = b"-----BEGIN "


def register(program: typer.Typer) -> None:
    """Add the commands."""
    program.add_typer(app, name="key")


@app.command(epilog="Example: rungbook key new scorer")
@reports_errors
def new(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Private key file to make; FILE.pub is made beside it.")],
    *,
    encrypt: Annotated[
        bool, typer.Option("--encrypt", help=f"Lock it with a passphrase, from a prompt or {PASSPHRASE_VARIABLE}.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Make a key pair: FILE (mode 0600) and FILE.pub, as ssh-keygen would. Existing files are never overwritten."""
    public_file = file.with_name(file.name + ".pub")
    for path in (file, public_file):
        if path.exists():
            raise RefusedError("E_EXISTS", "the file exists and is never overwritten", where=str(path))
    key = PrivateKey.generate()
    secret = key.to_openssh(_new_passphrase() if encrypt else None)
    _create(file, secret, 0o600)
    _create(public_file, f"{key.public.openssh}\n".encode(), 0o644)
    _print_key(key.public, str(public_file), as_json=as_json, private_file=str(file))


@app.command(epilog="Example: rungbook key show scorer.pub")
@reports_errors
def show(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Public or private key file.")],
    *,
    as_json: JsonOption = False,
) -> None:
    """Show a key's id and its public half."""
    is_private = read_input(file).startswith(_PRIVATE_HEAD)
    public = load_private_key(file).public if is_private else load_public_key(file)
    _print_key(public, str(file), as_json=as_json)


def _print_key(key: PublicKey, path: str, *, as_json: bool, private_file: str = "") -> None:
    if as_json:
        files = {"private_file": private_file} if private_file else {}
        output.write_json("key", {"keyid": key.keyid, "openssh": key.openssh, "file": path, **files})
        return
    typer.echo(f"{key.keyid}  {path}")
    typer.echo(key.openssh)
    if private_file:
        output.say(f"private half in {private_file} (mode 0600): never publish it, never commit it")


def _create(path: Path, data: bytes, mode: int) -> None:
    with storage_errors("write", path):
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(handle, "wb") as file:
            file.write(data)


def _new_passphrase() -> bytes:
    given = os.environ.get(PASSPHRASE_VARIABLE)
    if given:
        return given.encode()
    if not sys.stdin.isatty():
        raise PolicyError("E_PASSPHRASE", f"--encrypt needs a terminal to ask at, or {PASSPHRASE_VARIABLE}")
    import getpass  # noqa: PLC0415 - only for a person at a terminal

    first = getpass.getpass("Passphrase: ")
    if not first or getpass.getpass("Confirm passphrase: ") != first:
        raise PolicyError("E_PASSPHRASE", "the passphrase is empty, or was not repeated")
    return first.encode()
