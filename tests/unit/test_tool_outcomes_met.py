"""Every file of other people's tools gets what the table says: sealed with these facts and flags, or refused.

The way of a stranger's file: it is recognised by what stands in it, read, made a round with what its tool does not say,
checked as a receipt is, and its facts are worked out from the round.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import pytest

from ledger.errors import MalformedError, RefusedError
from ledger.ingest import ADAPTERS, recognise
from ledger.ingest.build import build_round
from ledger.ingest.checks import examine_round
from ledger.ingest.companions import attachment_name, read_whole
from ledger.ingest.k3_baseline import Given, read_baseline
from ledger.ingest.lines import skip_log_lines
from ledger.ingest.options import RoundOptions
from ledger.ingest.run import Run
from ledger.kinds import check_body
from ledger.schema import validate
from ledger.scoring.facts import round_facts
from tests.support.outside import outside, outside_json
from tests.support.tool_outcomes import OUTCOMES, Fact, Outcome
from tests.support.tool_rounds import ADAPTER_OF

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger.canonical import JsonObject
    from ledger.ingest.adapter import Row
    from ledger.ingest.companions import Reading
    from ledger.scoring.facts import ArmFact as RoundFact

IMPORTED = [item for item in OUTCOMES if item.kind == "imported"]
CASES = [item for item in OUTCOMES if item.format in ADAPTER_OF and item.kind == "round"]
SEALED = [item for item in CASES if item.outcome in {"seal", "flag"}]
REFUSED = [item for item in OUTCOMES if item.outcome == "refuse" and item.format in {*ADAPTER_OF, "other"}]
PARITY = [item for item in OUTCOMES if item.kind == "parity"]  # tests/unit/test_perplexity.py
ASIDE = [item for item in OUTCOMES if item.outcome == "aside"]
DIGEST = "0" * 64
NOT_SAID = "gen_tokens"


def ids(items: Sequence[Outcome]) -> list[str]:
    return [item.path.partition("/")[2] for item in items]


def raw_of(item: Outcome) -> bytes:
    return outside(*item.path.split("/")).read_bytes()


def read(item: Outcome) -> Sequence[Row]:
    return read_all(item).rows


def read_all(item: Outcome) -> Reading:
    """A file with those that it names, which lie in its folder or in one above."""
    raw, path = raw_of(item), outside(*item.path.split("/"))
    adapter = recognise(raw, item.path)
    assert adapter.name == ADAPTER_OF.get(item.format)

    def fetch(name: str) -> bytes | None:
        found = [folder / name for folder in path.parents[:3] if (folder / name).is_file()]
        return found[0].read_bytes() if found else None

    return read_whole(adapter, raw, item.path, fetch)


def build(item: Outcome, rows: Sequence[Row], fact: Fact) -> tuple[JsonObject, list[str]]:
    """A round of some rows in the slot of a fact, with what the table says must be given and nothing else."""
    given: dict[str, Any] = {}
    if "environment" in item.given:
        given["environment"] = {"gpu": "H200"}
    if "commit" in item.given:
        given["commits"] = {"main": "abc1234"}
    if "zone" in item.given:
        given["zone"] = "+02:00"
    if "started_at" in item.given:
        given["started_at"] = {"main": ["2026-11-29T20:00:00Z"]}
    if "workload" in item.given:
        given["workload"] = {NOT_SAID: 128}
    context = 512 if fact.context is None else fact.context
    said = all(row.code_sha256 for row in rows)
    options = RoundOptions(
        tool=ADAPTER_OF[item.format],
        slot={"project": "p", "node": "n", "quant": "q", "context": str(context), "metric": fact.metric},
        code={} if said else {"main": DIGEST},
        weights=DIGEST,
        harness=DIGEST,
        **given,
    )
    companions = read_all(item).companions if said else {}
    name = attachment_name(PurePath(item.path).name)
    run = Run(role="main", name=name, raw=raw_of(item), rows=rows, companions=companions)
    built = build_round([run], options)
    validate("round-input", built.body)
    check_body("round", built.body)
    return built.body, [*built.notes, *examine_round(built.body, built.said, built_by=ADAPTER_OF[item.format])]


def in_table(fact: RoundFact) -> tuple[str, int, list[int], str]:
    return (fact.metric.name, fact.context, [len(rep.ratios) for rep in fact.reps], str(fact.median))


def wanted(fact: Fact) -> tuple[str, int, list[int], str]:
    context = 512 if fact.context is None else fact.context
    return (fact.metric, context, [fact.samples] * fact.reps, fact.median)


@pytest.mark.parametrize("item", REFUSED, ids=ids(REFUSED))
def test_a_file_that_cannot_be_sealed_is_refused_with_its_code(item: Outcome) -> None:
    with pytest.raises((MalformedError, RefusedError)) as caught:
        read(item)
    assert caught.value.code in {*item.codes, *item.also}
    assert item.path in str(caught.value)


def test_every_file_of_the_table_is_held_against_it() -> None:
    held = {item.path for item in (*SEALED, *REFUSED, *IMPORTED, *PARITY, *ASIDE)}
    assert [item.path for item in OUTCOMES if item.path not in held] == []
    assert len(OUTCOMES) >= 99


@pytest.mark.parametrize("item", ASIDE, ids=ids(ASIDE))
def test_a_file_that_stands_beside_others_is_taken_for_no_tools(item: Outcome) -> None:
    with pytest.raises(MalformedError) as caught:
        recognise(raw_of(item), item.path)
    assert caught.value.code == "E_FORMAT"


@pytest.mark.parametrize("item", [item for item in REFUSED if item.unless], ids=lambda item: item.path)
def test_a_file_that_is_refused_unless_asked_for_has_then_the_facts_of_the_table(item: Outcome) -> None:
    kept, note = skip_log_lines(raw_of(item))
    reading = read_whole(ADAPTERS[ADAPTER_OF[item.format]], kept, item.path, lambda _: None).noting(note)
    assert {note.partition(":")[0] for row in reading.rows for note in row.notes} == set(item.then)
    for fact in item.facts:
        body, _ = build(item, [row for row in reading.rows if row.number in fact.rows], fact)
        assert wanted(fact) in [in_table(each) for each in round_facts(body)]


@pytest.mark.parametrize("item", SEALED, ids=ids(SEALED))
def test_a_file_has_the_flags_of_the_table_and_no_other(item: Outcome) -> None:
    flags = {note.partition(":")[0] for row in read(item) for note in row.notes}
    assert flags - {"F_REPORTED_MISMATCH"} == set(item.codes)
    assert ("F_REPORTED_MISMATCH" in flags) == bool(item.disagrees)


WHOLE = [item for item in SEALED if not item.selector]
SELECTED = [item for item in SEALED if item.selector]


@pytest.mark.parametrize("item", WHOLE, ids=ids(WHOLE))
def test_a_file_is_one_round_with_the_facts_of_the_table(item: Outcome) -> None:
    body, _ = build(item, read(item), item.facts[0])
    found = [in_table(fact) for fact in round_facts(body)]
    assert sorted(found) == sorted(map(wanted, item.facts))


@pytest.mark.parametrize("item", SELECTED, ids=ids(SELECTED))
def test_a_file_of_several_workloads_is_no_round_until_rows_are_selected(item: Outcome) -> None:
    rows = read(item)
    with pytest.raises(RefusedError) as caught:
        build(item, rows, item.facts[0])
    assert caught.value.code == "E_MIXED"
    found = Counter(fact.rows for fact in item.facts)
    for fact in item.facts:
        body, notes = build(item, [row for row in rows if row.number in fact.rows], fact)
        assert wanted(fact) in [in_table(each) for each in round_facts(body)]
        assert len(round_facts(body)) == found[fact.rows]
        assert any("F_CONTEXT_DECLARED" in note for note in notes) == bool(fact.declared)


@pytest.mark.parametrize("item", [item for item in SEALED if item.given], ids=lambda item: item.path)
def test_what_the_tool_does_not_say_is_asked_for_and_nothing_else(item: Outcome) -> None:
    rows = read(item)
    with pytest.raises(RefusedError) as caught:
        build_round(
            [Run(role="main", name="a", raw=b"", rows=rows)], RoundOptions(tool="a", slot={}, code={"main": DIGEST})
        )
    assert caught.value.code == "E_MISSING"
    options = {
        "environment": "--environment",
        "commit": "--commit",
        "zone": "--zone",
        "started_at": "--started-at",
        "workload": "--workload",
    }
    asked = {name for name, option in options.items() if option in caught.value.message}
    assert asked == set(item.given) & options.keys()


def read_imported(item: Outcome) -> list[JsonObject]:
    """The statements of a file, with what the table says must be given and nothing else."""
    contexts = {fact.rows[0]: 64 for fact in item.facts} if "context" in item.given else {}
    entries = list(outside_json(*item.path.split("/"))["contexts"])
    given = Given(
        at="2026-08-02T00:00:00Z" if "at" in item.given else "",
        contexts={entries[at]: context for at, context in contexts.items()},
        project="",
    )
    return read_baseline(raw_of(item), item.path, given)


@pytest.mark.parametrize("item", IMPORTED, ids=ids(IMPORTED))
def test_a_file_of_figures_alone_is_imported_with_its_faults(item: Outcome) -> None:
    bodies = read_imported(item)
    found = [(body["slot"]["metric"], body["slot"]["context"], Fraction(body["value"]["value"])) for body in bodies]
    wanted = [(fact.metric, 64 if fact.context is None else fact.context, Fraction(fact.median)) for fact in item.facts]
    assert found == wanted
    assert {fault["code"] for body in bodies for fault in body["faults"]} == set(item.codes)


@pytest.mark.parametrize("item", IMPORTED, ids=ids(IMPORTED))
def test_a_file_of_figures_alone_is_no_round(item: Outcome) -> None:
    with pytest.raises(MalformedError) as caught:
        read(item)
    assert caught.value.code == "E_NO_SAMPLES"
    assert "rungbook import k3-baseline" in caught.value.message


@pytest.mark.parametrize("item", [item for item in IMPORTED if item.given], ids=lambda item: item.path)
def test_what_a_file_of_figures_does_not_say_is_asked_for_and_nothing_else(item: Outcome) -> None:
    with pytest.raises(RefusedError) as caught:
        read_baseline(raw_of(item), item.path, Given(at="", contexts={}, project=""))
    assert caught.value.code == "E_MISSING"
    assert {name for name in ("at", "context") if f"--{name} " in caught.value.message} == set(item.given)
