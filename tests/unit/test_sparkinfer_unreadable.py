"""Bytes and folders that are not the public log: each with the exact code and the file that the error names."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from ledger.errors import MalformedError
from ledger.ingest.sparkinfer.log import read_log
from tests.support.made_up_log import Source, write_log

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"
TEXTUAL: list[tuple[str, Callable[[str], str], str]] = [
    ("NaN", lambda text: text.replace('"tps": 20.0', '"tps": NaN'), "E_NONFINITE"),
    ("Infinity", lambda text: text.replace('"tps": 20.0', '"tps": -Infinity'), "E_NONFINITE"),
    ("too large", lambda text: text.replace('"tps": 20.0', '"tps": 1e999'), "E_NONFINITE"),
    ("too small", lambda text: text.replace('"tps": 20.0', '"tps": 1e-999'), "E_FIELD"),
    ("exponent", lambda text: text.replace('"tps": 20.0', '"tps": 1e-9999999999999999999'), "E_FIELD"),
    ("many digits", lambda text: text.replace('"tps": 20.0', f'"tps": 1.{"1" * 70}'), "E_FIELD"),
    ("text", lambda text: text.replace('"tps": 20.0', '"tps": "20.0"'), "E_FIELD"),
    ("true", lambda text: text.replace('"tps": 20.0', '"tps": true'), "E_FIELD"),
    ("no figure", lambda text: text.replace('"tps": 20.0', '"tp": 1'), "E_FIELD"),
    ("twice", lambda text: text.replace('"tps"', '"tps": 20.0, "tps"'), "E_DUPLICATE_KEY"),
    ("truncated", lambda text: text[: len(text) // 2], "E_JSON"),
    ("empty", lambda _: "", "E_JSON"),
    ("two values", lambda text: text + text, "E_JSON"),
    ("LFS pointer", lambda _: POINTER, "E_LFS_POINTER"),
    ("list", lambda _: "[]", "E_FORMAT"),
    ("deep", lambda text: text.replace("[1, 2]", "[" * 70 + "]" * 70), "E_DEPTH"),
    ("control character", lambda text: text.replace('"XL"', '"X\\u001bL"'), "E_DOMAIN"),
    ("metric", lambda text: text.replace('"top1"', '"scored_metric": "ttft", "top1"'), "E_METRIC"),
    ("context", lambda text: text.replace("131072", "-1"), "E_CONTEXT"),
    ("no context", lambda text: text.replace("131072", "null"), "E_CONTEXT"),
    ("depth", lambda text: text.replace('"top1"', '"kl_depths": {"4": {}}, "top1"'), "E_FIELD"),
    ("depths", lambda text: text.replace('"top1"', '"kl_depths": [], "top1"'), "E_FIELD"),
    ("node", lambda text: text.replace('"top1"', '"node": "a b", "top1"'), "E_FIELD"),
    ("guard", lambda text: text.replace('"top1"', '"decode_tps": 1.5, "decode_ctx": 1.5, "top1"'), "E_CONTEXT"),
]


@pytest.mark.parametrize(("edit", "code"), [pytest.param(*case[1:], id=case[0]) for case in TEXTUAL])
def test_a_result_that_cannot_be_read(edit: Callable[[str], str], code: str, tmp_path: Path) -> None:
    source = Source().seal()
    source.extra["result.json"] = edit(json.dumps(source.result))
    with pytest.raises(MalformedError) as caught:
        read_log(write_log(tmp_path, source))
    assert caught.value.code == code
    assert f"runs/{source.id}/result.json" in str(caught.value)


@pytest.mark.parametrize(
    ("time", "code"),
    [
        ("2026-08-05", "E_TIME"),
        ("2026-08-05T01:00:00", "E_TIME"),
        ("2026-08-05T01:00:00.5Z", "E_TIME"),
        ("2026-02-30T01:00:00Z", "E_TIME"),
        ("0001-01-01T00:00:00+01:00", "E_TIME"),
        (7, "E_FIELD"),
    ],
)
def test_a_time_that_is_none(time: object, code: str, tmp_path: Path) -> None:
    source = Source().seal()
    source.receipt["attestation"]["timestamp_utc"] = time
    with pytest.raises(MalformedError, match=r"receipt\.json/attestation/timestamp_utc") as caught:
        read_log(write_log(tmp_path, source))
    assert caught.value.code == code


def test_a_time_of_another_zone_is_taken_to_utc(tmp_path: Path) -> None:
    (run,) = read_log(write_log(tmp_path, Source(at="2026-08-05T01:30:00+02:00").seal()))
    assert run.body["at"] == "2026-08-04T23:30:00Z"


def test_what_a_body_cannot_hold_names_the_run(tmp_path: Path) -> None:
    source = Source()
    source.result |= {f"note{at}": "" for at in range(500)}
    with pytest.raises(MalformedError, match=rf"E_SCHEMA: .*runs/{source.seal().id}.*/reported"):
        read_log(write_log(tmp_path, source))


def empty(folder: Path) -> None:
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()


def flat(folder: Path) -> None:
    """The older public log of the family: one file per run, no folders."""
    empty(folder)
    (folder / "ledger.jsonl").touch()
    (folder / "index.json").write_text("[]")
    (folder / "runs").mkdir()
    (folder / "runs" / "0465-abc.json").write_text("{}")


def only_run(folder: Path) -> Path:
    return next((folder / "runs").iterdir())


LAYOUTS: list[tuple[str, Callable[[Path], object], str, str]] = [
    ("empty folder", empty, "E_LAYOUT", "ledger.jsonl and no index.json and no runs"),
    ("flat", flat, "E_LAYOUT", "runs/0465-abc.json"),
    ("no index", lambda folder: (folder / "index.json").unlink(), "E_LAYOUT", "no index.json"),
    ("no runs", lambda folder: empty(folder / "runs"), "E_LAYOUT", "no run"),
    ("no receipt", lambda folder: (only_run(folder) / "receipt.json").unlink(), "E_LAYOUT", "receipt.json"),
    ("folder in a run", lambda folder: (only_run(folder) / "more").mkdir(), "E_LAYOUT", "'more'"),
    ("strange name", lambda folder: (only_run(folder) / "a b").touch(), "E_LAYOUT", "'a b'"),
    ("row alone", lambda folder: only_run(folder).rename(folder / "runs" / ("0" * 32)), "E_LAYOUT", "no such folder"),
    ("index is an object", lambda folder: (folder / "index.json").write_text("{}"), "E_FORMAT", "index.json"),
    ("row is a list", lambda folder: (folder / "index.json").write_text("[[]]"), "E_FIELD", "index.json/0"),
    ("ledger", lambda folder: (folder / "ledger.jsonl").write_text('\n{"a"'), "E_JSON", "ledger.jsonl, line 2"),
    ("text", lambda folder: (only_run(folder) / "eval.log").write_bytes(b"\xff"), "E_UTF8", "eval.log"),
]


@pytest.mark.parametrize(("damage", "code", "name"), [pytest.param(*case[1:], id=case[0]) for case in LAYOUTS])
def test_a_folder_that_is_not_the_log(damage: Callable[[Path], object], code: str, name: str, tmp_path: Path) -> None:
    folder = write_log(tmp_path, Source().seal())
    damage(folder)
    with pytest.raises(MalformedError) as caught:
        read_log(folder)
    assert caught.value.code == code
    assert name in str(caught.value)


def test_a_file_too_large_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_log(tmp_path, Source().seal())
    monkeypatch.setattr("ledger.ingest.sparkinfer.log.MAX_BYTES", 10)
    with pytest.raises(MalformedError, match=r"E_SIZE.*ledger\.jsonl"):
        read_log(folder)
