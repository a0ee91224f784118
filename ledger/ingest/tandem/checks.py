"""TandemLLM's checks of texts and of what a client can do: no measurement, so no round, but two sides to compare."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.errors import MalformedError
from ledger.ingest.plain_text import as_plain_text
from ledger.ingest.values import as_object, as_text, look, read_json
from ledger.scoring.compare.texts import SmokeCheck, TextCheck

if TYPE_CHECKING:
    from collections.abc import Mapping

_MEMBERS = ("text", "reasoning", "finish", "tokens", "calls")


def is_text_check(raw: bytes) -> bool:
    """Whether some bytes look like answers to compare, sound or not."""
    return raw.lstrip()[:1] == b"{" and b'"passes"' in raw and b'"server_args"' in raw


def is_smoke_check(raw: bytes) -> bool:
    """Whether some bytes look like checks of a client, sound or not."""
    return raw.lstrip()[:1] == b"{" and b'"results"' in raw and b'"check"' in raw and b'"pass"' in raw


def read_text_check(raw: bytes, what: str) -> TextCheck:
    """Read the answers of one build.

    Raises:
        MalformedError: what `ledger.ingest.values` raises, and ``E_FORMAT``.
    """
    listed = look(as_object(read_json(raw, what), what), "passes", what)
    if not isinstance(listed, list):
        raise MalformedError("E_FORMAT", "expected a list of passes", where=f"{what}/passes")
    passes = tuple(_read_pass(each, f"{what}/passes/{at}") for at, each in enumerate(listed))
    return TextCheck(label=what, passes=passes)


def _read_pass(value: object, where: str) -> Mapping[str, Mapping[str, str]]:
    """Answers by their names. What an answer lacks is compared as lacking: streams have no reasoning."""
    answers = {name: as_object(item, f"{where}/{name}") for name, item in as_object(value, where).items()}
    return {
        name: {member: as_plain_text(item[member]) for member in _MEMBERS if item.get(member) is not None}
        for name, item in answers.items()
    }


def read_smoke_check(raw: bytes, what: str) -> SmokeCheck:
    """Read the checks of one build.

    Raises:
        MalformedError: what `ledger.ingest.values` raises, ``E_FORMAT``, and ``E_FIELD`` for a result that is neither
            true nor false.
    """
    listed = look(as_object(read_json(raw, what), what), "results", what)
    if not isinstance(listed, list):
        raise MalformedError("E_FORMAT", "expected a list of results", where=f"{what}/results")
    return SmokeCheck(
        label=what, results=tuple(_read_result(each, f"{what}/results/{at}") for at, each in enumerate(listed))
    )


def _read_result(value: object, where: str) -> tuple[str, bool]:
    item = as_object(value, where)
    passed = look(item, "pass", where)
    if not isinstance(passed, bool):
        raise MalformedError("E_FIELD", f"expected true or false, found {passed!r}"[:200], where=f"{where}/pass")
    return as_text(look(item, "check", where), f"{where}/check"), passed
