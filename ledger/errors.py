"""Every error that the library raises on purpose.

An error says what was expected, what was found and where, and carries a stable ``code`` such as ``E_CHAIN``. Scripts
match on the code, people read the text. The command line maps the classes to exit statuses in one place; the class
therefore answers one question: *whose fault is it, and may the caller try again?*

===================  ==================================================================  ======
class                meaning                                                             status
===================  ==================================================================  ======
`VerificationError`  evidence was read and does not hold                                 3
`PolicyError`        cannot tell: something that the caller must supply is missing       4
`ConflictError`      cannot tell now: somebody else holds the lock or moved the head     4
`StorageError`       cannot tell: the disk, the key file or the folder said no           4
`MalformedError`     bytes that are not in the format they claim                         5
`RefusedError`       well-formed input that this ledger does not accept                  5
===================  ==================================================================  ======
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


_LONGEST = 1500
"""Characters of a text that an error repeats: what was found may be a whole file in one line."""


def _shorten(text: str) -> str:
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"


class LedgerError(Exception):
    """Root of all deliberate errors.

    Args:
        code: stable identifier, ``E_`` and upper-case words.
        message: what was expected and what was found, one or more sentences.
        where: JSON pointer, field or file name; empty when the whole input is meant.
        index: index of the receipt concerned, if one is.
    """

    def __init__(self, code: str, message: str, *, where: str = "", index: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = _shorten(message)
        self.where = _shorten(where)
        self.index = index

    def __str__(self) -> str:
        place = [] if self.index is None else [f"receipt {self.index}"]
        if self.where:
            place.append(self.where)
        return f"{self.code}: {self.message}" + (f" (at {', '.join(place)})" if place else "")

    def __reduce__(self) -> tuple[Callable[..., LedgerError], tuple[object, ...]]:
        """Travel between processes whole."""
        return _rebuild, (type(self), self.code, self.message, self.where, self.index)

    def at(self, *, index: int | None = None, where: str = "") -> LedgerError:
        """The same error, placed: fills in the index and prefixes the place where they are not known yet."""
        merged = where + self.where if self.where.startswith("/") or not self.where else self.where
        return type(self)(self.code, self.message, where=merged, index=self.index if self.index is not None else index)


def _rebuild(kind: type[LedgerError], code: str, message: str, where: str, index: int | None) -> LedgerError:
    return kind(code, message, where=where, index=index)


@contextmanager
def evidence(index: int | None = None) -> Iterator[None]:
    """Read a ledger's own files: there, what would be bad input elsewhere is evidence that does not hold."""
    try:
        yield
    except (MalformedError, RefusedError) as err:
        place = err.index if err.index is not None else index
        raise VerificationError(err.code, err.message, where=err.where, index=place) from err


class MalformedError(LedgerError):
    """Bytes that are not in the format they claim. The only error that a parser raises."""


class VerificationError(LedgerError):
    """Evidence was read and does not hold."""


class SignatureError(VerificationError):
    """A signature does not verify, or is not by the key that it names."""


class ChainError(VerificationError):
    """A seal does not follow from the receipt before it."""


class RootMismatchError(VerificationError):
    """The receipts do not hash to the root that was signed."""


class ProofError(VerificationError):
    """An inclusion or consistency proof does not lead to the root."""


class RefusedError(LedgerError):
    """Well-formed input that this ledger does not accept. Nothing was written."""


class PolicyError(LedgerError):
    """The question cannot be answered with what the caller supplied."""


class ConflictError(LedgerError):
    """Somebody else holds the lock, or moved the head. Safe to try again."""


class StorageError(LedgerError):
    """The disk, a folder or a key file said no. Safe to try again once that is mended."""
