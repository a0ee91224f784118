"""Texts of options, read: pairs, counts, digests."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from ledger.canonical import JsonObject
from ledger.errors import MalformedError, RefusedError
from ledger.ingest.code import code_folders, tree_digest
from ledger.ingest.options import SLOT_AXES
from ledger.strict import parse_digest

_EXTRA = "extra."
_LONGEST_NAME = 255  # bytes, on most file systems
_SHOWN = 200
_COUNT = re.compile("0|[1-9][0-9]{0,15}", re.ASCII)


def split_pair(text: str, option: str, form: str) -> tuple[str, str]:
    """Name and value of ``NAME=VALUE``.

    Raises:
        RefusedError: ``E_OPTION`` when one of them is empty; `form` says what was expected.
    """
    name, equals, value = text.partition("=")
    if not equals or not name or not value:
        raise RefusedError("E_OPTION", f"expected {option} {form}, found {text!r}", where=option)
    return name, value


def read_pairs(texts: Sequence[str], option: str, roles: Collection[str]) -> dict[str, str]:
    """A value per role.

    Raises:
        RefusedError: ``E_OPTION``: a role is given twice, or has no run.
    """
    pairs = [split_pair(text, option, "ROLE=VALUE") for text in texts]
    if len(dict(pairs)) != len(pairs):
        raise RefusedError("E_OPTION", "one role is given twice", where=option)
    for role in dict(pairs):
        _check_role(role, option, roles)
    return dict(pairs)


def _check_role(role: str, option: str, roles: Collection[str]) -> None:
    if role not in roles:
        raise RefusedError("E_OPTION", f"the arm {role!r} has no run", where=option)


def read_rows(texts: Sequence[str], roles: Collection[str]) -> dict[str, set[int]]:
    """Numbers of rows per role.

    Raises:
        RefusedError: ``E_OPTION``.
    """
    found = {}
    for role, value in read_pairs(texts, "--row", roles).items():
        numbers = value.split(",")
        if not all(_COUNT.fullmatch(number) for number in numbers):
            raise RefusedError("E_OPTION", f"expected --row ROLE=NUMBER,..., found {value!r}", where="--row")
        found[role] = {int(number) for number in numbers}
    return found


def read_facts(
    texts: Sequence[str], option: str, known: Collection[str], counts: Collection[str], *, extra: bool = False
) -> JsonObject:
    """Values by name; those of `counts` as numbers where they are numbers. With `extra`, ``extra.NAME`` is anything.

    Raises:
        RefusedError: ``E_OPTION``.
    """
    pairs = [split_pair(text, option, "NAME=VALUE") for text in texts]
    if len(dict(pairs)) != len(pairs):
        raise RefusedError("E_OPTION", "one name is given twice", where=option)
    facts: JsonObject = {}
    for name, value in pairs:
        if name not in known and not (extra and name.startswith(_EXTRA) and name != _EXTRA):
            more = f", or {_EXTRA}NAME for anything else" if extra else ""
            raise RefusedError("E_OPTION", f"there is no {name!r}; known: {', '.join(known)}{more}", where=option)
        if name in known:
            facts[name] = int(value) if name in counts and _COUNT.fullmatch(value) else value
        else:
            facts.setdefault("extra", {})[name.removeprefix(_EXTRA)] = value
    return facts


def read_counts(texts: Sequence[str], option: str) -> dict[str, int]:
    """Counts by name, from ``NAME=NUMBER``.

    Raises:
        RefusedError: ``E_OPTION``.
    """
    found: dict[str, int] = {}
    for text in texts:
        name, value = split_pair(text, option, "NAME=NUMBER")
        if name in found or not _COUNT.fullmatch(value):
            raise RefusedError("E_OPTION", f"expected {option} NAME=NUMBER once, found {text!r}", where=option)
        found[name] = int(value)
    return found


def read_starts(texts: Sequence[str], roles: Collection[str]) -> dict[str, list[str]]:
    """Starts of the runs of each role, in their order.

    Raises:
        RefusedError: ``E_OPTION``.
    """
    starts: dict[str, list[str]] = {}
    for text in texts:
        role, value = split_pair(text, "--started-at", "ROLE=TIME")
        _check_role(role, "--started-at", roles)
        starts.setdefault(role, []).append(value)
    return starts


def read_axes(texts: Sequence[str]) -> Mapping[str, str]:
    """Axes of a slot by name.

    Raises:
        RefusedError: ``E_OPTION``, or ``E_SLOT`` for an axis that there is not, or that is given twice.
    """
    slot: dict[str, str] = {}
    for part in (part for text in texts for part in text.split(",")):
        axis, value = split_pair(part, "--slot", "project=P,node=N,quant=Q,context=C,metric=M")
        if axis not in SLOT_AXES:
            known = ", ".join(SLOT_AXES)
            raise RefusedError("E_SLOT", f"there is no axis {axis!r}; the axes are {known}", where="--slot")
        if axis in slot:
            raise RefusedError("E_SLOT", f"the axis {axis} is given twice", where="--slot")
        slot[axis] = value
    return slot


def digest_of(value: str, option: str) -> str:
    """A SHA-256 that is given as such, or as the path of the file, or folder of files, to hash; empty stays empty.

    Raises:
        RefusedError: ``E_DIGEST_OR_PATH``, also for an empty file; for a folder what `tree_digest` raises.
    """
    if not value:
        return ""
    path = Path(value)
    if _is_name(value) and path.is_dir():
        return tree_digest(path, ["."])
    if _is_name(value) and path.is_file():
        if not path.stat().st_size:
            raise RefusedError(
                "E_DIGEST_OR_PATH", f"{value} is empty: its digest would be that of nothing", where=option
            )
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    try:
        return parse_digest(value).hex()
    except MalformedError as err:
        raise RefusedError(
            "E_DIGEST_OR_PATH",
            f"{value[:_SHOWN]!r} is neither a file nor 64 lower-case hexadecimal digits",
            where=option,
        ) from err


def _is_name(value: str) -> bool:
    """Whether a file or a folder can have such a name: the system calls a longer one an error of the disk."""
    return all(len(os.fsencode(part)) <= _LONGEST_NAME for part in Path(value).parts)


def code_digest(value: str, option: str) -> str:
    """The digest of measured code: as `digest_of`, or of folders of a tree, ``DIR:SUB,SUB``; ``DIR:.`` is all of it.

    A bare ``DIR`` is only taken where it has all folders of the usual definition (`ledger.ingest.code.FOLDERS`): else
    nobody could tell which part of it was meant.

    Raises:
        RefusedError: ``E_CODE_FOLDERS``, ``E_DIGEST_OR_PATH``, or what `ledger.ingest.code.tree_digest` raises.
    """
    if not _is_name(value):
        return digest_of(value, option)
    root, colon, names = value.rpartition(":")
    if colon and Path(root).is_dir():
        return tree_digest(Path(root), code_folders(Path(root), names.split(",")))
    if Path(value).is_dir():
        return tree_digest(Path(value), code_folders(Path(value)))
    return digest_of(value, option)
