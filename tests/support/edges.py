"""The two sides of a code: something that just gets it, and the same with one thing changed, which just does not."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class Refusal(NamedTuple):
    """Attempts to have something taken.

    Attributes:
        has: is refused with the code.
        has_not: is taken.
    """

    has: Callable[[], object]
    has_not: Callable[[], object]


class Edge(NamedTuple):
    """Codes of both sides.

    Attributes:
        has: those of what just has the code.
        has_not: those of what just has not.
        besides: codes that cannot but come or go with it.
    """

    has: Callable[[], Iterable[str]]
    has_not: Callable[[], Iterable[str]]
    besides: frozenset[str] = frozenset()

    def apart(self) -> tuple[set[str], set[str]]:
        """Codes that only the one side has, and those that only the other has."""
        has, has_not = {*self.has()}, {*self.has_not()}
        return has - has_not, has_not - has
