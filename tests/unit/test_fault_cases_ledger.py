"""Samples and attempts handed in twice, or not at all: faults of data that people reported, by their number."""

# ruff: noqa: N802 - the names of cases have capitals

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from ledger.timing import timing_digest
from tests.support.examined import MS, body_of, codes, examine, refusal, rep

if TYPE_CHECKING:
    from ledger.canonical import JsonObject

SAMPLES = [601_234_567, 602_345_678, 603_456_789]
OTHERS = [601_234_567, 602_345_679, 603_456_780]


def arms(main: list[int], candidate: list[int], **members: Any) -> JsonObject:  # noqa: ANN401 - members of a round
    """A round of two codes, one repetition each."""
    return body_of(rep({"wall_ns": main}, "wall"), rep({"wall_ns": candidate}, "wall", arm="candidate"), **members)


def test_C16_samples_of_another_code_are_no_measurement_of_this_one() -> None:
    code, where, message = refusal(arms(SAMPLES, SAMPLES))
    assert (code, where) == ("E_COPIED_SAMPLES", "/reps/1/records")
    assert message.startswith("every sample is that of /reps/0,")


def test_C16_a_repetition_is_not_measured_twice_by_listing_it_twice() -> None:
    three = [rep({"wall_ns": times}, "wall") for times in (SAMPLES, OTHERS, SAMPLES)]
    code, where, message = refusal(body_of(*three))
    assert (code, where, "/reps/0," in message) == ("E_COPIED_SAMPLES", "/reps/2/records", True)
    three[0]["warmup"] = True
    assert refusal(body_of(*three))[0] == "E_COPIED_SAMPLES"


def test_C16_one_equal_sample_is_fine_and_so_is_equal_parity() -> None:
    parity = [{"arm": arm, "depth": 4, "trials": 1000, "kl": "0.001", "top1": "0.999"} for arm in ("main", "candidate")]
    assert examine(arms(SAMPLES, OTHERS, parity=parity)) == []


def test_C16_few_samples_and_those_of_a_coarse_clock_may_be_equal() -> None:
    for samples in (SAMPLES[:2], [*SAMPLES[:2], SAMPLES[0]], [601 * MS, 602 * MS, 603 * MS]):
        assert timing_digest({"wall_ns": samples}) is None
        assert codes(examine(arms(samples, samples))) == []


def test_C16_the_fingerprint_is_of_the_timing_alone() -> None:
    digest = timing_digest({"wall_ns": SAMPLES})
    assert digest == hashlib.sha256(b'{"wall_ns":[601234567,602345678,603456789]}').digest()
    assert timing_digest({"wall_ns": SAMPLES, "chunks": [1, 2, 3]}) == digest
    assert timing_digest({"wall_ns": SAMPLES, "completion_tokens": [1, 2, 3]}) != digest
    assert timing_digest({"wall_ns": OTHERS}) != digest
    assert timing_digest({"ttft_ns": [SAMPLES[0], None], "e2e_ns": [SAMPLES[1], SAMPLES[2]]}) is not None
    assert timing_digest({"prompt_tokens": SAMPLES}) is None
