"""The statistics of a report of row runs, by its own definitions, exactly.

The percentile 90 is the value at the nearest rank from 0, half to even. Figures of rounds are sums over sums; those
that end in ``_p50`` are medians of the answers' own. A summary is over runs, its spread the range in percent of the
median.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING

from ledger.errors import MalformedError
from ledger.ingest.printed import differs
from ledger.ingest.statistics import in_order, mean, median, nearest_even_rank
from ledger.ingest.values import as_decimal, as_object
from ledger.metrics import NS_PER_MS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ledger.ingest.tandem.log import Rounds
    from ledger.ingest.tandem.requests import Iteration

HIGHER = ("mean", "p50", "p90", "max", "tok_blk")
"""Statistics of which more is better; of the others, less is."""

# A range is a difference: it keeps the noise of the two doubles that it is made of.
_RANGE_NOISE = Fraction(100, 10**13)
_SLOTS = 15


def run_statistics(iteration: Iteration) -> dict[str, Fraction]:
    """Statistics of the requests of a run."""
    rates = [sample.rate for sample in iteration.samples]
    return {
        "n": Fraction(len(rates)),
        "mean": mean(rates),
        "p50": median(rates),
        "p90": nearest_even_rank(in_order(rates), 90),
        "max": max(rates),
        "ttft_p50_ms": median([Fraction(sample.ttft_ns, NS_PER_MS) for sample in iteration.samples]),
        "wall_s": Fraction(iteration.duration),
    }


def round_statistics(rounds: Sequence[Rounds]) -> dict[str, Fraction]:
    """Statistics of the rounds of a run. `rounds` is not empty."""
    blocks = sum(each.blocks for each in rounds)
    return {
        "requests": Fraction(len(rounds)),
        "blocks": Fraction(blocks),
        "tok_blk": Fraction(sum(each.committed for each in rounds), blocks),
        "ms_blk": Fraction(sum(each.decode_ns for each in rounds), blocks * NS_PER_MS),
        "tok_blk_p50": median([Fraction(each.committed, each.blocks) for each in rounds]),
        "ms_blk_p50": median([Fraction(each.decode_ns, each.blocks * NS_PER_MS) for each in rounds]),
    }


def summarise(values: Sequence[Fraction]) -> dict[str, Fraction]:
    """A statistic over runs."""
    middle = median(values)
    spread = 100 * (max(values) - min(values)) / middle if middle else Fraction(0)
    return {"median": middle, "min": min(values), "max": max(values), "spread_pct": spread}


def join_accepted(rounds: Iterable[Rounds]) -> Counter[tuple[int, int]]:
    """Rounds by depth and accepted tokens, of several answers."""
    found: Counter[tuple[int, int]] = Counter()
    for each in rounds:
        found.update(each.accept)
    return found


def check_statistics(printed: Mapping[str, object], exact: Mapping[str, Fraction], where: str) -> None:
    """Hold printed statistics against those of the samples; one that is not printed is not missed.

    Raises:
        MalformedError: ``E_REPORTED_MISMATCH``, or ``E_FIELD`` for what is no number.
    """
    for name, value in exact.items():
        if printed.get(name) is not None:
            _check(printed[name], value, f"{where}/{name}")


def check_accepted(printed: object, accepted: Counter[tuple[int, int]], where: str) -> None:
    """Hold a printed count of rounds by depth and accepted tokens against the log.

    Raises:
        MalformedError: see `check_statistics`.
    """
    exact: dict[str, dict[str, int]] = {}
    for (depth, taken), count in accepted.items():
        exact.setdefault(str(depth), {})[str(taken)] = count
    if printed is not None and printed != exact:
        raise MalformedError("E_REPORTED_MISMATCH", "not the rounds that the log has", where=where)


def check_curve(printed: object, accepted: Counter[tuple[int, int]], where: str) -> None:
    """Hold the printed acceptance by position in the draft against the log.

    Raises:
        MalformedError: see `check_statistics`.
    """
    for at, item in enumerate(printed if isinstance(printed, list) else ()):
        entry = as_object(item, f"{where}/{at}")
        slot = entry.get("slot")
        if type(slot) is not int or not 1 <= slot <= _SLOTS:
            raise MalformedError(
                "E_FIELD", f"expected a place in the draft, found {slot!r}"[:200], where=f"{where}/{at}"
            )
        reached = sum(count for (depth, taken), count in accepted.items() if depth >= slot and taken >= slot - 1)
        held = sum(count for (depth, taken), count in accepted.items() if depth >= slot and taken >= slot)
        exact = {"n": Fraction(reached)} | ({"rate": Fraction(held, reached)} if reached else {})
        check_statistics(entry, exact, f"{where}/{at}")


def check_first_miss(printed: object, accepted: Counter[tuple[int, int]], where: str) -> None:
    """Hold the printed count of rounds by the first token that was not accepted against the log.

    A round that accepted its whole draft missed none, and whether it is counted is left open.

    Raises:
        MalformedError: see `check_statistics`.
    """
    missed: Counter[str] = Counter()
    whole = {str(taken + 1) for depth, taken in accepted if taken >= depth}
    for (_, taken), count in accepted.items():
        missed[str(taken + 1)] += count
    exact = {name: Fraction(count) for name, count in missed.items() if name not in whole}
    check_statistics(printed if isinstance(printed, dict) else {}, exact, where)


def _check(value: object, exact: Fraction, where: str) -> None:
    as_decimal(value, where)  # whatever is no number is another fault
    noise = _RANGE_NOISE if where.endswith("/spread_pct") else Fraction(0)
    if differs(value, exact, noise, rounded=False):
        raise MalformedError(
            "E_REPORTED_MISMATCH", f"{value} is printed, the samples give {float(exact):.12g}"[:200], where=where
        )
