"""The guards gate: other slots of the same session that must not get worse while one gets better."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from ledger.scoring.facts import reading_text
from ledger.scoring.slots import GUARD_REPS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ledger.rule import Guard
    from ledger.scoring.rung import Rung, Slot
    from ledger.scoring.tier import Number
    from ledger.scoring.verdict import Context

    Read = Callable[[str | Fraction], Number]


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardOutcome:
    """What one guard found. An empty `label` is a pass.

    Attributes:
        label: label of a rung that it stops.
        code: stable identifier.
        detail: expected and found.
        inputs: numbers and the receipt of the base, for a pass.
        unattested: the base that no receipt stands for; empty when one does.
        flags: what deserves a look whatever it found.
    """

    label: str = ""
    code: str = ""
    detail: str = ""
    inputs: Mapping[str, str] = field(default_factory=dict)
    unattested: str = ""
    flags: tuple[str, ...] = ()


PIN_UNQUALIFIED = "F_PIN_UNQUALIFIED"


def check_guard(guard: Guard, rung: Rung, context: Context, read: Read) -> GuardOutcome:
    """Hold the candidate's figure of a guarded slot against the best that is known of it."""
    slot, name = rung.slot.beside(guard.metric, guard.context), f"{guard.metric} at {guard.context}"
    found = rung.guards.get((slot, "candidate"))
    if found is None:
        return GuardOutcome(label="UNRESOLVED", code="E_GUARD_MISSING", detail=f"the candidate has no {name}")
    base, receipt = _base(guard, slot, rung, context)
    pin = context.unqualified_pins.get(slot) if guard.role == "guard" else None
    few = _few_of_main(guard, slot, rung)
    # A pin of another node says nothing against a session that has a base of its own.
    own = (slot, "main") in rung.guards and not few
    flags = (PIN_UNQUALIFIED,) if pin and not (pin.elsewhere and own) else ()
    if base is None:
        problems = [each for each in (pin.detail if pin else "", few) if each]
        code, why = ("E_PIN_UNQUALIFIED", f": {'; '.join(problems)}") if problems else ("E_GUARD_BASE", "")
        detail = f"there is nothing to hold {name} against{why}"
        return GuardOutcome(label="UNRESOLVED", code=code, detail=detail, flags=flags)
    value, limit, tolerance = read(found.value), read(base), read(guard.tolerance)
    holds = value <= limit * (1 + tolerance) if slot.lower_is_better else value >= limit * (1 - tolerance)
    shown = {"guard": name, "value": reading_text(found.value), "base": reading_text(base), "base_receipt": receipt}
    unattested = "" if receipt else f"base of {name}"
    if holds:
        return GuardOutcome(inputs=shown, unattested=unattested, flags=flags)
    detail = f"{name} is {shown['value']}, the base is {shown['base']}"
    return GuardOutcome(label="REJECT", code="E_GUARD", detail=detail, unattested=unattested, flags=flags)


def _base(guard: Guard, slot: Slot, rung: Rung, context: Context) -> tuple[Fraction | None, str]:
    """The best that is known, with the index of its receipt: never lower than what main does in this very session."""
    known = context.guard_bases.get((slot, guard.role))
    main = rung.guards.get((slot, "main"))
    best, receipt = (known[0].value, str(known[1])) if known else (None, "")
    if best is None and main is not None and not _few_of_main(guard, slot, rung):
        return main.value, str(rung.index)
    if best is None and guard.unattested_base is not None:
        best = Fraction(guard.unattested_base)
    if best is not None and main is not None and slot.better(main.value, best):
        best, receipt = main.value, str(rung.index)
    return best, receipt


def _few_of_main(guard: Guard, slot: Slot, rung: Rung) -> str:
    """Why main of the session alone is no base: it would be the pin of the next one, and needs what a pin needs."""
    main = rung.guards.get((slot, "main"))
    if guard.role != "guard" or main is None or main.reps >= GUARD_REPS:
        return ""
    return f"main of the session has {main.reps} repetition(s), {GUARD_REPS} are needed"
