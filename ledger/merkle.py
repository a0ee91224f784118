"""The RFC 6962 Merkle tree over SHA-256: hashing, proving, checking.

Words: an *entry* is the byte string that is logged, a *leaf hash* is ``SHA256(0x00 || entry)``, a *node hash* is
``SHA256(0x01 || left || right)``. A tree of n > 1 leaves splits at the largest power of two below n; nothing is padded
or duplicated. All hashes are 32 bytes.

Proving and checking come in pairs: `Tree.inclusion_proof` and `check_inclusion`, `Tree.consistency_proof` and
`check_consistency`. The checks share no code with the tree.

Source: RFC 6962 section 2.1; the checks follow RFC 9162 sections 2.1.3.2 and 2.1.4.2.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from ledger.errors import ProofError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

HASH_SIZE = 32
EMPTY_ROOT = sha256(b"").digest()


def leaf_hash(entry: bytes) -> bytes:
    """Hash of one entry."""
    return sha256(b"\x00" + entry).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Hash of an inner node."""
    return sha256(b"\x01" + left + right).digest()


class Tree:
    """A growing tree in memory: every complete subtree's hash, so that any past root or proof costs O(log n).

    Args:
        entries: the first entries, in order.
    """

    def __init__(self, entries: Iterable[bytes] = ()) -> None:
        # _levels[l][i] is the hash over leaves i*2^l .. (i+1)*2^l; only complete subtrees are kept.
        self._levels: list[list[bytes]] = [[]]
        for entry in entries:
            self.append(entry)

    def __len__(self) -> int:
        return len(self._levels[0])

    def copy(self) -> Tree:
        """A tree that grows on its own."""
        tree = Tree()
        tree._levels = [list(level) for level in self._levels]
        return tree

    def append(self, entry: bytes) -> None:
        """Add one entry at the end."""
        digest = sha256(b"\x00" + entry).digest()  # `leaf_hash` and `node_hash`, spelled out in the one hot loop
        for level in self._levels:
            level.append(digest)
            if len(level) % 2:
                return
            digest = sha256(b"\x01" + level[-2] + digest).digest()
        self._levels.append([digest])

    def root(self, size: int | None = None) -> bytes:
        """Root hash of the first `size` entries (default: all)."""
        size = len(self) if size is None else size
        self._check_size(size)
        return self._range_hash(0, size) if size else EMPTY_ROOT

    def inclusion_proof(self, index: int, size: int | None = None) -> list[bytes]:
        """Hashes that lead from leaf `index` to the root of the first `size` entries, leaf sibling first."""
        size = len(self) if size is None else size
        self._check_size(size)
        if not 0 <= index < size:
            raise ValueError(f"index {index} is not in a tree of {size}")
        path: list[bytes] = []
        low, high = 0, size
        while high - low > 1:
            split = low + _split(high - low)
            if index < split:
                path.append(self._range_hash(split, high))
                high = split
            else:
                path.append(self._range_hash(low, split))
                low = split
        return path[::-1]

    def consistency_proof(self, old_size: int, size: int | None = None) -> list[bytes]:
        """Hashes that show that the first `old_size` entries are a prefix of the first `size`."""
        size = len(self) if size is None else size
        self._check_size(size)
        if not 0 <= old_size <= size:
            raise ValueError(f"size {old_size} is not within a tree of {size}")
        if old_size in (0, size):
            return []
        path: list[bytes] = []
        low, high = 0, size
        while old_size != high:
            split = low + _split(high - low)
            if old_size <= split:
                path.append(self._range_hash(split, high))
                high = split
            else:
                path.append(self._range_hash(low, split))
                low = split
        if low:  # the old tree itself is not a subtree: name its last complete part
            path.append(self._range_hash(low, high))
        return path[::-1]

    def _check_size(self, size: int) -> None:
        if not 0 <= size <= len(self):
            raise ValueError(f"size {size} is not within a tree of {len(self)}")

    def _range_hash(self, low: int, high: int) -> bytes:
        """Hash over leaves low..high, where `low` is a multiple of the largest power of two in the range."""
        count = high - low
        result: bytes | None = None
        for level in range(count.bit_length()):
            if count >> level & 1:
                subtree = self._levels[level][(low >> level) + (count >> level) - 1]
                result = subtree if result is None else node_hash(subtree, result)
        if result is None:
            raise ValueError("an empty range has no hash")
        return result


def _split(count: int) -> int:
    """Largest power of two below `count` (which is at least 2)."""
    return 1 << (count - 1).bit_length() - 1


def check_inclusion(index: int, size: int, leaf: bytes, proof: Sequence[bytes], root: bytes) -> None:
    """Check that the leaf hash `leaf` is at `index` in the tree of `size` with `root`.

    Raises:
        ProofError: ``E_PROOF``.
    """
    if not 0 <= index < size:
        raise ProofError("E_PROOF", f"index {index} is not in a tree of {size}")
    _check_lengths([leaf, root, *proof])
    digest = leaf
    for sibling, on_left in _climb(index, size - 1, proof):
        digest = node_hash(sibling, digest) if on_left else node_hash(digest, sibling)
    if digest != root:
        raise ProofError("E_PROOF", f"the inclusion proof leads to {digest.hex()}, the root is {root.hex()}")


def check_consistency(old_size: int, size: int, old_root: bytes, root: bytes, proof: Sequence[bytes]) -> None:
    """Check that the tree of `old_size` with `old_root` is a prefix of the tree of `size` with `root`.

    Raises:
        ProofError: ``E_PROOF``.
    """
    _check_lengths([old_root, root, *proof])
    if not 0 <= old_size <= size:
        raise ProofError("E_PROOF", f"a tree of {old_size} is not a prefix of a tree of {size}")
    if old_size in (0, size):
        _check_trivial(old_size, size, old_root, root, proof)
        return
    path = list(proof)
    if old_size & (old_size - 1) == 0:  # a complete subtree proves itself
        path.insert(0, old_root)
    if not path:
        raise ProofError("E_PROOF", "the consistency proof is empty")
    position, last = old_size - 1, size - 1
    while position & 1:
        position >>= 1
        last >>= 1
    old_digest = digest = path[0]
    for sibling, on_left in _climb(position, last, path[1:]):
        if on_left:
            old_digest, digest = node_hash(sibling, old_digest), node_hash(sibling, digest)
        else:
            digest = node_hash(digest, sibling)
    if old_digest != old_root:
        raise ProofError("E_PROOF", f"the proof leads to old root {old_digest.hex()}, not {old_root.hex()}")
    if digest != root:
        raise ProofError("E_PROOF", f"the proof leads to root {digest.hex()}, not {root.hex()}")


def _climb(position: int, last: int, proof: Sequence[bytes]) -> Iterator[tuple[bytes, bool]]:
    """Walk from a node to the root: each sibling, and whether it stands on the left.

    `position` and `last` are the node's and the last node's place on their level.
    """
    for sibling in proof:
        if last == 0:
            raise ProofError("E_PROOF", "the proof is longer than the tree is high")
        on_left = bool(position & 1) or position == last
        yield sibling, on_left
        if on_left:
            while not position & 1 and position:
                position >>= 1
                last >>= 1
        position >>= 1
        last >>= 1
    if last:
        raise ProofError("E_PROOF", "the proof is shorter than the tree is high")


def _check_trivial(old_size: int, size: int, old_root: bytes, root: bytes, proof: Sequence[bytes]) -> None:
    if proof:
        raise ProofError("E_PROOF", f"the consistency proof from {old_size} to {size} must be empty")
    if old_size == 0 and old_root != EMPTY_ROOT:
        raise ProofError("E_PROOF", f"the root of an empty tree is not {old_root.hex()}")
    if old_size == size and old_root != root:
        raise ProofError("E_PROOF", f"two roots for one size {size}: {old_root.hex()} and {root.hex()}")


def _check_lengths(hashes: Iterable[bytes]) -> None:
    if any(len(digest) != HASH_SIZE for digest in hashes):
        raise ProofError("E_PROOF", f"every hash must be {HASH_SIZE} bytes")
