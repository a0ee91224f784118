"""``llama-perplexity --kl-divergence``: how far a model is from the captured logits of its reference.

The text holds statistics over positions, and none of the positions: so it is parity, and never a round. Its numbers
stay the decimals that were printed, with the share of equal first tokens as a share instead of percent. What can be
worked out from other printed numbers is compared.

Rounding leaves traces that are no faults. Log-probabilities of the reference are stored in 16 bits, so the smallest
divergences are a little below 0; the mean of all of them is not. Extremes and percentiles went through single
precision, so they are in order but for its last digit. The table per chunk holds means over all chunks so far: its last
line is the result, and the mean of its lines is nothing.

Source: ``kl_divergence`` in ``tools/perplexity/perplexity.cpp`` of github.com/ggml-org/llama.cpp.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from ledger.errors import MalformedError
from ledger.ingest.perplexity_text import (
    DIFFERENCE,
    LN_RATIO,
    MAXIMUM,
    MEAN,
    MEDIAN,
    MINIMUM,
    PPL_BASE,
    PPL_Q,
    RATIO,
    SAME_TOP,
    Member,
    PrintedText,
    half_unit,
    is_number,
    read_text,
)
from ledger.ingest.values import exponent_of, plain
from ledger.json_input import refuse_lfs_pointer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ledger.canonical import JsonObject

FEWEST_POSITIONS = 100
"""The tool prints no statistics of fewer."""

_NEEDED = (PPL_Q, PPL_BASE, MEAN, MAXIMUM)
_RANKS = {MAXIMUM: Fraction(100), MEDIAN: Fraction(50), MINIMUM: Fraction(0)}
_SINGLE_PRECISION = Fraction(1, 2**23)
_DOUBLE_PRECISION = Fraction(1, 10**12)  # sixteen digits, of which an exponential loses a few
_TAIL = 100
_UNTRAINED = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedParity:
    """Parity of one arm at one depth, as printed.

    Attributes:
        kl: mean divergence in nats.
        kl_max: the largest.
        top1: share of positions with the reference's first token.
        top1_error: its standard error, in percent as printed; none where the tool could not tell.
        ppl_base: perplexity of the reference: equal for all that was compared with the same logits.
        n_ctx: tokens of a chunk; none when the text does not say.
        chunks: how many there were; none when the text does not say.
        reported: every member that was printed; a pair where it has a standard error.
        notes: what deserves a look, one sentence each, beginning with its code.
    """

    kl: str
    kl_max: str
    top1: str
    top1_error: str | None
    ppl_base: str
    n_ctx: int | None
    chunks: int | None
    reported: JsonObject
    notes: tuple[str, ...]


def read_parity(raw: bytes, what: str) -> PrintedParity:
    """Read a text.

    Args:
        raw: the untouched bytes.
        what: name of the file, for errors.

    Raises:
        MalformedError: what `ledger.ingest.perplexity_text.read_text` raises, ``E_FIELD`` when a member is missing,
            ``E_PARITY_RANGE`` for numbers that cannot be, or ``E_LFS_POINTER``.
    """
    refuse_lfs_pointer(raw, what)
    text = read_text(raw, what)
    for name in _NEEDED:
        if name not in text.members:
            raise MalformedError("E_FIELD", f"expected a line {name!r}, there is none", where=what)
    _check_ranges(text.members)
    _check_order(text.members)
    shares = text.members[SAME_TOP]
    return PrintedParity(
        kl=text.members[MEAN].text,
        kl_max=text.members[MAXIMUM].text,
        top1=_share(shares.text),
        top1_error=shares.error,
        ppl_base=text.members[PPL_BASE].text,
        n_ctx=text.n_ctx,
        chunks=text.chunks,
        reported={
            name: [each.text, each.error] if each.has_error else each.text for name, each in text.members.items()
        },
        notes=(*_flags(text.members), *_mismatches(text)),
    )


def _share(percent: str) -> str:
    """Percent as a share: the point moves, and no digit changes."""
    sign, digits, _ = Decimal(percent).as_tuple()
    return plain(Decimal((sign, digits, exponent_of(Decimal(percent)) - 2)))


# What cannot be.


def _check_ranges(members: Mapping[str, Member]) -> None:
    for name in (MEAN, MAXIMUM):
        if members[name].value < 0:
            raise _impossible(members[name], f"{name} is {members[name].text}: a divergence is 0 or more")
    for name in (PPL_Q, PPL_BASE):
        if members[name].value <= 0:
            raise _impossible(members[name], f"{name} is {members[name].text}: a perplexity is above 0")
    top = members[SAME_TOP]
    if not 0 <= top.value <= 100:  # noqa: PLR2004 - percent
        raise _impossible(top, f"{SAME_TOP} is {top.text} %: a share is 0 to 100 %")


def _check_order(members: Mapping[str, Member]) -> None:
    ranks = {name: _rank(name) for name in members if name.endswith(" KLD") and name != MEAN}
    ordered = sorted(ranks, key=lambda name: ranks[name])
    pairs = [*pairwise(ordered), (MEAN, MAXIMUM), *([(MINIMUM, MEAN)] if MINIMUM in members else [])]
    for low, high in pairs:
        one, other = members[low], members[high]
        slack = 2 * other.half + abs(other.value) * _SINGLE_PRECISION
        if one.value > other.value + slack:
            raise _impossible(one, f"{low} is {one.text}, above {high}, which is {other.text}")


def _rank(name: str) -> Fraction:
    return _RANKS[name] if name in _RANKS else Fraction(name.partition("%")[0])


def _impossible(member: Member, message: str) -> MalformedError:
    return MalformedError("E_PARITY_RANGE", message, where=member.where)


# What deserves a look.


def _flags(members: Mapping[str, Member]) -> Iterator[str]:
    base, mean, highest = (members[name] for name in (PPL_BASE, MEAN, MAXIMUM))
    if base.value > _UNTRAINED:
        yield f"F_BASE_PERPLEXITY: the reference's perplexity is {base.text}: nothing that a trained model gives"
    if highest.value > _TAIL * mean.value:
        yield f"F_KL_TAIL: the largest divergence {highest.text} is more than {_TAIL} times the mean {mean.text}"


def _mismatches(text: PrintedText) -> Iterator[str]:
    """What was printed beside what it was made of, or a second time."""
    for name, (low, high) in _from_perplexities(text.members).items():
        member = text.members.get(name)
        if member and not low - member.half <= member.value <= high + member.half:
            yield f"F_REPORTED_MISMATCH: {name} is printed as {member.text}, and is not that of the two perplexities"
    for name, printed in text.last.values.items() if text.last else ():
        member = text.members.get(name)
        if member and not _agree(member.text, printed):
            yield (
                f"F_REPORTED_MISMATCH: {name} is printed as {member.text}, and as {printed[:40]} after the last chunk "
                "of the table"
            )


def _agree(one: str, other: str) -> bool:
    """Whether two numbers can be prints of one."""
    return is_number(other) and abs(Fraction(one) - Fraction(other)) <= half_unit(one) + half_unit(other)


def _from_perplexities(members: Mapping[str, Member]) -> Mapping[str, tuple[Fraction, Fraction]]:
    """Where ratio, its logarithm and difference lie, given that both perplexities were rounded."""
    quantized, base = members[PPL_Q], members[PPL_BASE]
    most = (quantized.value + quantized.half) / (base.value - base.half)
    least = (quantized.value - quantized.half) / (base.value + base.half)
    apart, slack = quantized.value - base.value, quantized.half + base.half
    found = {RATIO: (least, most), LN_RATIO: (_ln(least), _ln(most)), DIFFERENCE: (apart - slack, apart + slack)}
    size: dict[str, Fraction | int] = {RATIO: most, LN_RATIO: 1, DIFFERENCE: quantized.value + base.value}
    return {
        name: (low - size[name] * _DOUBLE_PRECISION, high + size[name] * _DOUBLE_PRECISION)
        for name, (low, high) in found.items()
    }


def _ln(value: Fraction) -> Fraction:
    with localcontext() as context:
        context.prec = 40
        return Fraction((Decimal(value.numerator) / Decimal(value.denominator)).ln())
