"""What the verdicts of ``row3-v1`` decide, by mode.

==========  =============================================  ==========================
mode        asks for                                       exempt from "worse"
==========  =============================================  ==========================
``noworse``  nothing resolved worse                         none
``adopt``    that, and ``mean`` resolved better             none
``block``    that, and ``ms_blk`` resolved better           none
``tokens``   that, and ``tok_blk`` resolved better          ``ms_blk``
==========  =============================================  ==========================

Worse is tested before the need. The harness's own exit status is kept beside ours (0 pass, 1 worse, 2 the need is not
met). Its gate passes what nobody measured: two reports without a common statistic are not worse than each other. Here
a pass takes every statistic that the mode gates, and at least `LEAST_RUNS` runs a side; where it lacks them the answer
is that nobody can tell, whatever the verdicts say.

Source: gatecheck.py of the TandemLLM project.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from ledger.scoring.compare.row3 import ABSENT, LEAST_RUNS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ledger.scoring.compare.row3 import StatVerdict

Outcome: TypeAlias = Literal["PASS", "FAIL", "UNRESOLVED"]

NEEDS: Mapping[str, str] = {"noworse": "", "adopt": "mean", "block": "ms_blk", "tokens": "tok_blk"}
"""Modes, and the statistic that each needs resolved better."""
_EXEMPT: Mapping[str, str] = {"tokens": "ms_blk"}


@dataclass(frozen=True, slots=True, kw_only=True)
class GateAnswer:
    """What a gate says.

    Attributes:
        outcome: ours.
        code: why it is not a pass or a failure by the verdicts; empty otherwise.
        reason: in one sentence.
        foreign_status: exit status of the harness's own gate on the same verdicts.
    """

    outcome: Outcome
    code: str
    reason: str
    foreign_status: int


def gate(verdicts: Sequence[StatVerdict], mode: str) -> GateAnswer:
    """Decide by mode.

    Raises:
        KeyError: there is no such mode.
    """
    need, exempt = NEEDS[mode], _EXEMPT.get(mode, "")
    gated = [item for item in verdicts if item.name != exempt]
    worse = [item.name for item in gated if item.worse]
    unmet = bool(need) and not any(item.better for item in verdicts if item.name == need)
    status = 1 if worse else 2 if unmet else 0
    few = [item for item in verdicts if _runs(item) < LEAST_RUNS and item.verdict != ABSENT]
    missing = [item.name for item in verdicts if item.verdict == ABSENT]
    if len(missing) == len(verdicts):
        return _open("E_NO_PAIRS", "no statistic was measured on both sides: a gate on nothing is no pass", status)
    if few:
        said = f"{_runs(few[0])} run(s) on a side: with fewer than {LEAST_RUNS} there is no spread to hold it against"
        return _open("E_TOO_FEW_RUNS", said, status)
    if worse:
        return GateAnswer(outcome="FAIL", code="", reason=f"resolved worse: {', '.join(worse)}", foreign_status=status)
    if unmet:
        return _open("E_NEED_UNMET", f"the mode {mode} needs {need} resolved better", status)
    if missing:
        return _open("E_STAT_MISSING", f"not measured on both sides: {', '.join(missing)}", status)
    said = f"{need} resolved better, nothing worse" if need else "nothing resolved worse"
    return GateAnswer(outcome="PASS", code="", reason=said, foreign_status=status)


def _runs(verdict: StatVerdict) -> int:
    sides = [side.runs for side in (verdict.base, verdict.other) if side is not None]
    return min(sides, default=0)


def _open(code: str, reason: str, status: int) -> GateAnswer:
    return GateAnswer(outcome="UNRESOLVED", code=code, reason=reason, foreign_status=status)
