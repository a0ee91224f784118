"""Files that ``compare`` judges without runs of two sides: sessions that hold both, and checks that take no time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cli import output
from cli.comparison import STAT_HEAD, empty_answer, last_line, stat_cells, statistic_json
from cli.context import read_input
from cli.sides import split_role
from ledger.canonical import JsonObject
from ledger.errors import RefusedError
from ledger.ingest.sides import block_session, forced_runs
from ledger.ingest.tandem.block_ab import TandemBlockAb, read_block_ab
from ledger.ingest.tandem.checks import is_smoke_check, is_text_check, read_smoke_check, read_text_check
from ledger.ingest.tandem.forced import TandemForced
from ledger.scoring.compare import blocks, forced, texts
from ledger.scoring.compare.blocks import BlockAnswer, judge_blocks
from ledger.scoring.compare.forced import ForcedAnswer, judge_forced, overall
from ledger.scoring.compare.texts import CheckAnswer, judge_smoke, judge_texts
from ledger.scoring.facts import decimal_text, exact_text

MODES = ("noworse", "block")
_OUTCOMES = ("PASS", "FAIL", "UNRESOLVED")
_MORE = "take more pairs; what is not resolved is not equal"
_STEPS = {
    "PASS": "adopt it by its mode: the texts are the same",
    "FAIL": "do not adopt it: the same texts at the same speed is the least that is asked",
    "UNRESOLVED": _MORE,
}
_CHECK_STEPS = {
    "PASS": "go on to what measures time",
    "FAIL": "find out what changed before anything is measured",
    "UNRESOLVED": "make every check of the base again with both builds, and leave none out",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """An answer, ready to be printed.

    Attributes:
        outcome: in one word.
        document: for programs.
        table: for people.
    """

    outcome: str
    document: JsonObject
    table: str


def judge_session(path: Path, mode: str) -> Shown | None:
    """Judge a session that holds both sides itself; none when the file is no such session."""
    raw = read_input(path)
    ask_better = mode == "block"
    if TandemBlockAb().recognises(raw):
        session = block_session(read_block_ab(raw, str(path)))
        return _show_blocks(judge_blocks(session, ask_better=ask_better), mode)
    if TandemForced().recognises(raw):
        runs = forced_runs(TandemForced().read(raw, str(path)), str(path))
        return _show_forced(judge_forced(runs, ask_better=ask_better), mode)
    return None


def judge_checks(base: Sequence[str], other: Sequence[str]) -> Shown | None:
    """Judge checks of texts or of a client; none when the first file is neither.

    Raises:
        RefusedError: ``E_MIXED`` for more than one base, or files of several kinds.
    """
    first, role = split_role(base[0])
    if role or not (is_text_check(raw := read_input(first)) or is_smoke_check(raw)):
        return None
    raws = {name: read_input(Path(name)) for name in (*base, *other)}
    is_one, judge = (is_text_check, _judge_texts) if is_text_check(raw) else (is_smoke_check, _judge_smoke)
    if len(base) > 1 or not all(map(is_one, raws.values())):
        raise RefusedError("E_MIXED", "checks are compared with the checks of one base alone", where="compare")
    again = [name for name in other if raws[name] == raw]
    if again:
        raise RefusedError("E_SELF_COMPARE", f"{again[0]} is {base[0]}: compared with itself", where="compare")
    return judge(base[0], other, raws)


def _judge_texts(base: str, others: Sequence[str], raws: dict[str, bytes]) -> Shown:
    checks = [read_text_check(raws[name], name) for name in others]
    return _show_checks(texts.TEXT_RULE, judge_texts(read_text_check(raws[base], base), checks))


def _judge_smoke(base: str, others: Sequence[str], raws: dict[str, bytes]) -> Shown:
    if len(others) > 1:
        raise RefusedError("E_MIXED", "checks of a client are compared one with one", where="compare")
    other = read_smoke_check(raws[others[0]], others[0])
    return _show_checks(texts.SMOKE_RULE, judge_smoke(read_smoke_check(raws[base], base), other))


# How they are shown.


def _show_blocks(answer: BlockAnswer, mode: str) -> Shown:
    outcome = _OUTCOMES[answer.status]
    rows = [["state", "workload", "stat", *STAT_HEAD, "signs"]]
    for each in answer.candidates:
        for name, columns in (("ms_blk", each.ms_blk), ("tok_blk", each.tok_blk)):
            for workload, verdict in columns.items():
                signs = each.signs[workload] if name == "ms_blk" else ""
                rows.append([each.state, workload, name, *stat_cells(verdict), signs])
    lines = [output.table(rows, right=frozenset(range(3, 7)))]
    lines += [
        f"tokens differ on {item.workload}: {item.state}, pair {item.pair}, from place {item.at} on"
        for item in answer.differences
    ]
    document = empty_answer(blocks.RULE, mode, outcome, "", answer.reason, _STEPS[outcome]) | {
        "foreign_status": answer.status,
        "statistics": [
            statistic_json(verdict, state=each.state, workload=workload)
            for each in answer.candidates
            for columns in (each.ms_blk, each.tok_blk)
            for workload, verdict in columns.items()
        ],
        "tokens": [
            {"workload": item.workload, "state": item.state, "pair": item.pair, "at": item.at}
            for item in answer.differences
        ],
    }
    return _shown(document, lines)


def _show_forced(answer: ForcedAnswer, mode: str) -> Shown:
    rows = [["configuration", "workload", "tok/s", "spread %", "repeats"]]
    for config, found in answer.rates.items():
        rows += [
            [config, name, decimal_text(rate.mean, 3), decimal_text(rate.spread_pct, 3), str(rate.repeats)]
            for name, rate in found.items()
        ]
        rows.append([config, forced.OVERALL, decimal_text(overall(found), 3), "", ""])
    verdicts = [["configuration", "workload", *STAT_HEAD]]
    verdicts += [
        [config, name, *stat_cells(item)] for config, found in answer.verdicts.items() for name, item in found.items()
    ]
    tables = [output.table(rows, right=frozenset({2, 3, 4})), output.table(verdicts, right=frozenset(range(2, 6)))]
    step = _STEPS[answer.outcome]
    document = empty_answer(forced.RULE, mode, answer.outcome, answer.code, answer.reason, step) | {
        "statistics": [
            statistic_json(item, state=config, workload=name)
            for config, found in answer.verdicts.items()
            for name, item in found.items()
        ],
        "rates": [
            {
                "config": config,
                "workload": name,
                "rate": decimal_text(rate.mean),
                "rate_exact": exact_text(rate.mean),
                "spread_pct": decimal_text(rate.spread_pct),
                "repeats": rate.repeats,
            }
            for config, found in answer.rates.items()
            for name, rate in found.items()
        ],
    }
    return _shown(document, tables)


def _show_checks(rule: str, answer: CheckAnswer) -> Shown:
    step = _CHECK_STEPS[answer.outcome]
    document = empty_answer(rule, "", answer.outcome, answer.code, answer.reason, step) | {
        "findings": [{"file": file, "check": name, "message": said} for file, name, said in answer.findings]
    }
    return _shown(document, [f"{file}: {name}: {said}" for file, name, said in answer.findings])


def _shown(document: JsonObject, lines: Sequence[str]) -> Shown:
    last = last_line(document["outcome"], document["code"] or "", document["reason"], document["next_step"])
    return Shown(outcome=document["outcome"], document=document, table="\n".join([*lines, last]))
