"""The parity gate: accuracy against the captured reference, at every depth, the worst of which decides."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from ledger.scoring.facts import plain_decimal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ledger.rule import ParityBars, Ratchet
    from ledger.scoring.rung import ParityPoint, Rung
    from ledger.scoring.tier import Number

    Read = Callable[[str | Fraction], Number]


@dataclass(frozen=True, slots=True, kw_only=True)
class ParityOutcome:
    """What the gate found. An empty `label` is a pass."""

    label: str = ""
    code: str = ""
    detail: str = ""
    inputs: Mapping[str, str] = field(default_factory=dict)
    flags: tuple[str, ...] = ()


def check_parity(rung: Rung, bars: ParityBars, read: Read) -> ParityOutcome:
    """Hold the candidate's parity against a rule's bars, and against main's at the same depth."""
    points = rung.parity.get("candidate", ())
    missing = _missing(points, bars)
    if missing is not None:
        return missing
    kl, top1 = _worst(points, max, "kl"), _worst(points, min, "top1")
    if read(top1) < read(bars.top1_min) or read(kl) > read(bars.kl_max):
        worst = f"worst KL {_place(points, 'kl', kl)}, worst top-1 {_place(points, 'top1', top1)}"
        needed = f"KL <= {bars.kl_max}, top-1 >= {bars.top1_min}"
        return ParityOutcome(label="REJECT", code="E_PARITY", detail=f"{worst}; needed: {needed}")
    flags = []
    if bars.kl_prefer is not None and read(kl) > read(bars.kl_prefer):
        flags.append("F_KL_OVER_PREFERRED")
    if kl == 0:
        flags.append("F_KL_ZERO")  # what an echo of the reference would look like
    if bars.ratchet is not None:
        blocked = _ratchet(points, rung.parity.get("main", ()), bars.ratchet, read, flags)
        if blocked:
            return ParityOutcome(label="REJECT", code="E_PARITY_RATCHET", detail=blocked, flags=tuple(flags))
    inputs = {"kl": plain_decimal(kl), "top1": plain_decimal(top1), "depths": str(len(points))}
    return ParityOutcome(inputs=inputs, flags=tuple(flags))


def _missing(points: tuple[ParityPoint, ...], bars: ParityBars) -> ParityOutcome | None:
    if not points:
        return ParityOutcome(label="UNRESOLVED", code="E_PARITY_MISSING", detail="there is no parity of the candidate")
    absent = sorted({*bars.depths} - {point.depth for point in points})
    if absent:
        names = ", ".join(map(str, absent))
        return ParityOutcome(label="UNRESOLVED", code="E_PARITY_DEPTH", detail=f"no parity at depth {names}")
    for point in points:
        if point.kl is None or point.top1 is None:
            return ParityOutcome(
                label="UNRESOLVED", code="E_PARITY_INCOMPLETE", detail=f"KL or top-1 is missing at depth {point.depth}"
            )
        if bars.path is not None and point.path != bars.path:
            return ParityOutcome(
                label="UNRESOLVED",
                code="E_PARITY_PATH",
                detail=f"parity at depth {point.depth} is of the path {point.path!r}, not of {bars.path!r}",
            )
        step = 1 - Fraction(bars.top1_min)
        if point.trials is not None and 0 < step < Fraction(1, point.trials):
            return ParityOutcome(
                label="UNRESOLVED",
                code="E_PARITY_TRIALS",
                detail=f"{point.trials} trial(s) at depth {point.depth} cannot tell {bars.top1_min} from 1",
            )
    return None


def _worst(points: tuple[ParityPoint, ...], pick: Callable[[list[Fraction]], Fraction], name: str) -> Fraction:
    return pick([getattr(point, name) for point in points])


def _place(points: tuple[ParityPoint, ...], name: str, worst: Fraction) -> str:
    """The worst value to its last place, as it was measured, with the first depth that has it where that is known."""
    depth = next(point.depth for point in points if getattr(point, name) == worst)
    return plain_decimal(worst) + ("" if depth is None else f" at depth {depth}")


def _ratchet(
    points: tuple[ParityPoint, ...], main: tuple[ParityPoint, ...], ratchet: Ratchet, read: Read, flags: list[str]
) -> str:
    """Why the drift from main is too large; empty when it is not. Adds to `flags` what only deserves a look."""
    base = {point.depth: point.kl for point in main}
    for point in points:
        before = base.get(point.depth)
        if not before or point.kl is None:
            flags.append("F_RATCHET_UNAVAILABLE")
            continue
        if read(point.kl) < read(ratchet.floor):
            continue
        ratio = read(point.kl) / read(before)
        if ratio >= read(ratchet.block) and read(point.kl) >= read(ratchet.block_from):
            return f"KL {plain_decimal(point.kl)} at depth {point.depth} is {float(ratio):.2f} times main's"
        if ratio >= read(ratchet.warn):
            flags.append("F_PARITY_DRIFT")
    return ""
