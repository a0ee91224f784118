"""Checks of a round that are independent of the tool that measured it. They are made before it is signed.

What cannot be a measurement is refused; what can be one, but is easily read for more than it is, is said. The order is
fixed, and the first refusal ends it: signs and clocks, identity (weights, context, tokens), sums, copies; then what is
said, printed figures and plausibility last. Receipts that are sealed are never judged by these checks again: what holds
for them stands in `ledger.round`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.ingest.checks.ceiling import note_ceiling
from ledger.ingest.checks.copies import check_copies
from ledger.ingest.checks.notes import write_notes
from ledger.ingest.checks.prompts import note_prompts
from ledger.ingest.checks.reported import check_directions, note_reported
from ledger.ingest.checks.requests import note_requests
from ledger.ingest.checks.series import note_series
from ledger.ingest.checks.times import check_times, note_times
from ledger.ingest.checks.tokens import check_tokens, note_tokens
from ledger.ingest.checks.weights import check_quant
from ledger.ingest.checks.workload import check_context, note_context

if TYPE_CHECKING:
    from collections.abc import Collection

    from ledger.canonical import JsonObject
    from ledger.ingest.checks.notes import Said

_REFUSING = (check_quant, check_context, check_tokens, check_times, check_copies, check_directions)
_SAYING = (note_requests, note_tokens, note_times, note_prompts)


def examine_round(body: JsonObject, said: Collection[Said] = frozenset(), *, built_by: str = "") -> list[str]:
    """Examine a round that satisfies the schema ``round-input`` and `ledger.round.check_round`.

    Args:
        body: the round.
        said: what its adapters noted: a code that one of them has for a repetition is not said again for it.
        built_by: the tool whose adapter made the round of the tool's own files; empty when nobody did, whatever the
            round says of itself.

    Returns:
        What deserves a look, one sentence each: a code, what was found, and a JSON pointer into the round.

    Raises:
        RefusedError: what cannot be a measurement, with a JSON pointer into the round.
    """
    for check in _REFUSING:
        check(body)
    notes = [note for look in _SAYING for note in look(body)]
    notes += [*note_context(body, built_by), *note_reported(body), *note_series(body, built_by), *note_ceiling(body)]
    return write_notes(notes, body, said)
