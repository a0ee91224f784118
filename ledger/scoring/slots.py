"""What a ledger knows of each slot: the frontier (raise-only), the base of guards, noise, and the best only measured.

A value enters with the index from which it counts and leaves when its receipt is voided or superseded. The frontier is
the best that is in: a lower reading never lowers it.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    from ledger.scoring.rung import Figure, Rung, Slot


STABLE = ("driver", "gpu", "gpus", "cpu", "kernel", "runtime", "weights", "weights_fingerprint")
"""Facts of a node that must not change under a pin without being said."""

GUARD_REPS = 3
"""Repetitions below which a pin is no base of a guard.

A guard rejects others for as long as it stands, so its base must not be one odd run. Of two repetitions nobody can tell
which is the odd one; the median of three is none of the outermost.
"""


class PinProblem(NamedTuple):
    """Why a pin is no base of a guard.

    Attributes:
        detail: in words.
        elsewhere: it is of another node, and so none of the slot.
    """

    detail: str
    elsewhere: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """A figure that counts for a slot.

    Attributes:
        receipt: index of the receipt that it comes from.
        since: index from which it counts; a merged candidate counts from its ruling on.
        figure: the number.
        arm: arm that gave it.
        commit: commit of that arm; empty when unknown.
        evidence: ``attested``, ``measured`` or ``imported``.
        environment: facts of the node in that session.
        statistic: how the records of a repetition were summed up; empty for an imported figure.
    """

    receipt: int
    since: int
    figure: Figure
    arm: str
    commit: str
    evidence: str
    environment: Mapping[str, str]
    statistic: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """The frontier of a slot from an index on; `holding` is none after the last value was voided."""

    index: int
    holding: Holding | None


@dataclass(slots=True)
class Pool:
    """Figures of a slot, of which the best counts. `best` is kept up to date."""

    slot: Slot
    items: list[Holding] = field(default_factory=list)
    best: Holding | None = None

    def add(self, item: Holding) -> None:
        """Take a figure in. Of equals, the first stays the best."""
        self.items.append(item)
        if self.best is None or self.slot.better(item.figure.value, self.best.figure.value):
            self.best = item

    def remove(self, receipt: int, arm: str = "") -> None:
        """Drop what a receipt gave, or one arm of it."""
        kept = [item for item in self.items if item.receipt != receipt or (arm and item.arm != arm)]
        self.items, self.best = [], None
        for item in kept:
            self.add(item)


@dataclass(slots=True)
class Pools:
    """Figures of a slot by statistic: a mean and a median of the same records are never compared.

    Attributes:
        slot: which.
        by_statistic: a pool for each statistic that a rule ever asked for.
        latest: statistic of the newest figure; what is shown is of it.
        newest: receipt of that figure: what a review lets in later is no newer for it.
    """

    slot: Slot
    by_statistic: dict[str, Pool] = field(default_factory=dict)
    latest: str = ""
    newest: int = -1

    @property
    def best(self) -> Holding | None:
        """The best under the latest statistic."""
        return self.best_under(self.latest)

    @property
    def items(self) -> list[Holding]:
        """Every figure that is in."""
        return [item for pool in self.by_statistic.values() for item in pool.items]

    def best_under(self, statistic: str) -> Holding | None:
        """The best under a statistic."""
        pool = self.by_statistic.get(statistic)
        return pool.best if pool else None

    def add(self, item: Holding) -> None:
        """Take a figure in."""
        if item.receipt >= self.newest:
            self.latest, self.newest = item.statistic, item.receipt
        self.by_statistic.setdefault(item.statistic, Pool(self.slot)).add(item)

    def remove(self, receipt: int, arm: str = "") -> None:
        """Drop what a receipt gave, or one arm of it."""
        for pool in self.by_statistic.values():
            pool.remove(receipt, arm)


@dataclass(slots=True)
class SlotState:
    """One slot.

    Attributes:
        slot: which.
        frontier: attested main arms, and candidates that were merged.
        passes: these and every attested figure that passed.
        bases: of these, what has enough repetitions to be the base of guards.
        measured: figures that nobody attested.
        references: attested reference arms, in order.
        noise: noise floors by receipt.
        moves: how the frontier went.
    """

    slot: Slot
    frontier: Pools = field(init=False)
    passes: Pools = field(init=False)
    bases: Pools = field(init=False)
    measured: Pools = field(init=False)
    references: list[Holding] = field(default_factory=list)
    noise: dict[int, Fraction] = field(default_factory=dict)
    moves: list[Move] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.frontier, self.measured = Pools(self.slot), Pools(self.slot)
        self.passes, self.bases = Pools(self.slot), Pools(self.slot)

    @property
    def noise_floor(self) -> Fraction | None:
        """The largest noise that was measured; none when it never was."""
        return max(self.noise.values(), default=None)

    def add_pass(self, item: Holding) -> None:
        """Take in an attested figure that passed."""
        self.passes.add(item)
        if item.figure.reps >= GUARD_REPS:
            self.bases.add(item)

    def raise_frontier(self, item: Holding) -> None:
        """Take in an attested figure of main."""
        self.add_pass(item)
        before = self.frontier.best
        self.frontier.add(item)
        self._note_move(before, item.since)

    def withdraw_candidate(self, receipt: int, index: int) -> None:
        """Drop what a candidate gave that does not pass any more, merged or not."""
        self.passes.remove(receipt, "candidate")
        self.bases.remove(receipt, "candidate")
        self.measured.remove(receipt, "candidate")
        self._lower_frontier(receipt, index, "candidate")

    def withdraw(self, receipt: int, index: int) -> None:
        """Drop what a receipt gave, from this index on."""
        self.passes.remove(receipt)
        self.bases.remove(receipt)
        self.measured.remove(receipt)
        self.references = [item for item in self.references if item.receipt != receipt]
        self.noise.pop(receipt, None)
        self._lower_frontier(receipt, index)

    def _lower_frontier(self, receipt: int, index: int, arm: str = "") -> None:
        before = self.frontier.best
        self.frontier.remove(receipt, arm)
        self._note_move(before, index)

    def _note_move(self, before: Holding | None, index: int) -> None:
        """A move of what is shown: a figure of the latest statistic, or the first one of another."""
        if self.frontier.best != before:
            self.moves.append(Move(index=index, holding=self.frontier.best))


class Slots(dict["Slot", SlotState]):
    """Every slot that was ever met."""

    def __init__(self) -> None:
        super().__init__()
        self._on_nodes: dict[Slot, list[Slot]] = defaultdict(list)  # by the slot without its node

    def __missing__(self, slot: Slot) -> SlotState:
        found = self[slot] = SlotState(slot)
        self._on_nodes[slot._replace(node="")].append(slot)
        return found

    def guard_base(self, slot: Slot, role: str, statistic: str) -> Holding | None:
        """The pin that guards of a role are held against; none without one that qualifies."""
        state = self[slot]
        return (state.bases if role == "guard" else state.frontier).best_under(statistic)

    def unqualified_pin(self, slot: Slot, statistic: str) -> PinProblem | None:
        """Why no pin of a slot qualifies as the base of a guard, where there are some; none otherwise.

        A pin of another node is none of the slot, and is told because people take it for one.
        """
        if self[slot].bases.best_under(statistic) is not None:
            return None
        own = self[slot].passes.best_under(statistic)
        if own is not None:
            reps = own.figure.reps
            return PinProblem(f"its pin, receipt {own.receipt}, has {reps} repetition(s), {GUARD_REPS} are needed")
        for other in self._on_nodes[slot._replace(node="")]:
            pin = self[other].passes.best_under(statistic)
            if pin is not None:
                return PinProblem(f"its pin, receipt {pin.receipt}, is of the node {other.node}", elsewhere=True)
        return None


def holding(rung: Rung, since: int, arm: str, figure: Figure) -> Holding:
    """A figure of a rung that counts from an index on."""
    return Holding(
        receipt=rung.index,
        since=since,
        figure=figure,
        arm=arm,
        commit=rung.commits.get(arm, ""),
        evidence=rung.evidence,
        environment=rung.environment,
        statistic=rung.statistic,
    )


def environment_flags(rung: Rung, best: Holding | None) -> tuple[str, ...]:
    """A flag for every stable fact of the node that is not what it was under the frontier."""
    if best is None:
        return ()
    changed = [
        name
        for name in STABLE
        if name in rung.environment and best.environment.get(name, rung.environment[name]) != rung.environment[name]
    ]
    return tuple(f"F_ENVIRONMENT_CHANGED:{name}" for name in changed)
