"""Faults that only show between runs.

Each detector takes what `read_facts` read of the runs, in time order, and gives pairs of position and fault.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from ledger.ingest.sparkinfer.run import Fault, read_commit, read_label, read_slot, read_value
from ledger.ingest.values import as_decimal, as_object, as_text, look

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from decimal import Decimal

    from ledger.ingest.sparkinfer.run import Run

Found: TypeAlias = "Iterator[tuple[int, Fault]]"

_SPREAD = Fraction(2, 100)  # the source's own limit of what counts as a difference
_REFERENCES = ("model_sha256", "model_file", "llamacpp_commit")
_ENVIRONMENT = ("driver_version", "gpu_name", "gpu_arch")


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What comparisons need of a run.

    Attributes:
        run: the run.
        commit: attested commit.
        slot: metric and context.
        value: the figure.
        label: the published verdict.
        build: hash of the build; may be empty.
        scorer: commit of the scoring scripts.
        references: what must be the same in every run.
        environment: what may change, and then breaks the comparison; empty values are unknown.
        parity: divergence and agreement at every depth; empty when no depth is told.
        superseded_by: the run that is said to replace this one; empty when none is.
        before: what the receipt names as the one before it; empty when it names none.
    """

    run: Run
    commit: str
    slot: tuple[str, int]
    value: Decimal
    label: str
    build: str
    scorer: str
    references: dict[str, str]
    environment: dict[str, str]
    parity: tuple[tuple[str, Decimal, Decimal], ...]
    superseded_by: str
    before: str


def read_facts(run: Run) -> Facts:
    """Read them.

    Raises:
        MalformedError: one is missing or not of its form.
    """
    slot, fingerprint = read_slot(run), run.payload.get("model_fingerprint")
    environment = {name: run.sealed_text(f"attestation/environment/{name}") for name in _ENVIRONMENT}
    if fingerprint is not None:
        environment["model_fingerprint"] = as_text(fingerprint, run.name("result.json/model_fingerprint"))
    return Facts(
        run=run,
        commit=read_commit(run),
        slot=(slot["metric"], slot["context"]),
        value=read_value(run),
        label=read_label(run),
        build=run.sealed_text("attestation/code/build_hash"),
        scorer=run.sealed_text("attestation/code/scoring_scripts_commit"),
        references={name: run.sealed_text(f"attestation/references/{name}") for name in _REFERENCES},
        environment=environment,
        parity=_read_parity(run),
        superseded_by=_read_successor(run),
        before=_read_predecessor(run),
    )


def _read_parity(run: Run) -> tuple[tuple[str, Decimal, Decimal], ...]:
    where = run.name("result.json/kl_depths")
    depths = as_object((run.result or {}).get("kl_depths", {}), where)
    figures = []
    for depth in sorted(depths):
        kl, top1 = (as_decimal(look(depths, f"{depth}/{part}", where), f"{where}/{depth}") for part in ("kl", "top1"))
        figures.append((depth, kl, top1))
    return tuple(figures)


def _read_successor(run: Run) -> str:
    for table, rows in run.rows.items():
        for row in rows:
            if row.get("superseded_by") is not None:
                return as_text(row["superseded_by"], f"{table}/superseded_by")
    return ""


def _read_predecessor(run: Run) -> str:
    path = "chain/prev_receipt_hash"
    before = run.sealed(path)
    return "" if before is None else as_text(before, run.name(f"receipt.json/{path}"))


def find_broken_chain(facts: Sequence[Facts]) -> Found:
    """What a receipt names as the one before it must be that one: by the digest of its file, or by its id."""
    names = {fact.run.position: {fact.run.id, fact.run.files[0].sha256} for fact in facts}
    for fact in facts:
        if fact.before and fact.before not in names.get(fact.run.position - 1, set()):
            message = f"the receipt names {fact.before!r} as the one before it, and that is another"[:300]
            where = fact.run.name("receipt.json/chain/prev_receipt_hash")
            yield fact.run.position, Fault(code="K_CHAIN_BROKEN", message=message, where=where)


def find_order(facts: Sequence[Facts], order: Sequence[str]) -> Found:
    """The ledger must grow in time order. `order` are the run ids as its lines name them."""
    positions = {fact.run.id: fact.run.position for fact in facts}
    latest = -1
    for name in order:
        position = positions.get(name, latest)
        if position < latest:
            message = "a later run stands before it in ledger.jsonl: it was appended late"
            yield position, Fault(code="K_APPENDED_LATE", message=message, where="ledger.jsonl")
        latest = max(latest, position)


def find_supersede(facts: Sequence[Facts]) -> Found:
    """A replacement is a later run of the same commit."""
    known = {fact.run.id: fact for fact in facts}
    for fact in facts:
        if not fact.superseded_by:
            continue
        other, where, position = known.get(fact.superseded_by), "ledger.jsonl", fact.run.position
        if other is None:
            message = f"superseded by {fact.superseded_by!r}, which is not in the log"[:300]
            yield position, Fault(code="K_SUPERSEDED_UNKNOWN", message=message, where=where)
            continue
        if other.run.position <= position:
            message = f"superseded by run {other.run.position}, which is not later than this one, {position}"
            yield position, _between("K_SUPERSEDED_BACKWARDS", message, where, other)
        if other.commit != fact.commit:
            message = f"superseded by a run of {other.commit!r}, this one is of {fact.commit!r}"[:300]
            yield position, _between("K_SUPERSEDED_COMMIT", message, where, other)


def _between(code: str, message: str, where: str, other: Facts) -> Fault:
    return Fault(code=code, message=message, where=where, record=other.run.id)


def find_same_commit(facts: Sequence[Facts]) -> Found:
    """One commit in one slot has one speed, one verdict and one build."""
    groups: dict[tuple[str, tuple[str, int]], list[Facts]] = defaultdict(list)
    for fact in facts:
        groups[fact.commit, fact.slot].append(fact)
    for group in groups.values():
        if len(group) > 1:
            yield from _spread(group)
            yield from _varying(group, "K_SAME_COMMIT_LABEL", "verdict", [fact.label for fact in group])
            yield from _varying(group, "K_SAME_COMMIT_BUILD", "build hash", [fact.build for fact in group])


def _spread(group: list[Facts]) -> Found:
    ranked = sorted((fact for fact in group if fact.value > 0), key=lambda fact: fact.value)
    if not ranked:
        return
    low, high = ranked[0], ranked[-1]
    spread = Fraction(high.value) / Fraction(low.value) - 1
    if spread <= _SPREAD:
        return
    message = f"one commit was measured at {low.value} and at {high.value}, {float(100 * spread):.1f} % apart"
    for fact in ranked:
        other = low if fact is high else high
        yield fact.run.position, _between("K_SAME_COMMIT_SPREAD", message, fact.run.place("tps"), other)


def _varying(group: list[Facts], code: str, what: str, values: list[str]) -> Found:
    known = [(fact, value) for fact, value in zip(group, values, strict=True) if value]
    for fact, value in known:
        other = next((one for one, theirs in known if theirs != value), None)
        if other:
            message = f"another run of the same commit has another {what} than {value!r}"[:300]
            yield fact.run.position, _between(code, message, fact.run.name("receipt.json"), other)


def find_odd_references(facts: Sequence[Facts]) -> Found:
    """What every run is held against must be the same in all of them."""
    for name in _REFERENCES:
        usual = Counter(fact.references[name] for fact in facts if fact.references[name]).most_common(1)
        for fact in facts:
            value = fact.references[name]
            if value and value != usual[0][0]:
                message = f"{name} is {value!r}, in {usual[0][1]} of {len(facts)} runs {usual[0][0]!r}"[:500]
                where = fact.run.name(f"receipt.json/attestation/references/{name}")
                yield fact.run.position, Fault(code="K_REFERENCE_DIFFERS", message=message, where=where)


def find_environment_change(facts: Sequence[Facts]) -> Found:
    """A figure to beat does not carry over to another node, driver or copy of the weights."""
    last: dict[str, tuple[str, Facts]] = {}
    for fact in facts:
        for name, value in fact.environment.items():
            if not value:
                continue
            before = last.get(name)
            if before and before[0] != value:
                message = f"{name} is {value!r}, before it was {before[0]!r}"[:300]
                yield fact.run.position, _between("K_ENVIRONMENT_CHANGED", message, fact.run.name(name), before[1])
            last[name] = (value, fact)


def find_repeated_figures(facts: Sequence[Facts]) -> Found:
    """The same figure to the last digit for another commit: chance, or a copy."""
    groups: dict[tuple[tuple[str, int], Decimal], list[Facts]] = defaultdict(list)
    for fact in facts:
        groups[fact.slot, fact.value].append(fact)
    for fact in facts:
        other = next((one for one in groups[fact.slot, fact.value] if one.commit != fact.commit), None)
        if other:
            message = f"the run of another commit has the same figure, {fact.value}"
            yield fact.run.position, _between("K_FIGURE_REPEATED", message, fact.run.place("tps"), other)


def find_repeated_parity(facts: Sequence[Facts]) -> Found:
    """The same accuracy to the last digit at every depth, by another build: bit-exact code, or an echo."""
    groups: dict[tuple[tuple[str, Decimal, Decimal], ...], list[Facts]] = defaultdict(list)
    for fact in facts:
        groups[fact.parity].append(fact)
    for fact in facts:
        other = next((one for one in groups[fact.parity] if one.build != fact.build), None) if fact.parity else None
        if other:
            message = "another build has the same accuracy to the last digit at every depth"
            yield (
                fact.run.position,
                _between("K_PARITY_REPEATED", message, fact.run.name("result.json/kl_depths"), other),
            )


def find_odd_scorer(facts: Sequence[Facts]) -> Found:
    """The runs of one session are scored by one harness: that of main, if any of them names it."""
    sessions: dict[tuple[str, str], list[Facts]] = defaultdict(list)
    for fact in facts:
        text = fact.run.text
        if text and text.main and text.main_commit:
            sessions[text.main, text.main_commit].append(fact)
    for (_, commit), session in sessions.items():
        of_main = next((fact for fact in session if fact.scorer.startswith(commit)), None)
        for fact in session:
            if of_main and fact.scorer != of_main.scorer:
                message = f"the scoring scripts are of {fact.scorer!r}, in the same session of {of_main.scorer!r}"[:300]
                where = fact.run.name("receipt.json/attestation/code/scoring_scripts_commit")
                yield fact.run.position, _between("K_SCORER_DIFFERS", message, where, of_main)


DETECTORS = (
    find_broken_chain,
    find_supersede,
    find_same_commit,
    find_odd_references,
    find_environment_change,
    find_repeated_figures,
    find_repeated_parity,
    find_odd_scorer,
)
