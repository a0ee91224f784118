"""Replay: the one fold from a verified ledger to verdicts, frontier, pins and ladder.

`replay` reads the receipts in their order. Every figure is judged under the rule that covers its slot at that index, or
under the rules that the caller gives instead, against what the ledger knew then. Nothing is remembered between two
replays, nothing is written, and the same receipts under the same rules give the same history.

What a later ruling changes, it changes from its own index on: a voided or superseded receipt leaves the frontier there,
and verdicts that were made before keep the frontier that they were made against.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from ledger.kinds import FIGURE_KINDS
from ledger.rule import read_rule
from ledger.scoring.gates import LEAST_REPS
from ledger.scoring.history import History, Judged
from ledger.scoring.rung import read_imported, read_round
from ledger.scoring.slots import Slots, environment_flags, holding
from ledger.scoring.standing import first_verdict, is_shown, is_stopped, passes
from ledger.scoring.verdict import Basis, Context, waiver_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ledger.canonical import JsonObject
    from ledger.rule import Rule
    from ledger.scoring.facts import ArmFact
    from ledger.scoring.rung import Figure, Rung, Slot
    from ledger.scoring.slots import SlotState
    from ledger.verified import VerifiedLog

REPLAYED_KINDS = FIGURE_KINDS | {"rule", "ruling"}
"""Kinds that a replay takes in."""


def replay(log: VerifiedLog, rules: Sequence[Rule] = (), *, as_of: int | None = None) -> History:
    """The history of a verified ledger.

    Args:
        log: verified in full: who attested what is not known otherwise.
        rules: judge everything under the first of these that covers its slot, instead of under the rules in force.
        as_of: number of receipts to read; all by default.

    Raises:
        ValueError: the log was verified quickly only, or is shorter than `as_of`.
        VerificationError: a file has changed since it was verified.
    """
    size = len(log.entries) if as_of is None else as_of
    if not 0 <= size <= len(log.entries):
        raise ValueError(f"{size} receipts of {len(log.entries)}")
    fold = Replay(rules)
    fold.read(log, range(size))
    return fold.history(size)


class Changes(NamedTuple):
    """What is known anew since somebody asked last.

    Attributes:
        ruled: receipts of which a ruling has said something.
        slots: slots that figures have entered or left.
    """

    ruled: set[int]
    slots: set[Slot]


class Replay:
    """The fold itself, one receipt at a time: what was read once need not be read again when the ledger grows.

    Attributes:
        judged: every figure by the index of its receipt, as of now.
        slots: what is known of each slot, as of now.
    """

    def __init__(self, rules: Sequence[Rule] = ()) -> None:
        self._given = tuple(rules)
        self._in_force: list[Rule] = []
        self._slots = Slots()
        self._judged: dict[int, Judged] = {}
        self._by_digest: dict[str, int] = {}
        self._changes = Changes(set(), set())
        self.judged: Mapping[int, Judged] = self._judged
        self.slots: Mapping[Slot, SlotState] = self._slots

    def read(self, log: VerifiedLog, indices: range) -> None:
        """Take in receipts of a ledger: those that follow what was read before.

        Raises:
            ValueError: the log was verified quickly only.
            VerificationError: a file has changed since it was verified.
        """
        if log.mode != "full":
            raise ValueError("a replay needs a ledger that was verified in full")
        for index in indices:
            entry = log.entries[index]
            if entry.kind in REPLAYED_KINDS:
                body = log.receipt(index).statement.body
                self.feed(index, entry.kind, body, digest=entry.digest.hex(), attested=entry.attested)

    def feed(
        self,
        index: int,
        kind: str,
        body: JsonObject,
        *,
        digest: str,
        attested: bool,
        facts: Sequence[ArmFact] | None = None,
    ) -> None:
        """Take in a receipt. Kinds but ``rule``, ``round``, ``imported`` and ``ruling`` say nothing here.

        Args:
            index: of the receipt.
            kind: of its statement.
            body: what it says.
            digest: SHA-256 (hex) of the receipt file.
            attested: whether somebody signed it who was authorised for it.
            facts: of a round, by somebody who has computed them already.
        """
        if kind not in REPLAYED_KINDS:
            return
        if kind == "rule":
            self._in_force.insert(0, read_rule(body))
        elif kind == "ruling":
            if body["receipt"] in self._by_digest:  # an incident can be voided, and is no figure
                self._rule_on(index, body)
        else:
            self._by_digest[digest] = index
            rule = self._rule_for(body["slot"])
            if kind == "imported":
                rung = read_imported(index, digest, body)
            else:
                statistic = rule.statistic if rule else "median"
                rung = read_round(index, digest, body, attested=attested, statistic=statistic, facts=facts)
            self._take(rung, rule)

    def take_changes(self) -> Changes:
        """What has changed since the last call."""
        taken, self._changes = self._changes, Changes(set(), set())
        return taken

    def history(self, size: int) -> History:
        """What has been read so far."""
        return History(
            size=size,
            judged=tuple(self._judged[index] for index in sorted(self._judged)),
            slots=self._slots,
            rules=self._given or tuple(self._in_force),
        )

    def _rule_for(self, slot: JsonObject) -> Rule | None:
        return next((rule for rule in self._given or self._in_force if rule.covers(slot)), None)

    def _take(self, rung: Rung, rule: Rule | None) -> None:
        context = self._context(rung, rule) if rule else None
        verdict = first_verdict(rung, rule, context)
        judged = Judged(rung=rung, rule=rule, context=context, verdict=verdict)
        self._judged[rung.index] = judged
        self._changes.slots.update(rung.slots())
        if judged.counts:
            self._count(judged, rung.index)

    # What a rung is judged against.

    def _context(self, rung: Rung, rule: Rule) -> Context:
        state = self._slots[rung.slot]
        reference, problem = self._reference(rung.slot, rule)
        guarded = {(rung.slot.beside(guard.metric, guard.context), guard.role) for guard in rule.guards}
        best = {key: self._slots.guard_base(*key, rule.statistic) for key in guarded}
        unqualified = {slot: self._slots.unqualified_pin(slot, rule.statistic) for slot, _ in guarded}
        return Context(
            basis=self._basis(rung, rule),
            reference=reference,
            reference_problem=problem,
            guard_bases={key: (item.figure, item.receipt) for key, item in best.items() if item},
            unqualified_pins={slot: why for slot, why in unqualified.items() if why},
            noise=state.noise_floor,
            flags=environment_flags(rung, state.frontier.best_under(rule.statistic)),
        )

    def _basis(self, rung: Rung, rule: Rule) -> Basis:
        main = rung.figures.get("main")
        if rule.recorded:
            return Basis(used=rung.recorded, measured=main, source="recorded" if rung.recorded else "")
        best = self._slots[rung.slot].frontier.best_under(rule.statistic)
        if best is None:
            return Basis(used=main, receipt=rung.index if main else None, measured=main, source="main" if main else "")
        if main is not None and _beats(rung.slot, main, best.figure, rule.agree):
            return Basis(used=main, receipt=rung.index, measured=main, source="main")
        return Basis(used=best.figure, receipt=best.receipt, measured=main, source="frontier")

    def _reference(self, slot: Slot, rule: Rule) -> tuple[Figure | None, str]:
        if rule.reference is None:
            return None, ""
        index = self._by_digest.get(rule.reference)
        judged = self._judged.get(index) if index is not None else None
        if judged is None or not judged.counts:
            return None, f"the denominator's receipt {rule.reference[:16]}… is not here, was voided or is in quarantine"
        rung = judged.rung
        figure = rung.figures.get("reference")
        if rung.evidence != "attested" or figure is None or figure.reps < LEAST_REPS:
            return None, f"receipt {index} holds no attested reference of at least {LEAST_REPS} repetitions"
        if rung.statistic != rule.statistic:
            return None, f"receipt {index} was read as a {rung.statistic}, the rule takes the {rule.statistic}"
        found, wanted = ((each.node, each.metric, each.context, each.is_warm) for each in (rung.slot, slot))
        if found != wanted:
            return None, f"receipt {index} measured {rung.slot}, not {slot}"
        return figure, ""

    # What a rung leaves behind.

    def _count(self, judged: Judged, since: int, *, only: str = "") -> None:
        rung, rule = judged.rung, judged.rule
        needed = max(rule.min_reps if rule else 0, LEAST_REPS)
        passed, stopped = passes(judged.verdict), is_stopped(judged.verdict)
        for slot, arm, figure in rung.all_figures():
            item = holding(rung, since, arm, figure)
            state = self._slots[slot]
            if (only and arm != only) or (arm == "candidate" and stopped):
                continue  # the speed of what was stopped is a diagnostic, and no number that anybody is shown
            if rung.evidence != "attested":
                state.measured.add(item)
            elif figure.reps < needed:
                continue
            elif arm == "main":
                state.raise_frontier(item)
            elif arm == "reference":
                state.references.append(item)
            elif passed:
                state.add_pass(item)
        if rung.noise is not None and rung.evidence == "attested":
            self._slots[rung.slot].noise[rung.index] = rung.noise

    def _rule_on(self, index: int, body: JsonObject) -> None:
        judged = self._judged[self._by_digest[body["receipt"]]]
        action = body["action"]
        again = not judged.stands if action in ("void", "supersede") else judged.merged_at is not None
        if again and action in ("void", "supersede", "merged"):
            return  # it is gone, or merged, from the first ruling on
        self._changes.ruled.add(judged.rung.index)
        self._changes.slots.update(judged.rung.slots())
        if action in ("void", "supersede"):
            for slot in judged.rung.slots():
                self._slots[slot].withdraw(judged.rung.index, index)
            judged = replace(judged, gone_at=index, gone_by=action)
        elif action == "merged":
            judged = replace(judged, merged_at=index, merged_as=body["commit"])
            self._merge(judged, index)
        else:
            judged = self._judge_again(judged, index, body)
        self._judged[judged.rung.index] = judged

    def _judge_again(self, judged: Judged, index: int, body: JsonObject) -> Judged:
        """A rung after a review or a waiver."""
        before = judged
        if body["action"] == "review":
            judged = replace(judged, review=body["outcome"])
        if judged.rule is not None and judged.context is not None and judged.verdict is not None:
            waived = {waiver_name(body["gate"], **body.get("guard", {}))} if body["action"] == "waiver" else set()
            context = replace(judged.context, review=judged.review, waived=judged.context.waived | waived)
            judged = replace(judged, context=context, verdict=first_verdict(judged.rung, judged.rule, context))
        if before.counts and judged.counts:
            self._recount(before, judged, index)
        elif judged.counts:
            self._count(judged, index)
        elif before.counts:
            for slot in judged.rung.slots():
                self._slots[slot].withdraw(judged.rung.index, index)
        if judged.merged_at is not None and not before.has_won:
            self._merge(judged, index)
        return judged

    def _recount(self, before: Judged, judged: Judged, index: int) -> None:
        """Let a candidate count, or no longer, after a ruling has changed its verdict."""
        rung = judged.rung
        counts = passes if rung.evidence == "attested" else is_shown
        if counts(before.verdict) == counts(judged.verdict):
            return
        if counts(judged.verdict):
            self._count(judged, index, only="candidate")
            return
        for slot in rung.slots():
            self._slots[slot].withdraw_candidate(rung.index, index)

    def _merge(self, judged: Judged, index: int) -> None:
        """A merged candidate is main from here on, when it was attested and has won."""
        if judged.has_won:
            item = holding(judged.rung, index, "candidate", judged.rung.figures["candidate"])
            self._slots[judged.rung.slot].raise_frontier(replace(item, commit=judged.merged_as))


def _beats(slot: Slot, main: Figure, frontier: Figure, agree: str | None) -> bool:
    """Whether main in this session is the better basis: better, and by more than both may differ for nothing."""
    if not slot.better(main.value, frontier.value):
        return False
    return agree is None or abs(main.value - frontier.value) > type(main.value)(agree) * frontier.value
