"""What a reader of a runner's records must know, and why: one sentence each, by the requests and the settings."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from fractions import Fraction
from typing import TYPE_CHECKING

from ledger.ingest.printed import apart
from ledger.ingest.statistics import mean, median
from ledger.ingest.tandem.printed import rank_differs
from ledger.ingest.values import printed_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ledger.ingest.tandem.requests import Record, Request, Sample

_SHORT = 128
_SAME_CLOCK = Fraction(1, 100)
_FAST_FIRST = Fraction(7, 10)
_LIFTED = Fraction(115, 100)


def record_notes(record: Record) -> list[str]:
    """Notes on one record, in the order of the catalogue; `prompt_notes` are apart."""
    samples = [sample for iteration in record.iterations for sample in iteration.samples]
    found = (
        _one_sample(samples),
        _prefix_cache(record, samples),
        _chunked(record),
        _finish_cap(record),
        _short_output(samples),
        _context_declared(record, samples),
        _context_partial(samples),
        "F_PERCENTILE_METHOD: a printed percentile is not the nearest rank" if rank_differs(record) else "",
        _clock(record),
        _clock_order(record),
        _throttled(record),
        _lifted(samples),
    )
    return [note for note in found if note]


def prompt_notes(records: Sequence[Record]) -> list[str]:
    """Notes on prompts that came more than once, in one record or in several of one server."""
    requests = [request for record in records for request in record.requests if request.prompt_id]
    lengths, answers = _by_prompt(requests)
    drifted = [prompt for prompt, found in lengths.items() if len(found) > 1]
    # Where lengths differ the texts do, and so may the answers of every prompt: nothing shows that the rest are equal.
    other = [] if drifted else [prompt for prompt, found in answers.items() if len(found) > 1]
    notes = []
    if drifted:
        notes.append(f"F_PROMPT_DRIFT: {len(drifted)} prompts have several lengths, such as {drifted[0][:80]}")
    if other:
        notes.append(
            f"F_NONDETERMINISTIC: {len(other)} prompts have answers of several lengths, such as {other[0][:80]}"
        )
    return notes


def mean_prompt(samples: Iterable[Sample]) -> Fraction | None:
    """Mean length of the prompts that have one; none when none has."""
    known = [Fraction(sample.prompt_tokens) for sample in samples if sample.prompt_tokens is not None]
    return mean(known) if known else None


def _by_prompt(requests: Sequence[Request]) -> tuple[dict[str, set[int]], dict[str, set[int]]]:
    lengths, answers = defaultdict[str, set[int]](set), defaultdict[str, set[int]](set)
    for request in requests:
        if request.prompt_tokens is not None:
            lengths[request.prompt_id].add(request.prompt_tokens)
        if request.tokens is not None and request.error is None:
            answers[request.prompt_id].add(request.tokens)
    return lengths, answers


def _one_sample(samples: Sequence[Sample]) -> str:
    return "F_N1: one sample, of which no deviation is known" if len(samples) == 1 else ""


def _prefix_cache(record: Record, samples: Sequence[Sample]) -> str:
    """A prompt that came before is answered from its cache: at once, whatever the prefill takes."""
    args = record.body.get("args")
    ids = [request.prompt_id for request in record.requests if request.prompt_id]
    if isinstance(args, dict) and args.get("enable-prefix-caching") is True and len(set(ids)) < len(ids):
        return "F_PREFIX_CACHE: a prefix cache was on while prompts came again"
    warm = {request.prompt_id for request in record.requests if request.warmup and request.prompt_id}
    bar = _FAST_FIRST * median([Fraction(sample.ttft_ns) for sample in samples])
    fast = [sample for sample in samples if sample.request.prompt_id in warm and sample.ttft_ns < bar]
    if fast:
        return f"F_PREFIX_CACHE: {len(fast)} prompts of warm-ups came again, and their first tokens early"
    reads = [Fraction(sample.prompt_tokens, sample.ttft_ns) for sample in samples if sample.prompt_tokens]
    twice = 2 * median(reads) if reads else Fraction(0)
    hidden = sum(read > twice for read in reads)
    return f"F_PREFIX_CACHE: {hidden} prompts were read at more than twice the median rate" if hidden else ""


def _chunked(record: Record) -> str:
    printed = record.iterations[record.selected].printed
    gap, step = (_p50(printed.get(name)) for name in ("itl_ms", "tpot_ms"))
    if gap is None or step is None or gap * 5 >= step:
        return ""
    return "F_CHUNKED: half of all gaps are shorter than a fifth of a token's time: tokens come in bursts"


def _p50(block: object) -> Fraction | None:
    return printed_number(block.get("p50")) if isinstance(block, dict) else None


def _finish_cap(record: Record) -> str:
    cap = record.asked("output_tokens")
    if type(cap) is not int:
        return ""
    strange = [
        request
        for request in record.requests
        if request.tokens is not None
        and (request.tokens > cap or (request.finish == "length" and request.tokens < cap))
    ]
    return f"F_FINISH_CAP: {len(strange)} answers ended for their length at other than {cap}" if strange else ""


def _short_output(samples: Sequence[Sample]) -> str:
    short = sum(sample.tokens < _SHORT for sample in samples)
    if short * 10 <= len(samples):
        return ""
    return f"F_SHORT_OUTPUT: {short} of {len(samples)} answers have fewer than {_SHORT} tokens"


def _context_declared(record: Record, samples: Sequence[Sample]) -> str:
    asked, found = record.asked("input_tokens"), mean_prompt(samples)
    if type(asked) is not int or asked <= 0 or found is None or not apart(found, Fraction(asked)):
        return ""
    return f"F_CONTEXT_DECLARED: {asked} tokens were asked for, {round(found)} are in a prompt on average"


def _context_partial(samples: Sequence[Sample]) -> str:
    known = sum(sample.prompt_tokens is not None for sample in samples)
    if known == len(samples):
        return ""
    return f"F_CONTEXT_PARTIAL: {known} of {len(samples)} requests have the length of their prompt"


def _clock(record: Record) -> str:
    """One request after the other takes as long as all of them: else there was a pause, an overlap or an edit."""
    if record.asked("concurrency") != 1:
        return ""
    for iteration in record.iterations:
        busy = sum(sample.e2e_ns for sample in iteration.samples)
        if abs(iteration.wall_ns - busy) > _SAME_CLOCK * iteration.wall_ns:
            return f"F_CLOCK_GAP: the requests took {busy} ns one after the other, their run {iteration.wall_ns} ns"
    return ""


def _clock_order(record: Record) -> str:
    told = record.body.get("provenance")
    start, end = (told.get(name) for name in ("started_at", "finished_at")) if isinstance(told, dict) else (None, None)
    began, ended = _moment(start), _moment(end)
    if began is not None and ended is not None and ended < began:
        return f"F_CLOCK_ORDER: the row ended at {str(end)[:40]}, before it began at {str(start)[:40]}"
    return ""


def _moment(text: object) -> dt.datetime | None:
    """A time that says its zone; none for anything else."""
    if not isinstance(text, str):
        return None
    try:
        found = dt.datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo is not None else None


def _throttled(record: Record) -> str:
    if record.iterations[record.selected].printed.get("thermal_throttle_detected") is True:
        return "F_THROTTLED: the board lowered its clocks to stay within its heat or power"
    return ""


def _lifted(samples: Sequence[Sample]) -> str:
    rates = [sample.rate for sample in samples]
    if mean(rates) <= _LIFTED * median(rates):
        return ""
    return "F_MEAN_LIFTED: the mean rate is more than 15 % above the median: a few answers were copied, not decoded"
