"""For every code of refusal something that is just refused with it, and the same with one thing changed, just taken.

A code that is given too early turns honest measurements away, and one that is given too late seals what cannot be. The
tables must hold every code (`test_every_code_of_refusal_has_its_two_sides`). What is taken is taken whole: rows make a
round that would be signed, and a comparison is decided.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ledger.errors import LedgerError
from ledger.ingest.faults import CATALOGUE
from tests.support.refusal_compare import COMPARE
from tests.support.refusal_files import FILES
from tests.support.refusal_rounds import ROUNDS

if TYPE_CHECKING:
    from pathlib import Path

EDGES = FILES | ROUNDS | COMPARE


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each side has a folder of its own."""
    monkeypatch.chdir(tmp_path)


def test_every_code_of_refusal_has_its_two_sides() -> None:
    assert EDGES.keys() == {code for code, entry in CATALOGUE.items() if entry.severity == "refuse"}
    assert len(EDGES) == len(FILES) + len(ROUNDS) + len(COMPARE)


@pytest.mark.parametrize("code", sorted(EDGES))
def test_what_has_it_is_refused_with_it(code: str) -> None:
    with pytest.raises(LedgerError) as caught:
        EDGES[code].has()
    assert caught.value.code == code


@pytest.mark.parametrize("code", sorted(EDGES))
def test_what_just_has_it_not_is_taken(code: str) -> None:
    EDGES[code].has_not()
