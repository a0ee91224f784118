"""Every fault that people reported has a test with its number: ``C`` of data files, ``T`` of speed claims."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
LIMITS = TESTS.parent / "LIMITS.md"
# Its numbers are those of another collection: failures of logs.
OTHERS = {"test_failure_cases.py"}


def named(letter: str) -> set[str]:
    """Numbers that a test is named after."""
    found = set()
    for path in TESTS.rglob("test_*.py"):
        if path.name not in OTHERS:
            for name in re.findall(r"^ *def test_((?:[A-Z][0-9]{2}_)+)", path.read_text(), re.MULTILINE):
                found |= set(re.findall(rf"{letter}[0-9]{{2}}", name))
    return found


def numbers(letter: str, last: int) -> set[str]:
    return {f"{letter}{number:02d}" for number in range(1, last + 1)}


def test_every_fault_of_data_files_has_a_test() -> None:
    assert sorted(numbers("C", 44) - named("C")) == []
    assert sorted(named("C") - numbers("C", 44)) == []


def test_every_fault_of_speed_claims_has_a_test_or_is_a_limit() -> None:
    limits = set(re.findall(r"\bT[0-9]{2}\b", LIMITS.read_text()))
    covered = named("T") | limits
    assert sorted(covered - numbers("T", 55)) == []
    assert sorted(numbers("T", 55) - covered) == []
