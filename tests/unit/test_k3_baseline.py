"""K3's baselines: a figure each, with its faults; what must be given and what must not; no round."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from ledger.errors import LedgerError, MalformedError, RefusedError
from ledger.ingest.k3_baseline import Given, K3Baseline, read_baseline

NONE = Given(at="", contexts={}, project="")
TIME = "2026-08-02T10:00:00Z"


def entry(**changes: Any) -> dict[str, Any]:  # noqa: ANN401 - values of any kind, also wrong ones
    return {"prefill_pp": 0.0, "decode_tps": 18.5, "kind": "scored", "reps": 3} | changes


def baseline(**changes: Any) -> dict[str, Any]:  # noqa: ANN401 - as above
    return {
        "engine": "llama.cpp (fork)",
        "engine_commit": "abc1234",
        "node_profile": "h200x8",
        "quant": "IQ1",
        "gpu_name": "H200",
        "gpus": 8,
        "measured_utc": TIME,
        "command": "llama-bench -p 0 -n 64 -d 4096 -r 3",
        "note": "one line",
        "contexts": {"4096": entry()},
    } | changes


def read(found: Any, given: Given = NONE) -> list[Any]:  # noqa: ANN401 - as above
    return read_baseline(json.dumps(found).encode(), "results/b.json", given)


def refused(found: Any, given: Given = NONE) -> tuple[str, str]:  # noqa: ANN401 - as above
    with pytest.raises(LedgerError) as caught:
        read(found, given)
    assert isinstance(caught.value, MalformedError | RefusedError)
    return caught.value.code, caught.value.where


def codes(found: Any, given: Given = NONE) -> list[str]:  # noqa: ANN401 - as above
    return [fault["code"] for body in read(found, given) for fault in body["faults"]]


def test_a_figure_is_a_statement_with_all_that_the_file_says() -> None:
    raw = json.dumps(baseline()).encode()
    (body,) = read(baseline())
    assert body["slot"] == {
        "project": "llama.cpp-fork",
        "node": "h200x8",
        "quant": "IQ1",
        "context": 4096,
        "metric": "decode_tok_s",
    }
    assert (body["value"], body["at"], body["commit"]) == ({"value": "18.5", "origin": "file"}, TIME, "abc1234")
    assert body["environment"] == {"gpu_name": "H200", "gpus": "8"}
    digest = hashlib.sha256(raw).hexdigest()
    assert body["files"] == [{"name": "b.json", "sha256": digest, "size": len(raw)}]
    assert body["source"] == {"log": "k3-baseline", "record": digest[:32], "position": 0}
    assert body["reported"] == {
        "engine": "llama.cpp (fork)",
        "engine_commit": "abc1234",
        "node_profile": "h200x8",
        "quant": "IQ1",
        "measured_utc": TIME,
        "command": "llama-bench -p 0 -n 64 -d 4096 -r 3",
        "note": "one line",
        "entry": "4096",
        "entry.kind": "scored",
        "entry.prefill_pp": "0.0",
        "entry.reps": "3",
    }
    assert body["faults"] == [
        {"code": "K_REPS_ABSENT", "message": "3 repetitions are told, and none is kept", "where": "contexts/4096"},
        {
            "code": "K_SENTINEL",
            "message": "prefill_pp is 0: it was not measured",
            "where": "contexts/4096/prefill_pp",
        },
    ]


def test_decode_and_prefill_of_one_entry_are_two_figures_and_the_second_needs_its_own_option() -> None:
    both = baseline(contexts={"4096": entry(prefill_pp=140.25)}, command="x -p 4096 -d 4096")
    bodies = read(both)
    assert [(body["slot"]["metric"], body["value"]["value"]) for body in bodies] == [
        ("decode_tok_s", "18.5"),
        ("prefill_tok_s", "140.25"),
    ]
    assert len({body["id"] for body in bodies}) == 2
    assert codes(both) == ["K_REPS_ABSENT"] * 2
    assert refused(both | {"command": "x -d 4096"})[0] == "E_MISSING"


def test_flags_of_one_repetition_of_another_context_and_of_none() -> None:
    assert codes(
        baseline(contexts={"4096": entry(reps=1, prefill_pp=None)}) | {"contexts": {"4096": entry(reps=1)}}
    ) == [
        "K_REPS_ABSENT",
        "K_SENTINEL",
        "F_N1",
    ]
    other = baseline(contexts={"128": entry()})
    assert codes(other) == ["K_REPS_ABSENT", "K_SENTINEL", "F_CONTEXT_DECLARED"]
    assert read(other)[0]["slot"]["context"] == 4096
    assert codes(baseline(contexts={"4096": entry(samples=1)})) == ["K_SENTINEL"]
    assert (
        "no number is told"
        in read(baseline(contexts={"4096": {"decode_tps": 1, "prefill_pp": 0}}))[0]["faults"][0]["message"]
    )


@pytest.mark.parametrize("command", ["bench --ctx 4096 --seek", "bench -d", "bench -d x", "bench -d 0,4096", "", None])
def test_a_context_that_no_option_tells_must_be_given_and_is_flagged(command: str | None) -> None:
    found = baseline(command=command)
    with pytest.raises(RefusedError, match=r"E_MISSING.*--context 4096=TOKENS"):
        read(found)
    given = Given(at="", contexts={"4096": 64}, project="")
    assert read(found, given)[0]["slot"]["context"] == 64
    assert codes(found, given) == ["K_REPS_ABSENT", "K_SENTINEL", "F_DEPTH_UNPROVEN"]


def test_options_count_entries_in_their_order() -> None:
    found = baseline(contexts={"128": entry(), "4096": entry(decode_tps=17)}, command="x -d 0,4096")
    assert [body["slot"]["context"] for body in read(found)] == [0, 4096]
    assert [body["source"]["position"] for body in read(found)] == [0, 1]


def test_what_the_file_says_cannot_be_given_otherwise() -> None:
    assert refused(baseline(), Given(at=TIME, contexts={"4096": 4096}, project="")) == ("E_MIXED", "--context")
    assert refused(baseline(), Given(at=TIME, contexts={"7": 1}, project="")) == ("E_MIXED", "--context")
    assert refused(baseline(), Given(at="2026-08-03T10:00:00Z", contexts={}, project="")) == ("E_MIXED", "--at")
    assert read(baseline(), Given(at=TIME, contexts={}, project="own"))[0]["slot"]["project"] == "own"
    found = baseline(measured_utc=None)
    assert refused(found)[0] == "E_MISSING"
    assert read(found, Given(at=TIME, contexts={}, project=""))[0]["at"] == TIME


def test_the_id_is_of_the_figure_and_what_was_given_and_not_of_its_faults() -> None:
    found = baseline(command="")
    one, other = (read(found, Given(at="", contexts={"4096": at}, project=""))[0]["id"] for at in (1, 2))
    assert one != other
    assert one.startswith("k3-baseline/")


@pytest.mark.parametrize(
    ("changes", "code", "where"),
    [
        ({"contexts": {}}, "E_EMPTY_RESULTS", "results/b.json/contexts"),
        ({"contexts": []}, "E_FORMAT", "results/b.json/contexts"),
        ({"contexts": {"x": entry()}}, "E_FIELD", "results/b.json/contexts"),
        ({"contexts": {"1": 7}}, "E_FORMAT", "results/b.json/contexts/1"),
        ({"contexts": {"4096": entry(decode_tps=0)}}, "E_EMPTY_RESULTS", "results/b.json/contexts"),
        ({"contexts": {"4096": entry(decode_tps="1")}}, "E_FIELD", "results/b.json/contexts/4096/decode_tps"),
        ({"contexts": {"4096": entry(decode_tps=-1)}}, "E_NOT_MEASURED", "/value/value"),
        ({"contexts": {"4096": entry(decode_tps=1e200)}}, "E_FIELD", "results/b.json/contexts/4096/decode_tps"),
        ({"quant": "a b"}, "E_FIELD", "results/b.json/quant"),
        ({"engine": "()"}, "E_FIELD", "results/b.json/engine"),
        ({"measured_utc": "yesterday"}, "E_TIME", "results/b.json/measured_utc"),
        ({"measured_utc": 7}, "E_FIELD", "results/b.json/measured_utc"),
    ],
)
def test_what_is_not_as_the_project_writes_it_is_refused(changes: Any, code: str, where: str) -> None:  # noqa: ANN401
    assert refused(baseline(**changes)) == (code, where)


def test_it_makes_no_round() -> None:
    raw = json.dumps(baseline()).encode()
    assert K3Baseline().recognises(raw)
    with pytest.raises(MalformedError, match="rungbook import k3-baseline") as caught:
        K3Baseline().read(raw, "b.json")
    assert (caught.value.code, caught.value.where) == ("E_NO_SAMPLES", "b.json/contexts")
