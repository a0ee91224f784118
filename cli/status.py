"""Exit statuses, and the one place that maps errors to them.

A crash must never read as a verdict, and "could not tell" must never read as "refuted".
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn, ParamSpec

import typer

from cli import output
from ledger.errors import (
    ConflictError,
    LedgerError,
    MalformedError,
    PolicyError,
    RefusedError,
    StorageError,
    VerificationError,
)

OK = 0
CRASH = 1
USAGE = 2
REFUTED = 3
UNAVAILABLE = 4
REFUSED = 5
INTERRUPTED = 130

_STATUSES: tuple[tuple[type[LedgerError], int], ...] = (
    (VerificationError, REFUTED),
    (PolicyError, UNAVAILABLE),
    (ConflictError, UNAVAILABLE),
    (StorageError, UNAVAILABLE),
    (MalformedError, REFUSED),
    (RefusedError, REFUSED),
)

_P = ParamSpec("_P")


def status_of(error: LedgerError) -> int:
    """Exit status of a deliberate error."""
    return next((status for kind, status in _STATUSES if isinstance(error, kind)), CRASH)


def reports_errors(command: Callable[_P, None]) -> Callable[_P, None]:
    """Decorate a command: deliberate errors become a message and a status."""

    @functools.wraps(command)
    def wrapped(*args: _P.args, **kwargs: _P.kwargs) -> None:
        as_json = bool(kwargs.get("as_json"))
        try:
            with output.unread_is_no_error():
                command(*args, **kwargs)
        except LedgerError as err:
            _fail(err, as_json=as_json)
        except OSError as err:
            where = str(err.filename or "")
            _fail(StorageError("E_IO", err.strerror or str(err), where=where), as_json=as_json)
        except KeyboardInterrupt:
            output.say("interrupted: rungbook log shows what is sealed; a round is never sealed twice")
            raise typer.Exit(INTERRUPTED) from None

    return wrapped


def _fail(error: LedgerError, *, as_json: bool) -> NoReturn:
    status = status_of(error)
    if as_json:
        with suppress(OSError):  # the status and stderr say it too
            output.write_json(
                "error",
                {
                    "status": status,
                    "error": {
                        "class": type(error).__name__,
                        "code": error.code,
                        "message": error.message,
                        "where": error.where,
                        "index": error.index,
                    },
                },
            )
    output.drop_unwritten()
    output.say(f"rungbook: {error}")
    remedy = remedy_line(error.code) if status == REFUSED else ""
    if remedy:
        output.say(remedy)
    raise typer.Exit(status) from error


def remedy_line(code: str) -> str:
    """What to do about a code of measurements, as a line; empty for other codes."""
    from ledger.ingest.faults import CATALOGUE  # noqa: PLC0415 - only where something was refused

    return f"  to do    {CATALOGUE[code].remedy}" if code in CATALOGUE else ""
