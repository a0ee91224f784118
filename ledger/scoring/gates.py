"""The gates, in their one order: what a rule says of a rung.

integrity → provenance → comparability → parity → plausibility → guards → significance → tier. The first gate that does
not hold decides the label; nothing behind it is looked at. A missing input is `UNRESOLVED` and never a pass. A value
that fails parity is `REJECT` whatever its speed, which then stands under ``diagnostic`` only.

`judge` is pure: the rung, the rule and the context are all that it sees. The verdict that a tool, a log or a
contributor wrote into what they sent is not among them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from ledger.rule import EVIDENCE
from ledger.scoring.facts import decimal_text, exact_text, reading_text
from ledger.scoring.guards import check_guard
from ledger.scoring.parity import check_parity
from ledger.scoring.quarantine import Bound, quarantine_bound
from ledger.scoring.tier import Number, is_fragile, judge_gain, read_bands, reader
from ledger.scoring.verdict import OUTCOMES, STOPPED, Gate, Verdict, waiver_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from ledger.canonical import JsonObject
    from ledger.rule import Rule
    from ledger.scoring.rung import Figure, Rung
    from ledger.scoring.verdict import Basis, Context

LEAST_REPS = 2
"""One repetition is not a measurement, whatever a rule says."""


def judge(rung: Rung, rule: Rule, context: Context) -> Verdict:
    """What a rule says of a rung."""
    return _Judge(rung, rule, context).run()


@dataclass(slots=True)
class _Judge:
    rung: Rung
    rule: Rule
    context: Context
    gates: list[Gate] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)
    unattested: list[str] = field(default_factory=list)
    hidden: bool = False

    def run(self) -> Verdict:
        self.flags += self.context.flags
        steps: tuple[tuple[str, Callable[[], Bound | None]], ...] = (
            ("integrity", self._integrity),
            ("provenance", self._provenance),
            ("comparability", self._comparability),
            ("parity", self._parity),
            ("plausibility", self._plausibility),
            ("guards", self._guards),
            ("significance", self._baseline),
        )
        for name, step in steps:
            bound = step()
            if bound is not None:
                return self._stop(name, bound)
        return self._tier()

    def read(self, value: str | Fraction) -> Number:
        return reader(self.rule.numbers)(value)

    @property
    def value(self) -> Figure:
        return self.rung.figures["candidate"]

    def note(self, name: str, outcome: str, **inputs: str) -> None:
        self.gates.append(Gate(name=name, outcome=outcome, inputs=inputs))

    # The gates.

    def _integrity(self) -> Bound | None:
        """Whoever has a `VerifiedLog` has passed it: chain, root, signatures and roles."""
        self.note("integrity", "pass", receipt=str(self.rung.index))
        return None

    def _provenance(self) -> Bound | None:
        rung, rule = self.rung, self.rule
        kept = quarantine_bound(rung, self.context.review)
        if kept is not None:
            self.hidden = True
            return kept
        if EVIDENCE.index(rung.evidence) < EVIDENCE.index(rule.evidence):
            self._hide_what_fails_parity()
            return Bound("UNRESOLVED", "E_EVIDENCE", f"the rule judges {rule.evidence} figures, not {rung.evidence}")
        if "candidate" not in rung.figures:
            return Bound("UNRESOLVED", "E_NO_FIGURE", "no figure of a candidate in the slot's metric and context")
        if rung.evidence == "imported":
            self.unattested.append("value")
            self.note("provenance", "pass", evidence=rung.evidence, reps="0")
            return None
        needed = max(rule.min_reps, LEAST_REPS)
        for arm in ("candidate", "main"):
            reps = rung.figures[arm].reps if arm in rung.figures else needed
            if reps < needed:
                self._hide_what_fails_parity()
                said = f"{arm} has {reps} repetition(s), {needed} are needed{self._unverified()}"
                return Bound("UNRESOLVED", "E_REPS", said)
        self.note("provenance", "pass", evidence=rung.evidence, reps=str(self.value.reps))
        return None

    def _unverified(self) -> str:
        """The gain that too few repetitions leave unverified, in words only; nothing where no speed may be shown."""
        used = self.context.basis.used
        if self.hidden or used is None or used.value <= 0:
            return ""
        gain = (self.value.value - used.value) / used.value
        percent = -100 * gain if self.rung.slot.lower_is_better else 100 * gain
        return f"; {decimal_text(percent, 2, sign=True)} % is unverified"

    def _hide_what_fails_parity(self) -> None:
        """What is not judged is still shown as measured, but not when its own accuracy speaks against it."""
        bars = self.rule.parity
        if bars is not None and "candidate" in self.rung.figures:
            self.hidden = check_parity(self.rung, bars, self.read).label == "REJECT"
            self.flags += ["F_PARITY_FAILS"] if self.hidden else []

    def _comparability(self) -> Bound | None:
        rung, basis = self.rung, self.context.basis
        if rung.evidence != "imported":
            if "main" not in rung.figures:
                return Bound("UNRESOLVED", "E_NO_MAIN", "main was not measured in the same session")
            if rung.codes.get("main") == rung.codes.get("candidate") and rung.same_settings:
                return Bound("UNRESOLVED", "E_SELF_COMPARISON", "both arms are the same code with the same settings")
        if self.rule.recorded and rung.recorded is None:
            return Bound("UNRESOLVED", "E_NO_FRONTIER", "the receipt names no frontier that it was held against")
        if self.context.reference_problem:
            return Bound("UNRESOLVED", "E_DENOMINATOR", self.context.reference_problem)
        alarm = self._alarm(basis)
        if alarm is not None:
            return alarm
        self._note_basis(basis)
        return None

    def _alarm(self, basis: Basis) -> Bound | None:
        if self.rule.alarm is None or basis.used is None or basis.measured is None or basis.source != "frontier":
            return None
        used, measured = self.read(basis.used.value), self.read(basis.measured.value)
        limit = self.read(self.rule.alarm)
        low = measured * limit > used if self.rung.slot.lower_is_better else measured < used * limit
        if not low:
            return None
        found, expected = reading_text(basis.measured.value), reading_text(basis.used.value)
        return Bound("UNRESOLVED", "E_MAIN_FAR_BELOW", f"main measured {found}, far from the frontier of {expected}")

    def _note_basis(self, basis: Basis) -> None:
        inputs = {"source": basis.source or "none"}
        if basis.used is not None:
            inputs["frontier"] = reading_text(basis.used.value)
        if basis.measured is not None:
            inputs["main"] = reading_text(basis.measured.value)
        if basis.receipt is not None:
            inputs["frontier_receipt"] = str(basis.receipt)
        if basis.used is not None and (basis.receipt is None or self._is_own_claim(basis)):
            self.unattested.append("frontier")
        self.note("comparability", "pass", **inputs)

    def _is_own_claim(self, basis: Basis) -> bool:
        """Whether the basis is what main measured in this very session, and nobody attested that."""
        return basis.source == "main" and self.rung.evidence != "attested"

    def _parity(self) -> Bound | None:
        bars = self.rule.parity
        if bars is None:
            self.note("parity", "absent")
            return None
        found = check_parity(self.rung, bars, self.read)
        self.flags += found.flags
        if found.label:
            return Bound(found.label, found.code, found.detail)
        self.note("parity", "pass", **found.inputs)
        return None

    def _plausibility(self) -> Bound | None:
        if self.context.review == "rejected":
            return Bound("REJECT", "E_REVIEW_REJECTED", "maintainers reviewed the value and rejected it")
        doubt = self._implausible()
        if doubt is None:
            asked = self.rule.ceiling or self.rule.wall_over or self.rule.wall_under
            self.note("plausibility", "pass" if asked else "absent")
            return None
        if self.context.review == "accepted" or "plausibility" in self.context.waived:
            self.note("plausibility", "waived", doubt=doubt.detail)
            return None
        return doubt

    def _implausible(self) -> Bound | None:
        rule, denominator = self.rule, self._denominator()
        if rule.ceiling is not None and denominator is not None and not self.rung.slot.lower_is_better:
            limit = self.read(rule.ceiling) * denominator
            if self.read(self.value.value) > limit:
                return Bound("REVIEW", "E_CEILING", f"the value is over the ceiling of {float(limit):.6g}")
        for share in (Fraction(*window) for window in self.rung.windows):
            if rule.wall_over is not None and self.read(share) > self.read(rule.wall_over):
                return Bound("REVIEW", "E_WALL_OVER", f"samples take {float(share):.3f} of their repetition's time")
            if rule.wall_under is not None and self.read(share) < self.read(rule.wall_under):
                return Bound("REVIEW", "E_WALL_UNDER", f"samples fill {float(share):.3f} of their repetition's time")
        return None

    def _guards(self) -> Bound | None:
        for guard in self.rule.guards:
            found = check_guard(guard, self.rung, self.context, self.read)
            self.unattested += [found.unattested] if found.unattested else []
            self.flags += found.flags
            if not found.label:
                self.note("guards", "pass", **found.inputs)
            elif waiver_name("guards", guard.metric, guard.context) in self.context.waived:
                self.note("guards", "waived", doubt=found.detail)
            else:
                return Bound(found.label, found.code, found.detail)
        if not self.rule.guards:
            self.note("guards", "absent")
        return None

    def _denominator(self) -> Number | None:
        if self.rule.unattested is not None:
            return self.read(self.rule.unattested)
        return None if self.context.reference is None else self.read(self.context.reference.value)

    def _baseline(self) -> Bound | None:
        if self.rule.noise == "required" and self.context.noise is None:
            return Bound("UNRESOLVED", "E_NO_NOISE", "the node's noise was never measured in this slot")
        used = self.context.basis.used
        if used is None or used.value <= 0:
            return Bound("BASELINE", "", "there is nothing yet to be better than")
        return None

    # The end.

    def _tier(self) -> Verdict:
        used = self.context.basis.used
        if used is None:
            raise AssertionError("the baseline gate lets no rung without a frontier pass")
        noise = None if self.rule.noise == "ignored" else self.context.noise
        bands, denominator, lower = read_bands(self.rule, noise), self._denominator(), self.rung.slot.lower_is_better
        gain = judge_gain(self.read(self.value.value), self.read(used.value), denominator, bands, lower=lower)
        if denominator is not None and self.rule.unattested is not None:
            self.unattested.append("denominator")
        passed = gain.bound != "significance"
        self.note(
            "significance", "pass" if passed else "fail", gain=number_text(gain.gain), share=number_text(bands.share)
        )
        if passed:
            self.note("tier", "pass", credited=number_text(gain.credited), bound=gain.bound)
        return Verdict(
            label=gain.tier,
            rule=self.rule.digest,
            gate="tier" if passed else "significance",
            bound=gain.bound if passed else "",
            gates=tuple(self.gates),
            gain=number_text(gain.gain),
            credited=number_text(gain.credited) if passed else "",
            fragile=is_fragile(self.value, used, denominator, self.rule, bands, lower=lower),
            unattested=tuple(self.unattested),
            flags=tuple(dict.fromkeys(self.flags)),
        )

    def _stop(self, name: str, bound: Bound) -> Verdict:
        outcome = OUTCOMES.get(bound.label, "fail")
        self.gates.append(Gate(name=name, outcome=outcome, code=bound.code, detail=bound.detail))
        return Verdict(
            label=bound.label,
            rule=self.rule.digest,
            gate=name,
            code=bound.code,
            gates=tuple(self.gates),
            unattested=tuple(self.unattested),
            flags=tuple(dict.fromkeys(self.flags)),
            diagnostic=self._diagnostic() if bound.label in STOPPED or self.hidden else {},
        )

    def _diagnostic(self) -> JsonObject:
        """Speed of what was stopped: for people who look for the cause, never a result and never a tier."""
        candidate = self.rung.figures.get("candidate")
        return {} if candidate is None else {"value": reading_text(candidate.value)}


def number_text(number: Number) -> str:
    """A number as a verdict keeps it: an exact fraction, or the shortest decimal of a double."""
    return exact_text(number) if isinstance(number, Fraction) else repr(number)
