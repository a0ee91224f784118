"""The two sides of a comparison: runs with their raw records, and what must not differ between them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ledger.canonical import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareRun:
    """One run of one test.

    Attributes:
        name: of the file and the place in it.
        test: what was asked for, as text: runs are compared with runs of the same test.
        metrics: names of what it was run to measure.
        records: raw records in columns, as the schema's ``records``.
        wall_ns: time that the records took together.
        started_at: RFC 3339 UTC; empty when nobody says it.
        axes: what a number depends on beside the code, by name, as far as it is known.
        prompts: name of the prompt of each record; empty when the source names none.
        source: what the records were read from, by its digest: two runs of one source are one run.
        session: digest of the round that it is a repetition of; empty when it is of none.
        order: its place in its round or file.
        named_test: the test with what names it as soon as a side has several of that name; empty where it is `test`.
    """

    name: str
    test: str
    metrics: tuple[str, ...]
    records: JsonObject
    wall_ns: int
    started_at: str = ""
    axes: Mapping[str, str] = field(default_factory=dict)
    prompts: tuple[str, ...] = ()
    source: str = ""
    session: str = ""
    order: int = 0
    named_test: str = ""

    def named(self) -> CompareRun:
        """The same, as a run of the test that `named_test` names."""
        return replace(self, test=self.named_test or self.test)

    @property
    def is_named(self) -> bool:
        """Whether its test is one of several on its side."""
        return self.test == self.named_test


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """Everything that was measured of one build.

    Attributes:
        label: what people call it.
        runs: in the order given; warm-ups are not among them.
        code: digest or commit of the code; empty when nobody says it.
        choices: settings that may differ, because the difference is what is compared.
        notes: what its files say that does not add up, one sentence each.
    """

    label: str
    runs: tuple[CompareRun, ...]
    code: str = ""
    choices: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def by_test(self) -> dict[str, list[CompareRun]]:
        """The runs of every test, in their order."""
        found: dict[str, list[CompareRun]] = defaultdict(list)
        for run in self.runs:
            found[run.test].append(run)
        return dict(found)


def all_runs(sides: Sequence[Side]) -> list[tuple[Side, CompareRun]]:
    """Every run with its side."""
    return [(side, run) for side in sides for run in side.runs]


def name_alike(base: Side, *others: Side) -> list[Side]:
    """Sides whose tests are told apart by their names on all of them, if they are on one."""
    every = [base, *others]
    if not any(run.is_named for _, run in all_runs(every)):
        return every
    return [replace(side, runs=tuple(run.named() for run in side.runs)) for side in every]
