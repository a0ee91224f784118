"""Checks that measure no time, and the readers of them: what was not checked is no pass."""

# ruff: noqa: N802 - the names of traps have capitals

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from ledger.errors import MalformedError
from ledger.ingest.tandem.checks import is_smoke_check, is_text_check, read_smoke_check, read_text_check
from ledger.scoring.compare.texts import SmokeCheck, TextCheck, judge_smoke, judge_texts
from tests.support.outside import outside

if TYPE_CHECKING:
    from collections.abc import Callable


def check(label: str, *passes: dict[str, str]) -> TextCheck:
    return TextCheck(
        label=label, passes=tuple({name: {"text": text} for name, text in each.items()} for each in passes)
    )


SAME = {"prose": "one", "code": "two"}
BASE = check("base", SAME, SAME)


def test_the_same_texts_in_every_pass() -> None:
    answer = judge_texts(BASE, [check("a", SAME, SAME), check("b", SAME, SAME)])
    assert (answer.outcome, answer.reason, answer.checks) == ("PASS", "the same answers to 2 requests in every pass", 2)


def test_another_text_is_named_with_its_pass() -> None:
    answer = judge_texts(BASE, [check("a", SAME, SAME | {"code": "2"})])
    assert (answer.outcome, answer.findings) == ("FAIL", (("a", "code", "text of pass 2"),))
    member = TextCheck(label="a", passes=({"prose": {"text": "one", "finish": "stop"}, "code": {"text": "two"}},) * 2)
    assert judge_texts(BASE, [member]).findings[0] == ("a", "prose", "finish of pass 1")


def test_T50_a_base_that_does_not_repeat_itself_is_no_control() -> None:
    answer = judge_texts(check("base", SAME, SAME | {"code": "2"}), [check("a", SAME, SAME)])
    assert (answer.outcome, answer.code) == ("UNRESOLVED", "E_CONTROL")
    assert answer.reason.startswith("the base does not repeat its own answer to code")


@pytest.mark.parametrize(
    ("base", "others", "code"),
    [
        (check("base", SAME), [check("a", SAME, SAME)], "E_TOO_FEW_RUNS"),
        (check("base"), [check("a", SAME, SAME)], "E_TOO_FEW_RUNS"),
        (BASE, [check("a", SAME)], "E_TOO_FEW_RUNS"),
        (BASE, [], "E_NO_PAIRS"),
        (check("base", {}, {}), [check("a", {}, {})], "E_NO_PAIRS"),
        (BASE, [check("a", SAME, {"prose": "one"})], "E_UNPAIRED"),
        (BASE, [check("a", SAME, SAME | {"new": "x"})], "E_UNPAIRED"),  # names only in later files count too
    ],
)
def test_T50_what_was_not_asked_is_no_pass(base: TextCheck, others: list[TextCheck], code: str) -> None:
    answer = judge_texts(base, others)
    assert (answer.outcome, answer.code) == ("UNRESOLVED", code)


def smoke(label: str, *results: tuple[str, bool]) -> SmokeCheck:
    return SmokeCheck(label=label, results=results)


LIST = smoke("base", ("n=2", True), ("32k prompt (skipped, no --long)", True))


@pytest.mark.parametrize(
    ("results", "outcome", "code"),
    [
        ([("n=2", True), ("32k prompt", True)], "PASS", ""),
        ([("n=2", True), ("32k prompt", True), ("more", True)], "PASS", ""),
        ([("n=2", True), ("32k prompt (SKIPPED)", True)], "UNRESOLVED", "E_SKIPPED"),
        ([("n=2", True)], "UNRESOLVED", "E_UNPAIRED"),
        ([("n=2", False)], "FAIL", ""),
        ([("other", True)], "UNRESOLVED", "E_NO_PAIRS"),
        ([], "UNRESOLVED", "E_NO_PAIRS"),
    ],
)
def test_T50_the_list_of_the_base_is_pinned(results: list[tuple[str, bool]], outcome: str, code: str) -> None:
    answer = judge_smoke(LIST, smoke("new", *results))
    assert (answer.outcome, answer.code) == (outcome, code)


def test_a_list_of_nothing_and_one_check_made_once_of_two() -> None:
    assert judge_smoke(smoke("base"), LIST).code == "E_NO_PAIRS"
    double = smoke("base", ("n=2", True), ("n=2", True))
    answer = judge_smoke(double, smoke("new", ("n=2", True)))
    assert (answer.code, answer.findings) == ("E_UNPAIRED", (("new", "n=2", "was not made"),))


# Readers.


def test_the_made_up_files_are_read() -> None:
    raw = outside("tandem", "synthetic", "api_text.json").read_bytes()
    assert (is_text_check(raw), is_smoke_check(raw)) == (True, False)
    found = read_text_check(raw, "t")
    assert [len(each) for each in found.passes] == [13, 13]
    assert found.passes[0]["tools"] == {"text": "hello", "finish": "stop", "tokens": "3", "calls": "[]"}
    raw = outside("tandem", "synthetic", "client_smoke.json").read_bytes()
    assert (is_text_check(raw), is_smoke_check(raw)) == (False, True)
    assert [passed for _, passed in read_smoke_check(raw, "s").results] == [True, True]


@pytest.mark.parametrize(
    ("read", "body", "code", "where"),
    [
        (read_text_check, {}, "E_FIELD", "f/passes"),
        (read_text_check, {"passes": {}}, "E_FORMAT", "f/passes"),
        (read_text_check, {"passes": [1]}, "E_FORMAT", "f/passes/0"),
        (read_text_check, {"passes": [{"a": "x"}]}, "E_FORMAT", "f/passes/0/a"),
        (read_smoke_check, {"results": None}, "E_FORMAT", "f/results"),
        (read_smoke_check, {"results": ["x"]}, "E_FORMAT", "f/results/0"),
        (read_smoke_check, {"results": [{"check": "c"}]}, "E_FIELD", "f/results/0/pass"),
        (read_smoke_check, {"results": [{"check": "c", "pass": 1}]}, "E_FIELD", "f/results/0/pass"),
        (read_smoke_check, {"results": [{"check": 5, "pass": True}]}, "E_FIELD", "f/results/0/check"),
    ],
)
def test_what_is_refused(read: Callable[[bytes, str], object], body: Any, code: str, where: str) -> None:  # noqa: ANN401 - any JSON value
    with pytest.raises(MalformedError) as caught:
        read(json.dumps(body).encode(), "f")
    assert (caught.value.code, caught.value.where) == (code, where)
