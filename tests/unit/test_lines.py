"""Lines of a log in a tool's output: which lines are read past, and which are not."""

from __future__ import annotations

import pytest

from ledger.ingest.lines import skip_log_lines

OBJECT = b'{"a": 1}\n'
DOCUMENT = b'[\n  {\n    "a": [\n      1\n    ]\n  }\n]\n'


def left(raw: bytes) -> tuple[bytes, int]:
    kept, note = skip_log_lines(raw)
    assert note == "" or note.endswith("of a log read past, as asked for")
    return kept, int(note.split()[1]) if note else 0


@pytest.mark.parametrize("raw", [OBJECT, OBJECT * 3, DOCUMENT, b"", b"\n\n", OBJECT + b"\r\n" + OBJECT])
def test_a_file_without_such_lines_stays_as_it_is(raw: bytes) -> None:
    assert left(raw) == (raw, 0)


@pytest.mark.parametrize(
    "line", [b"init: found 1 device\n", b"  Device 0: fast\n", b"[info] loaded\n", b"\x1b[32mok\n"]
)
def test_between_whole_objects_every_other_line_is_of_a_log(line: bytes) -> None:
    assert left(line + OBJECT + line + OBJECT) == (b"\n" + OBJECT + b"\n" + OBJECT, 2)


def test_a_line_that_only_begins_an_object_is_left_for_the_adapter_to_refuse() -> None:
    assert left(OBJECT + b'{"a": \n') == (OBJECT + b'{"a": \n', 0)


@pytest.mark.parametrize("line", [b"init: found 1 device\n", b"main: done\n", b"2026-11-29 loaded\n"])
def test_around_a_document_lines_that_no_json_has_are_of_a_log(line: bytes) -> None:
    assert left(line + DOCUMENT + line) == (b"\n" + DOCUMENT + b"\n", 2)


def test_a_line_of_a_log_that_looks_like_json_is_left_for_the_adapter_to_refuse() -> None:
    assert left(b"[info] loaded\n" + DOCUMENT) == (b"[info] loaded\n" + DOCUMENT, 0)
