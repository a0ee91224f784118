"""What the formats of timed commands and functions share: durations, statistics, settings, starts.

A duration was a count of nanoseconds before it went through a double, so a sample is taken to the nearest nanosecond.
What a tool printed is compared with the file's own digits: it never saw ours.
"""

from __future__ import annotations

import datetime as dt
import json
import math
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from ledger.canonical import MAX_INT, escape_pointer
from ledger.errors import MalformedError
from ledger.ingest.fields import LONGEST_TEXT, plain_text
from ledger.ingest.printed import DOUBLE_NOISE
from ledger.ingest.printed import differs as printed_differs
from ledger.ingest.statistics import between_ranks
from ledger.ingest.values import as_decimal, as_text, printed_number
from ledger.json_input import NumberText
from ledger.strict import format_time

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ledger.canonical import JsonObject

ONE_SAMPLE = "F_N1: one sample, which has no deviation"
LOCAL_TIME = "F_TZ_MISSING: the start is a local time without a zone"

_SHOWN = 200
_EARLIEST, _LATEST = 1970, 9998  # a zone must not lead out of the years that can be written
_TIME = re.compile(
    r"(?P<day>\d{4}-\d\d-\d\d)[T ](?P<clock>(?:[01]\d|2[0-3]):\d\d:\d\d)(?:\.\d{1,9})?(?P<zone>Z|[+-]\d\d:?\d\d)?",
    re.ASCII,
)
# A variance from the sum of squares is off by the noise of the squares, however small it is itself.
_SQUARE_NOISE = Fraction(1, 10**13)


# Values of the wrong kind.


def wrong_kind(expected: str, found: object, where: str, code: str = "E_FIELD") -> MalformedError:
    """The error for a value of another kind than the tool writes; what was found is shown in part."""
    return MalformedError(code, f"expected {expected}, found {found!r}"[:_SHOWN], where=where)


def as_members(value: object, where: str) -> JsonObject:
    """An object inside the file.

    Raises:
        MalformedError: ``E_FIELD``.
    """
    if not isinstance(value, dict):
        raise wrong_kind("an object", value, where)
    return value


# Samples.


def read_duration(value: object, where: str) -> Fraction:
    """A duration as printed, in the tool's unit.

    Raises:
        MalformedError: ``E_SAMPLE``: not a number, or below 0.
    """
    try:
        number = as_decimal(value, where)
    except MalformedError as err:
        raise wrong_kind("a duration", value, where, code="E_SAMPLE") from err
    if number < 0:
        raise wrong_kind("a duration", value, where, code="E_SAMPLE")
    return Fraction(number)


def whole_ns(duration: Fraction, factor: int, where: str) -> int:
    """A duration in whole nanoseconds, rounded half to even; `factor` makes nanoseconds of it.

    Raises:
        MalformedError: ``E_ZERO_TIME`` for less than half a nanosecond, ``E_SAMPLE`` for more than can be recorded.
    """
    ns = round(duration * factor)
    if ns == 0:
        raise MalformedError("E_ZERO_TIME", "a duration of 0 was not measured", where=where)
    if ns > MAX_INT:
        raise MalformedError("E_SAMPLE", f"more than {MAX_INT} ns", where=where)
    return ns


def total_ns(samples: Sequence[int], where: str) -> int:
    """What samples took together.

    Raises:
        MalformedError: ``E_SAMPLE`` when it is more than can be recorded.
    """
    total = sum(samples)
    if total > MAX_INT:
        raise MalformedError("E_SAMPLE", f"together more than {MAX_INT} ns", where=where)
    return total


def read_count(value: object, where: str, what: str) -> int:
    """A whole number above 0.

    Raises:
        MalformedError: ``E_FIELD``.
    """
    if type(value) is not int or not 0 < value <= MAX_INT:
        raise wrong_kind(f"a number of {what}", value, where)
    return value


# Printed statistics.


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Exact statistics of samples.

    Attributes:
        exact: ``mean``, ``median``, ``min``, ``max`` and ``total``.
        quartiles: first and third, between the two nearest samples, linearly.
        variance: with one less than the number of samples below it; none for one sample.
    """

    exact: Mapping[str, Fraction]
    quartiles: tuple[Fraction, Fraction]
    variance: Fraction | None


def summarise(samples: Sequence[Fraction]) -> Summary:
    """Statistics of at least one sample."""
    # All over one denominator: whole numbers add up many times as fast as fractions.
    below = math.lcm(*{sample.denominator for sample in samples})
    ordered = sorted(sample.numerator * (below // sample.denominator) for sample in samples)
    count, total = len(ordered), sum(ordered)
    spread = sum((count * number - total) ** 2 for number in ordered)
    exact = {
        "mean": Fraction(total, below * count),
        "median": between_ranks(ordered, 50) / below,
        "min": Fraction(ordered[0], below),
        "max": Fraction(ordered[-1], below),
        "total": Fraction(total, below),
    }
    return Summary(
        exact=exact,
        quartiles=(between_ranks(ordered, 25) / below, between_ranks(ordered, 75) / below),
        variance=Fraction(spread, (below * count) ** 2 * (count - 1)) if count > 1 else None,
    )


def differs(printed: object, exact: Fraction, slack: Fraction = Fraction(0)) -> bool:
    """Whether a tool printed another figure than its samples give; not when it printed none."""
    return printed is not None and printed_differs(printed, exact, slack, rounded=False)


def deviation_differs(printed: object, summary: Summary, unit: int = 1) -> bool:
    """The same for a standard deviation, in `unit`; of one sample there is none to compare."""
    if printed is None or summary.variance is None:
        return False
    number = printed_number(printed)
    if number is None or number < 0:
        return True
    slack = summary.variance * 2 * DOUBLE_NOISE + summary.exact["mean"] ** 2 * _SQUARE_NOISE
    return abs((number * unit) ** 2 - summary.variance) > slack


def compare_printed(printed: Mapping[str, object], summary: Summary) -> list[str]:
    """What a tool printed under the names of the statistics, and ``stddev``, held against the samples."""
    wrong = [name for name, exact in summary.exact.items() if differs(printed.get(name), exact)]
    if deviation_differs(printed.get("stddev"), summary):
        wrong.append("stddev")
    return [mismatch(name, printed[name]) for name in wrong]


def mismatch(name: str, printed: object) -> str:
    """The note for a printed figure."""
    return f"F_REPORTED_MISMATCH: {name} {printed} is not that of the samples"[:_SHOWN]


# Everything else.


def setting_text(value: object, where: str) -> str:
    """A plain value as the text of a setting.

    Raises:
        MalformedError: ``E_FIELD``: it is nested, or too long to be one.
    """
    if isinstance(value, dict | list):
        raise MalformedError("E_FIELD", "expected a plain value, found a nested one", where=where)
    text = plain_text(value)
    if len(text) > LONGEST_TEXT:
        raise MalformedError("E_FIELD", f"expected at most {LONGEST_TEXT} characters", where=where)
    return text


def setting_texts(members: object, where: str, prefix: str = "") -> dict[str, str]:
    """The members of an object as settings; none for null.

    Raises:
        MalformedError: ``E_FIELD``: not an object, or a member is no plain value.
    """
    if members is None:
        return {}
    return {
        f"{prefix}{name}": setting_text(value, f"{where}/{escape_pointer(name)}")
        for name, value in as_members(members, where).items()
    }


def is_counted(value: object) -> bool:
    """Whether it is a number: what a user adds to a result is measured if it is one, and else says what was."""
    return isinstance(value, int | NumberText) and not isinstance(value, bool)


def reported_value(value: object) -> object:
    """A printed value as the ledger keeps it: fractions as printed, what is nested as JSON."""
    if isinstance(value, list):
        return [json_text(item) if isinstance(item, list) else reported_value(item) for item in value]
    if isinstance(value, dict):
        return json_text(value)
    return str(value) if isinstance(value, NumberText) else value


def json_text(value: object) -> str:
    """A nested value as JSON, its fractions as texts."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def read_start(value: object, where: str) -> str:
    """A printed time, in whole seconds: UTC when it has a zone, else local.

    Raises:
        MalformedError: ``E_FIELD``.
    """
    text = as_text(value, where)
    moment = _moment(text)
    if moment is None or not _EARLIEST <= moment.year <= _LATEST:
        raise wrong_kind("a time", text, where)
    return format_time(moment) if moment.tzinfo else moment.isoformat()


def _moment(text: str) -> dt.datetime | None:
    found = _TIME.fullmatch(text)
    if found is None:
        return None
    try:
        return dt.datetime.fromisoformat(f"{found['day']}T{found['clock']}{found['zone'] or ''}")
    except ValueError:  # no such day, or no such zone
        return None


def read_epoch_ms(value: object, where: str) -> str:
    """Milliseconds since 1970 as a time in UTC; empty for null.

    Raises:
        MalformedError: ``E_FIELD``.
    """
    if value is None:
        return ""
    seconds = read_count(value, where, "milliseconds since 1970") // 1000
    if seconds >= _seconds_until(_LATEST):
        raise wrong_kind("milliseconds since 1970", value, where)
    return format_time(dt.datetime.fromtimestamp(seconds, dt.UTC))


def _seconds_until(year: int) -> int:
    return int(dt.datetime(year, 1, 1, tzinfo=dt.UTC).timestamp())
