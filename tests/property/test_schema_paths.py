"""The compiled check accepts nothing that jsonschema refuses, and everything that a bot has reason to send."""

from __future__ import annotations

import contextlib
import copy
import json
import random
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from ledger import canonical, schema
from ledger.errors import MalformedError
from ledger.schema_fast import compile_check
from tests.property import strategies as own

if TYPE_CHECKING:
    from collections.abc import Callable

NAMES = ["round-input", "genesis", "keys"]
WOUNDS = {"round-input": 60, "genesis": 400, "keys": 300}  # per generated value: how many leave it valid differs


def valid(name: str, value: Any) -> bool:  # noqa: ANN401 - any JSON value
    """What jsonschema says."""
    try:
        schema.validate_slowly(name, value)
    except MalformedError:
        return False
    return True


def holds_float(value: Any) -> bool:  # noqa: ANN401 - any JSON value
    if isinstance(value, dict):
        return any(map(holds_float, value.values()))
    if isinstance(value, list | tuple):
        return any(map(holds_float, value))
    return isinstance(value, float)


def members(value: Any) -> set[str]:  # noqa: ANN401 - any JSON value
    """Names of all members at any depth."""
    if isinstance(value, dict):
        return set(value) | {name for item in value.values() for name in members(item)}
    return {name for item in value for name in members(item)} if isinstance(value, list) else set()


def declared(part: Any) -> set[str]:  # noqa: ANN401 - any part of a schema
    """Names of all members that a schema file declares itself."""
    if isinstance(part, list):
        return {name for item in part for name in declared(item)}
    if not isinstance(part, dict):
        return set()
    return set(part.get("properties", ())) | {name for item in part.values() for name in declared(item)}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("complete", [True, False])
@own.FEW
@given(data=st.data())
def test_valid_values_are_accepted_by_the_compiled_check_and_are_in_the_canonical_domain(
    name: str, complete: bool, data: st.DataObject
) -> None:
    value = data.draw(own.valid_under(name, complete=complete))
    if complete and name == "round-input":
        assert declared(own.load(name)) <= members(value)
    assert valid(name, value)
    assert schema.fast_check(name)(value)
    assert schema.validate(name, value)
    assert canonical.decode(canonical.encode(value)) == value


@pytest.mark.parametrize("name", NAMES)
def test_the_compiled_check_never_accepts_what_jsonschema_refuses_nor_what_canonical_json_has_not(name: str) -> None:
    check, seen = schema.fast_check(name), Counter[str]()

    @own.FEW
    @given(value=own.valid_under(name, complete=True) | own.valid_under(name, complete=False), seed=st.integers(0))
    def run(value: Any, seed: int) -> None:  # noqa: ANN401 - any JSON value
        rng = random.Random(seed)
        for _ in range(WOUNDS[name]):
            bad = copy.deepcopy(value)
            for _ in range(rng.randint(1, 2)):
                bad = own.wound(bad, rng)
            if not check(bad):
                seen["not accepted"] += 1
                continue
            seen["accepted"] += 1
            assert valid(name, bad)
            canonical.check_domain(bad)  # verification leaves this walk to the compiled check

    run()
    # A strategy whose wounds were all fatal, or all harmless, would test nothing.
    assert seen["accepted"] > 30
    assert seen["not accepted"] > 500


def test_a_compiled_check_of_any_schema_accepts_nothing_that_jsonschema_refuses() -> None:
    seen = Counter[bool]()

    @own.MANY
    @given(part=own.schemas(), seed=st.integers(0), data=st.data())
    def run(part: dict[str, Any], seed: int, data: st.DataObject) -> None:
        check, judge = compile_check(part, own.load), Draft202012Validator(part)
        values = [*own.STRANGERS, *own.NEAR, {"a": 1, "b": "a"}, {"a": [1], "b": [2, None], "c": []}]
        with contextlib.suppress(ValueError):  # a keyword that neither the strategy nor the check knows
            good, rng = data.draw(own.from_schema(part, complete=True)), random.Random(seed)
            values += [good, *(own.wound(copy.deepcopy(good), rng) for _ in range(10))]
        for value in values:
            accepted = check(value)
            seen[accepted] += 1
            if accepted:
                assert judge.is_valid(value)
                canonical.check_domain(value)

    run()
    assert min(seen[True], seen[False]) > 200


# Values that jsonschema or Python confuse, each in place of a good one. Every row: pointer, value.
CONFUSABLE: list[tuple[str, Any]] = [
    ("/arms/0/clean_build", 1),
    ("/arms/0/clean_build", 0.0),
    ("/arms/0/clean_build", "true"),
    ("/reps/0/warmup", 0),
    ("/reps/0/order", True),
    ("/reps/0/order", 1.0),
    ("/reps/0/order", -1),
    ("/reps/0/order", 2**53),
    ("/reps/0/order", "1"),
    ("/reps/0/wall_ns", 0),
    ("/reps/0/wall_ns", float("nan")),
    ("/reps/0/started_at", "2026-11-29T20:30:00Z\n"),
    ("/reps/0/started_at", "2026-11-29T20:30:00z"),
    ("/reps/0/started_at", "٢٠٢٦-11-29T20:30:00Z"),
    ("/reps/0/metrics", []),
    ("/reps/0/metrics", ["wall\n"]),
    ("/reps/0/metrics", ["speed"]),
    ("/reps/0/metrics", "wall"),
    ("/reps/0/metrics", {"0": "wall"}),
    ("/reps/0/records", {}),
    ("/reps/0/records", {"tok_s": ["12.5"]}),
    ("/reps/0/records/wall_ns", [1, True]),
    ("/reps/0/records/wall_ns", [1, None, 1.0]),
    ("/reps/0/records/wall_ns", [1, -1]),
    ("/reps/0/records/wall_ns", [1, 2**53]),
    ("/reps/0/records/wall_ns", [True, False]),
    ("/reps/0/records/wall_ns", ["1"]),
    ("/reps/0/records/wall_ns", [[1]]),
    ("/reps/0/records/wall_ns", None),
    ("/reps/0/records/ok", [True, None]),
    ("/reps/0/records/ok", [True, 1]),
    ("/reps/0/records/ok", ["true"]),
    ("/reps/0/records/itl_ns", [[1, None]]),
    ("/reps/0/records/itl_ns", [[1, True]]),
    ("/reps/0/records/itl_ns", [[0.5]]),
    ("/reps/0/records/itl_ns", [1]),
    ("/reps/0/records/error", [1]),
    ("/reps/0/records/error", ["x" * 4097]),
    ("/reps/0/records/prompt_sha256", ["A" * 64]),
    ("/reps/0/records/prompt_sha256", ["a" * 64 + "\n"]),
    ("/reps/0/records/prompt_sha256", ["a" * 63]),
    ("/id", ""),
    ("/id", "a\n"),
    ("/id", "a b"),
    ("/id", "é"),
    ("/id", "a" * 201),
    ("/id", 1),
    ("/purpose", "score\n"),
    ("/purpose", None),
    ("/slot/context", True),
    ("/slot/context", "0"),
    ("/slot/metric", ["wall"]),
    ("/slot/project", "a,b"),
    ("/slot/extra", "x"),
    ("/environment", {}),
    ("/environment/gpus", 4097),
    ("/environment/gpus", True),
    ("/environment/cpu", ""),
    ("/environment/cpu", "x" * 4097),
    ("/environment/extra", {"a": 1}),
    ("/environment/extra", {str(at): "x" for at in range(201)}),
    ("/weights/sha256", "A" * 64),
    ("/weights/size", 0),
    ("/arms", []),
    ("/arms/0/role", "Main"),
    ("/arms/0/role", ["main"]),
    ("/arms/0/code_sha256", "0" * 64 + "\n"),
    ("/parity/0/kl", "1e-3"),
    ("/parity/0/kl", ".5"),
    ("/parity/0/kl", "01"),
    ("/parity/0/kl", 0.5),
    ("/parity/0/kl", "0.5\n"),
    ("/parity/0/trials", 0),
    ("/reported/0/values", {"a": 0.5}),
    ("/reported/0/values", {"a": {"b": 1}}),
    ("/reported/0/values", {"a": [[1]]}),
    ("/reported/0/values", {"a": [0.5]}),
    ("/reported/0/values", {"a": float("inf")}),
    ("/reported/0/source/row", False),
    ("/attachments/0/size", "0"),
    ("/attachments/0/media_type", ""),
    ("/overrides/0/value", None),
    ("/shortcuts/0", []),
]


def complete_round() -> Any:  # noqa: ANN401 - any JSON value
    """One complete valid round, written out."""
    text, sha, count = "some text", "ab" * 32, [1, None, 2]
    names = ("cpu", "gpu", "backends", "os", "kernel", "driver", "runtime", "container", "governor", "clocks", "load")
    source = {"attachment": "log.json", "row": 0}
    times = ("wall_ns", "start_ns", "ttft_ns", "e2e_ns", "decode_ns")
    counts = ("prompt_tokens", "cached_tokens", "completion_tokens", "reasoning_tokens", "chunks", "rounds")
    records: dict[str, list[Any]] = {name: list(count) for name in (*times, *counts, "iterations")}
    records |= {"itl_ns": [[1, -1], None, []], "ok": [True, False, True], "error": [None, "late", ""]}
    records |= {"prompt_sha256": [sha, None, sha]}
    return {
        "id": "round-1",
        "attempt": 1,
        "purpose": "score",
        "slot": {"project": "p", "node": "n", "quant": "q4", "context": 0, "metric": "wall"},
        "protocol": {"name": "p", "version": text, "description": text},
        "environment": {**dict.fromkeys(names, text), "gpus": 0, "cores": 1, "memory_bytes": 1, "extra": {"a": ""}},
        "weights": {"sha256": sha, "name": text, "size": 1, "params": 1, "type": text},
        "harness": {"sha256": sha, "name": text, "version": text},
        "arms": [
            {
                "role": "main",
                "code_sha256": sha,
                "commit": "c",
                "clean_build": True,
                "toolchain": text,
                "binary_sha256": sha,
                "settings": {"a": "b"},
            }
        ],
        "reps": [
            {
                "arm": "main",
                "order": 0,
                "started_at": "2026-11-29T20:30:00Z",
                "warmup": False,
                "wall_ns": 1,
                "metrics": ["wall"],
                "context": 0,
                "workload": {
                    **dict.fromkeys(("depth", "prompt_tokens", "gen_tokens", "batch", "concurrency", "seed"), 1),
                    "dataset": text,
                },
                "records": records,
                "source": source,
            }
        ],
        "parity": [
            {
                "arm": "main",
                "depth": 0,
                "trials": 1,
                "kl": "0.001",
                "kl_max": "1",
                "top1": "-0.5",
                "path": text,
                "reference_sha256": sha,
                "attachment": "log.json",
            }
        ],
        "guards": [{"metric": "ttft", "context": 1}],
        "shortcuts": [dict.fromkeys(("name", "faithful", "unfaithful", "assertion", "observed"), text)],
        "overrides": [{"name": text, "value": "", "default": "", "reason": text}],
        "reported": [{"source": source, "values": {"a": "1.5", "b": 1, "c": True, "d": None, "e": ["1.5", 1, None]}}],
        "faults": [{"code": "F_N1", "message": text, "where": "log.json, row 0"}],
        "attachments": [{"name": "log.json", "sha256": sha, "size": 0, "media_type": "text/plain"}],
    }


def with_value(pointer: str, value: Any) -> Any:  # noqa: ANN401 - any JSON value
    whole = complete_round()
    holder = whole
    *steps, last = pointer.split("/")[1:]
    for step in steps:
        holder = holder[int(step) if isinstance(holder, list) else step]
    holder[int(last) if isinstance(holder, list) else last] = value
    return whole


def test_the_written_out_round_has_every_member_and_is_accepted() -> None:
    assert declared(own.load("round-input")) <= members(complete_round())
    assert valid("round-input", complete_round())
    assert schema.validate("round-input", complete_round())


@pytest.mark.parametrize(("pointer", "value"), CONFUSABLE, ids=[f"{p}={str(v)[:20]!r}" for p, v in CONFUSABLE])
def test_a_value_that_only_looks_right_is_not_accepted_by_the_compiled_check(pointer: str, value: object) -> None:
    # jsonschema takes 1.0 for an integer; the compiled check must not, for no canonical document holds a float.
    whole = with_value(pointer, value)
    assert not schema.fast_check("round-input")(whole)
    if not holds_float(whole):
        assert not valid("round-input", whole)
        with pytest.raises(MalformedError) as caught:
            schema.validate("round-input", whole)
        assert caught.value.code == "E_SCHEMA"


@pytest.mark.parametrize("name", sorted(complete_round().keys()))
def test_a_round_without_a_required_member_is_refused_and_without_an_optional_one_accepted(name: str) -> None:
    whole = complete_round()
    del whole[name]
    required = name in own.load("round-input")["required"]
    assert schema.fast_check("round-input")(whole) == (not required)
    assert valid("round-input", whole) == (not required)


# bounds of an integer, and numbers that lie near them or begin with them
MAX = 2**53 - 1
BOUNDS = [
    (0, 9),
    (0, 64),
    (1, 64),
    (0, 4096),
    (1, 9),
    (0, 100),
    (2, 20),
    (-5, 5),
    (0, 0),
    (1, MAX),
    (-9, MAX),
    (-MAX, 12),
]


@pytest.mark.parametrize(("least", "most"), BOUNDS)
def test_an_integer_is_held_to_its_bounds_alone_in_a_list_and_in_an_object(least: int, most: int) -> None:
    integer = {"type": "integer", "minimum": least, "maximum": most}
    closed: dict[str, Any] = {"type": "object", "additionalProperties": False}
    wraps: list[tuple[dict[str, Any], Callable[[int], Any]]] = [
        (integer, lambda number: number),
        ({"type": "array", "items": integer}, lambda number: [number]),
        ({"type": "array", "items": integer}, lambda number: [most, number, least]),
        ({"type": "array", "items": {"type": "array", "items": integer}}, lambda number: [[number]]),
        ({"type": "object", "additionalProperties": integer}, lambda number: {"a": number}),
        ({**closed, "properties": {"a": integer}}, lambda number: {"a": number}),
        ({**closed, "properties": {"a": integer, "b": integer}, "required": ["a"]}, lambda n: {"a": n, "b": most}),
    ]
    numbers = {bound + step for bound in (least, most, 0) for step in range(-12, 13)}
    numbers |= {bound * 10 + digit for bound in (least, most) for digit in range(10)} | {10**at for at in range(20)}
    for part, wrap in wraps:
        check = compile_check(part, own.load)
        wrong = [n for n in numbers if check(wrap(n)) and not (least <= n <= most and abs(n) < 2**53)]
        assert wrong == []


@pytest.mark.parametrize(("pointer", "least", "most"), [("/environment/gpus", 0, 4096), ("/reps/0/wall_ns", 1, MAX)])
def test_an_integer_of_a_round_is_accepted_exactly_within_its_bounds(pointer: str, least: int, most: int) -> None:
    for number in (*range(-3, 12), *range(4090, 4100), 9999, 40961, 2**53 - 2, 2**53 - 1, 2**53, 2**64):
        accepted = schema.fast_check("round-input")(with_value(pointer, number))
        assert accepted == (least <= number <= most)


@pytest.mark.parametrize(("pointer", "most"), [("/environment/cpu", 4096), ("/id", 200), ("/arms/0/toolchain", 4096)])
@pytest.mark.parametrize("char", ["a", '"', "\\", "\n", "é", "😀"])
def test_a_text_is_held_to_its_length_in_characters_however_written(pointer: str, most: int, char: str) -> None:
    fits = char == "a" or pointer != "/id"
    for length in (most - 1, most, most + 1, 2 * most):
        whole = with_value(pointer, char * length)
        assert valid("round-input", whole) == (fits and length <= most)
        if not (fits and length <= most):
            assert not schema.fast_check("round-input")(whole)
    assert schema.fast_check("round-input")(with_value(pointer, "a" * most))


@pytest.mark.parametrize(("pointer", "most"), [("/arms", 3), ("/reps/0/metrics", 16), ("/guards", 100)])
def test_a_list_is_held_to_its_length(pointer: str, most: int) -> None:
    for length in (most - 1, most, most + 1, 2 * most):
        item = complete_round()
        for step in pointer.split("/")[1:]:
            item = item[int(step) if isinstance(item, list) else step]
        whole = with_value(pointer, [item[0]] * length)
        assert schema.fast_check("round-input")(whole) == valid("round-input", whole) == (length <= most)


def test_an_object_is_held_to_its_number_of_members() -> None:
    for pointer, most in (("/environment/extra", 200), ("/reported/0/values", 500)):
        for length in (0, 1, most, most + 1):
            whole = with_value(pointer, {f"name{at}": "x" for at in range(length)})
            assert schema.fast_check("round-input")(whole) == valid("round-input", whole) == (length <= most)


@pytest.mark.parametrize("value", [2**53, -(2**53), 2**64])
def test_an_integer_outside_the_canonical_domain_is_accepted_nowhere_in_a_round(value: int) -> None:
    # An acceptance says that every leaf is in the domain, also where the schema leaves the choice of type.
    whole = with_value("/reported/0/values", {"a": value, "b": [value]})
    assert not schema.fast_check("round-input")(whole)


def test_a_member_name_outside_the_canonical_domain_is_not_accepted_by_the_compiled_check() -> None:
    for pointer, value in (("/environment/extra", {"é": "x"}), ("/reported/0/values", {"é": 1})):
        assert not schema.fast_check("round-input")(with_value(pointer, value))


def test_deep_nesting_is_refused_by_both_without_a_crash() -> None:
    deep: Any = 1
    for _ in range(300):
        deep = {"a": deep}
    for pointer in ("/reported/0/values", "/environment", "/reps/0/records", "/slot"):
        assert not schema.fast_check("round-input")(with_value(pointer, deep))
        assert not valid("round-input", with_value(pointer, deep))


@pytest.mark.parametrize("value", [None, True, 0, 1.0, "", "round", [], {}, [{}], float("nan")])
@pytest.mark.parametrize("name", NAMES)
def test_what_is_no_such_object_is_refused_by_both(name: str, value: object) -> None:
    assert not schema.fast_check(name)(value)
    assert not valid(name, value)


@pytest.mark.parametrize(
    "part",
    [
        {"type": "string", "format": "date"},
        {"type": "integer", "multipleOf": 2},
        {"type": "array", "items": {"type": "integer"}, "uniqueItems": True},
        {"type": "array", "items": {"type": "integer"}, "contains": {"const": 1}},
        {"type": "object", "additionalProperties": False, "propertyNames": {"maxLength": 1}},
        {"type": "object", "additionalProperties": False, "patternProperties": {"a": {"type": "integer"}}},
        {"type": "number"},
        {"not": {"type": "string"}},
        {"oneOf": [{"type": "string"}]},
        {"allOf": [{"type": "string"}]},
        {"if": {"type": "string"}},
        {"$ref": "#/a", "type": "string"},
        {},
    ],
    ids=json.dumps,
)
def test_a_schema_with_an_unknown_keyword_is_always_doubted(part: dict[str, Any]) -> None:
    check = compile_check(part, own.load)
    assert not any(check(value) for value in (*own.STRANGERS, *own.NEAR, "a", 1, 2, [1], [1, 1], {"a": 1}, {"ab": 1}))


CONSTANTS: list[Any] = [1, 0, True, None, 1.0, "a", "1", [1], {}, "é", '"', "\\", "\x7f"]
CHOICES: list[Any] = [[1, "a"], [False, 0], ["a", "b"], ["a|b"], ["a.c"], ["[a]"], []]


@pytest.mark.parametrize(
    "part",
    [
        *({"const": value} for value in CONSTANTS),
        *({"enum": values} for values in CHOICES),
        *({"type": "array"}, {"type": "array", "items": {}}, {"type": "array", "items": {}, "maxItems": 0}),
        *({"type": "object"}, {"type": "object", "additionalProperties": True}, {"type": "object", "required": ["a"]}),
        {"type": "object", "additionalProperties": False, "required": ["a"], "properties": {"b": {"type": "null"}}},
        {"type": "integer", "minimum": 0.5, "maximum": 1.5},
        {"type": "string", "minLength": 1.0, "maxLength": 2.0},
        {"anyOf": [{"type": "integer", "maximum": 3}, {"type": "integer", "minimum": 7}]},
    ],
    ids=json.dumps,
)
def test_a_schema_that_python_might_misread_accepts_nothing_that_jsonschema_refuses(part: dict[str, Any]) -> None:
    check, judge = compile_check(part, own.load), Draft202012Validator(part)
    extra: list[Any] = [
        1,
        1.0,
        True,
        0,
        False,
        "1",
        "a",
        "abc",
        "a|b",
        "[a]",
        [1],
        [1.0],
        {"a": 1},
        {"b": None},
        {"a": 0.5},
    ]
    for value in [*own.STRANGERS, *own.NEAR, *extra]:
        if check(value):
            assert judge.is_valid(value)
            canonical.check_domain(value)


def test_a_large_document_that_is_almost_valid_is_answered_soon() -> None:
    # The compiled check must not be slow on a document that was made for it: no more than a walk through the bytes.
    check, size = schema.fast_check("round-input"), 200_000
    hostile = [
        with_value("/reported/0/values", {"a": ["x"] * size + [0.5]}),
        with_value("/reported/0/values", {"a": [1] * size + ["\x7f"]}),
        with_value("/reported/0/values", {"a": "\n" * 65536 + "x"}),
        with_value("/reps/0/records/error", ['"\\'] * size + [1]),
        with_value("/reps/0/records/itl_ns", [[1, 2]] * size + [[None]]),
        with_value("/reps/0/records/wall_ns", [1, None] * size + [-1]),
        with_value("/reps/0/records/prompt_sha256", ["a" * 64] * 20_000 + ["A" * 64]),
        with_value("/parity/0/kl", "1" * 64 + "e"),
        with_value("/id", "a" * size + " "),
        with_value("/attachments", complete_round()["attachments"] * 10_000 + [{}]),
    ]
    for whole in hostile:
        start = time.process_time()
        assert not check(whole)
        assert time.process_time() - start < 2
