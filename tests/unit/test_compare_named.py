"""C39: a comparison pairs runs of one benchmark: what names it is part of the test."""

# ruff: noqa: N802 - the names of cases have capitals

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

import pytest

from ledger.errors import RefusedError
from ledger.ingest import ADAPTERS
from ledger.ingest.sides import ToolFile, changed_choices, side_of_rows, sides_of_round
from ledger.scoring.compare.answer import compare_pairs
from tests.support.rounds import round_body
from tests.support.timed import ASV, GOOGLE, HYPERFINE, PYTEST
from tests.support.timed import raw as dumped

if TYPE_CHECKING:
    from ledger.scoring.compare.side import Side


def google(name: str, ns: float) -> dict[str, Any]:
    row = {"name": name, "run_name": name, "run_type": "iteration", "repetition_index": 0, "iterations": 1000}
    return {
        "context": deepcopy(GOOGLE["context"]),
        "benchmarks": [row | {"real_time": ns, "cpu_time": ns, "time_unit": "ns"}],
    }


def pytest_file(name: str, ns: float, **params: object) -> dict[str, Any]:
    document = deepcopy(PYTEST)
    stats = {"rounds": 1, "iterations": 1, "data": [ns / 1e9]}
    document["benchmarks"] = [
        {"name": name, "fullname": f"bench.py::{name}", "params": params, "extra_info": {}, "stats": stats}
    ]
    return document


def asv(name: str, ns: float, argument: str = "1") -> dict[str, Any]:
    document = deepcopy(ASV)
    document["result_columns"] = ["result", "params", "samples", "stats_number"]
    document["results"] = {name: [[ns / 1e9], [[argument]], [[ns / 1e9]], [1]]}
    return document


def hyperfine(name: str, ns: float) -> dict[str, Any]:
    document = deepcopy(HYPERFINE)
    document["results"] = [{"command": name, "times": [ns / 1e9], "exit_codes": [0]}]
    return document


TOOLS = {"google-benchmark": google, "pytest-benchmark": pytest_file, "asv": asv, "hyperfine": hyperfine}
NAMED = ("google-benchmark", "pytest-benchmark", "asv")
TIMES = {"a": 100, "b": 3000, "c": 9000, "d": 500}


def side(label: str, tool: str, names: str, times: int = 1) -> Side:
    """One file for each time and name, each with durations of its own."""
    files = []
    for at in range(times):
        for name in names:
            raw = dumped(TOOLS[tool](name, TIMES[name] + 2 * at + (label == "other")))
            file = f"{label}{at}{name}"
            files.append(ToolFile(name=file, raw=raw, tool=tool, rows=ADAPTERS[tool].read(raw, file)))
    return side_of_rows(label, files)


def refusal(base: Side, other: Side) -> tuple[str, str]:
    with pytest.raises(RefusedError) as caught:
        compare_pairs(base, other)
    return caught.value.code, caught.value.message


@pytest.mark.parametrize("tool", NAMED)
def test_C39_two_benchmarks_are_no_two_builds(tool: str) -> None:
    code, message = refusal(side("base", tool, "c", 6), side("other", tool, "d", 6))
    assert code == "E_NO_PAIRS"
    assert message.startswith("no test was run on both sides; base: ")


@pytest.mark.parametrize("tool", TOOLS)
def test_C39_a_benchmark_that_is_gone_is_named(tool: str) -> None:
    every = side("base", tool, "abc")
    code, message = refusal(every, side("other", tool, "ab"))
    assert (code, message.startswith("other lacks "), message.split(", ")[1][-1]) == ("E_UNPAIRED", True, "c")
    code, message = refusal(every, side("other", tool, "abd"))
    assert (code, message.startswith("other lacks "), message.split(", ")[1][-1]) == ("E_UNPAIRED", True, "c")
    code, message = refusal(side("base", tool, "a"), side("other", tool, "ac"))
    assert (code, message.startswith("base lacks "), message.split(", ")[1][-1]) == ("E_UNPAIRED", True, "c")


@pytest.mark.parametrize("tool", TOOLS)
def test_C39_the_same_benchmarks_are_compared_each_with_itself(tool: str) -> None:
    answer = compare_pairs(side("base", tool, "abc"), side("other", tool, "cab"))
    assert len(answer.pairs) == 3
    for item in answer.pairs:
        assert item.base is not None
        assert item.other is not None
        assert 0 < item.other - item.base <= 1


@pytest.mark.parametrize(("tool", "change"), [("pytest-benchmark", {"size": 9}), ("asv", {"argument": "2"})])
def test_C39_other_parameters_are_another_benchmark(tool: str, change: dict[str, Any]) -> None:
    raws = [dumped(TOOLS[tool]("a", 100)), dumped(TOOLS[tool]("a", 101, **change))]
    one, two = (
        side_of_rows(str(at), [ToolFile(name=str(at), raw=raw, tool=tool, rows=ADAPTERS[tool].read(raw, "f"))])
        for at, raw in enumerate(raws)
    )
    assert refusal(one, two)[0] == "E_NO_PAIRS"


@pytest.mark.parametrize("tool", NAMED)
def test_C39_what_names_a_benchmark_is_no_choice(tool: str) -> None:
    assert changed_choices(side("base", tool, "c"), side("other", tool, "d")) == []


def test_C39_one_command_a_side_is_a_comparison_of_two_commands() -> None:
    base, other = side("base", "hyperfine", "c", 3), side("other", "hyperfine", "d", 3)
    assert changed_choices(base, other) == ["command"]
    (found,) = compare_pairs(base, other).pairs
    assert "command" not in found.test
    assert changed_choices(side("base", "hyperfine", "ab"), side("other", "hyperfine", "cd")) == []


def test_C39_a_round_names_its_benchmark_too() -> None:
    body = round_body("r")
    body["harness"]["name"] = "google-benchmark"
    body["arms"][0]["settings"] = {"name": "c", "run_name": "c", "threads": "1"}
    main = sides_of_round("r.json", body)["main"]
    assert main.runs[0].test.endswith(", name c")
    assert main.choices == {"threads": "1"}
