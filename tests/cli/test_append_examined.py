"""Rounds are examined before they are signed, whatever they come from: refused with the file's name, or noted."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.cli.program import REFUSED
from tests.cli.samples import RUNS, make_rep, make_round, slot_text, tool_words, write_round

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Desk

ONE = [100_234_567, 125_345_678, 125_456_789]
COPIED = {"wall_ns": ONE, "prompt_tokens": [512] * 3}
CACHED = {"wall_ns": [100_000_000], "prompt_tokens": [512], "cached_tokens": [500]}


def append(desk: Desk, *words: str | Path) -> dict[str, Any]:
    done = desk.run("append", *words, "--key", desk.key("scorer"), "--json")
    return done.document("append")


def test_what_cannot_be_a_measurement_is_refused_and_the_file_is_named(desk: Desk) -> None:
    path = write_round(
        desk.root, reps=[make_rep(at, arm, records=COPIED) for at, arm in enumerate(("main", "candidate"))]
    )
    done = desk.run("append", path, "--key", desk.key("scorer"), "--json", status=REFUSED)
    error = done.document("error")["error"]
    assert (error["code"], error["where"]) == ("E_COPIED_SAMPLES", f"{path} /reps/1/records")
    assert desk.size == 3


def test_a_file_copied_under_another_name_is_no_other_arm(desk: Desk) -> None:
    source = RUNS / "round1_1a_main.json"
    copy = desk.root / "copy.json"
    copy.write_bytes(source.read_bytes())
    words = tool_words(("main", source), ("candidate", copy))
    done = desk.run("append", *words, "--key", desk.key("scorer"), "--json", status=REFUSED)
    assert done.document("error")["error"]["code"] == "E_COPIED_SAMPLES"


def test_notes_of_round_json_name_the_file_and_the_place(desk: Desk) -> None:
    reps = [make_rep(0, "main", records=CACHED), make_rep(1, "candidate")]
    paths = [write_round(desk.root, 0), write_round(desk.root, 1, reps=reps)]
    note, single = append(desk, *paths)["notes"]
    assert single == f"{paths[1]}: F_N1: one sample, which has no deviation (at /reps/0)"
    assert note.startswith(
        f"{paths[1]}: F_PREFIX_CACHE: a cache supplied tokens of 1 of 1 prompts (at /reps/0/records/"
    )
    assert desk.size == 5


def test_notes_of_a_tool_follow_those_of_its_adapter(desk: Desk) -> None:
    words = tool_words(("main", RUNS / "depths.json"), slot=slot_text(context="256", metric="gen_tok_s"))
    notes = append(desk, *words)["notes"]
    assert [note for note in notes if "F_DEPTH" in note] == [
        "F_DEPTH_DECLARED: llama-bench fills the context that it is told to, and shows none (at /reps/2 and 3 more)"
    ]


def test_what_is_no_object_is_refused_by_the_schema(desk: Desk) -> None:
    path = desk.root / "list.json"
    path.write_text(json.dumps([make_round()]))
    done = desk.run("append", path, "--key", desk.key("scorer"), "--json", status=REFUSED)
    assert done.document("error")["error"]["code"] == "E_SCHEMA"
