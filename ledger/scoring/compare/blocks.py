"""Block A/B: candidates that must give the same tokens, compared by the time of a block (rule ``block-ab-v1``).

One process switches between states; a pair measures every state on every workload. Times per block are judged by
`row3.judge_values`, per workload and pooled: the pooled value of a pair is the mean over the workloads with the weights
of their mix, renormalised to the workloads that ran; with no weight among them, all weigh alike.

The tool shortens what does not match to the shortest, and passes when there is no candidate at all. Both are refused
here: a state that lacks a run of a pair, and a comparison without a candidate, prove nothing.

Source: block_ab.py of the TandemLLM project.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from ledger.errors import RefusedError
from ledger.scoring.compare.row3 import LEAST_RUNS, StatVerdict, judge_values

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

RULE = "block-ab-v1"
POOLED = "pooled"


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockRun:
    """One measurement: a state on a workload in a pair."""

    pair: int
    state: str
    workload: str
    block_ms: Fraction
    blocks: int
    tokens: tuple[int, ...]

    @property
    def tokens_per_block(self) -> Fraction:
        """Tokens after the first one, over blocks."""
        return Fraction(len(self.tokens) - 1, self.blocks)


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockSession:
    """All of a session but what was discarded.

    Attributes:
        base: name of the state that the others are compared with.
        runs: in the order in which they ran.
        mix: weight by workload.
    """

    base: str
    runs: tuple[BlockRun, ...]
    mix: Mapping[str, Fraction]


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenDifference:
    """The first place where a run's tokens are not those of the base's first run; a length is a difference."""

    workload: str
    state: str
    pair: int
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateVerdicts:
    """What becomes of one candidate: verdicts by workload, ``pooled`` the last."""

    state: str
    ms_blk: Mapping[str, StatVerdict]
    tok_blk: Mapping[str, StatVerdict]
    signs: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockAnswer:
    """What a session says.

    Attributes:
        status: exit status of the tool's own rule: 0, 1 tokens differ or a block is slower, 2 not resolved better.
        reason: in one sentence.
        differences: of tokens, one per workload at most.
        candidates: in the order of the session.
        pairs: number of pairs.
    """

    status: int
    reason: str
    differences: tuple[TokenDifference, ...]
    candidates: tuple[CandidateVerdicts, ...]
    pairs: int


def judge_blocks(session: BlockSession, *, ask_better: bool = True) -> BlockAnswer:
    """Judge a session.

    Args:
        session: what was measured.
        ask_better: a candidate must be resolved better in the pooled time of a block, not only not worse.

    Raises:
        RefusedError: ``E_NO_PAIRS`` without a candidate or a base, ``E_UNPAIRED`` when a state lacks a run of a pair,
            ``E_TOO_FEW_RUNS`` with fewer than three pairs.
    """
    table = _tabulate(session)
    states = list(dict.fromkeys(run.state for run in session.runs))
    workloads = list(dict.fromkeys(run.workload for run in session.runs))
    pairs = len({run.pair for run in session.runs})
    if session.base not in states or len(states) == 1:
        raise RefusedError(
            "E_NO_PAIRS", "there is no candidate beside the base: a pass would say nothing", where="/runs"
        )
    for state in states:
        for workload in workloads:
            if len(table[state, workload]) != pairs:
                raise RefusedError(
                    "E_UNPAIRED",
                    f"{state} has {len(table[state, workload])} of {pairs} pairs on {workload}",
                    where="/runs",
                )
    if pairs < LEAST_RUNS:
        raise RefusedError("E_TOO_FEW_RUNS", f"{pairs} pair(s), {LEAST_RUNS} are needed", where="/runs")
    candidates = tuple(_candidate(state, session, table, workloads) for state in states if state != session.base)
    differences = tuple(_differences(session))
    status, reason = _status(differences, candidates, ask_better=ask_better)
    return BlockAnswer(status=status, reason=reason, differences=differences, candidates=candidates, pairs=pairs)


def _tabulate(session: BlockSession) -> dict[tuple[str, str], list[BlockRun]]:
    table: dict[tuple[str, str], list[BlockRun]] = defaultdict(list)
    for run in sorted(session.runs, key=lambda run: run.pair):
        cell = table[run.state, run.workload]
        if cell and cell[-1].pair == run.pair:
            raise RefusedError("E_UNPAIRED", f"{run.state} ran {run.workload} twice in pair {run.pair}", where="/runs")
        cell.append(run)
    return table


def _candidate(
    state: str, session: BlockSession, table: Mapping[tuple[str, str], list[BlockRun]], workloads: Sequence[str]
) -> CandidateVerdicts:
    weights = _weights(session.mix, workloads)
    times: dict[str, tuple[list[Fraction], list[Fraction]]] = {}
    tokens: dict[str, tuple[list[Fraction], list[Fraction]]] = {}
    for workload in workloads:
        one, two = table[session.base, workload], table[state, workload]
        times[workload] = ([run.block_ms for run in one], [run.block_ms for run in two])
        tokens[workload] = ([run.tokens_per_block for run in one], [run.tokens_per_block for run in two])
    for columns in (times, tokens):
        columns[POOLED] = (_pool(columns, weights, 0), _pool(columns, weights, 1))
    return CandidateVerdicts(
        state=state,
        ms_blk={name: judge_values("ms_blk", *sides, higher_is_better=False) for name, sides in times.items()},
        tok_blk={name: judge_values("tok_blk", *sides, higher_is_better=True) for name, sides in tokens.items()},
        signs={name: _signs(*sides) for name, sides in times.items()},
    )


def _weights(mix: Mapping[str, Fraction], workloads: Sequence[str]) -> dict[str, Fraction]:
    weights = {name: mix[name] for name in workloads if mix.get(name, 0) > 0}
    return weights or dict.fromkeys(workloads, Fraction(1))


def _pool(
    columns: Mapping[str, tuple[list[Fraction], list[Fraction]]], weights: Mapping[str, Fraction], side: int
) -> list[Fraction]:
    """The weighted mean of every pair."""
    rows = zip(*(columns[name][side] for name in weights), strict=True)
    total = sum(weights.values())
    return [sum(w * value for w, value in zip(weights.values(), row, strict=True)) / total for row in rows]


def _signs(base: Sequence[Fraction], other: Sequence[Fraction]) -> str:
    """Per pair, whether the candidate took longer (+), less (-) or the same (0)."""
    return "".join("+" if two > one else "-" if two < one else "0" for one, two in zip(base, other, strict=True))


def _differences(session: BlockSession) -> list[TokenDifference]:
    model: dict[str, tuple[int, ...]] = {}
    for run in session.runs:
        if run.state == session.base:
            model.setdefault(run.workload, run.tokens)
    found: dict[str, TokenDifference] = {}
    for run in session.runs:
        right = model[run.workload]
        if run.workload not in found and run.tokens != right:
            pairs = enumerate(zip(right, run.tokens, strict=False))
            shortest = min(len(right), len(run.tokens))
            at = next((place for place, (one, two) in pairs if one != two), shortest)
            found[run.workload] = TokenDifference(workload=run.workload, state=run.state, pair=run.pair, at=at)
    return list(found.values())


def _status(
    differences: Sequence[TokenDifference], candidates: Sequence[CandidateVerdicts], *, ask_better: bool
) -> tuple[int, str]:
    if differences:
        first = differences[0]
        return 1, f"{first.state} gives other tokens on {first.workload}, from place {first.at} of pair {first.pair} on"
    worse = [f"{each.state} on {name}" for each in candidates for name, item in each.ms_blk.items() if item.worse]
    if worse:
        return 1, f"a block takes resolvedly longer: {', '.join(worse)}"
    short = [each.state for each in candidates if not each.ms_blk[POOLED].better]
    if ask_better and short:
        return 2, f"not resolved better in the pooled time of a block: {', '.join(short)}"
    return 0, "the same tokens, and no block is resolvedly slower"
