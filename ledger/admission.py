"""What may follow in a ledger: the one set of rules that the writer and the verifier share.

`State` is the ledger after its first n receipts. `State.admit` judges the next statement and `State.add` takes it in.
The writer asks before it seals, the verifier asks about what was sealed; neither has rules of its own.

A statement is admitted when `ledger.examine` has found that

1. every signature verifies under a key that has, or had, a role here;
2. it satisfies the schema of its kind and lies in the canonical domain;
3. its producer has signed it, and what it says is consistent in itself;

and when, in this order,

4. its signers have the role that its kind needs, at this index;
5. it has not been sealed before;
6. its basis is a state that this ledger really had;
7. its producer's numbering continues;
8. its id, if it is a figure, is not taken; what it rules on, if it is a ruling, is there;
9. earlier attempts at it, if it is a round, are accounted for (`ledger.attempts`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ledger import schema
from ledger.attempts import Attempts
from ledger.errors import RefusedError
from ledger.kinds import FIGURE_KINDS, ORIGIN_KINDS, ledger_subject
from ledger.merkle import EMPTY_ROOT, Tree
from ledger.receipt import NO_PREV, decode_receipt
from ledger.statement import Basis
from ledger.trust import Trust

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ledger.canonical import JsonObject
    from ledger.examine import Claim
    from ledger.keys import PublicKey


@dataclass(slots=True)
class Numbering:
    """Statements of one producer that are in the ledger: identity and claimed predecessor by sequence number."""

    identities: dict[int, bytes] = field(default_factory=dict)
    claims: dict[int, str | None] = field(default_factory=dict)
    last: int = -1

    def check(self, seq: int, prev: str | None, identity: bytes) -> None:
        """Refuse a number that is taken, and a predecessor that is not the one in the ledger.

        A gap is not refused: it is what a dropped statement looks like, and it must stay visible.

        Raises:
            RefusedError: ``E_SEQ_TAKEN`` or ``E_PREV_STATEMENT``.
        """
        where = "/predicate/producer"
        if seq in self.identities:
            raise RefusedError("E_SEQ_TAKEN", f"this key has another statement with seq {seq}", where=f"{where}/seq")
        if (prev is None) != (seq == 0):
            raise RefusedError(
                "E_PREV_STATEMENT",
                "prev_statement is null at seq 0 and nowhere else",
                where=f"{where}/prev_statement",
            )
        before = self.identities.get(seq - 1)
        if before is not None and before.hex() != prev:
            raise RefusedError(
                "E_PREV_STATEMENT",
                f"statement {seq - 1} of this key is {before.hex()}, not {prev}",
                where=f"{where}/prev_statement",
            )
        after = self.claims.get(seq + 1)
        if after is not None and after != identity.hex():
            raise RefusedError(
                "E_PREV_STATEMENT",
                f"statement {seq + 1} of this key follows {after}, not this one",
                where=where,
            )

    def add(self, seq: int, prev: str | None, identity: bytes) -> None:
        """Take a statement in."""
        self.identities[seq] = identity
        self.claims[seq] = prev
        self.last = max(self.last, seq)

    def gaps(self) -> list[tuple[int, int]]:
        """Runs of missing sequence numbers below the highest, as first and last number."""
        if len(self.identities) == self.last + 1:
            return []
        found, expected = [], 0
        for seq in sorted(self.identities):
            if seq > expected:
                found.append((expected, seq - 1))
            expected = seq + 1
        return found


class State:
    """A ledger after its first n receipts.

    Attributes:
        tree: the Merkle tree over the receipt files.
        prev: SHA-256 (hex) of the last receipt file.
        trust: roles in force; none before a valid genesis.
        identities: index by statement identity.
        figures: index by id of a round or an imported figure.
        attempts: attempts at rounds that ended without a number.
        producers: numbering by key id.
        digests: SHA-256 of every receipt file.
        keys_at: indices of the ``keys`` statements.
        intact: false once a verifier has met a receipt that is not the one that was sealed; from there on the roots
            that this state computes are not those that producers saw, so no basis can be judged.
    """

    def __init__(self) -> None:
        self.tree = Tree()
        self.prev = NO_PREV
        self.trust: Trust | None = None
        self.identities: dict[bytes, int] = {}
        self.figures: dict[str, int] = {}
        self.attempts = Attempts()
        self.producers: dict[str, Numbering] = {}
        self.intact = True
        self.digests: list[bytes] = []
        self.keys_at: list[int] = []
        self._roots: dict[int, bytes] = {0: EMPTY_ROOT}

    @property
    def size(self) -> int:
        """Number of receipts."""
        return len(self.digests)

    def root_at(self, size: int) -> bytes:
        """Root hash of the first `size` receipts."""
        root = self._roots.get(size)
        if root is None:
            root = self._roots[size] = self.tree.root(size)
        return root

    def require_trust(self) -> Trust:
        """Roles in force.

        Raises:
            RefusedError: ``E_NO_GENESIS`` when there is no valid genesis statement.
        """
        if self.trust is None:
            raise RefusedError("E_NO_GENESIS", "the ledger has no valid genesis statement")
        return self.trust

    def basis(self) -> Basis:
        """This state as the basis of new statements."""
        return Basis(tree_size=self.size, root=self.root_at(self.size))

    @property
    def keys(self) -> Mapping[str, PublicKey]:
        """Every key that ever had a role, by key id; empty before a valid genesis."""
        return self.trust.known if self.trust else {}

    def admit(self, claim: Claim) -> bool:
        """Judge whether an examined statement may follow.

        Returns:
            Whether it is attested (see `Trust.authorise`).

        Raises:
            RefusedError: with the reason.
        """
        if self.size == 0:
            if claim.kind != "genesis":
                raise RefusedError("E_NO_GENESIS", "a ledger starts with a genesis statement", where="/predicateType")
            self._check_place(claim)
            return True
        attested = self.require_trust().authorise(claim.kind, claim.node, claim.signers)
        self._check_place(claim)
        if claim.kind in ORIGIN_KINDS and claim.subject != ledger_subject(self.require_trust().ledger.name):
            raise RefusedError(
                "E_SUBJECT", f"the subject of a {claim.kind} statement is its ledger", where="/subject/0"
            )
        if claim.kind == "ruling":
            self._check_ruling(claim.body or {})
        if claim.figure_id in self.figures:
            raise RefusedError(
                "E_ID_CONFLICT",
                f"the {claim.kind} id {claim.figure_id!r} is taken by receipt {self.figures[claim.figure_id]}, "
                f"which is not this {claim.kind} by these keys",
                where=f"/predicate/{claim.kind}/id",
            )
        if claim.kind == "incident":
            self.attempts.check_incident(claim.body or {})
        elif claim.kind == "round":
            self.attempts.check_round(claim.node, claim.figure_id, claim.attempt)
        return attested

    def _check_ruling(self, body: JsonObject) -> None:
        named = self._index_of(body["receipt"])
        if body["action"] == "void" and self.attempts.is_incident(named):
            self.attempts.check_void(named)
            return
        target = self._figure_of(body["receipt"], "/predicate/ruling/receipt")
        if "by" in body and self._figure_of(body["by"], "/predicate/ruling/by") <= target:
            raise RefusedError(
                "E_SUPERSEDE_BACKWARDS",
                "a receipt is superseded by a later one; to withdraw it without a successor, void it",
                where="/predicate/ruling/by",
            )

    def _figure_of(self, digest: str, where: str) -> int:
        """Index of the figure that a ruling names."""
        index = self._index_of(digest)
        if index not in self.figures.values():
            raise RefusedError(
                "E_RULING_TARGET",
                f"{digest} is no round and no imported figure here (and no incident that stands, which can be voided)",
                where=where,
            )
        return index

    def _index_of(self, digest: str) -> int:
        """Index of the receipt file with this digest; -1 for none."""
        try:
            return self.digests.index(bytes.fromhex(digest))
        except ValueError:
            return -1

    def _check_place(self, claim: Claim) -> None:
        if claim.identity in self.identities:
            raise RefusedError(
                "E_DUPLICATE", f"this statement is sealed already as receipt {self.identities[claim.identity]}"
            )
        size = claim.basis_size
        if size > self.size or (self.intact and self.root_at(size).hex() != claim.basis_root):
            raise RefusedError(
                "E_BASIS",
                f"this ledger never had the root {claim.basis_root} at size {size}",
                where="/predicate/basis",
            )
        numbering = self.producers.get(claim.producer) or Numbering()
        numbering.check(claim.seq, claim.prev, claim.identity)

    def expect(self, claim: Claim) -> None:
        """Take in what a statement that is signed but not sealed yet leaves to the next: its number, or an incident."""
        self._number(claim)
        if claim.kind == "incident":
            self.attempts.add_incident(claim.body or {}, None)

    def _number(self, claim: Claim) -> None:
        numbering = self.producers.setdefault(claim.producer, Numbering())
        numbering.add(claim.seq, claim.prev, claim.identity)

    def add(self, digest: bytes, claim: Claim) -> None:
        """Take in an admitted statement, sealed in a receipt file of this SHA-256.

        Raises:
            RefusedError: see `Trust.apply_keys`; nothing has been taken in then.
        """
        if claim.kind == "genesis" and self.size == 0:
            self.trust = Trust.from_genesis(claim.body or {})
        elif claim.kind == "keys":
            self.require_trust().apply_keys(claim.body or {})
            self.keys_at.append(self.size)
        elif claim.kind in FIGURE_KINDS:
            self.figures.setdefault(claim.figure_id, self.size)
        self._add_attempt(claim)
        self._number(claim)
        self.identities.setdefault(claim.identity, self.size)
        self.add_file(digest)

    def _add_attempt(self, claim: Claim) -> None:
        """Take in what a statement does to attempts at rounds."""
        if claim.kind == "round":
            self.attempts.add_round(claim.node, claim.figure_id, self.size)
        elif claim.kind == "incident":
            self.attempts.add_incident(claim.body or {}, self.size)
        elif claim.kind == "ruling" and claim.body and claim.body["action"] == "void":
            target = self._index_of(claim.body["receipt"])
            if self.attempts.is_incident(target):
                self.attempts.void(target)

    def add_file(self, digest: bytes) -> None:
        """Take in a receipt file of which nothing else is to be believed."""
        self.tree.append(digest)
        self.digests.append(digest)
        self.prev = digest.hex()


def read_genesis(raw: bytes) -> Trust:
    """Roles that a genesis receipt establishes. Its signatures are not verified here.

    Raises:
        MalformedError: it is not a genesis receipt.
        RefusedError: its keys or thresholds are not acceptable.
    """
    statement = decode_receipt(raw).statement
    if statement.kind != "genesis":
        raise RefusedError("E_NO_GENESIS", "a ledger starts with a genesis statement", where="/predicateType")
    schema.validate("genesis", statement.value, statement.raw)
    return Trust.from_genesis(statement.body)
