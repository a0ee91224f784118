"""A public log's ten rules and fifty-one figures, in our forms. The conversion is for tests only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.support.outside import outside_json
from tests.support.scoring import imported_body, plain, recorded_rule

if TYPE_CHECKING:
    from ledger.canonical import JsonObject
    from ledger.rule import Rule

METRICS = {"decode": "decode_tok_s", "prefill": "prefill_tok_s"}
FINAL_REFERENCE = {64: "18.321", 131072: "18.4435"}


def cases() -> list[JsonObject]:
    """The figures in time order, with the labels of every policy that was tried on them."""
    found: list[JsonObject] = outside_json("k3-scoring", "rescore_cases.json")
    return found


def published_rules() -> dict[str, JsonObject]:
    """The rules as they were extracted, by id."""
    return {rule["id"]: rule for rule in outside_json("k3-scoring", "rules.json")}


def convert(rule: JsonObject, **members: Any) -> Rule:  # noqa: ANN401 - members of any kind
    """A published rule in our schema; `members` replace its members."""
    body: JsonObject = {
        "name": f"k3-{rule['id'].lower()}",
        "slots": [{"metric": METRICS[rule["metric"]], "context": rule["scored_ctx"]}],
        "parity": {
            "top1_min": plain(rule["top1_min_inclusive"]),
            "kl_max": plain(rule["kl_max_inclusive"]),
            "kl_prefer": plain(rule["kl_prefer"]),
        },
        "significance": {"share": plain(rule["significance"]["min_exclusive"])},
        "cap": plain(rule["cap_x_gain"]),
        "bands": [{"tier": tier.lower(), "from": plain(edge)} for tier, edge in rule["buckets"]],
        "floor_tier": rule["floor_label_after_significance"].lower(),
    }
    if rule["anchor"] and rule["llama_ref"]:
        body["denominator"] = {"unattested": plain(rule["llama_ref"])}
    return recorded_rule(min_reps=1, **body | members)


def strict(rule: JsonObject) -> Rule:
    """A published rule with the depths and the guard that it had in force: for figures that hold both."""
    members: JsonObject = {}
    parity = convert(rule).body["parity"]
    if "parity" in rule:
        # A commit five hours after the first of them took the depth 8192 out; no figure lies between.
        members["parity"] = parity | {"depths": [4, 128, 256, 512, 1024, 2048, 4096]}
    if "guards" in rule:
        guard = {"metric": "decode_tok_s", "context": 131072, "tolerance": "0.01", "unattested_base": "56.8"}
        members["guards"] = [guard]
    return convert(rule, **members)


def decode_rules(cap: str, *, reference: str = "18.4435") -> list[Rule]:
    """One policy over both decode slots: each has its own denominator, as every reader of this log must keep them."""
    base = published_rules()["R6"]
    return [
        convert(
            base,
            name=f"decode-{context}",
            slots=[{"metric": "decode_tok_s", "context": context}],
            cap=cap,
            denominator={"unattested": FINAL_REFERENCE[context] if context == 64 else reference},
        )
        for context in FINAL_REFERENCE
    ]


def final_rules() -> list[Rule]:
    """The last rule of each slot."""
    return [*decode_rules("1"), convert(published_rules()["R9"])]


def case_body(case: JsonObject) -> JsonObject:
    """A figure as the importer would seal it, reduced to what scoring reads."""
    return imported_body(
        f"k3/{case['run_id']}",
        f"{case['tps']:.2f}",  # the harness printed two decimals; the file's JSON dropped the zeros
        f"{case['frontier']:.2f}",
        slot={
            "project": "sparkinfer-k3",
            "node": "h200x8",
            "quant": "UD-IQ1_S",
            "context": case["ctx"],
            "metric": METRICS[case["metric"]],
        },
        parity=[{"kl": plain(case["kl"]), "top1": plain(case["top1"])}],
    )
