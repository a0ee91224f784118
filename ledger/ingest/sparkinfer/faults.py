"""What can be wrong with a run of ``sparkinfer-k3-log``: the table of codes, and every detector run over the log.

A detector that cannot read what it needs does not pass: that is the fault ``K_UNREADABLE``. A run of which the facts
for comparisons cannot be read has that fault too, and the others are compared without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.errors import MalformedError
from ledger.ingest.sparkinfer import figures, seals, series
from ledger.ingest.sparkinfer.run import Fault

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger.ingest.sparkinfer.run import Run
    from ledger.ingest.sparkinfer.series import Facts

FAULTS: dict[str, str] = {
    "K_APPENDED_LATE": "a later run stands before it in the ledger",
    "K_ATTESTATION_COPIES": "attestation.json is not the attestation in the receipt",
    "K_BUILD_HASH_EMPTY": "nothing identifies the binary",
    "K_CHAIN_BROKEN": "what the receipt names as the one before it is another",
    "K_CHAIN_INDEX": "the index in the chain is not the place in time order",
    "K_CHAIN_NULL": "the receipt names none before it: it can be dropped or slipped in",
    "K_CLOCKS_NOT_PINNED": "clocks were free to move, and the clock told is not a measurement",
    "K_CLOCK_ZERO": "the clock told is 0: not taken on the node",
    "K_COMMIT_DIFFERS": "result or log is of another commit than is attested",
    "K_CONTEXT_COPIES": "two contexts are named",
    "K_CONTEXT_INFERRED": "no context is named; it follows from the time",
    "K_CUDA_VERSION_EMPTY": "the version of CUDA is not told",
    "K_DERIVED_MISMATCH": "a printed gain does not follow from the printed figures",
    "K_DURATION_MISMATCH": "duration and rate contradict each other",
    "K_DURATION_ROUNDED": "duration and rate differ by more than the rounding of the rate",
    "K_ENVIRONMENT_CHANGED": "node, driver or weights are not those of the run before",
    "K_EVAL_SEED_EMPTY": "nothing identifies the prompts",
    "K_FIGURE_COPIES": "copies of the figure differ",
    "K_FIGURE_REPEATED": "another commit has the same figure to the last digit",
    "K_FILE_UNKNOWN": "a file that no run should have",
    "K_FRONTIER_DIFFERS": "held against another figure than main measured in the session",
    "K_FRONTIER_UNSEEN": "nothing says that main measured what the run was held against",
    "K_ID_COPIES": "folder, receipt and result name different ids",
    "K_ID_PARTIAL": "the id covers only part of the receipt",
    "K_ID_UNEXPLAINED": "the id is not the digest that it should be",
    "K_KL_ROUNDED": "the divergence is rounded to four decimals",
    "K_LLAMA_COMMIT_EMPTY": "the reference's commit is empty in the result, and known in the receipt",
    "K_LOG_FOREIGN": "the log of the session does not tell of the run",
    "K_MEMBER_MISSING": "a file or a row that a run must have is missing",
    "K_NODE_UNKNOWN": "a fact of the node is empty",
    "K_OUTPUT_UNREADABLE": "the attested output is not a JSON object with a verdict",
    "K_OVERRIDE_UNSEALED": "a switch of the harness is told in the log alone",
    "K_PARITY_REPEATED": "another build has the same accuracy to the last digit",
    "K_REFERENCE_DIFFERS": "a reference is not that of the other runs",
    "K_REPS_ABSENT": "no raw repetition is kept",
    "K_RESULT_NOT_SEALED": "no part of the result has the sealed digest",
    "K_ROW_COPIES": "the row differs between ledger and index",
    "K_ROW_DIFFERS": "a row says otherwise than the run's files",
    "K_ROW_TWICE": "two rows in one table",
    "K_SAME_COMMIT_BUILD": "one commit has two build hashes",
    "K_SAME_COMMIT_LABEL": "one commit has two verdicts",
    "K_SAME_COMMIT_SPREAD": "one commit has speeds over 2 % apart",
    "K_SCORER_DIFFERS": "not scored by the harness of its session",
    "K_SENTINEL": "a number that stands for no measurement",
    "K_SPEEDS_NULL": "the attested measurements hold no speed",
    "K_SPEED_SOURCE_ABSENT": "it is not told how the speed was taken",
    "K_SPEED_SOURCE_UNKNOWN": "the speed was taken by a method that nobody knows",
    "K_SPEED_SOURCE_UNTRUE": "the method told is not that of the figure scored",
    "K_SUPERSEDED_BACKWARDS": "superseded by a run that is not later",
    "K_SUPERSEDED_COMMIT": "superseded by a run of another commit",
    "K_SUPERSEDED_UNKNOWN": "superseded by a run that is not there",
    "K_UNREADABLE": "a detector could not read what it needs",
    "K_UNSEALED_MEMBER": "the sealed digest does not cover a member of the result",
    "K_VERDICT_ATTESTED": "the attested output says another verdict than was published",
    "K_VERDICT_COPIES": "published copies of the verdict differ",
    "K_VERDICT_LOG": "the log of the session says another verdict",
}

_LONGEST = 2000


def find_faults(runs: Sequence[Run], order: Sequence[str] = ()) -> list[list[Fault]]:
    """Run every detector.

    Args:
        runs: all runs, in time order.
        order: their ids in the order of the ledger's lines.

    Returns:
        The faults of each run, by code and place.
    """
    found: list[list[Fault]] = [_find_alone(run) for run in runs]
    facts = [fact for run in runs if (fact := _facts(run, found[run.position]))]
    for compare in series.DETECTORS:
        for position, fault in compare(facts):
            found[position].append(fault)
    for position, fault in series.find_order(facts, order):
        found[position].append(fault)
    return [sorted(faults, key=lambda fault: (fault.code, fault.where, fault.message)) for faults in found]


def _find_alone(run: Run) -> list[Fault]:
    found: list[Fault] = []
    for detect in (*seals.DETECTORS, *figures.DETECTORS):
        try:
            found.extend(detect(run))
        except MalformedError as err:
            found.append(_unreadable(detect.__name__, err))
    return found


def _facts(run: Run, found: list[Fault]) -> Facts | None:
    try:
        return series.read_facts(run)
    except MalformedError as err:
        found.append(_unreadable("comparison with other runs", err))
        return None


def _unreadable(step: str, err: MalformedError) -> Fault:
    name = step.removeprefix("find_").replace("_", " ")
    return Fault(
        code="K_UNREADABLE", message=f"{name}: {err.code}: {err.message}"[:_LONGEST], where=err.where[:_LONGEST]
    )
