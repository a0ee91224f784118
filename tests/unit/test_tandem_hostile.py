"""Any bytes give rows or a `MalformedError`: every member of a sound file is replaced by what no tool writes."""

from __future__ import annotations

import copy
import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from ledger import canonical
from ledger.errors import MalformedError
from ledger.ingest.k3_baseline import K3Baseline
from ledger.ingest.tandem.block_ab import TandemBlockAb
from ledger.ingest.tandem.forced import TandemForced
from ledger.ingest.tandem.record import TandemRecord
from ledger.ingest.tandem.report import TandemReport
from ledger.round import _check_rep
from tests.support.tandem import asked, block_ab, encode, files_of, forced, named, record, report, seal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ledger.ingest.adapter import Row

NASTY: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    2**53,
    2**70,
    1.5,
    1e-300,
    1e300,
    "",
    "x",
    "\x07",
    "ä",
    "x" * 5000,
    [],
    [[]],
    {},
    {"a": [{}]},
)
FILES = files_of(1)
SOUND: dict[str, tuple[Any, Callable[[bytes], list[Row]]]] = {
    "record": (
        record(**named(), **asked(input_tokens=200, output_tokens=256)),
        lambda raw: TandemRecord().read(raw, "x"),
    ),
    "report": (report(1), lambda raw: TandemReport().read_with(raw, FILES, "x")),
    "block-ab": (block_ab(), lambda raw: TandemBlockAb().read(raw, "x")),
    "forced": (forced(), lambda raw: TandemForced().read(raw, "x")),
}


def places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:  # noqa: ANN401 - any JSON value
    """Every place in a value; of lists only the ends, for the middle is as they are."""
    yield path
    if isinstance(value, dict):
        for name, item in value.items():
            yield from places(item, (*path, name))
    if isinstance(value, list):
        for at in {0, len(value) - 1} if value else ():
            yield from places(value[at], (*path, at))


def changed(found: Any, path: tuple[str | int, ...], value: Any) -> Any:  # noqa: ANN401 - any JSON value
    if not path:
        return value
    made = copy.deepcopy(found)
    inner = made
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    return made


def resealed(found: Any) -> Any:  # noqa: ANN401 - any JSON value
    """With the digest of what stands in it now, so that a change is not found by its digest alone."""
    raw = found.get("raw") if isinstance(found, dict) else None
    return seal(found) if isinstance(raw, dict) and "payload" in raw else found


def check(rows: list[Row]) -> None:
    assert rows
    for row in rows:
        if not row.warmup:  # what became of a warm-up is kept as it is
            rep = {"records": row.records, "metrics": list(row.metrics), "wall_ns": row.wall_ns, "warmup": False}
            _check_rep({**rep, "started_at": "2026-11-29T20:00:00Z"}, "")
        canonical.encode([row.records, row.reported, row.settings, row.environment, row.weights, row.workload])
        assert row.wall_ns > 0


@pytest.mark.parametrize("every", [pytest.param(4, id="a-quarter"), pytest.param(1, id="all", marks=pytest.mark.soak)])
@pytest.mark.parametrize("name", SOUND)
def test_a_value_that_no_tool_writes_gives_rows_or_an_error_with_a_place(name: str, every: int) -> None:
    found, read = SOUND[name]
    check(read(encode(found)))
    for at, path in enumerate(places(found)):
        for value in NASTY[at % every :: every]:  # each place gets some of the values, each value many places
            raw = json.dumps(resealed(changed(found, path, value))).encode()
            with suppress(MalformedError):
                check(read(raw))


@pytest.mark.parametrize("name", SOUND)
@pytest.mark.parametrize("raw", [b"", b"{}", b"[]", b"{", b"\xff", b'{"a": NaN}', b"7", b'{"a":1,"a":2}', b"[" * 5000])
def test_what_is_no_file_of_the_tool_is_an_error(name: str, raw: bytes) -> None:
    with pytest.raises(MalformedError):
        SOUND[name][1](raw)
    with pytest.raises(MalformedError):
        K3Baseline().read(raw, "x")


@pytest.mark.parametrize(
    "log", [b"\x00" * 100, b"[req] " * 100, "[req] ä".encode(), b"[req] a stream prompt=" + b"9" * 400]
)
def test_any_log_is_read_or_flagged(log: bytes) -> None:
    rows = TandemReport().read_with(encode(report(1)), FILES | {"base/server-slice-1.log": log}, "x")
    assert [note.partition(":")[0] for note in rows[0].notes] == ["F_LOG_EMPTY"]
