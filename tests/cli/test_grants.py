"""``rungbook grant`` and ``rungbook revoke``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.conftest import ORIGIN, Desk
from tests.cli.program import OK, REFUSED, UNAVAILABLE, USAGE, Result
from tests.cli.samples import NODE, SLOT, write_round

if TYPE_CHECKING:
    from pathlib import Path


def grant(desk: Desk, who: str, role: str, *words: str | Path, by: str = "root", status: int = OK) -> Result:
    return desk.run("grant", desk.pub(who), "--role", role, "--key", desk.key(by), *words, status=status)


def revoke(desk: Desk, who: str, role: str, *words: str | Path, by: str = "root", status: int = OK) -> Result:
    return desk.run("revoke", desk.pub(who), "--role", role, "--key", desk.key(by), *words, status=status)


def append(desk: Desk, number: int, node: str = NODE, *, by: str = "scorer", status: int = OK) -> Result:
    path = write_round(desk.root, number, slot={**SLOT, "node": node, "context": 512})
    return desk.run("append", path, "--key", desk.key(by), status=status)


def standing(desk: Desk, index: int) -> str:
    return str(desk.run("show", str(index), "--json").document("show")["standing"])


def keys_body(desk: Desk, index: int) -> dict[str, Any]:
    body = json.loads(desk.receipt(index).read_bytes())["statement"]["predicate"]["keys"]
    assert isinstance(body, dict)
    return body


def test_a_grant_is_sealed_and_holds_for_what_comes_after_it(new_desk: Desk) -> None:
    assert append(new_desk, 1, status=REFUSED).code() == "E_KEY_UNKNOWN"
    done = grant(new_desk, "scorer", "scorer", "--node", NODE, "--json").document("append")
    assert [item["index"] for item in done["receipts"]] == [1]
    assert (done["tree_size"], done["origin"]) == (2, ORIGIN)
    append(new_desk, 1)
    assert standing(new_desk, 2) == "attested"
    new_desk.run("verify")


def test_the_receipt_holds_sorted_nodes_once_each_and_the_reason(new_desk: Desk) -> None:
    words = ("--node", "b", "--node", "a", "--node", "b", "--reason", "new machines")
    grant(new_desk, "scorer", "scorer", *words)
    line = new_desk.pub("scorer").read_text().strip()
    assert keys_body(new_desk, 1) == {
        "changes": [{"action": "grant", "key": line, "nodes": ["a", "b"], "role": "scorer"}],
        "reason": "new machines",
    }


def test_granting_again_adds_nodes_and_keeps_the_old_ones(new_desk: Desk) -> None:
    grant(new_desk, "scorer", "scorer", "--node", NODE)
    assert append(new_desk, 1, "other", status=REFUSED).code() == "E_NODE"
    grant(new_desk, "scorer", "scorer", "--node", "other")
    append(new_desk, 1, "other")
    append(new_desk, 2, NODE)


def test_a_contributor_measures_on_any_node(new_desk: Desk) -> None:
    grant(new_desk, "contributor", "contributor")
    append(new_desk, 1, "anywhere", by="contributor")
    assert standing(new_desk, 2) == "measured"


def test_a_maintainer_may_grant_and_a_scorer_may_not(new_desk: Desk) -> None:
    grant(new_desk, "root-2", "maintainer")
    grant(new_desk, "scorer", "scorer", "--node", NODE, by="root-2")
    refused = grant(new_desk, "stranger", "contributor", by="scorer", status=REFUSED)
    assert refused.code() == "E_ROLE"
    assert new_desk.size == 3


def test_a_key_without_any_role_may_not_grant(new_desk: Desk) -> None:
    assert grant(new_desk, "stranger", "contributor", by="stranger", status=REFUSED).code() == "E_KEY_UNKNOWN"


def test_a_scorer_without_nodes_is_refused(new_desk: Desk) -> None:
    done = grant(new_desk, "scorer", "scorer", status=REFUSED)
    assert done.code() == "E_NODE_MISSING"
    assert "--node" in done.err


@pytest.mark.parametrize("role", ["contributor", "maintainer"])
def test_only_scorers_are_bound_to_nodes(new_desk: Desk, role: str) -> None:
    assert grant(new_desk, "scorer", role, "--node", NODE, status=REFUSED).code() == "E_NODE_UNUSED"


@pytest.mark.parametrize("command", [grant, revoke])
@pytest.mark.parametrize("role", ["owner", "Scorer"])
def test_an_unknown_role_is_refused_and_the_roles_are_named(new_desk: Desk, command: Any, role: str) -> None:  # noqa: ANN401 - one of two functions
    done = command(new_desk, "scorer", role, status=REFUSED)
    assert all(known in done.err for known in ("scorer", "contributor", "maintainer"))
    assert new_desk.size == 1


def test_a_node_that_is_no_label_is_refused(new_desk: Desk) -> None:
    done = grant(new_desk, "scorer", "scorer", "--node", "two words", status=REFUSED)
    assert "two words" in done.err
    assert new_desk.size == 1


def test_a_revocation_holds_from_its_index_on_and_not_before(desk: Desk) -> None:
    append(desk, 1)
    revoke(desk, "scorer", "scorer", "--reason", "key lost")
    refused = append(desk, 2, status=REFUSED)
    assert refused.code() == "E_KEY_REVOKED"
    assert standing(desk, 3) == "attested"
    assert keys_body(desk, 4)["reason"] == "key lost"
    desk.run("verify")


def test_a_revoked_contributor_and_a_revoked_maintainer_write_no_more(desk: Desk) -> None:
    revoke(desk, "contributor", "contributor")
    assert append(desk, 1, by="contributor", status=REFUSED).code() == "E_KEY_REVOKED"
    grant(desk, "root-2", "maintainer")
    revoke(desk, "root-2", "maintainer")
    assert grant(desk, "stranger", "contributor", by="root-2", status=REFUSED).code() == "E_KEY_REVOKED"


@pytest.mark.parametrize("role", ["scorer", "contributor", "maintainer"])
def test_what_was_never_granted_cannot_be_revoked(desk: Desk, role: str) -> None:
    done = revoke(desk, "stranger", role, status=REFUSED)
    assert done.code() == "E_NOT_GRANTED"
    assert role in done.err
    assert desk.size == 3


def test_the_last_maintainer_cannot_be_revoked(desk: Desk) -> None:
    assert revoke(desk, "root", "maintainer", status=REFUSED).code() == "E_THRESHOLD"
    assert desk.size == 3


@pytest.mark.parametrize("command", ["grant", "revoke"])
@pytest.mark.parametrize("left_out", ["PUB", "--role", "--key"])
def test_key_role_and_signer_are_required(desk: Desk, command: str, left_out: str) -> None:
    words: dict[str, list[str | Path]]
    words = {"PUB": [desk.pub("scorer")], "--role": ["--role", "contributor"], "--key": ["--key", desk.key("root")]}
    given = [word for name, part in words.items() if name != left_out for word in part]
    assert left_out in desk.run(command, *given, status=USAGE).err


def test_a_missing_public_key_file_is_unavailable(desk: Desk) -> None:
    words = ("grant", "none.pub", "--role", "contributor", "--key", desk.key("root"))
    assert desk.run(*words, status=UNAVAILABLE).code() == "E_IO"


def test_a_file_that_is_no_public_key_is_named(desk: Desk) -> None:
    (desk.root / "notes.txt").write_text("hello\n")
    words = ("grant", "notes.txt", "--role", "contributor", "--key", desk.key("root"))
    assert "notes.txt" in desk.run(*words, status=REFUSED).err


def test_a_private_key_is_never_taken_for_a_public_one(desk: Desk) -> None:
    words = ("grant", desk.key("stranger"), "--role", "contributor", "--key", desk.key("root"))
    desk.run(*words, status=REFUSED)
    assert desk.size == 3


# A ledger of two maintainers who must both sign.


@pytest.fixture
def pair(empty_desk: Desk) -> Desk:
    desk = empty_desk
    roots = ("--root-key", desk.key("root"), "--root-key", desk.key("root-2"))
    both = ("--threshold", "2", "--maintainer-threshold", "2")
    desk.run("init", "--origin", ORIGIN, *roots, *both, "--ledger-key", desk.key("ledger"))
    return desk


def test_under_a_threshold_of_two_one_maintainer_is_not_enough(pair: Desk) -> None:
    assert grant(pair, "scorer", "contributor", status=REFUSED).code() == "E_THRESHOLD"
    assert pair.size == 1


def test_two_maintainers_at_one_desk_sign_at_once(pair: Desk) -> None:
    grant(pair, "contributor", "contributor", "--key", pair.key("root-2"))
    assert len(json.loads(pair.receipt(1).read_bytes())["signatures"]) == 2
    pair.run("verify")


def test_one_key_given_twice_is_one_signature_and_never_breaks_the_ledger(pair: Desk) -> None:
    grant(pair, "contributor", "contributor", "--key", pair.key("root"), status=REFUSED)
    assert pair.size == 1
    pair.run("verify")


def test_two_maintainers_apart_sign_one_file_after_the_other_and_the_ledgers_holder_seals(pair: Desk) -> None:
    written = grant(pair, "scorer", "scorer", "--node", NODE, "-o", "grant.json", "--json").document("attest")
    assert [item["file"] for item in written["files"]] == ["grant.json"]
    assert pair.size == 1
    refused = pair.run("seal", "grant.json", status=REFUSED)
    assert refused.code() == "E_THRESHOLD"
    assert "grant.json" in refused.err
    both = pair.run("attest", "grant.json", "--key", pair.key("root-2"), "-o", "both.json", "--json")
    assert both.document("attest")["files"] == [{"file": "both.json", "statement": written["files"][0]["statement"]}]
    pair.run("seal", "both.json")
    append(pair, 1)
    assert standing(pair, 2) == "attested"
    pair.run("verify")


def test_a_maintainer_signs_a_file_only_once(pair: Desk) -> None:
    grant(pair, "scorer", "contributor", "-o", "grant.json")
    again = pair.run("attest", "grant.json", "--key", pair.key("root"), "-o", "both.json", status=REFUSED)
    assert again.code() == "E_DUPLICATE_SIGNER"
    assert not (pair.root / "both.json").exists()


def test_a_signature_added_in_the_inbox_replaces_the_file_with_the_fuller_one(pair: Desk) -> None:
    inbox = pair.root / "inbox"
    inbox.mkdir()
    grant(pair, "scorer", "contributor", "-o", inbox)
    (path,) = inbox.iterdir()
    pair.run("attest", path, "--key", pair.key("root-2"))
    assert list(inbox.iterdir()) == [path]
    assert len(json.loads(path.read_bytes())["signatures"]) == 2
    pair.run("seal", inbox)
    assert pair.size == 2


def test_a_revocation_can_be_attested_to_be_sealed_elsewhere(desk: Desk) -> None:
    revoke(desk, "contributor", "contributor", "-o", "revoke.json")
    assert desk.size == 3
    desk.run("seal", "revoke.json")
    assert append(desk, 1, by="contributor", status=REFUSED).code() == "E_KEY_REVOKED"
