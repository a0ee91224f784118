"""Both sides of every refusal of a comparison, and of a tree of code that a round names."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cli.sides import read_noise
from ledger.ingest.code import FOLDERS, code_folders, tree_digest
from ledger.ingest.sides import block_session
from ledger.ingest.tandem.block_ab import read_block_ab
from ledger.scoring.compare.answer import compare_pairs
from ledger.scoring.compare.blocks import judge_blocks
from ledger.scoring.compare.forced import ForcedRun, judge_forced
from tests.support.compare import made_up_run, made_up_sides
from tests.support.edges import Refusal
from tests.support.examined import body_of, rep, stream
from tests.support.rounds import sha256_hex
from tests.support.tandem import block_ab, encode

if TYPE_CHECKING:
    from collections.abc import Callable

    from ledger.scoring.compare.answer import Answer
    from ledger.scoring.compare.side import CompareRun, Side


def compare(change: Callable[[CompareRun], CompareRun] = lambda run: run, *, tests: int = 0, **every: Any) -> Answer:  # noqa: ANN401 - fields of a run
    """A comparison that is decided.

    Args:
        change: of the first run of the other side.
        tests: how many of both sides run another test too.
        every: fields of every run of the other side.
    """
    base, other = made_up_sides((1000, 1003, 1001), (800, 803, 801))
    first, *more = (replace(run, **every) for run in other.runs)
    # A source that no run of another side has, and a fact of the node.
    known = replace(base.runs[0], source="a file/0", axes={"node/gpu": "one"})
    base, other = replace(base, runs=(known, *base.runs[1:])), replace(other, runs=(change(first), *more))
    base, other = _with_test(base, tests > 0), _with_test(other, tests > 1)
    answer = compare_pairs(base, other, [made_up_sides((900, 905, 902), (901, 904, 903))])
    assert not answer.code, answer.reason
    return answer


def _with_test(side: Side, more: bool) -> Side:
    own = made_up_run(f"more of {side.label}", [500], at=60, test="another test")
    return replace(side, runs=(*side.runs, own)) if more else side


def with_prompts(*tokens: int) -> Answer:
    return compare(lambda run: replace(run, records=run.records | {"prompt_tokens": list(tokens)}))


def by_wall(*dropped: str) -> Answer:
    """A comparison with runs that claim a rate of their whole duration, and lack some columns."""
    base, _ = made_up_sides((1000, 1003, 1001), (800, 803, 801))
    records = {name: column for name, column in base.runs[0].records.items() if name not in dropped}
    return compare(
        metrics=("gen_tok_s",), records=records | {"wall_ns": [800_000_000] * 3, "e2e_ns": [900_000_000] * 3}
    )


def of_pairs(count: int) -> object:
    """A block A/B of so many pairs."""
    runs = [run for run in block_ab()["runs"] if run["pair"] < count]
    found = block_ab(runs, pairs=count, verdicts={})
    return judge_blocks(block_session(read_block_ab(encode(found), "x.json")), ask_better=False)


def of_reference(tokens: int) -> object:
    """A forced bench, one answer of which has so many tokens."""
    runs = [
        ForcedRun(config=config, workload="prose", repeat=repeat, tokens=12, ms=Fraction(300 + repeat))
        for repeat in range(3)
        for config in ("base", "wide")
    ]
    answer = judge_forced([*runs[:-1], replace(runs[-1], tokens=tokens)])
    assert not answer.code
    return answer


def noise_of(purpose: str) -> list[tuple[Side, Side]]:
    """Noise from a round with a purpose, of one code in both arms."""
    arms = [{"role": role, "code_sha256": sha256_hex("code")} for role in ("main", "candidate")]
    reps = rep(stream((9, 60, 140))), rep(stream((9, 61, 141)), arm="candidate")
    Path("round.json").write_text(json.dumps(body_of(*reps, purpose=purpose, arms=arms)))
    return read_noise(["round.json"], "")


# Trees of code, below the folder in which a test runs.


def digest_of(name: bytes) -> str:
    """Digest of a tree with one file."""
    Path("engine").mkdir()
    Path(os.fsdecode(b"engine/" + name)).write_text("1")
    return tree_digest(Path())


def digest_with(link: Callable[[str, str], None]) -> str:
    """Digest of a tree with a file under two names."""
    Path("engine").mkdir()
    Path("engine/a.py").write_text("1")
    link("engine/a.py", "engine/b.py")
    return tree_digest(Path())


def folders_of(count: int) -> object:
    """The folders of code of a tree that has so many of those that are meant when none is named."""
    for name in FOLDERS[:count]:
        Path(name).mkdir()
    return code_folders(Path())


COMPARE: dict[str, Refusal] = {
    "E_NOT_COMPARABLE": Refusal(lambda: compare(axes={"node/gpu": "two"}), lambda: compare(axes={"node/gpu": "one"})),
    "E_PROMPT_DRIFT": Refusal(lambda: with_prompts(64, 65, 67), lambda: with_prompts(64, 65, 66)),
    "E_SELF_COMPARE": Refusal(
        lambda: compare(lambda run: replace(run, source="a file/0")),
        lambda: compare(lambda run: replace(run, source="a file/1")),
    ),
    "E_NO_PAIRS": Refusal(lambda: compare(test="another test"), lambda: compare(test="a test")),
    "E_UNPAIRED": Refusal(lambda: compare(tests=1), lambda: compare(tests=2)),
    "E_FORMULA_MISMATCH": Refusal(lambda: by_wall("ttft_ns"), by_wall),
    "E_TOO_FEW_RUNS": Refusal(lambda: of_pairs(2), lambda: of_pairs(3)),
    "E_REFERENCE": Refusal(lambda: of_reference(13), lambda: of_reference(12)),
    "E_NOISE": Refusal(lambda: noise_of("score"), lambda: noise_of("noise")),
    "E_CODE_EMPTY": Refusal(lambda: digest_of(b"a.pyc"), lambda: digest_of(b"a.py")),
    "E_CODE_LINK": Refusal(lambda: digest_with(os.symlink), lambda: digest_with(os.link)),
    "E_CODE_NAME": Refusal(lambda: digest_of(b"\xc3.py"), lambda: digest_of(b"\xc3\xa9.py")),
    "E_CODE_FOLDERS": Refusal(lambda: folders_of(len(FOLDERS) - 1), lambda: folders_of(len(FOLDERS))),
}
