"""Checks that measure no time: the same texts from both builds, and the same things that a client can do.

A check that nobody made is no pass. The tools that these files come from pass what was skipped, pass a list that was
made shorter, and compare texts although the base does not repeat its own; all three are unresolved here.

Source: api_text_check.py and client_smoke.py of the TandemLLM project.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ledger.scoring.compare.gate import Outcome

TEXT_RULE, SMOKE_RULE = "api-text-v1", "client-smoke-v1"
_PASSES = 2
_SKIPPED = "(skipped"


@dataclass(frozen=True, slots=True, kw_only=True)
class TextCheck:
    """The answers of one build.

    Attributes:
        label: of the file.
        passes: for every pass, the members of each answer as text, by the name of the request.
    """

    label: str
    passes: tuple[Mapping[str, Mapping[str, str]], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SmokeCheck:
    """What a client could do with one build: the name of each check, and whether it passed."""

    label: str
    results: tuple[tuple[str, bool], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckAnswer:
    """What became of checks.

    Attributes:
        outcome: in one word.
        code: why nobody can tell; empty for a pass or a failure.
        reason: in one sentence.
        findings: file, name of the check and what is wrong with it.
        checks: number of checks that both sides made.
    """

    outcome: Outcome
    code: str
    reason: str
    findings: tuple[tuple[str, str, str], ...]
    checks: int


def judge_texts(base: TextCheck, others: Sequence[TextCheck]) -> CheckAnswer:
    """Every pass of every build must answer as the first pass of the base does.

    The second pass of the base is the control: where it differs, the server does not repeat itself, and another
    difference says nothing. So does a request that one side lacks.
    """
    model = base.passes[0] if base.passes else {}
    thin = next((each for each in (base, *others) if len(each.passes) < _PASSES), None)
    if thin is not None:
        return _open("E_TOO_FEW_RUNS", f"{thin.label} has {len(thin.passes)} pass(es), {_PASSES} are needed", (), 0)
    if not model or not others:
        return _open("E_NO_PAIRS", "no request was answered on both sides", (), 0)
    absent = [
        (each.label, name, "was asked of one side alone")
        for each in (base, *others)
        for answers in each.passes
        for name in sorted(model.keys() ^ answers.keys())
    ]
    if absent:
        return _open("E_UNPAIRED", f"{len(absent)} requests are not in every pass, {absent[0][1]} for one", absent, 0)
    control = _differences(base, model)
    if control:
        said = f"the base does not repeat its own answer to {control[0][1]}: no difference says anything"
        return _open("E_CONTROL", said, control, len(model))
    found = [each for other in others for each in _differences(other, model)]
    if found:
        reason = f"{len(found)} answers differ, {found[0][1]} for one"
        return CheckAnswer(outcome="FAIL", code="", reason=reason, findings=tuple(found), checks=len(model))
    reason = f"the same answers to {len(model)} requests in every pass"
    return CheckAnswer(outcome="PASS", code="", reason=reason, findings=(), checks=len(model))


def _differences(check: TextCheck, model: Mapping[str, Mapping[str, str]]) -> list[tuple[str, str, str]]:
    return [
        (check.label, name, f"{', '.join(members)} of pass {at}")
        for at, answers in enumerate(check.passes, 1)
        for name in model
        if (members := _changed(model[name], answers[name]))
    ]


def _changed(one: Mapping[str, str], other: Mapping[str, str]) -> list[str]:
    return sorted(name for name in {*one, *other} if one.get(name) != other.get(name))


def judge_smoke(base: SmokeCheck, other: SmokeCheck) -> CheckAnswer:
    """Every check of the base must be made with the other build, and pass. The base's list is the pinned one."""
    wanted, found = Counter(_names(base)), Counter(_names(other))
    failed = [(other.label, name, "failed") for name, passed in other.results if not passed]
    skipped = [
        (other.label, name, "was skipped, and recorded as a pass") for name, _ in other.results if _is_skip(name)
    ]
    absent = [(other.label, name, "was not made") for name in (wanted - found).elements()]
    made = sum((wanted & found).values())
    if not wanted or not made:
        return _open("E_NO_PAIRS", "no check was made on both sides", absent, 0)
    if failed:
        said = f"{len(failed)} checks failed, {failed[0][1]} for one"
        findings = (*failed, *skipped, *absent)
        return CheckAnswer(outcome="FAIL", code="", reason=said, findings=findings, checks=made)
    if absent:
        return _open(
            "E_UNPAIRED", f"{len(absent)} checks were not made, {absent[0][1]} for one", (*absent, *skipped), made
        )
    if skipped:
        return _open("E_SKIPPED", f"{len(skipped)} checks were skipped and recorded as passes", skipped, made)
    return CheckAnswer(outcome="PASS", code="", reason=f"all {made} checks passed", findings=(), checks=made)


def _is_skip(name: str) -> bool:
    return _SKIPPED in name.lower()


def _names(check: SmokeCheck) -> list[str]:
    """Names of the checks, without the remark that one was skipped."""
    return [name[: name.lower().index(_SKIPPED)].strip() if _is_skip(name) else name for name, _ in check.results]


def _open(code: str, reason: str, findings: Sequence[tuple[str, str, str]], checks: int) -> CheckAnswer:
    return CheckAnswer(outcome="UNRESOLVED", code=code, reason=reason, findings=tuple(findings), checks=checks)
