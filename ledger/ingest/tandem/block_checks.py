"""What of a block A/B must agree: entries with their tokens, runs with their pairs, verdicts with their runs."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from ledger.errors import MalformedError
from ledger.ingest.tandem.statistics import check_statistics, summarise
from ledger.ingest.values import as_object, printed_number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ledger.ingest.tandem.block_ab import BlockAb, BlockRun

_POOLED = "pooled"


def check_answer(run: BlockRun, where: str) -> None:
    """Check one measured answer: its tokens are as many as it says, and their digest is theirs.

    Raises:
        MalformedError: ``E_PAYLOAD_DIGEST`` or ``E_REPORTED_MISMATCH``.
    """
    sha = run.printed.get("sha")
    if sha is not None and sha != hashlib.sha256(json.dumps(list(run.out)).encode()).hexdigest():
        raise MalformedError("E_PAYLOAD_DIGEST", "not the digest of the tokens", where=f"{where}/sha")
    tokens, blocks = Fraction(len(run.out) - 1), Fraction(run.blocks or 0)
    exact = {"tokens": tokens}
    if run.tokens == tokens:
        exact |= {"tok_blk": tokens / blocks, "tok_s": 1000 * tokens / (run.block_ms * blocks)}
    check_statistics(run.printed, exact, where)


def check_runs(result: BlockAb, what: str) -> None:
    """Check that every pair has every state and workload once, and that no pair is another one's copy.

    Raises:
        MalformedError: ``E_FIELD``, ``E_TRUNCATED`` or ``E_COPIED_SAMPLES``.
    """
    found = Counter((run.pair, run.state, run.workload) for run in result.runs)
    for (pair, state, workload), count in found.items():
        if state not in result.states or workload not in result.workloads:
            raise MalformedError(
                "E_FIELD", f"neither {state!r} nor {workload!r} may be new"[:200], where=f"{what}/runs"
            )
        if count > 1:
            raise MalformedError("E_COPIED_SAMPLES", f"{state}/{workload} twice in pair {pair}", where=f"{what}/runs")
    pairs = sorted({run.pair for run in result.runs})
    said = result.body.get("pairs")
    wanted = len(pairs) * len(result.states) * len(result.workloads)
    if (type(said) is int and len(pairs) != said) or len(result.runs) != wanted:
        raise MalformedError(
            "E_TRUNCATED", f"{len(result.runs)} runs in {len(pairs)} pairs: not all of {said} pairs"[:200], where=what
        )
    times = defaultdict[int, list[tuple[str, str, Fraction]]](list)
    for run in result.runs:
        times[run.pair].append((run.state, run.workload, run.block_ms))
    if len({tuple(sorted(each)) for each in times.values()}) < len(pairs):
        raise MalformedError(
            "E_COPIED_SAMPLES", "two pairs have the same times to the last digit", where=f"{what}/runs"
        )


def first_difference(result: BlockAb) -> str:
    """Where a run's tokens are not those of the base's first run of its workload; empty when all are."""
    first: dict[str, tuple[int, ...]] = {}
    for run in result.runs:
        if run.state == result.base:
            first.setdefault(run.workload, run.out)
    for run in result.runs:
        if run.out != first[run.workload]:
            return f"{run.state}/{run.workload} in pair {run.pair} gave another text than {result.base}"
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockTimes:
    """Mean times of a round, in milliseconds.

    Attributes:
        times: of a state and a workload, by pair.
        weights: shares of the workloads in the mix.
    """

    times: Mapping[tuple[str, str], list[Fraction]]
    weights: Mapping[str, Fraction]

    @classmethod
    def of(cls, result: BlockAb) -> BlockTimes:
        """Those of a result that has every state and workload once in every pair."""
        found = defaultdict[tuple[str, str], list[Fraction]](list)
        for run in sorted(result.runs, key=lambda run: run.pair):
            found[run.state, run.workload].append(run.block_ms)
        return cls(times=found, weights=_weights(result))

    def values(self, state: str, workload: str) -> list[Fraction]:
        """Those of one state by pair: of a workload, or ``pooled`` over all by their share in the mix."""
        if workload != _POOLED:
            return self.times[state, workload]
        columns = [[share * value for value in self.times[state, name]] for name, share in self.weights.items()]
        total = sum(self.weights.values())
        return [sum(values, Fraction(0)) / total for values in zip(*columns, strict=True)]


def _weights(result: BlockAb) -> Mapping[str, Fraction]:
    """Shares of the workloads that have one above 0; equal ones when none has."""
    mix = result.body.get("mix")
    shares = {name: printed_number(mix.get(name)) for name in result.workloads} if isinstance(mix, dict) else {}
    known = {name: share for name, share in shares.items() if share is not None and share > 0}
    return known or dict.fromkeys(result.workloads, Fraction(1))


def check_verdicts(result: BlockAb, what: str) -> None:
    """Hold the statistics that the verdicts are made of against the runs.

    Raises:
        MalformedError: ``E_REPORTED_MISMATCH`` or ``E_FORMAT``.
    """
    verdicts, times = as_object(result.body.get("verdicts") or {}, f"{what}/verdicts"), BlockTimes.of(result)
    for state in result.states:
        where = f"{what}/verdicts/{state}/ms_blk"
        block = verdicts.get(state)
        found = as_object((block.get("ms_blk") if isinstance(block, dict) else None) or {}, where)
        for workload in (*result.workloads, _POOLED):
            entry = as_object(found.get(workload) or {}, f"{where}/{workload}")
            for side, of in (("base", result.base), ("other", state)):
                printed = as_object(entry.get(side) or {}, f"{where}/{workload}/{side}")
                if printed:
                    check_statistics(printed, _summary(times.values(of, workload)), f"{where}/{workload}/{side}")


def _summary(values: Sequence[Fraction]) -> dict[str, Fraction]:
    return {**summarise(values), "n": Fraction(len(values))}
