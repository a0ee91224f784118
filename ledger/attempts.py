"""Attempts at a round: which of them ended without a number, and whether anybody said why.

Failures that vanish are the cheapest way to a good number: run until it is green, and publish that. So an attempt that
ended without a number is sealed as an ``incident`` under the id of the round that it was to be, and a round that says
that it is a later attempt must have an incident with a diagnosis before it for every earlier one. An attempt has one
end; only a diagnosis may be added to it later.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from ledger.errors import RefusedError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ledger.canonical import JsonObject

Row: TypeAlias = "tuple[str, str, int, int | None, bool]"
"""Node, id of the round, number of the attempt, and its `Ending`."""

_SHOWN = 5


class Ending(NamedTuple):
    """How an attempt ended without a number.

    Attributes:
        receipt: index of its incident; none while that is signed and waits to be sealed.
        diagnosed: whether it says why.
    """

    receipt: int | None
    diagnosed: bool

    @property
    def place(self) -> str:
        """Where it is, in words."""
        return "attested and not sealed yet" if self.receipt is None else f"receipt {self.receipt}"


class Attempts:
    """Attempts of a ledger that ended without a number, by node and id of the round, and by their number."""

    def __init__(self) -> None:
        self._endings: dict[tuple[str, str], dict[int, Ending]] = {}

    def find(self, node: str, round_id: str, attempt: int) -> Ending | None:
        """How an attempt ended without a number; none when it did not, as far as the ledger knows."""
        return self._endings.get((node, round_id), {}).get(attempt)

    def add(self, body: JsonObject, receipt: int | None) -> None:
        """Take an incident in."""
        endings = self._endings.setdefault((body["slot"]["node"], body["round"]), {})
        known = endings.get(body["attempt"])
        if known is None or not known.diagnosed:
            endings[body["attempt"]] = Ending(receipt, "diagnosis" in body)

    def check_incident(self, body: JsonObject, figures: Mapping[str, int]) -> None:
        """Refuse a second end of an attempt, and an attempt at a round that has been measured.

        Args:
            body: what the incident says.
            figures: index by id of a round.

        Raises:
            RefusedError: ``E_ATTEMPT``.
        """
        round_id, attempt = body["round"], body["attempt"]
        if round_id in figures:
            raise RefusedError(
                "E_ATTEMPT",
                f"the round {round_id!r} has its number, in receipt {figures[round_id]}: attempts at it are over",
                where="/predicate/incident/round",
            )
        known = self.find(body["slot"]["node"], round_id, attempt)
        if known is not None and (known.diagnosed or "diagnosis" not in body):
            raise RefusedError(
                "E_ATTEMPT",
                f"attempt {attempt} at {round_id!r} has ended already ({known.place}); only a missing diagnosis can be "
                "added",
                where="/predicate/incident/attempt",
            )

    def check_round(self, node: str, round_id: str, attempt: int) -> None:
        """Refuse a round whose earlier attempts are not explained, and one whose own attempt has ended otherwise.

        Raises:
            RefusedError: ``E_ATTEMPT`` or ``E_RETRY_NO_DIAG``.
        """
        own = self.find(node, round_id, attempt)
        if own is not None:
            raise RefusedError(
                "E_ATTEMPT",
                f"attempt {attempt} at {round_id!r} ended without a number ({own.place}); a later one says so, with "
                f"--attempt {attempt + 1}",
                where="/predicate/round/attempt",
            )
        silent = [number for number in range(1, attempt) if not self._is_explained(node, round_id, number)]
        if silent:
            raise RefusedError(
                "E_RETRY_NO_DIAG",
                f"this is attempt {attempt} at {round_id!r}, and no incident says why {_list(silent)} gave no number; "
                f"seal it first: rungbook incident record --round {round_id} --attempt {silent[0]} --diagnosis …",
                where="/predicate/round/attempt",
            )

    def _is_explained(self, node: str, round_id: str, attempt: int) -> bool:
        found = self.find(node, round_id, attempt)
        return found is not None and found.diagnosed

    def to_rows(self) -> list[Row]:
        """All of them, for a snapshot."""
        return [
            (node, round_id, attempt, *ending)
            for (node, round_id), endings in self._endings.items()
            for attempt, ending in endings.items()
        ]

    @classmethod
    def from_rows(cls, rows: Sequence[Row]) -> Attempts:
        """Inverse of `to_rows`."""
        found = cls()
        for node, round_id, attempt, receipt, diagnosed in rows:
            found._endings.setdefault((node, round_id), {})[attempt] = Ending(receipt, diagnosed)
        return found


def _list(attempts: Sequence[int]) -> str:
    texts = [str(each) for each in attempts[:_SHOWN]] + (["…"] if len(attempts) > _SHOWN else [])
    return f"attempt{'s' if len(attempts) > 1 else ''} {', '.join(texts)}"
