"""``rungbook faults``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ledger.ingest.faults import CATALOGUE
from tests.cli.program import OK, REFUSED, run

if TYPE_CHECKING:
    from pathlib import Path


def test_the_catalogue_is_printed_without_a_ledger(tmp_path: Path) -> None:
    done = run("faults", cwd=tmp_path)
    assert done.status == OK
    head, *rows = done.out.splitlines()
    assert head.split() == ["code", "severity", "meaning"]
    assert [row.split()[0] for row in rows] == list(CATALOGUE)


@pytest.mark.parametrize("code", ["E_NO_SAMPLES", "e_no_samples"])
def test_a_code_is_explained_with_what_to_do(tmp_path: Path, code: str) -> None:
    done = run("faults", code, cwd=tmp_path)
    entry = CATALOGUE["E_NO_SAMPLES"]
    assert done.out == f"E_NO_SAMPLES  refuse\n  {entry.meaning}\n  to do: {entry.remedy}\n"


def test_as_json(tmp_path: Path) -> None:
    whole = run("faults", "--json", cwd=tmp_path).document("faults")["faults"]
    assert whole == [entry._asdict() for entry in CATALOGUE.values()]
    few = run("faults", "F_N1", "E_WALL", "--json", cwd=tmp_path).document("faults")["faults"]
    assert [each["code"] for each in few] == ["F_N1", "E_WALL"]


def test_an_unknown_code_is_refused_with_what_is_near(tmp_path: Path) -> None:
    done = run("faults", "E_NO_SAMPLE", cwd=tmp_path)
    assert (done.status, done.code()) == (REFUSED, "E_CODE")
    assert "E_NO_SAMPLES" in done.err
    assert "run rungbook faults for all" in run("faults", "?", cwd=tmp_path).err
