"""C2SP checkpoints: origin, tree size and root hash, signed as a note by the ledger's key.

    rungbook.example/golden
    3
    5n9nbS1NZiqJzgFEfFOmEhSS+Lf9vVTenpwnwLcO8/c=

    — rungbook.example/golden pczd4/zP…

The name of the signing key is the origin. Extension lines are refused: nobody can audit them.

Source: github.com/C2SP/C2SP tlog-checkpoint.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ledger.errors import MalformedError, SignatureError
from ledger.merkle import HASH_SIZE
from ledger.note import Note, NoteKey, check_name, encode_note, open_note, parse_note, sign_note
from ledger.strict import b64decode, b64encode, parse_decimal

if TYPE_CHECKING:
    from ledger.keys import PrivateKey


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """What a ledger commits to.

    Attributes:
        origin: name of the ledger, unique in the world (a host name with a path, without a scheme).
        size: number of receipts.
        root: RFC 6962 root hash, 32 bytes.
    """

    origin: str
    size: int
    root: bytes


def format_body(checkpoint: Checkpoint) -> str:
    """The three lines that are signed."""
    return f"{checkpoint.origin}\n{checkpoint.size}\n{b64encode(checkpoint.root)}\n"


def parse_body(text: str) -> Checkpoint:
    """Inverse of `format_body`.

    Raises:
        MalformedError: ``E_CHECKPOINT``, or what the readers of its parts raise.
    """
    lines = text.split("\n")
    if len(lines) != 4 or lines[3]:  # noqa: PLR2004 - three lines, each ended
        raise MalformedError("E_CHECKPOINT", "a checkpoint has three lines: origin, tree size, root hash")
    check_name(lines[0])
    return Checkpoint(
        origin=lines[0],
        size=parse_decimal(lines[1], what="tree size"),
        root=b64decode(lines[2], length=HASH_SIZE, what="root hash"),
    )


def sign_checkpoint(checkpoint: Checkpoint, key: PrivateKey) -> bytes:
    """The signed note of a checkpoint."""
    return encode_note(sign_note(format_body(checkpoint), checkpoint.origin, key))


def parse_checkpoint(raw: bytes) -> Checkpoint:
    """Read a checkpoint without verifying it.

    Raises:
        MalformedError: it is not a checkpoint.
    """
    return parse_body(parse_note(raw).text)


def open_checkpoint(raw: bytes, key: NoteKey) -> Checkpoint:
    """Read a checkpoint and verify that the ledger of `key` signed it.

    Raises:
        MalformedError: it is not a checkpoint.
        SignatureError: it is not signed by `key`, or the origin is not the key's name (``E_ORIGIN``).
    """
    note: Note = open_note(raw, [key])
    checkpoint = parse_body(note.text)
    if checkpoint.origin != key.name:
        raise SignatureError("E_ORIGIN", f"the checkpoint is of {checkpoint.origin!r}, the key is of {key.name!r}")
    return checkpoint
