"""What is refused, and what is answered, does not depend on the order in which files are named."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from itertools import permutations, product
from typing import TYPE_CHECKING

import pytest

from ledger.errors import RefusedError
from ledger.ingest.llama_bench import LlamaBench
from ledger.ingest.sides import ToolFile, side_of_rows, sides_of_round
from ledger.scoring.compare.answer import compare_pairs
from ledger.scoring.compare.comparable import check_axes, check_distinct, prompt_drift
from ledger.scoring.compare.order import order_faults
from ledger.scoring.compare.side import CompareRun, Side
from tests.support.compare import made_up_run, made_up_sides
from tests.support.rounds import round_body, sha256_hex

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger.canonical import JsonObject


def side(*runs: CompareRun, label: str = "a side") -> Side:
    return Side(label=label, runs=runs)


# Conditions.

SILENT, ONE, TWO = (
    made_up_run("silent", [100, 101, 102]),
    made_up_run("one", [103, 104, 105], axes={"node/gpu": "A"}),
    made_up_run("two", [106, 107, 108], axes={"node/gpu": "B"}),
)


@pytest.mark.parametrize("runs", [*permutations([SILENT, ONE, TWO])])
def test_a_run_that_says_nothing_makes_no_two_nodes_one(runs: Sequence[CompareRun]) -> None:
    with pytest.raises(RefusedError) as caught:
        check_axes(side(*runs[:1]), side(*runs[1:]))
    assert (caught.value.code, caught.value.where) == ("E_NOT_COMPARABLE", "node/gpu")


@pytest.mark.parametrize("runs", [*permutations([SILENT, ONE, replace(ONE, name="again")])])
def test_a_run_that_says_nothing_is_named_in_any_order(runs: Sequence[CompareRun]) -> None:
    flags = check_axes(side(*runs[:1]), side(*runs[1:]))
    assert flags == ["F_AXIS_UNKNOWN: silent does not say node/gpu, another run does"]


# Prompts.


def prompts(name: str, *lengths: int | None) -> CompareRun:
    run = made_up_run(name, [100] * len(lengths))
    return replace(run, records=run.records | {"prompt_tokens": list(lengths)})


@pytest.mark.parametrize(
    ("lengths", "drifts"),
    [
        ([(5, 6, 7), (5, 6, 7), (7, 6, 5)], False),
        ([(5, 6, 7), (5, 6, None), (5, 6)], False),  # what failed or is not there is no other prompt
        ([(5, 6, 7), (5, 6, 7), (5, 6, 8)], True),
        ([(5, 6, 7), (5, 6, 7), (5, 8)], True),
        ([(5, 6), (5, 7), (5, 6)], True),
    ],
)
def test_prompts_drift_in_any_order_or_in_none(lengths: list[tuple[int | None, ...]], *, drifts: bool) -> None:
    runs = [prompts(str(at), *each) for at, each in enumerate(lengths)]
    assert {bool(prompt_drift(order)) for order in permutations(runs)} == {drifts}


def test_a_named_prompt_that_failed_has_not_drifted() -> None:
    names = ("a", "b")
    whole, part = (replace(prompts("run", *each), prompts=names) for each in ((5, 6), (5, None)))
    other = replace(prompts("other", 5, 7), prompts=names)
    for order in permutations([whole, part]):
        assert prompt_drift(order) == ""
    for order in permutations([whole, part, other]):
        assert prompt_drift(order).startswith("1 of 2 prompts have another number of tokens in another run, b for one")


# The same file.


def one_row(*samples: int) -> bytes:
    return json.dumps(
        [
            {"build_commit": "abc", "build_number": 1, "cpu_info": "c", "gpu_info": "g", "backends": "b",
             "model_filename": "m", "model_type": "t", "model_size": 5, "model_n_params": 3, "n_prompt": 512,
             "n_gen": 0, "n_depth": 0, "test_time": "2026-11-29T20:00:00Z", "samples_ns": [*samples]},
        ]
    ).encode()  # fmt: skip


def bench_side(name: str, raw: bytes) -> Side:
    return side_of_rows(name, [ToolFile(name=name, raw=raw, tool="llama-bench", rows=LlamaBench().read(raw, name))])


@pytest.mark.parametrize("samples", [(100_000_001,), (100_000_001, 100_000_203, 100_000_405)])
def test_a_file_under_another_name_is_the_same_file(samples: tuple[int, ...]) -> None:
    base, copy = (bench_side(name, one_row(*samples)) for name in ("base.json", "copy.json"))
    with pytest.raises(RefusedError) as caught:
        check_distinct(base, copy)
    assert caught.value.code == "E_SELF_COMPARE"
    assert "copy.json is base.json" in caught.value.message
    check_distinct(base, bench_side("other.json", one_row(*samples[:-1], samples[-1] + 1)))


def test_a_file_that_is_given_twice_is_one_run() -> None:
    raw = one_row(100_000_001)
    twice = [ToolFile(name="a.json", raw=raw, tool="llama-bench", rows=LlamaBench().read(raw, "a.json"))] * 2
    with pytest.raises(RefusedError) as caught:
        check_distinct(side_of_rows("base", twice), bench_side("other.json", one_row(100_000_002)))
    assert caught.value.code == "E_COPIED_SAMPLES"


def test_a_file_and_the_round_that_was_made_of_it_are_one_measurement() -> None:
    raw = one_row(100_000_001)
    body = in_one_second("main")
    body["attachments"] = [{"name": "a.json", "sha256": hashlib.sha256(raw).hexdigest(), "size": len(raw)}]
    body["reps"][0]["source"] = {"attachment": "a.json", "row": 0}
    (run,) = sides_of_round("r.json", body)["main"].runs
    assert run.source == bench_side("b.json", raw).runs[0].source


def test_repetitions_of_no_file_are_known_by_what_they_say() -> None:
    one, again, other = (sides_of_round(name, in_one_second("main"))["main"].runs[0] for name in ("a", "b", "c"))
    assert one.source == again.source
    assert replace(one, name="x").source == one.source
    body = in_one_second("main")
    body["reps"][0]["started_at"] = "2026-11-29T21:00:00Z"
    assert sides_of_round("c", body)["main"].runs[0].source != other.source


def test_three_equal_times_are_a_copy_here_as_in_the_ledger() -> None:
    times = {"prompt_tokens": [5] * 3, "wall_ns": [100_000_001, 100_000_203, 100_000_405]}
    one, two = (made_up_run(name, [1], metrics=("prefill_tok_s",), records=times) for name in ("one", "two"))
    with pytest.raises(RefusedError) as caught:
        check_distinct(side(one), side(two, label="other"))
    assert caught.value.code == "E_SELF_COMPARE"
    near = replace(two, records=times | {"wall_ns": [100_000_001, 100_000_203, 100_000_406]})
    check_distinct(side(one), side(near))


def test_a_session_of_noise_that_is_given_twice_is_one() -> None:
    base, other = made_up_sides([100, 102, 101], [90, 91, 92])
    noise = made_up_sides([100, 105, 99], [101, 103, 100], every=4)
    first, second = (replace(half, runs=tuple(replace(run, source=run.name) for run in half.runs)) for half in noise)
    with pytest.raises(RefusedError) as caught:
        compare_pairs(base, other, [(first, second), (first, second)])
    assert (caught.value.code, caught.value.where) == ("E_COPIED_SAMPLES", "--noise")
    apart = made_up_sides([110, 115, 109], [111, 113, 107], every=4)
    assert len(compare_pairs(base, other, [(first, second), apart]).pairs[0].nulls) == 6


# The order in time.


def in_one_second(*arms: str) -> JsonObject:
    """A round whose repetitions take a tenth of a second each, all in one second."""
    body = round_body("r")
    (rep,) = body["reps"]
    roles = dict.fromkeys(arms)
    body["arms"] = [{"role": role, "code_sha256": sha256_hex(role)} for role in roles]
    body["reps"] = [
        rep
        | {"arm": arm, "order": order, "wall_ns": 10**8 + order}
        | {"records": {"prompt_tokens": [512], "wall_ns": [10**8 + order]}}
        for order, arm in enumerate(arms)
    ]
    return body


@pytest.mark.parametrize(
    ("arms", "codes"),
    [
        (("main", "candidate") * 3, []),
        (("candidate", "main") * 3, []),
        (("main",) * 3 + ("candidate",) * 3, ["E_ORDER_CONFOUNDED"]),
        (("main", "candidate", "candidate", "main", "main", "candidate"), ["E_ORDER_CONFOUNDED"]),
    ],
)
def test_a_round_knows_the_order_of_what_began_in_one_second(arms: tuple[str, ...], codes: list[str]) -> None:
    sides = sides_of_round("r.json", in_one_second(*arms))
    main, candidate = sides["main"].runs, sides["candidate"].runs
    assert [code for code, _ in order_faults(main, candidate)] == codes
    assert [code for code, _ in order_faults(candidate[::-1], main[::-1])] == codes


def test_two_rounds_that_began_in_one_second_are_told_apart_by_their_starts_alone() -> None:
    one, two = (sides_of_round(name, in_one_second("main"))["main"].runs for name in ("a.json", "b.json"))
    assert order_faults(one, two) == order_faults(two, one) == []


def test_files_named_in_another_order_are_answered_alike() -> None:
    base, other = made_up_sides([100, 102, 101], [90, 91, 92])
    noise = made_up_sides([100, 101, 99], [101, 100, 100], every=4)
    answers = {
        (answer.outcome, answer.code, answer.reason, answer.pairs[0].pairs, answer.pairs[0].p)
        for one, two in product(permutations(base.runs), permutations(other.runs))
        for answer in [compare_pairs(replace(base, runs=one), replace(other, runs=two), [noise])]
    }
    assert len(answers) == 1
