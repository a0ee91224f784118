"""Both sides of every refusal of a tool's file: what is just refused, and what is just read and makes a round."""

from __future__ import annotations

import os
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from ledger.canonical import MAX_BYTES, MAX_DEPTH
from ledger.ingest import find_adapter
from ledger.ingest.checks import examine_round
from ledger.ingest.companions import ReadsCompanions
from ledger.ingest.perplexity import read_parity
from ledger.store.disk import read_regular_file
from tests.support.edges import Refusal
from tests.support.kld import kld_text
from tests.support.llama_bench import ROW
from tests.support.rounds import sha256_hex
from tests.support.tandem import (
    asked,
    block,
    block_ab,
    encode,
    files_of,
    named,
    record,
    report,
    request,
    seal,
    warm_up,
)
from tests.support.timed import ASV, GOOGLE, HYPERFINE, PYTEST, changed, raw
from tests.support.tool_rounds import round_of_anything
from tests.support.vllm import as_json, detailed
from tests.support.vllm import request as vllm_request

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ledger.ingest.adapter import Row

SOUND = raw(HYPERFINE)
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 7\n"
LLAMA = ROW | {"n_prompt": 0}


def take(tool: str, found: bytes, files: Mapping[str, bytes] | None = None) -> list[Row]:
    """The rows of a file, the first of which makes a round that is signed."""
    adapter = find_adapter(tool)
    if isinstance(adapter, ReadsCompanions):
        rows = adapter.read_with(found, files or {}, "x.json")
    else:
        rows = adapter.read(found, "x.json")
    examine_round(round_of_anything(rows[:1], found, tool))
    return rows


# Bytes of hyperfine, whose form is the plainest.


def take_bytes(old: bytes, new: bytes) -> list[Row]:
    """A file in which some bytes stand in place of others."""
    assert old in SOUND
    return take("hyperfine", SOUND.replace(old, new, 1))


def take_once(seconds: str) -> list[Row]:
    """One run of so many seconds, in just these digits."""
    result = changed(changed(HYPERFINE, "results/0/exit_codes", [0]), "results/0/times", ["-"])
    return take("hyperfine", raw(result).replace(b'"-"', seconds.encode()))


def take_padded(size: int) -> list[Row]:
    return take("hyperfine", SOUND.ljust(size))


def take_nested(levels: int) -> list[Row]:
    """What a test added to its result: lists in lists from the fifth level of the file down to this one."""
    nested: list[Any] = []
    for _ in range(levels - 5):
        nested = [nested]
    return take("pytest-benchmark", raw(changed(PYTEST, "benchmarks/0/extra_info", {"shape": nested})))


def take_changed(tool: str, document: dict[str, Any], path: str, value: Any) -> list[Row]:  # noqa: ANN401 - any JSON value
    return take(tool, raw(changed(document, path, value)))


take_hyperfine = partial(take_changed, "hyperfine", HYPERFINE)
take_pytest = partial(take_changed, "pytest-benchmark", PYTEST)
take_google = partial(take_changed, "google-benchmark", GOOGLE)


def take_columns(count: int) -> list[Row]:
    """A row of asv with so many values more or fewer than there are names of columns."""
    row = [*ASV["results"]["bench.time_sum"], None, None]
    return take_changed("asv", ASV, "results/bench.time_sum", row[: len(ASV["result_columns"]) + count])


def take_counted(total: int) -> list[Row]:
    return take("vllm-serve", as_json(detailed(vllm_request(), vllm_request(), total_output_tokens=total)))


def take_share(percent: str) -> object:
    """A text of llama-perplexity in which so many first tokens are those of the reference."""
    return read_parity(kld_text(changes={"Same top p": f"{percent} ± 0.537 %"}).encode(), "x")


def take_end(cut: int) -> object:
    """The same without its last bytes, white space aside."""
    text = kld_text().encode().rstrip()
    return read_parity(text[: len(text) - cut], "x")


# TandemLLM.


def take_record(**changes: Any) -> list[Row]:  # noqa: ANN401 - members of a request
    """A record whose first measured request has other members."""
    listed = [warm_up(), request(0, **changes), *(request(at) for at in range(1, 4))]
    return take("tandem-record", encode(record(*listed, iterations=[{"duration_s": 11.6}])))


def take_sealed(ttft_ms: float, *, again: bool) -> list[Row]:
    """A record that was changed after it was sealed, and sealed again or not."""
    found = record()
    found["raw"]["payload"]["requests"][1]["ttft_ms"] = ttft_ms
    return take("tandem-record", encode(seal(found) if again else found))


def take_version(version: str) -> list[Row]:
    """A record whose engine is said to be of a version, and whose cell is named after 0.3."""
    names = named()
    return take("tandem-record", encode(record(**names | {"engine": names["engine"] | {"version": version}})))


def take_report(files: Mapping[str, bytes] | None = None, **members: Any) -> list[Row]:  # noqa: ANN401 - of a report
    return take("tandem-report", encode(report(**members)), files_of() if files is None else files)


def take_iterations(count: int) -> list[Row]:
    """A report of one record of so many repetitions of its workload, of which nothing is printed."""
    listed = [
        request(at, id=f"i{number}-r{at:05}", e2e_ms=4000.0 + at + number) for number in range(count) for at in range(4)
    ]
    made = record(*listed, iterations=[block(listed[:4])] * count)
    runs = [{"tag": "1", "record": "base/raw-1/run.json", "bench_wall_s": 30.5}]
    found = report(runs=runs, summary={}, accept_curve=[], first_miss={})
    return take("tandem-report", encode(found), {"base/raw-1/run.json": encode(made)})


def take_block(**members: Any) -> list[Row]:  # noqa: ANN401 - members of a result
    return take("tandem-block-ab", encode(block_ab(**members)))


def take_text(token: int) -> list[Row]:
    """A block A/B whose last answer ends with a token."""
    runs = block_ab()["runs"]
    runs[-1] |= {"out": [*runs[-1]["out"][:-1], token], "sha": None}
    return take_block(runs=runs)


# Places on the disk, below the folder in which a test runs.


def read_made(make: Callable[[Path], None]) -> bytes:
    make(Path("run.json"))
    return read_regular_file(Path("run.json"), 1)


def read_while(more: bytes) -> bytes:
    """Read a file to which something is added meanwhile."""
    path, read = Path("run.json"), os.read
    path.write_bytes(b"{}")

    def read_slowly(handle: int, count: int) -> bytes:
        found = read(handle, count)
        with path.open("ab") as file:
            file.write(more)
        return found

    with patch("os.read", read_slowly):
        return read_regular_file(path, 9)


FILES: dict[str, Refusal] = {
    "E_UTF8": Refusal(lambda: take_bytes(b"sort", b"so\xc3"), lambda: take_bytes(b"sort", b"so\xc3\xa9")),
    "E_JSON": Refusal(lambda: take("hyperfine", SOUND[:-1]), lambda: take("hyperfine", SOUND)),
    "E_DUPLICATE_KEY": Refusal(lambda: take_bytes(b'"mean"', b'"median"'), lambda: take_bytes(b'"mean"', b'"median2"')),
    # The largest number of double precision, and what is nearer to the next one, which is infinite.
    "E_NONFINITE": Refusal(
        lambda: take_bytes(b'"mean": 0.3', b'"mean": 1.7976931348623159e308'),
        lambda: take_bytes(b'"mean": 0.3', b'"mean": 1.7976931348623157e308'),
    ),
    "E_DOMAIN": Refusal(
        lambda: take_bytes(b"sort big", rb"sort\u001fbig"), lambda: take_bytes(b"sort big", rb"sort\u0020big")
    ),
    "E_DEPTH": Refusal(lambda: take_nested(MAX_DEPTH + 1), lambda: take_nested(MAX_DEPTH)),
    "E_SIZE": Refusal(lambda: take_padded(MAX_BYTES + 1), lambda: take_padded(MAX_BYTES)),
    "E_NOT_A_FILE": Refusal(lambda: read_made(os.mkfifo), lambda: read_made(Path.touch)),
    "E_BEING_WRITTEN": Refusal(lambda: read_while(b"\n"), lambda: read_while(b"")),
    "E_LFS_POINTER": Refusal(
        lambda: take("hyperfine", POINTER.encode()), lambda: take_hyperfine("results/0/command", POINTER)
    ),
    "E_FORMAT": Refusal(
        lambda: take_hyperfine("results", HYPERFINE["results"][0]),
        lambda: take_hyperfine("results", HYPERFINE["results"]),
    ),
    "E_TOOL": Refusal(lambda: take("Hyperfine", SOUND), lambda: take("hyperfine", SOUND)),
    "E_FIELD": Refusal(
        lambda: take_hyperfine("results/0/exit_codes", [0, 0]),
        lambda: take_hyperfine("results/0/exit_codes", [0, 0, 0]),
    ),
    "E_COLUMN_COUNT": Refusal(lambda: take_columns(1), lambda: take_columns(0)),
    "E_NO_SAMPLES": Refusal(
        lambda: take_pytest("benchmarks/0/stats/rounds", 4), lambda: take_pytest("benchmarks/0/stats/rounds", 3)
    ),
    "E_TRUNCATED": Refusal(lambda: take_end(1), lambda: take_end(0)),
    "E_PARITY_RANGE": Refusal(lambda: take_share("100.001"), lambda: take_share("100.000")),
    # A sample may be as long as the largest number that a receipt can hold, and no longer.
    "E_SAMPLE": Refusal(lambda: take_once("9007199.254740992"), lambda: take_once("9007199.254740991")),
    # Half a nanosecond is rounded to the even number, which is 0.
    "E_ZERO_TIME": Refusal(lambda: take_once("0.0000000005"), lambda: take_once("0.00000000050001")),
    "E_EXIT_NONZERO": Refusal(
        lambda: take_hyperfine("results/0/exit_codes/2", 1), lambda: take_hyperfine("results/0/exit_codes/2", 0)
    ),
    "E_DIRECTION": Refusal(
        lambda: take_hyperfine("results/0/higher_is_better", value=True),
        lambda: take_hyperfine("results/0/parameters/higher_is_better", value="yes"),
    ),
    "E_WORKLOAD": Refusal(
        lambda: take("llama-bench", raw([LLAMA])), lambda: take("llama-bench", raw([LLAMA | {"n_gen": 1}]))
    ),
    "E_UNIT": Refusal(
        lambda: take_google("benchmarks/3/time_unit", "µs"), lambda: take_google("benchmarks/3/time_unit", "us")
    ),
    "E_DIRTY": Refusal(lambda: take_pytest("commit_info/dirty", True), lambda: take_pytest("commit_info/dirty", False)),  # noqa: FBT003 - a JSON value
    "E_REQUEST_COUNT": Refusal(lambda: take_counted(23), lambda: take_counted(22)),
    "E_PAYLOAD_DIGEST": Refusal(lambda: take_sealed(501.5, again=False), lambda: take_sealed(501.5, again=True)),
    "E_RECORD_ID": Refusal(lambda: take_version("0.4.24"), lambda: take_version("0.3.25")),
    "E_TOKEN_SOURCE": Refusal(
        lambda: take_record(token_source="chunks"),  # noqa: S106 - no secret
        lambda: take_record(token_source="usage"),  # noqa: S106 - no secret
    ),
    "E_TTFT_MISSING": Refusal(lambda: take_record(ttft_ms=None), lambda: take_record(ttft_ms=1e-6)),
    "E_UNUSABLE": Refusal(lambda: take_record(completion_tokens=1), lambda: take_record(completion_tokens=2)),
    "E_SAMPLING": Refusal(
        lambda: take("tandem-record", encode(record(**asked(temperature=0.01)))),
        lambda: take("tandem-record", encode(record(**asked(temperature=0.00)))),
    ),
    # Nothing is read without a run's record; without its log it is flagged.
    "E_COMPANION": Refusal(
        lambda: take_report({name: found for name, found in files_of().items() if "raw-3" not in name}),
        lambda: take_report({name: found for name, found in files_of().items() if "slice-3" not in name}),
    ),
    "E_ITERATIONS": Refusal(lambda: take_iterations(2), lambda: take_iterations(1)),
    "E_STORE": Refusal(lambda: take_report(suffix_store="live-rw"), lambda: take_report(suffix_store="live")),
    "E_DIGEST": Refusal(lambda: take_block(code="C0" * 32), lambda: take_block(code="c0" * 32)),
    "E_NO_CODE": Refusal(lambda: take_block(code=sha256_hex("")), lambda: take_block(code=sha256(b"\0").hexdigest())),
    "E_TOKENS_DIFFER": Refusal(lambda: take_text(128), lambda: take_text(127)),
}
