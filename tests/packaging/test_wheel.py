"""What the wheel holds, and that what is imported is what it holds."""

from __future__ import annotations

import ast
import configparser
import email.message
import email.parser
import hashlib
import importlib.metadata
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import cli
import ledger
import ledger.schema
import schemas
from ledger.schema_pins import PINS
from tests.cli.program import OK, PROGRAM
from tests.cli.samples import make_round
from tests.packaging.conftest import ROOT, RUNS_ON_SOURCE
from tests.tools import pin_schemas

PACKAGES = {"ledger", "cli", "schemas"}


def metadata(wheel: dict[str, bytes]) -> email.message.Message:
    (name,) = [name for name in wheel if name.endswith(".dist-info/METADATA")]
    return email.parser.Parser().parsestr(wheel[name].decode())


def test_the_wheel_holds_the_three_packages_and_nothing_else(wheel: dict[str, bytes]) -> None:
    tops = {name.partition("/")[0] for name in wheel}
    assert {top for top in tops if not top.endswith(".dist-info")} == PACKAGES
    assert len(tops) == len(PACKAGES) + 1


def test_packages_hold_code_schemas_and_markers_only(wheel: dict[str, bytes]) -> None:
    for name in wheel:
        top, _, rest = name.partition("/")
        if top in PACKAGES:
            assert rest.endswith(".py" if top != "schemas" else (".py", ".json")) or rest == "py.typed", name
            assert not re.search(r"(^|/)(test|conftest)", rest), name


def test_every_schema_is_in_the_wheel_and_is_the_pinned_one(wheel: dict[str, bytes]) -> None:
    found = {name.removeprefix("schemas/"): raw for name, raw in wheel.items() if name.endswith(".json")}
    found = {name: raw for name, raw in found.items() if ".dist-info/" not in name}
    assert {name: hashlib.sha256(raw).hexdigest() for name, raw in found.items()} == PINS


def test_every_module_of_the_source_tree_is_in_the_wheel_unchanged(wheel: dict[str, bytes]) -> None:
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                name = path.relative_to(ROOT).as_posix()
                assert wheel[name] == path.read_bytes(), name


def test_the_library_is_marked_as_typed(wheel: dict[str, bytes]) -> None:
    assert "ledger/py.typed" in wheel


def test_the_wheel_installs_the_program(wheel: dict[str, bytes]) -> None:
    (name,) = [name for name in wheel if name.endswith(".dist-info/entry_points.txt")]
    points = configparser.ConfigParser()
    points.read_string(wheel[name].decode())
    assert {section: dict(points[section]) for section in points.sections()} == {
        "console_scripts": {"rungbook": "cli.entry:main"}
    }


def test_name_version_python_and_licence_are_told(wheel: dict[str, bytes]) -> None:
    told = metadata(wheel)
    assert (told["Name"], told["Version"]) == ("rungbook", ledger.__version__)
    assert told["Requires-Python"] == ">=3.11"
    assert told["License-Expression"] == "MIT"
    assert any(name.endswith("/LICENSE") for name in wheel)
    assert told.get_payload() == (ROOT / "README.md").read_text()


def third_party_imports(raw: bytes) -> set[str]:
    """Top-level names of the modules that a module imports, other than the standard library's and our own."""
    nodes = list(ast.walk(ast.parse(raw)))
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    return {name.partition(".")[0] for name in names} - sys.stdlib_module_names - PACKAGES


def test_every_third_party_module_that_is_imported_is_required_and_no_other(wheel: dict[str, bytes]) -> None:
    required = {re.split(r"[<>=~! ;]", line)[0].lower() for line in metadata(wheel).get_all("Requires-Dist") or []}
    providers = importlib.metadata.packages_distributions()
    imported = {
        provider.lower()
        for name, raw in wheel.items()
        if name.endswith(".py")
        for module in third_party_imports(raw)
        for provider in providers[module]
    }
    # `referencing` comes with jsonschema and `sqlalchemy` with sqlmodel, as parts of their interfaces; cryptography
    # loads `bcrypt` for a locked key.
    assert imported - {"referencing", "sqlalchemy"} == required - {"bcrypt"}


# What is imported here.


def test_what_is_imported_is_what_the_tests_are_about() -> None:
    folders = {Path(str(module.__file__)).resolve().parent.parent for module in (ledger, cli, schemas)}
    assert len(folders) == 1
    assert folders == {ROOT} or not RUNS_ON_SOURCE


def test_the_schemas_are_read_beside_the_imported_library() -> None:
    assert Path(str(ledger.__file__)).resolve().parent.parent / "schemas" == ledger.schema.FOLDER
    for name, pin in PINS.items():
        assert hashlib.sha256((ledger.schema.FOLDER / name).read_bytes()).hexdigest() == pin


def test_the_pins_are_what_the_tool_for_them_writes() -> None:
    written = Path(str(sys.modules["ledger.schema_pins"].__file__)).read_text()
    assert pin_schemas.render() == written


CHECK = """
import json, sys
import schemas
from ledger.errors import LedgerError
from ledger.schema import validate
print(schemas.__file__)
for value in json.load(sys.stdin):
    try:
        validate("round-input", value)
        print("accepted")
    except LedgerError as err:
        print(err.code)
"""


@pytest.mark.parametrize("text", ["{}", '{"type": "object"}', None])
def test_a_package_that_is_called_schemas_too_changes_nothing(tmp_path: Path, text: str | None) -> None:
    shadow = tmp_path / "schemas"
    shadow.mkdir()
    (shadow / "__init__.py").write_text("")
    for name in PINS:
        (shadow / name).parent.mkdir(exist_ok=True)
        if text is not None:
            (shadow / name).write_text(text)
    path = os.pathsep.join([str(tmp_path), str(ledger.schema.FOLDER.parent)])
    done = subprocess.run(
        [sys.executable, "-c", CHECK],
        input=json.dumps([make_round(), make_round(purpose="speed"), {}]),
        env={**os.environ, "PYTHONPATH": path},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == [str(shadow / "__init__.py"), "accepted", "E_SCHEMA", "E_SCHEMA"]


def test_the_program_runs_away_from_the_source_tree(tmp_path: Path) -> None:
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [PROGRAM, "key", "new", "key"], cwd=tmp_path, env=variables, capture_output=True, text=True, check=False
    )
    assert done.returncode == OK
    assert (tmp_path / "key.pub").exists()
