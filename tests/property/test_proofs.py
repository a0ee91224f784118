"""Every proof of every tree of up to 64 leaves holds, and no mutation of one does.

The classes of mutation are those of the published negative vectors for RFC 6962 verifiers (index xor, plus, minus; size
doubled and halved; roots swapped; bits flipped; hashes cut off, appended, prepended, inserted, removed), made here from
our own trees. A `shape` says, apart from the code under test, on which side each hash of a proof stands: a verifier
sees of index and sizes no more than that, so a changed size is detectable exactly when it changes the shape.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING, TypeAlias

import pytest

from ledger.errors import ProofError
from ledger.merkle import EMPTY_ROOT, Tree, check_consistency, check_inclusion, leaf_hash

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST = 64
SMALL = 24  # up to here every mutation, beyond a choice that still meets every hash
TREE = Tree(b"entry %d" % index for index in range(MOST))
ROOTS = [TREE.root(size) for size in range(MOST + 1)]
LEAVES = [leaf_hash(b"entry %d" % index) for index in range(MOST)]
JUNK = sha256(b"junk").digest()

Proof: TypeAlias = list[bytes]


def naive_root(leaves: list[bytes]) -> bytes:
    """RFC 6962 section 2.1, word by word."""
    if not leaves:
        return sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    half = largest_power_below(len(leaves))
    return sha256(b"\x01" + naive_root(leaves[:half]) + naive_root(leaves[half:])).digest()


def largest_power_below(count: int) -> int:
    power = 1
    while power * 2 < count:
        power *= 2
    return power


@cache
def path_shape(index: int, size: int) -> str:
    """The side of each sibling on the way from a leaf to the root: L or R."""
    if size == 1:
        return ""
    half = largest_power_below(size)
    return path_shape(index, half) + "R" if index < half else path_shape(index - half, size - half) + "L"


@cache
def growth_shape(old_size: int, size: int) -> str:
    """How a consistency proof is read: trivial, from the old root itself (O) or from a hash (H), and the sides."""
    if old_size in (0, size):
        return f"trivial {old_size == 0} {old_size == size}"

    def walk(old: int, new: int, *, whole: bool) -> str:
        if old == new:
            return "O" if whole else "H"
        half = largest_power_below(new)
        if old <= half:
            return walk(old, half, whole=whole) + "R"
        return walk(old - half, new - half, whole=False) + "L"

    return walk(old_size, size, whole=True)


def holds(index: int, size: int, leaf: bytes, proof: Proof, root: bytes) -> bool:
    try:
        check_inclusion(index, size, leaf, proof, root)
    except ProofError:
        return False
    return True


def grows(old_size: int, size: int, old_root: bytes, root: bytes, proof: Proof) -> bool:
    try:
        check_consistency(old_size, size, old_root, root, proof)
    except ProofError:
        return False
    return True


def flips(digest: bytes, size: int) -> Iterator[bytes]:
    """Copies with one bit flipped: in each byte for small trees, in each word of four bytes for larger ones."""
    for at in range(32) if size <= SMALL else range(digest[0] % 4, 32, 4):
        bad = bytearray(digest)
        bad[at] ^= 1 << at % 8
        yield bytes(bad)


def other_sizes(size: int) -> Iterator[int]:
    """Sizes to claim instead of the right one, which is among them."""
    yield from range(-1, 70) if size <= SMALL else (-1, 0, 1, size - 1, size, size + 1, size ^ 4, size ^ 16, 64, 65)


def damaged(proof: Proof, size: int) -> Iterator[Proof]:
    """Proofs with a hash altered, cut, moved, added or of another length."""
    for at, digest in enumerate(proof):
        for bad in flips(digest, size):
            yield [*proof[:at], bad, *proof[at + 1 :]]
        yield proof[:at] + proof[at + 1 :]
        yield proof[:at]
        yield proof[at + 1 :]
        yield [*proof[:at], digest[:-1], *proof[at + 1 :]]
        yield [*proof[:at], digest + b"\x00", *proof[at + 1 :]]
        yield [*proof[:at], b"", *proof[at + 1 :]]
        if at:
            yield [*proof[: at - 1], digest, proof[at - 1], *proof[at + 1 :]]
    for at in range(len(proof) + 1):
        for extra in (JUNK, bytes(32), b"", proof[at - 1] if proof else JUNK):
            yield [*proof[:at], extra, *proof[at:]]


def test_the_tree_has_the_roots_of_the_definition() -> None:
    assert [naive_root(LEAVES[:size]) for size in range(MOST + 1)] == ROOTS
    assert ROOTS[0] == EMPTY_ROOT


@pytest.mark.parametrize("size", range(1, MOST + 1))
def test_every_inclusion_proof_holds_and_no_damaged_one_does(size: int) -> None:
    root = ROOTS[size]
    for index in range(size):
        proof, leaf = TREE.inclusion_proof(index, size), LEAVES[index]
        assert len(proof) == len(path_shape(index, size))
        assert holds(index, size, leaf, proof, root)
        assert not any(holds(index, size, leaf, bad, root) for bad in damaged(proof, size))
        assert not any(holds(index, size, bad, proof, root) for bad in flips(leaf, size))
        assert not any(holds(index, size, leaf, proof, bad) for bad in flips(root, size))
        assert not any(holds(index, size, bad, proof, root) for bad in (JUNK, b"", leaf[:-1], *proof))


@pytest.mark.parametrize("size", range(1, MOST + 1))
def test_no_inclusion_proof_holds_for_another_index_leaf_or_root(size: int) -> None:
    for index in range(size):
        proof, leaf = TREE.inclusion_proof(index, size), LEAVES[index]
        others = {index ^ 1 << bit for bit in range(8)} | {index + 1, index - 1, index + size, index - size, -1, size}
        assert not any(holds(other, size, leaf, proof, ROOTS[size]) for other in (others | set(range(size))) - {index})
        for step in (1, 2, size, 37):
            assert not holds(index, size, LEAVES[(index + step) % MOST], proof, ROOTS[size]) or step % MOST == 0
            assert not holds(index, size, leaf, proof, ROOTS[(size + step) % (MOST + 1)])


@pytest.mark.parametrize("size", range(1, MOST + 1))
def test_an_inclusion_proof_holds_for_another_size_only_when_its_shape_is_the_same(size: int) -> None:
    seen: Counter[bool] = Counter()
    for index in range(size):
        proof, leaf, shape = TREE.inclusion_proof(index, size), LEAVES[index], path_shape(index, size)
        for other in other_sizes(size):
            same = other > index and path_shape(index, other) == shape
            assert holds(index, other, leaf, proof, ROOTS[size]) == same
            seen[same] += 1
        assert not holds(index, 2 * size, leaf, proof, ROOTS[size])
        assert not holds(index, size // 2, leaf, proof, ROOTS[size])
        assert not holds(index, size + 2**40, leaf, proof, ROOTS[size])
    assert min(seen[True], seen[False]) >= size


@pytest.mark.parametrize("size", range(1, MOST + 1))
def test_every_consistency_proof_holds_and_no_damaged_one_does(size: int) -> None:
    root = ROOTS[size]
    for old_size in range(size + 1):
        proof, old_root = TREE.consistency_proof(old_size, size), ROOTS[old_size]
        assert grows(old_size, size, old_root, root, proof)
        assert not any(grows(old_size, size, old_root, root, bad) for bad in damaged(proof, size))
        assert not any(
            grows(old_size, size, bad, root, proof) for bad in (*flips(old_root, size), JUNK, b"", old_root[:-1])
        )
        if old_size:  # an empty tree is a prefix of every tree: its proof says nothing about the new root
            bad_roots = (*flips(root, size), JUNK, b"", root[:-1])
            assert not any(grows(old_size, size, old_root, bad, proof) for bad in bad_roots)


@pytest.mark.parametrize("size", range(1, MOST + 1))
def test_no_consistency_proof_holds_for_other_or_swapped_roots(size: int) -> None:
    for old_size in range(1, size):
        proof, old_root, root = TREE.consistency_proof(old_size, size), ROOTS[old_size], ROOTS[size]
        assert not grows(old_size, size, root, old_root, proof)
        assert not grows(size, old_size, root, old_root, proof)
        assert not grows(old_size, size, root, root, proof)
        assert not grows(old_size, size, old_root, old_root, proof)
        for step in (1, 2, 31, 63):
            assert not grows(old_size, size, ROOTS[(old_size + step) % (MOST + 1)], root, proof)
            assert not grows(old_size, size, old_root, ROOTS[(size + step) % (MOST + 1)], proof)


@pytest.mark.parametrize("size", range(2, MOST + 1))
def test_a_consistency_proof_holds_for_other_sizes_only_when_its_shape_is_the_same(size: int) -> None:
    for old_size in range(1, size):
        proof, old_root, root = TREE.consistency_proof(old_size, size), ROOTS[old_size], ROOTS[size]
        shape = growth_shape(old_size, size)
        for other in other_sizes(size):
            same = other >= old_size and growth_shape(old_size, other) == shape
            assert grows(old_size, other, old_root, root, proof) == same
        for other in other_sizes(old_size):
            same = 0 <= other <= size and growth_shape(other, size) == shape
            assert grows(other, size, old_root, root, proof) == same
        assert not grows(old_size, 2 * size, old_root, root, proof)
        assert not grows(old_size, size // 2, old_root, root, proof)
        assert not grows(2 * old_size, size, old_root, root, proof)


@pytest.mark.parametrize("size", range(MOST + 1))
def test_growth_from_or_to_the_same_size_has_an_empty_proof_and_needs_the_right_roots(size: int) -> None:
    assert grows(size, size, ROOTS[size], ROOTS[size], [])
    assert grows(0, size, EMPTY_ROOT, ROOTS[size], [])
    assert not grows(size, size, ROOTS[size], JUNK, [])
    assert not grows(size, size, ROOTS[size], ROOTS[size], [JUNK])
    assert not grows(0, size, JUNK, ROOTS[size], [])
    assert not grows(0, size, EMPTY_ROOT, ROOTS[size], [JUNK])
    assert not grows(size + 1, size, ROOTS[size], ROOTS[size], [])


@pytest.mark.parametrize("index", [0, 1, 41, 63])
def test_a_proof_cannot_be_longer_than_the_tree_is_high(index: int) -> None:
    proof = TREE.inclusion_proof(index)
    digest = ROOTS[MOST]
    for length in range(1, 70):
        longer = [*proof, *[JUNK] * length]
        digest = sha256(b"\x01" + digest + JUNK).digest()
        assert not holds(index, MOST, LEAVES[index], longer, digest)


def test_the_border_between_two_hashes_cannot_be_moved() -> None:
    # Without a check of lengths, 33 + 31 bytes hash like 32 + 32, and two equal short texts are two equal roots.
    leaf, sibling, root = LEAVES[0], LEAVES[1], ROOTS[2]
    assert holds(0, 2, leaf, [sibling], root)
    assert not holds(0, 2, leaf + sibling[:1], [sibling[1:]], root)
    assert not holds(1, 2, sibling[1:], [leaf + sibling[:1]], root)
    assert not holds(0, 1, b"short", [], b"short")
    assert not grows(5, 5, b"short", b"short", [])
    assert not grows(0, 5, EMPTY_ROOT, b"short", [])
    assert not grows(2, 4, ROOTS[2] + JUNK[:1], sha256(b"\x01" + ROOTS[2] + JUNK).digest(), [JUNK[1:]])


def test_a_proof_cannot_be_asked_for_outside_the_tree() -> None:
    for index, size in ((0, 0), (5, 5), (-1, 5), (0, MOST + 1), (0, -1)):
        with pytest.raises(ValueError, match="tree of"):
            TREE.inclusion_proof(index, size)
    for old_size, size in ((6, 5), (-1, 5), (0, MOST + 1)):
        with pytest.raises(ValueError, match="tree of"):
            TREE.consistency_proof(old_size, size)
