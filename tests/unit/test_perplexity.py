"""The text of ``llama-perplexity --kl-divergence``: what is read, what is refused, what deserves a look."""

# ruff: noqa: N802 - the names of faults have capitals

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.errors import MalformedError
from ledger.ingest.parity import ParityFile, add_parity
from ledger.ingest.perplexity import PrintedParity, read_parity
from ledger.ingest.perplexity_text import recognises
from tests.support.kld import CHUNKS, N_CTX, kld_text, table_line
from tests.support.outside import outside
from tests.support.tool_figures import read_kld
from tests.support.tool_outcomes import OUTCOMES, Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

CASES = [item for item in OUTCOMES if item.kind == "parity"]
SOUND = [item for item in CASES if item.outcome != "refuse"]
WHOLE = kld_text()


def ids(items: Sequence[Outcome]) -> list[str]:
    return [item.path.rpartition("/")[2] for item in items]


def read(text: str) -> PrintedParity:
    return read_parity(text.encode(), "kld.txt")


def codes(found: PrintedParity) -> list[str]:
    return [note.partition(":")[0] for note in found.notes]


def refusal(raw: bytes) -> MalformedError:
    with pytest.raises(MalformedError) as caught:
        read_parity(raw, "kld.txt")
    return caught.value


def refused(text: str) -> tuple[str, str]:
    """Code and place."""
    error = refusal(text.encode())
    return error.code, error.where


def line_of(text: str, start: str) -> str:
    """Place of the line that begins so."""
    (number,) = [at for at, line in enumerate(text.split("\n"), 1) if line.startswith(start)]
    return f"kld.txt:{number}"


# Files of other people.


def test_the_table_has_files_of_every_outcome() -> None:
    assert sorted(item.outcome for item in CASES) == ["flag", "flag", "flag", "refuse"]


@pytest.mark.parametrize("item", SOUND, ids=ids(SOUND))
def test_a_real_file_has_the_figures_and_the_flags_of_the_table(item: Outcome) -> None:
    path = outside(*item.path.split("/"))
    raw = path.read_bytes()
    assert recognises(raw)
    found = read_parity(raw, item.path)
    values = {"kl": found.kl, "kl_max": found.kl_max, "top1": found.top1}
    assert {name: str(Fraction(text)) for name, text in values.items()} == {
        fact.metric: fact.median for fact in item.facts
    }
    assert [found.n_ctx] * len(item.facts) == [fact.context for fact in item.facts]
    assert {figure.metric: figure.median for figure in read_kld(path)} == {
        name: Fraction(text) for name, text in values.items()
    }
    assert codes(found) == list(item.codes)
    assert ("depth" in item.given, "trials" in item.given) == (found.n_ctx is None, found.chunks is None)


@pytest.mark.parametrize("item", [item for item in CASES if item.outcome == "refuse"], ids=lambda item: item.path)
def test_C19_a_real_text_without_its_last_line_is_refused(item: Outcome) -> None:
    raw = outside(*item.path.split("/")).read_bytes()
    with pytest.raises(MalformedError) as caught:
        read_parity(raw, item.path)
    assert (caught.value.code, caught.value.where) == (*item.codes, item.path)
    assert recognises(raw)


@pytest.mark.parametrize("name", ["glm46_iq2kl_v3.kld.txt", "glm46_v4_kv-f16.kld.txt"])
def test_the_printed_share_and_its_error_tell_the_number_of_positions(name: str) -> None:
    """Of all numbers of chunks of 512 tokens, one gives both, and it is the same for both files."""
    raw = outside("tool-outputs", "llama-perplexity-kld", name).read_bytes()
    printed = read_parity(raw, name)

    def agrees(trials: int) -> bool:
        file = ParityFile(role="main", name=name, raw=raw, printed=printed, given_depth=512, given_trials=trials)
        notes = add_parity({"attachments": [], "reported": []}, [file])
        return not any(note.startswith("F_REPORTED_MISMATCH") for _, note in notes)

    assert [chunks for chunks in range(1, 1000) if agrees(chunks * 255)] == [98]


# What is read.


def test_numbers_are_the_decimals_that_were_printed() -> None:
    found = read(WHOLE)
    assert (found.kl, found.kl_max, found.top1, found.top1_error) == ("0.020000", "1.500000", "0.93725", "0.537")
    assert (found.ppl_base, found.n_ctx, found.chunks) == ("6.000000", N_CTX, CHUNKS)
    assert found.notes == ()


def test_every_member_is_kept_as_printed_and_its_standard_error_beside_it() -> None:
    assert read(WHOLE).reported == {
        "Mean PPL(Q)": ["6.300000", "0.040000"],
        "Mean PPL(base)": ["6.000000", "0.030000"],
        "Mean ln(PPL(Q)/PPL(base))": ["0.048790", "0.002000"],
        "Mean PPL(Q)/PPL(base)": ["1.050000", "0.002100"],
        "Mean PPL(Q)-PPL(base)": ["0.300000", "0.012000"],
        "Mean KLD": ["0.020000", "0.000400"],
        "Maximum KLD": "1.500000",
        "99.9% KLD": "0.900000",
        "99.0% KLD": "0.200000",
        "95.0% KLD": "0.080000",
        "Median KLD": "0.008000",
        "5.0% KLD": "0.000010",
        "Minimum KLD": "-0.000050",
        "Same top p": ["93.725", "0.537"],
    }


@pytest.mark.parametrize(
    ("percent", "share"),
    [("100.000", "1.00000"), ("0.000", "0.00000"), ("9.5", "0.095"), ("0.001", "0.00001"), ("85.4", "0.854")],
)
def test_percent_become_a_share_without_a_change_of_digits(percent: str, share: str) -> None:
    text = kld_text(changes={"Same top p": f"{percent} ± 0.000 %"}, table=None)
    assert read(text).top1 == share


def test_the_sizes_are_those_of_standard_error_or_of_the_table() -> None:
    sizes = {
        kld_text(): (N_CTX, CHUNKS),
        kld_text(table=None): (N_CTX, CHUNKS),
        kld_text(sizes=None): (None, CHUNKS),
        kld_text(sizes=None, table=None): (None, None),
    }
    for text, wanted in sizes.items():
        found = read(text)
        assert (found.n_ctx, found.chunks) == wanted


@pytest.mark.parametrize(
    "text",
    [
        WHOLE.replace("\n", "\r\n"),
        "\ufeff" + WHOLE,
        "$ llama-perplexity --kl-divergence\n# exit code: 0\n" + WHOLE + "# ---- stderr ----\nggml: done\n",
        WHOLE.rstrip("\n"),
        WHOLE.replace(
            table_line(4, kl="0.09000"), "chunk   PPL   ln(PPL(Q)/PPL(base))\n" + table_line(4, kl="0.09000")
        ),
        WHOLE.replace("0.00.014.181 I kl_div", "ETA 0.01 minutes kl_div"),
    ],
    ids=["crlf", "byte-order-mark", "frame", "no-last-newline", "header-per-chunk", "streams-in-one-line"],
)
def test_what_stands_around_the_members_is_passed_over(text: str) -> None:
    assert read(text) == read(WHOLE)


def test_identical_logits_are_read() -> None:
    """The tool takes the root of a variance that rounding made negative, and divides 0 by 0."""
    same = {
        "Mean PPL(Q)": "6.000000 ± 0.030000",
        "Mean ln(PPL(Q)/PPL(base))": "-0.000000 ± -nan",
        "Mean PPL(Q)/PPL(base)": "1.000000 ± -nan(ind)",
        "Mean PPL(Q)-PPL(base)": "-0.000000 ± nan",
        "RMS Δp": "0.000 ± -nan %",
        "Same top p": "100.000 ± 0.000 %",
    }
    found = read(kld_text(changes=same, table=None))
    assert found.reported["Mean PPL(Q)/PPL(base)"] == ["1.000000", None]
    assert found.notes == ()


def test_the_mean_of_the_running_means_is_not_the_result() -> None:
    assert read(WHOLE).kl == "0.020000"
    assert "0.09000" in WHOLE


# What is refused.


@pytest.mark.parametrize("raw", [b"", b" \n"])
def test_an_empty_file(raw: bytes) -> None:
    assert refusal(raw).code == "E_EMPTY_RESULTS"


@pytest.mark.parametrize("raw", [WHOLE.encode("cp1252", errors="replace"), WHOLE.encode("utf-16")])
def test_another_encoding(raw: bytes) -> None:
    assert refusal(raw).code == "E_UTF8"


@pytest.mark.parametrize(
    "raw", [b"[]", b"perplexity: 5.2 over 100 chunks", b"Final estimate: PPL = 6.1 +/- 0.1\n", b"Same top p: 1.0"]
)
def test_output_of_something_else(raw: bytes) -> None:
    assert not recognises(raw)
    assert refusal(raw).code == "E_FORMAT"


def test_C19_a_text_that_is_cut_anywhere_is_refused_whole() -> None:
    raw = WHOLE.encode()
    whole = len(raw.rstrip())
    found = {refusal(raw[:end]).code for end in range(1, whole)}
    assert found == {"E_FORMAT", "E_UTF8", "E_TRUNCATED"}
    title = raw.index(b"chunk  ") + 60
    assert {refusal(raw[:end]).code for end in range(title, whole)} == {"E_UTF8", "E_TRUNCATED"}
    assert read_parity(raw[:whole], "kld.txt") == read(WHOLE)


def test_a_run_of_too_few_positions_has_no_statistics() -> None:
    error = refusal(WHOLE[: WHOLE.index("====== Perplexity")].encode())
    assert (error.code, "fewer than 100 positions" in error.message) == ("E_TRUNCATED", True)


@pytest.mark.parametrize("name", ["Mean PPL(Q)", "Mean PPL(base)", "Mean KLD", "Maximum KLD"])
def test_C14_a_figure_that_is_missing_is_not_0(name: str) -> None:
    error = refusal(kld_text(changes={name: None}).encode())
    assert (error.code, error.where) == ("E_FIELD", "kld.txt")
    assert name in error.message


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("nan ± nan", "E_NONFINITE"),
        ("-nan(ind) ± 0.1", "E_NONFINITE"),
        ("inf ± 0.1", "E_NONFINITE"),
        ("null ± 0.1", "E_FIELD"),
        ("0 ± 0.1", "E_FIELD"),
        ("1e-3 ± 0.1", "E_FIELD"),
        ("0,020000 ± 0.1", "E_FIELD"),
        ("00.020000 ± 0.1", "E_FIELD"),
        ("\u0660.\u0660 ± 0.1", "E_FIELD"),
        ("0.020000", "E_FIELD"),
        ("0.020000 ±", "E_FIELD"),
        ("0.020000 ± x", "E_FIELD"),
        ("0.020000 ± 0.1 %", "E_FIELD"),
        ("0.020000 ± 0.1 ± 0.2", "E_FIELD"),
        ("", "E_FIELD"),
        ("0." + "0" * 40 + " ± 0.1", "E_FIELD"),
        ("±" * 10**6, "E_FIELD"),
        ("0.020000 ± -0.000400", "E_PARITY_RANGE"),
    ],
)
def test_C14_a_figure_that_is_no_number_is_refused_and_never_0(value: str, code: str) -> None:
    text = kld_text(changes={"Mean KLD": value})
    assert refused(text) == (code, line_of(text, "Mean    KLD"))


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        ("Maximum KLD", "1.500000 ± 0.1", "E_FIELD"),
        ("Maximum KLD", "inf", "E_NONFINITE"),
        ("Same top p", "93.725 ± 0.537", "E_FIELD"),
        ("Same top p", "0.93725 ± 0.00537", "E_FIELD"),
        ("Same top p", "nan ± nan %", "E_NONFINITE"),
        ("Mean KLD", "-0.000001 ± 0.1", "E_PARITY_RANGE"),
        ("Mean PPL(base)", "0.000000 ± 0.1", "E_PARITY_RANGE"),
        ("Mean PPL(Q)", "-1.000000 ± 0.1", "E_PARITY_RANGE"),
        ("Same top p", "100.001 ± 0.1 %", "E_PARITY_RANGE"),
        ("Same top p", "-0.001 ± 0.1 %", "E_PARITY_RANGE"),
        ("Mean KLD", "1.500002 ± 0.1", "E_PARITY_RANGE"),
        ("99.9% KLD", "1.500002", "E_PARITY_RANGE"),
        ("99.0% KLD", "0.900002", "E_PARITY_RANGE"),
        ("Median KLD", "0.080002", "E_PARITY_RANGE"),
        ("Minimum KLD", "0.000012", "E_PARITY_RANGE"),
    ],
)
def test_what_cannot_be_is_refused_where_it_stands(name: str, value: str, code: str) -> None:
    text = kld_text(changes={name: value})
    start = next(line for line in text.split("\n") if " ".join(line.partition(":")[0].split()) == name)
    assert refused(text) == (code, line_of(text, start))


@pytest.mark.parametrize(
    "changes",
    [
        {"Mean KLD": "1.500001 ± 0.1", "Maximum KLD": "1.500000"},
        {"99.9% KLD": "1.500001"},
        {"Maximum KLD": "20.749897", "99.9% KLD": "20.749900"},
        {"Minimum KLD": "-0.000423"},
        {"Minimum KLD": None, "Median KLD": None},
        {"Mean KLD": "0.000000 ± 0.0", "Minimum KLD": "-0.000134"},
        {"Same top p": "100.000 ± 0.000 %"},
        {"Same top p": "0.000 ± 0.000 %"},
    ],
)
def test_what_rounding_does_is_not(changes: dict[str, str | None]) -> None:
    assert read(kld_text(changes=changes, table=None)).reported


def test_a_mean_below_the_minimum_is_refused() -> None:
    text = kld_text(changes={"Minimum KLD": "0.000009", "Mean KLD": "0.000001 ± 0.1"})
    assert refused(text) == ("E_PARITY_RANGE", line_of(text, "Minimum KLD"))


def test_a_largest_below_0_is_refused_although_a_mean_of_0_is_next_to_it() -> None:
    figures = dict.fromkeys(["99.9% KLD", "99.0% KLD", "95.0% KLD", "Median KLD", "5.0% KLD"], "-0.000050")
    text = kld_text(changes={"Mean KLD": "0.000000 ± 0.0", "Maximum KLD": "-0.000001", **figures})
    assert refused(text) == ("E_PARITY_RANGE", line_of(text, "Maximum KLD"))


@pytest.mark.parametrize("start", ["Mean    KLD", "Maximum KLD", "99.9%   KLD", "Same top p", "Mean PPL(base)"])
def test_a_member_that_is_printed_twice_is_of_two_runs(start: str) -> None:
    line = next(line for line in WHOLE.split("\n") if line.startswith(start))
    text = WHOLE + line + "\n"
    assert refused(text) == ("E_PARITY_RANGE", f"kld.txt:{WHOLE.count(chr(10)) + 1}")


def test_two_runs_in_one_file_are_refused() -> None:
    half = kld_text(table=None)
    code, where = refused(half + half)
    assert (code, where) == ("E_PARITY_RANGE", f"kld.txt:{half.count(chr(10)) + 1}")


@pytest.mark.parametrize(
    ("sizes", "code"),
    [
        ("many chunks, n_ctx=512", "E_FIELD"),
        ("8 chunks, n_ctx=0", "E_FIELD"),
        ("8 chunks, n_ctx=-1", "E_FIELD"),
        ("8 chunks, n_ctx=05", "E_FIELD"),
        ("8 chunks, n_ctx=" + "9" * 5000, "E_FIELD"),
        ("² chunks, n_ctx=512", "E_FIELD"),
    ],
)
def test_sizes_that_are_no_counts(sizes: str, code: str) -> None:
    assert refused(kld_text(sizes=sizes)) == (code, "kld.txt:1")


def test_a_table_of_another_number_of_chunks_than_was_announced() -> None:
    text = kld_text(sizes="9 chunks, n_ctx=512")
    assert refused(text) == ("E_FIELD", line_of(text, "   8 "))


@pytest.mark.parametrize(
    "line",
    [table_line(7), table_line(9), table_line(8).replace("%", ""), table_line(8)[:60], "8 1 ± 1", table_line(10**10)],
)
def test_a_table_with_a_hole(line: str) -> None:
    text = kld_text(last=line)
    assert refused(text) == ("E_FIELD", line_of(text, line))


@given(st.binary(max_size=200), st.integers(0, len(WHOLE.encode())))
def test_any_bytes_are_read_or_refused(junk: bytes, at: int) -> None:
    raw = WHOLE.encode()
    for broken in (junk, raw[:at] + junk + raw[at:], raw[:at] + junk + raw[at + len(junk) :]):
        try:
            found = read_parity(broken, "kld.txt")
        except MalformedError:
            continue
        assert 0 <= Fraction(found.top1) <= 1
        assert 0 <= Fraction(found.kl) <= Fraction(found.kl_max) + Fraction(1, 10**5)


# What deserves a look.


@pytest.mark.parametrize(
    ("highest", "flags"), [("2.000000", []), ("2.000001", ["F_KL_TAIL"])], ids=["100 times", "and a little"]
)
def test_a_mean_that_hides_broken_positions(highest: str, flags: list[str]) -> None:
    assert codes(read(kld_text(changes={"Maximum KLD": highest}))) == flags


@pytest.mark.parametrize(("base", "flags"), [("1000.000000", []), ("1000.000001", ["F_BASE_PERPLEXITY"])])
def test_a_reference_that_was_not_trained(base: str, flags: list[str]) -> None:
    changes = {
        "Mean PPL(Q)": f"{base} ± 1.0",
        "Mean PPL(base)": f"{base} ± 1.0",
        "Mean ln(PPL(Q)/PPL(base))": "0.000000 ± 0.1",
        "Mean PPL(Q)/PPL(base)": "1.000000 ± 0.1",
        "Mean PPL(Q)-PPL(base)": "0.000000 ± 0.1",
    }
    assert codes(read(kld_text(changes=changes, table=None))) == flags


@pytest.mark.parametrize(
    ("name", "value", "agrees"),
    [
        ("Mean PPL(Q)/PPL(base)", "1.050000", True),
        ("Mean PPL(Q)/PPL(base)", "1.050001", False),
        ("Mean PPL(Q)/PPL(base)", "1.049999", False),
        ("Mean PPL(Q)-PPL(base)", "0.300001", True),
        ("Mean PPL(Q)-PPL(base)", "0.299998", False),
        ("Mean ln(PPL(Q)/PPL(base))", "0.048791", False),
        ("Mean ln(PPL(Q)/PPL(base))", "0.048790", True),
        ("Mean ln(PPL(Q)/PPL(base))", "-0.048790", False),
    ],
)
def test_printed_figures_of_the_two_perplexities_are_compared(name: str, value: str, *, agrees: bool) -> None:
    found = read(kld_text(changes={name: f"{value} ± 0.1"}, table=None))
    assert [note.partition(" is printed")[0] for note in found.notes] == (
        [] if agrees else [f"F_REPORTED_MISMATCH: {name}"]
    )


def test_a_figure_that_is_not_printed_is_not_compared() -> None:
    absent = dict.fromkeys(["Mean PPL(Q)/PPL(base)", "Mean PPL(Q)-PPL(base)", "Mean ln(PPL(Q)/PPL(base))"])
    assert read(kld_text(changes=absent)).notes == ()


@pytest.mark.parametrize(
    ("last", "name"),
    [
        ({"kl": "0.02001"}, ""),  # 0.020005 rounds to either
        ({"kl": "0.02002"}, "Mean KLD"),
        ({"kl": "0.09000"}, "Mean KLD"),
        ({"kl": "nan"}, "Mean KLD"),
        ({"ppl": "6.3002"}, "Mean PPL(Q)"),
        ({"ln": "0.04881"}, "Mean ln(PPL(Q)/PPL(base))"),
        ({"top": "93.727"}, "Same top p"),
    ],
)
def test_the_last_line_of_the_table_is_the_result(last: dict[str, str], name: str) -> None:
    changes = {"Mean KLD": "0.020005 ± 0.1"} if not name else {}
    found = read(kld_text(changes=changes, last=table_line(CHUNKS, **last)))
    assert [note.partition(" is printed")[0] for note in found.notes] == (
        [f"F_REPORTED_MISMATCH: {name}"] if name else []
    )
