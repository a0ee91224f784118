"""Who may sign what: grants, revocations and thresholds, by index, whole or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ledger.errors import LedgerError, MalformedError, RefusedError
from ledger.strict import b64encode
from ledger.trust import Trust
from tests.support.ledgers import (
    CONTRIBUTOR,
    LEDGER,
    MAINTAINERS,
    NOTE_KEY,
    OUTSIDER,
    ROOT,
    SCORER_1,
    SCORER_2,
    genesis_body,
    grant,
    make_key,
    revoke,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from ledger.canonical import JsonObject
    from ledger.keys import PrivateKey

M1, M2, M3 = MAINTAINERS


def make_trust(threshold: int = 1, *changes: JsonObject) -> Trust:
    """Three maintainers, and these changes in force."""
    trust = Trust.from_genesis(genesis_body(maintainers=MAINTAINERS, threshold=threshold))
    if changes:
        trust.apply_keys({"changes": list(changes)})
    return trust


def ids(*keys: PrivateKey) -> list[str]:
    return [key.public.keyid for key in keys]


def code_of(act: Callable[[], object]) -> str:
    with pytest.raises(LedgerError) as caught:
        act()
    return caught.value.code


def sign_round(trust: Trust, *signers: PrivateKey, node: str = "n1") -> bool:
    return trust.authorise("round", node, ids(*signers))


class TestGenesis:
    def test_it_names_the_ledger_its_root_and_its_maintainers(self) -> None:
        trust = make_trust(2)
        assert trust.ledger == NOTE_KEY
        assert set(trust.root.keys) == set(ids(ROOT))
        assert set(trust.maintainers.keys) == set(ids(*MAINTAINERS))
        assert (trust.root.threshold, trust.maintainers.threshold) == (1, 2)
        assert set(trust.known) == set(ids(ROOT, *MAINTAINERS))

    def test_nobody_is_a_scorer_at_first(self) -> None:
        assert code_of(lambda: sign_round(make_trust(), ROOT)) == "E_ROLE"

    def test_the_ledgers_key_has_no_role(self) -> None:
        assert code_of(lambda: sign_round(make_trust(), LEDGER)) == "E_ROLE"

    @pytest.mark.parametrize("member", ["root", "maintainers"])
    def test_a_key_listed_twice_is_refused(self, member: str) -> None:
        body = genesis_body()
        body[member] = {"keys": [ROOT.public.openssh] * 2, "threshold": 2}
        with pytest.raises(RefusedError) as caught:
            Trust.from_genesis(body)
        assert (caught.value.code, caught.value.where) == ("E_KEY_TWICE", f"/{member}/keys")

    @pytest.mark.parametrize("member", ["root", "maintainers"])
    @pytest.mark.parametrize("threshold", [0, 2, 64])
    def test_a_threshold_that_cannot_be_met_is_refused(self, member: str, threshold: int) -> None:
        body = genesis_body()
        body[member] = {"keys": [ROOT.public.openssh], "threshold": threshold}
        assert code_of(lambda: Trust.from_genesis(body)) == "E_THRESHOLD"

    @pytest.mark.parametrize("member", ["root", "maintainers"])
    def test_a_key_of_small_order_is_refused(self, member: str) -> None:
        body = genesis_body()
        body[member] = {"keys": [line_of(b"\x01" + bytes(31))], "threshold": 1}
        assert code_of(lambda: Trust.from_genesis(body)) == "E_KEY"

    def test_a_ledger_key_of_small_order_is_refused(self) -> None:
        body = genesis_body() | {"ledger_key": line_of(bytes(32))}
        assert code_of(lambda: Trust.from_genesis(body)) == "E_KEY"

    @pytest.mark.parametrize(("signers", "code"), [([], "E_THRESHOLD"), ([OUTSIDER], "E_ROLE"), ([M1], "E_ROLE")])
    def test_only_its_root_keys_sign_it(self, signers: list[PrivateKey], code: str) -> None:
        assert code_of(lambda: make_trust().authorise_genesis(ids(*signers))) == code

    def test_its_root_keys_sign_it(self) -> None:
        make_trust().authorise_genesis(ids(ROOT))

    def test_all_root_keys_sign_it_when_the_threshold_says_so(self) -> None:
        body = genesis_body(roots=[ROOT, OUTSIDER])
        body["root"]["threshold"] = 2
        trust = Trust.from_genesis(body)
        assert code_of(lambda: trust.authorise_genesis(ids(ROOT))) == "E_THRESHOLD"
        trust.authorise_genesis(ids(ROOT, OUTSIDER))


def line_of(raw: bytes) -> str:
    """An OpenSSH line around any 32 bytes."""
    return "ssh-ed25519 " + b64encode(b"\x00\x00\x00\x0bssh-ed25519\x00\x00\x00\x20" + raw)


class TestRounds:
    def test_a_scorer_attests_for_its_nodes_only(self) -> None:
        trust = make_trust(1, grant(SCORER_1.public, "n1", "n3"))
        assert sign_round(trust, SCORER_1)
        assert sign_round(trust, SCORER_1, node="n3")
        assert code_of(lambda: sign_round(trust, SCORER_1, node="n2")) == "E_NODE"

    def test_a_contributor_measures_on_any_node_but_never_attests(self) -> None:
        trust = make_trust(1, grant(CONTRIBUTOR.public, role="contributor"))
        assert sign_round(trust, CONTRIBUTOR) is False
        assert sign_round(trust, CONTRIBUTOR, node="n9") is False

    def test_a_scorer_beside_a_contributor_attests(self) -> None:
        trust = make_trust(1, grant(SCORER_1.public, "n1"), grant(CONTRIBUTOR.public, role="contributor"))
        assert sign_round(trust, CONTRIBUTOR, SCORER_1)
        assert sign_round(trust, SCORER_1, CONTRIBUTOR)

    def test_a_scorer_of_another_node_does_not_lend_its_name(self) -> None:
        trust = make_trust(1, grant(SCORER_1.public, "n1"), grant(SCORER_2.public, "n2"))
        assert code_of(lambda: sign_round(trust, SCORER_1, SCORER_2)) == "E_NODE"

    def test_who_is_scorer_of_one_node_and_contributor_measures_on_the_others(self) -> None:
        trust = make_trust(1, grant(SCORER_1.public, "n1"), grant(SCORER_1.public, role="contributor"))
        assert sign_round(trust, SCORER_1)
        assert sign_round(trust, SCORER_1, node="n2") is False

    @pytest.mark.parametrize("signer", [ROOT, M1])
    def test_a_maintainer_or_root_key_is_no_scorer(self, signer: PrivateKey) -> None:
        assert code_of(lambda: sign_round(make_trust(), signer)) == "E_ROLE"

    def test_granting_again_adds_nodes(self) -> None:
        trust = make_trust(1, grant(SCORER_1.public, "n1"))
        trust.apply_keys({"changes": [grant(SCORER_1.public, "n2")]})
        assert sign_round(trust, SCORER_1)
        assert sign_round(trust, SCORER_1, node="n2")

    def test_another_kind_is_for_nobody(self) -> None:
        assert code_of(lambda: make_trust().authorise("genesis", "", ids(ROOT))) == "E_KIND"
        assert code_of(lambda: make_trust().authorise("ticket", "", ids(M1))) == "E_KIND"


class TestRevocation:
    def test_a_revoked_scorer_is_named_as_such(self) -> None:
        trust = make_trust(1, grant(SCORER_1.public, "n1"))
        trust.apply_keys({"changes": [revoke(SCORER_1.public)]})
        assert code_of(lambda: sign_round(trust, SCORER_1)) == "E_KEY_REVOKED"
        assert SCORER_1.public.keyid in trust.known  # its old signatures still verify

    def test_only_the_named_role_is_taken(self) -> None:
        trust = make_trust(1, grant(SCORER_1.public, "n1"), grant(SCORER_1.public, role="contributor"))
        trust.apply_keys({"changes": [revoke(SCORER_1.public)]})
        assert sign_round(trust, SCORER_1) is False
        trust.apply_keys({"changes": [revoke(SCORER_1.public, role="contributor")]})
        assert code_of(lambda: sign_round(trust, SCORER_1)) == "E_KEY_REVOKED"

    def test_a_key_may_be_granted_again(self) -> None:
        trust = make_trust(1, grant(SCORER_1.public, "n1"))
        trust.apply_keys({"changes": [revoke(SCORER_1.public)]})
        trust.apply_keys({"changes": [grant(SCORER_1.public, "n2")]})
        assert sign_round(trust, SCORER_1, node="n2")
        assert code_of(lambda: sign_round(trust, SCORER_1)) == "E_NODE"  # the old nodes do not come back

    @pytest.mark.parametrize("role", ["scorer", "contributor", "maintainer"])
    def test_a_role_that_was_never_granted_cannot_be_revoked(self, role: str) -> None:
        with pytest.raises(RefusedError) as caught:
            make_trust(1, grant(SCORER_1.public, "n1"), revoke(OUTSIDER.public, role=role))
        assert (caught.value.code, caught.value.where) == ("E_NOT_GRANTED", "/changes/1")

    def test_a_revoked_maintainer_signs_nothing_more(self) -> None:
        trust = make_trust(1, revoke(M3.public, role="maintainer"))
        assert code_of(lambda: trust.authorise("keys", "", ids(M3))) == "E_KEY_REVOKED"
        assert code_of(lambda: trust.authorise("keys", "", ids(M1, M3))) == "E_KEY_REVOKED"


class TestThreshold:
    @pytest.mark.parametrize(
        ("signers", "code"),
        [
            ([], "E_THRESHOLD"),
            ([M1], "E_THRESHOLD"),
            ([M1, M1], "E_THRESHOLD"),
            ([M1, ROOT], "E_ROLE"),
            ([M1, OUTSIDER], "E_ROLE"),
            ([M1, M2, OUTSIDER], "E_ROLE"),
            ([SCORER_1], "E_ROLE"),
        ],
    )
    def test_too_few_or_the_wrong_ones(self, signers: list[PrivateKey], code: str) -> None:
        trust = make_trust(2, grant(SCORER_1.public, "n1"))
        assert code_of(lambda: trust.authorise("keys", "", ids(*signers))) == code

    @pytest.mark.parametrize("signers", [[M1, M2], [M3, M1], [M1, M2, M3]])
    def test_enough_distinct_maintainers(self, signers: list[PrivateKey]) -> None:
        assert make_trust(2).authorise("keys", "", ids(*signers))

    def test_it_can_be_changed_and_holds_from_then_on(self) -> None:
        trust = make_trust(1, {"action": "threshold", "threshold": 3})
        assert code_of(lambda: trust.authorise("keys", "", ids(M1, M2))) == "E_THRESHOLD"
        assert trust.authorise("keys", "", ids(M1, M2, M3))

    def test_it_cannot_exceed_the_maintainers(self) -> None:
        assert code_of(lambda: make_trust(1, {"action": "threshold", "threshold": 4})) == "E_THRESHOLD"

    def test_it_may_be_judged_at_the_end_of_a_statement(self) -> None:
        trust = make_trust(3, revoke(M3.public, role="maintainer"), {"action": "threshold", "threshold": 2})
        assert set(trust.maintainers.keys) == set(ids(M1, M2))

    def test_the_last_maintainers_cannot_go(self) -> None:
        leave = [revoke(key.public, role="maintainer") for key in MAINTAINERS]
        assert code_of(lambda: make_trust(1, *leave)) == "E_THRESHOLD"

    def test_a_maintainer_can_be_replaced_in_one_statement(self) -> None:
        new = make_key("new maintainer")
        trust = make_trust(3, revoke(M3.public, role="maintainer"), grant(new.public, role="maintainer"))
        assert trust.authorise("keys", "", ids(M1, M2, new))

    def test_granting_a_maintainer_twice_gives_one_voice(self) -> None:
        again = [grant(M1.public, role="maintainer")] * 2
        trust = make_trust(1, *again)
        assert len(trust.maintainers.keys) == len(MAINTAINERS)


def state_of(trust: Trust) -> tuple[object, ...]:
    """Everything that a statement could change."""
    return (
        dict(trust.maintainers.keys),
        trust.maintainers.threshold,
        dict(trust.scorers),
        set(trust.contributors),
        dict(trust.known),
        dict(trust.root.keys),
    )


@pytest.mark.parametrize(
    "last",
    [
        revoke(OUTSIDER.public),
        {"action": "threshold", "threshold": 60},
        grant(OUTSIDER.public, "n1") | {"key": line_of(b"\x01" + bytes(31))},
        grant(OUTSIDER.public, "n1") | {"key": "ssh-rsa AAAA"},
        grant(OUTSIDER.public, "n1") | {"key": OUTSIDER.public.openssh + " comment"},
    ],
)
def test_a_statement_with_one_bad_change_changes_nothing(last: JsonObject) -> None:
    trust = make_trust(1, grant(SCORER_1.public, "n1"), grant(CONTRIBUTOR.public, role="contributor"))
    before = state_of(trust)
    changes = [
        grant(OUTSIDER.public, role="maintainer"),
        grant(SCORER_1.public, "n2"),
        revoke(CONTRIBUTOR.public, role="contributor"),
        revoke(M1.public, role="maintainer"),
        {"action": "threshold", "threshold": 2},
        last,
    ]
    with pytest.raises((RefusedError, MalformedError)):
        trust.apply_keys({"changes": changes})
    assert state_of(trust) == before


def test_roles_are_told_to_people() -> None:
    trust = make_trust(
        1,
        grant(SCORER_1.public, "n2", "n1"),
        grant(SCORER_1.public, role="contributor"),
        grant(SCORER_1.public, role="maintainer"),
    )
    assert trust.roles_of(SCORER_1.public.keyid) == ["scorer of n1, n2", "contributor", "maintainer"]
    assert trust.roles_of(OUTSIDER.public.keyid) == []
    assert code_of(lambda: trust.authorise_genesis(ids(SCORER_1))) == "E_ROLE"
