"""The answer of a comparison as a table for people and as one object for programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from cli import output
from ledger.canonical import JsonObject
from ledger.ingest.sides import changed_choices
from ledger.metrics import METRICS
from ledger.scoring.compare.answer import Answer
from ledger.scoring.compare.paired import LEVEL, PairedVerdict
from ledger.scoring.compare.row3 import HIGHER_IS_BETTER, StatVerdict, Summary
from ledger.scoring.compare.side import Side
from ledger.scoring.facts import decimal_text, exact_text, reading_text

_PLACES = 3
_PLACES_OF_P = 4


# For people.


def answer_table(answer: Answer, base: Side, other: Side) -> str:
    """The verdicts, what deserves a look, and a last line with the outcome and what to do."""
    lines = [f"base   {_head(base)}", f"other  {_head(other)}"]
    changed = changed_choices(base, other)
    lines += [f"differ in {', '.join(changed)}"] if changed else []
    lines += [_statistics_table(answer.statistics)] if answer.statistics else [_pairs_table(answer.pairs)]
    lines += [f"note: {flag}" for flag in answer.flags]
    return "\n".join([*lines, last_line(answer.outcome, answer.code, answer.reason, answer.next_step)])


def _head(side: Side) -> str:
    code = f", code {side.code[:16]}" if side.code else ", code not said"
    tests = Counter(run.test for run in side.runs)
    most = max(tests.values(), default=0)
    of_tests = f" of {len(tests)} tests" if len(tests) > 1 else ""
    return f"{side.label}: {most} run{'' if most == 1 else 's'}{of_tests}{code}"


def last_line(outcome: str, code: str, reason: str, step: str) -> str:
    """The outcome, why, and what to do next."""
    said = f"{code}: {reason}" if code else reason
    return f"{outcome}  {said}" + (f"; next: {step}" if step else "")


STAT_HEAD = ("base", "other", "delta %", "noise %", "disjoint", "verdict")


def _statistics_table(verdicts: Sequence[StatVerdict]) -> str:
    rows = [["stat", *STAT_HEAD], *([item.name, *stat_cells(item)] for item in verdicts)]
    return output.table(rows, right=frozenset(range(1, 5)))


def stat_cells(item: StatVerdict) -> list[str]:
    """A verdict as the cells below `STAT_HEAD`."""
    disjoint = "-" if item.disjoint is None else "yes" if item.disjoint else "no"
    return [
        *(_number(side.median if side else None) for side in (item.base, item.other)),
        _signed(item.delta_pct),
        _number(item.noise_pct),
        disjoint,
        item.verdict + (f": {item.reason}" if item.reason else ""),
    ]


def _pairs_table(verdicts: Sequence[PairedVerdict]) -> str:
    several = len({item.test for item in verdicts}) > 1
    rows = [["metric", "unit", "base", "other", "pairs %", "noise %", "p", "verdict", *(["test"] if several else [])]]
    rows += [
        [
            item.metric.name,
            item.metric.unit,
            _number(item.base),
            _number(item.other),
            _signed(_percent(item.effect)),
            _number(_percent(item.noise)),
            "-" if item.p is None else decimal_text(item.p, _PLACES_OF_P),
            item.word.lower() if item.word == "SHOWN" else item.word,
            *([item.test] if several else []),
        ]
        for item in verdicts
    ]
    lines = [output.table(rows, right=frozenset(range(2, 7)))]
    for item in verdicts:
        if item.pairs:
            shown = ", ".join(_signed(_percent(ratio)) for ratio in item.pairs)
            lines.append(f"pairs of {item.metric.name}: {shown} %")
    reasons: dict[str, list[str]] = {}
    for item in verdicts:
        for code, said in item.reasons:
            reasons.setdefault(f"{code}: {said}", []).append(item.metric.name)
    lines += [f"not resolved, {', '.join(dict.fromkeys(names))}: {said}" for said, names in reasons.items()]
    level = next((item.level for item in verdicts), LEVEL)
    lines.append(
        f"level: {reading_text(100 * LEVEL)} % for any false verdict in this comparison, {reading_text(100 * level)} % "
        "for each; p is exact and two-sided"
    )
    return "\n".join(lines)


def _percent(ratio: Fraction | None) -> Fraction | None:
    return None if ratio is None else 100 * (ratio - 1)


def _number(value: Fraction | None) -> str:
    return "-" if value is None else decimal_text(value, _PLACES)


def _signed(value: Fraction | None) -> str:
    return "-" if value is None else ("+" if value > 0 else "") + decimal_text(value, _PLACES)


# For programs.


def answer_json(answer: Answer, base: Side, other: Side) -> JsonObject:
    """The one object of ``compare``."""
    return {
        **empty_answer(answer.rule, answer.mode, answer.outcome, answer.code, answer.reason, answer.next_step),
        "foreign_status": answer.foreign_status,
        "sides": [_side_json(side) for side in (base, other)],
        "changed": changed_choices(base, other),
        "statistics": [statistic_json(item) for item in answer.statistics],
        "pairs": [_pair_json(item) for item in answer.pairs],
        "flags": list(answer.flags),
    }


def empty_answer(rule: str, mode: str, outcome: str, code: str, reason: str, next_step: str) -> JsonObject:
    """The one object of ``compare``, with nothing in its lists yet."""
    return {
        "rule": rule,
        "mode": mode or None,
        "outcome": outcome,
        "code": code or None,
        "reason": reason,
        "next_step": next_step,
        "foreign_status": None,
        **{name: [] for name in ("sides", "changed", "statistics", "pairs", "tokens", "rates", "findings", "flags")},
    }


def _side_json(side: Side) -> JsonObject:
    return {
        "label": side.label,
        "code": side.code or None,
        "runs": [{"name": run.name, "test": run.test, "started_at": run.started_at or None} for run in side.runs],
        "notes": list(side.notes),
    }


def statistic_json(item: StatVerdict, *, state: str | None = None, workload: str | None = None) -> JsonObject:
    """A verdict of one statistic, with the state and the workload that it is of, if there are several."""
    return {
        "state": state,
        "workload": workload,
        "name": item.name,
        "better": "higher" if HIGHER_IS_BETTER[item.name] else "lower",
        "base": _summary_json(item.base),
        "other": _summary_json(item.other),
        **_figure_json("delta_pct", item.delta_pct),
        **_figure_json("noise_pct", item.noise_pct),
        "disjoint": item.disjoint,
        "resolved": item.resolved,
        "worse": item.worse,
        "verdict": item.verdict,
        "reason": item.reason,
    }


def _summary_json(summary: Summary | None) -> JsonObject | None:
    if summary is None:
        return None
    return {
        **_figure_json("median", summary.median),
        "lowest": decimal_text(summary.lowest),
        "highest": decimal_text(summary.highest),
        "spread_pct": decimal_text(summary.spread_pct),
        "runs": summary.runs,
    }


def _pair_json(item: PairedVerdict) -> JsonObject:
    return {
        "test": item.test,
        "metric": item.metric.name,
        "unit": item.metric.unit,
        "better": METRICS[item.metric.name].better,
        "verdict": item.word,
        **_figure_json("base", item.base),
        **_figure_json("other", item.other),
        **_figure_json("change_pct", _percent(item.effect)),
        **_figure_json("noise_pct", _percent(item.noise)),
        **_figure_json("p", item.p),
        "level": exact_text(item.level),
        "pairs": [exact_text(ratio) for ratio in item.pairs],
        "turned": [exact_text(ratio) for ratio in item.turned],
        "nulls": [exact_text(ratio) for ratio in item.nulls],
        "reasons": [{"code": code, "message": said} for code, said in item.reasons],
    }


def _figure_json(name: str, value: Fraction | None) -> JsonObject:
    """A figure for reading and the exact fraction."""
    return {
        name: None if value is None else decimal_text(value),
        f"{name}_exact": None if value is None else exact_text(value),
    }
