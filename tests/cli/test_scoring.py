"""``rungbook rule``, ``frontier``, ``pins``, ``ladder``, ``check-lock``, ``ruling``, ``rescore`` and ``import``."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from ledger.canonical import encode
from ledger.merkle import Tree
from tests.cli.conftest import Desk
from tests.cli.program import OK, REFUSED, REFUTED, UNAVAILABLE, USAGE, Result, run
from tests.cli.samples import NODE
from tests.support.made_up_log import Source, write_log
from tests.support.scoring import PREFILL, parity_point, rule_body, scored_body
from tests.vectors.test_tdx import make_tdx

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

SLOT = PREFILL | {"node": NODE}
SLOT_TEXT = f"p · {NODE} · q8 · 512 · prefill_tok_s"
PARITY = {"top1_min": "0.9", "kl_max": "0.05"}
RULE = rule_body(name="first-rule", slots=[{"metric": "prefill_tok_s"}], parity=PARITY)
# What the first rule calls xl and xs, this one calls l; what it rejects, this one passes.
OTHER = RULE | {
    "name": "other-rule",
    "parity": {"top1_min": "0", "kl_max": "3"},
    "bands": [{"tier": "l", "from": "0.01"}],
}
CEILING = RULE | {"name": "ceiling", "plausibility": {"ceiling": "2"}, "denominator": {"unattested": "1000"}}
ECHO = [parity_point(kl="2.673", top1="0")]

# Receipts of the ledger that `scored` gives; 0 to 2 are those of `desk`.
ADOPTED, WON, WRONG, CLAIMED, SMALL = 3, 4, 5, 6, 7
SIZE = 8
GUARDS = ("--gate", "guards", "--guard")


def put(folder: Path, name: str, value: object) -> Path:
    path = folder / f"{name}.json"
    path.write_text(json.dumps(value, indent=1))
    return path


def digest(desk: Desk, index: int) -> str:
    return hashlib.sha256(desk.receipt(index).read_bytes()).hexdigest()


def rule_digest(body: dict[str, Any]) -> str:
    return hashlib.sha256(encode(body)).hexdigest()


def append(desk: Desk, name: str, candidate: int, *, by: str = "scorer", **members: Any) -> int:  # noqa: ANN401 - members of a round
    """A round of two repetitions against a main of 1000 tok/s, by a scorer or a contributor; gives its index."""
    body = scored_body(name, [candidate] * 2, [1000] * 2, slot=SLOT, **members)
    done = desk.run("append", put(desk.keys.parent, name, body), "--key", desk.key(by), "--json")
    return int(done.document("append")["receipts"][0]["index"])


def adopt(desk: Desk, body: dict[str, Any], *, status: int = OK) -> Result:
    path = put(desk.root.parent, "adopt", body)
    return desk.run("rule", "adopt", path, "--key", desk.key("root"), status=status)


def rule_on(desk: Desk, *words: str | int, status: int = OK) -> Result:
    """A ruling by the maintainer."""
    texts = [str(word) for word in words]
    return desk.run("ruling", *texts, "--reason", "as agreed", "--key", desk.key("root"), status=status)


def rows(done: Result) -> list[dict[str, str]]:
    """A table that was printed with --csv."""
    return list(csv.DictReader(io.StringIO(done.out)))


def labels(desk: Desk, *words: str) -> dict[int, str]:
    """Label of every rung of the ladder, by receipt."""
    return {int(row["receipt"]): row["label"] for row in rows(desk.run("ladder", "--csv", *words))}


def held(desk: Desk, *words: str) -> dict[str, str]:
    """Attested value of every pin of the only slot, by role."""
    document = desk.run("pins", "--json", *words).document("pins")
    return {pin["role"]: pin["attested"]["value"] for pin in document["pins"] if pin["attested"]}


def frontier(desk: Desk, *words: str) -> dict[str, Any]:
    """The only slot of ``frontier --json``."""
    (slot,) = desk.run("frontier", "--json", *words).document("frontier")["slots"]
    assert isinstance(slot, dict)
    return slot


@pytest.fixture(scope="module")
def scored_model(tmp_path_factory: pytest.TempPathFactory, keys: Path, model: Path) -> Path:
    """A folder with what `scored` copies: a ledger, and the state folder of its writer."""
    folder = tmp_path_factory.mktemp("scored")
    shutil.copytree(model, folder, dirs_exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        desk = Desk(root=folder / "ledger", keys=keys)
        adopt(desk, RULE)
        assert append(desk, "won", 1250) == WON
        assert append(desk, "wrong", 1600, parity=ECHO) == WRONG
        assert append(desk, "claimed", 2000, by="contributor") == CLAIMED
        assert append(desk, "small", 1024) == SMALL
    return folder


@pytest.fixture
def scored(empty_desk: Desk, scored_model: Path) -> Desk:
    """A ledger with a rule in force and four rounds: xl, REJECT, one that is only measured, xs. Eight receipts."""
    shutil.copytree(scored_model / "ledger", empty_desk.root, dirs_exist_ok=True)
    shutil.copytree(scored_model / "state", os.environ["XDG_STATE_HOME"], dirs_exist_ok=True)
    return empty_desk


# rule


def test_a_rule_is_checked_without_a_ledger(empty_desk: Desk) -> None:
    path = put(empty_desk.root, "rule", RULE)
    document = empty_desk.run("rule", "check", path, "--json").document("rule")
    assert (document["digest"], document["name"], document["index"]) == (rule_digest(RULE), "first-rule", None)
    assert document["rule"] == RULE
    lines = empty_desk.run("rule", "check", path).out.splitlines()
    assert lines[:2] == ["rule    first-rule", f"digest  {rule_digest(RULE)}"]


@pytest.mark.parametrize(
    ("text", "code", "where"),
    [
        pytest.param("bands: xl from 18 %", "E_JSON", "", id="no-json"),
        pytest.param("", "E_JSON", "", id="empty"),
        pytest.param('{"name": "a", "name": "b"}', "E_DUPLICATE_KEY", "", id="a-member-twice"),
        pytest.param(json.dumps(RULE | {"cap": 1.5}), "E_FRACTION", "", id="a-number-that-is-no-text"),
        pytest.param(json.dumps(RULE | {"cap": "1e3"}), "E_SCHEMA", "/cap", id="exponent"),
        pytest.param(json.dumps(RULE | {"cap": "-1"}), "E_RULE_NUMBER", "/cap", id="negative"),
        pytest.param(json.dumps(RULE | {"bands": []}), "E_SCHEMA", "/bands", id="no-bands"),
        pytest.param(json.dumps(RULE | {"slots": RULE["slots"] * 2}), "E_RULE_TWICE", "/slots", id="slot-twice"),
        pytest.param("[]", "E_SCHEMA", "", id="a-list"),
    ],
)
@pytest.mark.parametrize("command", ["check", "adopt", "show", "rescore"])
def test_a_file_that_is_no_rule_is_refused_wherever_one_is_taken(
    command: str, text: str, code: str, where: str, desk: Desk
) -> None:
    path = desk.root / "rule.json"
    path.write_text(text)
    words: dict[str, list[str | Path]] = {
        "check": ["rule", "check", path],
        "adopt": ["rule", "adopt", path, "--key", desk.key("root")],
        "show": ["rule", "show", path],
        "rescore": ["rescore", "--rule", path],
    }
    done = desk.run(*words[command], status=REFUSED)
    assert (done.out, done.code()) == ("", code)
    assert "rule.json" in done.err
    assert where in done.err
    assert desk.size == 3


def test_a_rule_file_that_is_not_there_could_not_be_read(desk: Desk) -> None:
    for words in (("check",), ("adopt", "--key", desk.key("root"))):
        assert desk.run("rule", words[0], "none.json", *words[1:], status=UNAVAILABLE).out == ""
    assert desk.size == 3


def test_before_the_first_rule_the_list_says_how_to_adopt_one(desk: Desk) -> None:
    assert desk.run("rule", "list", "--json").document("rules")["rules"] == []
    assert "rungbook rule adopt" in desk.run("rule", "list").out


def test_an_adopted_rule_is_listed_and_found_by_index_and_digest(desk: Desk) -> None:
    done = adopt(desk, RULE)
    assert done.out == f"sealed receipt 3  {digest(desk, 3)}\n"
    adopt(desk, OTHER)
    listed = desk.run("rule", "list", "--json").document("rules")["rules"]
    assert [(item["index"], item["name"], item["digest"]) for item in listed] == [
        (3, "first-rule", rule_digest(RULE)),
        (4, "other-rule", rule_digest(OTHER)),
    ]
    table = desk.run("rule", "list").out.splitlines()
    assert table[0].split() == ["receipt", "digest", "name", "slots"]
    assert table[1].split() == ["3", rule_digest(RULE)[:12], "first-rule", "metric=prefill_tok_s"]
    for reference in ("4", rule_digest(OTHER)[:4], rule_digest(OTHER)[:9].upper(), rule_digest(OTHER)):
        document = desk.run("rule", "show", reference, "--json").document("rule")
        assert (document["index"], document["digest"], document["rule"]) == (4, rule_digest(OTHER), OTHER)
    assert "receipt 4" in desk.run("rule", "show", "4").out.splitlines()


def test_a_rule_in_a_file_that_was_adopted_is_shown_with_its_receipt(scored: Desk) -> None:
    same = put(scored.root, "same", dict(reversed(RULE.items())))
    assert scored.run("rule", "show", same, "--json").document("rule")["index"] == ADOPTED
    new = put(scored.root, "new", OTHER)
    assert scored.run("rule", "show", new, "--json").document("rule")["index"] is None


@pytest.mark.parametrize("reference", ["9", "2", "-", "abc", "none.json", "f" * 64, ""])
@pytest.mark.parametrize("command", ["show", "diff", "ladder", "rescore", "against"])
def test_a_rule_that_nobody_knows_is_refused_with_those_that_there_are(
    command: str, reference: str, scored: Desk
) -> None:
    words: list[str] = {
        "show": ["rule", "show", reference],
        "diff": ["rule", "diff", str(ADOPTED), reference],
        "ladder": ["ladder", "--rule", reference],
        "rescore": ["rescore", "--rule", reference],
        "against": ["rescore", "--rule", str(ADOPTED), "--against", reference],
    }[command]
    done = scored.run(*words, status=REFUSED)
    assert (done.out, done.code()) == ("", "E_RULE_REFERENCE")
    assert f"adopted: {ADOPTED} (first-rule)" in done.err


def test_two_rules_are_compared_member_by_member(scored: Desk) -> None:
    new = put(scored.root, "new", OTHER)
    document = scored.run("rule", "diff", str(ADOPTED), new, "--json").document("rule-diff")
    assert (document["before"], document["after"]) == (rule_digest(RULE), rule_digest(OTHER))
    changes = {item["where"]: (item["before"], item["after"]) for item in document["changes"]}
    assert changes["/name"] == ("first-rule", "other-rule")
    assert changes["/parity/kl_max"] == ("0.05", "3")
    assert changes["/bands/0/from"] == ("0.18", "0.01")
    assert changes["/bands/1/tier"] == ("l", None)
    assert "/statistic" not in changes
    lines = scored.run("rule", "diff", str(ADOPTED), new).out.splitlines()
    assert lines[0].split() == ["member", rule_digest(RULE)[:12], rule_digest(OTHER)[:12]]
    assert {line.split()[0] for line in lines[1:]} == changes.keys()
    assert len(lines) == len(changes) + 1


def test_a_rule_does_not_differ_from_itself_in_another_layout(scored: Desk) -> None:
    same = put(scored.root, "same", dict(reversed(RULE.items())))
    assert scored.run("rule", "diff", str(ADOPTED), same).out == "the same rule\n"
    assert scored.run("rule", "diff", same, str(ADOPTED), "--json").document("rule-diff")["changes"] == []


def test_only_maintainers_adopt(desk: Desk) -> None:
    path = put(desk.root, "rule", RULE)
    for name, code in (("scorer", "E_ROLE"), ("contributor", "E_ROLE"), ("stranger", "E_KEY_UNKNOWN")):
        done = desk.run("rule", "adopt", path, "--key", desk.key(name), status=REFUSED)
        assert (done.out, done.code()) == ("", code)
    assert "--key" in desk.run("rule", "adopt", path, status=USAGE).err
    assert desk.size == 3


def test_a_rule_can_be_attested_now_and_sealed_later(desk: Desk, tmp_path: Path) -> None:
    path, envelope = put(desk.root, "rule", RULE), tmp_path / "rule.dsse.json"
    done = desk.run("rule", "adopt", path, "--key", desk.key("root"), "-o", envelope, "--json")
    assert len(done.document("attest")["files"]) == 1
    assert desk.size == 3
    desk.run("seal", envelope)
    assert [item["index"] for item in desk.run("rule", "list", "--json").document("rules")["rules"]] == [3]


# frontier


def test_the_frontier_is_the_best_attested_main_beside_what_was_only_measured(scored: Desk) -> None:
    slot = frontier(scored)
    assert slot["slot"] == SLOT
    best = {"value": "1000", "receipt": WON, "since": WON, "arm": "main", "commit": "main-won", "evidence": "attested"}
    assert slot["frontier"] == best
    assert slot["moves"] == [{"index": WON, "holding": best}]
    assert (slot["measured"]["value"], slot["measured"]["receipt"]) == ("2000", CLAIMED)
    assert slot["measured"]["evidence"] == "measured"
    (row,) = rows(scored.run("frontier", "--csv"))
    assert row == {
        "slot": SLOT_TEXT,
        "frontier": "1000",
        "unit": "tok/s",
        "receipt": str(WON),
        "commit": "main-won",
        "moves": "1",
        "measured only": "2000",
    }
    head, line = scored.run("frontier").out.splitlines()
    assert head.split()[0] == "slot"
    assert line.startswith(SLOT_TEXT)
    assert "1000" in line


# pins


def test_pins_stand_with_their_receipts_and_a_better_measured_figure_makes_them_stale(scored: Desk) -> None:
    document = scored.run("pins", "--json").document("pins")
    assert document["tree_size"] == SIZE
    found = {pin["role"]: (pin["attested"]["value"], pin["attested"]["receipt"]) for pin in document["pins"]}
    assert found == {"basis": ("1000", WON), "guard": ("1250", WON)}
    assert all(pin["stale"] and pin["measured"]["value"] == "2000" for pin in document["pins"])
    table = rows(scored.run("pins", "--csv"))
    assert [(row["role"], row["attested"], row["measured only"]) for row in table] == [
        ("basis", "1000", "2000"),
        ("guard", "1250", "2000"),
    ]
    assert all(row["state"].startswith("STALE") for row in table)
    assert "STALE" not in scored.run("pins", "--as-of", str(CLAIMED)).out
    assert "current" in scored.run("pins", "--as-of", str(CLAIMED)).out


def test_what_was_only_measured_is_no_pin(desk: Desk) -> None:
    append(desk, "claimed", 2000, by="contributor")
    document = desk.run("pins", "--json").document("pins")
    assert [(pin["role"], pin["attested"], pin["measured"]["value"]) for pin in document["pins"]] == [
        ("basis", None, "2000")
    ]
    assert "not attested" in desk.run("pins").out
    path = desk.root / "pins.json"
    desk.run("pins", "--write", path)
    assert json.loads(path.read_text())["pins"] == []


@dataclass(frozen=True, slots=True, kw_only=True)
class PinFile:
    """A written pin file that a test may change."""

    desk: Desk
    path: Path
    value: dict[str, Any]

    def check(self, *, status: int = OK) -> dict[str, Any]:
        self.path.write_text(json.dumps(self.value))
        return self.desk.run("check-lock", self.path, "--json", status=status).document("check-lock")

    def finding(self) -> tuple[str, str, str]:
        """The only thing that is wrong: place, code and message; the words must say the same."""
        (found,) = self.check(status=REFUTED)["findings"]
        said = self.desk.run("check-lock", self.path, status=REFUTED).out
        assert f"UNTRACED  {found['where']}  {found['code']}: {found['message']}\n" in said
        assert "1 of 2 values trace" in said
        return found["where"], found["code"], found["message"]


@pytest.fixture
def pins(scored: Desk) -> PinFile:
    """The pins of `scored`, written out: basis 1000 and guard 1250."""
    path = scored.root / "pins.json"
    done = scored.run("pins", "--write", path)
    assert f"wrote {path}" in done.err
    return PinFile(desk=scored, path=path, value=json.loads(path.read_text()))


class TestCheckLock:
    def test_written_pins_trace(self, pins: PinFile) -> None:
        sealed = digest(pins.desk, WON)
        assert pins.value == {
            "rungbook": "pin-file/v1",
            "pins": [
                {"role": "basis", "slot": SLOT, "value": "1000", "receipt": sealed},
                {"role": "guard", "slot": SLOT, "value": "1250", "receipt": sealed},
            ],
        }
        done = pins.desk.run("check-lock", pins.path)
        assert done.out == "2 of 2 values trace to sealed receipts or are 0\n"
        document = pins.check()
        assert (document["values"], document["findings"]) == (2, [])

    @pytest.mark.parametrize("value", ["1001", "999.8", "1600", "1250", "-1000"])
    def test_a_value_that_no_receipt_gives_is_untraced(self, value: str, pins: PinFile) -> None:
        pins.value["pins"][0]["value"] = value
        where, code, message = pins.finding()
        assert (where, code) == ("/pins/0", "E_PIN_UNTRACED")
        assert value in message
        assert "sealed here: 1000" in message

    @pytest.mark.parametrize("value", ["1000.05", "999.95", "1000.000"])
    def test_rounding_is_no_change(self, value: str, pins: PinFile) -> None:
        pins.value["pins"][0]["value"] = value
        assert pins.check()["findings"] == []

    def test_a_rejected_speed_is_no_pin(self, pins: PinFile) -> None:
        pins.value["pins"][1] |= {"value": "1600", "receipt": digest(pins.desk, WRONG)}
        assert pins.finding()[:2] == ("/pins/1", "E_PIN_UNTRACED")

    def test_what_was_only_measured_is_named_so(self, pins: PinFile) -> None:
        pins.value["pins"][1] |= {"value": "2000", "receipt": digest(pins.desk, CLAIMED)}
        where, code, message = pins.finding()
        assert (where, code) == ("/pins/1", "E_PIN_MEASURED")
        assert "no authorised scorer attested it" in message

    @pytest.mark.parametrize(
        ("axis", "value"),
        [("project", "q"), ("node", "node-2"), ("quant", "q4"), ("context", 513), ("metric", "decode_tok_s")],
    )
    def test_the_axis_that_is_wrong_is_named(self, axis: str, value: object, pins: PinFile) -> None:
        pins.value["pins"][0]["slot"][axis] = value
        where, code, message = pins.finding()
        assert (where, code) == ("/pins/0", "E_PIN_SLOT")
        assert message == f"nothing is sealed for {axis} {value}; for {axis} {SLOT[axis]} there is"

    def test_a_slot_that_is_unlike_every_other_is_named_whole(self, pins: PinFile) -> None:
        pins.value["pins"][0]["slot"] |= {"node": "node-2", "context": 4}
        where, code, message = pins.finding()
        assert (where, code) == ("/pins/0", "E_PIN_SLOT")
        assert message == "nothing is sealed for p · node-2 · q8 · 4 · prefill_tok_s"

    @pytest.mark.parametrize("value", ["0", "0.00", "-0"])
    def test_zero_is_not_measured_and_needs_no_receipt(self, value: str, pins: PinFile) -> None:
        pins.value["pins"][0] |= {"value": value, "slot": SLOT | {"node": "node-2"}}
        del pins.value["pins"][0]["receipt"]
        document = pins.check()
        assert (document["values"], document["findings"]) == (2, [])

    def test_a_receipt_that_gives_another_value_is_named(self, pins: PinFile) -> None:
        pins.value["pins"][1]["receipt"] = digest(pins.desk, SMALL)
        assert pins.finding()[:2] == ("/pins/1", "E_PIN_RECEIPT")
        pins.value["pins"][1]["receipt"] = "0" * 64
        assert pins.finding()[:2] == ("/pins/1", "E_PIN_RECEIPT")

    def test_a_pin_without_a_receipt_is_traced_by_its_value(self, pins: PinFile) -> None:
        for pin in pins.value["pins"]:
            del pin["receipt"]
        assert pins.check()["findings"] == []

    def test_every_untraced_value_is_listed(self, pins: PinFile) -> None:
        pins.value["pins"][0]["value"] = "1"
        pins.value["pins"][1]["value"] = "2"
        document = pins.check(status=REFUTED)
        assert [item["where"] for item in document["findings"]] == ["/pins/0", "/pins/1"]
        assert "0 of 2 values trace" in pins.desk.run("check-lock", pins.path, status=REFUTED).out

    @pytest.mark.parametrize(
        ("change", "code"),
        [
            pytest.param({"pins": "none"}, "E_SCHEMA", id="no-list"),
            pytest.param({"rungbook": "pin-file/v2"}, "E_SCHEMA", id="version"),
            pytest.param({"note": "x"}, "E_SCHEMA", id="unknown-member"),
            pytest.param({"pins": [{"role": "basis", "slot": SLOT, "value": 1000}]}, "E_SCHEMA", id="number"),
            pytest.param({"pins": [{"role": "basis", "slot": SLOT, "value": 1000.5}]}, "E_FRACTION", id="fraction"),
            pytest.param({"pins": [{"role": "best", "slot": SLOT, "value": "1000"}]}, "E_SCHEMA", id="role"),
            pytest.param({"pins": [{"role": "basis", "slot": {}, "value": "1000"}]}, "E_SCHEMA", id="slot"),
            pytest.param(
                {"pins": [{"role": "basis", "slot": SLOT, "value": text} for text in ("1000", "0")]},
                "E_PIN_TWICE",
                id="one-role-twice",
            ),
        ],
    )
    def test_what_is_no_pin_file_is_refused(self, change: dict[str, Any], code: str, pins: PinFile) -> None:
        pins.path.write_text(json.dumps(pins.value | change))
        done = pins.desk.run("check-lock", pins.path, status=REFUSED)
        assert (done.out, done.code()) == ("", code)

    def test_what_is_no_json_is_refused_and_what_is_not_there_is_not_judged(self, pins: PinFile) -> None:
        pins.path.write_text("basis = 1000\n")
        assert pins.desk.run("check-lock", pins.path, status=REFUSED).code() == "E_JSON"
        pins.path.unlink()
        done = pins.desk.run("check-lock", pins.path, "--json", status=UNAVAILABLE)
        assert done.document("error")["status"] == UNAVAILABLE

    def test_a_pin_falls_with_its_receipt(self, pins: PinFile) -> None:
        rule_on(pins.desk, "void", WON)
        found = {(item["where"], item["code"]) for item in pins.check(status=REFUTED)["findings"]}
        # Main was as quick in the sessions that stand, but the file names the one that was voided.
        assert found == {("/pins/0", "E_PIN_RECEIPT"), ("/pins/1", "E_PIN_UNTRACED")}


def test_the_latest_reference_is_a_pin(scored: Desk) -> None:
    for name, speed in (("ref-1", 160), ("ref-2", 128)):
        body = scored_body(name, [speed] * 2, None, slot=SLOT, purpose="reference", parity=[])
        body["arms"][0]["role"] = "reference"
        for rep in body["reps"]:
            rep["arm"] = "reference"
        scored.run("append", put(scored.root.parent, name, body), "--key", scored.key("scorer"))
    assert held(scored) == {"basis": "1000", "guard": "1250", "reference": "128"}
    path = scored.root / "pins.json"
    scored.run("pins", "--write", path)
    assert scored.run("check-lock", path).out.startswith("3 of 3 values trace")
    assert set(labels(scored)) == {WON, WRONG, CLAIMED, SMALL}  # a reference is no rung


# ladder


def test_the_ladder_says_label_gate_and_what_it_was_held_against(scored: Desk) -> None:
    table = rows(scored.run("ladder", "--csv"))
    assert [
        (row["receipt"], row["evidence"], row["label"], row["gate"], row["value"], row["gain"]) for row in table
    ] == [
        ("4", "attested", "xl", "tier", "1250", "+25.00%"),
        ("5", "attested", "REJECT", "parity", "", ""),
        ("6", "measured", "UNRESOLVED", "provenance", "2000", ""),
        ("7", "attested", "xs", "tier", "1024", "+2.40%"),
    ]
    assert {row["slot"] for row in table} == {SLOT_TEXT}
    assert {row["frontier"] for row in table} == {"1000"}
    assert [row["notes"] for row in table] == ["", "E_PARITY", "E_EVIDENCE", ""]


def test_a_rejected_rung_prints_no_speed_and_no_tier(scored: Desk) -> None:
    (line,) = [line for line in scored.run("ladder").out.splitlines() if "REJECT" in line]
    assert "1600" not in line
    assert "%" not in line
    assert not {"xs", "s", "m", "l", "xl"} & set(line.split())
    document = scored.run("ladder", "--json").document("ladder")
    (rung,) = [item for item in document["rungs"] if item["index"] == WRONG]
    assert (rung["value"], rung["verdict"]["gain"], rung["verdict"]["credited"]) == (None, None, None)
    assert rung["verdict"]["diagnostic"] == {"value": "1600"}
    del rung["verdict"]["diagnostic"]
    assert "1600" not in json.dumps(rung)


def test_a_value_under_review_prints_no_speed_until_it_is_accepted(scored: Desk) -> None:
    adopt(scored, CEILING)
    over = append(scored, "over", 3200)
    row = rows(scored.run("ladder", "--csv"))[-1]
    assert (row["label"], row["value"], row["gain"], row["notes"]) == ("REVIEW", "", "", "E_CEILING")
    rule_on(scored, "review", over, "--outcome", "accepted")
    row = rows(scored.run("ladder", "--csv"))[-1]
    assert (row["label"], row["value"], row["gain"]) == ("xl", "3200", "+220.00%")
    assert "unattested denominator" in row["notes"]
    assert rows(scored.run("ladder", "--csv", "--as-of", str(over + 1)))[-1]["label"] == "REVIEW"


def test_the_ladder_as_json_has_every_gate_with_its_inputs(scored: Desk) -> None:
    document = scored.run("ladder", "--json").document("ladder")
    assert document["tree_size"] == SIZE
    rung = document["rungs"][0]
    assert (rung["index"], rung["sha256"], rung["id"]) == (WON, digest(scored, WON), "won")
    assert rung["frontier"] == {"used": "1000", "source": "main", "receipt": WON, "main": "1000"}
    assert (rung["gone"], rung["merged"]) == (None, None)
    verdict = rung["verdict"]
    assert (verdict["rule"], verdict["gain"], verdict["credited"], verdict["bound"]) == (
        rule_digest(RULE), "1/4", "1/4", "gain",
    )  # fmt: skip
    assert [gate["name"] for gate in verdict["gates"]] == [
        "integrity", "provenance", "comparability", "parity", "plausibility", "guards", "significance", "tier",
    ]  # fmt: skip
    later = document["rungs"][3]["frontier"]
    assert (later["source"], later["receipt"]) == ("frontier", WON)


def test_any_past_state_can_be_asked_for(scored: Desk) -> None:
    assert labels(scored, "--as-of", str(WRONG)) == {WON: "xl"}
    assert labels(scored, "--as-of", str(SIZE)) == labels(scored)
    for command, empty in (("ladder", "rungs"), ("frontier", "slots"), ("pins", "pins")):
        document = scored.run(command, "--json", "--as-of", "0").document(command)
        assert (document["tree_size"], document[empty]) == (0, [])
        assert scored.run(command, "--as-of", "0").out == "nothing here yet\n"
        done = scored.run(command, "--as-of", str(SIZE + 1), status=REFUSED)
        assert (done.out, done.code()) == ("", "E_AS_OF")
        assert scored.run(command, "--as-of", "-1", status=USAGE).out == ""


def test_another_rule_can_be_tried_on_the_whole_history(scored: Desk) -> None:
    other = put(scored.root, "other", OTHER)
    tried = {WON: "l", WRONG: "l", CLAIMED: "UNRESOLVED", SMALL: "l"}
    assert labels(scored, "--rule", str(other)) == tried
    adopt(scored, OTHER)
    assert labels(scored, "--rule", str(SIZE)) == labels(scored, "--rule", rule_digest(OTHER)[:8]) == tried
    # In force it judges what comes after it.
    assert labels(scored) == {WON: "xl", WRONG: "REJECT", CLAIMED: "UNRESOLVED", SMALL: "xs"}
    assert append(scored, "later", 1280) == SIZE + 1
    assert labels(scored)[SIZE + 1] == "l"


def test_the_first_rule_that_covers_a_slot_judges_it(scored: Desk) -> None:
    elsewhere = put(scored.root, "elsewhere", OTHER | {"slots": [{"metric": "ttft"}]})
    other = put(scored.root, "other", OTHER)
    given = [str(elsewhere), str(other), str(ADOPTED)]
    words = [word for path in given for word in ("--rule", path)]
    assert labels(scored, *words)[WON] == "l"
    assert labels(scored, "--rule", str(elsewhere)) == dict.fromkeys((WON, WRONG, CLAIMED, SMALL), "-")


def test_before_the_first_rule_a_rung_has_no_label_and_the_table_says_why(desk: Desk) -> None:
    early = append(desk, "early", 1250)
    adopt(desk, RULE)
    (row,) = rows(desk.run("ladder", "--csv"))
    assert (row["label"], row["gate"], row["gain"]) == ("-", "", "")
    assert "no rule was in force" in row["notes"]
    (rung,) = desk.run("ladder", "--json").document("ladder")["rungs"]
    assert (rung["index"], rung["verdict"]) == (early, None)
    assert labels(desk, "--rule", "4") == {early: "xl"}


@pytest.mark.parametrize("command", ["ladder", "frontier", "pins", "rescore"])
class TestSlotFilter:
    def words(self, command: str, slot: str) -> list[str]:
        return [command, *(["--rule", str(ADOPTED)] if command == "rescore" else []), "--csv", "--slot", slot]

    @pytest.mark.parametrize("slot", ["metric=prefill_tok_s", f"node={NODE},context=512", "quant=q8,project=p", ""])
    def test_what_has_these_axes_is_printed(self, command: str, slot: str, scored: Desk) -> None:
        assert rows(scored.run(*self.words(command, slot))) == rows(scored.run(*self.words(command, "")))

    @pytest.mark.parametrize("slot", ["metric=ttft", "node=node-2", "context=51", "project=p,quant=q4"])
    def test_what_has_not_is_left_out(self, command: str, slot: str, scored: Desk) -> None:
        done = scored.run(*self.words(command, slot))
        assert rows(done) == []
        assert done.out.count("\n") == 1  # the head

    @pytest.mark.parametrize("slot", ["prefill_tok_s", "speed=1", "metric:ttft", "node=a,node=b", "Metric=ttft"])
    def test_an_axis_that_there_is_not_is_refused(self, command: str, slot: str, scored: Desk) -> None:
        done = scored.run(*self.words(command, slot), status=REFUSED)
        assert (done.out, done.code()) == ("", "E_SLOT")
        assert "project, node, quant, context, metric" in done.err


# ruling


def test_a_voided_round_leaves_the_views_and_stays_in_the_ledger(scored: Desk) -> None:
    before = scored.receipt(WON).read_bytes()
    assert rule_on(scored, "void", WON).out.startswith(f"sealed receipt {SIZE}  ")
    assert scored.receipt(WON).read_bytes() == before
    assert set(labels(scored)) == {WRONG, CLAIMED, SMALL}
    row = rows(scored.run("ladder", "--csv", "--all"))[0]
    assert (row["receipt"], row["label"], row["notes"]) == (str(WON), "xl", f"void by receipt {SIZE}")
    rung = scored.run("ladder", "--all", "--json").document("ladder")["rungs"][0]
    assert rung["gone"] == {"by": "void", "index": SIZE}
    assert held(scored) == {"basis": "1000", "guard": "1024"}
    assert frontier(scored)["frontier"]["receipt"] == WRONG  # main was measured there too
    assert [move["index"] for move in frontier(scored)["moves"]] == [WON, SIZE]
    # As it was.
    assert set(labels(scored, "--as-of", str(SIZE))) == {WON, WRONG, CLAIMED, SMALL}
    assert held(scored, "--as-of", str(SIZE)) == {"basis": "1000", "guard": "1250"}


def test_a_round_is_superseded_by_a_later_one(scored: Desk) -> None:
    rule_on(scored, "supersede", WRONG, "--by", SMALL)
    assert set(labels(scored)) == {WON, CLAIMED, SMALL}
    assert rows(scored.run("ladder", "--csv", "--all"))[1]["notes"].startswith(f"supersede by receipt {SIZE}")
    done = rule_on(scored, "supersede", SMALL, "--by", WON, status=REFUSED)
    assert done.code() == "E_SUPERSEDE_BACKWARDS"
    done = rule_on(scored, "supersede", SMALL, "--by", digest(scored, SMALL)[:16], status=REFUSED)
    assert done.code() == "E_SUPERSEDE_BACKWARDS"
    assert scored.size == SIZE + 1


def test_a_reviewed_value_that_is_turned_down_prints_no_speed(scored: Desk) -> None:
    rule_on(scored, "review", WON, "--outcome", "rejected")
    row = rows(scored.run("ladder", "--csv"))[0]
    assert (row["label"], row["gate"], row["value"], row["gain"]) == ("REJECT", "plausibility", "", "")
    assert row["notes"] == "E_REVIEW_REJECTED"
    assert labels(scored, "--as-of", str(SIZE))[WON] == "xl"
    assert held(scored) == {"basis": "1000", "guard": "1024"}  # it is no pin any more


def test_a_merge_does_not_outlive_a_review_that_turns_the_value_down(scored: Desk) -> None:
    rule_on(scored, "merged", WON, "--commit", "c0ffee")
    assert frontier(scored)["frontier"]["value"] == "1250"
    rule_on(scored, "review", WON, "--outcome", "rejected")
    best = frontier(scored)["frontier"]
    assert (best["value"], best["arm"]) == ("1000", "main")
    assert held(scored, "--as-of", str(SIZE + 1)) == {"basis": "1250", "guard": "1250"}


def test_a_merge_moves_the_frontier_to_the_winner(scored: Desk) -> None:
    rule_on(scored, "merged", digest(scored, WON)[:12], "--commit", "c0ffee")
    best = frontier(scored)["frontier"]
    assert (best["value"], best["receipt"], best["since"]) == ("1250", WON, SIZE)
    assert (best["arm"], best["commit"]) == ("candidate", "c0ffee")
    assert rows(scored.run("ladder", "--csv"))[0]["notes"] == f"merged by receipt {SIZE}"
    assert held(scored) == {"basis": "1250", "guard": "1250"}
    later = append(scored, "later", 1280)
    row = rows(scored.run("ladder", "--csv"))[-1]
    assert (row["receipt"], row["label"], row["frontier"], row["gain"]) == (str(later), "xs", "1250", "+2.40%")


@pytest.mark.parametrize("index", [WRONG, CLAIMED], ids=["rejected", "measured"])
def test_a_merge_of_what_has_not_won_moves_nothing(index: int, scored: Desk) -> None:
    before = frontier(scored)["frontier"]
    rule_on(scored, "merged", index, "--commit", "c0ffee")
    assert frontier(scored)["frontier"] == before
    (rung,) = [item for item in scored.run("ladder", "--json").document("ladder")["rungs"] if item["index"] == index]
    assert rung["merged"] == SIZE


def test_a_waiver_lets_one_rung_pass_one_gate(scored: Desk) -> None:
    adopt(scored, CEILING)
    over = append(scored, "over", 3200)
    rule_on(scored, "waiver", over, "--gate", "guards", "--guard", "decode_tok_s@512")
    assert labels(scored)[over] == "REVIEW"
    rule_on(scored, "waiver", over, "--gate", "plausibility")
    assert labels(scored)[over] == "xl"
    (rung,) = [item for item in scored.run("ladder", "--json").document("ladder")["rungs"] if item["index"] == over]
    outcomes = {gate["name"]: gate["outcome"] for gate in rung["verdict"]["gates"]}
    assert outcomes["plausibility"] == "waived"
    again = append(scored, "again", 3200)
    assert labels(scored)[again] == "REVIEW"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        pytest.param(["annul", WON], "E_RULING", id="unknown-action"),
        pytest.param(["void", 99], "E_NO_RECEIPT", id="no-such-receipt"),
        pytest.param(["void", 0], "E_RULING_TARGET", id="genesis"),
        pytest.param(["void", 1], "E_RULING_TARGET", id="keys"),
        pytest.param(["void", ADOPTED], "E_RULING_TARGET", id="rule"),
        pytest.param(["void", WON, "--by", SMALL], "E_RULING", id="void-with-a-successor"),
        pytest.param(["supersede", WON], "E_RULING", id="supersede-without"),
        pytest.param(["supersede", WON, "--by", 99], "E_NO_RECEIPT", id="superseded-by-nothing"),
        pytest.param(["supersede", WON, "--by", ADOPTED], "E_RULING_TARGET", id="superseded-by-a-rule"),
        pytest.param(["review", WON], "E_RULING", id="review-without-an-outcome"),
        pytest.param(["review", WON, "--outcome", "maybe"], "E_RULING", id="review-maybe"),
        pytest.param(["merged", WON], "E_RULING", id="merged-without-a-commit"),
        pytest.param(["merged", WON, "--commit", "two words"], "E_SCHEMA", id="commit-of-two-words"),
        pytest.param(["waiver", WON], "E_RULING", id="waiver-of-nothing"),
        pytest.param(["waiver", WON, "--gate", "parity"], "E_SCHEMA", id="waiver-of-parity"),
        pytest.param(["waiver", WON, "--gate", "guards"], "E_RULING", id="C39-waiver-of-every-guard"),
        pytest.param(["waiver", WON, *GUARDS, "decode_tok_s"], "E_RULING", id="C39-guard-without-context"),
        pytest.param(["waiver", WON, *GUARDS, "speed@512"], "E_RULING", id="C39-guard-of-no-metric"),
        pytest.param(["waiver", WON, *GUARDS, "ttft@-1"], "E_RULING", id="C39-guard-below-0"),
        pytest.param(
            ["waiver", WON, "--gate", "plausibility", "--guard", "ttft@512"], "E_RULING", id="C39-plausibility-of-guard"
        ),
        pytest.param(["void", WON, "--guard", "ttft@512"], "E_RULING", id="C39-void-of-a-guard"),
    ],
)
def test_a_ruling_that_makes_no_sense_is_refused(words: list[str | int], code: str, scored: Desk) -> None:
    done = rule_on(scored, *words, status=REFUSED)
    assert (done.out, done.code()) == ("", code)
    assert scored.size == SIZE


def test_a_ruling_needs_a_reason_and_a_maintainer(scored: Desk) -> None:
    by_root = ("--key", scored.key("root"))
    assert "--reason" in scored.run("ruling", "void", str(WON), *by_root, status=USAGE).err
    done = scored.run("ruling", "void", str(WON), "--reason", "", *by_root, status=REFUSED)
    assert done.code() == "E_SCHEMA"
    for name in ("scorer", "contributor"):
        words = ("ruling", "void", str(WON), "--reason", "mine is better", "--key", scored.key(name))
        assert scored.run(*words, status=REFUSED).code() == "E_ROLE"
    assert scored.size == SIZE


# rescore


def rescore(desk: Desk, *words: str | Path) -> dict[str, Any]:
    return desk.run("rescore", *words, "--json").document("rescore")


@pytest.fixture
def other(scored: Desk) -> Path:
    """A rule that nobody adopted, as a file."""
    return put(scored.root, "other", OTHER)


class TestRescore:
    def test_both_labels_of_every_rung_stand_side_by_side(self, scored: Desk, other: Path) -> None:
        document = rescore(scored, "--rule", other)
        assert (document["rules"], document["against"], document["recorded"]) == ([rule_digest(OTHER)], [], None)
        found = {item["index"]: (item["before"]["label"], item["after"]["label"]) for item in document["rungs"]}
        assert found == {
            WON: ("xl", "l"),
            WRONG: ("REJECT", "l"),
            CLAIMED: ("UNRESOLVED", "UNRESOLVED"),
            SMALL: ("xs", "l"),
        }
        assert [item["changed"] for item in document["rungs"]] == [True, True, False, True]
        summary = document["summary"]
        assert (summary["rungs"], summary["changed"]) == (4, 3)
        assert summary["before"] == {"xl": 1, "REJECT": 1, "UNRESOLVED": 1, "xs": 1}
        assert summary["after"] == {"l": 3, "UNRESOLVED": 1}
        assert (summary["only_before"], summary["only_after"]) == (0, 0)
        lines = scored.run("rescore", "--rule", other).out.splitlines()
        assert lines[-3:] == [
            "3 of 4 labels change",
            "before  REJECT 1, UNRESOLVED 1, xl 1, xs 1",
            "after   UNRESOLVED 1, l 3",
        ]
        assert len(lines) == 1 + 4 + 3

    def test_the_digest_is_of_all_rungs_as_canonical_json(self, scored: Desk, other: Path) -> None:
        document = rescore(scored, "--rule", other)
        whole = encode({"rungs": document["rungs"]})
        assert document["output_sha256"] == hashlib.sha256(whole).hexdigest()
        part = rescore(scored, "--rule", other, "--changed")
        assert part["output_sha256"] == document["output_sha256"]
        assert part["summary"] == document["summary"]
        assert [item["index"] for item in part["rungs"]] == [WON, WRONG, SMALL]

    def test_a_rule_is_named_by_file_index_or_digest(self, scored: Desk, other: Path) -> None:
        adopt(scored, OTHER)
        by_file = rescore(scored, "--rule", other)
        assert rescore(scored, "--rule", str(SIZE)) == by_file
        assert rescore(scored, "--rule", rule_digest(OTHER)[:6]) == by_file

    def test_it_can_be_held_against_another_rule_than_the_one_in_force(self, scored: Desk, other: Path) -> None:
        document = rescore(scored, "--rule", str(ADOPTED), "--against", other)
        assert (document["rules"], document["against"]) == ([rule_digest(RULE)], [rule_digest(OTHER)])
        found = {item["index"]: (item["before"]["label"], item["after"]["label"]) for item in document["rungs"]}
        assert found[WRONG] == ("l", "REJECT")
        same = rescore(scored, "--rule", other, "--against", other)
        assert same["summary"]["changed"] == 0
        assert rescore(scored, "--rule", other, "--against", other, "--changed")["rungs"] == []

    def test_what_the_new_rule_rejects_has_no_value_and_no_credit(self, scored: Desk, other: Path) -> None:
        for words in (["--rule", str(ADOPTED)], ["--rule", str(ADOPTED), "--against", other]):
            (rung,) = [item for item in rescore(scored, *words)["rungs"] if item["index"] == WRONG]
            assert (rung["value"], rung["after"]["credited"]) == ("", "")
            assert "1600" not in scored.run("rescore", *words, "--csv").out

    def test_the_table_as_csv_has_a_row_for_each_rung(self, scored: Desk, other: Path) -> None:
        table = rows(scored.run("rescore", "--rule", other, "--csv"))
        assert [(row["receipt"], row["before"]) for row in table] == [
            ("4", "xl"),
            ("5", "REJECT"),
            ("6", "UNRESOLVED"),
            ("7", "xs"),
        ]
        assert [row["after"].split()[0] for row in table] == ["l", "l", "UNRESOLVED", "l"]
        assert [(row["bound before"], row["bound after"]) for row in table][:2] == [
            ("tier gain", "tier gain"),
            ("parity E_PARITY", "tier gain"),
        ]
        assert len(rows(scored.run("rescore", "--rule", other, "--csv", "--changed"))) == 3

    def test_what_only_one_side_judges_is_counted_apart(self, scored: Desk) -> None:
        elsewhere = put(scored.root, "elsewhere", OTHER | {"slots": [{"metric": "ttft"}]})
        document = rescore(scored, "--rule", elsewhere)
        assert all(item["after"] is None for item in document["rungs"])
        summary = document["summary"]
        assert (summary["rungs"], summary["changed"], summary["only_before"], summary["after"]) == (4, 0, 4, {})
        assert "no rung is covered" in scored.run("rescore", "--rule", elsewhere).out

    def test_nothing_is_written_by_looking(self, scored: Desk, other: Path) -> None:
        before = (scored.root / "receipts" / "checkpoint").read_bytes()
        rescore(scored, "--rule", other)
        assert (scored.root / "receipts" / "checkpoint").read_bytes() == before
        assert labels(scored) == {WON: "xl", WRONG: "REJECT", CLAIMED: "UNRESOLVED", SMALL: "xs"}

    def test_a_recorded_one_is_a_receipt_with_counts_and_digest(self, scored: Desk, other: Path) -> None:
        state = scored.run("verify", "--json").document("verify")
        looked = rescore(scored, "--rule", other, "--against", str(ADOPTED))
        words = ("--rule", other, "--against", str(ADOPTED), "--record", "--key", scored.key("root"))
        document = rescore(scored, *words)
        assert document["recorded"] == SIZE
        assert document | {"recorded": None} == looked
        shown = scored.run("show", str(SIZE), "--json").document("show")
        body = shown["receipt"]["statement"]["predicate"]["rescore"]
        assert body == {
            "rules": [rule_digest(OTHER)],
            "against": [rule_digest(RULE)],
            "tree_size": SIZE,
            "root_hash": state["root_hash"],
            "output_sha256": document["output_sha256"],
            "rungs": 4,
            "changed": 3,
        }
        assert (shown["kind"], shown["standing"]) == ("rescore", "in force")
        # Whoever asks again for that state gets the same digest.
        again = rescore(scored, *words[:4], "--as-of", str(SIZE))
        assert again["output_sha256"] == body["output_sha256"]
        assert scored.run("verify", "--json").document("verify")["kinds"]["rescore"] == 1
        assert labels(scored)[WON] == "xl"

    def test_a_recorded_one_says_so_in_words(self, scored: Desk, other: Path) -> None:
        done = scored.run("rescore", "--rule", other, "--record", "--key", scored.key("root"))
        assert f"sealed as receipt {SIZE}  {digest(scored, SIZE)}" in done.err
        assert "3 of 4 labels change" in done.out

    def test_recording_needs_a_maintainer_and_the_whole(self, scored: Desk, other: Path) -> None:
        record = ("rescore", "--rule", other, "--record")
        assert scored.run(*record, status=REFUSED).code() == "E_KEY_MISSING"
        done = scored.run(*record, "--key", scored.key("scorer"), status=REFUSED)
        assert (done.out, done.code()) == ("", "E_ROLE")
        part = ("--key", scored.key("root"), "--slot", "metric=ttft")
        assert scored.run(*record, *part, status=REFUSED).code() == "E_OPTION"
        assert scored.size == SIZE

    def test_without_a_rule_it_is_a_usage_error(self, scored: Desk) -> None:
        assert "--rule" in scored.run("rescore", status=USAGE).err

    def test_a_ledger_without_figures_has_nothing_to_rescore(self, desk: Desk) -> None:
        path = put(desk.root, "other", OTHER)
        document = rescore(desk, "--rule", path)
        assert (document["summary"]["rungs"], document["rungs"]) == (0, [])
        lines = desk.run("rescore", "--rule", path).out.splitlines()
        assert lines[0] == "0 of 0 labels change"
        assert lines[1:] == ["before  no rung is covered", "after   no rung is covered"]

    def test_a_voided_rung_is_marked(self, scored: Desk, other: Path) -> None:
        rule_on(scored, "void", WON)
        assert [item["stands"] for item in rescore(scored, "--rule", other)["rungs"]] == [False, True, True, True]
        assert rows(scored.run("rescore", "--rule", other, "--csv"))[0]["notes"] == f"void by receipt {SIZE}"


# import


def made_up_run(**members: Any) -> Source:  # noqa: ANN401 - members of a source
    """A run whose quote can be read and is by nobody's hardware."""
    source = Source(**members)
    source.receipt["tdx"] = make_tdx()
    source.result["node"] = NODE
    return source.seal()


@pytest.fixture
def log_folder(tmp_path: Path) -> Path:
    """Two runs that have nothing in common."""
    second = made_up_run(at="2026-08-06T01:00:00+00:00", commit="cd" * 20, tps=24.0)
    return write_log(tmp_path / "log", made_up_run(), second)


class TestRecordOfThePast:
    def test_a_recorded_re_score_of_a_past_state_names_that_state(self, desk: Desk, tmp_path: Path) -> None:
        rule = tmp_path / "rule.json"
        rule.write_text(json.dumps(rule_body()))
        desk.run("rule", "adopt", rule, "--key", desk.key("root"))
        words = ("rescore", "--rule", rule, "--as-of", "2", "--record", "--key", desk.key("root"))
        desk.run(*words)
        body = json.loads(desk.receipt(desk.size - 1).read_bytes())["statement"]["predicate"]["rescore"]
        assert body["tree_size"] == 2
        digests = [hashlib.sha256(desk.receipt(index).read_bytes()).digest() for index in range(2)]
        assert body["root_hash"] == Tree(digests).root().hex()


class TestImport:
    def test_every_run_is_sealed_with_its_faults_and_nothing_twice(self, desk: Desk, log_folder: Path) -> None:
        words = ("import", "sparkinfer-log", log_folder, "--key", desk.key("scorer"))
        document = desk.run(*words, "--json").document("import")
        assert document["tree_size"] == desk.size == 5
        assert [(item["index"], item["existed"]) for item in document["runs"]] == [(3, False), (4, False)]
        assert [item["sha256"] for item in document["runs"]] == [digest(desk, 3), digest(desk, 4)]
        assert all({"K_CHAIN_NULL", "K_ID_PARTIAL"} <= {*item["faults"]} for item in document["runs"])
        assert document["faults"]["K_CHAIN_NULL"] == 2
        assert all(item["checks"]["failed"] for item in document["runs"])  # not by Intel, and not of this output

        again = desk.run(*words, "--json").document("import")
        assert [(item["index"], item["existed"]) for item in again["runs"]] == [(3, True), (4, True)]
        assert again["root_hash"] == document["root_hash"]
        assert desk.size == 5

    def test_a_log_that_has_grown_seals_what_is_new_although_it_says_more_of_the_old(
        self, desk: Desk, tmp_path: Path
    ) -> None:
        first = made_up_run()
        # Another speed of the same commit is a fault of both runs, and an earlier run moves the place of this one.
        earlier = made_up_run(at="2026-08-04T01:00:00+00:00", tps=24.0)
        words = ("import", "sparkinfer-log")
        small = write_log(tmp_path / "small", first)
        desk.run(*words, small, "--key", desk.key("scorer"))
        grown = write_log(tmp_path / "grown", earlier, first)
        runs = desk.run(*words, grown, "--key", desk.key("scorer"), "--json").document("import")["runs"]
        assert [(run["index"], run["existed"]) for run in runs] == [(4, False), (3, True)]
        assert desk.size == 5

    def test_the_words_count_what_is_new_and_name_every_fault(self, desk: Desk, log_folder: Path) -> None:
        words = ("import", "sparkinfer-log", log_folder, "--key", desk.key("root"))
        first = desk.run(*words).out.splitlines()
        assert first[0].split() == ["receipt", "run", "context", "metric", "value", "quote", "faults"]
        assert [line.split()[0] for line in first[1:3]] == ["3", "4"]
        assert all("FAILS" in line for line in first[1:3])
        assert first[3] == "2 sealed, 0 were sealed already; none of them is attested"
        assert ["2", "K_CHAIN_NULL"] in [line.replace(":", "").split()[:2] for line in first[4:]]
        assert "0 sealed, 2 were sealed already; none of them is attested" in desk.run(*words).out

    def test_imported_figures_are_judged_only_by_rules_for_them_and_pin_nothing(
        self, desk: Desk, log_folder: Path
    ) -> None:
        desk.run("import", "sparkinfer-log", log_folder, "--key", desk.key("scorer"))
        loose = rule_body(
            name="imported",
            slots=[{"metric": "decode_tok_s"}],
            evidence="imported",
            numbers="ieee754",
            frontier={"basis": "recorded"},
        )
        adopt(desk, rule_body(name="attested", slots=[{"metric": "decode_tok_s"}]))
        assert set(labels(desk)) == {3, 4}
        assert set(labels(desk, "--rule", "5").values()) == {"UNRESOLVED"}
        table = rows(desk.run("ladder", "--csv", "--rule", put(desk.root, "loose", loose)))
        assert [(row["evidence"], row["label"], row["frontier"]) for row in table] == [("imported", "xl", "16")] * 2
        assert all("unattested value, frontier" in row["notes"] for row in table)
        pins_found = desk.run("pins", "--json").document("pins")["pins"]
        assert pins_found
        assert all(pin["attested"] is None for pin in pins_found)
        shown = desk.run("show", "3", "--json").document("show")
        assert (shown["kind"], shown["standing"]) == ("imported", "imported: nobody attests it")

    def test_only_a_scorer_of_the_node_or_a_maintainer_imports(self, desk: Desk, log_folder: Path) -> None:
        words = ("import", "sparkinfer-log", log_folder, "--key")
        for name, code in (("contributor", "E_ROLE"), ("stranger", "E_KEY_UNKNOWN")):
            assert desk.run(*words, desk.key(name), status=REFUSED).code() == code
        assert desk.size == 3
        desk.run(*words, desk.key("scorer"))
        # The same by somebody else would be a second statement about one figure.
        assert desk.run(*words, desk.key("root"), status=REFUSED).code() == "E_ID_CONFLICT"
        assert desk.size == 5

    def test_a_folder_that_is_no_log_is_refused(self, desk: Desk, tmp_path: Path) -> None:
        (tmp_path / "empty").mkdir()
        words = ("import", "sparkinfer-log", tmp_path / "empty", "--key", desk.key("scorer"))
        done = desk.run(*words, "--json", status=REFUSED)
        assert done.document("error")["error"]["code"] == "E_LAYOUT"
        assert "--key" in desk.run("import", "sparkinfer-log", tmp_path, status=USAGE).err
        assert desk.size == 3

    def test_one_run_that_cannot_be_read_keeps_all_out(self, desk: Desk, log_folder: Path) -> None:
        broken = min((log_folder / "runs").iterdir()) / "receipt.json"
        broken.write_text("{")
        words = ("import", "sparkinfer-log", log_folder, "--key", desk.key("scorer"))
        done = desk.run(*words, status=REFUSED)
        assert (done.out, done.code()) == ("", "E_JSON")
        assert "receipt.json" in done.err
        assert desk.size == 3


# log and show


@pytest.fixture
def every(scored: Desk, log_folder: Path) -> Desk:
    """A ledger with every kind of receipt."""
    scored.run("import", "sparkinfer-log", log_folder, "--key", scored.key("scorer"))
    rule_on(scored, "supersede", WRONG, "--by", SMALL)
    other = put(scored.root, "other", OTHER)
    scored.run("rescore", "--rule", other, "--record", "--key", scored.key("root"))
    return scored


KINDS = ["genesis", "keys", "keys", "rule", *["round"] * 4, *["imported"] * 2, "ruling", "rescore"]


def test_log_says_what_every_kind_of_receipt_is_about(every: Desk) -> None:
    listed = every.run("log", "--json").document("log")["receipts"]
    assert [row["kind"] for row in listed] == KINDS
    what = {row["kind"]: row["what"] for row in listed}
    assert what["rule"] == f"first-rule  {rule_digest(RULE)[:12]}"
    assert what["imported"].startswith("from sparkinfer-k3-log  ")
    assert what["imported"].endswith(" fault(s)")
    assert what["ruling"] == f"supersede {digest(every, WRONG)[:12]}  as agreed"
    assert what["rescore"] == f"3 of 4 labels change under {rule_digest(OTHER)[:12]}"
    table = every.run("log").out
    assert all(row["what"] in table for row in listed)


def test_show_says_what_every_kind_of_receipt_is_worth(every: Desk) -> None:
    standings = ["in force"] * 4 + ["attested", "attested", "measured", "attested"]
    standings += ["imported: nobody attests it"] * 2 + ["in force"] * 2
    for index, (kind, standing) in enumerate(zip(KINDS, standings, strict=True)):
        document = every.run("show", str(index), "--json").document("show")
        assert (document["index"], document["kind"], document["standing"]) == (index, kind, standing)
        assert bool(document["facts"]) == (kind == "round")
        lines = every.run("show", str(index)).out.splitlines()
        assert lines[0] == f"receipt    {index}  {digest(every, index)}"
        assert lines[1].split()[:2] == ["kind", kind]
        assert f"standing   {standing}" in lines


def test_a_ledger_with_every_kind_verifies(every: Desk) -> None:
    document = every.run("verify", "--json").document("verify")
    assert (document["verdict"], document["findings"], document["unknown"]) == ("verified", [], [])
    assert document["kinds"] == {kind: KINDS.count(kind) for kind in KINDS}


# Wrong order and wrong place.


VERDICTS: list[Sequence[str]] = [
    ("frontier",),
    ("pins",),
    ("ladder",),
    ("check-lock", "pins.json"),
    ("rescore", "--rule", "rule.json"),
    ("rule", "list"),
    ("rule", "show", "rule.json"),
    ("rule", "diff", "rule.json", "rule.json"),
]
EVERY_VERDICT = pytest.mark.parametrize("words", VERDICTS, ids=" ".join)


def put_inputs(desk: Desk) -> None:
    put(desk.root, "rule", OTHER)
    put(desk.root, "pins", {"rungbook": "pin-file/v1", "pins": []})


@EVERY_VERDICT
def test_without_a_ledger_there_is_no_verdict(words: Sequence[str], empty_desk: Desk) -> None:
    put_inputs(empty_desk)
    done = empty_desk.run(*words, "--json", status=UNAVAILABLE)
    assert done.document("error")["error"]["code"] == "E_NO_LEDGER"
    assert "rungbook init" in done.err


@EVERY_VERDICT
def test_another_folder_can_be_named(words: Sequence[str], scored: Desk, tmp_path: Path) -> None:
    put_inputs(scored)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    given = [str(scored.root / word) if word.endswith(".json") else word for word in words]
    done = run(*given, "-C", scored.root, cwd=elsewhere)
    assert done.status == OK
    assert done.out == scored.run(*words).out


@EVERY_VERDICT
@pytest.mark.parametrize("index", [WON, SIZE - 1], ids=["in-the-middle", "at-the-end"])
def test_a_ledger_that_was_altered_on_disk_gets_no_verdict(words: Sequence[str], index: int, scored: Desk) -> None:
    put_inputs(scored)
    raw = scored.receipt(index).read_bytes()
    faster = raw.replace(b'"wall_ns":[409600000]', b'"wall_ns":[309600000]').replace(
        b'"wall_ns":[500000000]', b'"wall_ns":[400000000]'
    )
    assert faster != raw
    scored.receipt(index).write_bytes(faster)
    done = scored.run(*words, status=REFUTED)
    assert (done.out, done.code()) == ("", "E_SIGNATURE")
    assert f"receipt {index}" in done.err
    document = scored.run(*words, "--json", status=REFUTED).document("error")
    assert (document["status"], document["error"]["index"]) == (REFUTED, index)


@EVERY_VERDICT
def test_a_ledger_with_a_receipt_missing_gets_no_verdict(words: Sequence[str], scored: Desk) -> None:
    put_inputs(scored)
    scored.receipt(WRONG).unlink()
    done = scored.run(*words, status=REFUTED)
    assert (done.out, done.code()) == ("", "E_RECEIPT_MISSING")


@pytest.mark.parametrize(
    "words",
    [("rule", "adopt", "rule.json"), ("ruling", "void", str(WON), "--reason", "r"), ("rescore", "--rule", "rule.json")],
    ids=lambda words: words[0],
)
def test_nothing_is_added_to_a_ledger_that_was_altered(words: Sequence[str], scored: Desk) -> None:
    put_inputs(scored)
    raw = scored.receipt(CLAIMED).read_bytes()
    scored.receipt(CLAIMED).write_bytes(raw.replace(b'"cpu":"one"', b'"cpu":"two"'))
    checkpoint = (scored.root / "receipts" / "checkpoint").read_bytes()
    record = ["--record"] if words[0] == "rescore" else []
    done = scored.run(*words, *record, "--key", scored.key("root"), status=REFUTED)
    assert done.out == ""
    assert (scored.root / "receipts" / "checkpoint").read_bytes() == checkpoint
    assert not scored.receipt(SIZE).exists()


def test_pins_of_a_ledger_that_does_not_hold_are_not_written(scored: Desk) -> None:
    scored.receipt(SMALL).unlink()
    path = scored.root / "pins.json"
    scored.run("pins", "--write", path, status=REFUTED)
    assert not path.exists()


@pytest.mark.parametrize("command", ["frontier", "pins", "ladder"])
def test_a_new_ledger_has_nothing_to_show_and_says_so(command: str, new_desk: Desk) -> None:
    assert new_desk.run(command).out == "nothing here yet\n"
    member = {"frontier": "slots", "pins": "pins", "ladder": "rungs"}[command]
    document = new_desk.run(command, "--json").document(command)
    assert (document["tree_size"], document[member]) == (1, [])
    assert rows(new_desk.run(command, "--csv")) == []
