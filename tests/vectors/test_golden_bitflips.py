"""Every flipped bit in every file of the golden ledger is refused, and by an error of the ledger, not a crash."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ledger.checkpoint import open_checkpoint
from ledger.errors import LedgerError, MalformedError, SignatureError, VerificationError
from ledger.proof import check_proof, decode_proof
from ledger.receipt import decode_receipt
from ledger.statement import import_envelope
from tests.vectors import golden_ledger as golden

if TYPE_CHECKING:
    from collections.abc import Iterator


def flipped(raw: bytes) -> Iterator[tuple[int, bytes]]:
    """Every copy of the bytes with one bit flipped, and the place of that byte."""
    for at in range(len(raw)):
        for bit in range(8):
            copy = bytearray(raw)
            copy[at] ^= 1 << bit
            yield at, bytes(copy)


@pytest.mark.parametrize("index", range(3))
def test_a_flipped_bit_in_a_receipt_is_refused_by_the_ledger(index: int) -> None:
    files, checkpoint = golden.read_receipts(), golden.read("receipts/checkpoint")
    for _, bad in flipped(files[index]):
        with pytest.raises(LedgerError):
            golden.check_ledger([*files[:index], bad, *files[index + 1 :]], checkpoint)


@pytest.mark.parametrize("index", range(3))
def test_a_flipped_bit_outside_the_seal_is_refused_without_the_tree(index: int) -> None:
    # Decoding and the producer's signature suffice: nobody who holds the ledger key can edit what was signed.
    raw = golden.read(golden.RECEIPTS[index])
    seal = range(raw.index(b'"seal":'), raw.index(b',"signatures":'))
    checked = 0
    for at, bad in flipped(raw):
        if at in seal:
            continue
        checked += 1
        with pytest.raises((MalformedError, SignatureError)):
            golden.check_signatures(decode_receipt(bad).signed)
    assert checked == 8 * (len(raw) - len(seal))


@pytest.mark.parametrize("index", range(3))
def test_a_flipped_bit_in_index_or_prev_is_refused_without_the_tree(index: int) -> None:
    files = golden.read_receipts()
    seal = range(files[index].index(b'"seal":'), files[index].index(b',"sealed_at":'))
    for at, bad in flipped(files[index]):
        if at in seal:
            with pytest.raises(LedgerError):
                golden.check_chain([*files[:index], bad])


@pytest.mark.parametrize("index", range(2))
def test_a_flipped_bit_breaks_the_chain_of_the_next_receipt_without_the_tree(index: int) -> None:
    files = golden.read_receipts()
    for _, bad in flipped(files[index]):
        with pytest.raises(LedgerError):
            golden.check_chain([*files[:index], bad, *files[index + 1 :]])


@pytest.mark.parametrize("name", golden.CHECKPOINTS)
def test_a_flipped_bit_in_a_checkpoint_is_refused(name: str) -> None:
    for _, bad in flipped(golden.read(name)):
        with pytest.raises((MalformedError, SignatureError)):
            open_checkpoint(bad, golden.LEDGER_KEY)


@pytest.mark.parametrize("name", golden.PROOFS)
def test_a_flipped_bit_in_a_proof_bundle_is_refused(name: str) -> None:
    for _, bad in flipped(golden.read(name)):
        with pytest.raises((MalformedError, VerificationError)):
            check_proof(decode_proof(bad), golden.LEDGER_KEY)


@pytest.mark.parametrize("name", golden.ENVELOPES)
def test_a_flipped_bit_in_an_envelope_is_refused(name: str) -> None:
    for _, bad in flipped(golden.read(name)):
        with pytest.raises((MalformedError, SignatureError)):
            golden.check_signatures(import_envelope(bad))


def open_file(name: str, raw: bytes) -> object:
    """Read a file and verify what it shows by itself."""
    if name in golden.RECEIPTS:
        return decode_receipt(raw)
    if name in golden.CHECKPOINTS:
        return open_checkpoint(raw, golden.LEDGER_KEY)
    return check_proof(decode_proof(raw), golden.LEDGER_KEY)


@pytest.mark.parametrize("name", [*golden.RECEIPTS, *golden.CHECKPOINTS, *golden.PROOFS])
def test_a_file_that_is_cut_short_or_has_a_byte_more_is_refused(name: str) -> None:
    raw = golden.read(name)
    for bad in [*(raw[:end] for end in range(len(raw))), raw + b"\n", raw + b" ", b"\n" + raw, b"\xef\xbb\xbf" + raw]:
        with pytest.raises((MalformedError, SignatureError)):
            open_file(name, bad)


@pytest.mark.parametrize("name", golden.ENVELOPES)
def test_an_envelope_that_is_cut_short_or_followed_by_more_is_refused(name: str) -> None:
    raw = golden.read(name).rstrip()
    for bad in [*(raw[:end] for end in range(len(raw))), raw + raw, raw + b"}", b"\xef\xbb\xbf" + raw]:
        with pytest.raises(MalformedError):
            import_envelope(bad)
