"""What a reader of a report of row runs must know beside its records: see `ledger.ingest.tandem.flags`."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from ledger.errors import MalformedError
from ledger.ingest.printed import apart
from ledger.ingest.statistics import in_order, nearest_rank
from ledger.ingest.tandem.code import read_code
from ledger.ingest.tandem.flags import mean_prompt
from ledger.metrics import NS_PER_S

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger.canonical import JsonObject
    from ledger.ingest.tandem.report import ReportRun
    from ledger.ingest.tandem.requests import Record

_KNOWN_STORES = ("off", "clean", "live")
_LEARNING_STORE = "live-rw"
_FACTORS = Fraction(3, 100)


def tied_code(body: JsonObject, what: str) -> str | None:
    """Digest of the measured code; none when nothing ties it to the server that answered.

    Raises:
        MalformedError: see `ledger.ingest.tandem.code.read_code`.
    """
    code = body.get("code_sha256")
    if code is None or not _own_server(body):
        return None
    return read_code(code, f"{what}/code_sha256")


def report_notes(body: JsonObject, records: Sequence[Record], what: str) -> list[str]:
    """Notes on a whole report.

    Raises:
        MalformedError: ``E_STORE``.
    """
    contexts = [context for record in records if (context := mean_prompt(record.iterations[0].samples))]
    found = (
        _runs_fewer(body, len(records)),
        "F_CONTEXT_SPREAD: the mean contexts of the runs are more than 2 % apart"
        if contexts and apart(max(contexts), min(contexts))
        else "",
        _store(body, what),
        "" if body.get("code_sha256") is None or _own_server(body) else _UNTIED,
        *_contradictions(body),
    )
    return [note for note in found if note]


_UNTIED = "F_CODE_UNTIED: the report did not start the server: nothing ties its code to the answers"


def run_notes(run: ReportRun) -> list[str]:
    """Notes on a run and its log."""
    notes = []
    if run.log is None and run.printed.get("blocks") is not None:
        notes.append("F_LOG_ABSENT: figures of rounds are printed, and the log that they are from is not there")
    elif run.log and run.log.fault:
        notes.append(run.log.fault)
    rates = [sample.rate for sample in run.record.iterations[0].samples]
    if run.printed.get("p90") is not None and run.statistics["p90"] != nearest_rank(in_order(rates), 90):
        notes.append("F_PERCENTILE_METHOD: the printed p90 is not the nearest rank")
    if run.statistics.get("ms_blk"):
        rate = 1000 * run.statistics["tok_blk"] / run.statistics["ms_blk"]
        pooled = _pooled(run)
        if abs(rate - pooled) > _FACTORS * pooled:
            notes.append("F_FACTORS: tokens a round over time a round is more than 3 % from the clients' rate")
    return notes


def _pooled(run: ReportRun) -> Fraction:
    samples = run.record.iterations[0].samples
    tokens = sum(sample.tokens - 1 for sample in samples)
    return Fraction(tokens * NS_PER_S, sum(sample.e2e_ns - sample.ttft_ns for sample in samples))


def _runs_fewer(body: JsonObject, found: int) -> str:
    args = body.get("args")
    wanted = args.get("runs") if isinstance(args, dict) else None
    if type(wanted) is not int or found >= wanted:
        return ""
    return f"F_RUNS_FEWER: {wanted} runs were asked for, {found} are there: the report was stopped early"


def _store(body: JsonObject, what: str) -> str:
    """What the drafter could look up: a store that takes in a row's own answers hands them to the next run."""
    store = body.get("suffix_store")
    if store == _LEARNING_STORE:
        raise MalformedError(
            "E_STORE", "the drafter's store was written to: runs read their own answers", where=f"{what}/suffix_store"
        )
    return "" if store in _KNOWN_STORES else f"F_STORE_UNKNOWN: what the drafter could look up is {store!r}"[:200]


def _own_server(body: JsonObject) -> bool:
    args = body.get("args")
    return not (isinstance(args, dict) and args.get("no_server") is True)


def _contradictions(body: JsonObject) -> list[str]:
    """Options that the report says twice, and not alike."""
    args, command, env = (body.get(name) for name in ("args", "server_cmd", "env"))
    options = args if isinstance(args, dict) else {}
    words = [str(word) for word in command] if isinstance(command, list) else []
    wrong = [name for name in ("max_len", "port") if _told_otherwise(options.get(name), f"--{name}", words)]
    pairs, values = options.get("env"), env if isinstance(env, dict) else {}
    for pair in pairs if isinstance(pairs, list) else []:
        name, _, value = str(pair).partition("=")
        wrong += [name] if str(values.get(name)) != value else []
    extra = options.get("server_arg")
    if isinstance(extra, list) and words:
        wrong += [str(word) for word in extra if str(word) not in words]
    return [f"F_SETTINGS_DIFFER: the report says these in two ways: {', '.join(wrong)}"[:400]] if wrong else []


def _told_otherwise(told: object, option: str, words: Sequence[str]) -> bool:
    """Whether the last value of an option of the command is another than `told`."""
    option = option.replace("_", "-")
    found = [after for word, after in pairwise(words) if word == option]
    return told is not None and bool(found) and found[-1] != str(told)
