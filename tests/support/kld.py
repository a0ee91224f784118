"""Made-up output of ``llama-perplexity --kl-divergence``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

STATISTICS: dict[str, str] = {
    "Mean PPL(Q)                   ": "  6.300000 ±   0.040000",
    "Mean PPL(base)                ": "  6.000000 ±   0.030000",
    "Cor(ln(PPL(Q)), ln(PPL(base)))": " 99.10%",
    "Mean ln(PPL(Q)/PPL(base))     ": "  0.048790 ±   0.002000",
    "Mean PPL(Q)/PPL(base)         ": "  1.050000 ±   0.002100",
    "Mean PPL(Q)-PPL(base)         ": "  0.300000 ±   0.012000",
    "Mean    KLD": "  0.020000 ±   0.000400",
    "Maximum KLD": "  1.500000",
    "99.9%   KLD": "  0.900000",
    "99.0%   KLD": "  0.200000",
    "95.0%   KLD": "  0.080000",
    "Median  KLD": "  0.008000",
    " 5.0%   KLD": "  0.000010",
    "Minimum KLD": " -0.000050",
    "Mean    Δp": "-0.300 ± 0.020 %",
    "Maximum Δp": " 50.000%",
    "Minimum Δp": "-60.000%",
    "RMS Δp    ": " 3.000 ± 0.100 %",
    "Same top p": "93.725 ± 0.537 %",
}
"""Of eight chunks of 512 tokens: at 1912 of 2040 positions the first token is the reference's."""

CHUNKS, N_CTX = 8, 512
POSITIONS = 2040

_TITLES = {
    "Mean PPL(Q)": "Perplexity statistics",
    "Mean    KLD": "KL divergence statistics",
    "Mean    Δp": "Token probability statistics",
}
_HEADER = (
    "chunk             PPL               ln(PPL(Q)/PPL(base))          KL Divergence              Δp RMS"
    "            Same top p"
)


def kld_text(
    *,
    changes: Mapping[str, str | None] | None = None,
    table: int | None = CHUNKS,
    last: str | None = None,
    sizes: str | None = f"{CHUNKS} chunks, n_ctx={N_CTX}",
) -> str:
    """A text as both streams of the program give it.

    Args:
        changes: values by name, white space in it made one blank; none leaves a line out.
        table: lines of the table per chunk; none for no table.
        last: the last of them, in place of one that agrees with the statistics.
        sizes: what standard error says of the sizes; none for standard output alone.
    """
    given, lines = dict(changes or {}), []
    if sizes is not None:
        lines += [f"0.00.014.181 I kl_divergence: computing over {sizes}, batch_size=2048, n_seq=4"]
    if table is not None:
        lines += ["", _HEADER, *(table_line(at, kl="0.09000") for at in range(1, table)), last or table_line(table), ""]
    for name, value in STATISTICS.items():
        title = _TITLES.get(name.strip())
        lines += ["", f"====== {title} ======"] if title else []
        shown = given.pop(" ".join(name.split()), value)
        lines += [] if shown is None else [f"{name}: {shown}"]
    assert not given, f"there is no line {given}"
    return "\n".join([*lines, ""])


def table_line(
    chunk: int, *, ppl: str = "6.3000", ln: str = "0.04879", kl: str = "0.02000", top: str = "93.725"
) -> str:
    """A line of the table per chunk."""
    return (
        f"{chunk:4d}       {ppl} ±    0.0400       {ln} ±    0.00200       {kl} ±    0.00040     3.000 ±  0.100 %"
        f"    {top} ±  0.537 %"
    )
