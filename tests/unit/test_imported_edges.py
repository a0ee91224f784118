"""For every code of an imported figure one log that just has it, and one that just has not.

A code that is given too early slanders a sound record of somebody else, and one that is given too late lets a bad one
pass. Both sides of an entry differ in one thing: no other code comes or goes with it but those that the entry names.

Here stand the codes of how a run was measured; those of copies and other runs are in
``test_imported_edges_witnesses.py``. Together the tables must hold every code
(`test_every_code_of_an_imported_figure_has_its_two_sides`).
"""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from ledger.ingest.faults import CATALOGUE
from tests.support.edges import Edge
from tests.support.imported_edges import attestation, result, said, session
from tests.unit.test_imported_edges_witnesses import EDGES as EDGES_OF_WITNESSES

LAST_WITHOUT_CONTEXT = "2026-08-01T11:30:01+00:00"
SELF_REPORT, SELF_REPORT_SINCE = "self_report_wall_clock_bounded", "2026-08-01T17:41:00+00:00"
CLOCK, CLOCK_UNTIL = "wall_clock_differential", "2026-08-01T17:40:59+00:00"


def empty_or_not(path: str) -> dict[str, Any]:
    """The two sides of a member that must say something: an empty text, and one of one letter."""
    return {"has": lambda: attestation(path, ""), "has_not": lambda: attestation(path, "x")}


def main_measured(*, first: bool) -> list[str]:
    """Main is measured before the run is evaluated, or only then."""

    def edit(text: str) -> str:
        main, evaluating, *rest = text.splitlines(keepends=True)
        return "".join([main, evaluating, *rest] if first else [evaluating, main, *rest])

    return session(edit)


def switched(*, within: bool) -> list[str]:
    """A switch in the last line about the run, or in the first about the next pull request."""
    switch, following = "  harness overrides from the controller: A=1\n", "#6: evaluating cdcdcdcd on x\n"
    return session(lambda text: text + (switch + following if within else following + switch))


def speeds(*told: float | None) -> list[str]:
    return attestation("measurements/primary", {f"ctx_{at}_tps": speed for at, speed in enumerate(told)})


# Neither gain nor duration is told: they would contradict the figure, which is what is not meant.
alone = partial(result, ms_per_token=None, delta_tps=None, pct_over_frontier=None)


EDGES: dict[str, Edge] = {
    "K_BUILD_HASH_EMPTY": Edge(**empty_or_not("code/build_hash")),
    "K_CLOCKS_NOT_PINNED": Edge(
        lambda: attestation("environment/clocks_pinned", 1),
        lambda: attestation("environment/clocks_pinned", value=True),
    ),
    "K_CLOCK_ZERO": Edge(
        lambda: attestation("environment/clock_mhz", 0), lambda: attestation("environment/clock_mhz", 1)
    ),
    "K_CONTEXT_COPIES": Edge(lambda: result(scored_context=131073), lambda: result(scored_context=131072)),
    "K_CONTEXT_INFERRED": Edge(  # a second later the log is refused
        lambda: result(at=LAST_WITHOUT_CONTEXT, scored_ctx=None),
        lambda: result(at=LAST_WITHOUT_CONTEXT, scored_ctx=64),
    ),
    "K_CUDA_VERSION_EMPTY": Edge(**empty_or_not("environment/cuda_version")),
    # The frontier is 16: a gain of 4.05 may be printed as 4.0, one of 4.051 may not.
    "K_DERIVED_MISMATCH": Edge(lambda: result(20.051, delta_tps=4.0), lambda: result(20.05, delta_tps=4.0)),
    # 20.0 is 19.95 at least, of which a token takes 50.1253 ms.
    "K_DURATION_MISMATCH": Edge(
        lambda: result(ms_per_token=50.14), lambda: result(ms_per_token=50.13), frozenset({"K_DURATION_ROUNDED"})
    ),
    # 20.0060 and 20.0056 tokens a second; up to 0.006 apart are no difference.
    "K_DURATION_ROUNDED": Edge(lambda: result(ms_per_token=49.985), lambda: result(ms_per_token=49.986)),
    "K_EVAL_SEED_EMPTY": Edge(**empty_or_not("references/eval_seed")),
    "K_FRONTIER_DIFFERS": Edge(lambda: said("= 16.0 ", "= 16.01 "), lambda: said("= 16.0 ", "= 16.00 ")),
    "K_FRONTIER_UNSEEN": Edge(lambda: main_measured(first=False), lambda: main_measured(first=True)),
    "K_KL_ROUNDED": Edge(lambda: result(kl=0.0067), lambda: result(kl=0.00671)),
    "K_LLAMA_COMMIT_EMPTY": Edge(lambda: result(llama_commit=""), lambda: result(llama_commit="l")),
    "K_NODE_UNKNOWN": Edge(**empty_or_not("environment/driver_version")),
    "K_OVERRIDE_UNSEALED": Edge(lambda: switched(within=True), lambda: switched(within=False)),
    "K_REPS_ABSENT": Edge(lambda: result(samples=[1]), lambda: result(samples=[1, 2])),
    "K_SENTINEL": Edge(lambda: result(kl=99.0), lambda: result(kl=98.9)),
    "K_SPEEDS_NULL": Edge(lambda: speeds(None, None), lambda: speeds(None, 20.0)),
    "K_SPEED_SOURCE_ABSENT": Edge(
        lambda: result(speed_source=None), lambda: result(speed_source=""), frozenset({"K_SPEED_SOURCE_UNKNOWN"})
    ),
    "K_SPEED_SOURCE_UNKNOWN": Edge(
        lambda: result(speed_source=SELF_REPORT.upper()), lambda: result(speed_source=SELF_REPORT)
    ),
    "K_SPEED_SOURCE_UNTRUE": Edge(
        lambda: result(at=SELF_REPORT_SINCE, speed_source=CLOCK), lambda: result(at=CLOCK_UNTIL, speed_source=CLOCK)
    ),
    "K_UNREADABLE": Edge(
        lambda: attestation("environment/clock_mhz", "1980"), lambda: attestation("environment/clock_mhz", 1980)
    ),
}

FURTHER: list[tuple[str, Edge]] = [
    ("K_DERIVED_MISMATCH", Edge(lambda: result(19.949, delta_tps=4.0), lambda: result(19.95, delta_tps=4.0))),
    (  # 25.050625 % and 25.05 %
        "K_DERIVED_MISMATCH",
        Edge(
            lambda: result(20.0081, delta_tps=None, pct_over_frontier=25.0),
            lambda: result(20.008, delta_tps=None, pct_over_frontier=25.0),
        ),
    ),
    (  # 20.05 at most, of which a token takes 49.8753 ms
        "K_DURATION_MISMATCH",
        Edge(lambda: result(ms_per_token=49.87), lambda: result(ms_per_token=49.88), frozenset({"K_DURATION_ROUNDED"})),
    ),
    # 19.9936 and 19.9940
    ("K_DURATION_ROUNDED", Edge(lambda: result(ms_per_token=50.016), lambda: result(ms_per_token=50.015))),
    ("K_NODE_UNKNOWN", Edge(**empty_or_not("environment/gpu_name"))),
    ("K_NODE_UNKNOWN", Edge(**empty_or_not("environment/gpu_arch"))),
    ("K_SENTINEL", Edge(lambda: alone(tps=0.0), lambda: alone(tps=0.0001))),
    ("K_SENTINEL", Edge(lambda: alone(frontier_tps=0.0), lambda: alone(frontier_tps=0.0001))),
    (
        "K_SENTINEL",
        Edge(lambda: result(decode_tps=0.0, decode_ctx=8), lambda: result(decode_tps=0.0001, decode_ctx=8)),
    ),
    (
        "K_SENTINEL",
        Edge(
            lambda: result(ms_per_token=0.0),
            lambda: result(ms_per_token=0.0001),
            frozenset({"K_DURATION_MISMATCH"}),
        ),
    ),
    (
        "K_SPEED_SOURCE_UNTRUE",
        Edge(lambda: result(scored_metric="prefill"), lambda: result(scored_metric="decode")),
    ),
    (  # what only the comparison with other runs reads
        "K_UNREADABLE",
        Edge(
            lambda: attestation("code/scoring_scripts_commit", 1),
            lambda: attestation("code/scoring_scripts_commit", "1"),
        ),
    ),
]
"""Other places of a code, and the other side of a limit."""


def test_every_code_of_an_imported_figure_has_its_two_sides() -> None:
    assert EDGES.keys().isdisjoint(EDGES_OF_WITNESSES)
    assert EDGES.keys() | EDGES_OF_WITNESSES.keys() == {code for code in CATALOGUE if code.startswith("K_")}


@pytest.mark.parametrize(("code", "edge"), [*EDGES.items(), *FURTHER])
def test_a_code_of_how_it_was_measured_is_given_and_just_not_given(code: str, edge: Edge) -> None:
    only_one, only_other = edge.apart()
    assert code in only_one
    assert only_one | only_other == {code} | edge.besides
