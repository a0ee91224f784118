"""Check a ledger with the standard library alone: the chain of its receipts and the root of its tree.

    python stdlib_reader.py FOLDER        FOLDER holds `receipts/`

It shares no code with the ledger, and is short enough to be read before it is trusted. What it does:

1. `receipts/checkpoint` says how many receipts there are and what their root hash is.
2. Receipt i says that it is number i, and names the SHA-256 of the file before it (64 zeros at 0).
3. The SHA-256 of every file, hashed to a tree as RFC 6962 section 2.1 says, gives that root hash.

It verifies no signature, because the standard library cannot; `check_with_openssl.sh` does that for one receipt. The
exit status is 0 when everything agrees, else 1.
"""

import base64
import hashlib
import json
import sys
from pathlib import Path


def sha256(data: bytes) -> bytes:
    """32 bytes."""
    return hashlib.sha256(data).digest()


def root_hash(leaves: list[bytes]) -> bytes:
    """RFC 6962: split at the largest power of two below the number of leaves."""
    if len(leaves) < 2:
        return leaves[0] if leaves else sha256(b"")
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    return sha256(b"\x01" + root_hash(leaves[:split]) + root_hash(leaves[split:]))


def check(folder: Path) -> tuple[list[str], list[str]]:
    """What was found, and what is wrong."""
    receipts = folder / "receipts"
    origin, size_text, root_text = (receipts / "checkpoint").read_bytes().decode().split("\n")[:3]
    size, root = int(size_text), base64.b64decode(root_text, validate=True)
    wrong, leaves, prev = [], [], "0" * 64
    if (str(size), base64.b64encode(root).decode()) != (size_text, root_text):
        wrong.append("the checkpoint writes its size or root in an unusual way")
    for index in range(size):
        digits = f"{index:09d}"
        path = receipts / digits[:3] / digits[3:6] / f"{digits[6:]}.json"
        if not path.exists():
            wrong.append(f"receipt {index} is missing")
            break
        raw = path.read_bytes()
        try:
            seal = json.loads(raw)["seal"]
            if seal["index"] != index:
                wrong.append(f"receipt {index} says that it is number {seal['index']}")
            if seal["prev"] != prev:
                wrong.append(f"receipt {index} follows {seal['prev']}, the file before it is {prev}")
        except (ValueError, KeyError, TypeError) as err:
            wrong.append(f"receipt {index} cannot be read: {err!r}")
        prev = sha256(raw).hex()
        leaves.append(sha256(b"\x00" + sha256(raw)))
    found = root_hash(leaves)
    if found != root:
        wrong.append(f"the receipts have the root {found.hex()}, the checkpoint says {root.hex()}")
    facts = [f"origin {origin}", f"checkpoint {size} receipts, root {root.hex()}", f"last file {prev}"]
    more = sum(1 for _ in receipts.rglob("*.json")) - len(leaves)
    return [*facts, f"not counted by the checkpoint: {more} files"] if more else facts, wrong


if __name__ == "__main__":
    try:
        found, wrong = check(Path(sys.argv[1]))
    except (OSError, ValueError) as error:
        found, wrong = [], [f"there is no readable ledger: {error}"]
    verdict = "does NOT agree" if wrong else "agrees: chain and root (signatures are not checked here)"
    print("\n".join([*found, *wrong, verdict]))  # noqa: T201 - the report
    sys.exit(1 if wrong else 0)
