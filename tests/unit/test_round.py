"""The checks of a round that need two of its members at once: code, pointer, and what they must let pass."""

from __future__ import annotations

from typing import Any

import pytest

from ledger.errors import RefusedError
from ledger.round import check_round, round_subject, subject_arm
from ledger.schema import validate_slowly
from tests.cli.samples import CODE, SLOT, make_rep, make_round

ATTACHED = [{"name": "a.json", "sha256": "0" * 64, "size": 1}]
PARITY = {"arm": "main", "depth": 512, "trials": 64}


def arms(*roles: str) -> list[dict[str, Any]]:
    return [{"role": role, "code_sha256": CODE[role]} for role in roles]


def pair(**members: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - members of a repetition have any type
    """Two repetitions; the members are those of the second."""
    return [make_rep(0, "main"), make_rep(1, "candidate", **members)]


def records(**columns: list[Any]) -> dict[str, Any]:
    return {"records": columns}


STREAM = {"completion_tokens": [9], "prompt_tokens": [512], "wall_ns": [90]}


def loads(main: dict[str, Any] | None, candidate: dict[str, Any] | None, **members: Any) -> dict[str, Any]:  # noqa: ANN401 - as above
    """Repetitions with these workloads; the members are those of the second."""
    reps = pair(**members)
    for rep, workload in zip(reps, (main, candidate), strict=True):
        rep.update({} if workload is None else {"workload": workload})
    return {"reps": reps}


REFUSALS = [
    pytest.param({"arms": arms("main", "main")}, "E_ARM_TWICE", "/arms", "main", id="arm-twice"),
    pytest.param({"reps": pair(arm="reference")}, "E_ARM_UNKNOWN", "/reps/1/arm", "reference", id="arm-unknown"),
    pytest.param(
        {"arms": arms("main", "candidate", "reference")}, "E_ARM_UNMEASURED", "/reps", "reference", id="arm-unmeasured",
    ),
    pytest.param({"reps": pair(warmup=True)}, "E_ARM_UNMEASURED", "/reps", "warm-up", id="arm-warm-up-only"),
    pytest.param({"attachments": ATTACHED * 2}, "E_ATTACHMENT", "/attachments", "a.json", id="attachment-twice"),
    pytest.param(
        {"reps": pair(source={"attachment": "b.json", "row": 0})},
        "E_ATTACHMENT", "/reps/1/source/attachment", "b.json", id="attachment-of-a-rep",
    ),
    pytest.param(
        {"reported": [{"source": {"attachment": "b.json", "row": 0}, "values": {}}]},
        "E_ATTACHMENT", "/reported/0/source/attachment", "b.json", id="attachment-of-a-report",
    ),
    pytest.param(
        {"parity": [PARITY, {**PARITY, "depth": 0, "attachment": "b.json"}], "attachments": ATTACHED},
        "E_ATTACHMENT", "/parity/1/attachment", "b.json", id="attachment-of-parity",
    ),
    pytest.param(
        {"reps": [make_rep(3, "main"), make_rep(2, "candidate")]}, "E_ORDER", "/reps/1/order", "2 after 3", id="order",
    ),
    pytest.param(
        {"reps": pair(metrics=["prefill_tok_s", "prefill_tok_s"])},
        "E_METRIC_TWICE", "/reps/1/metrics", "prefill_tok_s", id="metric-twice",
    ),
    pytest.param(
        loads({"concurrency": 1, "gen_tokens": 64}, {"concurrency": 8, "gen_tokens": 64}),
        "E_MIXED", "/reps/1/workload/concurrency", "concurrency 1 and 8", id="workload-of-one-arm",
    ),
    pytest.param(
        {"reps": [*(make_rep(at, "main", workload={"batch": 1 + at // 2}) for at in range(3)), *pair(order=3)[1:]]},
        "E_MIXED", "/reps/2/workload/batch", "prefill_tok_s at context 512", id="workload-within-an-arm",
    ),
    pytest.param({"reps": pair(order=0)}, "E_ORDER", "/reps/1/order", "run 0", id="order-shared"),
    pytest.param(
        {"reps": [make_rep(0, "main"), make_rep(1, "candidate"), make_rep(1, "main")]},
        "E_ORDER", "/reps/2/order", "run 1", id="order-shared-later",
    ),
    pytest.param(
        {"reps": pair(**records(wall_ns=[1, 2], prompt_tokens=[512]))},
        "E_COLUMN_LENGTH", "/reps/1/records/prompt_tokens", "1", id="uneven",
    ),
    pytest.param(
        {"reps": pair(**records(wall_ns=[], prompt_tokens=[]))},
        "E_COLUMN_LENGTH", "/reps/1/records/wall_ns", "0", id="empty-columns",
    ),
    pytest.param(
        {"reps": pair(**records(wall_ns=[1, 0], prompt_tokens=[1, 1]))},
        "E_ZERO_TIME", "/reps/1/records/wall_ns/1", "null", id="zero-wall",
    ),
    pytest.param(
        {"reps": pair(records={**STREAM, "e2e_ns": [0]})},
        "E_ZERO_TIME", "/reps/1/records/e2e_ns/0", "null", id="zero-end",
    ),
    pytest.param({"reps": pair(wall_ns=124_999_999)}, "E_WALL", "/reps/1/wall_ns", "125000000", id="wall"),
    pytest.param(
        {"reps": pair(records={**STREAM, "ttft_ns": [10], "e2e_ns": [9]})},
        "E_TTFT_AFTER_END", "/reps/1/records/ttft_ns/0", "first token after 10 ns", id="first-token",
    ),
    pytest.param(
        {"reps": pair(**records(wall_ns=[1]))},
        "E_RECORDS_MISSING", "/reps/1/records", "prompt_tokens", id="column-missing",
    ),
    pytest.param(
        {"reps": pair(metrics=["prefill_tok_s", "decode_tok_s"])},
        "E_RECORDS_MISSING", "/reps/1/records", "completion_tokens, e2e_ns, ttft_ns", id="columns-missing",
    ),
    pytest.param(
        {"slot": {**SLOT, "context": 1024}}, "E_CONTEXT_MISMATCH", "/slot", "prefill_tok_s at 512", id="context",
    ),
    pytest.param(
        {"slot": {**SLOT, "context": 512, "metric": "wall"}}, "E_CONTEXT_MISMATCH", "/slot", "wall", id="metric",
    ),
    pytest.param({"reps": pair(context=64)}, "E_CONTEXT_MISMATCH", "/slot", "candidate", id="context-of-one-arm"),
    pytest.param(
        {"guards": [{"metric": "prefill_tok_s", "context": 512}, {"metric": "prefill_tok_s", "context": 0}]},
        "E_GUARD_UNMEASURED", "/guards/1", "context 0", id="guard",
    ),
    pytest.param(
        {"parity": [{**PARITY, "arm": "reference"}]}, "E_ARM_UNKNOWN", "/parity/0/arm", "reference", id="parity-arm",
    ),
    pytest.param({"parity": [PARITY, PARITY]}, "E_PARITY_TWICE", "/parity", "512", id="parity-twice"),
    pytest.param({"purpose": "noise"}, "E_NOISE_ARMS", "/arms", "same code", id="noise-codes"),
    pytest.param(
        {"purpose": "noise", "arms": arms("main"), "reps": [make_rep(0, "main")]},
        "E_NOISE_ARMS", "/arms", "two arms", id="noise-one-arm",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("members", "code", "where", "hint"), REFUSALS)
def test_a_round_that_could_not_mean_what_it_says_is_refused_with_code_and_pointer(
    members: dict[str, Any], code: str, where: str, hint: str
) -> None:
    body = make_round(**members)
    validate_slowly("round-input", body)  # each is a fault that the schema cannot see
    with pytest.raises(RefusedError) as caught:
        check_round(body)
    assert (caught.value.code, caught.value.where) == (code, where)
    assert hint in caught.value.message


@pytest.mark.parametrize(
    "columns",
    [
        {"ttft_ns": [10], "e2e_ns": [10]},
        {"ttft_ns": [None], "e2e_ns": [9]},
        {"ttft_ns": [10], "e2e_ns": [None]},
        {"ttft_ns": [10]},
        {"e2e_ns": [9]},
        {"ttft_ns": [0], "e2e_ns": [9]},
    ],
    ids=repr,
)
def test_a_first_token_may_be_the_last_and_either_time_may_be_unknown(columns: dict[str, list[Any]]) -> None:
    check_round(make_round(reps=pair(records={**STREAM, **columns})))


def test_the_second_of_several_streams_is_the_one_named() -> None:
    records = {"ttft_ns": [1, None, 10], "e2e_ns": [5, 5, 9], "wall_ns": [9] * 3, "prompt_tokens": [1] * 3}
    with pytest.raises(RefusedError) as caught:
        check_round(make_round(reps=pair(records=records)))
    assert caught.value.where == "/reps/1/records/ttft_ns/2"


def test_an_unobserved_duration_is_no_duration_of_0() -> None:
    check_round(make_round(reps=pair(**records(wall_ns=[None, 1], prompt_tokens=[1, 1]))))


def test_a_sample_may_take_the_whole_repetition() -> None:
    check_round(make_round(reps=pair(wall_ns=125_000_000)))


def test_rows_of_one_run_share_its_order() -> None:
    check_round(make_round(reps=[make_rep(0, "main"), make_rep(0, "main"), make_rep(7, "candidate")]))


@pytest.mark.parametrize(
    ("members", "name"),
    [
        (loads({"batch": 1}, {}), "batch 1 and nothing"),
        (loads({"batch": 1}, None), "batch 1 and nothing"),
        (loads(None, {"concurrency": 8}), "concurrency nothing and 8"),
        (loads({"batch": 1}, {"batch": 1, "concurrency": 8}), "concurrency nothing and 8"),
    ],
)
def test_a_workload_of_which_one_arm_is_silent_is_another(members: dict[str, Any], name: str) -> None:
    with pytest.raises(RefusedError, match=name) as caught:
        check_round(make_round(**members))
    assert caught.value.code == "E_MIXED"


def test_the_seed_may_differ() -> None:
    check_round(make_round(**loads({"seed": 1, "batch": 1}, {"seed": 2, "batch": 1})))
    check_round(make_round(**loads({"seed": 1}, None)))


def test_another_metric_another_context_and_a_warm_up_may_be_of_another_workload() -> None:
    other = {"workload": {"gen_tokens": 4096}}
    reps = [rep | {"workload": {"gen_tokens": 0}} for rep in pair()]
    more = [make_rep(2, "main", warmup=True, **other), make_rep(3, "main", metrics=["wall"], **other)]
    check_round(make_round(reps=[*reps, *more, make_rep(4, "main", context=64, **other)]))


def test_warm_up_is_checked_but_does_not_count() -> None:
    warm = make_rep(0, "main", warmup=True)
    check_round(make_round(reps=[warm, make_rep(1, "main"), make_rep(2, "candidate")]))
    with pytest.raises(RefusedError, match="one length of at least 1"):
        check_round(make_round(reps=[{**warm, "records": {"wall_ns": []}}, *pair()[1:]]))


def test_a_noise_round_needs_one_code_and_one_setting() -> None:
    same = [{"role": role, "code_sha256": CODE["main"], "settings": {"t": "1"}} for role in ("main", "candidate")]
    check_round(make_round(purpose="noise", arms=same))
    with pytest.raises(RefusedError) as caught:
        check_round(make_round(purpose="noise", arms=[same[0], {**same[1], "settings": {"t": "2"}}]))
    assert caught.value.code == "E_NOISE_ARMS"
    with pytest.raises(RefusedError) as caught:
        check_round(make_round(purpose="noise", arms=[same[0], {"role": "candidate", "code_sha256": CODE["main"]}]))
    assert caught.value.code == "E_NOISE_ARMS"


def test_one_arm_is_enough_for_a_reference_round() -> None:
    check_round(make_round(purpose="reference", arms=arms("reference"), reps=[make_rep(0, "reference")]))


@pytest.mark.parametrize("moment", ["2026-02-30T00:00:00Z", "2026-13-01T00:00:00Z", "2026-11-29T24:61:00Z"])
def test_a_time_that_no_calendar_has_is_refused(moment: str) -> None:
    body = make_round(reps=pair(started_at=moment))
    with pytest.raises(RefusedError):
        check_round(body)


@pytest.mark.parametrize(
    ("roles", "subject"),
    [
        (("main",), "main"),
        (("main", "candidate"), "candidate"),
        (("candidate", "main", "reference"), "candidate"),
        (("reference", "main"), "main"),
        (("reference",), "reference"),
    ],
)
def test_a_round_is_about_its_candidate_else_main_else_the_reference(roles: tuple[str, ...], subject: str) -> None:
    body = make_round(arms=arms(*roles))
    assert subject_arm(body)["role"] == subject
    assert round_subject(body) == (subject, CODE[subject])
