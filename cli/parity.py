"""``--parity`` of ``append`` and ``attest``: what an arm lost against the captured reference, from a tool's text."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path

from cli.context import read_input
from ledger.errors import RefusedError
from ledger.ingest.parity import ParityFile
from ledger.ingest.perplexity import read_parity

_FORM = "--parity ROLE=FILE[,depth=N][,trials=N][,path=TEXT]"
_PART = re.compile(",(?=(?:depth|trials|path)=)")
_COUNT = re.compile("0|[1-9][0-9]{0,14}", re.ASCII)


def read_parity_files(texts: Sequence[str], roles: Collection[str]) -> list[ParityFile]:
    """The files of the option, read, in the order in which they were given.

    Args:
        texts: values of the option.
        roles: arms that have a run.

    Raises:
        RefusedError: ``E_OPTION``.
        MalformedError: see `ledger.ingest.perplexity.read_parity`.
        StorageError: a file cannot be read.
    """
    return [_read(text, roles) for text in texts]


def _read(text: str, roles: Collection[str]) -> ParityFile:
    first, *rest = _PART.split(text)
    role, equals, name = first.partition("=")
    if not equals or not name:
        raise _refuse(f"expected {_FORM}, found {text!r}")
    if role not in roles:
        raise _refuse(f"the arm {role!r} has no run")
    pairs = [(key, value) for key, _, value in (part.partition("=") for part in rest)]
    given = dict(pairs)
    if len(given) != len(pairs) or not all(given.values()):
        raise _refuse(f"expected depth, trials and path once each, with a value, found {text!r}")
    depth, trials = _count("depth", given), _count("trials", given)
    path, raw = Path(name), read_input(Path(name))
    return ParityFile(
        role=role,
        name=path.name,
        given_as=text.removeprefix(f"{role}="),
        raw=raw,
        printed=read_parity(raw, name),
        given_depth=depth,
        given_trials=trials,
        path=given.get("path", ""),
    )


def _count(key: str, given: dict[str, str]) -> int | None:
    text = given.get(key)
    if text is not None and not _COUNT.fullmatch(text):
        raise _refuse(f"expected {key}=NUMBER, found {text!r}")
    return None if text is None else int(text)


def _refuse(message: str) -> RefusedError:
    return RefusedError("E_OPTION", message, where="--parity")
