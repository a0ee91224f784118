"""What forbids to compare two sides at all, in order: the same runs → other conditions → other tests → other prompts.

A difference of code, or of a setting that a candidate changes, is what is compared. A difference of an axis is not: the
node, the weights, the context, the view of a store that holds earlier answers. A number of one is no number of the
other, and no noise is large enough to cover it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from ledger.errors import RefusedError
from ledger.metrics import METRICS
from ledger.scoring.compare.row3 import run_statistics
from ledger.scoring.compare.side import CompareRun, Side, all_runs
from ledger.scoring.facts import decimal_text
from ledger.scoring.unscorable import cache_state
from ledger.timing import timing_digest

if TYPE_CHECKING:
    from collections.abc import Sequence

AXES = frozenset(
    {
        *("batch_size", "concurrency", "context", "context_length", "ctx_size", "max_len", "max_model_len"),
        *("max_seq_len", "n_batch", "n_ctx", "n_prompt", "n_gen", "n_depth"),
        *("quant", "quant_id", "quantization", "weights", "model", "model_revision", "revision", "hf_id", "tokenizer"),
        *("spec", "restart_each", "suffix_store", "dataset", "seed", "temperature", "top_p", "top_k", "max_tokens"),
        *("thinking", "enable_thinking", "disable_thinking", "reasoning"),
        *("fingerprint", "hardware", "node", "driver", "cuda"),
    }
)
"""Last parts of the names of settings that must be equal, with ``_`` for ``-``; everything else is a choice."""

_CACHE = "cache"
_FACTS = ("node/", "slot/", "weights/")
_CLOCKS = ("wall_ns", "ttft_ns", "e2e_ns", "decode_ns")
_DURATION = "wall_ns"
_COUNTS = ("completion_tokens", "rounds")
_LEAST_SHARED = 4
_LEAST_FOR_MEANS = 10
"""Records below which two honest runs may have equal times, or equal means, on a coarse clock."""


def is_axis(name: str) -> bool:
    """Whether a setting must be equal on both sides, by its name."""
    return name.replace(".", "/").rpartition("/")[2].lstrip("-").replace("-", "_").lower() in AXES


def check_distinct(base: Side, other: Side) -> None:
    """Check that every run is a measurement of its own.

    Raises:
        RefusedError: ``E_SELF_COMPARE`` when a side is compared with its own runs, ``E_COPIED_SAMPLES`` when one run is
            there twice.
    """
    own = {run.source: run for run in reversed(base.runs) if run.source}
    for run in other.runs:
        if run.source in own:
            name = own[run.source].name
            said = "is on both sides" if name == run.name else f"is {name} under another name"
            raise RefusedError("E_SELF_COMPARE", f"{run.name} {said}: compared with itself", where="compare")
    prints = {id(run): _Print.of(run) for _, run in all_runs([base, other])}
    for (one_side, one), (two_side, two) in combinations(all_runs([base, other]), 2):
        said = prints[id(one)].again(prints[id(two)])
        if not said:
            continue
        mine, theirs = ([prints[id(run)] for run in side.runs] for side in (base, other))
        if one_side is not two_side and all(any(here.again(there) for here in mine) for there in theirs):
            raise RefusedError(
                "E_SELF_COMPARE", f"{two_side.label} holds the runs of {one_side.label}: {said}", where="compare"
            )
        raise RefusedError("E_COPIED_SAMPLES", f"{two.name} is {one.name} again: {said}", where="compare")


class _Print(NamedTuple):
    """By what a run is known again: its file, what the clocks said of its records, and the mean of its rates."""

    source: str
    test: str
    timing: bytes | None
    times: Sequence[tuple[object, ...]]
    unique: frozenset[tuple[object, ...]]
    mean: str

    @classmethod
    def of(cls, run: CompareRun) -> _Print:
        clocks = [run.records[name] for name in _CLOCKS if name in run.records]
        counts = [run.records[name] for name in _COUNTS if name in run.records]
        times = list(zip(*clocks, *counts, strict=True)) if clocks else []
        known = Counter(each for each in times if None not in each[: len(clocks)])
        mean = run_statistics(run).get("mean") if len(times) >= _LEAST_FOR_MEANS else None
        return cls(
            source=run.source,
            test=run.test,
            timing=timing_digest(run.records),
            times=times,
            unique=frozenset(each for each, count in known.items() if count == 1),
            mean="" if mean is None else decimal_text(mean),
        )

    def again(self, other: _Print) -> str:
        """Why both are one run; empty when they are not. What a run has twice tells only how coarse its clock is."""
        if self.source and self.source == other.source:
            return "read from the same place"
        if self.test != other.test:
            return ""
        if self.timing is not None and self.timing == other.timing:
            return "every time is the same, to the nanosecond"
        if len(self.times) == len(other.times) >= _LEAST_SHARED and not self.unique.isdisjoint(other.unique):
            pairs = zip(self.times, other.times, strict=True)
            shared = sum(one == two and one in self.unique and two in other.unique for one, two in pairs)
            if 2 * shared >= len(self.times):
                return f"{shared} of {len(self.times)} records have the same times"
        return f"both have the mean {self.mean}" if self.mean and self.mean == other.mean else ""


def check_axes(base: Side, other: Side) -> list[str]:
    """Check that all runs of a test were made under the same conditions.

    A setting that one run names and another does not is a difference. A fact of the node, the weights or the slot is
    not: sources differ in which of them they tell.

    Returns:
        A flag for every such fact.

    Raises:
        RefusedError: ``E_NOT_COMPARABLE`` naming the axis, both values and both runs.
    """
    tests: dict[str, list[CompareRun]] = defaultdict(list)
    for _, run in all_runs([base, other]):
        tests[run.test].append(run)
    silent: dict[str, str] = {}
    for each in tests.values():
        runs = [replace(run, axes={**run.axes, **_cache_axis(run)}) for run in each]
        for axis in sorted({axis for run in runs for axis in run.axes}):
            silent |= _compare_axis(axis, runs)
    return [f"F_AXIS_UNKNOWN: {name} does not say {axis}, another run does" for axis, name in silent.items()]


def _cache_axis(run: CompareRun) -> dict[str, str]:
    """Whether a cache knew the prompts, as the records tell: a prompt that was looked up was not read."""
    state = cache_state([run.records])
    return {_CACHE: state} if state else {}


def _compare_axis(axis: str, runs: Sequence[CompareRun]) -> dict[str, str]:
    """The axis with a run that does not say it, where that is no difference; nothing where all say the same."""
    may_be_silent = axis == _CACHE or axis.startswith(_FACTS)
    silent = [run for run in runs if may_be_silent and axis not in run.axes]
    model, *others = [run for run in runs if not may_be_silent or axis in run.axes]
    for run in others:
        one, two = model.axes.get(axis), run.axes.get(axis)
        if one != two:
            raise RefusedError(
                "E_NOT_COMPARABLE",
                f"{axis} is {_shown(one)} in {model.name} and {_shown(two)} in {run.name}",
                where=axis,
            )
    return {axis: silent[0].name} if silent else {}


def is_same_place(base: Side, session: Side) -> bool:
    """Whether a session was run under the very conditions of a side: everything that either says, the other does."""
    try:
        return not check_axes(base, session)
    except RefusedError:
        return False


def _shown(value: str | None) -> str:
    return "not said" if value is None else repr(value)


def common_tests(base: Side, other: Side) -> list[str]:
    """The tests of both sides.

    Raises:
        RefusedError: ``E_NO_PAIRS`` when there is none, ``E_UNPAIRED`` when a side lacks one.
    """
    ours, theirs = base.by_test(), other.by_test()
    if not ours.keys() & theirs.keys():
        raise RefusedError(
            "E_NO_PAIRS",
            f"no test was run on both sides; {base.label}: {_listed(ours)}; {other.label}: {_listed(theirs)}",
            where="compare",
        )
    for side, names in ((other, ours.keys() - theirs.keys()), (base, theirs.keys() - ours.keys())):
        if names:
            raise RefusedError("E_UNPAIRED", f"{side.label} lacks {_listed(names)}", where="compare")
    return list(ours)


def _listed(names: object) -> str:
    return ", ".join(sorted(map(str, names))) if isinstance(names, dict | set) else str(names)


def common_metrics(base: Sequence[CompareRun], other: Sequence[CompareRun]) -> list[str]:
    """The metrics in which runs of one test can be compared, by the registry's order.

    A metric that a run was not made to measure is taken all the same where its records have the columns: then it is
    recomputed, by one formula for both. That does not go for a duration of which nobody knows what it is of.

    Raises:
        RefusedError: ``E_FORMULA_MISMATCH`` when the sides give figures of one unit by different formulas only,
            ``E_NO_PAIRS`` when they have nothing in common.
    """
    runs = [*base, *other]
    claimed = {name for run in runs for name in run.metrics}
    known = [name for name in METRICS if name in claimed and all(_has(run, name) for run in runs)]
    if known:
        return known
    one, two = ({name for run in side for name in run.metrics} for side in (base, other))
    if {METRICS[name].unit for name in one} & {METRICS[name].unit for name in two}:
        formulas = sorted(f"{name} = {METRICS[name].text}" for name in one | two)
        raise RefusedError(
            "E_FORMULA_MISMATCH",
            f"one unit by different formulas, and records that allow none of them for both: {'; '.join(formulas)}",
            where="compare",
        )
    said = f"base measured {', '.join(sorted(one))}; the other side {', '.join(sorted(two))}"
    raise RefusedError("E_NO_PAIRS", f"no metric was measured on both sides; {said}", where="compare")


def _has(run: CompareRun, name: str) -> bool:
    """Whether a metric can be worked out from the records of a run."""
    columns = METRICS[name].columns
    return all(column in run.records for column in columns) and (name in run.metrics or _DURATION not in columns)


def prompt_drift(runs: Sequence[CompareRun]) -> str:
    """What says that prompts of one name or place were not the same text in all runs of a test; empty otherwise.

    Digests of the prompts where all runs have them, else their lengths: equal lengths are no proof of equal texts.
    """
    column = next((name for name in ("prompt_sha256", "prompt_tokens") if all(name in run.records for run in runs)), "")
    if not column:
        return ""
    what = "text" if column == "prompt_sha256" else "number of tokens"
    if all(run.prompts for run in runs):
        seen: dict[str, object] = {}
        drifted = set()
        for run in runs:
            for prompt, value in zip(run.prompts, run.records[column], strict=True):
                if value is not None and seen.setdefault(prompt, value) != value:
                    drifted.add(prompt)
        if drifted:
            return f"{len(drifted)} of {len(seen)} prompts have another {what} in another run, {min(drifted)} for one"
        return ""
    known = [Counter[object](value for value in run.records[column] if value is not None) for run in runs]
    model = max(known, key=Counter.total)  # whichever that is: what lacks a prompt has no other one
    whole = runs[known.index(model)]
    for run, own in zip(runs, known, strict=True):
        strange = own - model
        if strange:
            return f"{strange.total()} prompts of {run.name} have another {what} than any of {whole.name}"
    return ""
