"""Where the command runs: the ledger found upward from the working folder, its configuration, and keys."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cli import output
from ledger.canonical import MAX_BYTES
from ledger.errors import MalformedError, PolicyError, StorageError
from ledger.keys import PrivateKey, PublicKey, parse_private_key, parse_public_key_file
from ledger.store.directory import CHECKPOINT, LOCAL, RECEIPTS, DirectoryStore, receipt_name
from ledger.store.disk import read_file, read_regular_file

if TYPE_CHECKING:
    from ledger.log import Log
    from ledger.note import NoteKey
    from ledger.store.anchor import FileAnchor

CONFIG = "rungbook.toml"
LOCAL_CONFIG = "local.toml"
LEDGER_KEY_VARIABLE = "RUNGBOOK_LEDGER_KEY"
PASSPHRASE_VARIABLE = "RUNGBOOK_PASSPHRASE"  # noqa: S105 - the name of a variable, not a secret
LEDGER_PASSPHRASE_VARIABLE = "RUNGBOOK_LEDGER_PASSPHRASE"  # noqa: S105 - the name of a variable, not a secret

_KEY_FILE_LIMIT = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """``rungbook.toml``: published with the ledger, so it holds no secret and no path of one machine."""

    origin: str = ""
    slot: dict[str, str] = field(default_factory=dict)
    round: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """A ledger on this machine."""

    root: Path
    store: DirectoryStore
    config: Config

    def writer(self, ledger_key: Path | None, lock_timeout_s: float) -> Log:
        """The ledger, to be extended with the ledger's key."""
        from ledger.caches import Caches  # noqa: PLC0415 - readers do not need it
        from ledger.log import Log  # noqa: PLC0415 - readers do not need it

        key = load_private_key(self._ledger_key_path(ledger_key), LEDGER_PASSPHRASE_VARIABLE, PASSPHRASE_VARIABLE)
        return Log(
            self.store,
            key,
            open_anchor,
            caches=Caches(snapshot=self.store.snapshot_file(), copies=self.store.copy_index()),
            lock_timeout_s=lock_timeout_s,
            notice=output.notice,
        )

    def _ledger_key_path(self, given: Path | None) -> Path:
        named = given or os.environ.get(LEDGER_KEY_VARIABLE)
        if named:
            return Path(named)
        local = self.root / LOCAL / LOCAL_CONFIG
        if local.exists():
            value = _read_toml(local).get("ledger_key")
            if isinstance(value, str) and value:
                return Path(value)
        raise PolicyError(
            "E_LEDGER_KEY_MISSING",
            f"sealing needs the ledger's private key: give --ledger-key FILE, set {LEDGER_KEY_VARIABLE}, or name it in "
            f"{local} as ledger_key. Without it, use rungbook attest and have the ledger's holder seal the file",
        )


def open_anchor(key: NoteKey) -> FileAnchor:
    """The memory of what this user signed with a ledger's key."""
    from platformdirs import user_state_path  # noqa: PLC0415 - only writers need it

    from ledger.store.anchor import FileAnchor  # noqa: PLC0415 - only writers need it

    return FileAnchor(user_state_path("rungbook"), key.vkey)


def find_ledger(start: Path | None) -> Ledger:
    """The ledger in a folder or above it.

    Args:
        start: where to look; the working folder when none.

    Raises:
        StorageError: ``E_NO_LEDGER``.
        MalformedError: ``E_CONFIG``.
    """
    if start is not None and not start.is_dir():
        raise StorageError("E_NO_LEDGER", "there is no such folder", where=str(start))
    first = (start or Path.cwd()).absolute()
    for folder in (first, *first.parents):
        receipts = folder / RECEIPTS
        marks = (receipts / CHECKPOINT, receipts / receipt_name(0), folder / CONFIG)
        if any(mark.exists() for mark in marks):
            return Ledger(root=folder, store=DirectoryStore(folder), config=read_config(folder))
    raise StorageError(
        "E_NO_LEDGER",
        "there is no ledger in this folder or above it; make one with rungbook init, or name one with --ledger DIR",
        where=str(first),
    )


def read_config(root: Path) -> Config:
    """Read ``rungbook.toml``; an absent file is an empty one.

    Raises:
        MalformedError: ``E_CONFIG`` for an unknown name or a value that is not text.
    """
    path = root / CONFIG
    if not path.exists():
        return Config()
    values = _read_toml(path)
    config = Config(
        origin=_take_text(values, "origin", path),
        slot=_take_table(values, "slot", {"project", "node", "quant", "context", "metric"}, path),
        round=_take_table(values, "round", {"weights", "harness"}, path),
    )
    if values:
        raise MalformedError("E_CONFIG", f"unknown: {', '.join(sorted(values))}", where=str(path))
    return config


def _read_toml(path: Path) -> dict[str, Any]:
    import tomllib  # noqa: PLC0415 - many ledgers have no such file

    try:
        return tomllib.loads(read_file(path, _KEY_FILE_LIMIT).decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as err:
        raise MalformedError("E_CONFIG", f"not TOML: {err}", where=str(path)) from err


def _take_text(values: dict[str, Any], name: str, path: Path) -> str:
    value = values.pop(name, "")
    if not isinstance(value, str):
        raise MalformedError("E_CONFIG", f"{name} must be text, in quotes", where=str(path))
    return value


def _take_table(values: dict[str, Any], name: str, known: set[str], path: Path) -> dict[str, str]:
    table = values.pop(name, {})
    if not isinstance(table, dict) or not table.keys() <= known:
        raise MalformedError("E_CONFIG", f"[{name}] may hold {', '.join(sorted(known))}", where=str(path))
    texts = {}
    for key, value in table.items():
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise MalformedError("E_CONFIG", f"{name}.{key} must be text, in quotes", where=str(path))
        texts[key] = str(value)
    return texts


def read_input(path: Path, limit: int = MAX_BYTES) -> bytes:
    """A regular file that the caller names.

    Raises:
        StorageError, RefusedError, MalformedError: as `ledger.store.disk.read_regular_file`.
    """
    return read_regular_file(path, limit)


def read_envelope(path: Path) -> bytes:
    """A file that may be an envelope: its statement is in base64, which adds a third.

    Raises:
        StorageError, RefusedError, MalformedError: as `read_input`.
    """
    return read_input(path, 2 * MAX_BYTES)


def load_public_key(path: Path) -> PublicKey:
    """Read a ``.pub`` file."""
    try:
        return parse_public_key_file(read_file(path, _KEY_FILE_LIMIT))
    except MalformedError as err:
        raise MalformedError(err.code, err.message, where=str(path)) from err


def load_private_key(path: Path, *variables: str) -> PrivateKey:
    """Read a private key file of mode 0600; asks for the passphrase when it is encrypted.

    Args:
        path: OpenSSH private key file.
        variables: environment variables that may hold the passphrase, in order.

    Raises:
        StorageError: it cannot be read.
        PolicyError: ``E_KEY_MODE`` when others could read it, ``E_PASSPHRASE`` when it stays locked.
        MalformedError: ``E_KEY``.
    """
    raw = read_file(path, _KEY_FILE_LIMIT)
    if raw.startswith(b"ssh-"):
        raise MalformedError(
            "E_KEY", "this is the public key; give the private one, the file without .pub", where=str(path)
        )
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & 0o077:
        raise PolicyError(
            "E_KEY_MODE", f"mode {mode:04o} lets others read the private key; run chmod 600", where=str(path)
        )
    try:
        return parse_private_key(raw, _passphrase_source(path, variables or (PASSPHRASE_VARIABLE,)))
    except (MalformedError, PolicyError) as err:
        raise type(err)(err.code, err.message, where=str(path)) from err


def _passphrase_source(path: Path, variables: tuple[str, ...]) -> Callable[[], bytes | None]:
    def source() -> bytes | None:
        for name in variables:
            if os.environ.get(name):
                return os.environ[name].encode()
        if sys.stdin.isatty():
            import getpass  # noqa: PLC0415 - only for a person at a terminal

            return getpass.getpass(f"Passphrase for {path}: ").encode()
        return None

    return source
