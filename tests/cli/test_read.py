"""``rungbook log``, ``show`` and ``export``."""

from __future__ import annotations

import hashlib
import importlib
import json
import subprocess
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import load_ssh_public_key
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import VerificationError

from tests.cli.conftest import ORIGIN, Desk
from tests.cli.forge import seal_anything
from tests.cli.program import OK, REFUSED, REFUTED, UNAVAILABLE, USAGE, run
from tests.cli.samples import BINARY, NODE, REAL_ROUND, SLOT, make_rep, make_round, tool_words, write_round
from tests.vectors.outside_tools import need


@pytest.fixture
def full(desk: Desk) -> Desk:
    """The ledger with a real round of a scorer and a made-up one of a contributor: five receipts."""
    desk.run("append", *tool_words(*REAL_ROUND), "--key", desk.key("scorer"))
    desk.run("append", write_round(desk.root), "--key", desk.key("contributor"))
    return desk


def show(desk: Desk, reference: str | int) -> dict[str, Any]:
    return desk.run("show", str(reference), "--json").document("show")


def digest(desk: Desk, index: int) -> str:
    return hashlib.sha256(desk.receipt(index).read_bytes()).hexdigest()


# log


def test_log_lists_every_receipt_with_the_digest_of_its_file(full: Desk) -> None:
    listed = full.run("log", "--json").document("log")
    assert (listed["origin"], listed["tree_size"], listed["mode"]) == (ORIGIN, 5, "quick")
    assert [row["index"] for row in listed["receipts"]] == [0, 1, 2, 3, 4]
    assert [row["sha256"] for row in listed["receipts"]] == [digest(full, index) for index in range(5)]
    assert [row["kind"] for row in listed["receipts"]] == ["genesis", "keys", "keys", "round", "round"]
    keyids = [full.run("key", "show", full.pub(name), "--json").document("key")["keyid"] for name in ("root", "scorer")]
    assert [row["signers"] for row in listed["receipts"][:4]] == [[keyids[0]]] * 3 + [[keyids[1]]]


def test_log_says_what_each_receipt_is_about(full: Desk) -> None:
    rows = full.run("log", "--json").document("log")["receipts"]
    assert [row["what"] for row in rows] == [
        ORIGIN,
        f"grant scorer of {NODE}",
        "grant contributor",
        f"score main+candidate  demo · {NODE} · F32 · 512 · prefill_tok_s",
        f"score main+candidate  demo · {NODE} · F32 · 512 · prefill_tok_s",
    ]


def test_log_in_words_is_a_table_under_a_head(full: Desk) -> None:
    lines = full.run("log").out.splitlines()
    assert lines[0].split() == ["index", "sealed", "at", "kind", "sha256", "what"]
    assert [line.split()[0] for line in lines[1:]] == ["0", "1", "2", "3", "4"]
    assert all(digest(full, index)[:12] in line for index, line in enumerate(lines[1:]))
    assert len({line.index(digest(full, index)[:12]) for index, line in enumerate(lines[1:])}) == 1
    assert all(line == line.rstrip() for line in lines)


@pytest.mark.parametrize(
    ("last", "indices"), [("2", [3, 4]), ("5", [0, 1, 2, 3, 4]), ("9", [0, 1, 2, 3, 4]), ("0", [0, 1, 2, 3, 4])]
)
def test_log_last_gives_the_end(full: Desk, last: str, indices: list[int]) -> None:
    rows = full.run("log", "--last", last, "--json").document("log")["receipts"]
    assert [row["index"] for row in rows] == indices


@pytest.mark.parametrize("last", ["-1", "two", "1.5"])
def test_log_last_is_a_number(full: Desk, last: str) -> None:
    assert "--last" in full.run("log", "--last", last, status=USAGE).err


def test_a_change_of_the_threshold_and_a_revocation_are_told(desk: Desk) -> None:
    desk.run("revoke", desk.pub("contributor"), "--role", "contributor", "--key", desk.key("root"))
    seal_anything(desk, "keys", {"changes": [{"action": "threshold", "threshold": 1}]}, by="root", seq=4)
    rows = desk.run("log", "--last", "2", "--json").document("log")["receipts"]
    assert [row["what"] for row in rows] == ["revoke contributor", "threshold 1"]


@pytest.mark.parametrize("words", [("log",), ("show", "0"), ("export", "0")], ids=lambda words: words[0])
def test_a_ledger_that_does_not_hold_is_not_read(full: Desk, words: tuple[str, ...]) -> None:
    raw = full.receipt(2).read_bytes()
    full.receipt(2).write_bytes(raw.replace(b'"contributor"', b'"maintainer"'))
    done = full.run(*words, status=REFUTED)
    assert done.out == ""
    assert done.code() == "E_CHAIN"
    assert "receipt 3" in done.err


def test_a_receipt_of_a_newer_release_is_listed_by_its_kind(desk: Desk) -> None:
    seal_anything(desk, "ticket", {"node": NODE})
    row = desk.run("log", "--json").document("log")["receipts"][3]
    assert (row["kind"], row["what"]) == ("ticket", "")


FOREIGN = {"urn:rungbook:ticket:v1": "https://example.org/provenance/v1"}
NONSENSE = [
    pytest.param("keys", {"changes": "none"}, None, id="keys"),
    pytest.param("keys", {}, None, id="keys-empty"),
    pytest.param("round", {"id": "r"}, None, id="round"),
    pytest.param("round", "text", None, id="round-text"),
    pytest.param("round", {**make_round(), "reps": [{}]}, None, id="reps"),
    pytest.param("round", {**make_round(), "reps": [make_rep(0, "main", metrics=["speed"])]}, None, id="metric"),
    pytest.param("genesis", {"note": "again"}, None, id="genesis"),
    pytest.param("ticket", {"node": NODE}, None, id="newer-kind"),
    pytest.param("ticket", {"node": NODE}, FOREIGN, id="foreign-kind"),
]


@pytest.mark.parametrize(("kind", "body", "edit"), NONSENSE)
def test_a_sealed_receipt_that_makes_no_sense_crashes_no_reader(
    desk: Desk, kind: str, body: object, edit: dict[str, str] | None
) -> None:
    index = str(seal_anything(desk, kind, body, edit=edit))
    for words in (("log",), ("show", index), ("show", index, "--json"), ("export", index)):
        done = run(*words, cwd=desk.root)
        assert done.status in (OK, REFUTED, UNAVAILABLE), (words, done)


# show


def test_show_gives_the_receipt_as_its_file_holds_it(full: Desk) -> None:
    shown = show(full, 3)
    assert shown["receipt"] == json.loads(full.receipt(3).read_bytes())
    assert (shown["index"], shown["kind"], shown["sha256"]) == (3, "round", digest(full, 3))


@pytest.mark.parametrize("length", [4, 12, 64])
def test_show_takes_the_start_of_a_digest(full: Desk, length: int) -> None:
    assert show(full, digest(full, 3)[:length])["index"] == 3


def test_show_takes_a_digest_in_capitals(full: Desk) -> None:
    assert show(full, digest(full, 3).upper())["index"] == 3


@pytest.mark.parametrize(
    "reference", ["5", "99999999999999999999", "zzzz", "0" * 64, "", "-", "\N{FULLWIDTH DIGIT ONE}", "3 "]
)
@pytest.mark.parametrize("command", ["show", "export"])
def test_a_reference_that_names_nothing_is_refused(full: Desk, command: str, reference: str) -> None:
    done = full.run(command, "--json", "--", reference, status=REFUSED)
    error = done.document("error")["error"]
    assert error["code"] == "E_NO_RECEIPT"
    assert "from 0 to 4" in error["message"]


def test_fewer_than_four_digits_name_nothing(full: Desk) -> None:
    start = next(text for index in range(5) if not (text := digest(full, index)[:3]).isdecimal())
    assert "at least 4" in full.run("show", start, status=REFUSED).err


def test_an_ambiguous_start_of_a_digest_is_refused(desk: Desk) -> None:
    number, seen, start = 0, {digest(desk, index)[:4] for index in range(3)}, ""
    while not start:
        paths = [write_round(desk.root, number + at) for at in range(100)]
        number += len(paths)
        done = desk.run("append", *paths, "--key", desk.key("scorer"), "--json").document("append")
        for item in done["receipts"]:
            found = item["sha256"][:4]
            if found in seen and not found.isdecimal():
                start = found
            seen.add(found)
    error = desk.run("show", start, "--json", status=REFUSED).document("error")["error"]
    assert error["code"] == "E_NO_RECEIPT"
    assert "ambiguous" in error["message"]


def test_show_tells_attested_from_measured_and_other_kinds_in_force(full: Desk) -> None:
    assert [show(full, index)["standing"] for index in range(5)] == [
        "in force", "in force", "in force", "attested", "measured",
    ]  # fmt: skip


def test_standing_is_judged_by_the_roles_at_the_receipts_index(full: Desk) -> None:
    by_root = ("--key", full.key("root"))
    full.run("revoke", full.pub("scorer"), "--role", "scorer", *by_root)
    full.run("grant", full.pub("contributor"), "--role", "scorer", "--node", NODE, *by_root)
    assert [show(full, index)["standing"] for index in (3, 4)] == ["attested", "measured"]


def test_show_never_calls_attested_what_no_scorer_signed(desk: Desk) -> None:
    unknown = seal_anything(desk, "round", make_round(1), by="stranger")
    elsewhere = seal_anything(desk, "round", {**make_round(2), "slot": {**SLOT, "context": 512, "node": "x"}})
    for index, code in ((unknown, "E_KEY_UNKNOWN"), (elsewhere, "E_NODE")):
        standing = show(desk, index)["standing"]
        assert standing.startswith("refuted: ")
        assert code in standing


def test_show_in_words_names_signers_arms_and_facts(full: Desk) -> None:
    lines = full.run("show", "3").out.splitlines()
    heads = [line.split()[0] for line in lines]
    assert heads[:6] == ["receipt", "kind", "statement", "sealed", "signed", "standing"]
    assert lines[0] == f"receipt    3  {digest(full, 3)}"
    assert "standing   attested" in lines
    assert f"arm        main  code {'a' * 12}  commit b11434" in lines
    table = lines[heads.index("metric") :]
    assert table[0].split() == [
        "metric",
        "context",
        "arm",
        "reps",
        "median",
        "lowest",
        "highest",
        "spread",
        "%",
        "unit",
    ]
    assert [tuple(line.split()[:4]) for line in table[1:]] == [
        ("gen_tok_s", "0", "candidate", "5"),
        ("gen_tok_s", "0", "main", "5"),
        ("prefill_tok_s", "512", "candidate", "5"),
        ("prefill_tok_s", "512", "main", "5"),
    ]


def test_show_names_the_settings_in_which_the_arms_differ_and_no_other(full: Desk) -> None:
    differs = [line for line in full.run("show", "3").out.splitlines() if line.startswith("differs")]
    assert differs == ["differs    n_ubatch: 32, 512"]


def test_one_repetition_has_no_spread(full: Desk) -> None:
    assert all(fact["spread_pct"] is None for fact in show(full, 4)["facts"])
    assert full.run("show", "4").out.count("one rep") == 2


def test_show_of_a_round_by_hand_gives_its_facts(full: Desk) -> None:
    facts = show(full, 4)["facts"]
    assert [(fact["arm"], fact["metric"], fact["context"]) for fact in facts] == [
        ("candidate", "prefill_tok_s", 512),
        ("main", "prefill_tok_s", 512),
    ]
    # 512 tokens in 0.1 s and in 0.125 s
    assert facts[0]["median_exact"] == "4608"
    assert facts[0]["median"] == "4608.000000"
    assert facts[0]["reps"] == [
        {"order": 1, "records": 2, "median": "4608.000000", "mean": "4608.000000", "median_exact": "4608"}
    ]


def test_only_rounds_have_facts(full: Desk) -> None:
    assert show(full, 1)["facts"] == []
    assert "median" not in full.run("show", "1").out


def test_show_without_a_reference_is_a_usage_error(full: Desk) -> None:
    full.run("show", status=USAGE)


# export


def export(desk: Desk, index: int) -> bytes:
    return desk.run("export", str(index)).out.encode()


def foreign_envelope(desk: Desk, index: int) -> Envelope:
    envelope = Envelope.from_dict(json.loads(export(desk, index)))
    assert isinstance(envelope, Envelope)
    return envelope


SIGNER: Any = importlib.import_module("securesystemslib.signer")  # exports its names, but not to type checkers


def foreign_key(desk: Desk, name: str) -> Any:  # noqa: ANN401 - as above
    keyid = desk.run("key", "show", desk.pub(name), "--json").document("key")["keyid"]
    return SIGNER.SSlibKey.from_crypto(load_ssh_public_key(desk.pub(name).read_bytes()), keyid=keyid)


def test_export_gives_an_envelope_that_another_implementation_verifies(full: Desk) -> None:
    envelope, key = foreign_envelope(full, 3), foreign_key(full, "scorer")
    assert set(envelope.verify([key], 1)) == {key.keyid}
    assert envelope.payload_type == "application/vnd.in-toto+json"
    assert json.loads(envelope.payload) == json.loads(full.receipt(3).read_bytes())["statement"]


def test_an_altered_envelope_does_not_verify_there(full: Desk) -> None:
    envelope = foreign_envelope(full, 3)
    altered = envelope.payload.replace(BINARY.encode(), b"0" * 64)
    assert altered != envelope.payload
    with pytest.raises(VerificationError):
        Envelope(altered, envelope.payload_type, envelope.signatures).verify([foreign_key(full, "scorer")], 1)
    with pytest.raises(VerificationError):
        envelope.verify([foreign_key(full, "contributor")], 1)


def test_export_to_a_file_is_the_same_and_silent(full: Desk) -> None:
    done = full.run("export", "3", "--format", "dsse", "-o", "deep/round.json")
    assert (done.out, done.err) == ("", "")
    assert (full.root / "deep" / "round.json").read_bytes() == export(full, 3)
    assert [path.name for path in (full.root / "deep").iterdir()] == ["round.json"]


def test_export_as_json_carries_the_envelope_and_the_file(full: Desk) -> None:
    bare = full.run("export", "3", "--json").document("export")
    assert (bare["index"], bare["format"], bare["file"]) == (3, "dsse", None)
    assert bare["data"].encode() == export(full, 3)
    filed = full.run("export", "3", "-o", "round.json", "--json").document("export")
    assert filed == {**bare, "file": "round.json"}
    assert (full.root / "round.json").read_bytes() == export(full, 3)


def test_an_exported_statement_can_be_sealed_again_and_is_the_same_receipt(full: Desk) -> None:
    full.run("export", "4", "-o", "round.json")
    done = full.run("seal", "round.json", "--json").document("append")
    assert [(item["index"], item["existed"]) for item in done["receipts"]] == [(4, True)]


def test_export_in_another_format_is_refused_and_the_formats_are_named(full: Desk) -> None:
    done = full.run("export", "3", "--format", "cose", status=REFUSED)
    assert done.code() == "E_OPTION"
    assert "dsse" in done.err


def test_export_to_a_place_that_cannot_be_written_is_unavailable(full: Desk) -> None:
    (full.root / "file").write_text("")
    assert full.run("export", "3", "-o", "file/round.json", status=UNAVAILABLE).code() == "E_IO"
    (full.root / "folder").mkdir()
    assert full.run("export", "3", "-o", "folder", status=UNAVAILABLE).code() == "E_IO"
    assert list((full.root / "folder").iterdir()) == []


def test_the_digests_are_those_of_sha256sum(full: Desk) -> None:
    need("sha256sum")
    done = subprocess.run(["sha256sum", full.receipt(3)], capture_output=True, text=True, check=True)
    assert done.stdout.split()[0] == show(full, 3)["sha256"]
    assert json.loads(full.receipt(4).read_bytes())["seal"]["prev"] == show(full, 3)["sha256"]
