"""From printed parity to the ``parity`` of a round.

Speed without accuracy is no gain, so a round carries what its arms lost against the captured reference, by depth. The
figures are those that were printed, and the text is attached by digest. The depth is the number of tokens in a chunk;
the trials are the positions that were compared: the second half of every chunk, but for its last token.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from ledger.errors import RefusedError
from ledger.ingest.perplexity import FEWEST_POSITIONS
from ledger.ingest.perplexity_text import half_unit

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ledger.canonical import JsonObject
    from ledger.ingest.perplexity import PrintedParity

_OPTION = "--parity"


@dataclass(frozen=True, slots=True, kw_only=True)
class ParityFile:
    """Parity of one arm at one depth.

    Attributes:
        role: of the arm.
        name: of the file.
        raw: its bytes.
        printed: what stands in them.
        given_depth: tokens of a chunk, where the text does not say them.
        given_trials: positions that were compared, where the text does not say how many chunks there were.
        path: code path or configuration that ran; empty when it is not said.
        given_as: the file as the caller named it, with all that was said of it.
    """

    role: str
    name: str
    raw: bytes
    printed: PrintedParity
    given_depth: int | None = None
    given_trials: int | None = None
    path: str = ""
    given_as: str = ""

    @property
    def depth(self) -> int | None:
        """Tokens of a chunk, as the text or the caller says."""
        return self.given_depth if self.printed.n_ctx is None else self.printed.n_ctx

    @property
    def trials(self) -> int | None:
        """Positions that were compared, as the text or the caller says."""
        chunks, depth = self.printed.chunks, self.depth
        return self.given_trials if chunks is None or depth is None else chunks * (depth - 1 - depth // 2)

    def missing(self) -> list[str]:
        """What must be given and is not, as the option that gives it."""
        asked = ",depth=N" * (self.depth is None)
        asked += ",trials=N" * (self.trials is None and self.printed.chunks is None)
        return [f"{_OPTION} {self.role}={self.given_as or self.name}{asked}"] if asked else []


def add_parity(body: JsonObject, files: Sequence[ParityFile]) -> list[tuple[str, str]]:
    """Add files to a round that is being made: its parity, its attachments, and what was printed.

    Returns:
        What deserves a look: the file, and the sentence that begins with the code.

    Raises:
        RefusedError: ``E_MIXED`` when the caller says otherwise than the text, ``E_PARITY_RANGE`` for fewer positions
            than the tool prints statistics of.
    """
    if not files:
        return []
    for file in files:
        _check_given(file)
    body["parity"] = [_point(file) for file in files]
    texts = {(file.name, file.raw): file for file in files}  # one text may be of several arms
    listed = {(item["name"], item["sha256"]) for item in body["attachments"]}
    body["attachments"] += [_attachment(file) for file in texts.values() if (file.name, _digest(file)) not in listed]
    body["reported"] += [
        {"source": {"attachment": file.name, "row": 0}, "values": file.printed.reported} for file in texts.values()
    ]
    notes = [(file.name, note) for file in files for note in (*file.printed.notes, *_count_notes(file))]
    return [*dict.fromkeys(notes), *_reference_notes(files)]


def _check_given(file: ParityFile) -> None:
    for name, said, given in (("depth", file.depth, file.given_depth), ("trials", file.trials, file.given_trials)):
        if given not in {None, said}:
            raise RefusedError("E_MIXED", f"{file.name} says {name} {said}, given is {given}", where=_OPTION)
    if file.trials is None or file.trials < FEWEST_POSITIONS:
        raise RefusedError(
            "E_PARITY_RANGE",
            f"{file.name} compares {file.trials} positions at depth {file.depth}, and the tool prints no statistics of "
            f"fewer than {FEWEST_POSITIONS}",
            where=_OPTION,
        )


def _point(file: ParityFile) -> JsonObject:
    point: JsonObject = {
        "arm": file.role,
        "depth": file.depth,
        "trials": file.trials,
        "kl": file.printed.kl,
        "kl_max": file.printed.kl_max,
        "top1": file.printed.top1,
        "attachment": file.name,
    }
    return point | ({"path": file.path} if file.path else {})


def _attachment(file: ParityFile) -> JsonObject:
    return {"name": file.name, "sha256": _digest(file), "size": len(file.raw)}


def _digest(file: ParityFile) -> str:
    return hashlib.sha256(file.raw).hexdigest()


def _count_notes(file: ParityFile) -> Iterator[str]:
    """The printed share, held against the number of positions: it is a whole number of them, and has their spread."""
    share, half, trials = Fraction(file.printed.top1), half_unit(file.printed.top1), file.trials or 0
    if abs(Fraction(round(share * trials), trials) - share) > half:
        yield f"F_REPORTED_MISMATCH: {file.printed.top1} is no share of {trials} positions"
    if file.printed.top1_error is None:
        return
    error, slack = Fraction(file.printed.top1_error) / 100, half_unit(file.printed.top1_error) / 100
    spread, least, most = share * (1 - share), max(error - slack, Fraction(0)), error + slack
    if not least**2 * (trials - 1) - half <= spread <= most**2 * (trials - 1) + half:
        yield (
            f"F_REPORTED_MISMATCH: the standard error {file.printed.top1_error} % of the share {file.printed.top1} is "
            f"not that of {trials} positions"
        )


def _reference_notes(files: Sequence[ParityFile]) -> Iterator[tuple[str, str]]:
    """Every depth has its own captured logits; at one depth, all arms are compared with the same."""
    first: dict[int | None, ParityFile] = {}
    for file in files:
        before = first.setdefault(file.depth, file)
        if Fraction(before.printed.ppl_base) != Fraction(file.printed.ppl_base):
            message = (
                f"compared with a reference of perplexity {file.printed.ppl_base} at depth {file.depth}, and "
                f"{before.name} with one of {before.printed.ppl_base}"
            )
            yield file.name, f"F_REFERENCE: {message}"
