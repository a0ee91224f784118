"""The files that a release is made from agree with each other."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import ledger
from tests.packaging.conftest import ROOT

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
CONSTRAINTS = (ROOT / "constraints.txt").read_text()


def pinned() -> dict[str, list[str]]:
    """Hashes by requirement line of the constraints."""
    found: dict[str, list[str]] = {}
    for line in CONSTRAINTS.replace("\\\n", " ").splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            words = line.split(" #")[0].split()
            marker = " ".join(word for word in words if not word.startswith("--hash="))
            found[marker] = [word for word in words if word.startswith("--hash=")]
    return found


def names(lines: list[str]) -> set[str]:
    return {re.split(r"[\[<>=~! ;]", line)[0].lower().replace("_", "-") for line in lines}


def test_the_version_is_told_once_and_the_same() -> None:
    assert PROJECT["project"]["version"] == ledger.__version__
    assert re.fullmatch(r"\d+\.\d+\.\d+", ledger.__version__)


def test_every_package_that_is_needed_is_pinned_exactly_and_by_hash() -> None:
    lines = pinned()
    assert len(lines) > 20
    for line, hashes in lines.items():
        assert re.match(r"[A-Za-z0-9._-]+==[A-Za-z0-9.]+( ;.*)?$", line), line
        assert hashes, line
        assert all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", item) for item in hashes), line


def test_the_constraints_name_no_place_to_fetch_from() -> None:
    assert "://" not in CONSTRAINTS
    assert not re.search(
        r"^\s*(-i|-f|-e|--(extra-)?index-url|--find-links|--trusted-host)\b", CONSTRAINTS, re.MULTILINE
    )


def test_the_constraints_hold_everything_that_the_project_asks_for() -> None:
    asked = PROJECT["project"]["dependencies"] + PROJECT["dependency-groups"]["dev"]
    assert names(asked) <= names(list(pinned()))


def test_the_wheel_is_made_of_the_three_packages() -> None:
    assert PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"] == ["ledger", "cli", "schemas"]


def test_the_source_archive_holds_what_its_tests_need() -> None:
    included = PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    assert {"/ledger", "/cli", "/schemas", "/tests", "/Makefile", "/constraints.txt"} <= set(included)
