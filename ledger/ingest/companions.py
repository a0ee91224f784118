"""Files that another file names: an adapter says which, and the caller, who may touch the disk, fetches them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from ledger.errors import MalformedError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ledger.ingest.adapter import Adapter, Row


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


def read_whole(adapter: Adapter, raw: bytes, what: str, fetch: Callable[[str], bytes | None]) -> Reading:
    """Read a file with all that it names.

    Args:
        adapter: of the tool that wrote it.
        raw: its bytes.
        what: its name, for errors.
        fetch: gives the contents of a companion by its name; none when there is no such file.

    Raises:
        MalformedError: as `ledger.ingest.adapter.Adapter.read`, and ``E_COMPANION``.
    """
    if not isinstance(adapter, ReadsCompanions):
        return Reading(rows=adapter.read(raw, what))
    found: dict[str, bytes] = {}
    for companion in adapter.companions(raw, what):
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


def attachment_name(name: str) -> str:
    """What a companion is called in a round: its path without what leads out of a folder."""
    return "/".join(part for part in name.replace("\\", "/").split("/") if part not in {"", ".", ".."})
