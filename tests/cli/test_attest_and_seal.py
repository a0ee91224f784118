"""``rungbook attest`` and ``rungbook seal``: two people, one who measures and one who holds the ledger's key."""

from __future__ import annotations

import json
from itertools import permutations
from typing import TYPE_CHECKING, Any

import pytest

from ledger.dsse import Signature, encode_envelope
from ledger.keys import parse_private_key
from ledger.statement import import_envelope
from ledger.strict import b64decode, b64encode
from tests.cli.conftest import Desk
from tests.cli.program import OK, REFUSED, UNAVAILABLE, USAGE, Result, run
from tests.cli.samples import RUNS, SLOT, tool_words, write_round

if TYPE_CHECKING:
    from pathlib import Path

    from ledger.statement import SignedStatement

FOREIGN = json.dumps(
    {
        "payload": b64encode(
            b'{"_type":"https://in-toto.io/Statement/v1","predicate":{"builder":"x"},'
            b'"predicateType":"https://example.org/provenance/v1","subject":[]}'
        ),
        "payloadType": "application/vnd.in-toto+json",
        "signatures": [{"keyid": "SHA256:" + "A" * 43, "sig": b64encode(bytes(64))}],
    }
)
PAIR = [("main", RUNS / "round1_1a_main.json"), ("candidate", RUNS / "round1_1b_candidate.json")]


def attest(desk: Desk, *words: str | Path, by: str = "scorer", status: int = OK) -> Result:
    return desk.run("attest", *words, "--key", desk.key(by), status=status)


def attested_files(done: Result) -> list[str]:
    return [item["file"] for item in done.document("attest")["files"]]


def read_envelope(path: Path) -> SignedStatement:
    return import_envelope(path.read_bytes())


def inbox(desk: Desk) -> list[Path]:
    return sorted((desk.root / "inbox").iterdir())


def sealed_ids(desk: Desk) -> list[str]:
    receipts = [json.loads(desk.receipt(index).read_bytes()) for index in range(3, desk.size)]
    return [receipt["statement"]["predicate"]["round"]["id"] for receipt in receipts]


def seqs(desk: Desk) -> list[int]:
    receipts = [json.loads(desk.receipt(index).read_bytes()) for index in range(3, desk.size)]
    return [receipt["statement"]["predicate"]["producer"]["seq"] for receipt in receipts]


def files_of(desk: Desk, numbers: list[int]) -> list[Path]:
    """Rounds attested one after the other, one file each, in the inbox."""
    return [desk.root / attested_files(attest(desk, write_round(desk.root, number), "--json"))[0] for number in numbers]


def spoil(path: Path, source: Path, **members: Any) -> Path:  # noqa: ANN401 - members of an envelope
    path.write_text(json.dumps({**json.loads(source.read_bytes()), **members}))
    return path


# attest


def test_an_attested_round_waits_in_the_inbox_under_its_digest_and_the_ledger_stays(desk: Desk) -> None:
    done = attest(desk, write_round(desk.root), "--json").document("attest")
    (path,) = inbox(desk)
    assert done["payload_type"] == "application/vnd.in-toto+json"
    assert [item["file"] for item in done["files"]] == [str(path)]
    assert path.name == f"{done['files'][0]['statement']}.json"
    assert read_envelope(path).statement.identity.hex() == done["files"][0]["statement"]
    assert desk.size == 3


def test_the_outcome_in_words_says_where_and_what_is_next(desk: Desk) -> None:
    done = attest(desk, write_round(desk.root))
    assert done.out == f"attested  {inbox(desk)[0]}\n"
    assert "rungbook seal" in done.err


def test_attest_needs_no_key_of_the_ledger(desk: Desk) -> None:
    (desk.root / ".rungbook" / "local.toml").unlink()
    attest(desk, write_round(desk.root))


def test_attest_writes_into_a_folder_that_exists_or_ends_with_a_slash(desk: Desk) -> None:
    (desk.root / "out").mkdir()
    first = attest(desk, write_round(desk.root, 1), "-o", "out", "--json")
    second = attest(desk, write_round(desk.root, 1), "-o", "new/", "--json")
    assert attested_files(first) == [
        f"out/{read_envelope(next((desk.root / 'out').iterdir())).statement.identity.hex()}.json"
    ]
    assert attested_files(second)[0].startswith("new/")


def test_attest_writes_one_statement_to_the_file_that_is_named(desk: Desk) -> None:
    attest(desk, write_round(desk.root), "-o", "deep/one.json")
    assert read_envelope(desk.root / "deep" / "one.json").statement.kind == "round"
    assert [path.name for path in (desk.root / "deep").iterdir()] == ["one.json"]


def test_several_statements_do_not_fit_one_file(desk: Desk) -> None:
    paths = [write_round(desk.root, number) for number in (1, 2)]
    done = attest(desk, *paths, "-o", "both.json", status=REFUSED)
    assert done.code() == "E_OUTPUT"
    assert not (desk.root / "both.json").exists()
    assert len(attested_files(attest(desk, *paths, "-o", "both/", "--json"))) == 2


def test_attest_takes_the_files_of_a_tool_and_notes_what_deserves_a_look(desk: Desk) -> None:
    assert "note:" not in attest(desk, *tool_words(*PAIR)).err
    late = attest(desk, *tool_words(("main", RUNS / "round1_5a_main.json"), PAIR[1]))
    assert "note: F_ORDER_TIME" in late.err
    done = desk.run("seal", "inbox", status=REFUSED)  # both rounds use one run of the candidate
    assert done.code() == "E_COPIED_SAMPLES"
    assert desk.size == 3


def test_attesting_the_same_round_again_gives_the_same_file(desk: Desk) -> None:
    path = write_round(desk.root)
    first = attest(desk, path, "--json")
    assert attest(desk, path, "--json").out == first.out
    assert len(inbox(desk)) == 1


def test_attesting_a_round_that_is_sealed_already_does_not_say_that_it_says_something_else(desk: Desk) -> None:
    path = write_round(desk.root)
    words = (path, "--key", desk.key("scorer"))
    desk.run("append", *words)
    done = run("attest", *words, cwd=desk.root)
    assert done.status in (OK, REFUSED)
    assert "receipt 3" in done.out + done.err
    assert "something else" not in done.err


def test_a_round_that_the_ledger_would_not_take_is_not_attested(desk: Desk) -> None:
    done = attest(desk, write_round(desk.root, slot={**SLOT, "node": "elsewhere", "context": 512}), status=REFUSED)
    assert done.code() == "E_NODE"
    assert attest(desk, write_round(desk.root), by="stranger", status=REFUSED).code() == "E_KEY_UNKNOWN"
    assert not (desk.root / "inbox").exists()


def test_attestations_in_sequence_are_numbered_in_sequence(desk: Desk) -> None:
    producers = [read_envelope(path).statement.predicate["producer"] for path in files_of(desk, [7, 3, 5])]
    assert [item["seq"] for item in producers] == [0, 1, 2]
    assert producers[0]["prev_statement"] is None
    for before, after in zip(files_of(desk, [7, 3]), producers[1:], strict=True):
        assert after["prev_statement"] == read_envelope(before).statement.identity.hex()


def test_rounds_of_one_command_are_numbered_in_the_order_given(desk: Desk) -> None:
    attest(desk, *[write_round(desk.root, number) for number in (4, 1)])
    desk.run("seal", "inbox")
    assert (sealed_ids(desk), seqs(desk)) == (["round-4", "round-1"], [0, 1])


def test_numbering_goes_on_from_what_is_sealed(desk: Desk) -> None:
    desk.run("append", write_round(desk.root, 1), "--key", desk.key("scorer"))
    files_of(desk, [2, 3])
    desk.run("seal", "inbox")
    assert seqs(desk) == [0, 1, 2]
    desk.run("verify")


def test_files_that_stay_in_the_inbox_when_they_are_sealed_take_no_number_again(desk: Desk) -> None:
    files_of(desk, [1, 2])
    desk.run("seal", "inbox")
    files_of(desk, [3])
    done = desk.run("seal", "inbox", "--json").document("append")
    assert sorted(item["existed"] for item in done["receipts"]) == [False, True, True]
    assert (sealed_ids(desk), seqs(desk)) == (["round-1", "round-2", "round-3"], [0, 1, 2])


@pytest.mark.parametrize("target", ["out/", "named"])
def test_attestations_outside_of_the_inbox_can_be_sealed_together(desk: Desk, target: str) -> None:
    for number in (1, 2):
        where = target if target.endswith("/") else f"named-{number}.json"
        attest(desk, write_round(desk.root, number), "-o", where)
    desk.run("seal", *(["out"] if target == "out/" else ["named-1.json", "named-2.json"]))
    assert sealed_ids(desk) == ["round-1", "round-2"]


def test_an_attestation_that_was_moved_into_the_inbox_has_one_number(desk: Desk) -> None:
    attest(desk, write_round(desk.root, 1), "-o", "one.json")
    (desk.root / "inbox").mkdir()
    (desk.root / "one.json").rename(desk.root / "inbox" / "one.json")
    attest(desk, write_round(desk.root, 2))
    desk.run("seal", "inbox")
    assert (sealed_ids(desk), seqs(desk)) == (["round-1", "round-2"], [0, 1])
    attest(desk, write_round(desk.root, 3))
    desk.run("seal", "inbox")
    assert seqs(desk) == [0, 1, 2]


def test_a_round_of_a_sealed_id_with_other_contents_is_not_attested(desk: Desk) -> None:
    desk.run("append", write_round(desk.root), "--key", desk.key("scorer"))
    path = write_round(desk.root, environment={"cpu": "another"})
    assert attest(desk, path, status=REFUSED).code() == "E_ID_CONFLICT"


def test_two_producers_number_their_own(desk: Desk) -> None:
    attest(desk, write_round(desk.root, 1))
    attest(desk, write_round(desk.root, 2), by="contributor")
    desk.run("seal", "inbox")
    assert seqs(desk) == [0, 0]
    desk.run("verify")


def test_a_damaged_file_in_the_inbox_is_named(desk: Desk) -> None:
    (desk.root / "inbox").mkdir()
    (desk.root / "inbox" / "cut.json").write_text('{"payload')
    done = attest(desk, write_round(desk.root), status=REFUSED)
    assert "cut.json" in done.err


def test_an_attestation_of_somebody_elses_kind_in_the_inbox_does_not_crash_attest(desk: Desk) -> None:
    (desk.root / "inbox").mkdir()
    (desk.root / "inbox" / "foreign.json").write_text(FOREIGN)
    attest(desk, write_round(desk.root))
    assert len(inbox(desk)) == 2


def test_options_of_a_tools_files_are_refused_beside_an_envelope(desk: Desk) -> None:
    (path,) = files_of(desk, [1])
    done = attest(desk, path, "--purpose", "noise", by="contributor", status=REFUSED)
    assert done.code() == "E_OPTION"


def test_an_envelope_and_a_round_are_not_mixed(desk: Desk) -> None:
    (path,) = files_of(desk, [1])
    attest(desk, path, write_round(desk.root, 2), by="contributor", status=REFUSED)
    assert inbox(desk) == [path]


def test_a_second_signature_is_added_to_an_envelope(desk: Desk) -> None:
    (path,) = files_of(desk, [1])
    attest(desk, path, by="contributor")
    assert len(read_envelope(path).signatures) == 2
    desk.run("seal", "inbox")
    desk.run("verify")


def test_attest_before_init_is_unavailable(empty_desk: Desk) -> None:
    assert attest(empty_desk, write_round(empty_desk.root), status=UNAVAILABLE).code() == "E_NO_LEDGER"


def test_attest_without_input_says_what_to_give(desk: Desk) -> None:
    assert attest(desk, status=REFUSED).code() == "E_NO_INPUT"


def test_a_place_that_cannot_be_written_is_unavailable(desk: Desk) -> None:
    (desk.root / "inbox").write_text("a file")
    done = attest(desk, write_round(desk.root), status=UNAVAILABLE)
    assert done.code() == "E_IO"
    assert "inbox" in done.err


# seal


def test_a_folder_is_sealed_and_the_files_stay(desk: Desk) -> None:
    (path,) = files_of(desk, [1])
    done = desk.run("seal", "inbox", "--json").document("append")
    assert [(item["index"], item["existed"]) for item in done["receipts"]] == [(3, False)]
    assert inbox(desk) == [path]
    shown = desk.run("show", "3", "--json").document("show")
    assert (shown["standing"], shown["statement"]) == ("attested", path.stem)
    desk.run("verify")


def test_sealing_twice_returns_the_receipts_that_exist(desk: Desk) -> None:
    files_of(desk, [1, 2])
    first = desk.run("seal", "inbox", "--json").document("append")
    again = desk.run("seal", "inbox", "--json").document("append")
    assert again["receipts"] == [{**item, "existed": True} for item in first["receipts"]]
    assert again["root_hash"] == first["root_hash"]


def test_remove_removes_the_files_of_sealed_statements(desk: Desk) -> None:
    files_of(desk, [1, 2])
    desk.run("seal", "inbox", "--remove")
    assert inbox(desk) == []
    assert desk.size == 5


@pytest.mark.parametrize("order", list(permutations([0, 1, 2])))
def test_the_order_of_the_names_does_not_matter(desk: Desk, order: tuple[int, ...]) -> None:
    paths = files_of(desk, [1, 2, 3])
    for path, position in zip(paths, order, strict=True):
        path.rename(path.with_name(f"{position}.json"))
    desk.run("seal", "inbox")
    assert (sealed_ids(desk), seqs(desk)) == (["round-1", "round-2", "round-3"], [0, 1, 2])


def test_files_are_sealed_in_any_order_of_the_command_line(desk: Desk) -> None:
    paths = files_of(desk, [1, 2])
    desk.run("seal", *reversed(paths))
    assert sealed_ids(desk) == ["round-1", "round-2"]


def test_a_statement_that_was_dropped_leaves_a_gap_that_verify_shows(desk: Desk) -> None:
    paths = files_of(desk, [1, 2, 3])
    desk.run("seal", paths[0], paths[2])
    flags = desk.run("verify", "--json").document("verify")["flags"]
    assert [item["code"] for item in flags] == ["F_SEQ_GAP"]
    assert "statements 1 " in flags[0]["message"]
    desk.run("seal", paths[1])
    assert desk.run("verify", "--json").document("verify")["flags"] == []


def test_of_several_files_all_or_none_is_sealed_and_the_file_at_fault_is_named(desk: Desk) -> None:
    good, bad = files_of(desk, [1, 2])
    signature = json.loads(bad.read_bytes())["signatures"][0]
    sig = b64decode(signature["sig"])
    forged = b64encode(bytes([sig[0] ^ 1, *sig[1:]]))
    spoil(bad, bad, signatures=[{**signature, "sig": forged}])
    done = desk.run("seal", "inbox", "--json", status=REFUSED).document("error")["error"]
    assert (done["class"], done["code"]) == ("RefusedError", "E_SIGNATURE")
    assert bad.name in done["where"]
    assert good.name not in done["where"]
    assert desk.size == 3


def test_a_single_file_at_fault_is_named_with_the_place(desk: Desk) -> None:
    (path,) = files_of(desk, [1])
    desk.run("revoke", desk.pub("scorer"), "--role", "scorer", "--key", desk.key("root"))
    error = desk.run("seal", path, "--json", status=REFUSED).document("error")["error"]
    assert (error["code"], error["where"]) == ("E_KEY_REVOKED", f"{path} /signatures")


def test_skip_refused_seals_the_rest_names_what_it_left_and_is_refused_all_the_same(desk: Desk) -> None:
    files_of(desk, [1, 2])
    attest(desk, write_round(desk.root, 3), by="contributor")
    (desk.root / "inbox" / "cut.json").write_text('{"payload')
    desk.run("revoke", desk.pub("contributor"), "--role", "contributor", "--key", desk.key("root"))
    done = desk.run("seal", "inbox", "--skip-refused", "--json", status=REFUSED)
    notes = done.document("append")["notes"]
    assert [item["index"] for item in done.document("append")["receipts"]] == [4, 5]
    assert sorted("cut.json" in note for note in notes) == [False, True]
    assert any("E_KEY_REVOKED" in note for note in notes)
    assert desk.size == 6
    desk.run("verify")


def test_skip_refused_and_remove_leave_the_refused_files(desk: Desk) -> None:
    files_of(desk, [1])
    (desk.root / "inbox" / "cut.json").write_text('{"payload')
    desk.run("seal", "inbox", "--skip-refused", "--remove", status=REFUSED)
    assert [path.name for path in inbox(desk)] == ["cut.json"]


def test_skip_refused_reports_what_it_sealed_whatever_stops_it(desk: Desk) -> None:
    (path,) = files_of(desk, [1])
    newer = read_envelope(path).statement
    text = (
        newer.raw.decode().replace("urn:rungbook:round:v1", "urn:rungbook:ticket:v1").replace('"round":', '"ticket":')
    )
    text = text.replace('"seq":0', '"seq":1').replace('"prev_statement":null', f'"prev_statement":"{path.stem}"')
    key = parse_private_key(desk.key("scorer").read_bytes())
    message = b"DSSEv1 28 application/vnd.in-toto+json %d %b" % (len(text), text.encode())
    signature = Signature(keyid=key.public.keyid, sig=key.sign(message))
    (desk.root / "inbox" / "newer.json").write_bytes(encode_envelope(text.encode(), [signature]))
    done = desk.run("seal", "inbox", "--skip-refused", status=UNAVAILABLE)
    assert desk.size == 4
    assert "sealed receipt 3" in done.out
    assert "newer.json" in done.err


def test_one_signature_listed_twice_never_makes_a_ledger_that_does_not_verify(desk: Desk) -> None:
    (path,) = files_of(desk, [1])
    spoil(path, path, signatures=json.loads(path.read_bytes())["signatures"] * 2)
    assert run("seal", path, cwd=desk.root).status in (OK, REFUSED)
    desk.run("verify")
    desk.run("append", write_round(desk.root, 2), "--key", desk.key("contributor"))


def test_an_envelope_in_another_layout_is_the_same_statement(desk: Desk) -> None:
    (path,) = files_of(desk, [1])
    value = json.loads(path.read_bytes())
    value["note"] = 1.5
    value["payload"] = value["payload"].replace("+", "-").replace("/", "_")
    path.write_text(json.dumps(value, indent=4))
    desk.run("seal", path)
    assert desk.run("show", "3", "--json").document("show")["statement"] == path.stem


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "E_JSON"),
        ("[]", "E_ENVELOPE"),
        ("{}", "E_ENVELOPE"),
        ('{"payloadType": "application/vnd.in-toto+json", "payload": 3}', "E_ENVELOPE"),
        ('{"payloadType": "application/vnd.in-toto+json", "payload": "e30=", "signatures": []}', "E_ENVELOPE"),
    ],
)
def test_a_file_that_is_no_envelope_is_refused_and_named(desk: Desk, text: str, code: str) -> None:
    path = desk.root / "other.json"
    path.write_text(text)
    done = desk.run("seal", path, status=REFUSED)
    assert done.code() == code
    assert "other.json" in done.err


def test_a_round_that_nobody_signed_is_no_envelope(desk: Desk) -> None:
    done = desk.run("seal", write_round(desk.root), status=REFUSED)
    assert done.code() == "E_ENVELOPE"


def test_a_statement_of_somebody_elses_kind_is_refused(desk: Desk) -> None:
    path = desk.root / "foreign.json"
    path.write_text(FOREIGN)
    assert desk.run("seal", path, status=REFUSED).code() == "E_KEY_UNKNOWN"


def test_only_json_files_of_a_folder_are_taken(desk: Desk) -> None:
    files_of(desk, [1])
    (desk.root / "inbox" / "notes.txt").write_text("hello")
    desk.run("seal", "inbox")
    assert desk.size == 4


def test_an_empty_folder_is_nothing_to_seal(desk: Desk) -> None:
    (desk.root / "empty").mkdir()
    done = desk.run("seal", "empty", "--json").document("append")
    assert (done["receipts"], done["tree_size"]) == ([], 3)


def test_a_path_that_is_not_there_is_unavailable(desk: Desk) -> None:
    assert desk.run("seal", "none.json", status=UNAVAILABLE).code() == "E_IO"


def test_seal_without_paths_is_a_usage_error(desk: Desk) -> None:
    desk.run("seal", status=USAGE)


def test_seal_without_the_ledgers_key_is_unavailable(desk: Desk) -> None:
    files_of(desk, [1])
    (desk.root / ".rungbook" / "local.toml").unlink()
    assert desk.run("seal", "inbox", status=UNAVAILABLE).code() == "E_LEDGER_KEY_MISSING"
    desk.run("seal", "inbox", "--ledger-key", desk.key("ledger"))
    assert desk.size == 4


def test_seal_before_init_is_unavailable(empty_desk: Desk) -> None:
    assert empty_desk.run("seal", "inbox", status=UNAVAILABLE).code() == "E_NO_LEDGER"


def test_a_statement_made_on_another_ledger_is_refused(desk: Desk, tmp_path: Path) -> None:
    other = Desk(root=tmp_path / "other", keys=desk.keys)
    other.root.mkdir()
    other.run(
        "init", "--origin", "example.org/other", "--root-key", desk.key("root"), "--ledger-key", desk.key("ledger")
    )
    by_root = ("--key", desk.key("root"))
    other.run("grant", desk.pub("scorer"), "--role", "scorer", "--node", SLOT["node"], *by_root)
    attest(other, write_round(other.root), "-o", "moved.json")
    assert desk.run("seal", other.root / "moved.json", status=REFUSED).code() == "E_BASIS"


def test_lines_of_a_tool_are_attested_as_they_are_appended(desk: Desk) -> None:
    words = [
        word for word in tool_words(("main", RUNS / "noise_1a_main.jsonl")) if word not in {"--from", "llama-bench"}
    ]
    at = words.index("--arm")
    words[at : at + 2] = [RUNS / "noise_1a_main.jsonl"]
    desk.run("attest", *words, "--key", desk.key("scorer"))
    desk.run("seal", "inbox")
    assert desk.size == 4
