"""Runs that are one run: by the path of their record, its name, its contents or the digits of its times."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

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
    marks = [_Marks.of(record) for record in records]
    for (one, first), (other, second) in combinations(enumerate(marks), 2):
        reason = _find_copy(first, second)
        if reason:
            raise _copied(f"{reason} as in run {one}", f"{what}/runs/{other}")


class _Marks(NamedTuple):
    """What two records of one run have in common."""

    digest: str
    name: object
    times: Counter[tuple[int, int, int]]
    mean: Fraction

    @classmethod
    def of(cls, record: Record) -> _Marks:
        samples = [sample for iteration in record.iterations for sample in iteration.samples]
        return cls(
            digest=record.digest,
            name=record.body.get("run_id"),
            times=Counter((sample.ttft_ns, sample.e2e_ns, sample.tokens) for sample in samples),
            mean=round(mean([sample.rate for sample in samples]), _PLACES),
        )


def _find_copy(one: _Marks, other: _Marks) -> str:
    """Why two records are of one run; empty when they are not.

    Times have a microsecond's digits, so no two requests of two runs have the same ones by chance, and no two means
    agree to six decimals.
    """
    if one.digest == other.digest:
        return "the same requests"
    if one.name is not None and one.name == other.name:
        return f"the same run_id {one.name!r}"
    if 2 * (one.times & other.times).total() >= min(one.times.total(), other.times.total()):
        return "the same times of half of the requests or more"
    return f"the same mean rate to {_PLACES} decimals" if one.mean == other.mean else ""


def _copied(reason: str, where: str) -> MalformedError:
    return MalformedError("E_COPIED_SAMPLES", f"{reason}: a run is given twice"[:400], where=where)
