"""C23: no file says which direction is better, whatever the tool; a parameter of what was measured may be called so."""

# ruff: noqa: N802 - the names of cases have capitals

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from ledger.errors import MalformedError
from ledger.ingest import ADAPTERS
from ledger.ingest.companions import read_whole
from ledger.ingest.direction import DIRECTIONS, refuse_directions
from tests.support.examined import body_of, examine, refusal, rep, stream
from tests.support.llama_bench import ROW as LLAMA
from tests.support.serving import dump
from tests.support.timed import changed
from tests.support.timed import raw as dumped
from tests.support.tool_seeds import seeds

if TYPE_CHECKING:
    from collections.abc import Iterator

FILES = {tool: files[-1][1] for tool, files in seeds().items()}
FILES |= {
    "llama-bench": dump(LLAMA, LLAMA | {"samples_ns": [1001, 2000, 4000]}),
    "k3-baseline": dumped({"model": "m", "contexts": {"64": {"decode_tps": 1.5}}}),
}
ROWS = {
    "hyperfine": "results/0",
    "pytest-benchmark": "benchmarks/0",
    "google-benchmark": "benchmarks/1",
    "tandem-block-ab": "runs/1",
    "tandem-forced": "rows/0",
}


def documents(raw: bytes) -> tuple[list[Any], bool]:
    """The lines of a file, or the one document that it is."""
    try:
        return [json.loads(raw)], False
    except json.JSONDecodeError:
        return [json.loads(line) for line in raw.splitlines() if line.strip()], True


def places(tool: str) -> Iterator[tuple[bytes, str, str]]:
    """The file with a direction in each place, the member, and the end of the place."""
    found, lined = documents(FILES[tool])
    for name in DIRECTIONS:
        for at, document in enumerate(found[:2]):
            row = ROWS.get(tool, "")
            paths = ["0/"] if isinstance(document, list) else ["", f"{row}/"] if row else [""]
            for path in paths:
                edited = [changed(each, f"{path}{name}", value=True) if each is document else each for each in found]
                raw = b"\n".join(map(dumped, edited))
                yield raw, name, f"/{at}/{path}{name}" if lined else f"/{path}{name}"


def refused(tool: str, raw: bytes) -> MalformedError:
    with pytest.raises(MalformedError) as caught:
        read_whole(ADAPTERS[tool], raw, "run", lambda _: None)
    return caught.value


def test_every_tool_is_here() -> None:
    assert FILES.keys() == ADAPTERS.keys()


@pytest.mark.parametrize("tool", ADAPTERS)
def test_C23_a_file_of_any_tool_that_says_a_direction_is_refused_with_the_place(tool: str) -> None:
    for raw, name, where in places(tool):
        error = refused(tool, raw)
        assert (error.code, error.message.partition(":")[0]) == ("E_DIRECTION", f"it says {name}")
        assert error.where in {f"run{where}", f"run/0{where}"}  # the only line of a file is a line


def test_C23_rows_by_name_are_rows_too() -> None:
    for member in ("results", "metrics", "records", "contexts"):
        with pytest.raises(MalformedError) as caught:
            refuse_directions({member: {"a/b": {"better": "higher"}}}, "run")
        assert caught.value.where == f"run/{member}/a~1b/better"


@pytest.mark.parametrize("name", ["params", "parameters", "settings"])
def test_C23_settings_may_have_such_a_name(name: str) -> None:
    row = {name: {"direction": "up"}}
    for value in (row, [row], {"results": [row]}, {name: [{"better": 1}]}, {"results": {"direction": [1]}}, 1, None):
        refuse_directions(value, "run")


@pytest.mark.parametrize("name", DIRECTIONS)
def test_C23_what_a_round_reports_says_no_direction(name: str) -> None:
    code, where, message = refusal(body_of(rep(stream((4, 200, 230))), printed={"ttft_ms": "200", name: "true"}))
    assert (code, where) == ("E_DIRECTION", f"/reported/0/values/{name}")
    assert message.startswith(f"it says {name}: ")
    assert examine(body_of(rep(stream((4, 200, 230))), printed={f"extra_info/{name}": "up"})) == []
