"""Made-up logs, and the codes that their runs get."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from ledger.ingest.sparkinfer.log import read_log
from tests.support.made_up_log import Source, put, write_log

if TYPE_CHECKING:
    from collections.abc import Callable

AT, SECOND_BEFORE, SECOND_AFTER = (f"2026-08-05T{time}+00:00" for time in ("01:00:00", "00:59:59", "01:00:01"))


def codes(*log: Source, of: int = -1) -> list[str]:
    """Codes of the last of these runs or of another; the ledger has its lines in this order."""
    with TemporaryDirectory() as folder:
        bodies = [run.body for run in read_log(write_log(Path(folder), *log))]
    return [fault["code"] for body in bodies if body["source"]["record"] == log[of].id for fault in body["faults"]]


def ending(text: str, last: str) -> str:
    """The text with another end."""
    return text[: len(text) - len(last)] + last


# One run, and what it says of itself: it is sealed, and every copy agrees.


def result(speed: float = 20.0, /, *, at: str = AT, **members: Any) -> list[str]:  # noqa: ANN401 - any JSON value
    run = Source(tps=speed, at=at)
    run.result |= members
    put("receipt", "attestation/verdict/tps", run.result["tps"])(run)
    return codes(run.seal())


def attestation(path: str, value: Any) -> list[str]:  # noqa: ANN401 - as above
    run = Source()
    put("receipt", f"attestation/{path}", value)(run)
    return codes(run.seal())


# One run, and a log of its session that says this afterwards.


def session(edit: Callable[[str], str]) -> list[str]:
    run = Source().seal()
    run.text = edit(run.text)
    return codes(run)


def said(old: str, new: str) -> list[str]:
    assert old in Source().seal().text
    return session(lambda text: text.replace(old, new))
