"""``rungbook append --from aiperf``: what the tool does not say must be given; what failed is kept."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.cli.program import REFUSED
from tests.cli.samples import BINARY, CODE, NODE, WEIGHTS
from tests.support.aiperf import lines, request

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Desk

ARMS = ("main", "candidate") * 2
SLOT = f"project=demo,node={NODE},quant=F32,context=40,metric=decode_tok_s"


@pytest.fixture
def words(desk: Desk, tmp_path: Path) -> list[str | Path]:
    """Two runs of each arm, in turns; the candidate is a tenth faster between the first token and the last."""
    found: list[str | Path] = ["append", "--from", "aiperf", "--slot", SLOT, "--weights", WEIGHTS, "--harness", BINARY]
    for at, role in enumerate(ARMS):
        path = tmp_path / f"run-{at}.jsonl"
        latency = 1100.5 if role == "main" else 1010.5
        path.write_bytes(lines(*(request(10 * at + number, request_latency=latency) for number in range(3))))
        found += ["--arm", f"{role}={path}"]
    for role in ("main", "candidate"):
        found += ["--code", f"{role}={CODE[role]}", "--commit", f"{role}=abc1234"]
    return [*found, "--key", desk.key("scorer")]


def test_runs_of_two_arms_are_sealed_with_their_facts(desk: Desk, words: list[str | Path]) -> None:
    done = desk.run(*words, "--environment", "gpu=H200", "--environment", "gpus=8", "--json").document("append")
    assert done["notes"] == []
    body = json.loads(desk.receipt(3).read_bytes())["statement"]["predicate"]["round"]
    assert body["environment"] == {"gpu": "H200", "gpus": 8}
    assert [rep["order"] for rep in body["reps"]] == [0, 1, 2, 3]
    facts = desk.run("show", "3", "--json").document("show")["facts"]
    medians = {(fact["arm"], fact["metric"]): fact["median"] for fact in facts}
    assert medians["main", "decode_tok_s"] == "100.000000"
    assert medians["candidate", "decode_tok_s"] == "109.890110"
    assert medians["main", "ttft"] == medians["candidate", "ttft"] == "100.500000"
    desk.run("verify")


def test_the_facts_of_the_node_must_be_given(desk: Desk, words: list[str | Path]) -> None:
    done = desk.run(*words, status=REFUSED)
    assert done.code() == "E_MISSING"
    assert "--environment gpu=…" in done.err


@pytest.mark.parametrize(
    ("given", "code"),
    [
        (["gpu"], "E_OPTION"),
        (["gpu="], "E_OPTION"),
        (["gpu=a", "gpu=b"], "E_OPTION"),
        (["gpus=many"], "E_SCHEMA"),
        (["gpus=08"], "E_SCHEMA"),
        (["cores=0"], "E_SCHEMA"),
        (["colour=red"], "E_OPTION"),
    ],
)
def test_a_fact_that_is_none_is_refused(desk: Desk, words: list[str | Path], given: list[str], code: str) -> None:
    options = [word for fact in given for word in ("--environment", fact)]
    assert desk.run(*words, *options, status=REFUSED).code() == code
    assert desk.size == 3


def warm(folder: Path, *runs: int) -> None:
    """Write runs anew in which a cache supplied ten tokens of every prompt."""
    for at in runs:
        latency = 1100.5 if ARMS[at] == "main" else 1010.5
        each = (
            request(10 * at + number, request_latency=latency, usage_prompt_cache_read_tokens=10) for number in range(3)
        )
        (folder / f"run-{at}.jsonl").write_bytes(lines(*each))


def accept(desk: Desk) -> None:
    reason = "the same in both arms"
    desk.run("ruling", "review", "3", "--outcome", "accepted", "--reason", reason, "--key", desk.key("root"))


@pytest.mark.parametrize("runs", [(0,), (0, 2), (0, 1, 2)], ids=str)
def test_C11_a_round_of_which_a_cache_knew_some_runs_never_counts(  # noqa: N802 - as the case
    runs: tuple[int, ...], desk: Desk, words: list[str | Path], tmp_path: Path
) -> None:
    warm(tmp_path, *runs)
    desk.run(*words, "--environment", "gpu=H200")
    accept(desk)
    assert desk.run("frontier", "--json").document("frontier")["slots"] == []
    desk.run("verify")


def test_a_round_in_quarantine_is_sealed_shown_and_counts_when_a_review_accepts_it(
    desk: Desk, words: list[str | Path], tmp_path: Path
) -> None:
    warm(tmp_path, *range(len(ARMS)))
    done = desk.run(*words, "--environment", "gpu=H200", "--json").document("append")
    assert [note.partition(", row 0: ")[2].partition(":")[0] for note in done["notes"]] == ["F_PREFIX_CACHE"] * 4
    shown, *_ = [line for line in desk.run("show", "3").out.splitlines() if line.startswith("fault ")]
    assert "F_PREFIX_CACHE: a cache supplied tokens of 3 of 3 prompts" in shown
    assert "(run-0.jsonl, row 0)" in shown
    assert "until a review" in shown
    assert "slot       one of its own, with +cache-warm behind the project" in desk.run("show", "3").out
    assert desk.run("frontier", "--json").document("frontier")["slots"] == []
    accept(desk)
    (slot,) = [
        slot
        for slot in desk.run("frontier", "--json").document("frontier")["slots"]
        if slot["slot"]["metric"] == "decode_tok_s"
    ]
    held = slot["frontier"]
    assert (held["receipt"], held["since"], held["value"]) == (3, 4, "100")
    desk.run("verify")
