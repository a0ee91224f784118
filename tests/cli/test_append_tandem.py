"""A report of row runs becomes a round: its records and logs are found, attached, and their code is the report's."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import pytest

from tests.cli.program import OK, REFUSED, UNAVAILABLE
from tests.cli.samples import BINARY, CODE, NODE, WEIGHTS
from tests.support.tandem import block_ab, encode, files_of, report

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Desk

SLOT = f"project=demo,node={NODE},quant=q4,context=200,metric=decode_tok_s"
SIDES = (("main", "base", 0), ("candidate", "cand", 10))


@pytest.fixture
def words(desk: Desk, tmp_path: Path) -> list[str | Path]:
    """A report of each arm; the records lie where it says, in the folder above its own."""
    found: list[str | Path] = ["append", "--slot", SLOT, "--weights", WEIGHTS, "--harness", BINARY]
    for role, folder, first in SIDES:
        for name, raw in files_of(folder=folder, first=first).items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(raw)
        path = tmp_path / "results" / f"{folder}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(encode(report(folder=folder, first=first, code_sha256=CODE[role])))
        found += ["--arm", f"{role}={path}", "--started-at", f"{role}=2026-11-29T20:{first:02}:00Z"]
    return [*found, "--environment", "gpu=GB10", "--key", desk.key("scorer")]


def test_two_reports_are_a_round_with_every_file_that_they_name(desk: Desk, words: list[str | Path]) -> None:
    done = desk.run(*words, "--json").document("append")
    # Each arm ran in one go, so that its runs drift with the time.
    assert {note.partition(":")[0] for note in done["notes"]} <= {"F_CONFOUNDED", "F_DRIFT"}
    body = json.loads(desk.receipt(3).read_bytes())["statement"]["predicate"]["round"]
    assert {arm["role"]: (arm["code_sha256"], arm["commit"]) for arm in body["arms"]} == {
        role: (CODE[role], "d" * 40) for role, _, _ in SIDES
    }
    attached = {item["name"]: item["sha256"] for item in body["attachments"]}
    expected = files_of() | files_of(folder="cand", first=10)
    assert {name: hashlib.sha256(raw).hexdigest() for name, raw in expected.items()}.items() <= attached.items()
    assert set(attached) == {*expected, "base.json", "cand.json"}
    facts = desk.run("show", "3", "--json").document("show")["facts"]
    reps = {(fact["arm"], fact["metric"]): len(fact["reps"]) for fact in facts}
    metrics = ("decode_tok_s", "ms_per_round", "tokens_per_round", "ttft")
    assert reps == {(role, metric): 3 for role, _, _ in SIDES for metric in metrics}
    desk.run("verify")


def test_the_code_that_a_report_says_cannot_be_given_otherwise(desk: Desk, words: list[str | Path]) -> None:
    done = desk.run(*words, "--code", f"main={CODE['candidate']}", status=REFUSED)
    assert done.code() == "E_MIXED"
    assert "--code main" in done.err
    desk.run(*words, "--code", f"main={CODE['main']}")


def test_a_record_that_is_gone_is_named(desk: Desk, words: list[str | Path], tmp_path: Path) -> None:
    (tmp_path / "cand" / "raw-2" / "run.json").unlink()
    done = desk.run(*words, status=REFUSED)
    assert done.code() == "E_COMPANION"
    assert "'cand/raw-2/run.json'" in done.err
    shown = desk.run("ingest", tmp_path / "results" / "cand.json", status=REFUSED)
    assert "refused  E_COMPANION" in shown.out


@pytest.mark.parametrize(("deep", "found"), [(0, True), (3, True), (4, False)])
def test_records_are_looked_for_in_three_folders_above_and_no_further(
    desk: Desk, tmp_path: Path, deep: int, *, found: bool
) -> None:
    for name, raw in files_of().items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(raw)
    folder = tmp_path.joinpath(*"abcd"[:deep])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "report.json").write_bytes(encode(report()))
    done = desk.run("ingest", folder / "report.json", status=OK if found else REFUSED)
    assert ("refused  E_COMPANION" in done.out) != found


def test_a_folder_on_the_way_to_a_report_is_not_one_above_it(desk: Desk, tmp_path: Path) -> None:
    for name, raw in files_of().items():
        path = tmp_path / "way" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(raw)
    (tmp_path / "report.json").write_bytes(encode(report()))
    done = desk.run("ingest", tmp_path / "way" / ".." / "report.json", status=REFUSED)
    assert "refused  E_COMPANION" in done.out


def test_a_record_anywhere_on_the_disk_is_not_read(desk: Desk, tmp_path: Path) -> None:
    files = files_of()
    for name, raw in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(raw)
    body = report()
    body["runs"][0]["record"] = str(tmp_path / body["runs"][0]["record"])
    (tmp_path / "report.json").write_bytes(encode(body))
    assert "refused  E_COMPANION" in desk.run("ingest", tmp_path / "report.json", status=REFUSED).out


def test_what_holds_for_a_whole_file_is_said_once_with_its_rows(desk: Desk, tmp_path: Path) -> None:
    path = tmp_path / "ab.json"
    path.write_bytes(encode(block_ab()))
    told = [line for line in desk.run("ingest", path).out.splitlines() if "F_TOTALS_ONLY" in line]
    assert told == ["  rows 0-11  F_TOTALS_ONLY: the mean over the rounds of an answer is kept, and no round"]


def test_what_a_report_holds_is_shown_with_its_rounds(desk: Desk, words: list[str | Path], tmp_path: Path) -> None:
    assert words
    rows = desk.run("ingest", tmp_path / "results" / "base.json", "--json").document("ingest")["files"][0]["rows"]
    assert [row["warmup"] for row in rows] == [False] * 3 + [True] * 3
    assert {figure["metric"]: figure["median"] for figure in rows[0]["figures"]} == {
        "decode_tok_s": "57.000000",
        "ttft": "501.500000",
        "tokens_per_round": "4.000000",
        "ms_per_round": "71.250000",
    }


def test_a_context_that_the_tool_does_not_say_is_shown_as_none(desk: Desk, tmp_path: Path) -> None:
    path = tmp_path / "ab.json"
    path.write_bytes(encode(block_ab()))
    assert desk.run("ingest", path).out.splitlines()[2].split()[:5] == ["0", "ms_per_round", "not", "said", "1"]
    rows = desk.run("ingest", path, "--json").document("ingest")["files"][0]["rows"]
    assert rows[0]["context"] is None


def test_states_of_a_block_a_b_are_arms_of_rows(desk: Desk, tmp_path: Path) -> None:
    path = tmp_path / "ab.json"
    path.write_bytes(encode(block_ab()))
    slot = SLOT.replace("decode_tok_s", "ms_per_round")
    words: list[str | Path] = ["append", "--slot", slot, "--weights", WEIGHTS, "--harness", BINARY]
    for role, rows in (("main", "0,4,8"), ("candidate", "2,6,10")):
        words += ["--arm", f"{role}={path}", "--row", f"{role}={rows}", "--commit", f"{role}=abc1234"]
        words += ["--started-at", f"{role}=2026-11-29T20:00:00Z"]
    desk.run(*words, "--environment", "gpu=GB10", "--key", desk.key("scorer"))
    facts = desk.run("show", "3", "--json").document("show")["facts"]
    medians = {(fact["arm"], fact["metric"]): fact["median"] for fact in facts}
    assert medians["main", "ms_per_round"] == "90.250000"
    assert medians["candidate", "ms_per_round"] == "87.750000"
    assert medians["main", "tokens_per_round"] == medians["candidate", "tokens_per_round"] == "4.000000"


class TestBaseline:
    @pytest.fixture
    def file(self, tmp_path: Path) -> Path:
        path = tmp_path / "baseline.json"
        entry = {"prefill_pp": 0.0, "decode_tps": 18.5, "kind": "scored", "reps": 1}
        body = {"engine": "llama.cpp", "node_profile": NODE, "quant": "q4", "contexts": {"128": entry}}
        path.write_text(json.dumps(body))
        return path

    def test_a_figure_is_imported_once_with_its_faults(self, desk: Desk, file: Path) -> None:
        words = ("import", "k3-baseline", file, "--at", "2026-08-02T10:00:00Z", "--context", "128=64")
        key = ("--key", desk.key("scorer"))
        found = desk.run(*words, *key, "--json").document("import")
        assert [(run["index"], run["existed"]) for run in found["runs"]] == [(3, False)]
        assert set(found["faults"]) == {"K_REPS_ABSENT", "K_SENTINEL", "F_N1", "F_DEPTH_UNPROVEN"}
        out = desk.run(*words, *key).out
        assert "0 sealed, 1 were sealed already; none of them is attested" in out
        assert "F_DEPTH_UNPROVEN: nothing shows that the context was filled" in out
        assert "quote that holds" not in out
        assert desk.size == 4
        desk.run("verify")

    def test_what_the_file_does_not_say_must_be_given(self, desk: Desk, file: Path) -> None:
        key = ("--key", desk.key("scorer"))
        done = desk.run("import", "k3-baseline", file, *key, status=REFUSED)
        assert done.code() == "E_MISSING"
        assert "--at TIME, --context 128=TOKENS" in done.err
        for wrong in ("128", "128=x", "=1"):
            done = desk.run("import", "k3-baseline", file, "--context", wrong, *key, status=REFUSED)
            assert done.code() == "E_OPTION"
        twice = ("--context", "128=1", "--context", "128=2")
        assert desk.run("import", "k3-baseline", file, *twice, *key, status=REFUSED).code() == "E_OPTION"
        desk.run("import", "k3-baseline", file.with_name("none"), *key, status=UNAVAILABLE)

    def test_it_is_no_round(self, desk: Desk, file: Path) -> None:
        shown = desk.run("ingest", file, status=REFUSED).out
        assert "refused  E_NO_SAMPLES" in shown
        assert "rungbook import k3-baseline" in shown
