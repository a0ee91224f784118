"""Every fault that people reported has a test with its number: ``C`` of data files, ``T`` of speed claims."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
LIMITS = TESTS.parent / "LIMITS.md"
# Its numbers are those of another collection: failures of logs.
OTHERS = {"test_failure_cases.py"}
AWAITED = {
    "T01", "T03", "T05", "T08", "T09", "T11", "T12", "T13", "T14", "T15", "T16",
    "T21", "T36", "T40", "T42", "T44", "T46", "T48", "T49", "T50", "T52", "T54",
}  # fmt: skip
"""Faults of speed claims that neither a test nor a line in LIMITS.md speaks of yet. The set only ever shrinks."""


def named(letter: str) -> set[str]:
    """Numbers that a test is named after."""
    found = set()
    for path in TESTS.rglob("test_*.py"):
        if path.name not in OTHERS:
            found |= set(re.findall(rf"^ *(?:async )?def test_({letter}[0-9]{{2}})_", path.read_text(), re.MULTILINE))
    return found


def numbers(letter: str, last: int) -> set[str]:
    return {f"{letter}{number:02d}" for number in range(1, last + 1)}


def test_every_fault_of_data_files_has_a_test() -> None:
    assert sorted(numbers("C", 44) - named("C")) == []
    assert sorted(named("C") - numbers("C", 44)) == []


def test_every_fault_of_speed_claims_has_a_test_or_is_a_limit_or_is_awaited() -> None:
    limits = set(re.findall(r"\bT[0-9]{2}\b", LIMITS.read_text()))
    covered = named("T") | limits
    assert sorted(covered - numbers("T", 55)) == []
    assert sorted(AWAITED & covered) == []
    assert sorted(numbers("T", 55) - covered - AWAITED) == []
