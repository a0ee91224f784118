"""What may follow in a ledger: the one set of rules that the writer and the verifier share.

`State` is the ledger after its first n receipts. `State.admit` judges the next statement and `State.add` takes it in.
The writer asks before it seals, the verifier asks about what was sealed; neither has rules of its own.

A statement is admitted when, in this order,

1. every signature verifies under a key that has, or had, a role here;
2. it satisfies the schema of its kind and lies in the canonical domain;
3. its signers have the role that its kind needs, at this index;
4. it has not been sealed before;
5. its basis is a state that this ledger really had;
6. its producer's numbering continues;
7. what it says is consistent in itself and with earlier receipts.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ledger import canonical, schema
from ledger.errors import PolicyError, RefusedError
from ledger.merkle import EMPTY_ROOT, Tree
from ledger.receipt import NO_PREV, decode_receipt
from ledger.round import check_round, round_subject
from ledger.statement import (
    Basis,
    SignedStatement,
    Statement,
    ledger_subject,
    verify_signature,
)
from ledger.trust import Trust

KINDS = ("genesis", "keys", "round")


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

    def gaps(self) -> list[int]:
        """Sequence numbers below the highest that are missing."""
        if len(self.identities) == self.last + 1:
            return []
        return [seq for seq in range(self.last) if seq not in self.identities]


class State:
    """A ledger after its first n receipts.

    Attributes:
        tree: the Merkle tree over the receipt files.
        prev: SHA-256 (hex) of the last receipt file.
        trust: roles in force; none before a valid genesis.
        identities: index by statement identity.
        rounds: index by round id.
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
        self.rounds: dict[str, int] = {}
        self.producers: dict[str, Numbering] = {}
        self.intact = True
        self.digests: list[bytes] = []
        self.keys_at: list[int] = []
        self._roots: dict[int, bytes] = {0: EMPTY_ROOT}

    @property
    def size(self) -> int:
        """Number of receipts."""
        return len(self.tree)

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

    def admit(self, signed: SignedStatement, *, in_domain: bool = False) -> bool:
        """Judge whether a statement may follow.

        Args:
            signed: the statement with its signatures.
            in_domain: the statement's value is known to be in the canonical domain.

        Returns:
            Whether it is attested (see `Trust.authorise`).

        Raises:
            MalformedError: outside its schema or the domain.
            SignatureError: a signature does not verify.
            RefusedError: any other reason.
            PolicyError: ``E_KIND_UNKNOWN`` for a kind that this release cannot judge.
        """
        statement = signed.statement
        if self.size == 0:
            self._admit_genesis(signed, in_domain=in_domain)
            return True
        self._check_signatures(signed)
        self.check_form(statement, in_domain=in_domain)
        kind, body = statement.kind, statement.body
        attested = self.require_trust().authorise(kind, body, [item.keyid for item in signed.signatures])
        self._check_place(signed)
        if kind == "round":
            self._check_round(statement)
        return attested

    def _admit_genesis(self, signed: SignedStatement, *, in_domain: bool) -> None:
        statement = signed.statement
        if statement.kind != "genesis":
            raise RefusedError(
                "E_NO_GENESIS",
                f"a ledger starts with a genesis statement, found kind {statement.kind!r}",
                where="/predicateType",
            )
        self.check_form(statement, in_domain=in_domain)
        trust = Trust.from_genesis(statement.body)
        for item in signed.signatures:
            if item.keyid in trust.root.keys:
                verify_signature(statement, item, trust.root.keys[item.keyid])
        trust.authorise_genesis([item.keyid for item in signed.signatures])
        if statement.subject != ledger_subject(statement.body["origin"]):
            raise RefusedError("E_SUBJECT", "the subject of a genesis statement is its origin", where="/subject/0")
        self._check_place(signed)

    def _check_signatures(self, signed: SignedStatement) -> None:
        known = self.require_trust().known
        for at, item in enumerate(signed.signatures):
            key = known.get(item.keyid)
            if key is None:
                raise RefusedError(
                    "E_KEY_UNKNOWN",
                    f"{item.keyid} never had a role in this ledger",
                    where=f"/signatures/{at}",
                )
            verify_signature(signed.statement, item, key)

    def check_form(self, statement: Statement, *, in_domain: bool = False) -> None:
        """Check a statement against the schema of its kind and the canonical domain.

        Raises:
            MalformedError: ``E_SCHEMA``, ``E_DOMAIN`` or ``E_DEPTH``.
            PolicyError: ``E_KIND_UNKNOWN``.
        """
        if statement.kind not in KINDS:
            raise PolicyError(
                "E_KIND_UNKNOWN",
                f"this release of rungbook cannot judge statements of kind {statement.kind!r}; a newer one may",
            )
        proven = schema.validate(statement.kind, statement.value)
        if not proven and not in_domain:
            canonical.check_domain(statement.value)

    def _check_place(self, signed: SignedStatement) -> None:
        statement = signed.statement
        identity = statement.identity
        if identity in self.identities:
            raise RefusedError(
                "E_DUPLICATE", f"this statement is sealed already as receipt {self.identities[identity]}"
            )
        basis, producer = statement.predicate["basis"], statement.predicate["producer"]
        size = basis["tree_size"]
        if size > self.size or (self.intact and self.root_at(size).hex() != basis["root_hash"]):
            raise RefusedError(
                "E_BASIS",
                f"this ledger never had the root {basis['root_hash']} at size {size}",
                where="/predicate/basis",
            )
        if producer["keyid"] not in [item.keyid for item in signed.signatures]:
            raise RefusedError(
                "E_PRODUCER", "the producer has not signed the statement", where="/predicate/producer/keyid"
            )
        numbering = self.producers.get(producer["keyid"]) or Numbering()
        numbering.check(producer["seq"], producer["prev_statement"], identity)

    def _check_round(self, statement: Statement) -> None:
        body = statement.body
        check_round(body)
        name, digest = round_subject(body)
        if statement.subject != (name, digest):
            raise RefusedError("E_SUBJECT", f"the subject must be {name}, code {digest}", where="/subject/0")
        sealed = self.rounds.get(body["id"])
        if sealed is not None:
            raise RefusedError(
                "E_ID_CONFLICT",
                f"the round id {body['id']!r} is taken by receipt {sealed}, which says something else",
                where="/predicate/round/id",
            )

    def expect(self, signed: SignedStatement) -> None:
        """Take the number of a statement that is signed but not sealed yet, so that the next one gets another."""
        producer = signed.statement.predicate["producer"]
        numbering = self.producers.setdefault(producer["keyid"], Numbering())
        numbering.add(producer["seq"], producer["prev_statement"], signed.statement.identity)

    def add(self, digest: bytes, signed: SignedStatement) -> None:
        """Take in an admitted statement, sealed in a receipt file of this SHA-256."""
        statement = signed.statement
        if statement.kind == "genesis" and self.size == 0:
            self.trust = Trust.from_genesis(statement.body)
        elif statement.kind == "keys":
            self.require_trust().apply_keys(statement.body)
            self.keys_at.append(self.size)
        elif statement.kind == "round":
            self.rounds.setdefault(statement.body["id"], self.size)
        self.expect(signed)
        self.identities.setdefault(statement.identity, self.size)
        self.add_file(digest)

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
    schema.validate("genesis", statement.value)
    return Trust.from_genesis(statement.body)
