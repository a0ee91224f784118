"""Runs that are one run: by the path of their record, its name, its contents or the digits of its times."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING

from ledger.errors import MalformedError
from ledger.ingest.statistics import mean

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from ledger.ingest.tandem.requests import Record

_PLACES = 6


def refuse_same_paths(paths: Sequence[str], what: str) -> None:
    """Refuse two runs with one record: the second one was written over the first.

    Raises:
        MalformedError: ``E_COPIED_SAMPLES``.
    """
    seen: dict[str, int] = {}
    for at, path in enumerate(paths):
        if path in seen:
            raise _copied(f"the record of run {seen[path]} again, {path!r}", f"{what}/runs/{at}/record")
        seen[path] = at


def refuse_copies(records: Sequence[Record], what: str) -> None:
    """Refuse two runs whose records are one.

    Raises:
        MalformedError: ``E_COPIED_SAMPLES``.
    """
    for (one, first), (other, second) in combinations(enumerate(records), 2):
        reason = find_copy(first, second)
        if reason:
            raise _copied(f"{reason} as in run {one}", f"{what}/runs/{other}")


def find_copy(one: Record, other: Record) -> str:
    """Why two records are of one run; empty when they are not.

    Times have a microsecond's digits, so no two requests of two runs have the same ones by chance, and no two means
    agree to six decimals.
    """
    if one.digest == other.digest:
        return "the same requests"
    name = one.body.get("run_id")
    if name is not None and name == other.body.get("run_id"):
        return f"the same run_id {name!r}"
    times, others = _times(one), _times(other)
    if 2 * (times & others).total() >= min(times.total(), others.total()):
        return "the same times of half of the requests or more"
    if round(_mean(one), _PLACES) == round(_mean(other), _PLACES):
        return f"the same mean rate to {_PLACES} decimals"
    return ""


def _times(record: Record) -> Counter[tuple[int, int, int]]:
    return Counter(
        (sample.ttft_ns, sample.e2e_ns, sample.tokens)
        for iteration in record.iterations
        for sample in iteration.samples
    )


def _mean(record: Record) -> Fraction:
    return mean([sample.rate for iteration in record.iterations for sample in iteration.samples])


def _copied(reason: str, where: str) -> MalformedError:
    return MalformedError("E_COPIED_SAMPLES", f"{reason}: a run is given twice"[:400], where=where)
