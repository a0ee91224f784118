"""Made-up folders in the layout of the public log: one defect each, with the exact codes of the faults."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import pytest

from ledger.ingest.sparkinfer.faults import FAULTS
from ledger.ingest.sparkinfer.log import read_log
from ledger.ingest.sparkinfer.text import RoundText, read_text
from tests.support.made_up_log import COMMIT, EVERY, MAIN, Source, put, read_codes, take, write_log

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

OTHER = "cd" * 20


def test_a_run_in_order_has_the_faults_of_the_format_alone(tmp_path: Path) -> None:
    folder = write_log(tmp_path, Source().seal())
    (run,) = read_log(folder)
    assert {fault["code"] for fault in run.body["faults"]} == EVERY


NOT_TOLD = {"K_CONTEXT_INFERRED", "K_REPS_ABSENT", "K_SPEED_SOURCE_ABSENT"}
CONSISTENT: list[tuple[str, Callable[[Source], None], set[str]]] = [
    ("build hash", put("receipt", "attestation/code/build_hash", ""), {"K_BUILD_HASH_EMPTY"}),
    ("prompts", put("receipt", "attestation/references/eval_seed", ""), {"K_EVAL_SEED_EMPTY"}),
    ("cuda", put("receipt", "attestation/environment/cuda_version", ""), {"K_CUDA_VERSION_EMPTY"}),
    ("driver", put("receipt", "attestation/environment/driver_version", ""), {"K_NODE_UNKNOWN"}),
    ("clock free", put("receipt", "attestation/environment/clocks_pinned", 1), {"K_CLOCKS_NOT_PINNED"}),
    ("clock 0", put("receipt", "attestation/environment/clock_mhz", 0), {"K_CLOCK_ZERO"}),
    (
        "chain",
        put("receipt", "chain", {"chain_index": 7, "prev_receipt_hash": "x"}),
        {"K_CHAIN_INDEX", "K_CHAIN_BROKEN"},
    ),
    ("no chain", take("receipt", "chain"), {"K_UNREADABLE"}),
    ("chain is a list", put("receipt", "chain", []), {"K_UNREADABLE"}),
    ("primary is text", put("receipt", "attestation/measurements/primary", "x"), {"K_UNREADABLE"}),
    ("reps", take("result", "samples"), {"K_REPS_ABSENT"}),
    ("speeds", put("receipt", "attestation/measurements/primary", {"ctx_128_tps": None}), {"K_SPEEDS_NULL"}),
    ("contexts", put("result", "scored_context", 64), {"K_CONTEXT_COPIES"}),
    ("gain", put("result", "delta_tps", 4.1), {"K_DERIVED_MISMATCH"}),
    ("percent", put("result", "pct_over_frontier", 25.1), {"K_DERIVED_MISMATCH"}),
    ("duration", put("result", "ms_per_token", 51.0), {"K_DURATION_MISMATCH"}),
    ("duration rounded", put("result", "ms_per_token", 50.1), {"K_DURATION_ROUNDED"}),
    ("duration 0", put("result", "ms_per_token", 0.0), {"K_SENTINEL"}),
    ("divergence 99", put("result", "kl", 99.000001), {"K_SENTINEL"}),
    ("decode 0", lambda source: source.result.update(decode_tps=0.0, decode_ctx=8), {"K_SENTINEL"}),
    ("divergence rounded", put("result", "kl", 0.0067), {"K_KL_ROUNDED"}),
    ("llama commit", put("result", "llama_commit", ""), {"K_LLAMA_COMMIT_EMPTY"}),
    ("no method", take("result", "speed_source"), {"K_SPEED_SOURCE_ABSENT"}),
    ("unknown method", put("result", "speed_source", "guess"), {"K_SPEED_SOURCE_UNKNOWN"}),
    ("old method", put("result", "speed_source", "wall_clock_differential"), {"K_SPEED_SOURCE_UNTRUE"}),
    ("prefill", put("result", "scored_metric", "prefill"), {"K_SPEED_SOURCE_UNTRUE"}),
    ("depths", put("result", "kl_depths", {"ctx4": {"kl": 0.1, "top1": 1.0}}), {"K_UNSEALED_MEMBER"}),
    ("missing", lambda source: source.absent.add("result.json"), {"K_MEMBER_MISSING", *NOT_TOLD}),
    ("foreign file", lambda source: source.extra.update({"notes.txt": "x"}), {"K_FILE_UNKNOWN"}),
]


@pytest.mark.parametrize(("change", "codes"), [pytest.param(*case[1:], id=case[0]) for case in CONSISTENT])
def test_a_defect_of_the_measurement(change: Callable[[Source], None], codes: set[str], tmp_path: Path) -> None:
    source = Source()
    change(source)
    if source.absent:  # nothing else names a context
        source.at = source.receipt["attestation"]["timestamp_utc"] = "2026-08-01T11:00:00+00:00"
    assert read_codes(write_log(tmp_path, source.seal())) == [codes]


def put_rows(**members: str) -> Callable[[Source], None]:
    def change(source: Source) -> None:
        for rows in source.rows.values():
            rows[0].update(members)

    return change


def flip(source: Source) -> None:
    source.rows["index"][0]["label"] = "S"


CONTRADICTORY: list[tuple[str, Callable[[Source], None], set[str]]] = [
    ("flipped copy", flip, {"K_VERDICT_COPIES", "K_VERDICT_ATTESTED", "K_VERDICT_LOG", "K_ROW_COPIES"}),
    ("attested verdict", lambda source: source.attested(b'{"label":"REJECT"}'), {"K_VERDICT_ATTESTED"}),
    ("attested figure", lambda source: source.attested(b'{"label":"XL","tps":21.0}'), {"K_FIGURE_COPIES"}),
    ("attested text", lambda source: source.attested(b"Traceback"), {"K_OUTPUT_UNREADABLE"}),
    ("attested without label", lambda source: source.attested(b"{}"), {"K_OUTPUT_UNREADABLE"}),
    ("attested figure is text", lambda source: source.attested(b'{"label":"XL","tps":"20.0"}'), {"K_UNREADABLE"}),
    ("edited result", put("result", "note", "x"), {"K_RESULT_NOT_SEALED"}),
    ("edited attestation", lambda source: source.extra.update({"attestation.json": "{}"}), {"K_ATTESTATION_COPIES"}),
    ("id", put("receipt", "tdx/result_sha256", "0" * 64), {"K_ID_UNEXPLAINED"}),
    ("id in the result", put("result", "receipt_id", "0" * 32), {"K_ID_COPIES", "K_UNSEALED_MEMBER"}),
    ("commit of the result", put("receipt", "_expected/result_sha256", "0"), {"K_RESULT_NOT_SEALED"}),
    ("no log", lambda source: source.absent.add("eval.log"), {"K_MEMBER_MISSING", "K_FRONTIER_UNSEEN"}),
    ("no row", lambda source: source.rows["index"].clear(), {"K_MEMBER_MISSING"}),
    ("row twice", lambda source: source.rows["index"].extend(source.rows["index"][:]), {"K_ROW_TWICE"}),
    ("rows of another time", put_rows(timestamp_utc="x"), {"K_ROW_DIFFERS"}),
    ("rows of another commit", put_rows(commit=OTHER), {"K_ROW_DIFFERS"}),
    ("superseded by nobody", put_rows(superseded_by="f" * 32), {"K_SUPERSEDED_UNKNOWN"}),
]


@pytest.mark.parametrize(("change", "codes"), [pytest.param(*case[1:], id=case[0]) for case in CONTRADICTORY])
def test_a_contradiction(change: Callable[[Source], None], codes: set[str], tmp_path: Path) -> None:
    source = Source().seal()
    change(source)
    assert read_codes(write_log(tmp_path, source)) == [codes - EVERY]


TEXTS = [
    ("tier", ("eval:xl", "eval:s"), {"K_VERDICT_LOG"}),
    ("figure", ("tps=20.0", "tps=20.5"), {"K_FIGURE_COPIES"}),
    ("commit", ("evaluating abab", "evaluating cdcd"), {"K_COMMIT_DIFFERS"}),
    ("main", ("frontier = 16.0 tok/s", "frontier = 16.1 tok/s"), {"K_FRONTIER_DIFFERS"}),
    ("nothing of main", ("main: frontier = ", "main: was "), {"K_FRONTIER_UNSEEN"}),
    ("switch", ("#5: tps", "   harness overrides from the controller: A=1\n#5: tps"), {"K_OVERRIDE_UNSEALED"}),
    ("another run", ("published runs/", "published runs/0"), {"K_LOG_FOREIGN"}),
    ("not evaluated", ("#5: evaluating", "#5: looking at"), {"K_LOG_FOREIGN"}),
]


@pytest.mark.parametrize(("edit", "codes"), [pytest.param(*case[1:], id=case[0]) for case in TEXTS])
def test_the_text_log_is_a_witness(edit: tuple[str, str], codes: set[str], tmp_path: Path) -> None:
    source = Source().seal()
    source.text = source.text.replace(*edit)
    assert read_codes(write_log(tmp_path, source)) == [codes]


def test_the_part_of_another_pull_request_is_not_read() -> None:
    switch = "   harness overrides from the controller: A=1\n"
    text = Source().seal().text
    other = f"#6: evaluating cdcdcdcd on x\n{switch}#6: tps=30 x\n>> #6: published runs/{'1' * 32} to x\n"
    run_id = text.partition("runs/")[2][:32]
    expected = RoundText(found=True, main="16.0", main_commit=MAIN, commit="abababab", tps="20.0", tier="xl")
    assert read_text(text + other, run_id) == expected
    assert read_text(text + other, "1" * 32).overrides == ("A=1",)


LATER = "2026-08-05T02:00:00+00:00"
PAIRS: list[tuple[str, dict[str, Any], Callable[[Source], None], list[set[str]]]] = [
    ("in order", {"commit": OTHER, "tps": 25.0}, lambda _: None, [set(), set()]),
    ("speed of one commit", {"tps": 25.0}, lambda _: None, [{"K_SAME_COMMIT_SPREAD"}] * 2),
    ("build of one commit", {}, put("receipt", "attestation/code/build_hash", "z"), [{"K_SAME_COMMIT_BUILD"}] * 2),
    ("figure", {"commit": OTHER}, lambda _: None, [{"K_FIGURE_REPEATED"}] * 2),
    ("driver", {}, put("receipt", "attestation/environment/driver_version", "595"), [set(), {"K_ENVIRONMENT_CHANGED"}]),
    ("reference", {}, put("receipt", "attestation/references/model_file", "n"), [set(), {"K_REFERENCE_DIFFERS"}]),
    ("scorer", {}, put("receipt", "attestation/code/scoring_scripts_commit", "f"), [set(), {"K_SCORER_DIFFERS"}]),
    ("unreadable", {"tps": 25.0}, put("receipt", "attestation/code/build_hash", 1), [set(), {"K_UNREADABLE"}]),
]


@pytest.mark.parametrize(("options", "change", "codes"), [pytest.param(*case[1:], id=case[0]) for case in PAIRS])
def test_two_runs(
    options: dict[str, Any], change: Callable[[Source], None], codes: list[set[str]], tmp_path: Path
) -> None:
    later = Source(at=LATER, **options)
    change(later)
    assert read_codes(write_log(tmp_path, Source().seal(), later.seal())) == codes


def test_the_label_of_one_commit(tmp_path: Path) -> None:
    later = Source(at=LATER)
    later.result["label"] = later.receipt["attestation"]["verdict"]["label"] = "S"
    assert read_codes(write_log(tmp_path, Source().seal(), later.seal())) == [{"K_SAME_COMMIT_LABEL"}] * 2


def test_one_accuracy_of_two_builds(tmp_path: Path) -> None:
    runs = [Source(), Source(at=LATER, commit=OTHER, tps=25.0)]
    for run in runs:
        run.result["kl_depths"] = {"ctx4": {"kl": 0.0066949981, "top1": 1.0}}
    expected = [{"K_PARITY_REPEATED", "K_UNSEALED_MEMBER"}] * 2
    assert read_codes(write_log(tmp_path, *(run.seal() for run in runs))) == expected


@pytest.mark.parametrize("by_digest", [True, False])
def test_a_chain_by_digest_or_by_id_is_no_fault(by_digest: bool, tmp_path: Path) -> None:
    first, later = Source().seal(), Source(at=LATER)
    digest = hashlib.sha256(json.dumps(first.receipt).encode()).hexdigest()
    later.receipt["chain"] = {"chain_index": 1, "prev_receipt_hash": digest if by_digest else first.id}
    assert read_codes(write_log(tmp_path, first, later.seal())) == [set(), set()]


@pytest.mark.parametrize(
    ("commit", "codes"),
    [(COMMIT, {"K_SUPERSEDED_BACKWARDS"}), (OTHER, {"K_SUPERSEDED_BACKWARDS", "K_SUPERSEDED_COMMIT"})],
)
def test_superseded_by_an_earlier_run(commit: str, codes: set[str], tmp_path: Path) -> None:
    first, later = Source().seal(), Source(at=LATER, commit=commit, tps=20.0 if commit == COMMIT else 25.0).seal()
    for rows in later.rows.values():
        rows[0]["superseded_by"] = first.id
    folder = write_log(tmp_path, first, later)
    assert read_codes(folder) == [set(), codes]
    faults = read_log(folder)[1].body["faults"]
    assert {fault["record"] for fault in faults if fault["code"].startswith("K_SUPERSEDED")} == {first.id}


def test_superseded_by_a_later_run_of_the_commit_is_no_fault(tmp_path: Path) -> None:
    first, later = Source().seal(), Source(at=LATER).seal()
    put_rows(superseded_by=later.id)(first)
    assert read_codes(write_log(tmp_path, first, later)) == [set(), set()]


def test_two_runs_without_a_figure_are_not_compared(tmp_path: Path) -> None:
    runs = [Source(), Source(at=LATER)]
    for run in runs:
        run.result |= {"tps": 0.0, "delta_tps": -16, "pct_over_frontier": -100, "ms_per_token": None}
    for run in runs:
        run.receipt["attestation"]["verdict"]["tps"] = 0.0
    assert read_codes(write_log(tmp_path, *(run.seal() for run in runs))) == [{"K_SENTINEL"}] * 2


def test_a_run_that_was_held_against_nothing(tmp_path: Path) -> None:
    source = Source(at="2026-08-01T11:00:00+00:00").seal()
    source.receipt["attestation"]["verdict"]["delta_tps"] = None
    source.absent.add("result.json")
    (run,) = read_log(write_log(tmp_path, source))
    assert "frontier" not in run.body


def test_a_line_that_came_late(tmp_path: Path) -> None:
    first, later = Source().seal(), Source(at=LATER).seal()
    assert read_codes(write_log(tmp_path, later, first)) == [{"K_APPENDED_LATE"}, set()]


def test_a_receipt_alone(tmp_path: Path) -> None:
    source = Source(at="2026-08-01T11:00:00+00:00", tps=20.25).seal()
    source.receipt["attestation"]["verdict"]["delta_tps"] = 4.2
    source.absent = {"result.json", "eval.log", "attestation.json"}
    source.rows = {"ledger": [], "index": []}
    (run,) = read_log(write_log(tmp_path, source))
    assert run.body["value"] == {"value": "20.25", "origin": "file"}
    assert run.body["frontier"] == {"value": "16.05", "origin": "derived"}
    assert [file["name"] for file in run.body["files"]] == ["receipt.json"]
    missing = [fault["message"] for fault in run.body["faults"] if fault["code"] == "K_MEMBER_MISSING"]
    assert missing == [f"there is no {name}" for name in ("row in index", "row in ledger", *sorted(source.absent))]


def test_every_code_has_a_meaning() -> None:
    assert list(FAULTS) == sorted(FAULTS)
    assert all(FAULTS.values())
    tables = [codes for *_, codes in (*CONSISTENT, *CONTRADICTORY, *TEXTS)]
    pairs = [codes for *_, both in PAIRS for codes in both]
    apart = {"K_SAME_COMMIT_LABEL", "K_PARITY_REPEATED", "K_SUPERSEDED_BACKWARDS", "K_SUPERSEDED_COMMIT"}
    assert set().union(EVERY, apart, *tables, *pairs, {"K_APPENDED_LATE", "K_CONTEXT_INFERRED"}) == FAULTS.keys()
