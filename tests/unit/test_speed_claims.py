"""Traps of speed claims that a round or the registry closes, whatever tool it comes from.

``T`` and a number is a trap of the project's collection of them; those of one tool's files stand beside its adapter,
and those of comparisons beside ``compare``. What no receipt can show stands in LIMITS.md.
"""

# ruff: noqa: N802 - the names of traps have capitals

from __future__ import annotations

from typing import Any

import pytest

from ledger import schema
from ledger.errors import MalformedError, RefusedError
from ledger.flags import QUARANTINE
from ledger.ingest.options import read_slot
from ledger.kinds import check_body
from ledger.metrics import METRICS
from tests.support.examined import MS, S, body_of, codes, examine, rep
from tests.support.scoring import Fold, make_rule, scored_body


def blocks(*times: int) -> list[dict[str, Any]]:
    """Repetitions of ten rounds each, in ms for all ten."""
    return [rep({"decode_ns": [time * MS], "rounds": [10]}, "ms_per_round", wall_ns=time * MS + 1) for time in times]


def test_T03_a_first_configuration_that_paid_for_tuning_is_kept_out_of_frontier_and_pins() -> None:
    assert codes(examine(body_of(*blocks(2602, 1155, 1150, 1152)))) == ["F_COLD_FIRST"]
    assert codes(examine(body_of(*blocks(1190, 1155, 1150, 1152)))) == []
    assert "F_COLD_FIRST" in QUARANTINE


def test_T15_the_time_of_one_kernel_is_no_metric_and_has_no_slot() -> None:
    axes = {"project": "p", "node": "n", "quant": "q", "context": "0", "metric": "kernel_ms"}
    with pytest.raises(RefusedError) as caught:
        read_slot(axes)
    assert caught.value.code == "E_SLOT"
    body = body_of(*blocks(1150, 1151))
    body["slot"]["metric"] = "kernel_ms"
    with pytest.raises(MalformedError) as malformed:
        schema.validate("round-input", body)
    assert malformed.value.where == "/slot/metric"
    assert not [name for name in METRICS if "kernel" in name]


def test_T40_one_code_with_one_choice_of_settings_is_a_null_pair_and_no_gain() -> None:
    fold = Fold(make_rule())
    body = scored_body("same", [1300, 1300], [1000, 1000])
    for arm in body["arms"]:
        arm["code_sha256"] = "0" * 64
    verdict = fold.verdict(fold.add("round", body))
    assert (verdict.label, verdict.code) == ("UNRESOLVED", "E_SELF_COMPARISON")
    body["arms"][0]["settings"] = {"flag": "on"}
    assert fold.verdict(fold.add("round", body | {"id": "flags"})).label == "xl"


def test_T40_a_noise_round_of_two_codes_is_refused() -> None:
    body = scored_body("noise", [1000, 1000], [1000, 1000], purpose="noise", parity=[])
    with pytest.raises(RefusedError) as caught:
        check_body("round", body)
    assert caught.value.code == "E_NOISE_ARMS"


def decoding(tokens: int, seconds: int = 10) -> dict[str, Any]:
    """Weights of 4 GB at `tokens` per `seconds`, on a node of 3350 GB/s."""
    body = body_of(
        rep({"completion_tokens": [tokens], "wall_ns": [seconds * S]}, "gen_tok_s"),
        environment={"gpu": "H100", "gpus": 1, "extra": {"peak_gbps": "3350"}},
    )
    body["weights"] |= {"size": 4 * 10**9, "params": 8 * 10**9}
    return body


def test_T52_a_rate_above_the_memorys_bandwidth_is_for_a_reviewer() -> None:
    assert codes(examine(decoding(9000))) == ["F_PLAUSIBILITY"]
    assert codes(examine(decoding(8000))) == []
    assert "F_PLAUSIBILITY" in QUARANTINE
