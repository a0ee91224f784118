"""Pins: the numbers that somebody relies on, each with the receipt it comes from.

=============  ==============================================================================================
role           value
=============  ==============================================================================================
``basis``      the frontier: best attested figure of main, or of a candidate that was merged
``guard``      the best attested figure that passed; never below the basis, so a guard is never a stale number
``reference``  the latest attested figure of the reference arm
=============  ==============================================================================================

A guard's pin of fewer than `ledger.scoring.slots.GUARD_REPS` repetitions is shown and is no base of a guard.

Beside each stands the best figure that nobody attested. When that is better by more than the noise, the pin is *stale*,
and is said to be; it still does not move.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from operator import attrgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ledger.scoring.history import History
    from ledger.scoring.rung import Slot
    from ledger.scoring.slots import Holding, SlotState

ROLES = ("basis", "guard", "reference")
AGREEMENT = Fraction(1, 50)
"""Share by which two sessions of one thing may differ where no noise was measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """One pin.

    Attributes:
        slot: what it is a number of.
        role: one of `ROLES`.
        held: the attested figure; none when there is only a measured one.
        measured: the best figure that nobody attested; none when there is none.
        stale: the measured one is better by more than the noise.
    """

    slot: Slot
    role: str
    held: Holding | None
    measured: Holding | None
    stale: bool


def pins(history: History) -> list[Pin]:
    """All pins, ordered by slot and role."""
    return [pin for slot in sorted(history.slots) for pin in slot_pins(history.slots[slot])]


def slot_pins(state: SlotState) -> Iterator[Pin]:
    """The pins of one slot, ordered by role."""
    latest = max(state.references, key=attrgetter("receipt"), default=None)  # a review may have let an older one in
    for role, held in (("basis", state.frontier.best), ("guard", state.passes.best), ("reference", latest)):
        measured = _best_measured(state, reference=role == "reference")
        if held is not None or (measured is not None and role != "guard"):
            yield Pin(slot=state.slot, role=role, held=held, measured=measured, stale=_is_stale(state, held, measured))


def _best_measured(state: SlotState, *, reference: bool) -> Holding | None:
    best: Holding | None = None
    for item in state.measured.items:
        if (item.arm == "reference") != reference:
            continue
        if best is None or state.slot.better(item.figure.value, best.figure.value):
            best = item
    return best


def _is_stale(state: SlotState, held: Holding | None, measured: Holding | None) -> bool:
    if held is None or measured is None or not state.slot.better(measured.figure.value, held.figure.value):
        return False
    allowed = AGREEMENT if state.noise_floor is None else state.noise_floor
    return abs(measured.figure.value - held.figure.value) > allowed * held.figure.value
