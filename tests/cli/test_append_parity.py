"""``rungbook append --parity``: what an arm lost against the captured reference is sealed beside its speed."""

# ruff: noqa: N802 - the names of faults have capitals

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.program import OK, REFUSED, UNAVAILABLE, Result
from tests.cli.samples import REAL_ROUND, tool_words, write_round
from tests.support.kld import N_CTX, POSITIONS, kld_text
from tests.support.scoring import rule_body

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Desk

PAIR = REAL_ROUND[:2]
RULE = rule_body(parity={"top1_min": "0.9", "kl_max": "0.05"})
STDOUT_ONLY = kld_text(sizes=None)
EXCERPT = kld_text(sizes=None, table=None)


def put(desk: Desk, name: str, text: str) -> Path:
    path = desk.keys.parent / name
    path.write_text(text)
    return path


@pytest.fixture
def text(desk: Desk) -> Path:
    """What both streams of the program gave: it says all that is needed."""
    return put(desk, "kld.txt", kld_text())


def append(desk: Desk, *parity: str, arms: list[tuple[str, Path]] = PAIR, status: int = OK) -> Result:
    options = [word for each in parity for word in ("--parity", each)]
    return desk.run("append", *tool_words(*arms), *options, "--key", desk.key("scorer"), status=status)


def refusal(desk: Desk, *parity: str) -> tuple[str, str]:
    """Code, and all that is said."""
    done = append(desk, *parity, status=REFUSED)
    assert desk.size == 3
    return done.code(), done.err


def sealed(desk: Desk, index: int = 3) -> dict[str, Any]:
    body = json.loads(desk.receipt(index).read_bytes())["statement"]["predicate"]["round"]
    assert isinstance(body, dict)
    return body


def notes(done: Result) -> list[str]:
    """Codes of what deserves a look."""
    return [word.strip(":") for line in done.err.splitlines() for word in line.split() if word.startswith("F_")]


def label(desk: Desk, index: int) -> tuple[str, str | None]:
    """Label and gate of a rung."""
    rungs = desk.run("ladder", "--json").document("ladder")["rungs"]
    (rung,) = [item for item in rungs if item["index"] == index]
    return rung["verdict"]["label"], rung["verdict"]["code"]


# What is sealed.


def test_a_text_becomes_parity_of_its_arm_with_the_numbers_as_printed(desk: Desk, text: Path) -> None:
    done = append(desk, f"candidate={text},path=flash attention, kv=f16")
    body = sealed(desk)
    assert body["parity"] == [
        {
            "arm": "candidate",
            "depth": N_CTX,
            "trials": POSITIONS,
            "kl": "0.020000",
            "kl_max": "1.500000",
            "top1": "0.93725",
            "path": "flash attention, kv=f16",
            "attachment": "kld.txt",
        }
    ]
    raw = text.read_bytes()
    assert body["attachments"][2:] == [{"name": "kld.txt", "sha256": hashlib.sha256(raw).hexdigest(), "size": len(raw)}]
    assert body["reported"][-1]["source"] == {"attachment": "kld.txt", "row": 0}
    assert body["reported"][-1]["values"]["Mean PPL(base)"] == ["6.000000", "0.030000"]
    assert notes(done) == []
    desk.run("verify")


def test_it_is_shown(desk: Desk, text: Path) -> None:
    append(desk, f"candidate={text}")
    assert (
        "parity     candidate  depth 512  KL 0.020000  top-1 0.93725  of 2040" in desk.run("show", "3").out.splitlines()
    )
    shown = desk.run("show", "3", "--json").document("show")["receipt"]["statement"]["predicate"]["round"]
    assert shown["parity"] == sealed(desk)["parity"]


def test_C14_what_was_not_measured_is_not_shown_as_0(desk: Desk) -> None:
    path = write_round(desk.root, parity=[{"arm": "candidate", "depth": 128, "trials": 9, "kl": "0.001"}])
    desk.run("append", path, "--key", desk.key("scorer"))
    assert "parity     candidate  depth 128  KL 0.001  top-1 not measured  of 9" in desk.run("show", "3").out


def test_one_text_of_both_arms_is_attached_once(desk: Desk, text: Path) -> None:
    """The comparison is deterministic: equal parity is no copy."""
    done = append(desk, f"main={text}", f"candidate={text}")
    body = sealed(desk)
    assert [point["arm"] for point in body["parity"]] == ["main", "candidate"]
    assert [item["name"] for item in body["attachments"]] == [*(path.name for _, path in PAIR), "kld.txt"]
    assert [item["source"]["attachment"] for item in body["reported"]].count("kld.txt") == 1
    assert notes(done) == []


def test_the_same_again_is_the_same_round_and_other_parity_of_one_measurement_is_a_correction(
    desk: Desk, text: Path
) -> None:
    append(desk, f"candidate={text}")
    append(desk, f"candidate={text}")
    assert desk.size == 4
    assert append(desk, f"main={text}", status=REFUSED).code() == "E_COPIED_SAMPLES"
    desk.run("ruling", "void", "3", "--reason", "parity of the other arm", "--key", desk.key("root"))
    append(desk, f"main={text}")
    assert sealed(desk, 5)["parity"][0]["arm"] == "main"


def test_it_can_be_attested(desk: Desk, text: Path) -> None:
    words = ("--parity", f"candidate={text}", "--key", desk.key("scorer"))
    desk.run("attest", *tool_words(*PAIR), *words, "-o", "round.json")
    desk.run("seal", "round.json")
    assert sealed(desk)["parity"][0]["kl"] == "0.020000"


@pytest.mark.parametrize(
    ("printed", "given", "depth", "trials"),
    [
        (kld_text(table=None), "", N_CTX, POSITIONS),
        (kld_text(), f",trials={POSITIONS},depth={N_CTX}", N_CTX, POSITIONS),
        (STDOUT_ONLY, ",depth=512", 512, POSITIONS),
        (STDOUT_ONLY, ",depth=511", 511, 8 * 255),
        (EXCERPT, ",depth=4096,trials=2040", 4096, 2040),
    ],
)
def test_depth_and_trials_are_those_of_the_text_or_given(
    desk: Desk, printed: str, given: str, depth: int, trials: int
) -> None:
    append(desk, f"candidate={put(desk, 'kld.txt', printed)}{given}")
    (point,) = sealed(desk)["parity"]
    assert (point["depth"], point["trials"]) == (depth, trials)


# What a rule makes of it.


@pytest.fixture
def ruled(desk: Desk) -> Desk:
    """A ledger with a rule in force: four receipts."""
    desk.run("rule", "adopt", put(desk, "rule.json", json.dumps(RULE)), "--key", desk.key("root"))
    return desk


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"Mean KLD": "0.050000 ± 0.001000"}, ""),
        ({"Mean KLD": "0.050001 ± 0.001000"}, "E_PARITY"),
        ({"Same top p": "89.951 ± 0.666 %"}, "E_PARITY"),
    ],
    ids=["at the bar", "divergence over it", "share below it"],
)
def test_the_parity_gate_holds_it_against_the_bars(ruled: Desk, changes: dict[str, str | None], code: str) -> None:
    text = put(ruled, "kld.txt", kld_text(changes=changes, table=None))
    append(ruled, f"candidate={text}", arms=REAL_ROUND)
    found, gate = label(ruled, 4)
    assert (found == "REJECT", gate or "") == (bool(code), code)


def test_without_parity_of_the_candidate_the_round_is_not_resolved(ruled: Desk) -> None:
    text = put(ruled, "kld.txt", kld_text())
    append(ruled, f"main={text}", arms=REAL_ROUND)
    assert label(ruled, 4) == ("UNRESOLVED", "E_PARITY_MISSING")


def test_C33_one_broken_depth_decides_whatever_the_others_say(ruled: Desk) -> None:
    good = put(ruled, "deep.txt", kld_text(sizes="8 chunks, n_ctx=4096"))
    broken = {"Mean KLD": "2.673132 ± 0.010000", "Maximum KLD": "9.000000", "Same top p": "0.000 ± 0.000 %"}
    bad = put(ruled, "shallow.txt", kld_text(changes=broken, table=None, sizes="100 chunks, n_ctx=4"))
    append(ruled, f"candidate={good}", f"candidate={bad}", arms=REAL_ROUND)
    assert [point["depth"] for point in sealed(ruled, 4)["parity"]] == [4096, 4]
    assert label(ruled, 4) == ("REJECT", "E_PARITY")


# What deserves a look.


def test_arms_that_were_compared_with_different_references_are_flagged(desk: Desk, text: Path) -> None:
    changes = {
        "Mean PPL(base)": "6.000001 ± 0.030000",
        "Mean PPL(Q)-PPL(base)": "0.299999 ± 0.012000",
    }
    other = put(desk, "other.txt", kld_text(changes=changes))
    done = append(desk, f"main={text}", f"candidate={other}")
    assert notes(done) == ["F_REFERENCE"]
    assert "other.txt: F_REFERENCE: compared with a reference of perplexity 6.000001 at depth 512" in done.err
    assert "kld.txt with one of 6.000000" in done.err


def test_every_depth_has_a_reference_of_its_own(desk: Desk, text: Path) -> None:
    changes = {
        "Mean PPL(Q)": "5.250000 ± 0.04",
        "Mean PPL(base)": "5.000000 ± 0.03",
        "Mean PPL(Q)-PPL(base)": "0.250000 ± 0.01",
    }
    deep = put(desk, "deep.txt", kld_text(changes=changes, table=None, sizes="8 chunks, n_ctx=4096"))
    done = append(desk, f"candidate={text}", f"candidate={deep}")
    assert "F_REFERENCE" not in notes(done)


@pytest.mark.parametrize(
    ("trials", "agrees"),
    [(2040, True), (2039, False), (100, False), (4080, False), (10**9, False)],
)
def test_the_share_and_its_error_are_held_against_the_positions(desk: Desk, trials: int, *, agrees: bool) -> None:
    done = append(desk, f"candidate={put(desk, 'kld.txt', EXCERPT)},depth=512,trials={trials}")
    assert bool(notes(done)) != agrees
    assert set(notes(done)) <= {"F_REPORTED_MISMATCH"}


def test_a_share_without_an_error_is_held_against_the_positions_alone(desk: Desk) -> None:
    path = put(desk, "kld.txt", kld_text(changes={"Same top p": "50.001 ± nan %"}, table=None))
    done = append(desk, f"candidate={path}")
    assert notes(done) == ["F_REPORTED_MISMATCH"]
    assert "0.50001 is no share of 2040 positions" in done.err


def test_flags_of_a_text_are_printed_with_its_name_once(desk: Desk) -> None:
    path = put(desk, "kld.txt", kld_text(changes={"Maximum KLD": "2.100000"}))
    done = append(desk, f"main={path}", f"candidate={path}")
    assert [line for line in done.err.splitlines() if "F_KL_TAIL" in line] == [
        line for line in done.err.splitlines() if "kld.txt: F_KL_TAIL: " in line
    ]
    assert notes(done) == ["F_KL_TAIL"]


# What is refused.


@pytest.mark.parametrize(
    ("printed", "given", "asked"),
    [
        (EXCERPT, "", ",depth=N,trials=N"),
        (EXCERPT, ",depth=512", ",trials=N"),
        (EXCERPT, ",trials=2040", ",depth=N"),
        (STDOUT_ONLY, "", ",depth=N"),
    ],
)
def test_what_the_text_does_not_say_must_be_given(desk: Desk, printed: str, given: str, asked: str) -> None:
    words = f"candidate={put(desk, 'kld.txt', printed)}{given}"
    code, said = refusal(desk, words)
    assert code == "E_MISSING"
    assert f"--parity {words}{asked}\n" in said  # to be copied, and completed


def test_it_is_named_together_with_everything_else(desk: Desk) -> None:
    parity = f"candidate={put(desk, 'kld.txt', EXCERPT)}"
    words = [*tool_words(*PAIR, weights=""), "--parity", parity, "--key", desk.key("scorer")]
    done = desk.run("append", *words, status=REFUSED)
    assert done.code() == "E_MISSING"
    assert "--weights" in done.err
    assert f"--parity {parity},depth=N,trials=N" in done.err


@pytest.mark.parametrize(
    ("given", "said"),
    [(",depth=511", "says depth 512, given is 511"), (",trials=2041", "says trials 2040, given is 2041")],
)
def test_the_text_is_not_overruled(desk: Desk, text: Path, given: str, said: str) -> None:
    code, message = refusal(desk, f"candidate={text}{given}")
    assert code == "E_MIXED"
    assert said in message


@pytest.mark.parametrize(
    ("printed", "given"),
    [(EXCERPT, ",depth=512,trials=99"), (STDOUT_ONLY, ",depth=1"), (kld_text(sizes="8 chunks, n_ctx=25"), "")],
)
def test_there_are_no_statistics_of_fewer_than_100_positions(desk: Desk, printed: str, given: str) -> None:
    code, said = refusal(desk, f"candidate={put(desk, 'kld.txt', printed)}{given}")
    assert code == "E_PARITY_RANGE"
    assert "fewer than 100" in said


@pytest.mark.parametrize(
    "option",
    [
        "FILE",
        "candidate",
        "candidate=",
        "=FILE",
        "reference=FILE",
        "candidate=FILE,depth=",
        "candidate=FILE,depth=many",
        "candidate=FILE,depth=-1",
        "candidate=FILE,depth=0512",
        "candidate=FILE,depth=5e2",
        "candidate=FILE,depth=²",
        "candidate=FILE,depth=99999999999999999999",
        "candidate=FILE,trials=1.5",
        "candidate=FILE,depth=512,depth=512",
        "candidate=FILE,path=",
    ],
)
def test_an_option_that_is_none(desk: Desk, text: Path, option: str) -> None:
    code, said = refusal(desk, option.replace("FILE", str(text)))
    assert code == "E_OPTION"
    assert "--parity" in said


def test_C19_a_text_that_is_cut_is_refused_and_nothing_is_sealed(desk: Desk) -> None:
    printed = kld_text()
    path = put(desk, "cut.txt", printed[: printed.index("Same top p:")])
    code, said = refusal(desk, f"candidate={path}")
    assert code == "E_TRUNCATED"
    assert "cut.txt" in said


def test_C14_a_figure_that_is_missing_is_no_0(desk: Desk) -> None:
    path = put(desk, "kld.txt", kld_text(changes={"Mean KLD": "nan ± nan"}))
    code, said = refusal(desk, f"candidate={path}")
    assert code == "E_NONFINITE"
    assert "kld.txt:" in said


def test_a_file_of_the_tool_is_no_parity_and_parity_is_no_file_of_the_tool(desk: Desk, text: Path) -> None:
    assert refusal(desk, f"candidate={PAIR[0][1]}")[0] == "E_FORMAT"
    words = ("append", "--arm", f"main={text}", "--key", desk.key("scorer"))
    assert desk.run(*words, status=REFUSED).code() == "E_FORMAT"


def test_a_file_that_cannot_be_read_is_no_refusal(desk: Desk) -> None:
    assert append(desk, "candidate=absent.txt", status=UNAVAILABLE).code() == "E_IO"


def test_sizes_beyond_what_can_be_recorded_are_refused(desk: Desk) -> None:
    path = put(desk, "kld.txt", kld_text(table=None, sizes="9999999999 chunks, n_ctx=9999999999"))
    assert refusal(desk, f"candidate={path}")[0] == "E_DOMAIN"


def test_parity_is_given_once_per_arm_and_depth(desk: Desk, text: Path) -> None:
    other = put(desk, "other.txt", kld_text())
    assert refusal(desk, f"candidate={text}", f"candidate={other}")[0] == "E_PARITY_TWICE"


def test_two_texts_of_one_name_are_refused(desk: Desk, text: Path) -> None:
    folder = desk.root / "again"
    folder.mkdir()
    other = folder / "kld.txt"
    other.write_text(kld_text(sizes="8 chunks, n_ctx=512", table=None))
    assert refusal(desk, f"main={text}", f"candidate={other}")[0] == "E_ATTACHMENT"


def test_round_json_says_its_parity_itself(desk: Desk, text: Path) -> None:
    path = write_round(desk.root)
    done = desk.run("append", path, "--parity", f"candidate={text}", "--key", desk.key("scorer"), status=REFUSED)
    assert done.code() == "E_OPTION"
    assert "--parity" in done.err


def test_parity_is_given_in_one_way(desk: Desk, text: Path) -> None:
    extra = put(desk, "extra.json", json.dumps({"parity": []}))
    words = ("--extra", extra, "--parity", f"candidate={text}", "--key", desk.key("scorer"))
    done = desk.run("append", *tool_words(*PAIR), *words, status=REFUSED)
    assert done.code() == "E_OPTION"
    assert "extra.json" in done.err
    extra.write_text(json.dumps({"overrides": [{"name": "margin", "value": "512", "default": "128"}]}))
    desk.run("append", *tool_words(*PAIR), *words)
    assert (len(sealed(desk)["overrides"]), len(sealed(desk)["parity"])) == (1, 1)
