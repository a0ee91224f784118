"""The near-tie rule of two token sequences: may a difference be one of rounding?

Two greedy decodings may part where the two best tokens are equally good to the last bit of the model's number format.
Only the first difference is judged, because behind it both answer to different texts. There, with *g* the gap between
the two best logits and *u* one unit in the last place of the best (8 bits of mantissa), it is a tie when ``g <= u``.

The tool that this rule comes from compares only as far as the shorter sequence goes, so a sequence that was cut short
passes. Here another length without a tie is a failure, and so is a difference whose gap nobody recorded.

Source: verify_spec.py of the TandemLLM project.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_MANTISSA = 7
"""Bits behind the leading one of a bfloat16."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TieVerdict:
    """What became of two sequences.

    Attributes:
        passed: identical, or a tie at the first difference.
        at: index of the first difference, or of the first token that only one has; none when they are identical.
        gap: between the two best logits there; none when unknown or when lengths differ.
        ulp: one unit in the last place of the best logit; 0 when that is unknown.
        reason: in a few words.
    """

    passed: bool
    at: int | None = None
    gap: Fraction | None = None
    ulp: Fraction | None = None
    reason: str = ""


def ulp(value: Fraction) -> Fraction:
    """``2 ** (floor(log2 |value|) - 7)``, exact; 0 for 0."""
    if not value:
        return Fraction(0)
    size = abs(value)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if size < Fraction(2) ** exponent:
        exponent -= 1
    return Fraction(2) ** (exponent - _MANTISSA)


def judge_tokens(
    base: Sequence[int], other: Sequence[int], gaps: Sequence[Fraction | None], tops: Sequence[Fraction | None]
) -> TieVerdict:
    """Judge a sequence against the greedy one.

    Args:
        base: tokens of the greedy decoding.
        other: tokens to be judged.
        gaps: gap between the two best logits at each place of `base`; may be shorter.
        tops: best logit at each place of `base`; may be shorter.
    """
    at = next((place for place, (one, two) in enumerate(zip(base, other, strict=False)) if one != two), None)
    if at is None:
        if len(base) == len(other):
            return TieVerdict(passed=True, reason="identical")
        said = f"length differs without a tie: {len(base)} and {len(other)} tokens"
        return TieVerdict(passed=False, at=min(len(base), len(other)), reason=said)
    top = tops[at] if at < len(tops) else None
    unit = Fraction(0) if top is None else ulp(top)
    gap = gaps[at] if at < len(gaps) else None
    if gap is None:
        return TieVerdict(passed=False, at=at, ulp=unit, reason="no gap was recorded at the first difference")
    passed = gap <= unit
    return TieVerdict(passed=passed, at=at, gap=gap, ulp=unit, reason="near tie" if passed else "no tie")
