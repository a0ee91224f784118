"""Published RFC 6962 vectors: the eight leaves of transparency-dev/merkle, and roots that Go's x/mod tlog computed."""

from __future__ import annotations

import hashlib

import pytest

from ledger.errors import ProofError
from ledger.merkle import EMPTY_ROOT, Tree, check_consistency, check_inclusion, leaf_hash, node_hash
from ledger.strict import b64decode

LEAVES = [
    bytes.fromhex(text)
    for text in ("", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f")
]
ROOTS = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
LEAF_HASHES = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
    "0298d122906dcfc10892cb53a73992fc5b9f493ea4c9badb27b791b4127a7fe7",
    "07506a85fd9dd2f120eb694f86011e5bb4662e5c415a62917033d4a9624487e7",
    "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
    "4271a26be0d8a84f0bd54c8c302e7cb3a3b5d1fa6780a40bcce2873477dab658",
    "b08693ec2e721597130641e8211e7eedccb4c26413963eee6c1e2ed16ffb1a5f",
    "46f6ffadd3d06a09ff3c5860d2755c8b9819db7df44251788c7d8e3180de8eb1",
]
# The complete subtrees of two and of four leaves, from the left.
PAIRS = [
    ROOTS[2],
    "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
    "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
    "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
]
QUADS = [ROOTS[4], "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4"]
PAIR_AND_LEAF = "837dbb152e9b079010717e84e865da4ebc0fa198a806d59d31bf15accef22d0e"  # leaves 4 to 6

INCLUSION = {
    (0, 1): [],
    (0, 8): [LEAF_HASHES[1], PAIRS[1], QUADS[1]],
    (1, 5): [LEAF_HASHES[0], PAIRS[1], LEAF_HASHES[4]],
    (2, 3): [PAIRS[0]],
    (5, 8): [LEAF_HASHES[4], PAIRS[3], QUADS[0]],
}
CONSISTENCY = {
    (1, 1): [],
    (1, 8): [LEAF_HASHES[1], PAIRS[1], QUADS[1]],
    (2, 5): [PAIRS[1], LEAF_HASHES[4]],
    (3, 7): [LEAF_HASHES[2], LEAF_HASHES[3], PAIRS[0], PAIR_AND_LEAF],
    (4, 7): [PAIR_AND_LEAF],
    (6, 7): [PAIRS[2], LEAF_HASHES[6], QUADS[0]],
    (6, 8): [PAIRS[2], PAIRS[3], QUADS[0]],
}
# Entries are the ASCII texts "entry 0", "entry 1", …
ENTRY_ROOTS = {
    1: "dziFphNIniTOLPdhmdakI/BC5LvxLX7s7pEu8nbGVwE=",
    2: "WkdmL9ijF9lgSaP59HxV3GfKZgUbqjaD27GbL+CaB7A=",
    255: "z2Z5PmMp3/JC6zzuCm82rT46GW3MVzoex3XhAr6GPxw=",
    256: "2mWW2VNp9f7zIquOTg2jsLUCNqqcijsdJG90Ecni4y4=",
    257: "XB/f6DU1gCLyOS3keNvgU/wTDP4dOggoeakM9r8Uv34=",
    65536: "B7Gjd5YKThLjNI1ukymuYxapWwL7HCLpCSMbOqRIYac=",
    70000: "o5IPun8jmgcam9EHIfE0Gt3vuu3ttBx+JEN6nRa98Ao=",
}


def unhex(hashes: list[str]) -> list[bytes]:
    return [bytes.fromhex(text) for text in hashes]


@pytest.fixture(scope="module")
def entry_tree() -> Tree:
    return Tree(b"entry %d" % index for index in range(70000))


def test_the_empty_root_is_the_hash_of_nothing() -> None:
    assert hashlib.sha256(b"").digest() == EMPTY_ROOT == bytes.fromhex(ROOTS[0])


@pytest.mark.parametrize("index", range(8))
def test_a_leaf_hash_is_the_published_one(index: int) -> None:
    assert leaf_hash(LEAVES[index]).hex() == LEAF_HASHES[index]


@pytest.mark.parametrize("size", range(9))
def test_a_root_is_the_published_one_whether_grown_to_or_looked_back_at(size: int) -> None:
    assert Tree(LEAVES[:size]).root().hex() == ROOTS[size]
    assert Tree(LEAVES).root(size).hex() == ROOTS[size]


def test_inner_nodes_are_the_published_ones() -> None:
    leaves = unhex(LEAF_HASHES)
    pairs = [node_hash(leaves[at], leaves[at + 1]) for at in range(0, 8, 2)]
    quads = [node_hash(pairs[0], pairs[1]), node_hash(pairs[2], pairs[3])]
    assert [digest.hex() for digest in pairs] == PAIRS
    assert [digest.hex() for digest in quads] == QUADS
    assert node_hash(pairs[2], leaves[6]).hex() == PAIR_AND_LEAF


@pytest.mark.parametrize(("index", "size"), INCLUSION)
def test_an_inclusion_proof_is_the_published_one_and_holds(index: int, size: int) -> None:
    proof = unhex(INCLUSION[index, size])
    assert Tree(LEAVES).inclusion_proof(index, size) == proof
    check_inclusion(index, size, bytes.fromhex(LEAF_HASHES[index]), proof, bytes.fromhex(ROOTS[size]))


@pytest.mark.parametrize(("old_size", "size"), CONSISTENCY)
def test_a_consistency_proof_is_the_published_one_and_holds(old_size: int, size: int) -> None:
    proof = unhex(CONSISTENCY[old_size, size])
    assert Tree(LEAVES).consistency_proof(old_size, size) == proof
    check_consistency(old_size, size, bytes.fromhex(ROOTS[old_size]), bytes.fromhex(ROOTS[size]), proof)


@pytest.mark.parametrize(("old_size", "size"), CONSISTENCY)
def test_a_published_consistency_proof_does_not_hold_for_the_root_of_another_size(old_size: int, size: int) -> None:
    proof = unhex(CONSISTENCY[old_size, size])
    for other in set(range(9)) - {old_size}:
        with pytest.raises(ProofError):
            check_consistency(old_size, size, bytes.fromhex(ROOTS[other]), bytes.fromhex(ROOTS[size]), proof)


@pytest.mark.parametrize("size", ENTRY_ROOTS)
def test_the_root_of_numbered_entries_is_the_one_of_another_implementation(entry_tree: Tree, size: int) -> None:
    assert entry_tree.root(size) == b64decode(ENTRY_ROOTS[size], length=32)


@pytest.mark.parametrize("size", ENTRY_ROOTS)
def test_proofs_at_the_edges_of_a_large_tree_hold(entry_tree: Tree, size: int) -> None:
    root = entry_tree.root()
    for index in {0, size // 2, size - 1}:
        proof = entry_tree.inclusion_proof(index, size)
        check_inclusion(index, size, leaf_hash(b"entry %d" % index), proof, entry_tree.root(size))
        with pytest.raises(ProofError):
            check_inclusion(index, size, leaf_hash(b"entry %d" % (index + 1)), proof, entry_tree.root(size))
    check_consistency(size, 70000, entry_tree.root(size), root, entry_tree.consistency_proof(size))
