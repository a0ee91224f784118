"""The answer of a comparison: the table of verdicts, one outcome, and what to do next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ledger.errors import RefusedError
from ledger.metrics import METRICS
from ledger.scoring.compare import paired, row3
from ledger.scoring.compare.comparable import check_axes, check_distinct, common_metrics, common_tests, prompt_drift
from ledger.scoring.compare.gate import Outcome, gate
from ledger.scoring.compare.order import order_faults
from ledger.scoring.compare.paired import PairedVerdict, judge_pairs, null_ratios
from ledger.scoring.compare.row3 import StatVerdict, judge_statistics, run_statistics
from ledger.scoring.compare.side import Side, name_alike

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

_DECIDABLE_PCT = 3
"""Per cent of the median below which a row's rate is not decided by rows."""
_RATES = frozenset({"mean", "p50", "p90", "max"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a rule says of two sides.

    Attributes:
        rule: its id.
        mode: what was asked of it; empty where it has no modes.
        outcome: in one word.
        code: why nobody can tell; empty for a pass or a failure.
        reason: in one sentence.
        next_step: what to do.
        statistics: verdicts under ``row3-v1``.
        pairs: verdicts under ``paired-v1``.
        flags: what deserves a look, as codes and sentences.
        foreign_status: exit status of the harness's own gate; none for another rule.
    """

    rule: str
    mode: str
    outcome: Outcome
    code: str
    reason: str
    next_step: str
    statistics: tuple[StatVerdict, ...] = ()
    pairs: tuple[PairedVerdict, ...] = ()
    flags: tuple[str, ...] = ()
    foreign_status: int | None = None


def compare_rows(base: Side, other: Side, mode: str) -> Answer:
    """Compare two sides under ``row3-v1``.

    Raises:
        RefusedError: what `comparable` refuses, and ``E_MIXED`` for sides of several tests.
    """
    base, other = name_alike(base, other)
    flags = _prepare(base, other)
    tests = common_tests(base, other)
    if len(tests) > 1:
        raise RefusedError("E_MIXED", f"the rule judges one test, there are {len(tests)}: {'; '.join(tests)}")
    drift = prompt_drift([*base.runs, *other.runs])
    flags += [f"F_PROMPT_DRIFT: {drift}: part of every difference is one of prompts"] if drift else []
    for code, said in order_faults(base.runs, other.runs):
        flags.append(f"{'F_ORDER_UNKNOWN' if code == 'E_ORDER_UNKNOWN' else 'F_NOT_IN_TURN'}: {said}")
    verdicts = judge_statistics(*([run_statistics(run) for run in side.runs] for side in (base, other)))
    flags += [
        f"F_BELOW_RESOLUTION: {item.name} is resolved at less than {_DECIDABLE_PCT} %, which rows do not decide"
        for item in verdicts
        if item.resolved and item.name in _RATES and item.delta_pct and abs(item.delta_pct) < _DECIDABLE_PCT
    ]
    if any(item.name == "wall_s" and item.worse for item in verdicts):
        flags.append("F_WALL_GATED: the rule gates wall_s, which carries the warm-up of a process's first run")
    found = gate(verdicts, mode)
    return Answer(
        rule=row3.RULE,
        mode=mode,
        outcome=found.outcome,
        code=found.code,
        reason=found.reason,
        next_step=_NEXT.get(found.code or found.outcome, ""),
        statistics=verdicts,
        flags=tuple(flags),
        foreign_status=found.foreign_status,
    )


def compare_pairs(
    base: Side, other: Side, noise: Sequence[tuple[Side, Side]] = (), metrics: Sequence[str] = ()
) -> Answer:
    """Compare two sides under ``paired-v1``.

    Args:
        base: one side.
        other: the other.
        noise: sessions of one build, each as its two halves.
        metrics: names of those to judge; all that both sides have when none is given.

    Raises:
        RefusedError: what `comparable` refuses, and ``E_PROMPT_DRIFT``.
    """
    base, other, *halves = name_alike(base, other, *(half for session in noise for half in session))
    noise = list(zip(halves[::2], halves[1::2], strict=True))
    flags = _prepare(base, other)
    tests = common_tests(base, other)
    ours, theirs = base.by_test(), other.by_test()
    _check_noise(base, other, noise)
    flags += [flag for session in noise for flag in _noise_left_out(*session, tests)]
    wanted: list[tuple[str, str]] = []
    for test in tests:
        drift = prompt_drift([*ours[test], *theirs[test]])
        if drift:
            raise RefusedError("E_PROMPT_DRIFT", f"{drift}: what is compared answered other texts", where="prompts")
        found = common_metrics(ours[test], theirs[test])
        wanted += [(test, name) for name in found if name in (metrics or found)]
    missing = {*metrics} - {name for _, name in wanted}
    if missing:
        raise RefusedError("E_UNPAIRED", f"{min(missing)} was not measured on both sides", where="--metric")
    judged = [each for each in wanted if metrics or _is_judged(*each, wanted)]
    verdicts = tuple(
        judge_pairs(
            METRICS[name],
            ours[test],
            theirs[test],
            [ratio for session in noise for ratio in _nulls(session, test, name)],
            verdicts=len(judged),
            shown_only=(test, name) not in judged,
        )
        for test, name in wanted
    )
    outcome, code, reason = _decide(verdicts)
    return Answer(
        rule=paired.RULE,
        mode="",
        outcome=outcome,
        code=code,
        reason=reason,
        next_step=_NEXT.get(code or outcome, ""),
        pairs=verdicts,
        flags=tuple(flags),
    )


def _prepare(base: Side, other: Side) -> list[str]:
    """Refuse what cannot be compared at all; what deserves a look."""
    check_distinct(base, other)
    flags = check_axes(base, other)
    if base.code and base.code == other.code and base.choices == other.choices:
        flags.append("F_SAME_CODE: both sides are one code with one choice of settings: a difference is noise")
    return flags


def _check_noise(base: Side, other: Side, noise: Sequence[tuple[Side, Side]]) -> None:
    """A session of noise is one build under the same conditions, no other session, and no part of the sides."""
    for first, second in noise:
        if (first.code, first.choices) != (second.code, second.choices):
            raise RefusedError("E_NOISE_ARMS", f"{first.label} and {second.label} are not one build", where="--noise")
    every = Side(label="noise", runs=tuple(run for session in noise for half in session for run in half.runs))
    try:
        check_distinct(Side(label=base.label, runs=(*base.runs, *other.runs)), every)
    except RefusedError as err:
        raise RefusedError(
            "E_COPIED_SAMPLES", f"every run of noise is measured apart: {err.message}", where="--noise"
        ) from err
    for first, second in noise:
        check_axes(base, Side(label=first.label, runs=(*first.runs, *second.runs)))


def _noise_left_out(first: Side, second: Side, tests: Sequence[str]) -> list[str]:
    """Why a session is no noise for a test."""
    found = []
    ours, theirs = first.by_test(), second.by_test()
    for test in tests:
        if test not in ours or test not in theirs:
            found.append(f"F_NOISE_LEFT: {first.label} did not run the test {test}")
        else:
            found += [f"F_NOISE_LEFT: {first.label}: {said}" for _, said in order_faults(ours[test], theirs[test])]
    return found


def _is_judged(test: str, name: str, wanted: Sequence[tuple[str, str]]) -> bool:
    """Whether a metric is judged when nobody asks for one: not the time of a whole run beside that of its requests."""
    own = {each for of, each in wanted if of == test}
    return name not in paired.SHOWN_ONLY or own <= paired.SHOWN_ONLY


def _nulls(session: tuple[Side, Side], test: str, metric: str) -> tuple[Fraction, ...]:
    first, second = (side.by_test().get(test, []) for side in session)
    return null_ratios(METRICS[metric], first, second)


def _decide(verdicts: Sequence[PairedVerdict]) -> tuple[Outcome, str, str]:
    """A loss anywhere fails; a gain somewhere and no loss passes; else nobody can tell."""
    by_word = {
        word: [_title(item, verdicts) for item in verdicts if item.word == word]
        for word in ("WORSE", "BETTER", "UNRESOLVED")
    }
    if by_word["WORSE"]:
        return "FAIL", "", f"resolved worse: {', '.join(by_word['WORSE'])}"
    if by_word["BETTER"]:
        open_ones = f"; not resolved: {', '.join(by_word['UNRESOLVED'])}" if by_word["UNRESOLVED"] else ""
        return "PASS", "", f"resolved better: {', '.join(by_word['BETTER'])}{open_ones}"
    code, said = next(reason for item in verdicts for reason in item.reasons)
    return "UNRESOLVED", code, said


def _title(item: PairedVerdict, verdicts: Sequence[PairedVerdict]) -> str:
    return f"{item.metric.name} of {item.test}" if len({each.test for each in verdicts}) > 1 else item.metric.name


_ALTERNATE = "measure again in turn, base, other, base, other, at least three runs a side, and say when each started"
_NEXT = {
    "PASS": "append the runs as a round, if they are to count",
    "FAIL": "do not adopt it; if you doubt it, measure again in turn with more runs",
    "E_TOO_FEW_RUNS": "measure at least three runs a side, in turn; two numbers alone have no spread",
    "E_TOO_MANY_RUNS": "compare a part of the runs: sixty pairs tell all that can be told",
    "E_NO_PAIRS": "measure the same statistics on both sides",
    "E_STAT_MISSING": "keep the server's log beside the records, so that blocks are known on both sides",
    "E_NEED_UNMET": "nothing is resolved worse; to show a gain, take more runs or an instrument with less noise",
    "E_EMPTY_RESULTS": "look at the records of the run: none of them gives a value",
    "E_ORDER_UNKNOWN": _ALTERNATE,
    "E_ORDER_CONFOUNDED": _ALTERNATE,
    "E_UNPAIRED": _ALTERNATE,
    "E_GAP": "measure both sides within the hour",
    "E_OVERLAP": "let one run end before the next one starts",
    "E_NOISE_UNKNOWN": "measure one build against itself in turn, and give that with --noise",
    "E_LEVEL": "take more pairs, or judge fewer metrics with --metric",
    "E_NOT_SIGNIFICANT": "take more pairs; what is not resolved is not equal",
    "E_WITHIN_NOISE": "find an instrument with less noise; what is not resolved is not equal",
    "E_DRIFT": "find what drifts (temperature, a cache that fills, another tenant), and measure again",
}
"""What to do, by the code or the outcome."""
