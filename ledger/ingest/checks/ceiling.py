"""Rates that a node's memory could not feed.

Every step of a decoder reads its active weights once, so that their size times the steps in a second is a share of the
memory's bandwidth. Where one step gives several tokens (drafts) or reads some of the weights only (mixtures of
experts) and nobody says how many, nothing is said.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ledger.ingest.checks.notes import Note
from ledger.ingest.checks.printed import read_number
from ledger.scoring.facts import ArmFact, reading_text, round_facts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from fractions import Fraction

    from ledger.canonical import JsonObject

PEAK = "peak_gbps"
ACTIVE = "bytes_per_token"
"""Members of ``environment.extra``: GB/s of one device's memory, and bytes that one step reads."""

_SEQUENCES = {"decode_tok_s": "", "gen_tok_s": "batch", "output_tok_s": "concurrency"}
"""Rates that are judged, and the member of the workload that says how many sequences one step serves together."""
_OFF = {"", "0", "false", "none", "null", "off"}
_SPARSE = re.compile(r"moe|[0-9]x[0-9]+b|(^|[^a-z0-9])a[0-9]+([.][0-9]+)?b", re.IGNORECASE | re.ASCII)
_GIGA = 10**9


def note_ceiling(body: JsonObject) -> Iterator[Note]:
    """Arms whose rate means more bytes in a second than the memory can deliver."""
    extra = body["environment"].get("extra", {})
    peak, size = read_number(extra.get(PEAK)), _bytes_per_step(body, extra)
    if not peak or peak < 0 or not size or size < 0:
        return
    peak *= max(body["environment"].get("gpus", 1), 1)
    drafting = {arm["role"] for arm in body["arms"] if _drafts(arm.get("settings", {}))}
    for fact in round_facts(body):
        sequences = _sequences(fact, body)
        if sequences is not None and fact.arm not in drafting:
            implied = size * fact.median / (sequences * _GIGA)
            if implied > peak:
                yield Note(
                    "F_PLAUSIBILITY",
                    f"{reading_text(fact.median)} tok/s of {fact.arm} mean {reading_text(implied)} GB/s, "
                    f"{reading_text(round(implied / peak, 3))} times the peak of {reading_text(peak)}",
                    f"/reps/{fact.reps[0].entry}",
                )


def _bytes_per_step(body: JsonObject, extra: JsonObject) -> Fraction | None:
    if ACTIVE in extra:
        return read_number(extra[ACTIVE])
    weights = body["weights"]
    sparse = any(_SPARSE.search(weights.get(name, "")) for name in ("name", "type"))
    return None if sparse else read_number(weights.get("size"))


def _drafts(settings: JsonObject) -> bool:
    """Whether a setting of speculative decoding is on: one step then gives several tokens."""
    return any(
        ("spec" in name.lower() or "draft" in name.lower()) and value.lower() not in _OFF
        for name, value in settings.items()
    )


def _sequences(fact: ArmFact, body: JsonObject) -> int | None:
    """Sequences that a step serves; none when it is not known, or when a step gives several tokens."""
    reps = [body["reps"][rep.entry] for rep in fact.reps]
    if fact.metric.name not in _SEQUENCES or any("rounds" in rep["records"] for rep in reps):
        return None
    member = _SEQUENCES[fact.metric.name]
    known = [rep.get("workload", {}).get(member, 1 if member == "batch" else None) for rep in reps] if member else [1]
    return None if None in known else max(known)
