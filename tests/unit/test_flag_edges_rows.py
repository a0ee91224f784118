"""As `test_flag_edges`, for the rows of one project, in records, reports and a forced bench, and for parity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ledger.flags import QUARANTINE
from ledger.ingest.perplexity import read_parity
from tests.support.edges import Edge
from tests.support.examined import codes
from tests.support.flag_edges import of_file
from tests.support.kld import kld_text
from tests.support.tandem import (
    asked,
    encode,
    files_of,
    forced,
    forced_row,
    log_of,
    record,
    report,
    request,
    run_record,
    seal,
    warm_up,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ledger.canonical import JsonObject


def row(*changes: JsonObject, number: int = 4, params: JsonObject | None = None, **members: Any) -> list[str]:  # noqa: ANN401 - members of a record
    """A record of so many requests, of which the first have changes."""
    each = [*changes, *[{}] * (number - len(changes))]
    listed = [warm_up(), *(request(at, **own) for at, own in enumerate(each))]
    found = record(*listed, **asked(num_requests=number, **(params or {})), **members)
    return of_file("tandem-record", encode(found))


def rates(last_ms: float) -> list[str]:
    """Three answers at 40 tokens a second, and one that takes another time."""
    return row(
        *({"ttft_ms": 500 + at, "e2e_ms": 3700 + at} for at in range(3)), {"ttft_ms": 500, "e2e_ms": 500 + last_ms}
    )


def ended(*finish: JsonObject) -> list[str]:
    """Answers that may have 129 tokens."""
    return row(*finish, params={"output_tokens": 129})


def prompts(*tokens: int) -> list[str]:
    """Prompts of these lengths, where 200 tokens were asked for."""
    return row(*({"prompt_tokens": count} for count in tokens), params={"input_tokens": 200})


def done_at(end: str) -> list[str]:
    return row(provenance={"started_at": "2026-11-29T20:00:01Z", "finished_at": end})


def rows(files: Mapping[str, bytes] | None = None, **members: Any) -> list[str]:  # noqa: ANN401 - members of a report
    return of_file("tandem-report", encode(report(**members)), files_of() if files is None else files)


def last_context(*tokens: int) -> list[str]:
    """A report whose last run has prompts of its own, of these lengths; the others have 200 tokens."""
    made = run_record(2)
    for item, count in zip(made["raw"]["payload"]["requests"], (200, *tokens), strict=True):
        item |= {"prompt_tokens": count, "prompt_id": f"last-{item['prompt_id']}"}
    return rows(files_of() | {"base/raw-3/run.json": encode(seal(made)), "base/server-slice-3.log": log_of(made)})


def first_log(lines: slice | None) -> list[str]:
    """A report with some lines of its first log, the first of which is about no request; none for no log at all."""
    files = files_of()
    log = files.pop("base/server-slice-1.log").splitlines()
    return rows(files if lines is None else files | {"base/server-slice-1.log": b"\n".join(log[lines])})


def steps(blocks: int) -> list[str]:
    """A forced answer of so many steps, of which three are listed as rounds."""
    ms = forced_row("base", "prose", 0)["ms"]
    one = forced_row("base", "prose", 0, blocks=blocks, tpb=12 / blocks, mspb=ms / blocks)
    return of_file("tandem-forced", encode(forced(one)))


# Parity.


def parity(**changes: str) -> list[str]:
    """A text without what is printed of both perplexities together."""
    derived = ("Mean ln(PPL(Q)/PPL(base))", "Mean PPL(Q)/PPL(base)", "Mean PPL(Q)-PPL(base)")
    named = {"base": "Mean PPL(base)", "highest": "Maximum KLD"}
    told = {named[name]: value for name, value in changes.items()}
    return codes(read_parity(kld_text(changes=told | dict.fromkeys(derived), table=None).encode(), "kld.txt").notes)


EDGES: dict[str, Edge] = {
    "F_FINISH_CAP": Edge(
        lambda: ended({"finish_reason": "length", "completion_tokens": 128}),
        lambda: ended({"finish_reason": "length", "completion_tokens": 129}),
    ),
    # Two of ten answers below 128 tokens, and one.
    "F_SHORT_OUTPUT": Edge(
        lambda: row({"completion_tokens": 127}, {"completion_tokens": 127}, number=10),
        lambda: row({"completion_tokens": 127}, {"completion_tokens": 128}, number=10),
    ),
    "F_CONTEXT_DECLARED": Edge(lambda: prompts(204, 204, 204, 205), lambda: prompts(204, 204, 204, 204)),
    "F_NONDETERMINISTIC": Edge(
        lambda: row({"prompt_id": "p"}, {"prompt_id": "p", "completion_tokens": 130}),
        lambda: row({"prompt_id": "p"}, {"prompt_id": "p", "completion_tokens": 129}),
    ),
    # 40, 40, 40 and 64 tokens a second have a mean of 46, which is 15 % above 40.
    "F_MEAN_LIFTED": Edge(lambda: rates(1999.999), lambda: rates(2000.0)),
    "F_CLOCK_ORDER": Edge(lambda: done_at("2026-11-29T20:00:00Z"), lambda: done_at("2026-11-29T20:00:01Z")),
    "F_CONTEXT_SPREAD": Edge(lambda: last_context(204, 204, 204, 205), lambda: last_context(204, 204, 204, 204)),
    "F_LOG_EMPTY": Edge(lambda: first_log(slice(1)), lambda: first_log(slice(6))),
    "F_LOG_ABSENT": Edge(lambda: first_log(None), lambda: first_log(slice(6))),
    "F_RUNS_FEWER": Edge(lambda: rows(args={"runs": 4}), lambda: rows(args={"runs": 3})),
    "F_ROUNDS_PARTIAL": Edge(lambda: steps(4), lambda: steps(3)),
    # Parity.
    "F_KL_TAIL": Edge(lambda: parity(highest="2.000001"), lambda: parity(highest="2.000000")),
    "F_BASE_PERPLEXITY": Edge(
        lambda: parity(base="1000.000001 ± 0.030000"), lambda: parity(base="1000.000000 ± 0.030000")
    ),
}


@pytest.mark.parametrize("code", sorted(EDGES))
def test_a_flag_of_rows_or_parity_is_given_and_just_not_given(code: str) -> None:
    assert EDGES[code].apart() == ({code}, set())  # and nothing else is said of one side only
    assert QUARANTINE.isdisjoint(EDGES[code].has_not())
