"""Rules as documents: what is refused and where, the address of a rule, and the slots that it judges."""

from __future__ import annotations

import copy
import hashlib
import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from ledger import schema
from ledger.errors import MalformedError, RefusedError
from ledger.json_input import parse_json
from ledger.rule import Guard, ParityBars, Ratchet, check_rule, read_rule, rule_digest
from tests.support.scoring import DECODE, PREFILL, make_rule, rule_body

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ledger.canonical import JsonObject

FULL = rule_body(
    description="every part that a rule can have",
    frontier={"basis": "ledger", "agree": "0.05", "alarm": "0.75"},
    parity={
        "top1_min": "0.9",
        "kl_max": "0.05",
        "kl_prefer": "0.02",
        "path": "batched",
        "depths": [4, 128],
        "ratchet": {"warn": "2", "block": "5", "floor": "0.001", "block_from": "0.01"},
    },
    guards=[
        {"metric": "decode_tok_s", "context": 512, "tolerance": "0.01", "role": "basis", "unattested_base": "56.8"},
        {"metric": "ttft", "context": 128, "tolerance": "0.03"},
    ],
    significance={"share": "0.02", "noise": "used"},
    plausibility={"ceiling": "2.5", "wall_over": "1.5", "wall_under": "0.25"},
    denominator={"unattested": "18.321"},
    cap="1.25",
    boost={"slope": "0.5", "max": "4"},
)

NEVER_ZERO = [
    "/frontier/alarm",
    "/guards/0/unattested_base",
    "/plausibility/ceiling",
    "/plausibility/wall_over",
    "/plausibility/wall_under",
    "/denominator/unattested",
    "/cap",
    "/boost/max",
]
MAY_BE_ZERO = [
    "/frontier/agree",
    "/parity/top1_min",
    "/parity/kl_max",
    "/parity/kl_prefer",
    "/parity/ratchet/warn",
    "/parity/ratchet/block",
    "/parity/ratchet/floor",
    "/parity/ratchet/block_from",
    "/guards/0/tolerance",
    "/guards/1/tolerance",
    "/significance/share",
    "/boost/slope",
    "/bands/4/from",
]
OTHER_EDGES = [f"/bands/{at}/from" for at in range(4)]
DECIMALS = [*NEVER_ZERO, *MAY_BE_ZERO, *OTHER_EDGES]


def with_value(where: str, value: object) -> JsonObject:
    """The full rule with the member at a pointer replaced or added."""
    body = copy.deepcopy(FULL)
    *steps, last = where.split("/")[1:]
    target: Any = body
    for step in steps:
        target = target[int(step) if isinstance(target, list) else step]
    target[int(last) if isinstance(target, list) else last] = value
    return body


def leaves(value: object, where: str = "") -> Iterator[tuple[str, object]]:
    if isinstance(value, dict):
        for name, item in value.items():
            yield from leaves(item, f"{where}/{name}")
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from leaves(item, f"{where}/{at}")
    else:
        yield where, value


def refusal(body: JsonObject) -> tuple[str, str]:
    """Code and place of what is wrong with a rule that satisfies its schema; both readers must agree."""
    schema.validate("rule-input", body)
    found = []
    for read in (check_rule, read_rule):
        with pytest.raises(RefusedError) as caught:
            read(body)
        found.append((caught.value.code, caught.value.where))
    assert found[0] == found[1]
    return found[0]


def schema_refusal(body: JsonObject) -> tuple[str, str]:
    with pytest.raises(MalformedError) as caught:
        schema.validate("rule-input", body)
    return caught.value.code, caught.value.where


class TestNumbers:
    def test_the_lists_of_these_tests_leave_no_number_out(self) -> None:
        decimal = re.compile("[0-9]+([.][0-9]+)?", re.ASCII)
        found = [where for where, value in leaves(FULL) if isinstance(value, str) and decimal.fullmatch(value)]
        assert sorted(found) == sorted(DECIMALS)

    def test_the_full_rule_is_accepted(self) -> None:
        schema.validate("rule-input", FULL)
        check_rule(FULL)
        assert read_rule(FULL).body == FULL

    @pytest.mark.parametrize(("where", "text"), [("/boost/max", "0.99"), ("/parity/top1_min", "1.01")])
    def test_a_boost_takes_nothing_away_and_no_bar_is_out_of_reach(self, where: str, text: str) -> None:
        assert refusal(with_value(where, text)) == ("E_RULE_NUMBER", where)

    @pytest.mark.parametrize("where", DECIMALS)
    @pytest.mark.parametrize("text", ["-1", "-0.000001"])
    def test_no_number_is_negative(self, where: str, text: str) -> None:
        assert refusal(with_value(where, text)) == ("E_RULE_NUMBER", where)

    @pytest.mark.parametrize("where", NEVER_ZERO)
    @pytest.mark.parametrize("text", ["0", "0.000", "-0"])
    def test_what_is_divided_by_or_multiplied_with_is_not_zero(self, where: str, text: str) -> None:
        assert refusal(with_value(where, text)) == ("E_RULE_NUMBER", where)

    @pytest.mark.parametrize("where", MAY_BE_ZERO)
    def test_a_bar_may_be_zero(self, where: str) -> None:
        body = with_value(where, "0")
        schema.validate("rule-input", body)
        assert read_rule(body).digest == rule_digest(body)

    def test_the_message_says_the_number(self) -> None:
        with pytest.raises(RefusedError, match=r"-0\.125 is not a positive number"):
            check_rule(with_value("/cap", "-0.125"))


def bands(*pairs: tuple[str, str]) -> list[JsonObject]:
    return [{"tier": tier, "from": edge} for tier, edge in pairs]


class TestBands:
    @pytest.mark.parametrize(
        ("pairs", "at"),
        [
            pytest.param([("xl", "0.1"), ("l", "0.2")], 1, id="gains-rise"),
            pytest.param([("l", "0.2"), ("xl", "0.1")], 1, id="tiers-rise"),
            pytest.param([("xl", "0.1"), ("l", "0.1")], 1, id="one-gain-twice"),
            pytest.param([("xl", "0.1"), ("l", "0.10")], 1, id="one-gain-written-in-two-ways"),
            pytest.param([("xl", "0.2"), ("xl", "0.1")], 1, id="one-tier-twice"),
            pytest.param([("xl", "0.3"), ("l", "0.2"), ("m", "0.25"), ("s", "0.1")], 2, id="the-third"),
            pytest.param([("xl", "0.3"), ("m", "0.2"), ("s", "0.1"), ("l", "0.05")], 3, id="the-last-is-higher"),
            pytest.param([("xl", "0.3"), ("l", "0.2"), ("xl", "0.1")], 2, id="the-first-once-more"),
        ],
    )
    def test_tiers_and_gains_go_down_together(self, pairs: list[tuple[str, str]], at: int) -> None:
        assert refusal(rule_body(bands=bands(*pairs))) == ("E_RULE_BANDS", f"/bands/{at}")

    @pytest.mark.parametrize("pairs", [[("xs", "0")], [("xl", "2"), ("xs", "0.02")], [("m", "0.1"), ("s", "0.09")]])
    def test_tiers_may_be_left_out(self, pairs: list[tuple[str, str]]) -> None:
        assert make_rule(bands=bands(*pairs)).bands == tuple(pairs)

    def test_gains_are_compared_as_numbers_and_not_as_text(self) -> None:
        assert make_rule(bands=bands(("xl", "10"), ("l", "9"))).bands == (("xl", "10"), ("l", "9"))


GUARD = {"metric": "decode_tok_s", "context": 512, "tolerance": "0.01"}
PARITY = {"top1_min": "0.9", "kl_max": "0.05"}


class TestTwice:
    @pytest.mark.parametrize(
        ("members", "where"),
        [
            pytest.param({"slots": [{"metric": "ttft"}, {"metric": "ttft"}]}, "/slots", id="slot"),
            pytest.param(
                {"slots": [{"metric": "ttft", "context": 4}, {"metric": "wall"}, {"context": 4, "metric": "ttft"}]},
                "/slots",
                id="slot-in-another-order",
            ),
            pytest.param({"guards": [GUARD, GUARD]}, "/guards", id="guard"),
            pytest.param({"guards": [GUARD, GUARD | {"tolerance": "0.5"}]}, "/guards", id="guard-with-two-tolerances"),
            pytest.param({"guards": [GUARD, GUARD | {"role": "basis"}]}, "/guards", id="guard-with-two-bases"),
            pytest.param({"parity": PARITY | {"depths": [4, 128, 4]}}, "/parity/depths", id="depth"),
        ],
    )
    def test_one_entry_is_not_listed_twice(self, members: JsonObject, where: str) -> None:
        assert refusal(rule_body(**members)) == ("E_RULE_TWICE", where)

    @pytest.mark.parametrize(
        "members",
        [
            {"slots": [{"metric": "ttft"}, {"metric": "ttft", "context": 4}, {"metric": "ttft", "context": 5}]},
            {"guards": [GUARD, GUARD | {"context": 513}, GUARD | {"metric": "ttft"}]},
            {"parity": PARITY | {"depths": [4, 0, 128]}},
        ],
        ids=["slots", "guards", "depths"],
    )
    def test_what_differs_in_one_axis_is_another_entry(self, members: JsonObject) -> None:
        assert make_rule(**members).body == rule_body(**members)


class TestSlots:
    @pytest.mark.parametrize("project", ["p+cache-warm", "0+cache-warm", "p+cache-warm+cache-warm", "p" * 190])
    def test_the_name_of_what_a_cache_supplied_is_reserved(self, project: str) -> None:
        slots = [{"metric": "ttft"}, {"metric": "ttft", "project": project}]
        assert refusal(rule_body(slots=slots)) == ("E_SLOT", "/slots/1/project")

    @pytest.mark.parametrize("project", ["p+cache-warm-not", "p+cache", "p" * 189])
    def test_a_name_that_is_near_to_it_is_not(self, project: str) -> None:
        assert make_rule(slots=[{"metric": "ttft", "project": project}]).slots[0]["project"] == project


class TestDenominator:
    @pytest.mark.parametrize("part", ["plausibility", "boost"])
    def test_a_multiple_of_nothing_is_refused(self, part: str) -> None:
        members = {"plausibility": {"ceiling": "2.5"}, "boost": {"slope": "0.5", "max": "4"}}
        assert refusal(rule_body(**{part: members[part]})) == ("E_RULE_DENOMINATOR", f"/{part}")
        rule = make_rule(**{part: members[part], "denominator": {"receipt": "a" * 64}})
        assert (rule.reference, rule.unattested) == ("a" * 64, None)

    def test_the_wall_clock_needs_none(self) -> None:
        rule = make_rule(plausibility={"wall_over": "1.1", "wall_under": "0.5"})
        assert (rule.wall_over, rule.wall_under, rule.ceiling) == ("1.1", "0.5", None)


class TestEvidence:
    @pytest.mark.parametrize("evidence", ["attested", "measured"])
    def test_only_imported_figures_record_a_frontier(self, evidence: str) -> None:
        body = rule_body(evidence=evidence, frontier={"basis": "recorded"})
        assert refusal(body) == ("E_RULE_EVIDENCE", "/evidence")

    @pytest.mark.parametrize(("basis", "recorded"), [("recorded", True), ("ledger", False)])
    def test_imported_figures_may_be_held_against_either(self, basis: str, *, recorded: bool) -> None:
        assert make_rule(evidence="imported", frontier={"basis": basis}).recorded is recorded


REQUIRED = ["bands", "evidence", "frontier", "min_reps", "name", "numbers", "significance", "slots", "statistic"]


class TestSchema:
    @pytest.mark.parametrize("name", REQUIRED)
    def test_what_changes_a_verdict_has_no_default(self, name: str) -> None:
        code, _ = schema_refusal(rule_body(**{name: None}))
        assert code == "E_SCHEMA"

    @pytest.mark.parametrize(
        "where",
        [
            "/threshold",
            "/slots/0/nodes",
            "/frontier/value",
            "/parity/kl_min",
            "/parity/ratchet/base",
            "/guards/0/base",
            "/significance/sigma",
            "/plausibility/floor",
            "/denominator/value",
            "/boost/min",
            "/bands/0/to",
        ],
    )
    def test_a_member_that_nobody_would_read_is_refused(self, where: str) -> None:
        code, place = schema_refusal(with_value(where, "1"))
        assert code == "E_SCHEMA"
        assert where.startswith(place)

    @pytest.mark.parametrize(
        "value",
        [1, 0.5, True, None, "", " 1", "1 ", "1\n", "+1", "1e-2", "1E2", ".5", "5.", "01", "1,5", "0x1", "1_0", "nan"],
        ids=repr,
    )
    def test_every_number_is_a_decimal_in_text(self, value: object) -> None:
        for where in DECIMALS:
            code, place = schema_refusal(with_value(where, value))
            # There are two forms of denominator; a value that fits neither may be told for the whole.
            places = {where, "/denominator"} if where.startswith("/denominator/") else {where}
            assert code == "E_SCHEMA"
            assert place in places

    @pytest.mark.parametrize(
        ("where", "value"),
        [
            ("/bands", []),
            ("/bands", [{"tier": "xl", "from": f"0.{9 - at}"} for at in range(6)]),
            ("/bands/0/tier", "xxl"),
            ("/bands/0/tier", "XL"),
            ("/floor_tier", "none"),
            ("/slots", []),
            ("/slots/0/metric", "speed"),
            ("/slots/0/context", "512"),
            ("/slots/0/context", -1),
            ("/guards/0/context", 1.5),
            ("/parity/path", ""),
            ("/guards/0/role", "reference"),
            ("/parity/depths/0", -4),
            ("/statistic", "average"),
            ("/numbers", "float"),
            ("/evidence", "claimed"),
            ("/frontier/basis", "given"),
            ("/significance/noise", "maybe"),
            ("/min_reps", 0),
            ("/min_reps", "2"),
            ("/name", ""),
            ("/name", "two words"),
            ("/description", ""),
        ],
    )
    def test_a_value_that_no_rule_can_mean_is_refused_by_its_place(self, where: str, value: object) -> None:
        code, place = schema_refusal(with_value(where, value))
        assert (code, place) == ("E_SCHEMA", where)

    def test_a_slot_names_its_metric(self) -> None:
        code, place = schema_refusal(rule_body(slots=[{"project": "p"}]))
        assert (code, place) == ("E_SCHEMA", "/slots/0")

    def test_a_denominator_is_a_receipt_or_a_number_and_not_both(self) -> None:
        both = {"receipt": "a" * 64, "unattested": "18"}
        for denominator in (both, {}, {"receipt": "A" * 64}, {"receipt": "a" * 63}):
            code, place = schema_refusal(rule_body(denominator=denominator))
            assert code == "E_SCHEMA"
            assert place in {"/denominator", "/denominator/receipt"}

    @pytest.mark.parametrize("body", [[], "rule", None, 1], ids=repr)
    def test_what_is_no_object_is_no_rule(self, body: Any) -> None:  # noqa: ANN401 - anything is the point
        assert schema_refusal(body) == ("E_SCHEMA", "")


class TestDigest:
    @pytest.mark.parametrize("body", [FULL, rule_body()], ids=["full", "small"])
    def test_it_is_the_sha256_of_the_canonical_bytes(self, body: JsonObject) -> None:
        plain = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
        assert rule_digest(body) == hashlib.sha256(plain).hexdigest() == read_rule(body).digest

    def test_the_layout_of_the_file_does_not_matter(self) -> None:
        turned = dict(reversed(FULL.items()))
        files = [
            json.dumps(FULL, separators=(",", ":")),
            json.dumps(FULL, indent=4),
            json.dumps(turned, indent="\t"),
            f"\n\n {json.dumps(turned)}\n",
            json.dumps(FULL).replace('"rule"', '"\\u0072ule"', 1),
        ]
        assert len(set(files)) == len(files)
        assert {rule_digest(parse_json(text.encode())) for text in files} == {rule_digest(FULL)}

    @pytest.mark.parametrize(
        ("where", "value"),
        [
            ("/name", "other"),
            ("/description", "Every part that a rule can have"),
            ("/cap", "1.250"),
            ("/min_reps", 3),
            ("/parity/depths", [128, 4]),
            ("/guards/0/role", "guard"),
            ("/floor_tier", "s"),
        ],
    )
    def test_every_member_counts_as_it_is_written(self, where: str, value: object) -> None:
        assert rule_digest(with_value(where, value)) != rule_digest(FULL)

    def test_a_text_that_canonical_json_cannot_hold_has_no_digest(self) -> None:
        with pytest.raises(MalformedError) as caught:
            read_rule(rule_body(description="a bell \a"))
        assert caught.value.code == "E_DOMAIN"


class TestReading:
    def test_every_part_is_read_as_it_is_written(self) -> None:
        rule = read_rule(FULL)
        assert (rule.name, rule.statistic, rule.min_reps) == ("rule", "median", 2)
        assert (rule.numbers, rule.evidence, rule.recorded) == ("exact", "attested", False)
        assert (rule.agree, rule.alarm) == ("0.05", "0.75")
        assert rule.parity == ParityBars(
            top1_min="0.9",
            kl_max="0.05",
            kl_prefer="0.02",
            path="batched",
            depths=(4, 128),
            ratchet=Ratchet(warn="2", block="5", floor="0.001", block_from="0.01"),
        )
        assert rule.guards == (
            Guard(metric="decode_tok_s", context=512, tolerance="0.01", role="basis", unattested_base="56.8"),
            Guard(metric="ttft", context=128, tolerance="0.03", role="guard", unattested_base=None),
        )
        assert (rule.share, rule.noise) == ("0.02", "used")
        assert (rule.ceiling, rule.wall_over, rule.wall_under) == ("2.5", "1.5", "0.25")
        assert (rule.reference, rule.unattested) == (None, "18.321")
        assert (rule.cap, rule.boost, rule.floor_tier) == ("1.25", ("0.5", "4"), "xs")
        assert rule.bands[0] == ("xl", "0.18")

    def test_a_part_that_is_absent_is_a_gate_that_does_not_exist(self) -> None:
        rule = make_rule(floor_tier=None)
        assert (rule.agree, rule.alarm, rule.parity, rule.guards, rule.noise) == (None, None, None, (), "ignored")
        assert (rule.ceiling, rule.wall_over, rule.wall_under, rule.reference, rule.unattested) == (None,) * 5
        assert (rule.cap, rule.boost, rule.floor_tier) == (None, None, None)

    def test_a_ratchet_without_floors_holds_everywhere(self) -> None:
        rule = make_rule(parity=PARITY | {"ratchet": {"warn": "2", "block": "5"}})
        assert rule.parity is not None
        assert rule.parity.ratchet == Ratchet(warn="2", block="5", floor="0", block_from="0")
        assert (rule.parity.kl_prefer, rule.parity.path, rule.parity.depths) == (None, None, ())


class TestCovers:
    def test_an_axis_that_is_not_named_may_have_any_value(self) -> None:
        rule = make_rule(slots=[{"metric": "decode_tok_s"}])
        other = {"project": "q", "node": "n9", "quant": "f32", "context": 0}
        assert rule.covers(DECODE)
        assert rule.covers(DECODE | other)
        assert not rule.covers(PREFILL)

    @pytest.mark.parametrize(
        ("axis", "value"),
        [("project", "q"), ("node", "n2"), ("quant", "q4"), ("context", 513), ("metric", "prefill_tok_s")],
    )
    def test_an_axis_that_is_named_must_be_the_same(self, axis: str, value: object) -> None:
        assert make_rule(slots=[{"metric": "decode_tok_s", axis: DECODE[axis]}]).covers(DECODE)
        assert make_rule(slots=[DECODE]).covers(DECODE)
        assert not make_rule(slots=[DECODE]).covers(DECODE | {axis: value})
        assert not make_rule(slots=[{"metric": "decode_tok_s"} | {axis: value}]).covers(DECODE)

    def test_the_axes_of_two_entries_are_not_mixed(self) -> None:
        rule = make_rule(slots=[DECODE | {"node": "n2"}, DECODE | {"context": 4}])
        assert rule.covers(DECODE | {"node": "n2"})
        assert rule.covers(DECODE | {"context": 4})
        assert not rule.covers(DECODE)
        assert not rule.covers(DECODE | {"node": "n2", "context": 4})
