"""What can be judged of a statement without its ledger: form, signatures, and whether it is consistent in itself.

`examine` is pure: the same bytes and keys give the same answer in any process, so a large ledger is examined in
several. What it yields is a `Claim`: little enough to travel between processes, and all that `ledger.admission` needs
to decide whether the statement may stand where it stands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ledger import canonical, schema
from ledger.errors import PolicyError, RefusedError
from ledger.kinds import FIGURE_KINDS, NODE_KINDS, Subject, body_subject, check_body
from ledger.receipt import MAX_SIGNATURES
from ledger.statement import SignedStatement, Statement, verify_signature
from ledger.trust import Trust

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ledger.canonical import JsonObject
    from ledger.keys import PublicKey

KINDS = ("genesis", "keys", "round", "incident", "rule", "ruling", "imported", "rescore")


class Claim(NamedTuple):
    """What a statement claims that only its ledger can judge. A tuple is made and pickled several times as quickly.

    Attributes:
        kind: kind of the statement.
        identity: identity of the statement.
        subject: name and SHA-256 (hex) of what it is about.
        signers: key ids that signed it.
        producer: key id that numbers it.
        seq: its number.
        prev: identity (hex) of the producer's previous statement.
        basis_size: tree size that the producer saw.
        basis_root: root (hex) that the producer saw.
        node: node of a figure (a round or an imported one) or of an incident; empty for other kinds.
        figure_id: id of a figure; empty for other kinds.
        body: what the statement says; none for a figure.
        attempt: which attempt at a round it was.
    """

    kind: str
    identity: bytes
    subject: tuple[str, str]
    signers: tuple[str, ...]
    producer: str
    seq: int
    prev: str | None
    basis_size: int
    basis_root: str
    node: str = ""
    figure_id: str = ""
    body: JsonObject | None = None
    attempt: int = 1


def examine(signed: SignedStatement, keys: Mapping[str, PublicKey] | None, *, in_domain: bool = False) -> Claim:
    """Judge a statement by itself.

    Args:
        signed: the statement with its signatures.
        keys: every key that ever had a role in the ledger, by key id; a genesis statement brings its own. None when
            whoever signed the checkpoint is trusted to have verified the signatures.
        in_domain: the statement's value is known to be in the canonical domain.

    Raises:
        SignatureError: ``E_SIGNATURE``.
        MalformedError: outside its schema or the domain.
        RefusedError: ``E_SIGNERS``, ``E_DUPLICATE_SIGNER``, ``E_NO_GENESIS``, ``E_KEY_UNKNOWN``, ``E_PRODUCER``,
            ``E_SUBJECT``, and what `Trust.authorise_genesis` and `ledger.kinds.check_body` raise.
        PolicyError: ``E_KIND_UNKNOWN`` for a kind that this release cannot judge.
    """
    statement = signed.statement
    _check_signers([item.keyid for item in signed.signatures])
    if statement.kind == "genesis":
        check_form(statement, in_domain=in_domain)
        _check_genesis(signed)
    else:
        if keys is not None:
            _check_signatures(signed, keys)
        check_form(statement, in_domain=in_domain)
    if statement.predicate["producer"]["keyid"] not in [item.keyid for item in signed.signatures]:
        raise RefusedError("E_PRODUCER", "the producer has not signed the statement", where="/predicate/producer/keyid")
    body = statement.body
    check_body(statement.kind, body)
    _check_subject(statement, body_subject(statement.kind, body))
    return _claim(signed)


def check_form(statement: Statement, *, in_domain: bool = False) -> None:
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
    proven = schema.validate(statement.kind, statement.value, statement.raw)
    if not proven and not in_domain:
        canonical.check_domain(statement.value)


def _check_signers(keyids: list[str]) -> None:
    if not 1 <= len(keyids) <= MAX_SIGNATURES:
        raise RefusedError(
            "E_SIGNERS", f"{len(keyids)} signatures, 1 to {MAX_SIGNATURES} are accepted", where="/signatures"
        )
    if keyids != sorted(set(keyids)):
        raise RefusedError(
            "E_DUPLICATE_SIGNER", "signatures stand in the order of their key ids, one per key", where="/signatures"
        )


def _check_genesis(signed: SignedStatement) -> None:
    statement = signed.statement
    trust = Trust.from_genesis(statement.body)
    for item in signed.signatures:
        if item.keyid in trust.root.keys:
            verify_signature(statement, item, trust.root.keys[item.keyid])
    trust.authorise_genesis([item.keyid for item in signed.signatures])


def _check_signatures(signed: SignedStatement, keys: Mapping[str, PublicKey]) -> None:
    if not keys:
        raise RefusedError("E_NO_GENESIS", "a ledger starts with a genesis statement, and there is no valid one")
    for at, item in enumerate(signed.signatures):
        key = keys.get(item.keyid)
        if key is None:
            raise RefusedError(
                "E_KEY_UNKNOWN",
                f"{item.keyid} never had a role in this ledger; a maintainer grants one with rungbook grant",
                where=f"/signatures/{at}",
            )
        verify_signature(signed.statement, item, key)


def _check_subject(statement: Statement, expected: Subject | None) -> None:
    if expected is not None and statement.subject != expected:
        name, digest = expected
        raise RefusedError("E_SUBJECT", f"the subject must be {name!r} with SHA-256 {digest}", where="/subject/0")


def _claim(signed: SignedStatement) -> Claim:
    statement = signed.statement
    kind, predicate = statement.kind, statement.predicate
    basis, producer, body = predicate["basis"], predicate["producer"], predicate[kind]
    is_figure = kind in FIGURE_KINDS
    return Claim(
        kind=kind,
        identity=statement.identity,
        subject=statement.subject,
        signers=tuple(item.keyid for item in signed.signatures),
        producer=producer["keyid"],
        seq=producer["seq"],
        prev=producer["prev_statement"],
        basis_size=basis["tree_size"],
        basis_root=basis["root_hash"],
        node=body["slot"]["node"] if kind in NODE_KINDS else "",
        figure_id=body["id"] if is_figure else "",
        body=None if is_figure else body,
        attempt=body.get("attempt", 1) if is_figure else 1,
    )
