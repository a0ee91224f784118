"""The two sides of every code of an imported figure that copies and other runs give: see ``test_imported_edges.py``."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from tests.support.edges import Edge
from tests.support.imported_edges import (
    SECOND_AFTER,
    SECOND_BEFORE,
    attestation,
    codes,
    ending,
    result,
    said,
)
from tests.support.made_up_log import COMMIT, MAIN, Source, put

OTHER = ending(COMMIT, "c")
DEPTHS = {"ctx4": {"kl": 0.1, "top1": 1.0}}


# One run, and a copy that says otherwise.


def printed(name: str, number: str) -> list[str]:
    """A result that spells a number so; what is sealed is the number that the run had."""
    run = Source().seal()
    run.extra["result.json"] = json.dumps(run.result | {name: "?"}).replace('"?"', number)
    return codes(run)


def attested(output: bytes) -> list[str]:
    run = Source().seal()
    run.attested(output)
    return codes(run)


def quoted(changed: int) -> list[str]:
    """A quote of which one character is changed, under the id that it had before."""
    run = Source().seal()
    quote = run.receipt["tdx"]["quote_b64"]
    run.receipt["tdx"]["quote_b64"] = f"{quote[:changed]}+{quote[changed + 1 :]}"
    return codes(run)


def attestation_copied(driver: str) -> list[str]:
    """The attestation once more, in another order and layout, with this driver."""
    run = Source().seal()
    copy = json.loads(run.extra["attestation.json"])
    copy["environment"]["driver_version"] = driver
    run.extra["attestation.json"] = json.dumps(dict(reversed(copy.items())), indent=2)
    return codes(run)


def named(last: str = "") -> list[str]:
    """The id in the result too, with this end."""
    run = Source().seal()
    run.result["receipt_id"] = ending(run.id, last)
    return codes(run)


def sealed(*, depths: bool) -> list[str]:
    """A result with depths, and a sealed digest that covers them or does not."""
    run = Source()
    run.result["kl_depths"] = DEPTHS
    run.seal()
    if depths:
        digest = hashlib.sha256(json.dumps(run.result, sort_keys=True).encode()).hexdigest()
        run.receipt["_expected"]["result_sha256"] = digest
    return codes(run)


def files(*more: str, without: str = "") -> list[str]:
    run = Source(absent={without}).seal()
    run.extra |= dict.fromkeys(more, "")
    return codes(run)


def rows(count: int) -> list[str]:
    """So many rows in the index."""
    run = Source().seal()
    run.rows["index"] *= count
    return codes(run)


def row(ledger: dict[str, Any], index: dict[str, Any] | None = None) -> list[str]:
    """These members in the row of the ledger, and the same or others in that of the index."""
    run = Source().seal()
    run.rows["ledger"][0].update(ledger)
    run.rows["index"][0].update(ledger if index is None else index)
    return codes(run)


# Two runs, the later one a second after the other: what is found about it.


def later(path: str, value: Any, main: str = MAIN) -> list[str]:  # noqa: ANN401 - any JSON value
    """It attests this, and its session measured this commit of main."""
    run = Source(at=SECOND_AFTER)
    put("receipt", f"attestation/{path}", value)(run)
    run.seal()
    run.text = run.text.replace(f"@ {MAIN}", f"@ {main}")
    return codes(Source().seal(), run)


def figures(first: float, second: float, commit: str = COMMIT) -> list[str]:
    return codes(Source(tps=first).seal(), Source(at=SECOND_AFTER, tps=second, commit=commit).seal())


def weights(first: str) -> list[str]:
    """Other weights than these."""
    runs = Source(), Source(at=SECOND_AFTER)
    for run, fingerprint in zip(runs, (first, "w"), strict=True):
        run.result["model_fingerprint"] = fingerprint
    return codes(*(run.seal() for run in runs))


def accuracy(divergence: float) -> list[str]:
    """Another build, with this divergence where the first one has 0.1."""
    runs = Source(), Source(at=SECOND_AFTER, commit=OTHER, tps=25.0)
    for run, kl in zip(runs, (0.1, divergence), strict=True):
        run.result["kl_depths"] = {"ctx4": {"kl": kl, "top1": 1.0}}
    return codes(*(run.seal() for run in runs))


def verdict(context: int) -> list[str]:
    """Another verdict on the same commit, at this context where the first one has 131072."""
    run = Source(at=SECOND_AFTER)
    run.result |= {"label": "L", "scored_ctx": context}
    put("receipt", "attestation/verdict/label", "L")(run)
    return codes(Source().seal(), run.seal())


def chained(index: int = 1, last: str = "", *, names: bool = True) -> list[str]:
    """It names the id of the one before it, with this end, or names none."""
    first, run = Source().seal(), Source(at=SECOND_AFTER)
    run.receipt["chain"] = {"chain_index": index, "prev_receipt_hash": ending(first.id, last) if names else None}
    return codes(first, run.seal())


def appended(at: str) -> list[str]:
    """A run of this time in the last line."""
    return codes(Source().seal(), Source(at=at).seal())


def superseded(at: str = SECOND_AFTER, commit: str = COMMIT, last: str = "") -> list[str]:
    """The codes of a run that one of this time and commit replaces, whose id is told with this end."""
    run, other = Source().seal(), Source(at=at, commit=commit, tps=20.25).seal()
    for table in run.rows.values():
        table[0]["superseded_by"] = ending(other.id, last)
    log = sorted((run, other), key=lambda each: each.at)
    return codes(*log, of=log.index(run))


EDGES: dict[str, Edge] = {
    "K_APPENDED_LATE": Edge(lambda: appended(SECOND_BEFORE), lambda: appended(SECOND_AFTER)),
    "K_ATTESTATION_COPIES": Edge(lambda: attestation_copied("581"), lambda: attestation_copied("580")),
    "K_CHAIN_BROKEN": Edge(lambda: chained(last="x"), chained),
    "K_CHAIN_INDEX": Edge(lambda: chained(2), lambda: chained(1)),
    "K_CHAIN_NULL": Edge(lambda: chained(names=False), chained),
    "K_COMMIT_DIFFERS": Edge(lambda: result(commit=OTHER), lambda: result(commit=COMMIT)),
    "K_ENVIRONMENT_CHANGED": Edge(lambda: weights("v"), lambda: weights("")),
    "K_FIGURE_COPIES": Edge(lambda: said("tps=20.0 ", "tps=20.01 "), lambda: said("tps=20.0 ", "tps=20.00 ")),
    "K_FIGURE_REPEATED": Edge(lambda: figures(20.0, 20.0, OTHER), lambda: figures(20.0, 20 + 2**-13, OTHER)),
    "K_FILE_UNKNOWN": Edge(lambda: files("eval.log.1"), files),
    "K_ID_COPIES": Edge(lambda: named("x"), named),
    # The id covers 64 characters of the quote: the last of them, and the first behind them.
    "K_ID_PARTIAL": Edge(lambda: quoted(64), lambda: quoted(63), frozenset({"K_ID_UNEXPLAINED"})),
    "K_ID_UNEXPLAINED": Edge(lambda: quoted(63), lambda: quoted(64), frozenset({"K_ID_PARTIAL"})),
    # The id with a digit more, and another text behind it.
    "K_LOG_FOREIGN": Edge(lambda: said(" to somewhere", "0 to somewhere"), lambda: said(" to somewhere", " to x")),
    "K_MEMBER_MISSING": Edge(lambda: rows(0), lambda: rows(1)),
    "K_OUTPUT_UNREADABLE": Edge(lambda: attested(b'{"label":null}'), lambda: attested(b'{"label":"XL"}')),
    "K_PARITY_REPEATED": Edge(lambda: accuracy(0.1), lambda: accuracy(0.10000001)),
    "K_REFERENCE_DIFFERS": Edge(
        lambda: later("references/model_file", "n"), lambda: later("references/model_file", "")
    ),
    "K_RESULT_NOT_SEALED": Edge(lambda: printed("top1", "1.01"), lambda: printed("top1", "1.00")),
    "K_ROW_COPIES": Edge(lambda: row({"pr": 5}, {"pr": 6}), lambda: row({"pr": 5}, {"pr": 5})),
    "K_ROW_DIFFERS": Edge(lambda: row({"tps": 20.01}), lambda: row({"tps": 20})),
    "K_ROW_TWICE": Edge(lambda: rows(2), lambda: rows(1)),
    "K_SAME_COMMIT_BUILD": Edge(
        lambda: later("code/build_hash", "b"), lambda: later("code/build_hash", ""), frozenset({"K_BUILD_HASH_EMPTY"})
    ),
    "K_SAME_COMMIT_LABEL": Edge(lambda: verdict(131072), lambda: verdict(131073)),
    # A step that a double holds exactly: the printed gain must hold too.
    "K_SAME_COMMIT_SPREAD": Edge(lambda: figures(25.0, 25.5 + 2**-13), lambda: figures(25.0, 25.5)),
    "K_SCORER_DIFFERS": Edge(
        lambda: later("code/scoring_scripts_commit", ending(MAIN * 5, "0")),
        lambda: later("code/scoring_scripts_commit", ending(MAIN * 5, "0"), main=ending(MAIN, "0")),
    ),
    "K_SUPERSEDED_BACKWARDS": Edge(lambda: superseded(SECOND_BEFORE), lambda: superseded(SECOND_AFTER)),
    "K_SUPERSEDED_COMMIT": Edge(lambda: superseded(commit=OTHER), lambda: superseded(commit=COMMIT)),
    "K_SUPERSEDED_UNKNOWN": Edge(lambda: superseded(last="x"), superseded),
    "K_UNSEALED_MEMBER": Edge(lambda: sealed(depths=False), lambda: sealed(depths=True)),
    "K_VERDICT_ATTESTED": Edge(lambda: attested(b'{"label":"L"}'), lambda: attested(b'{"label":"xl"}')),
    "K_VERDICT_COPIES": Edge(  # a further witness cannot agree with both
        lambda: attestation("verdict/label", "L"),
        lambda: attestation("verdict/label", "xl"),
        frozenset({"K_VERDICT_ATTESTED", "K_VERDICT_LOG"}),
    ),
    "K_VERDICT_LOG": Edge(lambda: said("eval:xl", "eval:l"), lambda: said("eval:xl", "eval:XL")),
}

FURTHER: list[tuple[str, Edge]] = [
    (
        "K_COMMIT_DIFFERS",
        Edge(
            lambda: said("evaluating abababab", f"evaluating {OTHER}"),
            lambda: said("evaluating abababab", f"evaluating {COMMIT}"),
        ),
    ),
    (
        "K_ENVIRONMENT_CHANGED",
        Edge(
            lambda: later("environment/gpu_name", "x"),
            lambda: later("environment/gpu_name", ""),
            frozenset({"K_NODE_UNKNOWN"}),
        ),
    ),
    ("K_FIGURE_COPIES", Edge(lambda: attestation("verdict/tps", 20.01), lambda: attestation("verdict/tps", 20))),
    (
        "K_FIGURE_COPIES",
        Edge(
            lambda: attested(b'{"label":"XL","tps":20.01}'),
            lambda: attested(b'{"label":"XL","tps":20.00}'),
        ),
    ),
    ("K_MEMBER_MISSING", Edge(lambda: files(without="attestation.json"), files)),
    (
        "K_REFERENCE_DIFFERS",
        Edge(lambda: later("references/model_sha256", "t"), lambda: later("references/model_sha256", "")),
    ),
    (
        "K_REFERENCE_DIFFERS",
        Edge(lambda: later("references/llamacpp_commit", "k"), lambda: later("references/llamacpp_commit", "")),
    ),
    ("K_ROW_DIFFERS", Edge(lambda: row({"kl": 0.006694999}), lambda: row({"kl": 0.006694998}))),
    ("K_ROW_DIFFERS", Edge(lambda: row({"commit": OTHER}), lambda: row({"commit": COMMIT}))),
    (  # by itself, and by none
        "K_SUPERSEDED_BACKWARDS",
        Edge(lambda: row({"superseded_by": Source().seal().id}), lambda: row({"superseded_by": ""})),
    ),
]
"""Other places of a code."""


@pytest.mark.parametrize(("code", "edge"), [*EDGES.items(), *FURTHER])
def test_a_code_of_copies_and_other_runs_is_given_and_just_not_given(code: str, edge: Edge) -> None:
    only_one, only_other = edge.apart()
    assert code in only_one
    assert only_one | only_other == {code} | edge.besides
