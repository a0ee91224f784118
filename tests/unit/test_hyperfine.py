"""The adapter of hyperfine: a command that died is no fast command, and a node that drifts compares nothing."""

# ruff: noqa: N802 - the names of faults have capitals

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from ledger.errors import MalformedError, RefusedError
from ledger.ingest import ADAPTERS
from ledger.ingest.build import build_round
from ledger.ingest.options import RoundOptions
from ledger.ingest.run import Run
from ledger.kinds import check_body
from ledger.schema import validate
from ledger.scoring.facts import round_facts
from tests.support.timed import HYPERFINE, changed, raw

READ = ADAPTERS["hyperfine"].read


def read(document: object) -> Any:  # noqa: ANN401 - the rows
    return READ(raw(document), "run.json")


def of_times(*commands: tuple[str, list[float]]) -> dict[str, Any]:
    return {
        "results": [{"command": command, "times": times, "exit_codes": [0] * len(times)} for command, times in commands]
    }


def refusal(document: object) -> tuple[str, str]:
    with pytest.raises(MalformedError) as caught:
        read(document)
    return caught.value.code, caught.value.where


def codes(document: object) -> list[list[str]]:
    return [[note.partition(":")[0] for note in row.notes] for row in read(document)]


def test_a_command_is_a_row() -> None:
    (row,) = read(HYPERFINE)
    assert (row.number, row.metrics, row.context, row.workload) == (0, ("wall",), 0, {})
    assert row.records == {"wall_ns": [300_000_000, 200_000_000, 400_000_000]}
    assert (row.wall_ns, row.started_at, row.commit) == (900_000_000, "", None)
    assert row.settings == {"command": "sort big.txt", "parameters/threads": "4"}
    assert row.reported == {
        "mean": "0.3",
        "stddev": "0.1",
        "median": "0.3",
        "user": "0.25",
        "system": "0.05",
        "min": "0.2",
        "max": "0.4",
        "memory_usage_byte": [4096, 4096, 8192],
        "exit_codes": [0, 0, 0],
    }
    assert (row.environment, row.weights, row.harness) == ({}, {}, {"name": "hyperfine"})
    assert row.notes == ()


def test_everything_else_that_is_plain_is_a_setting() -> None:
    (row,) = read(changed(changed(HYPERFINE, "results/0/parameter", "4"), "shell", None))
    assert row.settings == {"command": "sort big.txt", "parameter": "4", "parameters/threads": "4", "shell": ""}
    assert refusal(changed(HYPERFINE, "results/0/warmup", {"runs": 3})) == ("E_FIELD", "run.json/results/0/warmup")
    assert refusal(changed(HYPERFINE, "system", [])) == ("E_FIELD", "run.json/system")
    assert refusal(changed(HYPERFINE, "results/0/parameters/threads", [4])) == (
        "E_FIELD",
        "run.json/results/0/parameters/threads",
    )


@pytest.mark.parametrize(
    ("path", "value", "code"),
    [
        ("results", [], "E_EMPTY_RESULTS"),
        ("results/0/times", ..., "E_NO_SAMPLES"),
        ("results/0/times", None, "E_NO_SAMPLES"),
        ("results/0/times", [], "E_EMPTY_RESULTS"),
        ("results/0/times", 0.3, "E_FIELD"),
        ("results/0/command", ..., "E_FIELD"),
        ("results/0/command", 7, "E_FIELD"),
        ("results/0/exit_codes", [0, 0], "E_FIELD"),
        ("results/0/exit_codes", 0, "E_FIELD"),
        ("results/0/exit_codes/1", "0", "E_FIELD"),
        ("results/0/exit_codes/1", False, "E_FIELD"),
        ("results/0/exit_codes/1", 1, "E_EXIT_NONZERO"),
        ("results/0/exit_codes/2", -11, "E_EXIT_NONZERO"),
        ("results/0/exit_codes/0", None, "E_EXIT_NONZERO"),
        ("results/0", [], "E_FORMAT"),
    ],
)
def test_what_is_no_run_is_refused_with_its_place(path: str, value: object, code: str) -> None:
    assert refusal(changed(HYPERFINE, path, value)) == (code, f"run.json/{path}")


def test_all_runs_of_a_file_together_are_bounded() -> None:
    long = of_times(("sleep", [5e6, 5e6]))
    assert refusal(long) == ("E_SAMPLE", "run.json/results/0/times")


def test_a_file_that_keeps_no_exit_status_is_flagged() -> None:
    assert codes(changed(HYPERFINE, "results/0/exit_codes", ...)) == [["F_EXIT_UNKNOWN"]]
    assert codes(changed(HYPERFINE, "results/0/exit_codes", None)) == [["F_EXIT_UNKNOWN"]]


def test_one_run_has_no_deviation() -> None:
    one = {"command": "ls", "mean": 0.5, "stddev": None, "times": [0.5], "exit_codes": [0]}
    assert codes({"results": [one]}) == [["F_N1"]]
    assert codes(of_times(("ls", [0.5, 0.25]))) == [[]]


@pytest.mark.parametrize("name", ["mean", "median", "min", "max", "stddev"])
def test_a_printed_figure_that_the_runs_do_not_give_is_flagged(name: str) -> None:
    (row,) = read(changed(HYPERFINE, f"results/0/{name}", 0.300001))
    assert row.notes == (f"F_REPORTED_MISMATCH: {name} 0.300001 is not that of the samples",)


def test_processor_times_are_kept_and_not_compared() -> None:
    assert codes(changed(changed(HYPERFINE, "results/0/user", 99.5), "results/0/system", 0)) == [[]]


# Cases of faults.


def test_C24_a_command_that_died_is_not_the_fastest() -> None:
    died = {"command": "./bench big.txt", "mean": 3e-06, "median": 0.0, "times": [9e-06, 0.0, 0.0]}
    assert refusal({"results": [died]}) == ("E_ZERO_TIME", "run.json/results/0/times/1")
    known = died | {"exit_codes": [127, 127, 127]}
    assert refusal({"results": [known]}) == ("E_EXIT_NONZERO", "run.json/results/0/exit_codes/0")
    assert refusal({"results": [died | {"times": [4e-10]}]}) == ("E_ZERO_TIME", "run.json/results/0/times/0")


def test_C27_two_commands_on_a_node_that_slows_down_are_not_compared_without_a_word() -> None:
    rising = of_times(("base", [1278.389, 1317.287, 1320.82]), ("head", [1322.303, 1338.569, 1369.92]))
    for row in read(rising):
        assert row.notes == ("F_DRIFT: all 6 runs of the file rise in the order of time",)
    falling = of_times(("base", [6.5, 5.5, 4.5]), ("head", [3.5, 2.5]))
    assert [row.notes for row in read(falling)] == [("F_DRIFT: all 5 runs of the file fall in the order of time",)] * 2


@pytest.mark.parametrize(
    "times",
    [
        [[50.3, 50.1, 50.0]],
        [[4.5, 3.5, 2.5, 1.5]],  # four are too few
        [[1.5, 2.5, 3.5, 4.5, 4.5]],  # two alike are no rise
        [[1.5, 2.5, 3.5], [3.25, 4.5]],
    ],
)
def test_C28_a_few_falling_runs_are_no_drift(times: list[list[float]]) -> None:
    assert codes(of_times(*((f"run {at}", each) for at, each in enumerate(times)))) == [[]] * len(times)


# Two commands are two arms when the caller says so.


def options(*roles: str) -> RoundOptions:
    return RoundOptions(
        tool="hyperfine",
        slot={"project": "p", "node": "n", "quant": "none", "context": "0", "metric": "wall"},
        code=dict.fromkeys(roles, "0" * 64),
        weights="0" * 64,
        harness="0" * 64,
        environment={"cpu": "a cpu"},
        commits=dict.fromkeys(roles, "abc1234"),
        started_at={role: [f"2027-01-15T08:0{at}:00Z"] for at, role in enumerate(roles)},
    )


def test_two_commands_are_one_round_only_as_two_arms() -> None:
    contents = raw(of_times(("old", [0.5, 0.25]), ("new", [0.125, 0.25])))
    whole = Run(role="main", name="run.json", raw=contents, rows=READ(contents, "run.json"))
    with pytest.raises(RefusedError) as caught:
        build_round([whole], options("main"))
    assert caught.value.code == "E_MIXED"
    other = Run(role="candidate", name="run.json", raw=contents, rows=whole.rows)
    body = build_round([whole.select([0]), other.select([1])], options("main", "candidate")).body
    validate("round-input", body)
    check_body("round", body)
    assert {fact.arm: fact.median for fact in round_facts(body)} == {
        "main": Fraction(375),
        "candidate": Fraction(375, 2),
    }
