"""Files that another file names: an adapter says which, and the caller, who may touch the disk, fetches them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import PureWindowsPath
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from ledger.errors import MalformedError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ledger.ingest.adapter import Adapter, Row

_NO_NAME = re.compile(r"[^A-Za-z0-9._:/@+-]", re.ASCII)
_SHOWN = 200
_LONGEST_PART = 255  # of a path, on any file system


@dataclass(frozen=True, slots=True, kw_only=True)
class Companion:
    """A file that another one names.

    Attributes:
        name: path as it is named there, with ``/``.
        needed: nothing can be read without it.
    """

    name: str
    needed: bool


@runtime_checkable
class ReadsCompanions(Protocol):
    """An adapter whose files name others in which the samples are."""

    def companions(self, raw: bytes, what: str) -> list[Companion]:
        """The files that a file names, each once.

        Raises:
            MalformedError: as `ledger.ingest.adapter.Adapter.read`.
        """
        ...

    def read_with(self, raw: bytes, files: Mapping[str, bytes], what: str) -> list[Row]:
        """As `ledger.ingest.adapter.Adapter.read`, with the contents of companions by their names.

        Raises:
            MalformedError: ``E_COMPANION`` for one that is needed and not there; as `companions`.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What came of a file.

    Attributes:
        rows: its rows.
        companions: contents of the files that it names and that are there, by their names.
    """

    rows: Sequence[Row]
    companions: Mapping[str, bytes] = field(default_factory=dict)

    def noting(self, note: str) -> Reading:
        """The same with a note about the whole file, at each of its rows: only some of them may be selected."""
        return replace(self, rows=[replace(row, notes=(note, *row.notes)) for row in self.rows])


def read_whole(adapter: Adapter, raw: bytes, what: str, fetch: Callable[[str], bytes | None]) -> Reading:
    """Read a file with all that it names.

    Args:
        adapter: of the tool that wrote it.
        raw: its bytes.
        what: its name, for errors.
        fetch: gives the contents of a companion by its name; none when there is no such file. It is asked only for
            names that lead down from a folder (see `leads_down`).

    Raises:
        MalformedError: as `ledger.ingest.adapter.Adapter.read`, and ``E_COMPANION`` for one that is needed and not
            there, or whose name leads elsewhere.
    """
    if not raw.strip():
        raise MalformedError("E_EMPTY_RESULTS", "the file is empty", where=what)
    if not isinstance(adapter, ReadsCompanions):
        return Reading(rows=adapter.read(raw, what))
    found: dict[str, bytes] = {}
    for companion in adapter.companions(raw, what):
        if not leads_down(companion.name):
            raise MalformedError(
                "E_COMPANION",
                f"it names {companion.name[:_SHOWN]!r}; only what lies below a folder is read: no root, drive or ..",
                where=what,
            )
        contents = fetch(companion.name)
        if contents is not None:
            found[companion.name] = contents
        elif companion.needed:
            raise missing(companion.name, what)
    return Reading(rows=adapter.read_with(raw, found, what), companions=found)


def missing(name: str, what: str) -> MalformedError:
    """The error for a companion that is needed and not there."""
    return MalformedError(
        "E_COMPANION", f"it names {name!r}, which holds the samples and is neither beside it nor above", where=what
    )


def leads_down(name: str) -> bool:
    """Whether a path leads to a place below its start, on every system: no file chooses what of a disk is read."""
    path = PureWindowsPath(name)  # it takes both separators, and knows roots and drives
    return (
        bool(path.parts)
        and not path.anchor
        and ".." not in path.parts
        and all(0 < len(part) <= _LONGEST_PART for part in path.parts)
    )


def attachment_name(name: str) -> str:
    """What a file is called in a round: its path without what leads out of a folder, in the letters of a name."""
    path = "/".join(part for part in name.replace("\\", "/").split("/") if part not in {"", ".", ".."})
    return _NO_NAME.sub("-", path).lstrip("-._:/@+") or "file"
