"""From the rows of a tool's files to a round: what is taken, what must be given, what must not differ."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from ledger.errors import RefusedError
from ledger.ingest.adapter import Row
from ledger.ingest.build import build_round
from ledger.ingest.checks.notes import Said
from ledger.ingest.options import RoundOptions, read_slot
from ledger.ingest.row_notes import name_rows
from ledger.ingest.run import Run
from ledger.metrics import METRICS
from ledger.round import check_round
from ledger.schema import validate_slowly
from tests.cli.samples import BINARY, CODE, SLOT, WEIGHTS

if TYPE_CHECKING:
    from collections.abc import Sequence

ROW = Row(
    number=0,
    metrics=("prefill_tok_s",),
    context=512,
    workload={"depth": 0, "prompt_tokens": 512, "gen_tokens": 0},
    records={"wall_ns": [5, 7], "prompt_tokens": [512, 512]},
    wall_ns=12,
    started_at="2026-11-29T20:00:00Z",
    reported={"avg_ns": 6},
    settings={"threads": "4"},
    environment={"cpu": "one"},
    weights={"name": "tiny"},
    harness={"name": "a-bench", "version": "1"},
    commit="abc1234",
)
OPTIONS = RoundOptions(tool="a-bench", slot=SLOT, code=CODE, weights=WEIGHTS, harness=BINARY)


def row(**members: Any) -> Row:  # noqa: ANN401 - members of a row have any type
    return replace(ROW, **members)


def run(role: str = "main", name: str = "a.json", rows: Sequence[Row] = (ROW,), raw: bytes = b"raw") -> Run:
    return Run(role=role, name=name, raw=raw, rows=rows)


def options(**members: Any) -> RoundOptions:  # noqa: ANN401 - members of the options have any type
    return replace(OPTIONS, **members)


def pair() -> list[Run]:
    return [run("main", "a.json"), run("candidate", "b.json", raw=b"other")]


def refusal(runs: list[Run], given: RoundOptions = OPTIONS) -> RefusedError:
    with pytest.raises(RefusedError) as caught:
        build_round(runs, given)
    return caught.value


# What comes out.


def test_a_built_round_satisfies_its_schema_and_its_checks() -> None:
    body = build_round(pair(), OPTIONS).body
    validate_slowly("round-input", body)
    check_round(body)


def test_every_row_becomes_a_repetition_in_the_order_of_the_runs() -> None:
    runs = [run(rows=(ROW, row(number=1))), run("candidate", "b.json"), run("main", "c.json")]
    reps = build_round(runs, OPTIONS).body["reps"]
    assert [(rep["arm"], rep["order"], rep["source"]) for rep in reps] == [
        ("main", 0, {"attachment": "a.json", "row": 0}),
        ("main", 0, {"attachment": "a.json", "row": 1}),
        ("candidate", 1, {"attachment": "b.json", "row": 0}),
        ("main", 2, {"attachment": "c.json", "row": 0}),
    ]
    assert reps[0]["records"] == ROW.records
    assert not any(rep["warmup"] for rep in reps)


def test_arms_stand_in_the_order_in_which_they_first_ran() -> None:
    runs = [run("candidate", "a.json"), run("main", "b.json"), run("candidate", "c.json")]
    assert [arm["role"] for arm in build_round(runs, OPTIONS).body["arms"]] == ["candidate", "main"]


def test_an_arm_has_its_code_its_settings_and_the_commit_that_the_tool_names() -> None:
    assert build_round(pair(), OPTIONS).body["arms"][1] == {
        "role": "candidate",
        "code_sha256": CODE["candidate"],
        "settings": {"threads": "4"},
        "commit": "abc1234",
    }


def test_a_given_commit_comes_before_that_of_the_tool() -> None:
    arms = build_round(pair(), options(commits={"main": "fed"})).body["arms"]
    assert [arm["commit"] for arm in arms] == ["fed", "abc1234"]


def test_digests_are_joined_with_what_the_tool_says() -> None:
    body = build_round(pair(), OPTIONS).body
    assert body["weights"] == {"sha256": WEIGHTS, "name": "tiny"}
    assert body["harness"] == {"sha256": BINARY, "name": "a-bench", "version": "1"}
    assert body["protocol"] == {"name": "a-bench"}
    assert body["slot"] == {**SLOT, "context": 512}


def test_attachments_carry_the_digest_and_the_size_of_the_untouched_bytes() -> None:
    assert build_round(pair(), OPTIONS).body["attachments"] == [
        {"name": "a.json", "sha256": hashlib.sha256(b"raw").hexdigest(), "size": 3},
        {"name": "b.json", "sha256": hashlib.sha256(b"other").hexdigest(), "size": 5},
    ]


def test_what_was_reported_is_kept_by_source_and_an_empty_report_is_left_out() -> None:
    runs = [run(rows=(ROW, row(number=1, reported={})))]
    assert build_round(runs, OPTIONS).body["reported"] == [
        {"source": {"attachment": "a.json", "row": 0}, "values": {"avg_ns": 6}}
    ]


def test_everything_measured_but_the_slot_is_a_guard_once() -> None:
    rows = (ROW, row(metrics=("wall", "gen_tok_s"), context=0), row(context=1024), row(metrics=("wall",), context=0))
    assert build_round([run(rows=rows)], OPTIONS).body["guards"] == [
        {"metric": "gen_tok_s", "context": 0},
        {"metric": "prefill_tok_s", "context": 1024},
        {"metric": "wall", "context": 0},
    ]


def test_a_round_of_the_slot_alone_has_no_guard() -> None:
    assert build_round(pair(), OPTIONS).body["guards"] == []


def test_further_members_are_added() -> None:
    extra = {"overrides": [{"name": "margin", "value": "512"}], "protocol": {"name": "ab", "version": "2"}}
    body = build_round(pair(), options(extra=extra)).body
    assert {name: body[name] for name in extra} == extra


# The id.


def test_the_derived_id_is_that_of_the_contents() -> None:
    first, again = (build_round(pair(), OPTIONS).body["id"] for _ in range(2))
    assert first == again
    assert first.startswith("a-bench-")
    assert len(first) == len("a-bench-") + 24


@pytest.mark.parametrize(
    ("runs", "given"),
    [
        pytest.param(pair()[::-1], OPTIONS, id="order"),
        pytest.param([pair()[0], run("candidate", "b.json", raw=b"others")], OPTIONS, id="bytes"),
        pytest.param([pair()[0], run("candidate", "c.json", raw=b"other")], OPTIONS, id="name"),
        pytest.param(pair(), options(purpose="reference"), id="purpose"),
        pytest.param(pair(), options(weights="1" * 64), id="weights"),
        pytest.param(pair(), options(harness="1" * 64), id="harness"),
        pytest.param(pair(), options(slot={**SLOT, "quant": "F16"}), id="slot"),
        pytest.param(pair(), options(code={**CODE, "main": "1" * 64}), id="code"),
        pytest.param(pair(), options(commits={"main": "fed"}), id="commit"),
        pytest.param(pair(), options(extra={"overrides": []}), id="extra"),
    ],
)
def test_the_derived_id_changes_with_everything_that_the_round_says(runs: list[Run], given: RoundOptions) -> None:
    assert build_round(runs, given).body["id"] != build_round(pair(), OPTIONS).body["id"]


def test_a_given_id_is_taken() -> None:
    assert build_round(pair(), options(round_id="nightly-7")).body["id"] == "nightly-7"


# What must be given.


def test_everything_that_is_missing_is_named_at_once() -> None:
    error = refusal(pair(), RoundOptions(tool="a-bench", slot={}, code={}))
    assert error.code == "E_MISSING"
    slot = "--slot " + ",".join(f"{axis}=…" for axis in SLOT)
    wanted = [slot, "--code main=", "--code candidate=", "--weights", "--harness"]
    assert [option for option in wanted if option not in error.message] == []


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (options(weights=""), "--weights"),
        (options(harness=""), "--harness"),
        (options(code={"main": CODE["main"]}), "--code candidate="),
        (options(slot={**SLOT, "quant": ""}), "--slot quant="),
    ],
)
def test_only_what_is_missing_is_named(given: RoundOptions, named: str) -> None:
    message = refusal(pair(), given).message
    assert named in message
    assert message.count(" --") == 1


def test_an_unknown_arm_is_refused() -> None:
    error = refusal([run("baseline")])
    assert (error.code, error.where) == ("E_ARM", "--arm")


@pytest.mark.parametrize("axis", SLOT)
def test_a_slot_lacks_no_axis(axis: str) -> None:
    with pytest.raises(RefusedError) as caught:
        read_slot({name: value for name, value in SLOT.items() if name != axis})
    assert (caught.value.code, caught.value.where) == ("E_SLOT", "--slot")
    assert axis in caught.value.message


@pytest.mark.parametrize(
    "context",
    [
        "9" * 5000,
        str(2**53),
        "x",
        "-1",
        "01",
        "1.0",
        "1e3",
        " 1",
        "\N{ARABIC-INDIC DIGIT THREE}",
        "\N{SUPERSCRIPT TWO}",
    ],
)
def test_the_context_of_a_slot_is_a_plain_number(context: str) -> None:
    with pytest.raises(RefusedError) as caught:
        read_slot({**SLOT, "context": context})
    assert caught.value.code == "E_SLOT"


@pytest.mark.parametrize("axis", ["project", "node", "quant"])
@pytest.mark.parametrize("name", [" ", "a b", "a,b", "é", "-a", "a" * 201, "a=b"])
def test_a_name_of_a_slot_is_one_word(axis: str, name: str) -> None:
    with pytest.raises(RefusedError) as caught:
        read_slot({**SLOT, axis: name})
    assert (caught.value.code, caught.value.where) == ("E_SLOT", "--slot")
    assert caught.value.message.startswith(f"{axis} is a name of letters")
    assert read_slot({**SLOT, axis: "a" * 200})[axis] == "a" * 200


def test_a_context_of_0_is_a_context() -> None:
    assert read_slot({**SLOT, "context": "0"})["context"] == 0


def test_the_metric_of_a_slot_is_one_of_the_registry() -> None:
    assert read_slot({**SLOT, "metric": "wall"})["metric"] == "wall"
    with pytest.raises(RefusedError) as caught:
        read_slot({**SLOT, "metric": "speed"})
    assert all(name in caught.value.message for name in METRICS)


def test_what_the_rows_do_not_say_is_asked_for() -> None:
    silent = row(commit=None, environment={}, workload=None, started_at="")
    local = row(number=1, started_at="2026-11-29T20:00:00", workload={})
    message = refusal([run(rows=[silent]), run("candidate", "b.json", [local], raw=b"other")]).message
    assert message.partition("give ")[2].partition(" (")[0].split(", ") == [
        "--commit main=…",
        "--workload gen_tokens=…",
        "--started-at main=…",
        "--zone +HH:MM",
    ]


def test_starts_that_are_given_are_those_of_the_runs_in_their_order() -> None:
    silent = row(started_at="")
    runs = [run(rows=[silent]), run("candidate", "b.json", raw=b"other"), run("main", "c.json", [silent], raw=b"third")]
    given = options(started_at={"main": ["2026-11-29T10:00:00Z", "2026-11-29T23:00:00Z"]})
    reps = build_round(runs, given).body["reps"]
    assert [rep["started_at"][11:13] for rep in reps] == ["10", "20", "23"]


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(["2026-11-29T20:00:00Z", "2026-11-29T21:00:00Z"], id="too-many"),
        pytest.param(["2026-11-29T21:00:00Z"], id="the-tool-says-otherwise"),
        pytest.param(["2026-11-29T20:00:00"], id="no-zone"),
        pytest.param(["yesterday"], id="no-time"),
        pytest.param(["0001-01-01T00:00:00+02:00"], id="before-the-year-1"),
        pytest.param(["9999-12-31T23:59:59-02:00"], id="after-the-year-9999"),
    ],
)
def test_a_start_that_cannot_be_is_refused(given: list[str]) -> None:
    error = refusal([run()], options(started_at={"main": given}))
    assert (error.code, error.where) == ("E_STARTED_AT", "--started-at")


@pytest.mark.parametrize(("zone", "utc"), [("+02:00", "18:00:00"), ("-05:30", "01:30:00"), ("+00:00", "20:00:00")])
def test_a_local_time_is_that_of_the_zone_that_is_given(zone: str, utc: str) -> None:
    local = row(started_at="2026-11-29T20:00:00")
    start = build_round([run(rows=[local])], options(zone=zone)).body["reps"][0]["started_at"]
    assert start == f"2026-11-{30 if zone[0] == '-' else 29}T{utc}Z"


@pytest.mark.parametrize("zone", ["2", "02:00", "+24:00", "+02:60", "+2:00", "CET"])
def test_a_zone_that_is_none_is_refused(zone: str) -> None:
    error = refusal([run()], options(zone=zone))
    assert (error.code, error.where) == ("E_ZONE", "--zone")


def test_a_workload_that_is_given_stands_beside_that_of_the_tool() -> None:
    given = options(workload={"concurrency": 8})
    assert build_round([run()], given).body["reps"][0]["workload"] == {**(ROW.workload or {}), "concurrency": 8}
    error = refusal([run()], options(workload={"depth": 1}))
    assert (error.code, error.where) == ("E_MIXED", "--workload")


def test_a_context_that_the_tool_does_not_say_is_that_of_the_slot() -> None:
    assert build_round([run(rows=[row(context=None)])], OPTIONS).body["reps"][0]["context"] == 512


@pytest.mark.parametrize(("context", "sealed"), [(512, 512), (511, 512), (522, 512), (523, 523), (501, 501)])
def test_a_mean_context_within_2_percent_of_the_slot_is_the_slots(context: int, sealed: int) -> None:
    runs = [run(), run("main", "b.json", [row(context=context, mean_context=True)], raw=b"other")]
    built = build_round(runs, OPTIONS)
    assert built.body["reps"][1]["context"] == sealed
    assert bool(built.notes) == (sealed != context)
    assert all("F_CONTEXT_NEAR" in note for note in built.notes)


def test_a_context_that_is_no_mean_is_taken_as_it_is() -> None:
    runs = [run(), run("main", "b.json", [row(context=511)], raw=b"other")]
    assert build_round(runs, OPTIONS).body["reps"][1]["context"] == 511


# What a round has only once.


@pytest.mark.parametrize(
    ("member", "value", "what"),
    [
        ("environment", {"cpu": "two"}, "node"),
        ("weights", {"name": "huge"}, "weights"),
        ("harness", {"name": "b-bench huge", "version": "1"}, "tools"),
    ],
)
@pytest.mark.parametrize("role", ["main", "candidate"])
def test_runs_on_two_nodes_weights_or_tools_are_not_one_round(member: str, value: object, what: str, role: str) -> None:
    error = refusal([run(), run(role, "b.json", [row(**{member: value})])])
    assert error.code == "E_MIXED"
    assert what in error.message
    assert "two" in error.message or "huge" in error.message or "'2'" in error.message


def test_a_tool_that_is_built_with_the_engine_has_a_version_per_arm() -> None:
    newer = row(harness={"name": "a-bench", "version": "2"})
    body = build_round([run(), run("candidate", "b.json", [newer], raw=b"other")], OPTIONS).body
    assert body["harness"] == {"sha256": BINARY, "name": "a-bench"}
    assert [arm["settings"] for arm in body["arms"]] == [
        {"threads": "4", "harness_version": "1"},
        {"threads": "4", "harness_version": "2"},
    ]
    unsaid = row(harness={"name": "a-bench"})
    body = build_round([run(), run("candidate", "b.json", [unsaid], raw=b"other")], OPTIONS).body
    assert [arm["settings"].get("harness_version") for arm in body["arms"]] == ["1", None]


@pytest.mark.parametrize(
    ("member", "value", "what"),
    [
        ("settings", {"threads": "8"}, "settings"),
        ("commit", "fed", "commits"),
        ("harness", {"name": "a-bench", "version": "2"}, "versions of the tool in"),
    ],
)
def test_runs_of_one_arm_have_one_commit_and_the_same_settings(member: str, value: object, what: str) -> None:
    other = row(**{member: value})
    error = refusal([run(), run("main", "b.json", [other])])
    assert error.code == "E_MIXED"
    assert f"the {what}" in error.message
    assert "the arm main" in error.message
    arm = build_round([run(), run("candidate", "b.json", [other])], OPTIONS).body["arms"][1]
    assert arm["settings"] == other.settings | ({"harness_version": "2"} if member == "harness" else {})


def test_rows_of_one_file_are_held_to_the_same() -> None:
    assert refusal([run(rows=(ROW, row(settings={})))]).code == "E_MIXED"


def test_a_given_commit_settles_which_one_it_is() -> None:
    runs = [run(), run("main", "b.json", [row(commit="fed")])]
    assert build_round(runs, options(commits={"main": "abc"})).body["arms"][0]["commit"] == "abc"


# Notes.


def test_files_in_another_order_than_they_ran_are_noted_once_each() -> None:
    times = ["2026-11-29T20:00:02Z", "2026-11-29T20:00:01Z", "2026-11-29T20:00:01Z", "2026-11-29T20:00:00Z"]
    runs = [run("main", f"{at}.json", [row(started_at=time)]) for at, time in enumerate(times)]
    notes = build_round(runs, OPTIONS).notes
    assert [note.split(" is given")[0] for note in notes] == ["F_ORDER_TIME: 1.json", "F_ORDER_TIME: 3.json"]


def test_notes_of_a_row_name_its_file_and_number() -> None:
    built = build_round([run(rows=(ROW, row(number=1, notes=("F_X: odd", "F_Y: odder"))))], OPTIONS)
    assert built.notes == ["a.json, row 1: F_X: odd", "a.json, row 1: F_Y: odder"]


def test_what_holds_for_rows_of_a_file_is_said_once_with_the_rows() -> None:
    def rows(*numbers: int, note: str = "F_X: odd") -> list[Row]:
        starts = [f"2026-11-29T20:00:{at:02}Z" for at in numbers]
        return [row(number=at, notes=(note,), started_at=start) for at, start in zip(numbers, starts, strict=True)]

    runs = [
        run("main", "a.json", [*rows(0, 1, 2), *rows(3, note="F_X: other"), *rows(5)]),
        run("candidate", "a.json", rows(7, 8)),
        run("main", "b.json", rows(10, 11), raw=b"other"),
        run("main", "b.json", rows(12), raw=b"a second file of one name"),
    ]
    built = build_round(runs, OPTIONS)
    assert built.notes == [
        "a.json, rows 0-2, 5, 7-8: F_X: odd",
        "a.json, row 3: F_X: other",
        "b.json, rows 10-11: F_X: odd",
        "b.json, row 12: F_X: odd",
    ]
    assert [fault["where"] for fault in built.body["faults"]][:2] == ["a.json, rows 0-2, 5, 7-8", "a.json, row 3"]
    assert built.said == {
        *(Said("a.json", at, "F_X") for at in (0, 1, 2, 3, 5, 7, 8)),
        *(Said("b.json", at, "F_X") for at in (10, 11, 12)),
    }


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ([3], "row 3"),
        ([3, 3], "row 3"),
        ([2, 1], "rows 1-2"),
        ([0, 2, 4], "rows 0, 2, 4"),
        (range(0, 60, 2), "rows " + ", ".join(map(str, range(0, 60, 2)))),
        (range(0, 70, 2), "35 rows from 0 to 68"),
        (range(10**4), "rows 0-9999"),
    ],
)
def test_rows_are_listed_where_they_are_few_and_else_counted(numbers: Sequence[int], text: str) -> None:
    assert name_rows(numbers) == text


def test_a_round_in_order_has_no_note() -> None:
    assert build_round(pair(), OPTIONS).notes == []


# Workloads, warm-up, facts of the node.


def test_one_fact_has_one_workload() -> None:
    error = refusal([run(rows=[row(), row(number=1, workload={"prompt_tokens": 256, "gen_tokens": 256})])])
    assert error.code == "E_MIXED"
    assert "'prompt_tokens': 256" in error.message
    other_context = row(number=1, context=1024, workload={"depth": 512, "prompt_tokens": 512, "gen_tokens": 0})
    assert build_round([run(rows=[row(), other_context])], OPTIONS).body["reps"][1]["context"] == 1024


def test_warm_up_is_kept_guards_nothing_and_may_be_of_another_workload() -> None:
    cold = row(warmup=True, context=512, workload={"prompt_tokens": 1}, metrics=("prefill_tok_s", "wall"))
    body = build_round([run(rows=[cold, row(number=1)])], OPTIONS).body
    assert [rep["warmup"] for rep in body["reps"]] == [True, False]
    assert body["guards"] == []


def test_facts_of_the_node_that_are_given_stand_beside_those_of_the_tool() -> None:
    given = options(environment={"gpu": "H200", "cpu": "one"})
    assert build_round([run()], given).body["environment"] == {"cpu": "one", "gpu": "H200"}
    error = refusal([run()], options(environment={"cpu": "two"}))
    assert (error.code, error.where) == ("E_MIXED", "--environment")
    assert "'one'" in error.message


def test_a_round_without_any_fact_of_the_node_asks_for_one() -> None:
    silent = run(rows=[row(environment={})])
    assert "--environment" in refusal([silent]).message
    assert build_round([silent], options(environment={"gpu": "H200"})).body["environment"] == {"gpu": "H200"}


# Rows.


def test_rows_of_one_file_can_be_runs_of_two_arms() -> None:
    file = [row(number=at, started_at=f"2026-11-29T20:00:0{at}Z") for at in range(3)]
    runs = [run("main", rows=file).select([0]), run("candidate", rows=file).select({1})]
    built = build_round(runs, OPTIONS)
    assert [(rep["arm"], rep["source"]["row"]) for rep in built.body["reps"]] == [("main", 0), ("candidate", 1)]
    assert [item["name"] for item in built.body["attachments"]] == ["a.json"]
    assert [note.partition(":")[0] for note in built.notes] == ["F_ROWS_LEFT", "F_ROWS_LEFT"]
    assert "2 rows of a.json" in built.notes[0]


@pytest.mark.parametrize("role", ["main", "candidate"])
def test_one_row_is_no_two_runs(role: str) -> None:
    error = refusal([run("main"), run(role)])
    assert (error.code, error.where) == ("E_COPIED_SAMPLES", "--arm")
    assert f"for main and {role}" in error.message


def test_a_row_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(RefusedError) as caught:
        run(rows=[row(), row(number=2)]).select([2, 1])
    assert (caught.value.code, caught.value.where) == ("E_ROW", "--row")
    assert caught.value.message == "a.json has no row 1; it has 0, 2"


def test_all_rows_leave_nothing_out() -> None:
    assert run(rows=[row(), row(number=1)]).select([0, 1]) == run(rows=[row(), row(number=1)])
