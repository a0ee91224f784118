"""Rows of the views that follow from the history: rounds with their verdicts, frontier, pins, flags."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.scoring.facts import approximate
from ledger.scoring.pins import slot_pins
from ledger.views.rows import diagnostic, hide, number

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ledger.canonical import JsonObject
    from ledger.scoring.history import Judged
    from ledger.scoring.rung import Figure
    from ledger.scoring.slots import Holding, SlotState
    from ledger.scoring.verdict import Verdict
    from ledger.views.rows import Row

_ARMS = ("candidate", "main", "reference")


class Scored:
    """Rows of what a replay has found so far.

    Args:
        rungs: every figure by the index of its receipt.
    """

    def __init__(self, rungs: Mapping[int, Judged]) -> None:
        self._rungs = rungs

    def is_stopped(self, index: int) -> bool:
        """Whether a receipt holds a rung that is rejected or under review."""
        judged = self._rungs.get(index)
        return judged is not None and judged.is_stopped

    def rung_rows(self, index: int, body: JsonObject) -> Iterator[tuple[str, Row]]:
        """Rows of the rung in a receipt, each with the name of its table. Faults of the import count as findings."""
        judged = self._rungs[index]
        yield "rounds", self._round_row(judged, body)
        if judged.verdict is not None:
            yield "verdicts", self._verdict_row(judged, judged.verdict)
            first = len(body.get("faults", ()))
            for at, flag in enumerate(judged.verdict.flags, first):
                yield "findings", _flag_row(index, at, flag)

    def _round_row(self, judged: Judged, body: JsonObject) -> Row:
        rung = judged.rung
        arm = next((each for each in _ARMS if each in rung.figures), None)
        figure = rung.figures[arm] if arm else None
        row: Row = {
            "receipt": rung.index,
            "id": rung.id,
            "purpose": rung.purpose,
            **rung.slot._asdict(),
            "evidence": rung.evidence,
            "attempt": rung.attempt,
            "measured_at": body["at"] if "at" in body else min(rep["started_at"] for rep in body["reps"]),
            "unit": rung.slot.unit,
            "better": "lower" if rung.slot.lower_is_better else "higher",
            "arm": arm,
            **_figure("value", figure),
            "reps": figure.reps if figure else None,
            **_figure("recorded", rung.recorded),
            **number("noise", rung.noise),
            "gone_at": judged.gone_at,
            "gone_by": judged.gone_by or None,
            "merged_at": judged.merged_at,
            "diagnostic": None,
        }
        if arm == "candidate" and self.is_stopped(rung.index):
            hide(row, ("value",))
        return row

    def _verdict_row(self, judged: Judged, verdict: Verdict) -> Row:
        row: Row = {
            "receipt": judged.rung.index,
            "label": verdict.label,
            "rule": verdict.rule,
            "gate": verdict.gate,
            "code": verdict.code or None,
            "bound": verdict.bound or None,
            "detail": next((gate.detail for gate in verdict.gates if gate.name == verdict.gate and gate.detail), None),
            **_share("gain", verdict.gain),
            **_share("credited", verdict.credited),
            "fragile": verdict.fragile,
            "unattested": ", ".join(verdict.unattested) or None,
            **_context_columns(judged),
            "diagnostic": diagnostic(verdict.diagnostic),
        }
        if verdict.is_stopped:
            hide(row, ("detail",))
        if self._is_held_against_stopped(judged):
            hide(row, ("detail", "frontier"))
        return row

    def _is_held_against_stopped(self, judged: Judged) -> bool:
        """Whether a rung was held against a merged candidate that was stopped later."""
        basis = judged.context.basis if judged.context else None
        if basis is None or basis.receipt is None or not self.is_stopped(basis.receipt):
            return False
        return basis.used == self._rungs[basis.receipt].rung.figures.get("candidate")

    def frontier_rows(self, state: SlotState, first: int) -> Iterator[Row]:
        """The moves of a slot from one on."""
        for at, move in enumerate(state.moves[first:], first):
            row: Row = {
                "number": at,
                **state.slot._asdict(),
                "since": move.index,
                "is_current": move is state.moves[-1],
                **_holding_columns(move.holding),
                "diagnostic": None,
            }
            self._hide_stopped(row, "value", move.holding)
            yield row

    def pin_rows(self, state: SlotState) -> Iterator[Row]:
        """The pins of a slot."""
        for pin in slot_pins(state):
            measured = pin.measured
            row: Row = {
                **pin.slot._asdict(),
                "role": pin.role,
                "since": pin.held.since if pin.held else None,
                **_holding_columns(pin.held),
                **_figure("measured", measured.figure if measured else None),
                "measured_receipt": measured.receipt if measured else None,
                "measured_arm": measured.arm if measured else None,
                "measured_evidence": measured.evidence if measured else None,
                "stale": pin.stale,
                "diagnostic": None,
            }
            self._hide_stopped(row, "value", pin.held)
            self._hide_stopped(row, "measured", measured)
            yield row

    def _hide_stopped(self, row: Row, name: str, item: Holding | None) -> None:
        if item is not None and item.arm == "candidate" and self.is_stopped(item.receipt):
            hide(row, (name,))


def _figure(name: str, figure: Figure | None) -> Row:
    return number(name, figure.value if figure else None)


def _share(name: str, share: str) -> Row:
    """A share as the verdict has it: an exact fraction, or a double in text."""
    return {name: share or None, f"{name}_real": approximate(share) if share else None}


def _context_columns(judged: Judged) -> Row:
    """What a rung was judged against, and what maintainers said of it."""
    context = judged.context
    basis = context.basis if context else None
    return {
        **_figure("frontier", basis.used if basis else None),
        "frontier_source": (basis.source if basis else "") or None,
        "frontier_receipt": basis.receipt if basis else None,
        **_figure("main", basis.measured if basis else None),
        "review": (context.review if context else "") or None,
        "waived": ", ".join(sorted(context.waived)) if context and context.waived else None,
    }


def _holding_columns(item: Holding | None) -> Row:
    return {
        **_figure("value", item.figure if item else None),
        "receipt": item.receipt if item else None,
        "arm": item.arm if item else None,
        "commit_id": (item.commit if item else "") or None,
    }


def _flag_row(index: int, at: int, flag: str) -> Row:
    code, _, place = flag.partition(":")
    return {
        "receipt": index,
        "number": at,
        "source": "verdict",
        "code": code,
        "message": None,
        "place": place or None,
        "record": None,
        "diagnostic": None,
    }
