"""Rounds from which nobody can tell a speed, so that no review can let them count.

A maintainer who reviews a round can find out that a figure is right. Nobody can find out which part of a difference is
the code's when each arm ran in one go on a machine that was heating up, or when a cache read some of the prompts: what
is missing is a measurement, and the answer is another round.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from ledger.flags import CONFOUNDED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ledger.canonical import JsonObject

Cache: TypeAlias = Literal["", "cold", "warm", "mixed"]


class Unscorable(NamedTuple):
    """Why a round is no evidence of a speed: a stable identifier, and what to do, in words."""

    code: str
    detail: str


def find_unscorable(body: JsonObject) -> Unscorable | None:
    """Why nobody can tell a speed from a round that satisfies its schema; none for every other one."""
    if any(fault["code"] == CONFOUNDED for fault in body.get("faults", ())) and _compares(body):
        return Unscorable(
            "E_CONFOUNDED", f"{CONFOUNDED}: arm and time cannot be told apart; measure again in alternated rounds"
        )
    if _cache_of(body) == "mixed":
        return Unscorable(
            "E_MIXED_CACHE", "a cache supplied tokens of some prompts and not of others; measure all cold, or all warm"
        )
    return None


def _compares(body: JsonObject) -> bool:
    """Whether the arms of a round are to differ: between runs of one code there is nothing to take for another."""
    first, *others = body["arms"]
    code, settings = first["code_sha256"], first.get("settings", {})
    return any(each["code_sha256"] != code or each.get("settings", {}) != settings for each in others)


def is_warm(body: JsonObject) -> bool:
    """Whether a cache supplied tokens of every prompt of a round."""
    return _cache_of(body) == "warm"


def _cache_of(body: JsonObject) -> Cache:
    return cache_state(rep["records"] for rep in body["reps"] if not rep["warmup"])


def cache_state(records: Iterable[JsonObject]) -> Cache:
    """Whether a cache supplied tokens of all prompts that were answered, of some, or of none.

    Servers that tell what their cache supplied often say nothing where that was nothing, so a request that says
    nothing is no warm one. Empty where no request says anything: absent is not 0.
    """
    told = warm = others = False
    for columns in records:
        cached = columns.get("cached_tokens")
        if cached is None:
            others = True
            continue
        answered = cached if "ok" not in columns else [n for n, ok in zip(cached, columns["ok"], strict=True) if ok]
        told = told or any(count is not None for count in answered)
        warm = warm or any(answered)
        others = others or not all(answered)
    if not told:
        return ""
    return ("mixed" if others else "warm") if warm else "cold"
