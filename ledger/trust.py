"""Who may sign what, judged by index.

The genesis statement names the root keys, the ledger's key and the first maintainers. `keys` statements, signed by as
many maintainers as the threshold says, grant and revoke roles; a change holds for every later receipt and for no
earlier one. Claimed times never matter. Thresholds count distinct public keys.

==============  ===================================================================
role            may sign
==============  ===================================================================
``root``        the genesis statement
``maintainer``  ``keys``, ``rule``, ``ruling``, ``rescore``; ``imported`` without a threshold
``scorer``      ``round`` for the nodes that the grant names: the round is attested; ``incident`` and ``imported`` for
                these nodes
``contributor`` ``round`` for any node: the round is only measured
==============  ===================================================================
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ledger.errors import RefusedError
from ledger.keys import PublicKey, parse_public_key
from ledger.note import NoteKey

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from ledger.canonical import JsonObject


_MAINTAINED = frozenset({"keys", "rule", "ruling", "rescore"})


@dataclass(frozen=True, slots=True, kw_only=True)
class KeySet:
    """Distinct public keys, by key id, and how many of them must sign."""

    keys: dict[str, PublicKey]
    threshold: int


@dataclass(slots=True, kw_only=True)
class Trust:
    """Roles in force after some number of receipts.

    Attributes:
        ledger: name and key that sign checkpoints.
        root: keys that signed the genesis statement.
        maintainers: maintainers in force.
        scorers: nodes for which a key may attest, by key id.
        contributors: key ids that may submit measured rounds.
        known: every key that ever had a role, revoked ones too, by key id.
    """

    ledger: NoteKey
    root: KeySet
    maintainers: KeySet
    scorers: dict[str, frozenset[str]] = field(default_factory=dict)
    contributors: set[str] = field(default_factory=set)
    known: dict[str, PublicKey] = field(default_factory=dict)

    @classmethod
    def from_genesis(cls, body: JsonObject) -> Trust:
        """Roles that a genesis body (checked by its schema) establishes.

        Raises:
            MalformedError: ``E_KEY`` for a key that is not acceptable.
            RefusedError: ``E_THRESHOLD`` or ``E_KEY_TWICE``.
        """
        root = _read_key_set(body["root"], "/root")
        maintainers = _read_key_set(body["maintainers"], "/maintainers")
        ledger = NoteKey(name=body["origin"], public=parse_public_key(body["ledger_key"]))
        known = {**root.keys, **maintainers.keys}
        return cls(ledger=ledger, root=root, maintainers=maintainers, known=known)

    def authorise(self, kind: str, node: str, signers: Sequence[str]) -> bool:
        """Decide whether these key ids, whose signatures have been verified, may make this statement now.

        Args:
            kind: kind of the statement.
            node: node of a round, an incident or an imported figure; empty for other kinds.
            signers: key ids.

        Returns:
            True when a round is attested by a scorer of its node; false for a measured round and for an imported
            figure. True for other kinds.

        Raises:
            RefusedError: ``E_ROLE``, ``E_NODE``, ``E_KEY_REVOKED``, ``E_THRESHOLD`` or ``E_KIND``.
        """
        if kind in _MAINTAINED:
            self._require(self.maintainers, "maintainer", signers)
            return True
        if kind == "round":
            return self._authorise_round(node, signers)
        if kind == "incident":
            self._require_any(node, signers, "scorer")
            return True
        if kind == "imported":
            self._require_any(node, signers, "scorer or maintainer", besides=self.maintainers.keys)
            return False
        raise RefusedError("E_KIND", f"nobody may make a statement of kind {kind!r} here", where="/predicateType")

    def authorise_genesis(self, signers: Sequence[str]) -> None:
        """Decide whether the genesis statement is signed by enough of its own root keys.

        Raises:
            RefusedError: ``E_ROLE`` or ``E_THRESHOLD``.
        """
        self._require(self.root, "root", signers)

    def roles_of(self, keyid: str) -> list[str]:
        """Roles that a key has now, for people."""
        roles = [f"scorer of {', '.join(sorted(self.scorers[keyid]))}"] if keyid in self.scorers else []
        roles += ["contributor"] if keyid in self.contributors else []
        return roles + (["maintainer"] if keyid in self.maintainers.keys else [])

    def _authorise_round(self, node: str, signers: Sequence[str]) -> bool:
        attested = False
        for keyid in signers:
            if node in self.scorers.get(keyid, ()):
                attested = True
            elif keyid not in self.contributors:
                raise self._refusal(keyid, "scorer", node)
        return attested

    def _require_any(self, node: str, signers: Sequence[str], roles: str, besides: Collection[str] = ()) -> None:
        """Each signer is a scorer of the node, or one of those besides."""
        for keyid in signers:
            if keyid not in besides and node not in self.scorers.get(keyid, ()):
                raise self._refusal(keyid, roles, node)

    def _refusal(self, keyid: str, role: str, node: str = "") -> RefusedError:
        if node and keyid in self.scorers:
            nodes = ", ".join(sorted(self.scorers[keyid]))
            return RefusedError(
                "E_NODE",
                f"{keyid} is a scorer of {nodes}, not of {node}; a maintainer grants a node with rungbook grant",
                where="/signatures",
            )
        roles = self.roles_of(keyid)
        if not roles and keyid in self.known and keyid not in self.root.keys:
            return RefusedError("E_KEY_REVOKED", f"{keyid} has no role any more", where="/signatures")
        has = f"is {' and '.join(roles)}" if roles else "has no role"
        return RefusedError("E_ROLE", f"expected a {role}, but {keyid} {has}", where="/signatures")

    def _require(self, needed: KeySet, role: str, signers: Sequence[str]) -> None:
        for keyid in signers:
            if keyid not in needed.keys:
                raise self._refusal(keyid, role)
        distinct = {needed.keys[keyid].raw for keyid in signers}
        if len(distinct) < needed.threshold:
            raise RefusedError(
                "E_THRESHOLD",
                f"signed by {len(distinct)} {role} key(s), {needed.threshold} must sign",
                where="/signatures",
            )

    def apply_keys(self, body: JsonObject) -> None:
        """Put an authorised ``keys`` statement into force, whole or not at all.

        Raises:
            MalformedError: ``E_KEY``.
            RefusedError: ``E_NOT_GRANTED`` for a revocation without a grant, ``E_THRESHOLD`` when too few maintainers
                would be left.
        """
        after = Trust(
            ledger=self.ledger,
            root=self.root,
            maintainers=KeySet(keys=dict(self.maintainers.keys), threshold=self.maintainers.threshold),
            scorers=dict(self.scorers),
            contributors=set(self.contributors),
            known=dict(self.known),
        )
        for at, change in enumerate(body["changes"]):
            after._apply_change(change, f"/changes/{at}")
        _check_threshold(after.maintainers, "/changes")
        self.maintainers, self.scorers = after.maintainers, after.scorers
        self.contributors, self.known = after.contributors, after.known

    def _apply_change(self, change: JsonObject, where: str) -> None:
        if change["action"] == "threshold":
            self.maintainers = KeySet(keys=self.maintainers.keys, threshold=change["threshold"])
            return
        key = parse_public_key(change["key"])
        if change["action"] == "grant":
            self.known[key.keyid] = key
            self._grant(change, key)
        elif not self._revoke(change["role"], key.keyid):
            raise RefusedError("E_NOT_GRANTED", f"{key.keyid} is not a {change['role']}", where=where)

    def _grant(self, change: JsonObject, key: PublicKey) -> None:
        if change["role"] == "scorer":
            self.scorers[key.keyid] = self.scorers.get(key.keyid, frozenset()) | set(change["nodes"])
        elif change["role"] == "contributor":
            self.contributors.add(key.keyid)
        else:
            self.maintainers.keys[key.keyid] = key

    def _revoke(self, role: str, keyid: str) -> bool:
        if role == "scorer":
            return self.scorers.pop(keyid, None) is not None
        if role == "contributor":
            had = keyid in self.contributors
            self.contributors.discard(keyid)
            return had
        return self.maintainers.keys.pop(keyid, None) is not None


def _read_key_set(value: JsonObject, where: str) -> KeySet:
    keys = [parse_public_key(line) for line in value["keys"]]
    result = KeySet(keys={key.keyid: key for key in keys}, threshold=value["threshold"])
    if len(result.keys) != len(keys):
        raise RefusedError("E_KEY_TWICE", "one public key is listed twice", where=f"{where}/keys")
    _check_threshold(result, where)
    return result


def _check_threshold(keys: KeySet, where: str) -> None:
    if not 1 <= keys.threshold <= len(keys.keys):
        raise RefusedError(
            "E_THRESHOLD", f"{len(keys.keys)} key(s) cannot meet a threshold of {keys.threshold}", where=where
        )
