"""Drafts: something to be said that has no number and no signature yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ledger.admission import Numbering, State
from ledger.errors import MalformedError, RefusedError
from ledger.kinds import body_subject, ledger_subject
from ledger.statement import Basis, Producer, SignedStatement, build_statement, sign_statement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger.canonical import JsonObject
    from ledger.keys import PrivateKey


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """Something to be said.

    Attributes:
        kind: kind of the statement.
        body: what it says.
        signers: keys that sign; the first one is the producer.
    """

    kind: str
    body: JsonObject
    signers: Sequence[PrivateKey]


def sign_draft(state: State, draft: Draft, basis: Basis) -> SignedStatement:
    """Number and sign a draft as the next statement of its producer.

    Raises:
        MalformedError: the body is outside canonical JSON.
        RefusedError: ``E_DUPLICATE_SIGNER`` when one key is given twice.
    """
    keyids = [key.public.keyid for key in draft.signers]
    if len(set(keyids)) != len(keyids):
        raise RefusedError("E_DUPLICATE_SIGNER", "one key is given twice")
    numbering = state.producers.get(keyids[0], Numbering())
    statement = build_statement(
        draft.kind,
        draft.body,
        subject=_subject(state, draft),
        basis=basis,
        producer=Producer(keyid=keyids[0], seq=numbering.last + 1, prev=numbering.identities.get(numbering.last)),
    )
    return sign_statement(statement, draft.signers)


def _subject(state: State, draft: Draft) -> tuple[str, str]:
    try:
        subject = body_subject(draft.kind, draft.body)
    except (KeyError, IndexError, TypeError, StopIteration) as err:  # it has not been held against its schema yet
        raise MalformedError("E_SCHEMA", f"the body is no {draft.kind}: {err!r}") from err
    return subject or ledger_subject(state.require_trust().ledger.name)
