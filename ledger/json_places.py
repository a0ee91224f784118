"""Where something stands in a JSON text that is refused while it is read.

Python's reader says of a bare ``NaN`` what it is, and not where. The text is gone through a second time for that, and
only then: up to the place that is looked for it has been read, so it is sound JSON that far, whatever comes behind it.
"""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

LONGEST_NUMBER = 400
"""Characters of a number that can be recorded."""

# As the reader takes them: by how a word begins, before it looks at what comes behind.
_NONFINITE = ("NaN", "Infinity", "-Infinity")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?", re.ASCII)
# Strings whole, marks one by one, and everything between them: numbers and words.
_PART = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)


def find_nonfinite(text: str, *, words: bool) -> list[str]:
    """The way to the first number that is none, see `find_word`.

    Args:
        text: JSON, sound up to that number.
        words: whether ``NaN`` and ``Infinity`` are such numbers, or only those that are too large or too long.
    """
    return find_word(text, lambda word: words if word.startswith(_NONFINITE) else _is_unrecordable(word))


def _is_unrecordable(word: str) -> bool:
    found = _NUMBER.match(word)
    if found is None or not (found[1] or found[2]):
        return False
    return len(found[0]) > LONGEST_NUMBER or math.isinf(float(found[0]))


def find_word(text: str, is_wanted: Callable[[str], bool]) -> list[str]:
    """The way to the first number or word of some kind: names of members and positions in lists, from the outside in.

    Args:
        text: JSON, sound up to that word.
        is_wanted: whether a number or word is the one; it is asked in the order of the text.

    Returns:
        The steps; none where the whole text is that word, or has none.
    """
    path: list[str | int] = []
    string = ""
    for found in _PART.finditer(text):
        part = found[0]
        if part in "{[":
            path.append("" if part == "{" else 0)
        elif part[0] == '"':
            string = part
        elif not path and part in "}],:":
            break  # behind the only value: the text was not sound so far, and nobody asked rightly
        elif part in "}]":
            path.pop()
        elif part == ":":
            path[-1] = str(json.loads(string, strict=False))
        elif part == ",":
            path[-1] = path[-1] + 1 if isinstance(path[-1], int) else ""
        elif is_wanted(part):
            return [str(step) for step in path]
    return []
