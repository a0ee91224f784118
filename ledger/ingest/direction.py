"""Which direction is better: the metric says it, and no file does.

No tool writes it into what it measured. Whoever adds it means to be believed, and a wrong one makes a slowdown an
improvement. A parameter of what was measured may have such a name: what lies under the settings is not looked at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ledger.canonical import escape_pointer
from ledger.errors import MalformedError
from ledger.ingest.values import read_json

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

DIRECTIONS = ("higher_is_better", "lower_is_better", "smaller_is_better", "direction", "better")

_SETTINGS = frozenset({"params", "parameters", "param", "settings", "options", "config", "args", "env_vars"})
_BY_NAME = frozenset({"results", "metrics", "records", "contexts"})
"""Objects whose members are rows, where a tool has no list of them."""


def said_direction(name: str) -> str:
    """What is wrong with a member of that name."""
    return f"it says {name}: which direction is better is known of the metric, and never taken from a file"


def refuse_direction(members: Collection[str], where: str) -> None:
    """Refuse an object that says which direction is better.

    Raises:
        MalformedError: ``E_DIRECTION``.
    """
    for name in DIRECTIONS:
        if name in members:
            raise MalformedError("E_DIRECTION", said_direction(name), where=f"{where}/{name}")


def refuse_directions(value: object, where: str) -> None:
    """The same for a document or a line of a tool, and for each of its rows.

    Raises:
        MalformedError: ``E_DIRECTION``.
    """
    for members, place in _rows(value, where):
        refuse_direction(members, place)


def read_tool_json(raw: bytes, what: str, *, nonfinite: bool = False) -> Any:  # noqa: ANN401 - any JSON value
    """As `ledger.ingest.values.read_json`, of a tool's file.

    Raises:
        MalformedError: as there, and ``E_DIRECTION``.
    """
    value = read_json(raw, what, nonfinite=nonfinite)
    refuse_directions(value, what)
    return value


def _rows(value: object, where: str) -> Iterator[tuple[Collection[str], str]]:
    """A document, and the objects in the lists that it holds or is: the rows."""
    if isinstance(value, list):
        yield from ((row, f"{where}/{at}") for at, row in enumerate(value) if isinstance(row, dict))
    elif isinstance(value, dict):
        yield value, where
        for name, inner in value.items():
            place = f"{where}/{escape_pointer(name)}"
            if isinstance(inner, list) and name not in _SETTINGS:
                yield from _rows(inner, place)
            elif isinstance(inner, dict) and name in _BY_NAME:
                rows = ((row, f"{place}/{escape_pointer(key)}") for key, row in inner.items() if isinstance(row, dict))
                yield from rows
