"""What a person is told after something was sealed or refused: where it stands, and what to do next."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.cli.program import REFUSED
from tests.cli.samples import (
    BINARY,
    CODE,
    NODE,
    REAL_ROUND,
    RUNS,
    WEIGHTS,
    make_rep,
    make_round,
    slot_text,
    tool_words,
)
from tests.support.aiperf import lines, request
from tests.support.tandem import encode
from tests.support.timed import SAMPLES, raw

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Desk
    from tests.cli.program import Result

PAIR = REAL_ROUND[:2]
GIVEN = (
    "--slot", f"project=demo,node={NODE},quant=F32,context=40,metric=decode_tok_s", "--code", f"main={CODE['main']}",
    "--commit", "main=abc", "--weights", WEIGHTS, "--harness", BINARY, "--environment", "gpu=H200",
)  # fmt: skip


def cached(desk: Desk) -> Path:
    path = desk.root / "run.jsonl"
    path.write_bytes(lines(*(request(at, usage_prompt_cache_read_tokens=10) for at in range(3))))
    return path


def append(desk: Desk, *words: str | Path, status: int = 0) -> Result:
    return desk.run("append", *words, "--key", desk.key("scorer"), status=status)


# Quarantine.


def test_append_says_that_a_round_is_in_quarantine_and_how_it_gets_out(desk: Desk) -> None:
    done = append(desk, cached(desk), *GIVEN)
    assert "note: receipt 3 is in quarantine (F_PREFIX_CACHE)" in done.err
    assert "rungbook ruling review 3 --outcome accepted" in done.err
    again = append(desk, cached(desk), *GIVEN, "--json").document("append")
    assert [receipt["quarantine"] for receipt in again["receipts"]] == [["F_PREFIX_CACHE"]]


def mixed(desk: Desk) -> Path:
    path = desk.root / "run.jsonl"
    path.write_bytes(lines(*(request(at, usage_prompt_cache_read_tokens=10 * (at > 0)) for at in range(3))))
    return path


def heating(desk: Desk) -> Path:
    """A round of two arms, each in one go, while everything gets slower."""
    reps = [make_rep(at, "main" if at < 3 else "candidate", wall_ns=10**9) for at in range(6)]
    for at, rep in enumerate(reps):
        rep["records"] = {"wall_ns": [10**8 + at * 10**6], "prompt_tokens": [512]}
    path = desk.root / "heating.json"
    path.write_text(json.dumps(make_round(7, reps=reps)))
    return path


@pytest.mark.parametrize("code", ["E_CONFOUNDED", "E_MIXED_CACHE"])
def test_what_no_review_lets_count_is_said_to_be(desk: Desk, code: str) -> None:
    words: tuple[str | Path, ...] = (heating(desk),) if code == "E_CONFOUNDED" else (mixed(desk), *GIVEN)
    done = append(desk, *words)
    assert f"note: receipt 3 tells no speed, and no review lets it count: {code}: " in done.err
    assert "ruling review" not in done.err
    assert f"no speed   {code}: " in desk.run("show", "3").out
    empty = desk.run("frontier")
    assert "note: that tell no speed, whatever a review says (rungbook show REF says why): 3" in empty.err
    assert "in quarantine until" not in empty.err


def test_drift_of_one_code_is_said_to_wait_for_a_review(desk: Desk) -> None:
    path = heating(desk)
    body = json.loads(path.read_text())
    for arm in body["arms"]:
        arm["code_sha256"] = body["arms"][0]["code_sha256"]
    path.write_text(json.dumps(body))
    assert "tells no speed" not in append(desk, path).err
    shown = desk.run("show", "3").out
    assert "no speed" not in shown
    (line,) = [line for line in shown.splitlines() if "F_CONFOUNDED" in line]
    assert line.endswith("quarantines it: out of frontier and pins until a review accepts it")


def test_of_another_round_nothing_is_said(desk: Desk) -> None:
    done = append(desk, *tool_words(*PAIR), "--json").document("append")
    assert [receipt["quarantine"] for receipt in done["receipts"]] == [[]]


def test_an_empty_frontier_says_what_the_rounds_lack(desk: Desk) -> None:
    append(desk, cached(desk), *GIVEN)
    append(desk, *tool_words(PAIR[0]))
    done = desk.run("frontier")
    assert done.out == "nothing here yet\n"
    assert done.err.splitlines() == [
        "note: in quarantine until rungbook ruling review REF --outcome accepted: 3",
        "note: of one repetition, which is no measurement yet (at least 2): 4",
        "note: no rule is adopted: rungbook rule adopt FILE makes a ladder of the rounds",
    ]


def test_a_ledger_without_rounds_has_no_such_hints(desk: Desk) -> None:
    done = desk.run("ladder")
    assert (done.out, done.err) == ("nothing here yet\n", "")


# Rulings.


def test_show_and_log_tell_what_was_ruled(desk: Desk) -> None:
    append(desk, cached(desk), *GIVEN)
    desk.run("ruling", "review", "3", "--outcome", "rejected", "--reason", "warm", "--key", desk.key("root"))
    desk.run("ruling", "void", "3", "--reason", "by mistake", "--key", desk.key("root"))
    told = [line for line in desk.run("show", "3").out.splitlines() if line.startswith("ruling ")]
    assert [line.split()[:4] for line in told] == [
        ["ruling", "receipt", "4:", "review"],
        ["ruling", "receipt", "5:", "void"],
    ]
    assert "rejected" in told[0]
    assert told[1].endswith("by mistake")
    assert "review rejected" in desk.run("log").out
    assert "ruling " not in desk.run("show", "1").out


@pytest.mark.parametrize("words", [(), ("--outcome", "fine")])
def test_a_review_without_an_outcome_says_which_there_are(desk: Desk, words: tuple[str, ...]) -> None:
    append(desk, cached(desk), *GIVEN)
    done = desk.run("ruling", "review", "3", *words, "--reason", "r", "--key", desk.key("root"), status=REFUSED)
    assert done.code() == "E_RULING"
    assert "--outcome accepted or rejected" in done.err


# Refusals.


def test_a_refusal_is_followed_by_what_to_do(desk: Desk) -> None:
    done = append(desk, "--from", "llama-bench", *tool_words(("main", RUNS / "sample.csv"))[2:], status=REFUSED)
    assert done.code() == "E_NO_SAMPLES"
    assert done.err.splitlines()[-1].startswith("  to do    ")


def test_a_file_that_nobody_knows_is_blamed_and_not_the_options(desk: Desk) -> None:
    path = desk.root / "picture.png"
    path.write_bytes(b"\x89PNG\r\n\x1a\n")
    done = append(desk, path, *GIVEN, status=REFUSED)
    assert done.code() == "E_FORMAT"
    assert str(path) in done.err
    assert "rungbook ingest --list" in done.err
    path.write_bytes(b"")
    assert append(desk, path, *GIVEN, status=REFUSED).code() == "E_EMPTY_RESULTS"


def test_round_json_with_options_is_told_so(desk: Desk) -> None:
    path = desk.root / "round.json"
    path.write_text(json.dumps(make_round()))
    done = append(desk, path, *GIVEN, status=REFUSED)
    assert done.code() == "E_OPTION"
    assert "is round JSON" in done.err
    assert append(desk, *GIVEN, status=REFUSED).code() == "E_OPTION"


def test_a_text_of_llama_perplexity_is_sent_to_its_option(desk: Desk) -> None:
    path = desk.root / "kld.txt"
    path.write_text("====== KL divergence statistics ======\nMean    KLD:   0.020000 ±   0.000400\n")
    done = append(desk, path, *GIVEN, status=REFUSED)
    assert done.code() == "E_FORMAT"
    assert "--parity ROLE=FILE" in done.err


def test_rows_of_several_settings_are_told_by_what_differs(desk: Desk) -> None:
    path = desk.root / "two.json"
    document = json.loads(raw(SAMPLES["hyperfine"]))
    document["results"] = [document["results"][0], {**document["results"][0], "command": "other"}]
    path.write_bytes(encode(document))
    told = desk.run("ingest", path).out
    assert "    --row main=… (rows of one workload with the same settings)\n" in told
    words = [word.replace("metric=decode_tok_s", "metric=wall").replace("context=40", "context=0") for word in GIVEN]
    done = append(desk, path, *words, "--started-at", "main=2026-11-29T20:00:00+02:00", status=REFUSED)
    assert done.code() == "E_MIXED"
    assert "command is " in done.err
    assert "'other'" in done.err


def test_the_public_key_is_told_from_the_private_one(desk: Desk) -> None:
    public = f"{desk.key('scorer')}.pub"
    done = desk.run("append", *tool_words(*PAIR), "--key", public, status=REFUSED)
    assert done.code() == "E_KEY"
    assert "this is the public key" in done.err


@pytest.mark.parametrize(
    ("words", "known"),
    [
        (("--environment", "foo=x"), "gpu"),
        (("--workload", "foo=1"), "gen_tokens"),
        (("--environment", "extra.=x"), "gpu"),
    ],
)
def test_a_name_that_is_not_known_is_answered_with_those_that_are(
    desk: Desk, words: tuple[str, str], known: str
) -> None:
    done = append(desk, *tool_words(*PAIR), *words, status=REFUSED)
    assert done.code() in {"E_OPTION", "E_SCHEMA"}
    assert known in done.err or "extra" in done.err


def test_anything_else_about_a_node_goes_into_extra(desk: Desk) -> None:
    append(desk, *tool_words(*PAIR), "--environment", "extra.peak_gbps=3350", "--environment", "gpus=1")
    body = json.loads(desk.receipt(3).read_bytes())["statement"]["predicate"]["round"]
    assert body["environment"]["extra"] == {"peak_gbps": "3350"}
    assert body["environment"]["gpus"] == 1


def test_a_code_that_is_none_of_measurements_is_told_so(desk: Desk) -> None:
    done = desk.run("faults", "E_NO_LEDGER", status=REFUSED)
    assert "the message says what to do" in done.err


def test_printed_figures_are_short_and_once_a_row(desk: Desk) -> None:
    table = desk.run("ingest", *tool_words(*PAIR)[:2], *tool_words(*PAIR)[2:4]).out.partition("\n\n")[0]
    assert max(map(len, table.splitlines()[1:])) < 200
    assert slot_text()
