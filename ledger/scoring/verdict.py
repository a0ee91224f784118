"""Verdicts: what a rule says of a rung, with the gates it passed and the inputs of each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ledger.scoring.facts import approximate

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    from ledger.canonical import JsonObject
    from ledger.scoring.rung import Figure, Slot
    from ledger.scoring.slots import PinProblem

LABELS = ("REJECT", "UNRESOLVED", "REVIEW", "BASELINE", "none", "xs", "s", "m", "l", "xl")

STOPPED = frozenset({"REJECT", "REVIEW"})
"""Labels under which a speed is a diagnostic and nothing else."""

OUTCOMES = {"UNRESOLVED": "open", "BASELINE": "pass"}
"""Outcome of the gate that gave a label; ``fail`` for the others."""

GATES = (
    "integrity",
    "provenance",
    "comparability",
    "parity",
    "plausibility",
    "guards",
    "significance",
    "tier",
)
"""The gates, in the order in which they are passed. The first that does not hold binds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """One gate.

    Attributes:
        name: one of `GATES`.
        outcome: ``pass``, ``fail``, ``open`` (an input is missing), ``waived``, or ``absent`` when the rule has none.
        code: stable identifier of what did not hold; empty for a pass.
        detail: expected and found, in words.
        inputs: numbers it looked at, as decimals, and the receipts they come from.
    """

    name: str
    outcome: str
    code: str = ""
    detail: str = ""
    inputs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """What a value is held against.

    Attributes:
        used: the figure; none when there is nothing to hold against.
        receipt: index of the receipt that it comes from; none when no receipt of this ledger stands for it.
        measured: what main measured in the same session.
        source: ``frontier``, ``main``, ``recorded`` or empty.
    """

    used: Figure | None = None
    receipt: int | None = None
    measured: Figure | None = None
    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What the ledger knows besides the rung.

    Attributes:
        basis: what the value is held against.
        reference: the rule's denominator receipt, resolved; none when the rule names none.
        reference_problem: why that receipt gives no denominator here; empty when it does.
        guard_bases: base of a guarded slot by its role, with the index of its receipt.
        unqualified_pins: why the pins of a guarded slot are no base, where all that there are are none.
        noise: noise of the slot's node; none when it was never measured.
        waived: what maintainers waived for this rung, by `waiver_name`.
        review: ``accepted``, ``rejected`` or empty.
        flags: what the replay noticed, such as a changed environment.
    """

    basis: Basis
    reference: Figure | None = None
    reference_problem: str = ""
    guard_bases: Mapping[tuple[Slot, str], tuple[Figure, int]] = field(default_factory=dict)
    unqualified_pins: Mapping[Slot, PinProblem] = field(default_factory=dict)
    noise: Fraction | None = None
    waived: frozenset[str] = frozenset()
    review: str = ""
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a rule says of a rung. The speed of a rejected rung is in `diagnostic` and nowhere else.

    Attributes:
        label: one of `LABELS`.
        rule: digest of the rule.
        gate: name of the gate that bound.
        code: stable identifier of what bound; empty when a tier or ``none`` was given.
        bound: for a tier, what limited it: ``cap``, ``denominator`` or ``gain``.
        gates: every gate that was reached, in order.
        gain: over the frontier, as an exact fraction or a double in text; empty without a tier.
        credited: what was held against the bands; empty without a tier.
        fragile: half a unit in the last place of an input would change the label.
        unattested: what in it no receipt stands for.
        flags: what deserves a look without changing the label.
        diagnostic: speed of a rung that was stopped; it has no tier, not even in words.
    """

    label: str
    rule: str
    gate: str
    code: str = ""
    bound: str = ""
    gates: tuple[Gate, ...] = ()
    gain: str = ""
    credited: str = ""
    fragile: bool = False
    unattested: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    diagnostic: JsonObject = field(default_factory=dict)

    @property
    def is_stopped(self) -> bool:
        """Whether its speed is a diagnostic, and no number that anybody is shown."""
        return bool(self.diagnostic)

    @property
    def gain_share(self) -> float:
        """The gain for reading, as a share; 0 without one."""
        return approximate(self.gain) if self.gain else 0.0


def waiver_name(gate: str, metric: str = "", context: int = 0) -> str:
    """What a waiver lets pass: a gate, or one guard of the gate ``guards``."""
    return f"{gate}:{metric}@{context}" if metric else gate


def verdict_to_json(verdict: Verdict) -> JsonObject:
    """A verdict for ``--json``: gates in order, numbers as text."""
    return {
        "label": verdict.label,
        "rule": verdict.rule,
        "gate": verdict.gate,
        "code": verdict.code or None,
        "bound": verdict.bound or None,
        "gain": verdict.gain or None,
        "credited": verdict.credited or None,
        "fragile": verdict.fragile,
        "unattested": list(verdict.unattested),
        "flags": list(verdict.flags),
        "gates": [
            {
                "name": gate.name,
                "outcome": gate.outcome,
                "code": gate.code or None,
                "detail": gate.detail or None,
                "inputs": dict(gate.inputs),
            }
            for gate in verdict.gates
        ],
        "diagnostic": verdict.diagnostic,
    }
