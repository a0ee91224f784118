"""What the commands that judge have in common: a verified ledger, replayed; rules by name; slots by axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from cli.context import Ledger, find_ledger, read_input
from ledger import schema
from ledger.canonical import JsonObject
from ledger.errors import MalformedError, RefusedError
from ledger.json_input import parse_json
from ledger.rule import AXES, Rule, read_rule
from ledger.scoring.gates import LEAST_REPS
from ledger.scoring.history import History
from ledger.scoring.replay import replay
from ledger.scoring.rung import Slot
from ledger.verified import VerifiedLog
from ledger.verify import verify

_SHORTEST = 4


def open_log(ledger: Ledger) -> VerifiedLog:
    """The ledger, verified in full: a verdict on unverified receipts would be worth nothing.

    Raises:
        VerificationError: with the first finding.
    """
    return verify(ledger.store).require_log()


def open_history(ledger: Path | None, rules: Sequence[str] = (), as_of: int | None = None) -> History:
    """Find, verify and replay a ledger.

    Args:
        ledger: folder to look from.
        rules: rules to judge under, as `find_rule` takes them; none for those in force.
        as_of: number of receipts.

    Raises:
        RefusedError: ``E_AS_OF`` beyond the ledger's size.
    """
    log = open_log(find_ledger(ledger))
    check_as_of(log, as_of)
    return replay(log, [find_rule(each, log) for each in rules], as_of=as_of)


def why_empty(history: History) -> list[str]:
    """What sealed rounds lack to be seen in frontier, pins and ladder; nothing where there are none."""
    rounds = [item for item in history.judged if item.rung.evidence != "imported"]
    kept_out = [item.rung for item in rounds if item.stands and not item.counts]
    waiting = [str(rung.index) for rung in kept_out if rung.unscorable is None]
    lost = [str(rung.index) for rung in kept_out if rung.unscorable is not None]
    few = [
        str(item.rung.index)
        for item in rounds
        if item.counts and all(figure.reps < LEAST_REPS for figure in item.rung.figures.values())
    ]
    hints = {
        f"in quarantine until rungbook ruling review REF --outcome accepted: {', '.join(waiting)}": bool(waiting),
        f"that tell no speed, whatever a review says (rungbook show REF says why): {', '.join(lost)}": bool(lost),
        f"of one repetition, which is no measurement yet (at least {LEAST_REPS}): {', '.join(few)}": bool(few),
        "no rule is adopted: rungbook rule adopt FILE makes a ladder of the rounds": bool(rounds) and not history.rules,
    }
    return [hint for hint, holds in hints.items() if holds]


def check_as_of(log: VerifiedLog, as_of: int | None) -> None:
    """Refuse a state that the ledger has not reached."""
    if as_of is not None and as_of > len(log.entries):
        raise RefusedError("E_AS_OF", f"the ledger has {len(log.entries)} receipts", where="--as-of")


def read_rule_file(path: Path) -> Rule:
    """A rule from a file.

    Raises:
        MalformedError: it is not JSON, or not a rule.
        RefusedError: see `ledger.rule.check_rule`.
    """
    body = parse_json(read_input(path), what=str(path))
    try:
        schema.validate("rule-input", body)
        return read_rule(body)
    except (MalformedError, RefusedError) as err:
        raise type(err)(err.code, err.message, where=f"{path} {err.where}".strip()) from err


def adopted_rules(log: VerifiedLog) -> list[tuple[int, Rule]]:
    """Rules that the ledger holds, each with the index of its receipt, the oldest first."""
    return [(index, read_rule(log.receipt(index).statement.body)) for index in log.of_kind("rule")]


def find_rule(reference: str, log: VerifiedLog) -> Rule:
    """The rule that a person means: a file, the index of the receipt that adopted it, or the start of a digest.

    Raises:
        RefusedError: ``E_RULE_REFERENCE``.
    """
    path = Path(reference)
    with suppress(OSError):  # such as a name that no file can have
        if path.is_file():
            return read_rule_file(path)
    rules = adopted_rules(log)
    wanted = reference.lower()
    found = {
        rule.digest: rule
        for index, rule in rules
        if reference == str(index) or (len(wanted) >= _SHORTEST and rule.digest.startswith(wanted))
    }
    if len(found) != 1:
        known = ", ".join(f"{index} ({rule.name})" for index, rule in rules) or "none"
        raise RefusedError(
            "E_RULE_REFERENCE", f"{reference!r} is no file and no adopted rule; adopted: {known}", where="RULE"
        )
    return next(iter(found.values()))


def slot_filter(text: str) -> Callable[[Slot], bool]:
    """Which slots ``metric=ttft,context=512`` selects.

    Raises:
        RefusedError: ``E_SLOT``.
    """
    wanted: JsonObject = {}
    for part in filter(None, text.split(",")):
        axis, mark, value = part.partition("=")
        if not mark or axis not in AXES or axis in wanted:
            raise RefusedError("E_SLOT", f"expected AXIS=VALUE with {', '.join(AXES)}, found {part!r}", where="--slot")
        wanted[axis] = value
    return lambda slot: all(str(getattr(slot, axis)) == value for axis, value in wanted.items())
