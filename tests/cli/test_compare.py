"""``rungbook compare``: the two rules through the command line, and everything that it refuses to call resolved."""

# ruff: noqa: N802 - the names of traps and faults have capitals

from __future__ import annotations

import hashlib
import json
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.program import OK, REFUSED, REFUTED, UNAVAILABLE, USAGE, Result, run
from tests.cli.samples import CODE, RUNS, make_rep, make_round, write_round
from tests.support.compare import agree, start
from tests.support.outside import outside, outside_json

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.cli.conftest import Desk

BASE = [RUNS / f"round1_{number}a_main.json" for number in range(1, 6)]
OTHER = [RUNS / f"round1_{number}b_candidate.json" for number in range(1, 6)]
NOISE = [word for path in sorted(RUNS.glob("noise_*.jsonl")) for word in ("--noise", path)]
FIELDS = ("delta_pct", "noise_pct", "disjoint", "resolved", "worse", "verdict")


def synthetic(*parts: str) -> Path:
    return outside("tandem", "synthetic", *parts)


def compare(base: Sequence[Path | str], other: Sequence[Path | str], *options: Path | str) -> Result:
    return run("compare", *base, "--", *other, *options)


def figure(text: str | None) -> Fraction | None:
    return None if text is None else Fraction(text)


# The foreign rule, word for word.


@pytest.mark.parametrize("mode", ["noworse", "adopt", "block", "tokens"])
def test_two_reports_give_every_expected_field_and_the_gates_own_status(mode: str) -> None:
    expected = outside_json("tandem", "synthetic", "expected_compare_base_vs_cand.json")
    sides = [synthetic("row3_base.json")], [synthetic("row3_cand.json")]
    done = compare(*sides, "--rule", "row3-v1", "--mode", mode, "--json")
    document = done.document("compare")
    assert {item["name"] for item in document["statistics"]} == expected["verdicts"].keys()
    for item in document["statistics"]:
        for name, value in expected["verdicts"][item["name"]].items():
            found = figure(item[f"{name}_exact"]) if name.endswith("_pct") else item[name]
            assert agree(found, value) if isinstance(found, Fraction) else found == value, (item["name"], name)
    assert document["foreign_status"] == expected["gate_rc"][mode]
    assert (document["rule"], document["mode"]) == ("row3-v1", mode)
    assert done.status == {0: OK, 1: REFUTED, 2: UNAVAILABLE}[expected["gate_rc"][mode]]


def test_the_table_ends_with_the_outcome_and_what_to_do() -> None:
    done = compare([synthetic("row3_base.json")], [synthetic("row3_cand.json")], "--rule", "row3-v1")
    assert (done.status, done.err) == (OK, "")
    base, other, head, *rows = done.out.splitlines()
    assert base.endswith("row3_base.json: 3 runs, code 68828f0b413235f5")
    assert other.endswith("row3_cand.json: 3 runs, code 07e9c2c8c95e8c2f")
    assert head.split() == ["stat", "base", "other", "delta", "%", "noise", "%", "disjoint", "verdict"]
    assert rows[3].split() == ["max", "51.980", "53.943", "+3.776", "3.295", "yes", "RESOLVED", "better"]
    assert rows[-1] == "PASS  nothing resolved worse; next: append the runs as a round, if they are to count"
    assert any(row.startswith("note: F_PROMPT_DRIFT: 35 prompts of row3_base.json, row 1 have") for row in rows)
    assert any(row.startswith("note: F_ORDER_UNKNOWN:") for row in rows)


def test_a_side_that_is_worse_is_status_3() -> None:
    sides = [synthetic("row3_cand.json")], [synthetic("row3_base.json")]
    done = compare(*sides, "--rule", "row3-v1")
    assert done.status == REFUTED
    last = done.out.splitlines()[-1]
    assert last.startswith("FAIL  resolved worse: max, ms_blk; next: do not adopt it")


def test_T10_one_run_a_side_is_shown_and_never_called_resolved() -> None:
    sides = [synthetic("base", "raw-1", "run.json")], [synthetic("cand", "raw-1", "run.json")]
    done = compare(*sides, "--rule", "row3-v1", "--json")
    document = done.document("compare")
    assert done.status == UNAVAILABLE
    assert (document["outcome"], document["code"]) == ("UNRESOLVED", "E_TOO_FEW_RUNS")
    assert sum(item["resolved"] for item in document["statistics"]) == 5  # as the foreign rule has it
    assert document["foreign_status"] == 0
    assert compare(*sides).status == UNAVAILABLE


def test_T42_the_two_real_records_differ_in_what_must_be_equal() -> None:
    sides = [outside("tandem", "real_runrecord_A.json")], [outside("tandem", "real_runrecord_B.json")]
    for rule in ("row3-v1", "paired-v1"):
        done = compare(*sides, "--rule", rule)
        assert (done.status, done.code(), done.out) == (REFUSED, "E_NOT_COMPARABLE", "")
        assert "args.max-seq-len is '2048' in real_runrecord_A.json and '32768' in real_runrecord_B.json" in done.err


@pytest.mark.parametrize(
    ("member", "value", "axis"),
    [
        ("suffix_store", "clean", "suffix_store"),  # T08
        ("restart_each", True, "restart_each"),  # T12
        ("spec", "packets/other.json", "spec"),
        ("args/max_len", 4096, "args.max_len"),  # T42
        ("args/tokenizer", "another", "args.tokenizer"),
        ("suffix_store", None, "suffix_store"),  # an older report does not say it
    ],
)
def test_T08_T12_T42_reports_of_other_conditions(tmp_path: Path, member: str, value: object, axis: str) -> None:
    report = outside_json("tandem", "synthetic", "row3_cand.json")
    target = report
    *parents, name = member.split("/")
    for parent in parents:
        target = target[parent]
    if value is None:
        del target[name]
    else:
        target[name] = value
    (tmp_path / "synthetic").symlink_to(synthetic())
    path = tmp_path / "changed.json"
    path.write_text(json.dumps(report))
    done = compare([synthetic("row3_base.json")], [path], "--rule", "row3-v1")
    assert (done.status, done.code()) == (REFUSED, "E_NOT_COMPARABLE")
    assert f"E_NOT_COMPARABLE: {axis} is " in done.err


def test_T02_a_report_whose_runs_are_one(tmp_path: Path) -> None:
    done = compare([synthetic("trap_identical_runs.json")], [synthetic("row3_cand.json")], "--rule", "row3-v1")
    assert (done.status, done.code()) == (REFUSED, "E_COPIED_SAMPLES")
    copied = tmp_path / "renamed.json"
    copied.write_bytes(synthetic("base", "raw-1", "run.json").read_bytes())
    done = compare([synthetic("base", "raw-1", "run.json")], [copied])
    assert (done.status, done.code()) == (REFUSED, "E_SELF_COMPARE")


def test_C40_a_file_is_not_compared_with_itself() -> None:
    for sides in (([BASE[0]], [BASE[0]]), (BASE, BASE[1:])):
        done = compare(*sides)
        assert (done.status, done.code()) == (REFUSED, "E_SELF_COMPARE")


def test_T09_T01_reports_one_after_the_other_are_no_pairs() -> None:
    done = compare([synthetic("row3_base.json")], [synthetic("row3_cand.json")])
    assert (done.status, done.code()) == (REFUSED, "E_PROMPT_DRIFT")


# The own rule, on own measurements.


def test_a_real_gain_is_resolved_beside_real_noise() -> None:
    done = compare(BASE, OTHER, *NOISE, "--json")
    assert (done.status, done.err) == (OK, "")
    document = done.document("compare")
    assert (document["outcome"], document["rule"], document["mode"]) == ("PASS", "paired-v1", None)
    assert document["changed"] == ["n_ubatch"]
    found = {item["metric"]: item for item in document["pairs"]}
    assert {name: item["verdict"] for name, item in found.items()} == {
        "prefill_tok_s": "BETTER",
        "gen_tok_s": "UNRESOLVED",
    }
    gain = found["prefill_tok_s"]
    assert Fraction(gain["p_exact"]) == Fraction(2, 252 * 32)  # five pairs, all the farthest, beside five A/A pairs
    assert (gain["level"], len(gain["pairs"]), len(gain["turned"]), len(gain["nulls"])) == ("1/40", 5, 4, 5)
    assert [reason["code"] for reason in found["gen_tok_s"]["reasons"]] == ["E_NOT_SIGNIFICANT", "E_WITHIN_NOISE"]


def test_the_same_the_other_way_round_is_worse() -> None:
    done = compare(OTHER, BASE, *NOISE, "--metric", "prefill_tok_s")
    assert done.status == REFUTED
    assert "FAIL  resolved worse: prefill_tok_s; next:" in done.out
    assert "gen_tok_s" not in done.out
    assert compare(OTHER, BASE, "--metric", "ttft").code() == "E_UNPAIRED"


def test_without_noise_nobody_can_tell() -> None:
    done = compare(BASE, OTHER)
    assert (done.status, done.err) == (UNAVAILABLE, "")
    assert "not resolved, prefill_tok_s, gen_tok_s: E_NOISE_UNKNOWN: 0 A/A pair(s) known, 3 are needed" in done.out
    assert "level: 5 % for any false verdict in this comparison, 2.5 % for each; p is exact and two-sided" in done.out
    last = done.out.splitlines()[-1]
    assert last.startswith("UNRESOLVED  E_NOISE_UNKNOWN: ")
    assert last.endswith("next: measure one build against itself in turn, and give that with --noise")


def test_T10_one_run_a_side_is_unresolved() -> None:
    document = compare(BASE[:1], OTHER[:1], *NOISE, "--json").document("compare")
    assert (document["outcome"], document["code"]) == ("UNRESOLVED", "E_TOO_FEW_RUNS")
    assert document["next_step"].startswith("measure at least three runs a side")


def test_C39_a_test_that_one_side_lacks(tmp_path: Path) -> None:
    rows = json.loads(OTHER[0].read_text())
    half = tmp_path / "half.json"
    half.write_text(json.dumps(rows[:1]))
    done = compare(BASE[:1], [half])
    assert (done.status, done.code()) == (REFUSED, "E_UNPAIRED")
    half.write_text(json.dumps([rows[0] | {"n_prompt": 64}]))
    assert compare([half], BASE[:1]).code() == "E_NO_PAIRS"


def test_noise_is_no_part_of_what_it_is_held_against() -> None:
    words = [word for path in BASE for word in ("--noise", path)]
    assert compare(BASE, OTHER, *words).code() == "E_COPIED_SAMPLES"


# Rounds and receipts.


def alternated(prefix: str, base_ns: Sequence[int], other_ns: Sequence[int], **members: Any) -> dict[str, Any]:  # noqa: ANN401 - members of a round have any type
    """A round of two arms in turn, whose samples take these times."""
    reps = []
    for place, values in enumerate(zip(base_ns, other_ns, strict=True)):
        for arm, value, order in (("main", values[0], 2 * place), ("candidate", values[1], 2 * place + 1)):
            records = {"wall_ns": [value, value + 1, value + 2 * len(prefix)], "prompt_tokens": [512] * 3}
            reps.append(make_rep(order, arm, started_at=start(order), wall_ns=4 * value, records=records))
    return make_round(0, id=prefix, reps=reps) | members


def write(folder: Path, body: dict[str, Any]) -> Path:
    path = folder / f"{body['id']}.json"
    path.write_text(json.dumps(body))
    return path


def noise_round(**members: Any) -> dict[str, Any]:  # noqa: ANN401 - members of a round have any type
    arms = [{"role": role, "code_sha256": CODE["main"]} for role in ("main", "candidate")]
    times = ([100_000, 100_100, 100_200], [100_010, 100_130, 100_150])
    return alternated("noise", *times, purpose="noise", arms=arms) | members


def test_the_arms_of_a_round_beside_a_round_of_noise(tmp_path: Path) -> None:
    path = write(tmp_path, alternated("gain", [100_000, 100_300, 100_600], [90_000, 90_300, 90_600]))
    noise = write(tmp_path, noise_round())
    done = compare([f"{path}@main"], [f"{path}@candidate"], "--noise", noise)
    assert (done.status, done.err) == (OK, "")
    assert done.out.splitlines()[-1].startswith("PASS  resolved better: prefill_tok_s; next: ")
    turned = compare([f"{path}@candidate"], [f"{path}@main"], "--noise", noise)
    assert turned.status == REFUTED


def test_receipts_and_the_noise_of_their_ledger(desk: Desk, tmp_path: Path) -> None:
    key = ("--key", desk.key("scorer"))
    desk.run("append", write(tmp_path, alternated("gain", [100_000, 100_300, 100_600], [90_000, 90_300, 90_600])), *key)
    receipt = max(desk.root.glob("receipts/000/000/*.json"))
    words = (f"{receipt}@main", "--", f"{receipt}@candidate", "-C", desk.root)
    assert "E_NOISE_UNKNOWN" in desk.run("compare", *words, status=UNAVAILABLE).out
    desk.run("append", write(tmp_path, noise_round()), *key)
    elsewhere = noise_round(id="elsewhere", environment={"cpu": "two"})
    for rep in elsewhere["reps"]:
        rep["records"]["wall_ns"] = [2 * value for value in rep["records"]["wall_ns"]]
        rep["wall_ns"] *= 2
    desk.run("append", write(tmp_path, elsewhere), *key)
    done = desk.run("compare", *words, "--json")
    (found,) = done.document("compare")["pairs"]
    assert (found["verdict"], len(found["nulls"])) == ("BETTER", 3)  # of the same node alone
    review = ("ruling", "review", str(desk.size - 2), "--reason", "a tenant", "--key", desk.key("root"), "--outcome")
    desk.run(*review, "rejected")
    assert "E_NOISE_UNKNOWN" in desk.run("compare", *words, status=UNAVAILABLE).out
    desk.run("ruling", "review", str(desk.size - 3), *review[3:], "accepted")
    assert "BETTER" in desk.run("compare", *words, "--json").out
    desk.run("ruling", "void", str(desk.size - 4), "--reason", "a tenant", "--key", desk.key("root"))
    assert "E_NOISE_UNKNOWN" in desk.run("compare", *words, status=UNAVAILABLE).out
    no_round = desk.run("compare", desk.receipt(0), "--", desk.receipt(1), status=REFUSED)
    assert no_round.code() == "E_KIND"


def test_a_round_is_read_arm_by_arm(tmp_path: Path) -> None:
    path = write_round(tmp_path)
    for done in (compare([path], [path]), compare([f"{path}@main"], [f"{path}@reference"])):
        assert (done.status, done.code()) == (REFUSED, "E_ARM")
    no_noise = compare([f"{path}@main"], [f"{path}@candidate"], "--noise", path)
    for done in (no_noise, compare(BASE[:1], OTHER[:1], "-C", tmp_path)):
        assert (done.status, done.code()) == (REFUSED, "E_NOISE")


def test_a_round_that_is_none_is_named_with_its_place(tmp_path: Path) -> None:
    path = write(tmp_path, alternated("bad", [100_000], [90_000]) | {"purpose": "hope"})
    done = compare([f"{path}@main"], [f"{path}@candidate"])
    assert (done.status, done.code()) == (REFUSED, "E_SCHEMA")
    assert f"(at {path} /purpose)" in done.err
    twice = alternated("twice", [100_000], [90_000])
    twice["reps"][1]["order"] = 0
    assert compare([f"{write(tmp_path, twice)}@main"], [path]).code() == "E_ORDER"


def test_parts_of_one_side_are_of_one_build(tmp_path: Path) -> None:
    one = write(tmp_path, alternated("one", [100_000], [90_000]))
    two = write(tmp_path, alternated("two", [101_000], [91_000]))
    done = compare([f"{one}@main", f"{two}@main"], [f"{one}@candidate", f"{two}@candidate"], "--json")
    assert [len(side["runs"]) for side in done.document("compare")["sides"]] == [2, 2]
    assert compare([f"{one}@main", f"{two}@candidate"], [f"{one}@candidate"]).code() == "E_MIXED"
    changed = alternated("three", [102_000], [92_000])
    changed["arms"][0]["settings"] = {"flag": "1"}
    three = write(tmp_path, changed)
    done = compare([f"{one}@main", f"{three}@main"], [f"{one}@candidate"])
    assert "differ in flag" in done.err


# Block A/B.


def test_a_session_of_blocks_is_judged_again() -> None:
    path = synthetic("block_ab.json")
    expected = outside_json("tandem", "golden_expected.json")["block_ab"]["minus2.4ms"]
    done = run("compare", path, "--mode", "block", "--json")
    assert done.status == OK
    document = done.document("compare")
    found = {item["workload"]: item for item in document["statistics"] if item["name"] == "ms_blk"}
    assert found.keys() == expected.keys()
    for workload, verdict in expected.items():
        for name in FIELDS:
            value = figure(found[workload][f"{name}_exact"]) if name.endswith("_pct") else found[workload][name]
            assert agree(value, verdict[name]) if isinstance(value, Fraction) else value == verdict[name]
    assert (document["rule"], document["foreign_status"], document["tokens"]) == ("block-ab-v1", 0, [])
    plain = run("compare", path, "--mode", "block")
    assert plain.out.splitlines()[-1].startswith("PASS  the same tokens, and no block is resolvedly slower; next: ")


def test_T17_other_tokens_in_a_session_of_blocks(tmp_path: Path) -> None:
    body = outside_json("tandem", "synthetic", "block_ab.json")
    changed = body["runs"][-1]
    changed["out"][7] += 1
    changed["sha"] = hashlib.sha256(json.dumps(changed["out"]).encode()).hexdigest()
    path = tmp_path / "changed.json"
    path.write_text(json.dumps(body))
    done = run("compare", path, "--mode", "block")
    assert done.status == REFUTED
    assert "tokens differ on code: cand, pair 2, from place 7 on" in done.out
    body["runs"], body["states"] = [item for item in body["runs"] if item["state"] == "base"], ["base"]
    path.write_text(json.dumps(body))
    assert run("compare", path, "--mode", "block").code() == "E_NO_PAIRS"


def test_a_forced_bench_is_shown_by_rates_and_judged_by_repeats(tmp_path: Path) -> None:
    path = synthetic("forced_bench.json")
    done = run("compare", path, "--mode", "block")
    assert done.status == OK
    lines = done.out.splitlines()
    assert lines[4].split() == ["base", "overall", "41.766"]
    assert lines[1].split() == ["base", "prose", "41.891", "0.207", "3"]
    assert lines[-2].split()[:2] == ["wide", "overall"]
    assert lines[-1].startswith("PASS  no rate is resolvedly slower at equal text; next: ")
    document = run("compare", path, "--json").document("compare")
    assert (document["rule"], document["mode"], len(document["rates"])) == ("forced-v1", "noworse", 6)
    assert [item["workload"] for item in document["statistics"]] == ["prose", "short", "copy_1k", "overall"]
    body = json.loads(path.read_text())
    for name, status, said in (("base", REFUSED, "E_NO_PAIRS"), ("wide", REFUSED, "E_NO_PAIRS")):
        alone = tmp_path / "alone.json"
        rows = [item for item in body["rows"] if item["config"] == name]
        alone.write_text(json.dumps(body | {"rows": rows}))
        assert (run("compare", alone).status, run("compare", alone).code()) == (status, said)
    slower = tmp_path / "slower.json"
    slower.write_text(json.dumps(body | {"rows": body["rows"][1::2] + body["rows"][::2]}))
    assert run("compare", slower).out.splitlines()[-1].startswith("FAIL  resolved slower: base on prose, base on short")
    twice = tmp_path / "twice.json"
    twice.write_text(json.dumps(body | {"rows": [item for item in body["rows"] if item["repeat"] < 2]}))
    assert (
        run("compare", twice).out.splitlines()[-1].startswith("UNRESOLVED  E_TOO_FEW_RUNS: 2 repeat(s), 3 are needed")
    )
    bare = [{name: value for name, value in item.items() if name != "repeat"} for item in body["rows"][:2]]
    twice.write_text(json.dumps(body | {"rows": bare}))
    assert run("compare", twice).code() == "E_FIELD"


# Checks that take no time.


def test_T50_checks_of_two_builds(tmp_path: Path) -> None:
    base = synthetic("client_smoke.json")
    other = tmp_path / "other.json"
    body = json.loads(base.read_text())
    other.write_text(json.dumps(body))
    done = compare([base], [other])
    assert done.status == UNAVAILABLE
    assert "UNRESOLVED  E_SKIPPED: 1 checks were skipped and recorded as passes" in done.out
    body["results"][1]["check"] = "opencode: captured body replayed"
    other.write_text(json.dumps(body))
    assert compare([base], [other]).out.startswith("PASS  all 2 checks passed; next: ")
    body["results"][0]["pass"] = False
    other.write_text(json.dumps(body))
    document = compare([base], [other], "--json").document("compare")
    assert (document["rule"], document["outcome"]) == ("client-smoke-v1", "FAIL")
    assert [item["message"] for item in document["findings"]] == ["failed"]


def test_T50_texts_of_two_builds(tmp_path: Path) -> None:
    base = synthetic("api_text.json")
    other = tmp_path / "other.json"
    body = json.loads(base.read_text()) | {"code": "1" * 16}
    other.write_text(json.dumps(body))
    done = compare([base], [other], "--json")
    assert done.status == OK
    assert done.document("compare")["rule"] == "api-text-v1"
    body["passes"][1]["tools"]["text"] = "hallo"
    other.write_text(json.dumps(body))
    done = compare([base], [other])
    assert (done.status, done.out.splitlines()[0]) == (REFUTED, f"{other}: tools: text of pass 2")


def test_checks_are_compared_with_checks_of_one_base(tmp_path: Path) -> None:
    smoke, text = synthetic("client_smoke.json"), synthetic("api_text.json")
    changed = [tmp_path / name for name in ("a.json", "b.json")]
    for path in changed:
        path.write_text(smoke.read_text() + "\n")
    for words, code in (
        (([smoke], [smoke]), "E_SELF_COMPARE"),
        (([smoke], [text]), "E_MIXED"),
        (([smoke, changed[0]], [changed[1]]), "E_MIXED"),
        (([smoke], changed), "E_MIXED"),
        ((BASE[:1], [smoke]), "E_FORMAT"),
    ):
        done = compare(*words)
        assert (done.status, done.code()) == (REFUSED, code)


# Words.


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        ((BASE[0],), USAGE, "this file is no session that holds both sides"),
        ((BASE[0], OTHER[0]), USAGE, "the side to compare with is missing"),
        ((BASE[0], "--mode", "adopt"), USAGE, "the side to compare with is missing"),
        (("--", OTHER[0]), USAGE, "expected two sides"),
        ((BASE[0], "--"), USAGE, "expected two sides"),
        ((), USAGE, "Missing argument"),
        ((BASE[0], "--", OTHER[0], "--", BASE[1]), USAGE, "expected two sides"),
        ((BASE[0], "--", OTHER[0], "--rule", "hope"), REFUSED, "E_OPTION: there is no 'hope'; known: row3-v1"),
        ((BASE[0], "--", OTHER[0], "--mode", "hope"), REFUSED, "E_OPTION: there is no 'hope'; known: noworse"),
        ((BASE[0], "--", OTHER[0], "--mode", "adopt"), REFUSED, "E_OPTION: the mode adopt is one of row3-v1"),
        ((BASE[0], "--", OTHER[0], "--metric", "hope"), REFUSED, "E_OPTION: there is no metric 'hope'"),
        ((BASE[0], "--", OTHER[0], "--rule", "row3-v1", *NOISE[:2]), REFUSED, "E_OPTION: row3-v1 takes neither"),
        ((*BASE[:2], "--", *OTHER[:2], "--rule", "row3-v1"), REFUSED, "E_MIXED: the rule judges one test"),
        (("--rule", "paired-v1", BASE[0], "--", "none"), UNAVAILABLE, "E_IO"),
        ((BASE[0], "--", OTHER[0], "--from", "stopwatch"), REFUSED, "E_TOOL"),
    ],
)
def test_wrong_words(words: tuple[str | Path, ...], status: int, said: str) -> None:
    done = run("compare", *words)
    assert (done.status, done.out) == (status, "")
    assert said in done.err
