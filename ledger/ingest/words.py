"""Words of the sentences that are sealed with a round."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """A number of things: ``1 row``, ``2 rows``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def verb(number: int, one: str, many: str) -> str:
    """The form of a verb that goes with a number of things."""
    return one if number == 1 else many
