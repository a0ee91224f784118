"""Attempts at a round: which of them ended without a number, and whether anybody said why.

Failures that vanish are the cheapest way to a good number: run until it is green, and publish that. So an attempt that
ended without a number is sealed as an ``incident`` under the id of the round that it was to be. A round comes after all
attempts at it that failed, and every one before it must have an incident with a diagnosis. An attempt has one end; only
a diagnosis may be added to it later, and maintainers may void what was wrong.

What is signed and waits to be sealed (``receipt`` none) explains a retry to whoever signs next, and hinders nobody: it
may never be handed in.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from ledger import canonical
from ledger.errors import RefusedError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger.canonical import JsonObject

Key: TypeAlias = "tuple[str, str]"
"""Node, and id of the round: the ids of two nodes are two rounds."""
Row: TypeAlias = "tuple[str, str, int, int | None, bool, str]"
"""Node, id of the round, number of the attempt, and its `Ending`."""
Number: TypeAlias = "tuple[str, str, int]"
"""Node, id and receipt of a round that has its number."""

_SHOWN = 5


class Ending(NamedTuple):
    """How an attempt ended without a number.

    Attributes:
        receipt: index of its incident; none while that is signed and waits to be sealed.
        diagnosed: whether it says why.
        work: digest of what was to be measured: slot and code.
    """

    receipt: int | None
    diagnosed: bool
    work: str


class Attempts:
    """Attempts of a ledger: those that ended without a number, by round and by their own number, and the others."""

    def __init__(self) -> None:
        self._endings: dict[Key, dict[int, list[Ending]]] = {}
        self._numbers: dict[Key, int] = {}
        self._places: dict[int, tuple[Key, int]] = {}

    def add_incident(self, body: JsonObject, receipt: int | None) -> None:
        """Take an incident in."""
        key, attempt = _key_of(body), body["attempt"]
        ending = Ending(receipt, "diagnosis" in body, _work_of(body))
        self._endings.setdefault(key, {}).setdefault(attempt, []).append(ending)
        if receipt is not None:
            self._places[receipt] = (key, attempt)

    def add_round(self, node: str, round_id: str, receipt: int) -> None:
        """Take a round in: it has its number."""
        self._numbers.setdefault((node, round_id), receipt)

    def is_incident(self, receipt: int) -> bool:
        """Whether a receipt holds an incident that stands."""
        return receipt in self._places

    def check_void(self, receipt: int) -> None:
        """Refuse to take back an incident on which a round that was measured later rests.

        Raises:
            RefusedError: ``E_ATTEMPT``.
        """
        key, _ = self._places[receipt]
        if key in self._numbers:
            raise RefusedError(
                "E_ATTEMPT",
                f"receipt {self._numbers[key]} is a later attempt at {key[1]!r}, which nothing would explain then: "
                "void that round instead",
                where="/predicate/ruling/receipt",
            )

    def void(self, receipt: int) -> None:
        """Forget the incident of a receipt: from here on its attempt has not ended that way."""
        key, attempt = self._places.pop(receipt)
        endings = self._endings[key]
        endings[attempt] = [ending for ending in endings[attempt] if ending.receipt != receipt]

    def find(self, body: JsonObject) -> int | None:
        """Receipt of an incident about the same attempt that says as much of it; none when there is none."""
        endings = self._endings.get(_key_of(body), {}).get(body["attempt"], [])
        return next((each.receipt for each in endings if each.diagnosed == ("diagnosis" in body)), None)

    def check_incident(self, body: JsonObject) -> None:
        """Refuse a second end of an attempt, and an attempt at a round that has been measured.

        Raises:
            RefusedError: ``E_ATTEMPT``.
        """
        key, attempt, where = _key_of(body), body["attempt"], "/predicate/incident/attempt"
        if key in self._numbers:
            raise RefusedError(
                "E_ATTEMPT",
                f"the round {key[1]!r} has its number, in receipt {self._numbers[key]}: attempts at it are over",
                where="/predicate/incident/round",
            )
        for ending in self._sealed(key, attempt):
            if ending.diagnosed or "diagnosis" not in body:
                raise RefusedError(
                    "E_ATTEMPT",
                    f"attempt {attempt} at {key[1]!r} has ended already (receipt {ending.receipt}); only a missing "
                    "diagnosis can be added",
                    where=where,
                )
            if ending.work != _work_of(body):
                raise RefusedError(
                    "E_ATTEMPT",
                    f"attempt {attempt} at {key[1]!r} (receipt {ending.receipt}) was of another slot or code: a "
                    "diagnosis that is added names the same",
                    where=where,
                )

    def check_round(self, node: str, round_id: str, attempt: int) -> None:
        """Refuse a round that is no later attempt than those that failed, and one of which one is not explained.

        Raises:
            RefusedError: ``E_ATTEMPT`` or ``E_RETRY_NO_DIAG``.
        """
        key, where = (node, round_id), "/predicate/round/attempt"
        failed = [number for number in self._endings.get(key, ()) if self._sealed(key, number)]
        if max(failed, default=0) >= attempt:
            last = max(failed)
            receipt = self._sealed(key, last)[-1].receipt
            raise RefusedError(
                "E_ATTEMPT",
                f"attempt {last} at {round_id!r} ended without a number (receipt {receipt}); a later one says so, with "
                f"--attempt {last + 1}",
                where=where,
            )
        silent = [number for number in range(1, attempt) if not self._is_explained(key, number)]
        if silent:
            raise RefusedError(
                "E_RETRY_NO_DIAG",
                f"this is attempt {attempt} at {round_id!r}, and no incident says why {_list(silent)} gave no number; "
                f"a scorer of {node} seals it first: rungbook incident record --round {round_id} --attempt {silent[0]} "
                "--diagnosis …",
                where=where,
            )

    def _sealed(self, key: Key, attempt: int) -> list[Ending]:
        return [each for each in self._endings.get(key, {}).get(attempt, ()) if each.receipt is not None]

    def _is_explained(self, key: Key, attempt: int) -> bool:
        return any(each.diagnosed for each in self._endings.get(key, {}).get(attempt, ()))

    def to_rows(self) -> tuple[list[Row], list[Number]]:
        """All of them, for a snapshot."""
        endings = [
            (*key, attempt, *ending)
            for key, attempts in self._endings.items()
            for attempt, endings in attempts.items()
            for ending in endings
        ]
        return endings, [(*key, receipt) for key, receipt in self._numbers.items()]

    @classmethod
    def from_rows(cls, endings: Sequence[Row], numbers: Sequence[Number]) -> Attempts:
        """Inverse of `to_rows`."""
        found = cls()
        for node, round_id, attempt, receipt, diagnosed, work in endings:
            key = (node, round_id)
            found._endings.setdefault(key, {}).setdefault(attempt, []).append(Ending(receipt, diagnosed, work))
            if receipt is not None:
                found._places[receipt] = (key, attempt)
        for node, round_id, receipt in numbers:
            found.add_round(node, round_id, receipt)
        return found


def _key_of(body: JsonObject) -> Key:
    return body["slot"]["node"], body["round"]


def _work_of(body: JsonObject) -> str:
    return hashlib.sha256(canonical.encode({"arms": body["arms"], "slot": body["slot"]})).hexdigest()


def _list(attempts: Sequence[int]) -> str:
    texts = [str(each) for each in attempts[:_SHOWN]] + (["…"] if len(attempts) > _SHOWN else [])
    return f"attempt{'s' if len(attempts) > 1 else ''} {', '.join(texts)}"
