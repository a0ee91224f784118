"""``rungbook ingest`` with the options of ``append``: the round that would be sealed, or what it lacks."""

# ruff: noqa: N802 - the names of faults have capitals

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import pytest

from ledger.flags import QUARANTINE
from ledger.ingest import node
from tests.cli.program import OK, REFUSED, UNAVAILABLE, run
from tests.cli.samples import BINARY, CODE, NODE, REAL_ROUND, WEIGHTS, make_round, tool_words
from tests.support.aiperf import lines, request

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Desk
    from tests.cli.program import Result

PAIR = REAL_ROUND[:2]
SLOT = f"project=demo,node={NODE},quant=F32,context=40,metric=decode_tok_s"


def ingest(folder: Path, *words: str | Path, status: int = OK) -> Result:
    done = run("ingest", *words, cwd=folder)
    assert done.status == status, done
    return done


def plan(folder: Path, *words: str | Path, status: int = OK) -> dict[str, Any]:
    """The one round of ``--json``."""
    (found,) = ingest(folder, *words, "--json", status=status).document("ingest")["rounds"]
    assert isinstance(found, dict)
    return found


def serving(folder: Path, name: str = "run.jsonl", **metrics: Any) -> Path:  # noqa: ANN401 - as in `request`
    path = folder / name
    path.write_bytes(lines(*(request(at, **metrics) for at in range(3))))
    return path


GIVEN = (
    "--slot", SLOT, "--code", f"main={CODE['main']}", "--commit", "main=abc", "--weights", WEIGHTS, "--harness", BINARY,
    "--environment", "gpu=H200",
)  # fmt: skip


# What is missing.


def test_every_option_that_is_missing_is_named_with_what_may_be_its_slot(tmp_path: Path) -> None:
    path = serving(tmp_path)
    out = ingest(tmp_path, path).out
    assert out.partition("\n\n")[2].splitlines() == [
        "round of run.jsonl",
        "  to seal it, give also",
        "    --slot project=…,node=…,quant=…,context=…,metric=…",
        "    --code main=…",
        "    --commit main=…",
        "    --weights …",
        "    --harness …",
        "    --environment gpu=… (or --node, on the machine that measured)",
        "  measured here, for the slot: metric=decode_tok_s,context=40; metric=ttft,context=40",
    ]
    found = plan(tmp_path, path)
    assert (found["round"], found["error"], found["facts"]) == (None, None, [])
    assert found["missing"][0].startswith("--slot project=…")


@pytest.mark.parametrize("option", ["--slot", "--code", "--commit", "--weights", "--harness", "--environment"])
def test_what_is_given_is_not_asked_for(tmp_path: Path, option: str) -> None:
    at = GIVEN.index(option)
    missing = plan(tmp_path, serving(tmp_path), *GIVEN[:at], *GIVEN[at + 2 :])["missing"]
    assert [each.partition(" ")[0] for each in missing] == [option]


def test_the_defaults_of_a_ledger_are_taken_where_there_is_one(desk: Desk) -> None:
    text = f'[slot]\nproject = "demo"\nnode = "{NODE}"\n[round]\nweights = "{WEIGHTS}"\n'
    path = desk.root / "rungbook.toml"
    path.write_text(path.read_text() + text)
    missing = plan(desk.root, serving(desk.root))["missing"]
    assert missing[0] == "--slot quant=…,context=…,metric=…"
    assert "--weights …" not in missing
    elsewhere = desk.root.parent
    assert plan(elsewhere, serving(elsewhere), "--ledger", desk.root)["missing"] == missing
    assert ingest(elsewhere, serving(elsewhere), "--ledger", "nowhere", status=UNAVAILABLE).code() == "E_NO_LEDGER"


# The round.


def test_the_round_is_shown_as_it_would_be_sealed(desk: Desk) -> None:
    found = plan(desk.root, *tool_words(*PAIR))
    assert (found["missing"], found["error"], found["quarantine"]) == ([], None, [])
    desk.run("append", *tool_words(*PAIR), "--key", desk.key("scorer"))
    body = json.loads(desk.receipt(3).read_bytes())["statement"]["predicate"]["round"]
    assert found["round"] == body
    assert found["facts"] == desk.run("show", "3", "--json").document("show")["facts"]


def test_the_round_in_words_is_that_of_show(desk: Desk) -> None:
    words = ingest(desk.root, *tool_words(*PAIR)).out.rpartition("\n\n")[2].splitlines()
    desk.run("append", *tool_words(*PAIR), "--key", desk.key("scorer"))
    shown = desk.run("show", "3").out.splitlines()
    assert words[0] == "round of " + ", ".join(path.name for _, path in PAIR)
    assert words[1:-1] == shown[shown.index(words[1]) :]
    assert words[-1].startswith("nothing is sealed")


def test_nothing_is_written(desk: Desk) -> None:
    before = sorted(path for path in desk.root.rglob("*"))
    ingest(desk.root, *tool_words(*PAIR))
    assert sorted(path for path in desk.root.rglob("*")) == before


def test_a_quarantine_is_said_before_anything_is_sealed(tmp_path: Path) -> None:
    path = serving(tmp_path, usage_prompt_cache_read_tokens=10)
    found = plan(tmp_path, path, *GIVEN)
    assert found["quarantine"] == ["F_PREFIX_CACHE"]
    assert "F_PREFIX_CACHE" in QUARANTINE
    assert [fault["code"] for fault in found["round"]["faults"]] == ["F_PREFIX_CACHE"]
    assert "quarantines it: out of frontier and pins until a review accepts it" in ingest(tmp_path, path, *GIVEN).out


def test_a_round_that_would_be_refused_is_refused_here_with_what_to_do(tmp_path: Path) -> None:
    path = serving(tmp_path)
    words = [word.replace("context=40", "context=41") for word in GIVEN]
    found = plan(tmp_path, path, *words, status=REFUSED)
    assert (found["round"], found["error"]["code"]) == (None, "E_CONTEXT_MISMATCH")
    out = ingest(tmp_path, path, *words, status=REFUSED).out
    assert "  refused  E_CONTEXT_MISMATCH" in out
    assert "  to do    " in out


def test_beside_a_file_that_is_refused_there_is_no_round(tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_bytes(lines(request()) + b"not json\n")
    document = ingest(tmp_path, serving(tmp_path), bad, *GIVEN, "--json", status=REFUSED).document("ingest")
    assert [bool(file["error"]) for file in document["files"]] == [False, True]
    assert document["rounds"] == []


def test_files_of_two_tools_are_no_round(tmp_path: Path) -> None:
    found = plan(tmp_path, serving(tmp_path), PAIR[0][1], status=REFUSED)
    assert found["error"]["code"] == "E_MIXED"


def test_an_unknown_tool_is_a_mistake_on_the_command_line(tmp_path: Path) -> None:
    assert ingest(tmp_path, serving(tmp_path), "--from", "stopwatch", status=REFUSED).code() == "E_TOOL"


# Rounds that are JSON already.


def test_round_json_is_shown_with_its_facts_and_faults(tmp_path: Path) -> None:
    path = tmp_path / "round.json"
    path.write_text(json.dumps(make_round()))
    found = plan(tmp_path, path)
    assert found["round"]["id"] == make_round()["id"]
    assert found["facts"]
    assert ingest(tmp_path, path).out.startswith(f"{path}: rungbook\n\nround of round.json\n")


def test_round_json_that_is_not_sound_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "round.json"
    path.write_text(json.dumps(make_round() | {"purpose": "show"}))
    assert plan(tmp_path, path, status=REFUSED)["error"]["code"] == "E_SCHEMA"


# Each file a round.


def test_every_file_can_be_a_round_of_its_own(desk: Desk) -> None:
    files = [path for role, path in REAL_ROUND if role == "main"][:3]
    words = ["--each", *tool_words(("main", files[0]))[4:], *files]
    rounds = ingest(desk.root, *words, "--json").document("ingest")["rounds"]
    assert [found["files"] for found in rounds] == [[str(path)] for path in files]
    done = desk.run("append", *words, "--key", desk.key("scorer"), "--json").document("append")
    assert [item["index"] for item in done["receipts"]] == [3, 4, 5]
    assert json.loads(desk.receipt(5).read_bytes())["statement"]["predicate"]["round"] == rounds[2]["round"]


@pytest.mark.parametrize("words", [("--arm", "main=x"), ("--round", "x"), ("--started-at", "main=x")])
def test_what_each_cannot_mean_is_refused(desk: Desk, words: tuple[str, str]) -> None:
    files = [path for role, path in REAL_ROUND if role == "main"][:2]
    done = desk.run("append", "--each", *files, *words, "--key", desk.key("scorer"), status=REFUSED)
    assert done.code() == "E_OPTION"


def test_each_without_files_is_refused(desk: Desk) -> None:
    assert desk.run("append", "--each", "--key", desk.key("scorer"), status=REFUSED).code() == "E_OPTION"


# Lines of a log.


def test_C18_lines_of_a_log_are_read_past_when_asked_for(tmp_path: Path) -> None:
    path = serving(tmp_path)
    sound = plan(tmp_path, path, *GIVEN)["round"]
    path.write_bytes(b"ggml: found 1 device\n" + path.read_bytes() + b"done.\n")
    ingest(tmp_path, path, "--from", "aiperf", status=REFUSED)
    body = plan(tmp_path, path, *GIVEN, "--from", "aiperf", "--skip-log-lines")["round"]
    assert [rep["records"] for rep in body["reps"]] == [rep["records"] for rep in sound["reps"]]
    (fault,) = body["faults"]
    assert (fault["code"], fault["message"]) == ("F_SKIPPED_LINES", "2 lines of a log read past, as asked for")
    assert body["attachments"][0]["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("row", [0, 1])
def test_lines_that_were_read_past_are_said_whichever_row_is_taken(tmp_path: Path, row: int) -> None:
    path = tmp_path / "two.json"
    results = [{"command": name, "times": [0.25, 0.5], "exit_codes": [0, 0]} for name in ("a", "b")]
    path.write_bytes(b"warning: slow\n" + json.dumps({"results": results}).encode() + b"\n")
    slot = f"project=demo,node={NODE},quant=none,context=0,metric=wall"
    given = ("--slot", slot, "--code", f"main={CODE['main']}", "--weights", WEIGHTS, "--harness", BINARY)
    more = ("--commit", "main=a", "--environment", "cpu=one", "--started-at", "main=2026-11-29T20:00:00Z")
    body = plan(tmp_path, path, "--skip-log-lines", "--row", f"main={row}", *given, *more)["round"]
    assert [fault["code"] for fault in body["faults"]] == ["F_SKIPPED_LINES", "F_ROWS_LEFT"]


def test_without_such_lines_nothing_is_said(tmp_path: Path) -> None:
    assert "faults" not in plan(tmp_path, serving(tmp_path), *GIVEN, "--skip-log-lines")["round"]


# Code, weights and node.


def test_the_code_can_be_a_tree(tmp_path: Path) -> None:
    path, tree = serving(tmp_path), tmp_path / "tree"
    (tree / "engine").mkdir(parents=True)
    (tree / "engine" / "a.c").write_bytes(b"a")
    (tree / "src").mkdir()
    (tree / "src" / "b.c").write_bytes(b"b")
    at = GIVEN.index("--code") + 1
    found = []
    both = {"engine/a.c": b"a", "src/b.c": b"b"}
    for value, files in ((f"{tree}:engine", {"engine/a.c": b"a"}), (f"{tree}:src,engine", both), (f"{tree}:.", both)):
        words = [*GIVEN[:at], f"main={value}", *GIVEN[at + 1 :]]
        found.append(plan(tmp_path, path, *words)["round"]["arms"][0]["code_sha256"])
        listed = b"".join(name.encode() + b"\0" + data + b"\0" for name, data in files.items())
        assert found[-1] == hashlib.sha256(listed).hexdigest()
    for value in (f"{tree}:docs", f"{tree}:", f"{tree}"):
        words = [*GIVEN[:at], f"main={value}", *GIVEN[at + 1 :]]
        assert plan(tmp_path, path, *words, status=REFUSED)["error"]["code"] == "E_CODE_FOLDERS"
    (tree / "docs").mkdir()
    words = [*GIVEN[:at], f"main={tree}:docs", *GIVEN[at + 1 :]]
    assert plan(tmp_path, path, *words, status=REFUSED)["error"]["code"] == "E_CODE_EMPTY"
    for name in ("engine", "server", "tools", "ops"):
        (tree / name).mkdir(exist_ok=True)
    words = [*GIVEN[:at], f"main={tree}", *GIVEN[at + 1 :]]
    assert plan(tmp_path, path, *words)["round"]["arms"][0]["code_sha256"] == found[0]


FACTS = {"cpu": "one", "cores": 2, "kernel": "6.1", "load": "0.10 0.20 0.30"}


@pytest.fixture
def _facts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cli.tool_files.collect_facts", lambda: dict(FACTS))


@pytest.mark.usefixtures("_facts")
def test_the_facts_of_this_node_are_taken_when_asked_for_and_given_ones_come_first(tmp_path: Path) -> None:
    at = GIVEN.index("--environment")
    words = GIVEN[:at]
    assert plan(tmp_path, serving(tmp_path), *words, "--node")["round"]["environment"] == FACTS
    body = plan(tmp_path, serving(tmp_path), *GIVEN, "--environment", "kernel=5", "--node")["round"]
    assert body["environment"] == FACTS | {"gpu": "H200", "kernel": "5"}


def test_the_load_of_the_moment_makes_no_other_round(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    path = serving(desk.root)
    for load, existed in (("0.10", False), ("9.90", True)):
        monkeypatch.setattr("cli.tool_files.collect_facts", lambda load=load: FACTS | {"load": load})
        words = ("append", path, *GIVEN, "--node", "--key", desk.key("scorer"), "--json")
        (receipt,) = desk.run(*words).document("append")["receipts"]
        assert (receipt["index"], receipt["existed"]) == (3, existed)
    body = json.loads(desk.receipt(3).read_bytes())["statement"]["predicate"]["round"]
    assert body["environment"]["load"] == "0.10"


@pytest.mark.usefixtures("_facts")
def test_a_file_of_another_processor_was_not_measured_on_this_node(desk: Desk) -> None:
    found = plan(desk.root, *tool_words(*PAIR), "--node", status=REFUSED)
    assert found["error"]["code"] == "E_MIXED"
    assert "'one'" in found["error"]["message"]


def test_the_facts_of_a_node_are_read_from_where_it_has_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in {
        "proc/cpuinfo": "processor : 0\nmodel name\t: Fast CPU\nmodel name\t: Other\n",
        "proc/meminfo": "MemTotal:       1024 kB\nMemFree: 1 kB\n",
        "proc/loadavg": "0.50 0.25 0.10 1/200 4242\n",
        "etc/os-release": 'NAME="x"\nPRETTY_NAME="Some OS 1"\n',
        "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "performance\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    program = tmp_path / "nvidia-smi"
    program.write_text("#!/bin/sh\necho 'H200, 570.1'\necho 'H200, 570.1'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    facts = node.collect_facts(tmp_path)
    assert facts.pop("cores") >= 1
    assert facts.pop("kernel")
    assert facts == {
        "cpu": "Fast CPU",
        "memory_bytes": 1024 * 1024,
        "os": "Some OS 1",
        "governor": "performance",
        "load": "0.50 0.25 0.10",
        "gpu": "H200",
        "gpus": 2,
        "driver": "570.1",
    }


@pytest.mark.parametrize("script", ["exit 1", "echo nothing", "exec no-such-program"])
def test_what_a_node_does_not_have_is_absent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    program = tmp_path / "nvidia-smi"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert not {"gpu", "gpus", "driver", "governor", "load", "memory_bytes"} & node.collect_facts(tmp_path).keys()
    monkeypatch.setenv("PATH", "")
    assert not {"gpu", "gpus", "driver"} & node.collect_facts(tmp_path).keys()
