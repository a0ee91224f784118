"""Pin files: pins written out for projects that keep them beside their code, and checked against sealed receipts.

    {"rungbook": "pin-file/v1", "pins": [{"role": "basis", "slot": {…}, "value": "69.02", "receipt": "…"}]}

A value is traced when a sealed, attested receipt of exactly this slot gives it, within ``max(0.01, 1e-4 * value)``. The
value 0 means "not measured" and needs no receipt. A number that nobody can trace is not a pin, whoever typed it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from ledger import schema
from ledger.errors import RefusedError
from ledger.json_input import parse_json
from ledger.scoring.facts import reading_text
from ledger.scoring.pins import pins
from ledger.scoring.rung import Slot, read_slot

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger.canonical import JsonObject
    from ledger.scoring.history import History
    from ledger.scoring.pins import Pin
    from ledger.scoring.slots import Holding, SlotState

_LEAST = Fraction(1, 100)
_SHARE = Fraction(1, 10**4)


@dataclass(frozen=True, slots=True, kw_only=True)
class LockFinding:
    """One value of a pin file that cannot be traced."""

    where: str
    code: str
    message: str


def pin_file(history: History, wanted: Sequence[Pin] | None = None) -> JsonObject:
    """The attested ones of some pins, or of all, as a pin file's contents."""
    digests = {judged.rung.index: judged.rung.digest for judged in history.judged}
    return {
        "rungbook": "pin-file/v1",
        "pins": [
            {
                "role": pin.role,
                "slot": pin.slot._asdict(),
                "value": reading_text(pin.held.figure.value),
                "receipt": digests[pin.held.receipt],
            }
            for pin in (pins(history) if wanted is None else wanted)
            if pin.held is not None
        ],
    }


def check_pin_file(raw: bytes, history: History, *, what: str = "pin file") -> tuple[int, list[LockFinding]]:
    """Trace every value of a pin file.

    Returns:
        How many values there are, and those that cannot be traced.

    Raises:
        MalformedError: it is not a pin file.
        RefusedError: ``E_PIN_TWICE`` when one role of one slot has two values.
    """
    value = parse_json(raw, what=what)
    schema.validate("pins-file", value)
    digests = {judged.rung.index: judged.rung.digest for judged in history.judged}
    seen: set[tuple[Slot, str]] = set()
    findings = []
    for at, entry in enumerate(value["pins"]):
        key = read_slot(entry["slot"]), entry["role"]
        if key in seen:
            raise RefusedError("E_PIN_TWICE", f"two values for {key[1]} of {key[0]}", where=f"/pins/{at}")
        seen.add(key)
        found = _trace(entry, key[0], history, digests)
        if found is not None:
            findings.append(LockFinding(where=f"/pins/{at}", code=found[0], message=found[1]))
    return len(value["pins"]), findings


def _trace(entry: JsonObject, slot: Slot, history: History, digests: dict[int, str]) -> tuple[str, str] | None:
    value = Fraction(entry["value"])
    if value == 0:
        return None
    state = history.slots.get(slot)
    if state is None:
        return "E_PIN_SLOT", _nearest(slot, history)
    sealed = _sealed(state, entry["role"])
    near = [item for item in sealed if abs(item.figure.value - value) <= max(_LEAST, _SHARE * abs(value))]
    if not near:
        return _untraced(state, value, sealed)
    receipt = entry.get("receipt")
    if receipt is not None and receipt not in {digests[item.receipt] for item in near}:
        return "E_PIN_RECEIPT", f"{entry['value']} is sealed, but not by the receipt that the file names"
    return None


def _sealed(state: SlotState, role: str) -> list[Holding]:
    return {"basis": state.frontier.items, "guard": state.passes.items, "reference": state.references}[role]


def _untraced(state: SlotState, value: Fraction, sealed: list[Holding]) -> tuple[str, str]:
    if any(abs(item.figure.value - value) <= max(_LEAST, _SHARE * abs(value)) for item in state.measured.items):
        return "E_PIN_MEASURED", f"{reading_text(value)} was only measured: no authorised scorer attested it"
    known = ", ".join(reading_text(item.figure.value) for item in sealed[-3:]) or "nothing"
    return "E_PIN_UNTRACED", f"no sealed receipt gives {reading_text(value)}; sealed here: {known}"


def _nearest(slot: Slot, history: History) -> str:
    """Which axis is wrong, when a known slot differs in one only."""
    for known in sorted(history.slots):
        differing = [axis for axis in slot._fields if getattr(slot, axis) != getattr(known, axis)]
        if len(differing) == 1:
            axis = differing[0]
            return f"nothing is sealed for {axis} {getattr(slot, axis)}; for {axis} {getattr(known, axis)} there is"
    return f"nothing is sealed for {slot}"
