"""Files that are larger than anything that is read, and files just below that: what becomes of them, in what memory.

The programs are real processes. A parent of theirs that is small itself says how much memory they took at most: a
process keeps the figure of the one that started it.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, NamedTuple

import pytest

from ledger.canonical import MAX_BYTES
from ledger.ingest import ADAPTERS
from tests.cli.program import OK, PROGRAM, REFUSED, Result, run_process
from tests.cli.samples import CODE, NODE, RUNS, WEIGHTS, tool_words
from tests.support import aiperf, tandem
from tests.support.dense_files import DENSE
from tests.support.tool_seeds import seeds

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Desk

MIB = 1 << 20
HUGE = 200 * 10**6
LARGE = 15 * 10**6
PATIENCE_S = 10
MOST_OVER_BASELINE = 64 * MIB
MOST_PER_BYTE = 50
"""Bytes of memory for each byte of a dense file, above what the program takes without one.

Lists of samples take up to 30, short rows up to 33, and up to 46 where ``ingest --json`` prints forty thousand of them.
"""

# The figure of a process begins with that of the one that it was started by.
MEASURE = """
import os, sys
process = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ)
_, status, used = os.wait4(process, 0)
open(sys.argv[1], "w").write(str(used.ru_maxrss * (1 if sys.platform == "darwin" else 1024)))
sys.exit(os.waitstatus_to_exitcode(status) % 256)
"""


class Measured(NamedTuple):
    """What a process left, and the most memory that it took, in bytes."""

    result: Result
    peak: int


def run_measured(folder: Path, *words: str | Path, cwd: Path | None = None, timeout_s: float = PATIENCE_S) -> Measured:
    note = folder / "peak"
    command = (sys.executable, "-I", "-S", "-c", MEASURE, note, PROGRAM)
    result = run_process(*words, cwd=cwd or folder, command=command, timeout_s=timeout_s)
    return Measured(result, int(note.read_text()))


@pytest.fixture(scope="module")
def baseline(tmp_path_factory: pytest.TempPathFactory) -> int:
    """Memory of the program without any file."""
    done = run_measured(tmp_path_factory.mktemp("baseline"), "ingest", "--list")
    assert done.result.status == OK
    return done.peak


def sound_start(name: str) -> bytes:
    own = seeds().get(name)
    return own[0][1] if own else (RUNS / "round1_1a_main.json").read_bytes()


def write_huge(path: Path, start: bytes) -> Path:
    """A file of 200 MB that begins like a sound one; the rest is a hole, which takes no room on the disk."""
    with path.open("wb") as file:
        file.write(start)
        file.truncate(HUGE)
    return path


def check_refused(done: Measured, path: Path, baseline: int) -> None:
    assert done.result.status == REFUSED, done.result
    assert done.result.code() == "E_SIZE"
    assert str(path) in done.result.err
    assert f"{HUGE} bytes, at most {MAX_BYTES} are read at once" in done.result.err
    assert "split the run, or attach the file by its digest" in done.result.err
    assert done.peak < HUGE
    assert done.peak - baseline < MOST_OVER_BASELINE


def test_huge_files_of_all_tools_are_shown_as_too_large_in_little_memory(tmp_path: Path, baseline: int) -> None:
    paths = [write_huge(tmp_path / f"{name}.json", sound_start(name)) for name in ADAPTERS]
    done = run_measured(tmp_path, "ingest", *paths, "--json")
    assert done.result.status == REFUSED, done.result
    files = done.result.document("ingest")["files"]
    assert [(file["file"], file["error"]["code"]) for file in files] == [(str(path), "E_SIZE") for path in paths]
    assert all(file["error"]["where"] == file["file"] for file in files)
    assert done.peak < HUGE
    assert done.peak - baseline < MOST_OVER_BASELINE


@pytest.mark.parametrize("name", ADAPTERS)
def test_a_huge_file_is_not_sealed(desk: Desk, tmp_path: Path, baseline: int, name: str) -> None:
    path = write_huge(tmp_path / "result.json", sound_start(name))
    done = run_measured(tmp_path, "append", "--from", name, path, "--key", desk.key("scorer"), cwd=desk.root)
    check_refused(done, path, baseline)
    assert desk.size == 3


def test_lines_that_are_all_sound_are_no_reason_to_read_them_in_part(desk: Desk, tmp_path: Path, baseline: int) -> None:
    path = tmp_path / "profile_export.jsonl"
    line = aiperf.lines(aiperf.request())
    with path.open("wb") as file:
        for _ in range(HUGE // (len(line) * 1000) + 1):
            file.write(line * 1000)
        file.truncate(HUGE)
    for command in (["ingest"], ["append", "--key", str(desk.key("scorer"))]):
        done = run_measured(tmp_path, *command, path, cwd=desk.root)
        assert done.result.status == REFUSED, done.result
        assert "E_SIZE" in done.result.out + done.result.err
        assert done.peak - baseline < MOST_OVER_BASELINE
    assert desk.size == 3


def test_a_record_that_a_report_names_is_no_larger(desk: Desk, tmp_path: Path, baseline: int) -> None:
    for name, raw in tandem.files_of().items():
        place = tmp_path / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(raw)
    record = write_huge(tmp_path / "base" / "raw-2" / "run.json", b"{")
    path = tmp_path / "report.json"
    path.write_bytes(tandem.encode(tandem.report()))
    shown = run_measured(tmp_path, "ingest", path)
    assert (shown.result.status, "E_SIZE" in shown.result.out) == (REFUSED, True), shown.result
    assert str(record) in shown.result.out
    check_refused(run_measured(tmp_path, "append", path, "--key", desk.key("scorer"), cwd=desk.root), record, baseline)
    assert desk.size == 3


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["append", "{huge}"], id="round"),
        pytest.param(["append", *tool_words(("main", RUNS / "round1_1a_main.json")), "--extra", "{huge}"], id="extra"),
        pytest.param(
            ["append", *tool_words(("main", RUNS / "round1_1a_main.json")), "--parity", "main={huge}"], id="parity"
        ),
        pytest.param(["attest", "{huge}"], id="attest"),
        pytest.param(["compare", "{huge}", "--", "{huge}"], id="compare"),
    ],
)
def test_no_other_file_is_larger_either(desk: Desk, tmp_path: Path, baseline: int, words: list[str | Path]) -> None:
    huge = write_huge(tmp_path / "huge", b"{")
    said = [str(word).format(huge=huge) for word in words]
    said += [] if words[0] == "compare" else ["--key", str(desk.key("scorer"))]
    done = run_measured(tmp_path, *said, cwd=desk.root)
    assert (done.result.status, done.result.code()) == (REFUSED, "E_SIZE"), done.result
    assert str(huge) in done.result.err
    assert done.peak - baseline < MOST_OVER_BASELINE
    assert desk.size == 3


def test_an_envelope_may_be_larger_by_its_base64_and_no_more(desk: Desk, tmp_path: Path) -> None:
    path = tmp_path / "envelope.json"
    path.write_bytes(b" " * (2 * MAX_BYTES + 1))
    done = desk.run("seal", path, status=REFUSED)
    assert done.code() == "E_SIZE"
    path.write_bytes(b" " * (2 * MAX_BYTES))
    assert desk.run("seal", path, status=REFUSED).code() != "E_SIZE"


# Just below what is read.

COMMIT = ["--commit", "main=abc1234"]
ROUNDS = {
    "llama-bench, samples": ("prefill_tok_s", 512, []),
    "aiperf": ("decode_tok_s", 40, COMMIT),
    "vllm-serve": ("decode_tok_s", 100, [*COMMIT, "--zone", "+00:00"]),
    "tandem-record": ("decode_tok_s", 200, [*COMMIT, "--started-at", "main=2026-11-29T20:00:00Z"]),
}
"""Of some dense files: metric, context, and what must be given beside what every file needs."""


def check_ended(done: Measured, size: int, baseline: int) -> None:
    """With rows or a refusal that has a code, never with a traceback, and in a bounded multiple of the file."""
    assert done.result.status in {OK, REFUSED}, done.result.err[-2000:]
    assert done.result.status == OK or "E_" in done.result.out + done.result.err
    assert done.peak - baseline < MOST_PER_BYTE * size


def tell(dense: str, done: Measured, size: int, baseline: int) -> None:
    per_byte = (done.peak - baseline) / size
    print(f"{dense}: {done.peak / MIB:.0f} MiB, {per_byte:.1f} x the file")  # noqa: T201 - the figure of the soak


def append_dense(desk: Desk, folder: Path, dense: str, size: int, timeout_s: float) -> Measured:
    tool, make = DENSE[dense]
    metric, context, given = ROUNDS[dense]
    path = folder / "result.json"
    path.write_bytes(make(size))
    slot = f"project=demo,node={NODE},quant=other,context={context},metric={metric}"
    digests = ["--code", f"main={CODE['main']}", "--weights", WEIGHTS, "--harness", WEIGHTS, "--environment", "os=any"]
    words = ["append", "--from", tool, str(path), "--slot", slot, *digests, *given, "--key", str(desk.key("scorer"))]
    return run_measured(folder, *words, cwd=desk.root, timeout_s=timeout_s)


@pytest.mark.parametrize("dense", ROUNDS)
def test_a_dense_file_is_sealed_in_a_bounded_multiple_of_its_size(
    desk: Desk, tmp_path: Path, baseline: int, dense: str
) -> None:
    done = append_dense(desk, tmp_path, dense, 10**6, 60)
    check_ended(done, 10**6, baseline)
    assert (done.result.status, desk.size) == (OK, 4), done.result


@pytest.mark.soak
@pytest.mark.parametrize("dense", ROUNDS)
def test_a_dense_file_just_below_the_limit_is_sealed_or_refused(
    desk: Desk, tmp_path: Path, baseline: int, dense: str
) -> None:
    done = append_dense(desk, tmp_path, dense, LARGE, 300)
    check_ended(done, LARGE, baseline)
    tell(dense, done, LARGE, baseline)


@pytest.mark.soak
@pytest.mark.parametrize("dense", DENSE)
def test_a_dense_file_just_below_the_limit_is_shown(tmp_path: Path, baseline: int, dense: str) -> None:
    path = tmp_path / "result.json"
    path.write_bytes(DENSE[dense][1](LARGE))
    size = path.stat().st_size
    done = run_measured(tmp_path, "ingest", path, "--json", timeout_s=300)
    check_ended(done, size, baseline)
    assert json.loads(done.result.out)["files"][0]["rows"]
    tell(dense, done, size, baseline)
