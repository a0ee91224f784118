"""The 51 runs of the public log: bodies against an independent extraction, faults against a table written by hand."""

from __future__ import annotations

import hashlib
import json
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from ledger.canonical import encode
from ledger.errors import MalformedError
from ledger.ingest.sparkinfer.faults import FAULTS
from ledger.ingest.sparkinfer.log import read_log
from ledger.kinds import check_body
from ledger.schema import validate, validate_slowly
from tests.support.outside import outside

if TYPE_CHECKING:
    import datetime as dt
    from pathlib import Path

    from ledger.canonical import JsonObject

RUNS = 51
ALL = set(range(RUNS))
"""Sequence numbers; number 1 has nothing but a receipt."""


def log_folder() -> Path:
    return outside("k3-log")


@cache
def bodies() -> list[JsonObject]:
    return [run.body for run in read_log(log_folder())]


@cache
def oracle() -> list[dict[str, Any]]:
    lines = outside("k3-scoring", "rounds.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line, parse_float=str) for line in lines]


def found(code: str, where: str = "") -> set[int]:
    """Numbers of the runs with a fault of this code, at a place that ends so."""
    assert code in FAULTS
    return {
        at
        for at, body in enumerate(bodies())
        for fault in body["faults"]
        if fault["code"] == code and fault.get("where", "").endswith(where)
    }


def faults(at: int, code: str) -> list[JsonObject]:
    return [fault for fault in bodies()[at]["faults"] if fault["code"] == code]


def test_every_run_is_there_once_in_time_order() -> None:
    assert [body["source"]["record"] for body in bodies()] == [row["run_id"] for row in oracle()]
    assert [body["source"]["position"] for body in bodies()] == list(range(RUNS))
    times = [body["at"] for body in bodies()]
    assert times == sorted(times)
    assert times == [row["timestamp_utc"].replace("+00:00", "Z") for row in oracle()]


def test_every_body_is_valid() -> None:
    for body in bodies():
        encode(body)
        validate("imported-input", body)
        validate_slowly("imported-input", body)
        check_body("imported", body)


def test_every_fault_has_a_code_of_the_table() -> None:
    assert {fault["code"] for body in bodies() for fault in body["faults"]} <= FAULTS.keys()
    assert not found("K_UNREADABLE")


def test_the_ids_name_log_and_run() -> None:
    assert {body["id"] == f"sparkinfer-k3-log/{body['source']['record']}" for body in bodies()} == {True}


def test_the_figures_are_those_of_the_extraction() -> None:
    assert [body["value"]["value"] for body in bodies()] == [str(row["tps"]) for row in oracle()]
    assert {body["value"]["origin"] for body in bodies()} == {"file"}


def test_the_frontiers_are_those_of_the_extraction() -> None:
    assert [body["frontier"]["value"] for body in bodies()] == [str(row["frontier_tps"]) for row in oracle()]
    derived = [at for at, body in enumerate(bodies()) if body["frontier"]["origin"] == "derived"]
    assert derived == [1]  # told by the gain alone


def test_the_slots_are_those_of_the_extraction() -> None:
    names = {"decode": "decode_tok_s", "prefill": "prefill_tok_s"}
    assert [body["slot"] for body in bodies()] == [
        {
            "project": "sparkinfer-k3",
            "node": "h200x8",
            "quant": "UD-IQ1_S",
            "context": row["ctx_effective"],
            "metric": names[row["metric_effective"]],
        }
        for row in oracle()
    ]


def test_the_commits_are_the_attested_ones() -> None:
    assert [body["commit"] for body in bodies()] == [row["commit"] for row in oracle()]


@pytest.mark.parametrize(
    ("place", "member"),
    [
        ("ledger", "label_ledger"),
        ("index", "label_index"),
        ("result", "label_result"),
        ("receipt", "label_receipt"),
        ("enclave", "label_enclave_stdout"),
    ],
)
def test_every_copy_of_the_verdict_is_kept(place: str, member: str) -> None:
    assert [body["labels"].get(place) for body in bodies()] == [row[member] for row in oracle()]


def test_the_divergences_are_those_of_the_extraction() -> None:
    for body, row in zip(bodies(), oracle(), strict=True):
        told = body["reported"].get("kl", body["parity"][0]["kl"])
        assert Decimal(told) == Decimal(row["kl"])
        depths = row["kl_depths"] or {}
        assert {entry["depth"]: Decimal(entry["kl"]) for entry in body["parity"] if "depth" in entry} == {
            int(name.removeprefix("ctx")): Decimal(figures["kl"]) for name, figures in depths.items()
        }
        worst = min(Decimal(entry["top1"]) for entry in body["parity"])
        assert worst == Decimal(row["top1"])


def test_a_small_divergence_is_written_out() -> None:
    by_depth = {entry["depth"]: entry for entry in bodies()[50]["parity"]}
    assert by_depth[1024] == {"depth": 1024, "kl": "0.00006422189628634277", "top1": "1.0"}
    assert list(by_depth) == [4, 128, 256, 512, 1024, 2048, 4096]
    assert not [entry for body in bodies() for entry in body["parity"] if "trials" in entry]


def test_what_main_measured_is_kept_where_the_log_tells_it() -> None:
    told = {at for at, body in enumerate(bodies()) if "main" in body}
    assert told == {at for at, row in enumerate(oracle()) if row["has_log"]} - {2}  # its session measured no main


def test_the_decode_guard_of_a_prefill_run() -> None:
    guards = {at: body["guards"] for at, body in enumerate(bodies()) if "guards" in body}
    assert guards.keys() == {48, 49, 50}
    assert guards[50] == [{"metric": "decode_tok_s", "context": 131072, "value": "59.92"}]
    assert [guards[at][0]["value"] for at in guards] == [str(oracle()[at]["decode_tps"]) for at in guards]


def test_the_environment_says_what_is_known_and_no_more() -> None:
    for body, row in zip(bodies(), oracle(), strict=True):
        kept = body["environment"]
        assert kept.get("driver", "") == row["driver"]
        assert kept.get("weights_fingerprint") == row["model_fingerprint"]
        assert kept["model_sha256"] == row["model_sha256"]
        assert kept["clock_mhz"] == str(row["clock_mhz"])
        assert kept["clocks_pinned"] == "false"
        assert "" not in kept.values()


def test_the_rest_of_the_result_is_kept_as_it_stands() -> None:
    told = set(bodies()[50]["reported"].items())
    assert {("tier_anchor_ref", "143.88"), ("pass", "false"), ("llama_commit", ""), ("ledger.pr", "148")} <= told
    assert bodies()[7]["reported"]["pct_of_ceiling"] is None
    assert bodies()[1]["reported"] == {}
    assert ("provenance.ms_per_token", "281.76") in bodies()[0]["reported"].items()


def test_the_files_are_named_with_digest_and_size() -> None:
    names = {"result.json": "has_result", "eval.log": "has_log", "attestation.json": "has_attestation_file"}
    for body, row in zip(bodies(), oracle(), strict=True):
        expected = ["receipt.json", *(name for name, flag in names.items() if row[flag])]
        assert [file["name"] for file in body["files"]] == expected
        for file in body["files"]:
            raw = (log_folder() / "runs" / row["run_id"] / file["name"]).read_bytes()
            assert (file["sha256"], file["size"]) == (hashlib.sha256(raw).hexdigest(), len(raw))


def test_the_hook_gets_quote_and_time_of_every_run() -> None:
    seen: list[dt.datetime] = []

    def attest(tdx: JsonObject, at: dt.datetime) -> list[JsonObject]:
        seen.append(at)
        return [{"name": "nonce", "holds": len(tdx["nonce"]) == 32, "detail": "32 digits"}]

    checked = read_log(log_folder(), attest=attest)
    assert [run.body["checks"][0]["holds"] for run in checked] == [True] * RUNS
    assert [moment.isoformat() for moment in seen] == [row["timestamp_utc"] for row in oracle()]
    assert not any("checks" in body for body in bodies())


def test_a_hook_that_cannot_read_a_quote_names_the_file() -> None:
    def attest(tdx: JsonObject, at: dt.datetime) -> list[JsonObject]:
        raise MalformedError("E_TDX_QUOTE", f"{len(tdx)} {at}", where="/quote_b64")

    with pytest.raises(MalformedError) as caught:
        read_log(log_folder(), attest=attest)
    assert caught.value.where == f"runs/{oracle()[0]['run_id']}/receipt.json/tdx/quote_b64"


# The table of the audit, by hand. A number is the place in time order.


def test_k3_k01_no_receipt_is_chained() -> None:
    assert found("K_CHAIN_NULL") == ALL
    assert not found("K_CHAIN_INDEX") | found("K_CHAIN_BROKEN")


def test_k3_k02_the_attested_verdict_is_another_but_once() -> None:
    assert {body["labels"]["enclave"] for body in bodies()} == {"REJECT"}
    assert found("K_VERDICT_ATTESTED") == ALL - {50}
    (fault,) = faults(7, "K_VERDICT_ATTESTED")
    assert "ledger 'S', index 'S', result 'S', receipt 'S', enclave 'REJECT', log 's'" in fault["message"]


def test_k3_k05_what_identifies_prompts_and_binary_is_empty() -> None:
    assert found("K_EVAL_SEED_EMPTY") == set(range(5, 36))
    assert found("K_BUILD_HASH_EMPTY") == {0, 1, 2, 3, 4}


def test_k3_k06_members_outside_the_seal() -> None:
    assert not found("K_RESULT_NOT_SEALED")
    assert found("K_UNSEALED_MEMBER", "/receipt_id") == set(range(2, 51))
    assert found("K_UNSEALED_MEMBER", "/kl_depths") == set(range(36, 51))
    assert found("K_UNSEALED_MEMBER") == set(range(2, 51))


def test_k3_k07_the_id_covers_a_part() -> None:
    assert found("K_ID_PARTIAL") == ALL
    assert not found("K_ID_UNEXPLAINED") | found("K_ID_COPIES")


def test_k3_k08_what_is_missing() -> None:
    assert found("K_MEMBER_MISSING", "result.json") == {1}
    assert found("K_MEMBER_MISSING", "eval.log") == {0, 1, 36}
    assert found("K_MEMBER_MISSING", "attestation.json") == ALL - {0}
    assert found("K_MEMBER_MISSING", "ledger") == {1}
    assert found("K_MEMBER_MISSING", "index") == {1}


def test_k3_k09_nothing_in_the_files_shows_that_lines_came_late() -> None:
    assert not found("K_APPENDED_LATE") | found("K_ROW_TWICE") | found("K_ROW_COPIES") | found("K_ROW_DIFFERS")


def test_k3_k10_superseded_by_an_earlier_run_of_another_commit() -> None:
    assert found("K_SUPERSEDED_BACKWARDS") == {20}
    assert found("K_SUPERSEDED_COMMIT") == {20}
    assert not found("K_SUPERSEDED_UNKNOWN")
    assert faults(20, "K_SUPERSEDED_BACKWARDS")[0]["record"] == oracle()[18]["run_id"]


def test_k3_k11_one_commit_two_speeds() -> None:
    assert found("K_SAME_COMMIT_SPREAD") == {7, 15}
    assert found("K_SAME_COMMIT_BUILD") == {7, 15}
    assert found("K_SAME_COMMIT_LABEL") == {2, 3, 7, 15}
    (fault,) = faults(7, "K_SAME_COMMIT_SPREAD")
    assert "9.99 and at 15.72, 57.4 %" in fault["message"]
    assert fault["record"] == oracle()[15]["run_id"]


def test_k3_k12_the_first_run_is_of_another_commit_and_model() -> None:
    assert found("K_COMMIT_DIFFERS") == {0}
    assert found("K_REFERENCE_DIFFERS") == {0}
    assert found("K_NODE_UNKNOWN") == {0}
    assert {fault["where"].rpartition("/")[2] for fault in faults(0, "K_REFERENCE_DIFFERS")} == {
        "model_file",
        "model_sha256",
    }


def test_k3_k13_scored_by_another_harness_than_the_rest_of_the_session() -> None:
    assert found("K_SCORER_DIFFERS") == {6, 15}  # number 1 has no log that tells its session


def test_k3_k14_the_text_log_has_another_label_once() -> None:
    assert found("K_VERDICT_LOG") == {9}
    assert not found("K_VERDICT_COPIES")
    assert bodies()[9]["labels"] == {
        "ledger": "XS",
        "index": "XS",
        "result": "XS",
        "receipt": "XS",
        "enclave": "REJECT",
        "log": "none",
    }


def test_k3_k16_duration_and_rate_are_rounded_apart() -> None:
    assert found("K_DURATION_ROUNDED") == {19, 37, 39, 40, 41, 46}
    assert not found("K_DURATION_MISMATCH") | found("K_DERIVED_MISMATCH") | found("K_FIGURE_COPIES")


def test_k3_k17_divergences_of_four_decimals() -> None:
    assert found("K_KL_ROUNDED") == set(range(36))


def test_k3_k18_no_raw_repetition() -> None:
    assert found("K_REPS_ABSENT") == ALL
    assert found("K_SPEEDS_NULL") == ALL
    assert found("K_CUDA_VERSION_EMPTY") == ALL


def test_k3_k19_a_frontier_that_nothing_shows() -> None:
    assert found("K_FRONTIER_UNSEEN") == {1, 2, 36}


def test_k3_k20_the_frontier_used_is_not_the_one_measured() -> None:
    assert found("K_FRONTIER_DIFFERS") == {4, 17, 37, 38, 47, 48}
    pairs = {
        at: (bodies()[at]["frontier"]["value"], bodies()[at]["main"]["value"]) for at in found("K_FRONTIER_DIFFERS")
    }
    assert pairs == {
        4: ("1.0", "1.01"),
        17: ("18.88", "18.9"),
        37: ("40.02", "40.03"),
        38: ("40.02", "40.03"),
        47: ("46.48", "46.11"),
        48: ("53.02", "53.13"),
    }


def test_k3_k22_overrides_that_no_receipt_tells() -> None:
    assert found("K_OVERRIDE_UNSEALED") == {17, 47}
    assert "KIMI_K3_MARGIN_TOKENS=512" in faults(17, "K_OVERRIDE_UNSEALED")[0]["message"]
    assert "KIMI_K3_MAX_OVER_LLAMA=5.0" in faults(47, "K_OVERRIDE_UNSEALED")[0]["message"]


def test_k3_k23_the_environment_changes() -> None:
    assert found("K_ENVIRONMENT_CHANGED", "driver_version") == {36}
    assert found("K_ENVIRONMENT_CHANGED", "model_fingerprint") == {17, 36, 49}
    assert found("K_ENVIRONMENT_CHANGED") == {17, 36, 49}


def test_k3_k24_clocks_are_not_pinned() -> None:
    assert found("K_CLOCKS_NOT_PINNED") == ALL
    assert found("K_CLOCK_ZERO") == {0}
    assert found("K_SENTINEL") == {0}  # its frontier is 0.0


def test_k3_k25_the_method_is_not_told_or_not_true() -> None:
    assert found("K_SPEED_SOURCE_ABSENT") == {0, 1, 2, 3, 4}
    assert found("K_SPEED_SOURCE_UNTRUE") == {5, 6, 7, 8, 9, 48, 49, 50}
    assert not found("K_SPEED_SOURCE_UNKNOWN")


def test_k3_k27_eleven_builds_of_one_accuracy() -> None:
    assert found("K_PARITY_REPEATED") == {37, 39, 40, 41, 42, 43, 45, 46, 47, 48, 49}


def test_k3_k28_one_figure_of_two_commits() -> None:
    assert found("K_FIGURE_REPEATED") == {37, 40}


def test_k3_k32_the_commit_of_the_reference_is_empty_in_every_result_that_has_it() -> None:
    assert found("K_LLAMA_COMMIT_EMPTY") == ALL - {0}


def test_no_context_is_named_by_the_first_four() -> None:
    assert found("K_CONTEXT_INFERRED") == {0, 1, 2, 3}
    assert not found("K_CONTEXT_COPIES")
