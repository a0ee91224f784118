"""What a tool printed of a run, held against its records. It is compared, and never used."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from ledger.errors import RefusedError
from ledger.ingest.checks.figures import REFUSED, Expectation, expect, is_expected, output_rate, read_totals
from ledger.ingest.checks.notes import Note
from ledger.ingest.checks.printed import printed_values
from ledger.ingest.direction import DIRECTIONS, said_direction
from ledger.ingest.printed import ROUNDED_DURATION
from ledger.scoring.facts import reading_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ledger.canonical import JsonObject
    from ledger.ingest.checks.figures import Reading
    from ledger.ingest.checks.printed import Printed

_PEAKS = ("max_output_tok_s", "max_output_tokens_per_s", "peak_output_tok_s")
# Two honest methods this near to each other are one for all who read them.
_METHODS_APART = Fraction(2, 100)
_MOST_DEVICES = 4096


def check_directions(body: JsonObject) -> None:
    """Refuse a printed value that says which direction is better: the metric has one.

    Raises:
        RefusedError: ``E_DIRECTION``.
    """
    for entry, item in enumerate(body.get("reported", [])):
        for name in DIRECTIONS:
            if name in item["values"]:
                where = f"/reported/{entry}/values/{name}"
                raise RefusedError("E_DIRECTION", said_direction(name), where=where)


def note_reported(body: JsonObject) -> Iterator[Note]:
    """Printed figures that are not those of the records, with what they are, if that can be told.

    Raises:
        RefusedError: ``E_REPORTED_MISMATCH`` for one that counts something else than its name says.
    """
    gpus, runs = body["environment"].get("gpus"), {}
    for printed in printed_values(body, _is_looked_at):
        number = printed.number()
        if number is None:
            continue
        if printed.at not in runs:
            runs[printed.at] = read_totals(printed.rep, gpus)
        run = runs[printed.at]
        mean = output_rate(run) if printed.name in _PEAKS else None
        if mean is not None and number < mean and not _agrees(number, mean, printed):
            yield Note(
                "F_PEAK_LT_MEAN",
                f"{printed.name} {printed.value} is below the mean of {reading_text(mean)}: a count of whole seconds",
                printed.where,
                printed.at,
            )
        expectation = expect(printed.name, run)
        if expectation is not None and not _agrees(number, expectation.value, printed):
            note = _explain(number, expectation, printed, gpus)
            if note is not None:
                yield note


def _is_looked_at(name: str) -> bool:
    return name in _PEAKS or is_expected(name)


def _agrees(number: Fraction, exact: Fraction, printed: Printed) -> bool:
    """Whether a printed number is a figure, rounded as it was printed or a little off for a rounded duration."""
    apart = abs(number - exact)
    return apart <= exact * ROUNDED_DURATION or 2 * apart <= printed.step()  # half a step rounds to either side


def _explain(number: Fraction, expectation: Expectation, printed: Printed, gpus: int | None) -> Note | None:
    found = next((each for each in expectation.others if _agrees(number, each.value, printed)), None)
    code, value = (found.code if found else "F_REPORTED_MISMATCH"), expectation.value
    if found and code != "F_REPORTED_MISMATCH" and abs(found.value - value) <= value * _METHODS_APART:
        if code != REFUSED:
            return None
        code = "F_REPORTED_MISMATCH"  # it counts the wrong thing, and nobody was misled by much
    hint = _hint(number, expectation, found, printed, gpus)
    text = f"{printed.name} {printed.value} is not {reading_text(value)}, which the records give{hint}"
    if code == REFUSED or (hint and not found):
        raise RefusedError(REFUSED, text, where=printed.where)
    return Note(code, text, printed.where, printed.at)


def _hint(number: Fraction, expectation: Expectation, found: Reading | None, printed: Printed, gpus: int | None) -> str:
    if found:
        return f"; it {found.hint}"
    if expectation.per_device is not None and number > 0:
        devices = round(expectation.per_device / number)
        if 0 < devices <= _MOST_DEVICES and _agrees(number, expectation.per_device / devices, printed):
            return f"; it matches n={devices} GPUs, the round has {gpus}"
    return ""
