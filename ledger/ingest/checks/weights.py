"""The label of a quantisation against the bits that the file holds for each weight.

A label names a mix of block formats. Their nominal sizes are those of the formats' structures in ggml; a file holds a
few tensors in more bits, and small models, whose embeddings are most of them, many. Labels that are not in the table
are not judged.

Source: ``block_q4_K`` and its like in ggml/src/ggml-common.h, and the help text of llama-quantize, in
github.com/ggml-org/llama.cpp.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from ledger.errors import RefusedError
from ledger.scoring.facts import decimal_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ledger.canonical import JsonObject

_NOMINAL: Mapping[str, str] = {
    "F32": "32", "FP32": "32", "F16": "16", "FP16": "16", "BF16": "16",
    "Q8_0": "8.5", "Q6_K": "6.5625", "Q5_0": "5.5", "Q5_1": "6", "Q4_0": "4.5", "Q4_1": "5",
    "Q5_K_S": "5.52", "Q5_K_M": "5.67", "Q5_K": "5.67", "Q4_K_S": "4.58", "Q4_K_M": "4.85", "Q4_K": "4.85",
    "Q3_K_S": "3.5", "Q3_K_M": "3.91", "Q3_K": "3.91", "Q3_K_L": "4.27", "Q2_K": "2.9", "Q2_K_S": "2.8",
    "IQ4_NL": "4.5", "IQ4_XS": "4.25", "IQ3_M": "3.66", "IQ3_S": "3.44", "IQ3_XS": "3.3", "IQ3_XXS": "3.06",
    "IQ2_M": "2.7", "IQ2_S": "2.5", "IQ2_XS": "2.31", "IQ2_XXS": "2.06", "IQ1_M": "1.75", "IQ1_S": "1.56",
    "TQ2_0": "2.06", "TQ1_0": "1.69", "MXFP4": "4.25",
}  # fmt: skip
"""Bits per weight by label."""

_MIXED = "UD-"
"""How labels of files begin whose tensors were given bits one by one, around those of the label."""
_BELOW, _ABOVE, _FAR_ABOVE = Fraction(9, 10), Fraction(105, 100), Fraction(165, 100)
# Embeddings and output are kept in more bits whatever the label says.
_EXTRA = Fraction(45, 100)
_SMALL = 4 * 10**9


def check_quant(body: JsonObject) -> None:
    """Refuse weights that have more or fewer bits than the slot's label allows.

    Raises:
        RefusedError: ``E_QUANT_MISMATCH``.
    """
    weights, label = body["weights"], body["slot"]["quant"]
    name = label.upper().removeprefix(_MIXED)
    nominal = _NOMINAL.get(name)
    if nominal is None or "size" not in weights or "params" not in weights:
        return
    bits = Fraction(8 * weights["size"], weights["params"])
    mixed = label.upper().startswith(_MIXED) or weights["params"] < _SMALL
    low, high = Fraction(nominal) * _BELOW, Fraction(nominal) * (_FAR_ABOVE if mixed else _ABOVE) + _EXTRA
    if not low <= bits <= high:
        raise RefusedError(
            "E_QUANT_MISMATCH",
            f"{label} has {decimal_text(low, 2)} to {decimal_text(high, 2)} bits per weight, these weights have "
            f"{decimal_text(bits, 2)}",
            where="/weights",
        )
