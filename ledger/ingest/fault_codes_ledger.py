"""The codes of `ledger.ingest.faults` with which a ledger does not take a statement that is well measured otherwise."""

from __future__ import annotations

LEDGER = (
    ("E_SCHEMA", "a member is missing, not known, or of another form", "mend the member that the message points at"),
    ("E_ROLE", "the key has no role that may say this", "a maintainer grants one: rungbook grant"),
    ("E_NODE", "the key is a scorer, and not of this node", "a maintainer grants the node: rungbook grant"),
    ("E_KEY_UNKNOWN", "the key never had a role here", "a maintainer grants one: rungbook grant"),
    ("E_KEY_REVOKED", "the key has no role any more", "sign with one that has"),
    ("E_THRESHOLD", "fewer keys signed than must", "repeat --key, or have others sign: rungbook attest FILE --key"),
    ("E_SIGNATURE", "a signature is not of the key that is named with it", "sign again; nobody can mend it"),
    ("E_SUBJECT", "what a statement is about is not what it says", "have rungbook make it"),
    ("E_BASIS", "made on a state that this ledger never had", "attest it again on this ledger"),
    ("E_SEQ_TAKEN", "the key has another statement with this number", "attest it again"),
    ("E_PREV_STATEMENT", "the statement does not follow from the key's last one", "seal those before it first"),
    ("E_ID_CONFLICT", "the id is that of another round or figure", "give it an id of its own, or none"),
    ("E_NO_RECEIPT", "no receipt, or several, have this index or start of a digest", "rungbook log lists them"),
    ("E_RULING", "a ruling lacks what its action takes, or has more", "give what the message names"),
    ("E_RULING_TARGET", "what is ruled on is no round, figure or incident that stands", "rungbook log lists them"),
    ("E_SUPERSEDE_BACKWARDS", "a receipt is superseded by an earlier one", "void it, or name a later one"),
    ("E_NOT_MEASURED", "a figure of 0 or less, which says that there is none", "leave out what was not measured"),
    ("E_FILE_TWICE", "two files of one name", "give each a name of its own"),
)
"""Code, meaning and remedy."""
