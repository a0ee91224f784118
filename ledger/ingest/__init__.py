"""From a tool's own output to a round, strictly.

An adapter (`ledger.ingest.adapter.Adapter`) knows one tool's format and turns a file into measured rows.
`ledger.ingest.build.build_round` makes a round of the rows of all files, whatever the tool. The table of adapters is
here: a new tool is one new file and one line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.errors import MalformedError, RefusedError
from ledger.ingest.aiperf import Aiperf
from ledger.ingest.aiperf_summary import AiperfSummary
from ledger.ingest.asv import Asv
from ledger.ingest.google_benchmark import GoogleBenchmark
from ledger.ingest.hyperfine import Hyperfine
from ledger.ingest.k3_baseline import K3Baseline
from ledger.ingest.llama_bench import LlamaBench
from ledger.ingest.perplexity_text import recognises as is_perplexity_text
from ledger.ingest.pytest_benchmark import PytestBenchmark
from ledger.ingest.sglang.one_batch import SglangOneBatch
from ledger.ingest.sglang.serving import SglangServing
from ledger.ingest.tandem.block_ab import TandemBlockAb
from ledger.ingest.tandem.forced import TandemForced
from ledger.ingest.tandem.record import TandemRecord
from ledger.ingest.tandem.report import TandemReport
from ledger.ingest.trtllm_bench import TrtllmBench
from ledger.ingest.values import read_json_lenient
from ledger.ingest.vllm.latency import VllmLatency
from ledger.ingest.vllm.serve import VllmServe
from ledger.ingest.vllm.throughput import VllmThroughput
from ledger.json_input import refuse_lfs_pointer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ledger.ingest.adapter import Adapter

ADAPTERS: Mapping[str, Adapter] = {
    adapter.name: adapter
    for adapter in (
        LlamaBench(),
        Aiperf(),
        TandemRecord(),
        TandemReport(),
        TandemBlockAb(),
        TandemForced(),
        K3Baseline(),
        AiperfSummary(),
        SglangServing(),
        SglangOneBatch(),
        TrtllmBench(),
        VllmServe(),
        VllmLatency(),
        VllmThroughput(),
        Hyperfine(),
        PytestBenchmark(),
        GoogleBenchmark(),
        Asv(),
    )
}


_NO_NUMBERS = (b"NaN", b"Infinity")


def find_adapter(name: str) -> Adapter:
    """The adapter of a tool.

    Raises:
        RefusedError: ``E_TOOL`` with the names that are known.
    """
    if name not in ADAPTERS:
        raise RefusedError("E_TOOL", f"there is no adapter for {name!r}; known: {', '.join(ADAPTERS)}", where="--from")
    return ADAPTERS[name]


def recognise(raw: bytes, what: str) -> Adapter:
    """The adapter of the tool that wrote some bytes, by what stands in them.

    Raises:
        MalformedError: ``E_FORMAT`` when none knows them, or several do; ``E_NONFINITE`` when none does and they are
            JSON but for a number that is none; ``E_EMPTY_RESULTS`` for an empty file; ``E_LFS_POINTER`` for what stands
            in place of one.
    """
    refuse_lfs_pointer(raw, what)
    if not raw.strip():
        raise MalformedError("E_EMPTY_RESULTS", "the file is empty", where=what)
    found = [adapter for adapter in ADAPTERS.values() if adapter.recognises(raw)]
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(adapter.name for adapter in found)
        raise MalformedError("E_FORMAT", f"it could be of {names}; name the tool with --from", where=what)
    if is_perplexity_text(raw):
        raise MalformedError("E_FORMAT", "a text of llama-perplexity: give it as --parity ROLE=FILE", where=what)
    _refuse_nonfinite(raw, what)
    raise MalformedError(
        "E_FORMAT",
        "no tool that is known here wrote it as it is, or it is cut (rungbook ingest --list has them; --from names it)",
        where=what,
    )


def _refuse_nonfinite(raw: bytes, what: str) -> None:
    """Refuse what would be JSON, or JSON Lines, but for a bare ``NaN`` or ``Infinity``: this is its fault."""
    if not any(word in raw for word in _NO_NUMBERS):
        return
    try:
        _, places = read_json_lenient(raw, what)
        found = [what + place for place in places]
    except MalformedError as whole:
        if whole.code != "E_JSON":
            return
        lines = [(number, line) for number, line in enumerate(raw.split(b"\n"), 1) if line.strip()]
        try:
            read = [(name := f"{what}, line {number}", read_json_lenient(line, name)) for number, line in lines]
        except MalformedError:
            return
        found = [name + place for name, (_, places) in read for place in places]
    if found:
        raise MalformedError(
            "E_NONFINITE", "a bare NaN or Infinity is not a number that can be recorded, and no JSON", where=found[0]
        )
