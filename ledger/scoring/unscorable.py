"""Rounds from which nobody can tell a speed, so that no review can let them count.

A maintainer who reviews a round can find out that a figure is right. Nobody can find out which part of a difference is
the code's when each arm ran in one go on a machine that was heating up, or when a cache read some of the prompts: what
is missing is a measurement, and the answer is another round.
"""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from ledger.flags import CONFOUNDED

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ledger.canonical import JsonObject

Cache: TypeAlias = Literal["", "cold", "warm", "mixed"]

_APART = Fraction(1, 50)
"""What arms may differ in the share of their prompts that a cache supplied: one token of many makes no prompt warm."""


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
            "E_MIXED_CACHE",
            "a cache supplied tokens of some prompts and not, or not as many, of others; measure all cold, or all warm",
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
    reps = [rep for rep in body["reps"] if not rep["warmup"]]
    state = cache_state(rep["records"] for rep in reps)
    return "mixed" if state == "warm" and _is_unequal(reps) else state


class _Supplied(NamedTuple):
    """What a cache supplied of prompts: tokens of how many requests; `prompts` is none where their length is untold."""

    requests: int
    cached: int
    prompts: int | None

    def plus(self, other: _Supplied) -> _Supplied:
        known = self.prompts is not None and other.prompts is not None
        prompts = (self.prompts or 0) + (other.prompts or 0) if known else None
        return _Supplied(self.requests + other.requests, self.cached + other.cached, prompts)


def _is_unequal(reps: Sequence[JsonObject]) -> bool:
    """Whether arms that meet in a metric and context had unequal help of a cache, or only some of them say how much."""
    meeting: dict[tuple[str, int], list[tuple[str, _Supplied | None]]] = defaultdict(list)
    for rep in reps:
        supplied = _supplied(rep["records"])
        for metric in rep["metrics"]:
            meeting[metric, rep["context"]].append((rep["arm"], supplied))
    return any(_differ(each) for each in meeting.values())


def _differ(reps: Sequence[tuple[str, _Supplied | None]]) -> bool:
    arms: dict[str, _Supplied] = {}
    silent = False
    for arm, supplied in reps:
        if supplied is None:
            silent = True
        elif supplied.requests:
            arms[arm] = arms[arm].plus(supplied) if arm in arms else supplied
    if not arms or silent:
        return bool(arms)
    if all(each.prompts for each in arms.values()):
        shares = [Fraction(each.cached, each.prompts or 1) for each in arms.values()]
        return max(shares) - min(shares) > _APART
    counts = [Fraction(each.cached, each.requests) for each in arms.values()]
    return max(counts) - min(counts) > _APART * max(counts)


def _supplied(columns: JsonObject) -> _Supplied | None:
    """What a cache supplied to the requests of a repetition that were answered; none where it does not say."""
    cached = columns.get("cached_tokens")
    if cached is None:
        return None
    prompts = columns.get("prompt_tokens", [None] * len(cached))
    oks = columns.get("ok", [True] * len(cached))
    rows = [(tokens or 0, prompt) for tokens, prompt, ok in zip(cached, prompts, oks, strict=True) if ok]
    lengths = [prompt for _, prompt in rows if prompt is not None]
    known = sum(lengths) if len(lengths) == len(rows) else None
    return _Supplied(len(rows), sum(tokens for tokens, _ in rows), known)


def cache_state(records: Iterable[JsonObject]) -> Cache:
    """Whether a cache supplied tokens of all prompts that were answered, of some, or of none.

    Servers that tell what their cache supplied often say nothing where that was nothing, so a request that says
    nothing is no warm one. A repetition that tells of no prompt either has nothing to say of a cache. Empty where no
    request says anything: absent is not 0.
    """
    told = warm = others = False
    for columns in records:
        cached = columns.get("cached_tokens")
        if cached is None:
            others = others or any(columns.get("prompt_tokens", ()))
            continue
        answered = cached if "ok" not in columns else [n for n, ok in zip(cached, columns["ok"], strict=True) if ok]
        told = told or any(count is not None for count in answered)
        warm = warm or any(answered)
        others = others or not all(answered)
    if not told:
        return ""
    return ("mixed" if others else "warm") if warm else "cold"
