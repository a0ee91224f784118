"""asv (airspeed velocity), the two versions of a file of results, read into one form.

Version 2 has a row per benchmark, whose columns are named once (``result_columns``) and left out from the right where
they are null. Version 1 has an object, or only the result, and keeps versions and starts in members of their own. In
both, a benchmark with parameters has a result for every combination of them, the last parameter fastest.

Source: ``Results`` of github.com/airspeed-velocity/asv, and its conversion of version 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from ledger.canonical import escape_pointer
from ledger.errors import MalformedError
from ledger.ingest.timed import as_members, wrong_kind
from ledger.ingest.values import as_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ledger.canonical import JsonObject

Column: TypeAlias = "list[object] | None"

STATISTICS = ("ci_99_a", "ci_99_b", "q_25", "q_75", "number", "repeat")
_SINGLE = ("result", "params", "version", "started_at", "duration", "samples", "profile")
_COLUMNS = {*_SINGLE, *(f"stats_{name}" for name in STATISTICS)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """The results of one function.

    Attributes:
        name: of the function.
        where: its place in the file.
        places: places of its members, by the name of the column.
        params: values of each parameter, as the source of the benchmark writes them.
        version: digest of its source; empty when the file has none.
        started_at: milliseconds since 1970, unchecked.
        results: one per combination; none when nothing ran.
        samples: seconds per call, one list per combination.
        statistics: columns of one value per combination, by name; see `STATISTICS`.
    """

    name: str
    where: str
    places: Mapping[str, str]
    params: list[list[str]]
    version: str
    started_at: object
    results: Column
    samples: Column
    statistics: dict[str, Column]

    def place(self, member: str, at: int) -> str:
        """Where the value of a combination stands in a column."""
        return f"{self.places.get(member, self.where)}/{at}"

    def arguments(self, at: int) -> list[str]:
        """Values of the parameters in a combination."""
        found = []
        for values in reversed(self.params):
            at, index = divmod(at, len(values))
            found.append(values[index])
        return found[::-1]


def read_benchmarks(document: JsonObject, what: str) -> Iterator[Benchmark]:
    """All benchmarks of a file, in its order.

    Raises:
        MalformedError: ``E_FORMAT`` for another version, ``E_FIELD`` and ``E_COLUMN_COUNT`` with the place.
    """
    results = document["results"]
    version = document.get("version")
    if type(version) is not int or version not in (1, 2):
        raise wrong_kind("results of asv, version 1 or 2", version, f"{what}/version", code="E_FORMAT")
    columns = _column_names(document, what) if version > 1 else []
    for name, value in results.items():
        where = f"{what}/results/{escape_pointer(name)}"
        if version > 1:
            cells = _cells_of_row(value, columns, where)
            places = {column: f"{where}/{at}" for at, column in enumerate(columns)}
        else:
            cells = _cells_of_object(name, value, document, what)
            places = _places_of_object(name, where, what)
        yield _benchmark(name, cells, places, where)


def _column_names(document: JsonObject, what: str) -> list[str]:
    names = document.get("result_columns")
    if not isinstance(names, list) or not all(isinstance(name, str) and name in _COLUMNS for name in names):
        raise wrong_kind("names of columns", names, f"{what}/result_columns")
    return names


def _cells_of_row(value: object, columns: list[str], where: str) -> JsonObject:
    if not isinstance(value, list):
        raise wrong_kind("a row", value, where)
    if len(value) > len(columns):
        raise MalformedError("E_COLUMN_COUNT", f"{len(value)} values for {len(columns)} names", where=where)
    return dict(zip(columns, value, strict=False))  # what is null at the end is left out


def _cells_of_object(name: str, value: object, document: JsonObject, what: str) -> JsonObject:
    """Version 1: what has no parameters is not in a list."""
    cells: JsonObject = dict(value) if isinstance(value, dict) else {"result": value}
    result, samples, stats = cells.get("result"), cells.get("samples"), cells.get("stats")
    if result is not None and not isinstance(result, list):
        cells["result"] = [result]
    if isinstance(samples, list) and samples and not any(isinstance(each, list) or each is None for each in samples):
        cells["samples"] = [samples]
    each_stats = stats if isinstance(stats, list) else [] if stats is None else [stats]
    for statistic in STATISTICS if each_stats else ():
        cells[f"stats_{statistic}"] = [each.get(statistic) if isinstance(each, dict) else None for each in each_stats]
    for ours, theirs in (("version", "benchmark_version"), ("started_at", "started_at")):
        cells[ours] = as_members(document.get(theirs, {}), f"{what}/{theirs}").get(name)
    return cells


def _places_of_object(name: str, where: str, what: str) -> dict[str, str]:
    own = {member: f"{where}/{member}" for member in ("result", "params", "samples")}
    outside = {"version": "benchmark_version", "started_at": "started_at"}
    return (
        own
        | {f"stats_{statistic}": f"{where}/stats" for statistic in STATISTICS}
        | {member: f"{what}/{theirs}/{escape_pointer(name)}" for member, theirs in outside.items()}
    )


def _benchmark(name: str, cells: JsonObject, places: Mapping[str, str], where: str) -> Benchmark:
    params = _params(cells.get("params"), places.get("params", where))
    count = math.prod(map(len, params))

    def column(member: str) -> Column:
        values = cells.get(member)
        if values is None:
            return None
        if not isinstance(values, list) or len(values) != count:
            raise MalformedError("E_FIELD", "expected a value for each combination of parameters", where=places[member])
        return values

    version = cells.get("version")
    return Benchmark(
        name=name,
        where=where,
        places=places,
        params=params,
        version="" if version is None else as_text(version, places["version"]),
        started_at=cells.get("started_at"),
        results=column("result"),
        samples=column("samples"),
        statistics={statistic: column(f"stats_{statistic}") for statistic in STATISTICS},
    )


def _params(value: object, where: str) -> list[list[str]]:
    params = [] if value is None else value
    if not isinstance(params, list):
        raise wrong_kind("lists of values", value, where)
    for at, values in enumerate(params):
        if not isinstance(values, list) or not all(type(each) is str for each in values):
            raise wrong_kind("a list of texts", values, f"{where}/{at}")
    return params
