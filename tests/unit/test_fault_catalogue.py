"""The catalogue of codes: complete, used, tested, and never silently changed."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest

from ledger.flags import QUARANTINE
from ledger.ingest.fault_codes_ledger import LEDGER
from ledger.ingest.fault_codes_verdict import SAID, VERDICTS
from ledger.ingest.faults import CATALOGUE

PACKAGE = Path(sys.modules["ledger"].__path__[0])
TESTS = Path(__file__).resolve().parents[1]
# Codes of tools' files and of rounds; foreign logs have a table of their own, from which the catalogue takes theirs.
SOURCES = [
    *(
        path
        for path in (PACKAGE / "ingest").rglob("*.py")
        if path.parent.name != "sparkinfer" and not path.name.startswith("fault")
    ),
    PACKAGE / "round.py",
]
EXPECTING = ("pytest.mark.parametrize", "pytest.param", "pytest.raises")
OF_VERDICTS = [code for code, *_ in (*VERDICTS, *SAID)]
READERS = ["E_UTF8", "E_JSON", "E_DUPLICATE_KEY", "E_NONFINITE", "E_FRACTION", "E_DEPTH", "E_SIZE", "E_LFS_POINTER"]


def codes_in(text: str) -> set[str]:
    return set(re.findall(r"\b[EFK]_[A-Z][A-Z0-9_]*", text.replace("TYPE_CHECKING", "")))


def used() -> set[str]:
    return {code for path in SOURCES for code in codes_in(path.read_text())}


def test_every_code_that_a_file_or_a_round_can_have_is_in_the_catalogue() -> None:
    assert used() | set(READERS) <= set(CATALOGUE)


def test_every_code_of_the_catalogue_is_used() -> None:
    tables = {*(PACKAGE / "ingest").glob("fault*.py")}
    everywhere = "".join(path.read_text() for path in PACKAGE.rglob("*.py") if path not in tables)
    assert [code for code in CATALOGUE if f"{code}" not in everywhere] == []


def test_every_code_is_in_a_test() -> None:
    tests = "".join(path.read_text() for path in TESTS.rglob("*.py") if path.name != Path(__file__).name)
    assert [code for code in CATALOGUE if code not in tests] == []


def asserted(path: Path) -> set[str]:
    """Codes that a file of tests expects: in an assertion, in a table of cases, or of an error."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        is_table = isinstance(node, ast.Assign | ast.AnnAssign) and node.col_offset == 0
        is_call = isinstance(node, ast.Call) and ast.unparse(node.func) in EXPECTING
        if isinstance(node, ast.Assert) or is_table or is_call:
            found |= codes_in(" ".join(texts_in(node)))
    return found


def texts_in(node: ast.AST) -> list[str]:
    constants = [part.value for part in ast.walk(node) if isinstance(part, ast.Constant)]
    return [value for value in constants if isinstance(value, str)]


def test_every_code_is_expected_by_a_test_and_not_only_named() -> None:
    expected = {
        code for path in TESTS.rglob("test_*.py") if path.name != Path(__file__).name for code in asserted(path)
    }
    assert [code for code in CATALOGUE if code not in expected] == []


def test_every_code_that_a_verdict_can_have_is_in_the_catalogue() -> None:
    scoring = [path for path in (PACKAGE / "scoring").glob("*.py") if path.name != "lock.py"]
    found = {code for path in scoring for code in codes_in(path.read_text())}
    assert found - {*CATALOGUE} == set()
    assert {*OF_VERDICTS} - {"F_CLOCK_BACK", "F_SEQ_GAP"} <= found  # those two are of the ledger


def test_every_code_of_quarantine_is_a_flag_of_the_catalogue() -> None:
    assert {CATALOGUE[code].severity for code in QUARANTINE} == {"quarantine"}


@pytest.mark.parametrize("code", CATALOGUE)
def test_an_entry_is_whole(code: str) -> None:
    entry = CATALOGUE[code]
    assert entry.code == code
    serious = "quarantine" if code in QUARANTINE else "flag"
    elsewhere = {**dict.fromkeys(OF_VERDICTS, "verdict"), **{code: "ledger" for code, *_ in LEDGER}}
    assert entry.severity == elsewhere.get(code, "refuse" if code.startswith("E_") else serious)
    for text in (entry.meaning, entry.remedy):
        assert text
        assert "\n" not in text
        assert not text.endswith(".")
