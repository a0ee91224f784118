"""What was really run: faults of data that people reported, by their number in the collection."""

# ruff: noqa: N802 - the names of cases have capitals

from __future__ import annotations

import pytest

from ledger.flags import QUARANTINE
from ledger.ingest.checks import examine_round
from tests.support.examined import S, body_of, codes, examine, fact_of, refusal, rep, slot, stream
from tests.support.rounds import sha256_hex

DEEP = 131_072
AA, BB = sha256_hex("aa"), sha256_hex("bb")


def test_C11_a_prompt_that_a_cache_knew_was_not_read() -> None:
    records = stream(
        (2, 820, 840), (2, 40, 60), prompt_tokens=[8192] * 2, cached_tokens=[0, 8176], prompt_sha256=[AA, AA]
    )
    body = body_of(rep(records, context=8192))
    cache, again = examine(body)
    assert cache.startswith("F_PREFIX_CACHE: a cache supplied tokens of 1 of 2 prompts, in record 1 all but 16 of 8192")
    assert "it was read at 400 tok/s, not at 204800 (at /reps/0/records/cached_tokens/1)" in cache
    assert again.startswith("F_REPEATED_PROMPT: 1 of 2 prompts had come before in the same repetition (at ")


def test_C11_other_prompts_without_a_cache_are_not_flagged() -> None:
    records = stream(
        (2, 820, 840), (2, 40, 60), (2, 1, 2),
        prompt_tokens=[8192] * 3, cached_tokens=[0, None, 0], prompt_sha256=[AA, BB, None],
    )  # fmt: skip
    body = body_of(rep(records, context=8192), rep(records | {"e2e_ns": [9 * S] * 3}, context=8192))
    assert examine(body) == []


@pytest.mark.parametrize(
    ("context", "total", "code"),
    [
        (1024, 152_612, "E_CONTEXT_MISMATCH"),
        (509, 152_612, ""),
        (1024, 1107 * 300, "E_CONTEXT_MISMATCH"),
        (1024, 1045 * 300, "E_CONTEXT_MISMATCH"),
        (1024, 1044 * 300, ""),
        (1024, 1004 * 300, ""),
        (1024, 1003 * 300, "E_CONTEXT_MISMATCH"),
        (0, 300, "E_CONTEXT_MISMATCH"),
    ],
)
def test_C12_the_context_is_that_of_the_prompts(context: int, total: int, code: str) -> None:
    records = {"prompt_tokens": [total], "completion_tokens": [300], "wall_ns": [S]}
    body = body_of(rep(records, "output_tok_s", context=context), printed={"completed": 300})
    if not code:
        assert examine(body) == []
        return
    assert refusal(body)[:2] == (code, "/reps/0/context")
    each = [total // 300 + (at < total % 300) for at in range(300)]
    requests = stream(*[(2, at + 1, 1000) for at in range(300)], prompt_tokens=each)
    assert refusal(body_of(rep(requests, context=context)))[:2] == (code, "/reps/0/context")


@pytest.mark.parametrize(
    ("tokens", "context", "refused"),
    [
        ([25, 26], 25, False),  # exactly 2 %
        ([25, 26, 26], 25, True),
        ([102, 102, 103], 100, True),  # 2.33 %, which rounds to 102
        ([12, 12, 13], 12, False),  # 2.8 %, and 12 is what it is sealed at
    ],
)
def test_C12_two_percent_are_two_percent_but_for_a_context_that_is_the_rounded_mean(
    tokens: list[int], context: int, refused: bool
) -> None:
    body = body_of(rep(stream(*[(9, 60, 140)] * len(tokens), prompt_tokens=tokens), context=context))
    if refused:
        assert refusal(body)[0] == "E_CONTEXT_MISMATCH"
    else:
        examine(body)


def test_C12_the_message_says_how_far_off_it_is() -> None:
    records = {"prompt_tokens": [152_612], "completion_tokens": [300], "wall_ns": [S]}
    body = body_of(rep(records, "output_tok_s", context=1024), printed={"completed": 300})
    message = "the context is given as 1024, prompts had 508.7 tokens on average, -50.3 % off"
    assert refusal(body)[2] == message


def test_C13_a_depth_that_the_engine_did_not_reach_is_refused() -> None:
    seek = rep({"completion_tokens": [64], "wall_ns": [S]}, "gen_tok_s", context=DEEP, workload={"depth": DEEP})
    body = body_of(seek, printed={"kv_len_start": 64, "kv_len_end": 128})
    code, where, message = refusal(body)
    assert (code, where) == ("E_DEPTH_NOT_REACHED", "/reported/0/values/kv_len_start")
    assert message.startswith(f"the context is given as {DEEP}, the engine had 64 tokens")
    assert examine(body_of(seek, printed={"kv_len_start": DEEP})) == []
    (note,) = examine(body_of(seek))
    assert note == "F_DEPTH_UNPROVEN: nothing shows that the context was filled (at /reps/0)"


def test_C13_a_round_that_only_names_a_tool_does_not_fill_its_context() -> None:
    deep = rep({"completion_tokens": [64], "wall_ns": [S]}, "gen_tok_s", context=DEEP, workload={"depth": DEEP})
    by_hand = body_of(deep, protocol={"name": "llama-bench"})
    assert codes(examine(by_hand, built_by="")) == ["F_DEPTH_UNPROVEN", "F_N1"]
    assert codes(examine_round(by_hand, built_by="llama-bench")) == ["F_DEPTH_DECLARED"]
    renamed = body_of(deep, protocol={"name": "single"})
    assert codes(examine_round(renamed, built_by="llama-bench")) == ["F_DEPTH_DECLARED"]
    assert codes(examine_round(by_hand, built_by="vllm-serve")) == ["F_DEPTH_UNPROVEN"]
    assert "F_DEPTH_UNPROVEN" in QUARANTINE


def test_C30_a_label_that_the_weights_contradict_is_refused() -> None:
    weights = {"sha256": AA, "name": "tiny-llama-Q4_K_M.gguf", "size": 13_465_600, "params": 6_728_192}
    one = rep({"completion_tokens": [64], "wall_ns": [S]}, "gen_tok_s")
    body = body_of(one, weights=weights, slot=slot(quant="Q4_K_M", metric="gen_tok_s"))
    code, where, message = refusal(body)
    assert (code, where) == ("E_QUANT_MISMATCH", "/weights")
    assert message.endswith("these weights have 16.01")
    assert examine(body_of(one, weights=weights, slot=slot(quant="F16", metric="gen_tok_s"))) == []


@pytest.mark.parametrize(
    ("quant", "billions", "gigabytes", "fits"),
    [
        ("Q4_K_M", "8.03", "4.92", True),
        ("Q4_K_M", "8.03", "4.40", True),
        ("Q4_K_M", "8.03", "4.37", False),
        ("Q4_K_M", "8.03", "5.55", True),
        ("Q4_K_M", "8.03", "5.58", False),
        ("Q4_K_M", "0.494", "0.398", True),
        ("Q4_K_M", "0.494", "0.531", False),
        ("IQ1_S", "8.03", "2.02", True),
        ("UD-IQ1_S", "1026", "281", True),
        ("UD-IQ1_S", "1026", "420", False),
        ("q8_0", "8.03", "8.54", True),
        ("Q8_0", "8.03", "16.07", False),
        ("BF16", "8.03", "16.07", True),
        ("F16", "8.03", "32.1", False),
        ("turbo4", "8.03", "32.1", True),
    ],
)
def test_C30_labels_have_room_for_what_files_really_hold(
    quant: str, billions: str, gigabytes: str, *, fits: bool
) -> None:
    params, size = (round(float(number) * 10**9) for number in (billions, gigabytes))
    one = rep({"completion_tokens": [64], "wall_ns": [S]}, "gen_tok_s")
    weights = {"sha256": AA, "size": size, "params": params}
    body = body_of(one, weights=weights, slot=slot(quant=quant, metric="gen_tok_s"))
    if fits:
        assert examine(body) == []
    else:
        assert refusal(body)[0] == "E_QUANT_MISMATCH"
    del body["weights"]["params"]
    assert codes(examine(body)) == []


def test_C30_the_rate_is_still_what_was_measured() -> None:
    body = body_of(rep({"completion_tokens": [64], "wall_ns": [S]}, "gen_tok_s"))
    assert fact_of(body, "gen_tok_s").median == 64
