"""A new tool is one new file and one line in the table: shown with a toy whose output is ``seconds=0.25`` a line.

The class below is all of the file; the fixture is the line. Everything else (recognition, ``ingest``, ``append``,
``attest``, the checks, the listing) works with it as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ledger.errors import MalformedError
from ledger.ingest import ADAPTERS
from ledger.ingest.adapter import Row
from tests.cli.program import REFUSED
from tests.cli.samples import BINARY, CODE, NODE, WEIGHTS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Desk


class Stopwatch:
    """The whole adapter of a tool that prints ``seconds=0.25`` for every run of a command."""

    name = "stopwatch"
    about = "stopwatch, one line per run"

    def recognises(self, raw: bytes) -> bool:
        return raw.startswith(b"seconds=")

    def read(self, raw: bytes, what: str) -> list[Row]:
        walls = [_wall_ns(line, f"{what}/{at}") for at, line in enumerate(raw.splitlines())]
        return [
            Row(
                number=0,
                metrics=("wall",),
                context=0,
                workload={},
                records={"wall_ns": walls},
                wall_ns=sum(walls),
                started_at="",
                reported={},
                settings={},
                environment={},
                weights={},
                harness={"name": self.name},
                commit=None,
                notes=("F_N1: one sample",) if len(walls) == 1 else (),
            )
        ]


def _wall_ns(line: bytes, where: str) -> int:
    whole, point, places = line.decode("ascii", "replace").removeprefix("seconds=").partition(".")
    if not (whole.isdecimal() and point and places.isdecimal()):
        raise MalformedError("E_SAMPLE", f"expected seconds=0.25, found {line[:80]!r}", where=where)
    return int(whole + places.ljust(9, "0")[:9])


@pytest.fixture(autouse=True)
def _line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ADAPTERS, "stopwatch", Stopwatch())


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    found = []
    for at, second in enumerate(["0.25", "0.20", "0.26", "0.21"]):
        path = tmp_path / f"{at}.txt"
        path.write_text(f"seconds={second}\nseconds={second}1\nseconds={second}2\n")
        found.append(path)
    return found


def words(files: list[Path]) -> list[str]:
    found = ["--slot", f"project=demo,node={NODE},quant=none,context=0,metric=wall"]
    found += ["--weights", WEIGHTS, "--harness", BINARY, "--environment", "gpu=H200"]
    for at, (role, path) in enumerate(zip(("main", "candidate") * 2, files, strict=True)):
        found += ["--arm", f"{role}={path}", "--started-at", f"{role}=2026-11-29T20:00:0{at}Z"]
    for role in ("main", "candidate"):
        found += ["--code", f"{role}={CODE[role]}", "--commit", f"{role}=abc1234"]
    return found


def test_its_files_are_recognised_listed_and_shown(desk: Desk, files: list[Path]) -> None:
    assert "stopwatch, one line per run" in desk.run("ingest", "--list").out
    (file,) = desk.run("ingest", files[0], "--json").document("ingest")["files"]
    assert (file["tool"], file["error"]) == ("stopwatch", None)


def test_its_files_are_sealed_in_one_command(desk: Desk, files: list[Path]) -> None:
    desk.run("append", *words(files), "--key", desk.key("scorer"))
    facts = desk.run("show", "3", "--json").document("show")["facts"]
    assert {(fact["arm"], fact["metric"], fact["median"]) for fact in facts} == {
        ("main", "wall", "256.000000"),
        ("candidate", "wall", "206.000000"),
    }


def test_it_can_be_named_and_its_refusals_name_the_place(desk: Desk, files: list[Path]) -> None:
    files[1].write_text("seconds=0.25\nseconds=soon\n")
    done = desk.run("append", "--from", "stopwatch", *words(files), "--key", desk.key("scorer"), status=REFUSED)
    assert done.code() == "E_SAMPLE"
    assert "1.txt/1" in done.err
    assert desk.size == 3
