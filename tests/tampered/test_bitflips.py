"""Every single bit of a stored receipt, and of the checkpoint: none can be flipped unnoticed.

A log of certificates died of one flipped bit in an entry whose hash was in the tree already: the signed roots agreed
with each other, and the entries that were served gave another one.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import pytest

from ledger import keys
from ledger.errors import VerificationError
from ledger.verify import verify
from tests.support.files import MemoryStore, flip_bit
from tests.support.ledgers import MemoryAnchor, open_log, round_draft, start_small_ledger

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

GRANT, FIRST_ROUND, LAST_ROUND = 1, 2, 3
STRIDE = 11  # prime to 8: nearly every byte, and every place in a byte


@pytest.fixture(autouse=True)
def _judge_each_key_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether 32 bytes are a key is arithmetic on them alone; thousands of flips would do it for the same keys."""
    monkeypatch.setattr(keys, "_point_problem", functools.cache(keys._point_problem))


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> MemoryStore:
    """Genesis, grant and two rounds."""
    folder = tmp_path_factory.mktemp("bits")
    log = open_log(folder)
    start_small_ledger(log)
    for name in ("round-2", "round-3"):
        log.append([round_draft(name)])
    return MemoryStore.of(folder)


def with_each_bit_flipped(raw: bytes, step: int = 1) -> Iterator[tuple[int, bytes]]:
    """The bytes with one bit flipped, for every `step`-th bit; `position` counts bits."""
    for position in range(0, len(raw) * 8, step):
        yield position, flip_bit(raw, position // 8, position % 8)


def replaced(healthy: MemoryStore, index: int, raw: bytes) -> MemoryStore:
    """The ledger with another receipt file."""
    return MemoryStore(healthy.checkpoint, [*healthy.receipts[:index], raw, *healthy.receipts[index + 1 :]])


@pytest.mark.parametrize("bit", range(8))
def test_every_bit_of_a_receipt_is_refuted_at_its_index(tmp_path: Path, bit: int) -> None:
    start_small_ledger(open_log(tmp_path))
    smallest = MemoryStore.of(tmp_path)
    raw, unnoticed = smallest.receipts[GRANT], []
    assert verify(smallest).log is not None
    for at in range(len(raw)):
        result = verify(replaced(smallest, GRANT, flip_bit(raw, at, bit)))
        if result.log is not None or [item.index for item in result.findings][:1] != [GRANT]:
            unnoticed.append(at)
    assert unnoticed == []


def test_bits_of_a_receipt_in_the_middle_are_refuted_there_or_where_the_chain_breaks(healthy: MemoryStore) -> None:
    unnoticed = []
    for position, raw in with_each_bit_flipped(healthy.receipts[FIRST_ROUND], step=STRIDE):
        result = verify(replaced(healthy, FIRST_ROUND, raw))
        if result.log is not None or not {item.index for item in result.findings} & {FIRST_ROUND, LAST_ROUND}:
            unnoticed.append(position)
    assert unnoticed == []


@pytest.mark.parametrize("index", [0, GRANT, FIRST_ROUND, LAST_ROUND])
def test_hashes_alone_notice_bits_of_every_receipt(healthy: MemoryStore, index: int) -> None:
    unnoticed = [
        position
        for position, raw in with_each_bit_flipped(healthy.receipts[index], step=STRIDE)
        if not verify(replaced(healthy, index, raw), mode="quick").findings
    ]
    assert unnoticed == []


def test_every_bit_of_the_checkpoint_is_refuted(healthy: MemoryStore) -> None:
    unnoticed = [
        position
        for position, raw in with_each_bit_flipped(healthy.checkpoint)
        if not verify(MemoryStore(raw, healthy.receipts), mode="quick").findings
    ]
    assert unnoticed == []


def test_the_writer_signs_nothing_on_top_of_any_flipped_bit(healthy: MemoryStore) -> None:
    signed_or_undecided = []
    for position, raw in with_each_bit_flipped(healthy.receipts[GRANT], step=STRIDE):
        log = open_log(replaced(healthy, GRANT, raw), MemoryAnchor(healthy.checkpoint))
        try:
            log.append([round_draft("next")])
        except VerificationError:
            continue
        except Exception as err:  # noqa: BLE001 - whatever it is, it is not the verdict
            signed_or_undecided.append((position, repr(err)))
        else:
            signed_or_undecided.append((position, "signed"))
    assert signed_or_undecided == []
