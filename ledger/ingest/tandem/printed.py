"""The statistics that a runner prints of its requests, worked out again from the requests.

They were made before the times were rounded to microseconds, and are rounded to three decimals themselves. What is
further away than both roundings explain is not of these requests.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from ledger.errors import MalformedError
from ledger.ingest.printed import differs
from ledger.ingest.statistics import between_ranks, in_order, mean, nearest_rank
from ledger.ingest.values import as_decimal, as_object, printed_number
from ledger.json_input import NumberText
from ledger.metrics import NS_PER_MS, NS_PER_S

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ledger.canonical import JsonObject
    from ledger.ingest.tandem.requests import Iteration, Record

_RATES = "decode_tok_s_per_request"
_PERCENTS = (50, 90, 95, 99)
_US = Fraction(1, 10**6)


class _Figure(NamedTuple):
    """A figure, and how far the rounding of what it is made of may have moved it."""

    exact: Fraction
    slack: Fraction = Fraction(0)


def check_printed(record: Record, what: str) -> None:
    """Hold what the runner printed against the requests.

    Raises:
        MalformedError: ``E_REPORTED_MISMATCH``.
    """
    metrics = as_object(record.body.get("metrics", {}), f"{what}/metrics")
    selected = record.iterations[record.selected]
    for name in metrics.keys() & selected.printed.keys():
        if metrics[name] != selected.printed[name]:
            raise MalformedError(
                "E_REPORTED_MISMATCH", "not what the selected iteration has", where=f"{what}/metrics/{name}"
            )
    figures = [_figures(iteration) for iteration in record.iterations]
    _check_block(metrics, figures[record.selected], f"{what}/metrics")
    for iteration, exact in zip(record.iterations, figures, strict=True):
        where = f"{what}/raw/payload/iterations/{iteration.number}"
        _check_block(iteration.printed, exact, where)
        _check_prefill(record, iteration, f"{where}/prefill_tok_s")


def rank_differs(record: Record) -> bool:
    """Whether a printed percentile of the rates is not the nearest rank, which is the ledger's."""
    iteration = record.iterations[record.selected]
    printed, rates = iteration.printed.get(_RATES), in_order(sample.rate for sample in iteration.samples)
    if not isinstance(printed, dict):
        return False
    for percent in _PERCENTS[1:]:
        number = printed_number(printed.get(f"p{percent}"))
        if number is not None and abs(number - nearest_rank(rates, percent)) > Fraction(1, 1000):
            return True
    return False


def _check_block(block: JsonObject, figures: Mapping[str, _Figure], where: str) -> None:
    for path, figure in figures.items():
        name, _, part = path.partition("/")
        value = block.get(name)
        if part:
            value = value.get(part) if isinstance(value, dict) else None
        if value is not None:
            _compare(value, figure, f"{where}/{path}")


def _check_prefill(record: Record, iteration: Iteration, where: str) -> None:
    """Tokens of all prompts over the time to all first tokens, of as many at a time as were under way."""
    value, at_once = iteration.printed.get("prefill_tok_s"), record.asked("concurrency")
    known = [sample.prompt_tokens for sample in iteration.samples if sample.prompt_tokens is not None]
    if value is None or type(at_once) is not int or len(known) < len(iteration.samples):
        return
    waited = Fraction(sum(sample.ttft_ns for sample in iteration.samples), NS_PER_S)
    exact = sum(known) * at_once / waited
    _compare(value, _Figure(exact, exact * _US * len(known) / waited), where)


def _compare(value: object, figure: _Figure, where: str) -> None:
    number = as_decimal(value, where)
    if differs(value, figure.exact, figure.slack, rounded=isinstance(value, NumberText)):
        raise MalformedError(
            "E_REPORTED_MISMATCH", f"{number} is printed, the requests give {float(figure.exact):.9g}", where=where
        )


def _figures(iteration: Iteration) -> Mapping[str, _Figure]:
    """Every statistic that can be worked out, by its name."""
    samples, seconds = iteration.samples, Fraction(iteration.duration)
    count, written = Fraction(len(samples)), Fraction(sum(sample.tokens for sample in samples))
    known = [sample.prompt_tokens for sample in samples if sample.prompt_tokens is not None]
    figures = {
        "requests_total": _Figure(count),
        "requests_ok": _Figure(count),
        "requests_failed": _Figure(Fraction(0)),
        "success_rate": _Figure(Fraction(1)),
        "output_tokens_total": _Figure(written),
        "output_tok_s": _per_second(written, seconds),
        "req_s": _per_second(count, seconds),
    }
    if len(known) == len(samples):
        figures["input_tokens_total"] = _Figure(Fraction(sum(known)))
        figures["total_tok_s"] = _per_second(written + sum(known), seconds)
    decodes = [sample.e2e_ns - sample.ttft_ns for sample in samples]
    lists = {
        "ttft_ms": [Fraction(sample.ttft_ns, NS_PER_MS) for sample in samples],
        "e2e_ms": [Fraction(sample.e2e_ns, NS_PER_MS) for sample in samples],
        "tpot_ms": [Fraction(ns, (sample.tokens - 1) * NS_PER_MS) for sample, ns in zip(samples, decodes, strict=True)],
    }
    for name, values in lists.items():
        figures |= _distribution(name, values, _US * 1000)
    rates = [sample.rate for sample in samples]
    shifts = [rate * _US * NS_PER_S / ns for rate, ns in zip(rates, decodes, strict=True)]
    return figures | _distribution(_RATES, rates, max(shifts))


def _per_second(amount: Fraction, seconds: Fraction) -> _Figure:
    """A rate over a duration of three decimals."""
    return _Figure(amount / seconds, amount / seconds * Fraction(1, 2000) / seconds)


def _distribution(name: str, values: Sequence[Fraction], slack: Fraction) -> dict[str, _Figure]:
    ordered = in_order(values)
    ends = {"mean": mean(values), "min": ordered[0], "max": ordered[-1]}
    percentiles = {f"p{percent}": between_ranks(ordered, percent) for percent in _PERCENTS}
    return {f"{name}/{part}": _Figure(value, slack) for part, value in (ends | percentiles).items()}
