"""The seam between a tool's format and the rest: `Adapter` reads a file into `Row` objects."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ledger.canonical import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One test of one run, as a tool's file holds it.

    Attributes:
        number: position in the file, from 0.
        metrics: names of the metrics that the test measures.
        context: tokens in context when generation begins, as measured; none when the tool does not say it: then it
            is that of the slot.
        workload: what was asked for, as the schema's ``workload``; none when the tool says nothing of it and the
            caller must.
        records: raw records in columns.
        wall_ns: time that the records took together.
        started_at: start by the node's clock, RFC 3339 UTC; without the ``Z`` when the tool prints a local time
            (``2026-11-29T20:00:00``, whose zone the caller must give), and empty when it prints none.
        reported: what the tool printed about it: kept, compared, never used.
        settings: everything else that the number may depend on, as text.
        environment: facts of the node, as the schema's ``environment``.
        weights: facts of the weights without their digest, as the schema's ``weights``.
        harness: facts of the tool without its digest, as the schema's ``harness``.
        commit: commit of the code as the tool names it; none when it does not.
        code_sha256: digest of the measured code as the tool says it; none when it does not.
        notes: what does not add up but does not forbid to record it, one sentence each.
        warmup: kept, but never part of a fact.
        mean_context: the context is a mean over prompts of several lengths, so that another run of the same workload
            may be a few tokens away from it.
    """

    number: int
    metrics: tuple[str, ...]
    context: int | None
    workload: JsonObject | None
    records: JsonObject
    wall_ns: int
    started_at: str
    reported: JsonObject
    settings: dict[str, str]
    environment: JsonObject
    weights: JsonObject
    harness: JsonObject
    commit: str | None
    code_sha256: str | None = None
    notes: tuple[str, ...] = field(default=())
    warmup: bool = False
    mean_context: bool = False


class Adapter(Protocol):
    """Reads the output of one tool.

    Attributes:
        name: of the tool, as ``--from`` takes it.
        about: the output that it reads, in one line.
    """

    name: str
    about: str

    def recognises(self, raw: bytes) -> bool:
        """Whether some bytes are this tool's output, sound or not: by what stands in them, never by a file's name."""
        ...

    def read(self, raw: bytes, what: str) -> list[Row]:
        """Read a file.

        Args:
            raw: the untouched bytes.
            what: name of the file, for errors.

        Returns:
            Its rows, at least one, in the file's order.

        Raises:
            MalformedError: the bytes are not in the tool's format, or lack something that a row needs.
        """
        ...
