"""Real files of llama-bench, in all its formats, held against the table of outcomes."""

from __future__ import annotations

from fractions import Fraction
from statistics import median
from typing import TYPE_CHECKING

import pytest

from ledger.errors import MalformedError, RefusedError
from ledger.ingest import ADAPTERS
from ledger.ingest.build import build_round
from ledger.ingest.llama_bench_text import refuse_text
from ledger.ingest.options import RoundOptions
from ledger.ingest.run import Run
from ledger.metrics import METRICS
from ledger.scoring.facts import record_values
from tests.support.outside import outside
from tests.support.tool_outcomes import OUTCOMES, Outcome

if TYPE_CHECKING:
    from ledger.ingest.adapter import Row

TABLE = [item for item in OUTCOMES if item.path.startswith("tool-outputs/llama-bench/")]
SEALED = [item for item in TABLE if item.outcome in {"seal", "flag"}]
REFUSED = [item for item in TABLE if item.outcome == "refuse"]


def ids(items: list[Outcome]) -> list[str]:
    return [item.path.rpartition("/")[2] for item in items]


def read(item: Outcome) -> list[Row]:
    return ADAPTERS["llama-bench"].read(outside(*item.path.split("/")).read_bytes(), item.path)


def test_the_table_has_files_of_every_kind() -> None:
    assert len(SEALED) >= 7
    assert {code for item in REFUSED for code in item.codes} >= {"E_COLUMN_COUNT", "E_NO_SAMPLES", "E_JSON", "E_FORMAT"}


@pytest.mark.parametrize("item", REFUSED, ids=ids(REFUSED))
def test_a_file_that_cannot_be_sealed_is_refused_with_its_code(item: Outcome) -> None:
    with pytest.raises(MalformedError) as caught:
        read(item)
    assert caught.value.code in {*item.codes, *item.also}


@pytest.mark.parametrize("item", SEALED, ids=ids(SEALED))
def test_a_file_has_the_flags_of_the_table_and_no_other(item: Outcome) -> None:
    assert {note.partition(":")[0] for row in read(item) for note in row.notes} == set(item.codes)


@pytest.mark.parametrize("item", SEALED, ids=ids(SEALED))
def test_the_rows_give_the_facts_of_the_table_to_the_last_digit(item: Outcome) -> None:
    rows = read(item)
    assert {row for fact in item.facts for row in fact.rows} == set(range(len(rows)))
    for fact in item.facts:
        values = [record_values(METRICS[fact.metric], rows[at].records) for at in fact.rows]
        assert {rows[at].context for at in fact.rows} == {fact.context}
        assert [len(each) for each in values] == [fact.samples] * fact.reps
        assert Fraction(median(median(each) for each in values)) == Fraction(fact.median)


@pytest.mark.parametrize("item", [item for item in SEALED if item.selector], ids=lambda item: item.path)
def test_a_file_of_several_settings_is_not_one_round(item: Outcome) -> None:
    digest = "0" * 64
    options = RoundOptions(
        tool="llama-bench",
        slot={"project": "p", "node": "n", "quant": "q", "context": "0", "metric": "gen_tok_s"},
        code={"main": digest},
        weights=digest,
        harness=digest,
    )
    with pytest.raises(RefusedError) as caught:
        build_round([Run(role="main", name="a", raw=b"", rows=read(item))], options)
    assert caught.value.code == "E_MIXED"


HEADER = "build_commit,avg_ts,stddev_ts"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (f"{HEADER}\n1,2,3\n", "E_NO_SAMPLES"),
        (f"\n{HEADER}\n", "E_NO_SAMPLES"),
        (f"{HEADER}\n1,2,3\n1,2\n", "E_COLUMN_COUNT"),
        (f"{HEADER}\n1,2,3,4\n", "E_COLUMN_COUNT"),
        (f'{HEADER}\n"1,5",2,3\n', "E_NO_SAMPLES"),
        ("log\nCREATE TABLE IF NOT EXISTS test (\n", "E_NO_SAMPLES"),
        ("INSERT INTO llama_bench (a) VALUES (1);\n", "E_NO_SAMPLES"),
        ("log\n| model | size | t/s |\n", "E_NO_SAMPLES"),
    ],
)
def test_outputs_without_samples_are_told_apart(text: str, code: str) -> None:
    with pytest.raises(MalformedError) as caught:
        refuse_text(text.encode(), "a file")
    assert (caught.value.code, caught.value.where) == (code, "a file")


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", "model,t/s\n", "| model | speed |\n", "INSERT INTO other (a)\n", "\x00"]
)
def test_of_other_files_nothing_is_said(text: str) -> None:
    refuse_text(text.encode(), "a file")


def test_a_row_that_is_cut_where_the_look_ends_is_no_short_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ledger.ingest.llama_bench_text._LOOK", len(HEADER) + 10)
    with pytest.raises(MalformedError) as caught:
        refuse_text(f"{HEADER}\n1,2,3\n1,2,3\n".encode(), "a file")
    assert caught.value.code == "E_NO_SAMPLES"
