"""What is said of a round: notes, each once."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from ledger.canonical import JsonObject


class Note(NamedTuple):
    """What does not forbid to record a round, and must be known by whoever reads it.

    Attributes:
        code: stable identifier.
        text: what was found.
        where: JSON pointer into the round.
        rep: position of the repetition that it is about; none when it is about several.
    """

    code: str
    text: str
    where: str
    rep: int | None = None


class Said(NamedTuple):
    """What an adapter noted of a row.

    Attributes:
        attachment: name of the row's file.
        row: its number there.
        code: of the note.
    """

    attachment: str
    row: int
    code: str


def write_notes(notes: Iterable[Note], body: JsonObject, said: Collection[Said]) -> list[str]:
    """Notes as sentences. What holds in the same words of several repetitions is said once, with their number."""
    places: dict[tuple[str, str], list[str]] = defaultdict(list)
    for note in notes:
        if not _is_said(note, body, said):
            places[note.code, note.text].append(note.where)
    return [
        f"{code}: {text} (at {where[0]}" + (f" and {len(where) - 1} more)" if where[1:] else ")")
        for (code, text), where in places.items()
    ]


def _is_said(note: Note, body: JsonObject, said: Collection[Said]) -> bool:
    """Whether an adapter has this code for the row that the repetition was made of."""
    source = None if note.rep is None else body["reps"][note.rep].get("source")
    return source is not None and Said(source["attachment"], source["row"], note.code) in said
