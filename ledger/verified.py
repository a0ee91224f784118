"""What verification yields: findings, and the `VerifiedLog` that everything which reads a ledger takes.

Storage is never trusted, also not between verification and use: a `VerifiedLog` hashes every file that it hands out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from ledger.errors import LedgerError, PolicyError, RefusedError, VerificationError, evidence
from ledger.examine import check_form
from ledger.receipt import Receipt, decode_receipt, decode_receipt_bytes, file_digest
from ledger.trust import Trust

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ledger.canonical import JsonObject
    from ledger.checkpoint import Checkpoint
    from ledger.merkle import Tree
    from ledger.note import NoteKey
    from ledger.store import Store

Mode: TypeAlias = Literal["full", "quick"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that does not hold, or that deserves a look.

    Attributes:
        code: stable identifier; ``E_`` refutes, ``F_`` only flags, as ``E_KIND_UNKNOWN`` only leaves open.
        message: what was expected and what was found.
        where: JSON pointer or file.
        index: receipt concerned; none for the ledger as a whole.
        error: class of the error behind it; empty for a flag.
    """

    code: str
    message: str
    where: str = ""
    index: int | None = None
    error: str = ""

    @classmethod
    def of(cls, error: LedgerError, index: int | None = None) -> Finding:
        """A deliberate error as a finding about receipt `index`, unless the error names another."""
        return cls(
            code=error.code,
            message=error.message,
            where=error.where,
            index=error.index if error.index is not None else index,
            error=type(error).__name__,
        )


class Entry(NamedTuple):
    """What verification established about one receipt. `identity` and `attested` are empty in quick mode."""

    digest: bytes
    kind: str = ""
    identity: bytes = b""
    attested: bool = False


MAKER = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedLog:
    """A ledger that verified. Only `verify` makes one; everything that reads a ledger takes one.

    Attributes:
        mode: how far it was verified.
        key: name and key of the ledger.
        checkpoint: what it commits to.
        entries: one per receipt.
        tree: the tree over them; may hold more, of a ledger that is followed.
        store: where the receipts are; `receipt` hashes what it reads.
        fresh: receipts that the writer in this process has just sealed, which need not be read from there.
        maker: proof that `verify` made it.
    """

    mode: Mode
    key: NoteKey
    checkpoint: Checkpoint
    entries: tuple[Entry, ...]
    tree: Tree
    store: Store
    fresh: Mapping[int, Receipt]
    maker: object

    def __post_init__(self) -> None:
        if self.maker is not MAKER:
            raise TypeError("only ledger.verify.verify makes a VerifiedLog")

    def receipt_bytes(self, index: int) -> bytes:
        """One receipt file, the same that was verified.

        Raises:
            VerificationError: ``E_CHANGED`` when the file is not the one that was verified.
            StorageError: it cannot be read.
        """
        raw = self.store.read_receipt(index)
        if file_digest(raw) != self.entries[index].digest:
            raise VerificationError("E_CHANGED", "the file has changed since it was verified", index=index)
        return raw

    def receipt(self, index: int) -> Receipt:
        """One receipt, read and hashed again.

        Raises:
            VerificationError: it has changed, or it is not a receipt (quick mode does not look inside).
            StorageError: it cannot be read.
        """
        if index in self.fresh:
            return self.fresh[index]
        with evidence(index):
            raw = self.receipt_bytes(index)
            # Verified in full, these very bytes have passed their schema and with it the domain.
            return decode_receipt_bytes(raw)[0] if self.mode == "full" else decode_receipt(raw)

    def root_at(self, size: int) -> bytes:
        """Root hash of the first `size` receipts.

        Raises:
            ValueError: there are not so many.
        """
        if not 0 <= size <= len(self.entries):
            raise ValueError(f"{size} receipts of {len(self.entries)}")
        return self.tree.root(size)

    def of_kind(self, kind: str) -> list[int]:
        """Indices of the receipts of one kind."""
        return [index for index, entry in enumerate(self.entries) if entry.kind == kind]

    def roles_before(self, index: int) -> Trust:
        """Roles in force at `index`, replayed from the receipts before it. Signatures are not verified here.

        Raises:
            RefusedError: ``E_NO_GENESIS``.
            VerificationError: a ``keys`` statement that cannot be put into force.
        """
        if self.entries[0].kind != "genesis":
            raise RefusedError("E_NO_GENESIS", "the ledger does not start with a genesis statement", index=0)
        with evidence():
            trust = Trust.from_genesis(self._well_formed(0))
            for at in self.of_kind("keys"):
                if at < index:
                    trust.apply_keys(self._well_formed(at))
        return trust

    def _well_formed(self, index: int) -> JsonObject:
        statement = self.receipt(index).statement
        with evidence(index):
            check_form(statement)
        return statement.body

    def find(self, reference: str) -> int:
        """Index of the receipt that a person means: an index, or the start of a receipt file's SHA-256.

        Raises:
            RefusedError: ``E_NO_RECEIPT`` when it names none or several.
        """
        if _INDEX.fullmatch(reference) and int(reference) < len(self.entries):
            return int(reference)
        wanted = reference.lower()
        found = [index for index, entry in enumerate(self.entries) if entry.digest.hex().startswith(wanted)]
        if len(found) != 1 or len(wanted) < _SHORTEST_PREFIX:
            raise RefusedError(
                "E_NO_RECEIPT",
                f"{reference!r} is {'ambiguous' if len(found) > 1 else 'no receipt'}; give an index from 0 to "
                f"{len(self.entries) - 1}, or at least {_SHORTEST_PREFIX} digits of a receipt's SHA-256",
            )
        return found[0]


_SHORTEST_PREFIX = 4
_INDEX = re.compile("0|[1-9][0-9]{0,18}", re.ASCII)


@dataclass(slots=True, kw_only=True)
class Verification:
    """The outcome of `verify`.

    Attributes:
        mode: how far was verified.
        checkpoint: as read; none when it could not be read.
        vkey: verification key that the checkpoint was checked with; empty when there was none.
        genesis: SHA-256 (hex) of receipt 0; empty when it is missing.
        findings: what does not hold. Empty means verified, unless something is `unknown`.
        unknown: what this release cannot judge.
        flags: what holds but deserves a look.
        not_checked: what this verification cannot tell, in words.
        kinds: number of receipts by kind.
        log: the verified ledger; none when anything was found or unknown.
    """

    mode: Mode
    checkpoint: Checkpoint | None = None
    vkey: str = ""
    genesis: str = ""
    findings: list[Finding] = field(default_factory=list)
    unknown: list[Finding] = field(default_factory=list)
    flags: list[Finding] = field(default_factory=list)
    not_checked: list[str] = field(default_factory=list)
    kinds: dict[str, int] = field(default_factory=dict)
    log: VerifiedLog | None = None

    def require_log(self) -> VerifiedLog:
        """The verified ledger.

        Raises:
            VerificationError: with the first finding.
            PolicyError: with the first thing that could not be judged.
        """
        if self.log is not None:
            return self.log
        if self.findings:
            first, more = self.findings[0], len(self.findings) - 1
            text = first.message + (f"; {more} more: run rungbook verify" if more else "")
            raise VerificationError(first.code, text, where=first.where, index=first.index)
        first = self.unknown[0]
        raise PolicyError(first.code, first.message, where=first.where, index=first.index)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pins:
    """What the caller knows from elsewhere.

    Attributes:
        key: verification key of the ledger.
        genesis: SHA-256 (hex) of receipt 0.
        since: an older signed checkpoint.
    """

    key: NoteKey | None = None
    genesis: str = ""
    since: bytes | None = None
