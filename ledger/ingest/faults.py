"""The catalogue of what can be wrong with a measurement that is handed in: every code, what it means, what to do.

Codes are stable: scripts may branch on them, and nothing is ever renamed. How serious a code is shows in its first
letter and stands here:

==============  ================================================================================================
severity        what happens
==============  ================================================================================================
``refuse``      the file or the round is not accepted, and nothing is written
``quarantine``  the round is sealed with it, and stays out of frontier and pins until a review accepts it
``flag``        the round or the imported figure (``K_``) is sealed with it, and counts
``ledger``      the ledger does not take the statement, whatever was measured, and nothing is written
``verdict``     a rule gives a sealed round its label for it, or says it beside the label; the receipt stays
==============  ================================================================================================
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from ledger.flags import QUARANTINE
from ledger.ingest.fault_codes import FLAGGED, REFUSED
from ledger.ingest.fault_codes_compare import COMPARE_FLAGGED, COMPARE_REFUSED
from ledger.ingest.fault_codes_ledger import LEDGER
from ledger.ingest.fault_codes_verdict import SAID, VERDICTS
from ledger.ingest.sparkinfer.faults import FAULTS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ledger.canonical import JsonObject

Severity: TypeAlias = Literal["refuse", "quarantine", "flag", "ledger", "verdict"]

_LONGEST_MESSAGE = 500


class FaultCode(NamedTuple):
    """One entry of the catalogue.

    Attributes:
        code: stable identifier.
        severity: see above; which flags quarantine is decided in `ledger.flags`.
        meaning: in one line.
        remedy: what to do about it, in one line.
    """

    code: str
    severity: Severity
    meaning: str
    remedy: str


class Fault(NamedTuple):
    """One fault that was found, as a round is sealed with it.

    Attributes:
        code: see `CATALOGUE`.
        message: what was found.
        where: file and row, or a JSON pointer into the round; may be empty.
    """

    code: str
    message: str
    where: str = ""

    def __str__(self) -> str:
        """One line for people."""
        return f"{self.where}: {self.code}: {self.message}" if self.where else f"{self.code}: {self.message}"

    def to_json(self) -> JsonObject:
        """An entry of the schema's ``faults``."""
        return {"code": self.code, "message": self.message} | ({"where": self.where} if self.where else {})


def read_note(note: str, where: str = "") -> Fault:
    """A fault from the sentence that an adapter or a check writes: the code, a colon, and what was found."""
    code, _, message = note.partition(": ")
    return Fault(code, message[:_LONGEST_MESSAGE], where)


CATALOGUE: Mapping[str, FaultCode] = {
    entry.code: entry
    for entry in (
        *(FaultCode(code, "refuse", meaning, remedy) for code, meaning, remedy in (*REFUSED, *COMPARE_REFUSED)),
        *(
            FaultCode(code, "quarantine" if code in QUARANTINE else "flag", meaning, remedy)
            for code, meaning, remedy in (*FLAGGED, *COMPARE_FLAGGED)
        ),
        *(FaultCode(code, "ledger", meaning, remedy) for code, meaning, remedy in LEDGER),
        *(FaultCode(code, "verdict", meaning, remedy) for code, meaning, remedy in (*VERDICTS, *SAID)),
        *(
            FaultCode(code, "flag", meaning, "none: what another log says is kept as it is, and never attested")
            for code, meaning in FAULTS.items()
        ),
    )
}
"""By code: what is refused, what is flagged, what a verdict can say, and what an imported figure can have."""
