"""The lines of ``llama-perplexity --kl-divergence``: what is printed, without asking what it means.

Text between the members, such as a log or the frame of a terminal, is passed over. A member that is printed twice, or
with anything but a number, is refused: nothing is read by position, and no text becomes 0.

Source: ``kl_divergence`` in ``tools/perplexity/perplexity.cpp`` of github.com/ggml-org/llama.cpp.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from ledger.errors import MalformedError
from ledger.ingest.values import exponent_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PPL_Q, PPL_BASE = "Mean PPL(Q)", "Mean PPL(base)"
LN_RATIO, RATIO, DIFFERENCE = "Mean ln(PPL(Q)/PPL(base))", "Mean PPL(Q)/PPL(base)", "Mean PPL(Q)-PPL(base)"
MEAN, MAXIMUM, MEDIAN, MINIMUM = "Mean KLD", "Maximum KLD", "Median KLD", "Minimum KLD"
SAME_TOP = "Same top p"

_WITH_ERROR = {PPL_Q, PPL_BASE, LN_RATIO, RATIO, DIFFERENCE, MEAN, SAME_TOP}
_NAMES = _WITH_ERROR | {MAXIMUM, MEDIAN, MINIMUM}
_PERCENTILE = re.compile(r"\d{1,2}\.\d+% KLD", re.ASCII)
_VALUE = re.compile(r"\s*(?P<value>\S+?)\s*(?:±\s*(?P<error>\S+?)\s*)?(?P<percent>%?)\s*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)\.[0-9]+", re.ASCII)
_NONFINITE = re.compile(r"[-+]?(?:nan|inf)(?:inity|\(\w*\))?", re.ASCII | re.IGNORECASE)
_LONGEST, _LONGEST_NUMBER = 80, 32

_ROW_START = re.compile(r"\s*\d+\s+\S+\s+±", re.ASCII)
_ROW = re.compile(
    r"\s*(?P<chunk>\d{1,10})"
    r"\s+(?P<ppl>\S+)\s+±\s+\S+"
    r"\s+(?P<ln>\S+)\s+±\s+\S+"
    r"\s+(?P<kl>\S+)\s+±\s+\S+"
    r"\s+\S+\s+±\s+\S+\s+%"  # Δp
    r"\s+(?P<top>\S+)\s+±\s+\S+\s+%\s*",
    re.ASCII,
)
_SIZES = re.compile(r"kl_divergence: computing over (\S+) chunks, n_ctx=([^\s,]+)")
_SIZE = re.compile(r"[1-9][0-9]{0,9}", re.ASCII)
_MARKS = re.compile(
    r"^(====== (Perplexity|KL divergence|Token probability) statistics ======"
    r"|chunk +PPL +ln\(PPL\(Q\)/PPL\(base\)\) |Mean +(PPL\(Q\)|KLD) *:)",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A number as printed.

    Attributes:
        text: its digits.
        has_error: a standard error is printed beside it.
        error: that error; none where the tool could not tell (``nan``).
        where: file and line.
    """

    text: str
    has_error: bool
    error: str | None
    where: str

    @property
    def value(self) -> Fraction:
        """The number, exactly."""
        return Fraction(self.text)

    @property
    def half(self) -> Fraction:
        """Half a unit in the last place: how far the number may be from what was rounded to it."""
        return half_unit(self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A line of the table per chunk: means over all chunks so far, as text, by the name of the member."""

    values: Mapping[str, str]
    where: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedText:
    """What stands in a text.

    Attributes:
        members: by name, white space in it made one blank, in the text's order.
        last: last line of the table per chunk; none where there is no table.
        chunks: how many there were; none where the text does not say.
        n_ctx: tokens of a chunk; none where the text does not say.
    """

    members: Mapping[str, Member]
    last: Chunk | None
    chunks: int | None
    n_ctx: int | None


def half_unit(text: str) -> Fraction:
    """Half a unit in the last place of a printed number."""
    return Fraction(10) ** exponent_of(Decimal(text)) / 2


def is_number(text: str) -> bool:
    """Whether a text is a number in the only form in which the tool prints one: digits, a point, digits."""
    return len(text) <= _LONGEST_NUMBER and _NUMBER.fullmatch(text) is not None


def recognises(raw: bytes) -> bool:
    """Whether some bytes are output of ``llama-perplexity --kl-divergence``, sound or not."""
    return _MARKS.search(raw.decode("utf-8", errors="replace")) is not None


def read_text(raw: bytes, what: str) -> PrintedText:
    """Read the lines.

    Raises:
        MalformedError: ``E_EMPTY_RESULTS``, ``E_UTF8``, ``E_FORMAT``, ``E_TRUNCATED`` when the end is missing,
            ``E_PARITY_RANGE`` when a member is printed twice, ``E_NONFINITE``, or ``E_FIELD``.
    """
    if not raw.strip():
        raise MalformedError("E_EMPTY_RESULTS", "the file is empty", where=what)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as err:
        raise MalformedError("E_UTF8", f"not UTF-8 at byte {err.start}", where=what) from err
    if not recognises(raw):
        raise MalformedError("E_FORMAT", "expected the output of llama-perplexity --kl-divergence", where=what)
    lines = [line.rstrip("\r") for line in text.split("\n")]
    _check_end(lines, what)
    found = _Found()
    for number, line in enumerate(lines, 1):
        found.take(line, f"{what}:{number}")
    if found.sizes and found.last and found.rows != found.sizes[0]:
        raise MalformedError(
            "E_FIELD",
            f"{found.sizes[0]} chunks are announced, and the table per chunk has {found.rows}",
            where=found.last.where,
        )
    chunks, n_ctx = found.sizes or (found.rows or None, None)
    return PrintedText(members=found.members, last=found.last, chunks=chunks, n_ctx=n_ctx)


def _check_end(lines: Sequence[str], what: str) -> None:
    """The tool prints "Same top p" last, so a text without it is cut, whatever the exit status was."""
    ends = [number for number, line in enumerate(lines, 1) if _name(line) == SAME_TOP]
    cut_inside = ends == [len(lines)] and not lines[-1].rstrip().endswith("%")
    if not ends or cut_inside:
        raise MalformedError(
            "E_TRUNCATED",
            f"there is no whole line {SAME_TOP!r}, with which the output ends: it is cut, or the run compared fewer "
            "than 100 positions",
            where=what,
        )


@dataclass(slots=True, kw_only=True)
class _Found:
    """What the lines held so far."""

    members: dict[str, Member] = field(default_factory=dict)
    sizes: tuple[int, int] | None = None
    rows: int = 0
    last: Chunk | None = None

    def take(self, line: str, where: str) -> None:
        name = _name(line)
        sizes = _SIZES.search(line)
        if name:
            if name in self.members:
                raise MalformedError("E_PARITY_RANGE", f"{name} is printed twice: these are two runs", where=where)
            self.members[name] = _read_member(name, line.partition(":")[2], where)
        elif sizes:
            if self.sizes:
                raise MalformedError("E_PARITY_RANGE", "the sizes are printed twice: these are two runs", where=where)
            chunks, n_ctx = (_read_size(text, where) for text in sizes.groups())
            self.sizes = (chunks, n_ctx)
        elif _ROW_START.match(line):
            self.last = self._read_row(line, where)
            self.rows += 1

    def _read_row(self, line: str, where: str) -> Chunk:
        row = _ROW.fullmatch(line)
        if not row or int(row["chunk"]) != self.rows + 1:
            raise MalformedError("E_FIELD", f"expected the whole line of chunk {self.rows + 1}", where=where)
        values = {PPL_Q: row["ppl"], LN_RATIO: row["ln"], MEAN: row["kl"], SAME_TOP: row["top"]}
        return Chunk(values=values, where=where)


def _name(line: str) -> str:
    """Name of the member that a line prints; empty for every other line."""
    head, colon, _ = line[:_LONGEST].partition(":")
    name = " ".join(head.split())
    return name if colon and (name in _NAMES or _PERCENTILE.fullmatch(name)) else ""


def _read_size(text: str, where: str) -> int:
    if not _SIZE.fullmatch(text):
        raise MalformedError("E_FIELD", f"expected a count, found {text[:_LONGEST]!r}", where=where)
    return int(text)


def _read_member(name: str, rest: str, where: str) -> Member:
    found = _VALUE.fullmatch(rest) if len(rest) <= _LONGEST else None
    has_error, percent = name in _WITH_ERROR, name == SAME_TOP
    if not found or bool(found["percent"]) != percent or (found["error"] is not None) != has_error:
        form = " ± a number" * has_error + " %" * percent
        raise MalformedError(
            "E_FIELD", f"expected a number{form} in {name}, found {rest.strip()[:_LONGEST]!r}", where=where
        )
    text = _read_number(name, found["value"], where)
    error: str | None = found["error"]
    if error is not None and _NONFINITE.fullmatch(error):
        error = None  # of a ratio of equals: the root of a variance that rounding made negative
    if error is not None and _read_number(name, error, where).startswith("-"):
        raise MalformedError("E_PARITY_RANGE", f"{name} has a standard error of {error}, below 0", where=where)
    return Member(text=text, has_error=has_error, error=error, where=where)


def _read_number(name: str, text: str, where: str) -> str:
    if _NONFINITE.fullmatch(text):
        raise MalformedError("E_NONFINITE", f"{name} is {text}, which is no measurement", where=where)
    if not is_number(text):
        raise MalformedError("E_FIELD", f"expected a number in {name}, found {text!r}", where=where)
    return text
