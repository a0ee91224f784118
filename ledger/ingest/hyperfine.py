"""hyperfine, ``--export-json``: one result per command.

The raw data are ``times``, seconds per run. Nothing in the file says when, where or on which code it ran. A command
that dies at once is a great time, so one that failed is refused, and a file that keeps no exit status is flagged. All
runs of a file in their order show a node that grows slower or faster while it runs: then two commands are not
compared, but two times of day.

Source: ``BenchmarkResult`` of github.com/sharkdp/hyperfine.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from ledger.errors import MalformedError
from ledger.ingest.adapter import Row
from ledger.ingest.direction import read_tool_json
from ledger.ingest.timed import (
    ONE_SAMPLE,
    compare_printed,
    read_duration,
    reported_value,
    setting_texts,
    summarise,
    total_ns,
    whole_ns,
    wrong_kind,
)
from ledger.ingest.values import as_object, as_text
from ledger.metrics import NS_PER_S

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from ledger.canonical import JsonObject

_RESULTS = re.compile(rb'"results"\s*:\s*\[')
_STATISTICS = ("mean", "stddev", "median", "user", "system", "min", "max", "memory_usage_byte", "exit_codes")
_FEWEST_FOR_DRIFT = 5


class Hyperfine:
    """The adapter (see `ledger.ingest.adapter.Adapter`)."""

    name = "hyperfine"
    about = "hyperfine --export-json"

    def recognises(self, raw: bytes) -> bool:
        """See `Adapter`."""
        statistics = b'"times"' in raw or (b'"stddev"' in raw and b'"system"' in raw)
        return statistics and b'"command"' in raw and bool(_RESULTS.search(raw))

    def read(self, raw: bytes, what: str) -> list[Row]:
        """See `Adapter`. A row is a command."""
        document = as_object(read_tool_json(raw, what), what)
        results = document.pop("results", None)
        if not isinstance(results, list):
            raise MalformedError("E_FORMAT", "expected a list of results of hyperfine", where=what)
        if not results:
            raise MalformedError("E_EMPTY_RESULTS", "the file holds no result", where=f"{what}/results")
        common = setting_texts(document, what)
        objects = [as_object(result, f"{what}/results/{at}") for at, result in enumerate(results)]
        times = [_times(result, f"{what}/results/{at}") for at, result in enumerate(objects)]
        drift = _drift([time for each in times for time in each])
        return [
            _row(at, result, seconds=seconds, common=common, drift=drift, where=f"{what}/results/{at}")
            for at, (result, seconds) in enumerate(zip(objects, times, strict=True))
        ]


def _times(result: JsonObject, where: str) -> list[Fraction]:
    times = result.get("times")
    if times is None:
        raise MalformedError("E_NO_SAMPLES", "statistics without the times of the runs", where=f"{where}/times")
    if not isinstance(times, list):
        raise wrong_kind("a list of times", times, f"{where}/times")
    if not times:
        raise MalformedError("E_EMPTY_RESULTS", "times holds no run", where=f"{where}/times")
    return [read_duration(time, f"{where}/times/{at}") for at, time in enumerate(times)]


def _row(
    number: int, result: JsonObject, *, seconds: list[Fraction], common: dict[str, str], drift: list[str], where: str
) -> Row:
    notes = _exit_notes(result, len(seconds), where)
    samples = [whole_ns(time, NS_PER_S, f"{where}/times/{at}") for at, time in enumerate(seconds)]
    notes += [ONE_SAMPLE] if len(samples) == 1 else []
    return Row(
        number=number,
        metrics=("wall",),
        context=0,
        workload={},
        records={"wall_ns": samples},
        wall_ns=total_ns(samples, f"{where}/times"),
        started_at="",
        reported={name: reported_value(result[name]) for name in _STATISTICS if name in result},
        settings=common | _settings(result, where),
        environment={},
        weights={},
        harness={"name": "hyperfine"},
        commit=None,
        notes=tuple(notes + drift + compare_printed(result, summarise(seconds))),
    )


def _settings(result: JsonObject, where: str) -> dict[str, str]:
    """The command, its parameters, and everything that a newer version may add."""
    as_text(result.get("command"), f"{where}/command")
    measured = {*_STATISTICS, "times", "parameters"}
    plain = setting_texts({name: value for name, value in result.items() if name not in measured}, where)
    return plain | setting_texts(result.get("parameters"), f"{where}/parameters", "parameters/")


def _exit_notes(result: JsonObject, runs: int, where: str) -> list[str]:
    """A note when no exit status is kept; a failure is refused."""
    codes = result.get("exit_codes")
    if codes is None:
        return ["F_EXIT_UNKNOWN: no exit status is kept: nothing shows that the command succeeded"]
    if not isinstance(codes, list) or len(codes) != runs:
        raise MalformedError("E_FIELD", f"expected {runs} exit codes, one per run", where=f"{where}/exit_codes")
    for at, code in enumerate(codes):
        if code is not None and type(code) is not int:
            raise wrong_kind("an exit code", code, f"{where}/exit_codes/{at}")
        if code != 0:
            how = "was killed by a signal" if code is None else f"ended with status {code}"
            raise MalformedError("E_EXIT_NONZERO", f"the command {how}", where=f"{where}/exit_codes/{at}")
    return []


def _drift(times: Sequence[Fraction]) -> list[str]:
    """A note when every run of the file took longer, or every run less long, than the one before it."""
    steps = {(after > before) - (after < before) for before, after in pairwise(times)}
    if len(times) < _FEWEST_FOR_DRIFT or steps not in ({1}, {-1}):
        return []
    return [f"F_DRIFT: all {len(times)} runs of the file {'rise' if steps == {1} else 'fall'} in the order of time"]
