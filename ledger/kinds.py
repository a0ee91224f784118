"""The kinds of statement: what each must satisfy beyond its schema, and what each must name as its subject."""

from __future__ import annotations

import hashlib
from fractions import Fraction
from math import inf
from typing import TYPE_CHECKING, TypeAlias

from ledger.errors import RefusedError
from ledger.round import check_arms, check_round, round_subject
from ledger.rule import check_project, check_rule, rule_digest

if TYPE_CHECKING:
    from collections.abc import Callable

    from ledger.canonical import JsonObject

Subject: TypeAlias = tuple[str, str]

ORIGIN_KINDS = frozenset({"keys", "ruling", "rescore"})
"""Kinds whose subject is the ledger itself."""

FIGURE_KINDS = frozenset({"round", "imported"})
"""Kinds that carry a figure of a slot and have an id of their own."""

NODE_KINDS = FIGURE_KINDS | {"incident"}
"""Kinds that are about a slot, and so about a node."""

RULINGS = {
    "void": set[str](),
    "supersede": {"by"},
    "review": {"outcome"},
    "merged": {"commit"},
    "waiver": {"gate"},
}
"""Actions of a ruling, each with the members that it takes and no other. A waiver of guards names its guard too."""


REVIEWS = ("accepted", "rejected")
"""Outcomes of a review."""

ENDINGS = ("infra", "config", "refused")
"""How an attempt ends without a number: machine or engine failed, it was set up wrongly, no measurement came out."""


def ledger_subject(origin: str) -> Subject:
    """The subject of statements about the ledger itself: it is named by the digest of its origin."""
    return "ledger", hashlib.sha256(origin.encode()).hexdigest()


def body_subject(kind: str, body: JsonObject) -> Subject | None:
    """What a statement of this kind must name as its subject; none when only the ledger can say.

    Args:
        kind: kind of the statement.
        body: what it says, valid under its schema.
    """
    found = _SUBJECTS.get(kind)
    return found(body) if found else None


def check_body(kind: str, body: JsonObject) -> None:
    """Check what a statement says, as far as its schema cannot.

    Raises:
        RefusedError: what `ledger.round.check_round` and `ledger.rule.check_rule` raise, ``E_SLOT``, ``E_RULING``,
            ``E_FILE_TWICE``, ``E_PARITY_RANGE``, ``E_NOT_MEASURED``, ``E_RETRY_NO_DIAG``.
    """
    check = _CHECKS.get(kind)
    if kind in NODE_KINDS:
        check_project(body["slot"], "/slot")
    if check:
        check(body)


def _check_ruling(body: JsonObject) -> None:
    members = set().union({"guard"}, *RULINGS.values())
    # A waiver of all guards would let through a loss that nobody has looked at.
    needed = RULINGS[body["action"]] | ({"guard"} if body.get("gate") == "guards" else set())
    if members & body.keys() != needed:
        names = ", ".join(sorted(needed)) or f"none of {', '.join(sorted(members))}"
        raise RefusedError("E_RULING", f"a ruling {body['action']!r} takes {names}", where="/predicate/ruling")


def _check_incident(body: JsonObject) -> None:
    check_arms(body["arms"])
    if not any(letter.isprintable() and not letter.isspace() for letter in body.get("diagnosis", "none")):
        raise RefusedError(
            "E_RETRY_NO_DIAG",
            "a diagnosis in which nothing can be read: say why, or leave it out",
            where="/predicate/incident/diagnosis",
        )


def _check_round(body: JsonObject) -> None:
    check_round(body)
    _check_parity_range(body)


def _check_parity_range(body: JsonObject) -> None:
    """A divergence below 0 and an agreement above 1 are no measurements: somebody wrote percent, or a sign."""
    for at, point in enumerate(body.get("parity", [])):
        for name, most in _PARITY_LIMITS:
            text = point.get(name)
            # A fraction takes longer to make than all else here, and a double tells nearly always.
            if text is not None and not 0 < float(text) < most and not 0 <= Fraction(text) <= most:
                limits = f"0 to {most}" if most == 1 else "0 or more"
                raise RefusedError("E_PARITY_RANGE", f"expected {limits}, found {text}", where=f"/parity/{at}/{name}")


_PARITY_LIMITS = (("kl", inf), ("kl_max", inf), ("top1", 1))


def _check_measured(body: JsonObject) -> None:
    """0 means "not measured", and nothing that is measured here is negative. A frontier of 0 is "there was none"."""
    figures = [(f"/{name}/value", body[name]["value"]) for name in ("value", "main") if name in body]
    figures += [(f"/guards/{at}/value", item["value"]) for at, item in enumerate(body.get("guards", []))]
    for where, text in figures:
        if Fraction(text) <= 0:
            raise RefusedError(
                "E_NOT_MEASURED", f"{text} is no measurement; leave out what was not measured", where=where
            )


def _check_imported(body: JsonObject) -> None:
    _check_measured(body)
    _check_parity_range(body)
    names = [item["name"] for item in body["files"]]
    if len(set(names)) != len(names):
        raise RefusedError("E_FILE_TWICE", "two files of one name", where="/predicate/imported/files")


def _imported_subject(body: JsonObject) -> Subject:
    return "imported", body["files"][0]["sha256"]


_CHECKS: dict[str, Callable[[JsonObject], None]] = {
    "round": _check_round,
    "incident": _check_incident,
    "rule": check_rule,
    "ruling": _check_ruling,
    "imported": _check_imported,
}
_SUBJECTS: dict[str, Callable[[JsonObject], Subject]] = {
    "genesis": lambda body: ledger_subject(body["origin"]),
    "round": round_subject,
    "incident": round_subject,
    "rule": lambda body: ("rule", rule_digest(body)),
    "imported": _imported_subject,
}
