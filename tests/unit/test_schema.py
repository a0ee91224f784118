"""The schemas: found, pinned, and what the slow path says about a value."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ledger import schema
from ledger.errors import MalformedError, StorageError
from ledger.schema_pins import PINS
from tests.cli.samples import make_rep, make_round

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the schemas that the library reads instead of its own, before anything is remembered and after."""
    folder = tmp_path / "schemas"
    shutil.copytree(schema.FOLDER, folder)
    caches = [value for value in vars(schema).values() if hasattr(value, "cache_clear")]
    assert caches
    for cache in caches:
        cache.cache_clear()
    monkeypatch.setattr(schema, "FOLDER", folder)
    yield folder
    for cache in caches:
        cache.cache_clear()


def refusal(name: str, value: Any) -> MalformedError:  # noqa: ANN401 - any JSON value
    with pytest.raises(MalformedError) as caught:
        schema.validate_slowly(name, value)
    assert caught.value.code == "E_SCHEMA"
    with pytest.raises(MalformedError) as again:
        schema.validate(name, value)
    assert str(again.value) == str(caught.value)
    return caught.value


# Names, files, pins.


def test_every_file_is_pinned_and_every_pin_has_a_file() -> None:
    files = {path.relative_to(schema.FOLDER).as_posix(): path for path in schema.FOLDER.rglob("*.json")}
    assert files.keys() == PINS.keys()
    for name, path in files.items():
        assert hashlib.sha256(path.read_bytes()).hexdigest() == PINS[name], name


def test_every_name_gives_the_schema_of_that_name() -> None:
    names = schema.schema_names()
    assert len(names) == len(PINS)
    for name in names:
        assert schema.load_schema(name)["$id"] == f"urn:rungbook:schema:{name}:v1"
        assert schema.has_schema(name)


@pytest.mark.parametrize("name", ["", "nothing", "output-nothing", "output-", "../ledger", "output/verify.json"])
def test_other_names_are_no_schemas(name: str) -> None:
    assert not schema.has_schema(name)


def test_there_is_a_schema_for_every_kind_the_receipt_and_what_bots_write() -> None:
    names = {name for name in schema.schema_names() if not name.startswith("output-")}
    assert names >= {"common", "genesis", "keys", "round", "round-input", "receipt"}


@pytest.mark.parametrize("name", schema.schema_names())
def test_every_schema_is_valid_and_refers_only_to_schemas_that_there_are(name: str) -> None:
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - as slow here as in the library

    document = schema.load_schema(name)
    Draft202012Validator.check_schema(document)
    ids = {f"urn:rungbook:schema:{each}:v1" for each in schema.schema_names()} | {""}
    for reference in references(document):
        urn, _, pointer = reference.partition("#")
        assert urn in ids
        target: Any = document if not urn else schema.load_schema(urn.split(":")[3])
        for step in pointer.split("/")[1:]:
            target = target[step]


def references(value: Any) -> Iterator[str]:  # noqa: ANN401 - any part of a schema
    if isinstance(value, dict):
        if "$ref" in value:
            yield value["$ref"]
        for part in value.values():
            yield from references(part)
    elif isinstance(value, list):
        for part in value:
            yield from references(part)


@pytest.mark.parametrize("name", schema.schema_names())
def test_no_object_of_a_schema_is_open_by_accident(name: str) -> None:
    for where, part in objects(schema.load_schema(name), ""):
        # the statement of a receipt is checked by the schema of its kind
        assert "additionalProperties" in part or (name, where) == ("receipt", "/properties/statement"), where


def objects(value: Any, where: str) -> Iterator[tuple[str, dict[str, Any]]]:  # noqa: ANN401 - as above
    if isinstance(value, dict):
        if value.get("type") == "object":
            yield where, value
        for key, part in value.items():
            yield from objects(part, f"{where}/{key}")
    elif isinstance(value, list):
        for at, part in enumerate(value):
            yield from objects(part, f"{where}/{at}")


def test_a_round_in_a_statement_is_a_round_as_a_bot_writes_it() -> None:
    sealed = schema.load_schema("round")["properties"]["predicate"]["properties"]["round"]
    assert sealed == {"$ref": "urn:rungbook:schema:round-input:v1"}


# A file that is not the one of this release.


def test_a_copy_that_is_the_same_is_read(copied: Path) -> None:
    assert schema.load_schema("common")["$id"] == "urn:rungbook:schema:common:v1"
    schema.validate("round-input", make_round())
    assert copied == schema.FOLDER


@pytest.mark.parametrize("tail", [b" ", b"\n"])
def test_a_changed_schema_is_not_used_be_the_change_ever_so_small(copied: Path, tail: bytes) -> None:
    path = copied / "round-input.json"
    path.write_bytes(path.read_bytes() + tail)
    with pytest.raises(StorageError) as caught:
        schema.validate("round-input", make_round())
    assert (caught.value.code, caught.value.where) == ("E_SCHEMA_FILE", str(path))
    assert PINS["round-input.json"] in caught.value.message
    assert hashlib.sha256(path.read_bytes()).hexdigest() in caught.value.message


def test_a_changed_part_that_others_refer_to_is_not_used_either(copied: Path) -> None:
    path = copied / "common.json"
    path.write_bytes(path.read_bytes().replace(b'"maxLength": 64', b'"maxLength": 65'))
    with pytest.raises(StorageError) as caught:
        schema.validate("round-input", make_round())
    assert caught.value.where == str(path)
    with pytest.raises(StorageError):
        schema.validate_slowly("round-input", make_round())


def test_a_missing_schema_is_told(copied: Path) -> None:
    (copied / "keys.json").unlink()
    with pytest.raises(StorageError) as caught:
        schema.load_schema("keys")
    assert (caught.value.code, caught.value.where) == ("E_SCHEMA_FILE", str(copied / "keys.json"))


# Errors: pointer and words.


@pytest.mark.parametrize(
    ("change", "where", "hint"),
    [
        ({"purpose": 3}, "/purpose", "3"),
        ({"slot": {}}, "/slot", "required"),
        ({"reps": [make_rep(0, "main"), make_rep(1, "main", order=-1)]}, "/reps/1/order", "minimum"),
        ({"reps": [make_rep(0, "main", records={"wall_ns": [1, "2"]})]}, "/reps/0/records/wall_ns/1", "'2'"),
        ({"reps": [make_rep(0, "main", records={"wall_ns": [1.5]})]}, "/reps/0/records/wall_ns/0", "1.5"),
        ({"reps": [make_rep(0, "main", warmup=1)]}, "/reps/0/warmup", "boolean"),
        ({"id": "x" * 201}, "/id", "too long"),
        ({"a/b~c": 1}, "", "a/b~c"),
    ],
)
def test_an_error_points_at_its_place(change: dict[str, Any], where: str, hint: str) -> None:
    error = refusal("round-input", make_round(**change))
    assert error.where == where
    assert hint in error.message


def test_names_in_a_pointer_are_escaped() -> None:
    arm = {"role": "main", "code_sha256": "0" * 64, "settings": {"a/b~c": 1}}
    assert refusal("round-input", make_round(arms=[arm])).where == "/arms/0/settings/a~1b~0c"


def test_a_long_value_is_cut_in_the_message() -> None:
    error = refusal("round-input", make_round(protocol={"name": "x" * 10_000 + "!"}))
    assert len(error.message) < 400
    assert error.message.endswith("…")


@pytest.mark.parametrize("text", ["line\n", "\nline", "a\nb"])
def test_a_line_break_never_ends_a_pattern(text: str) -> None:
    assert refusal("round-input", make_round(id=text)).where == "/id"


def test_a_big_whole_float_is_no_integer() -> None:
    refusal("round-input", make_round(reps=[make_rep(0, "main", wall_ns=10.0**300)]))


def test_a_round_is_accepted_at_a_glance_and_a_doubtful_one_by_the_judge() -> None:
    assert schema.validate("round-input", make_round()) is True
    whole = make_round(reps=[make_rep(0, "main", wall_ns=3.0e8)])  # an integer for JSON Schema, not for us
    assert schema.validate("round-input", whole) is False


# The folder.


def test_the_schemas_lie_beside_the_library() -> None:
    library = Path(str(sys.modules["ledger"].__file__)).resolve().parent
    assert library.parent / "schemas" == schema.FOLDER


OFFLINE = """
import json, socket, sys
socket.socket = None
from ledger.schema import validate_slowly
validate_slowly("round-input", json.load(sys.stdin))
"""


def test_no_schema_is_fetched_from_anywhere() -> None:
    words = [sys.executable, "-c", OFFLINE]
    done = subprocess.run(words, input=json.dumps(make_round()), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
