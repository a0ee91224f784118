"""Reviews, merges and voids that come and go: what is in is what the receipts say now, however it came to be.

A replay adds and withdraws as rulings arrive. Here the same is worked out at once from the last state of every receipt,
and beside it views that were extended a few receipts at a time are held against views that were made anew.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from ledger.draft import Draft
from ledger.following import Following
from ledger.store.directory import DirectoryStore
from ledger.verify import verify
from ledger.views import projection
from ledger.views.build import extend
from ledger.views.database import open_database, sqlite_url
from ledger.views.follow import Follower
from tests.support.ledgers import CONTRIBUTOR, ROOT, SCORER_1, grant, keys_draft
from tests.support.scoring import GUARDED, Fold, rule_body, scored_body
from tests.support.views import Sample, built, contents, new_sample

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from ledger.canonical import JsonObject
    from ledger.scoring.history import History, Judged
    from ledger.scoring.rung import Rung, Slot

SPEEDS = [100, 125, 128, 160, 200, 250, 256, 320, 400, 500]
WON = {"xs", "s", "m", "l", "xl"}
HARMLESS, DOUBTFUL, UNSCORABLE = "F_N1", "F_EMPTY_OUTPUT", "F_CONFOUNDED"
POOLS = ("frontier", "passes", "bases", "measured", "references")
Entry = tuple["Slot", str, int, str]


def random_rule(rng: random.Random, number: int) -> JsonObject:
    parity = {"top1_min": "0.9", "kl_max": "0.05"}
    return rule_body(
        name=f"rule-{number}",
        statistic=rng.choice(["median", "mean"]),
        min_reps=rng.choice([2, 3]),
        evidence=rng.choice(["attested", "measured"]),
        plausibility=rng.choice([None, {"ceiling": "3"}]),
        denominator={"unattested": "100"},
        parity=rng.choice([None, parity]),
        guards=rng.choice([[], [{"metric": "decode_tok_s", "context": 512, "tolerance": "0.01"}]]),
    )


def random_round(rng: random.Random, number: int) -> JsonObject:
    """A round of any purpose, sometimes with a guard that was measured less often, and with faults of both kinds."""
    reps, speeds = rng.choice([2, 2, 3]), rng.choices(SPEEDS, k=2)
    guard = (rng.choice(SPEEDS), rng.choice(SPEEDS)) if rng.random() < 0.5 else None
    purpose = rng.choice(["score"] * 5 + ["alone", "reference", "noise"])
    body = scored_body(
        f"r{number}", [speeds[0]] * reps, None if purpose in ("alone", "reference") else [speeds[1]] * reps, guard=guard
    )
    if purpose in ("alone", "reference"):
        arm = "main" if purpose == "alone" else "reference"
        body["arms"][0]["role"] = arm
        for item in (*body["reps"], *body["parity"]):
            item["arm"] = arm
    if purpose in ("noise", "reference"):
        body["purpose"] = purpose
    if purpose == "noise":
        for arm in body["arms"]:
            arm["code_sha256"] = "0" * 64
    if guard is not None and rng.random() < 0.3:
        del body["reps"][-1]["metrics"][1:]
    if rng.random() < 0.2:
        for point in body["parity"]:
            point["kl"] = "0.9"
    codes = [code for code, odds in ((HARMLESS, 0.4), (DOUBTFUL, 0.4), (UNSCORABLE, 0.1)) if rng.random() < odds]
    return body | {"faults": [{"code": code, "message": "seen"} for code in codes]}


def random_ruling(rng: random.Random) -> JsonObject:
    """A ruling without its receipt."""
    action = rng.choice(["review"] * 5 + ["merged", "merged", "waiver", "void"])
    members: dict[str, JsonObject] = {
        "review": {"outcome": rng.choice(["accepted", "accepted", "rejected"])},
        "merged": {"commit": rng.choice(["c", "d"])},
        "waiver": rng.choice([{"gate": "guards", "guard": GUARDED}, {"gate": "plausibility"}]),
    }
    return {"action": action, "reason": "r"} | members.get(action, {})


# What is in, worked out at once.


def needed(judged: Judged) -> int:
    return max(judged.rule.min_reps if judged.rule else 0, 2)


def what_is_in(history: History) -> dict[str, Counter[Entry]]:
    """By pool: what must be in it, from the last state of every receipt."""
    found: dict[str, Counter[Entry]] = {name: Counter() for name in POOLS}
    for judged in history.judged:
        for pool, entry in entries_of(judged):
            found[pool][entry] += 1
            figures = {(slot, arm): figure for slot, arm, figure in judged.rung.all_figures()}
            if pool == "passes" and figures[entry[0], entry[3]].reps >= 3:
                found["bases"][entry] += 1
    return found


def is_lost(rung: Rung) -> bool:
    """Whether no review lets it count: two codes of which none knows what the time did."""
    return UNSCORABLE in rung.quarantine and len({*rung.codes.values()}) > 1


def entries_of(judged: Judged) -> Iterator[tuple[str, Entry]]:
    rung, label = judged.rung, judged.verdict.label if judged.verdict else ""
    accepted = judged.review == "accepted" if rung.quarantine else judged.review != "rejected" or has_candidate(judged)
    if judged.gone_at is not None or not accepted or is_lost(rung):
        return
    for slot, arm, figure in rung.all_figures():
        entry = (slot, rung.statistic, rung.index, arm)
        if arm == "candidate" and judged.verdict and judged.verdict.diagnostic:  # rejected, under review, or hidden
            continue
        if rung.evidence != "attested":
            yield "measured", entry
        elif figure.reps >= needed(judged):
            if arm == "main":
                yield "frontier", entry
            if arm == "reference":
                yield "references", entry
            elif arm == "main" or label in WON | {"none"}:
                yield "passes", entry
    if judged.merged_at is not None and rung.evidence == "attested" and label in WON:
        entry = (rung.slot, rung.statistic, rung.index, "candidate")
        yield from (("frontier", entry), ("passes", entry))


def has_candidate(judged: Judged) -> bool:
    return "candidate" in judged.rung.figures and judged.rung.purpose in ("score", "imported")


def is_in(history: History) -> dict[str, Counter[Entry]]:
    found: dict[str, Counter[Entry]] = {name: Counter() for name in POOLS}
    for slot, state in history.slots.items():
        pools: dict[str, Sequence[Any]] = {
            "frontier": state.frontier.items,
            "passes": state.passes.items,
            "bases": state.bases.items,
            "measured": state.measured.items,
            "references": state.references,
        }
        for name, items in pools.items():
            found[name].update((slot, item.statistic, item.receipt, item.arm) for item in items)
    return found


@pytest.mark.parametrize("seed", range(60))
def test_what_counts_is_what_the_receipts_say_now(seed: int) -> None:
    rng, fold = random.Random(seed), Fold()
    fold.add("rule", random_rule(rng, 0))
    rounds: list[int] = []
    for number in range(1, 50):
        if rounds and rng.random() < 0.6:
            ruling = random_ruling(rng)
            fold.rule_on(rng.choice(rounds), ruling.pop("action"), **ruling)
        elif rng.random() < 0.1:
            fold.add("rule", random_rule(rng, number))
        else:
            rounds.append(fold.add("round", random_round(rng, number), attested=rng.random() < 0.85))
        history = fold.history
        assert is_in(history) == what_is_in(history), number
        for state in history.slots.values():
            shown = state.moves[-1].holding if state.moves else None
            assert shown == state.frontier.best
            for pool in state.frontier.by_statistic.values():
                values = [item.figure.value for item in pool.items]
                assert (pool.best.figure.value if pool.best else None) == max(values, default=None)


# Views.


def next_draft(rng: random.Random, sample: Sample, rounds: list[int]) -> Draft:
    log = sample.read()
    size = len(log.entries)
    if size == 1:
        return keys_draft(grant(SCORER_1.public, "n1"), grant(CONTRIBUTOR.public, role="contributor"))
    if size == 2 or rng.random() < 0.05:
        return Draft(kind="rule", body=random_rule(rng, size), signers=[ROOT])
    if rounds and rng.random() < 0.55:
        body = random_ruling(rng) | {"receipt": log.entries[rng.choice(rounds)].digest.hex()}
        return Draft(kind="ruling", body=body, signers=[ROOT])
    rounds.append(size)
    return Draft(kind="round", body=random_round(rng, size), signers=[rng.choice([SCORER_1, SCORER_1, CONTRIBUTOR])])


@pytest.mark.parametrize("seed", range(6))
def test_views_that_follow_are_those_that_are_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    rng, sample = random.Random(seed), new_sample(tmp_path / "ledger")
    file, other = tmp_path / "followed.sqlite", tmp_path / "extended.sqlite"
    for each in (file, other):
        built(each, sample.read())
    follower = Follower(open_database(sqlite_url(file), "write"), Following(DirectoryStore(sample.folder)))
    rounds: list[int] = []
    for _ in range(9):
        for _ in range(rng.randrange(1, 7)):
            sample.writer.append([next_draft(rng, sample, rounds)])
        monkeypatch.setattr(projection, "STEP", rng.choice([1, 3, 256]))
        follower.catch_up()
        log = verify(DirectoryStore(sample.folder)).require_log()
        extend(open_database(sqlite_url(other), "write"), log)
        monkeypatch.setattr(projection, "STEP", 256)
        assert contents(file) == contents(other) == built(tmp_path / "new.sqlite", log)
