"""What one project's runner records and row reports hold, worked out again: see `tests.support.tool_figures`.

A record has one line per request, with times in milliseconds to three decimals. A report has statistics of several
records and says where those lie; a log of the server, which it does not name, has the rounds of every request.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tests.support.exact_figures import (
    DOUBLE_NOISE,
    NS_PER_MS,
    Figure,
    compare,
    mean,
    median,
    nearest_rank,
    parse,
    per_second,
    percentile,
    to_ns,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.support.exact_figures import Printed

_NONE = Fraction(0)
_HALF_A_US = Fraction(1, 2000)  # in milliseconds
_LOG_LINE = re.compile(r"completion=(\d+) .* blocks=(\d+) committed=(\d+) decode_ms=([\d.]+) ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """The measured requests of a record, in its order.

    Attributes:
        body: the whole record.
        prompts: tokens of each prompt.
        tokens: tokens of each answer, the first one included.
        firsts: nanoseconds to the first token.
        ends: nanoseconds to the end.
    """

    body: dict[str, Any]
    prompts: tuple[int, ...]
    tokens: tuple[int, ...]
    firsts: tuple[int, ...]
    ends: tuple[int, ...]

    @property
    def rates(self) -> tuple[Fraction, ...]:
        """Tokens a second after the first one, by request."""
        rows = zip(self.tokens, self.firsts, self.ends, strict=True)
        return tuple(per_second(tokens - 1, end - first) for tokens, first, end in rows)

    @property
    def ttfts(self) -> tuple[Fraction, ...]:
        """Milliseconds to the first token, by request."""
        return tuple(Fraction(first, NS_PER_MS) for first in self.firsts)

    @property
    def duration(self) -> Fraction:
        """Seconds that the measured requests took together."""
        payload = self.body["raw"]["payload"]
        return Fraction(payload["iterations"][payload["selected_iteration"]]["duration_s"])


def read_record(path: Path) -> Record:
    """Read a record; warm-ups are left out."""
    body = parse(path.read_text())
    measured = [item for item in body["raw"]["payload"]["requests"] if not item["warmup"] and item["status"] == "ok"]
    return Record(
        body=body,
        prompts=tuple(item["prompt_tokens"] for item in measured),
        tokens=tuple(item["completion_tokens"] for item in measured),
        firsts=tuple(to_ns(item["ttft_ms"], "ms") for item in measured),
        ends=tuple(to_ns(item["e2e_ms"], "ms") for item in measured),
    )


def read_record_figures(path: Path) -> list[Figure]:
    """The figures of one record, with what the runner printed about its requests."""
    record = read_record(path)
    metrics = record.body.get("metrics", {})
    decodes = [(end - first) for first, end in zip(record.firsts, record.ends, strict=True)]
    spread = {
        "ttft_ms": record.ttfts,
        "e2e_ms": [Fraction(end, NS_PER_MS) for end in record.ends],
        "tpot_ms": [Fraction(ns, (n - 1) * NS_PER_MS) for ns, n in zip(decodes, record.tokens, strict=True)],
        "decode_tok_s_per_request": record.rates,
    }
    exact = {
        "requests_ok": Fraction(len(record.tokens)),
        "input_tokens_total": Fraction(sum(record.prompts)),
        "output_tokens_total": Fraction(sum(record.tokens)),
        "output_tok_s": sum(record.tokens) / record.duration,
        "total_tok_s": (sum(record.tokens) + sum(record.prompts)) / record.duration,
        "req_s": len(record.tokens) / record.duration,
        "prefill_tok_s": sum(record.prompts) / (sum(record.ttfts, Fraction(0)) / 1000),
    }
    for name, values in spread.items():
        exact |= {f"{name}.p{percent}": percentile(values, percent) for percent in (50, 90, 95, 99)}
        exact |= {f"{name}.mean": mean(values), f"{name}.min": min(values), f"{name}.max": max(values)}
    # Times were rounded to microseconds after the statistics were made.
    printed = tuple(
        replace(item, slack=_HALF_A_US if "_ms." in item.name else _NONE) for item in compare(exact, metrics)
    )
    return _figures("requests", [record], printed)


def _figures(of: str, records: Sequence[Record], printed: tuple[Printed, ...]) -> list[Figure]:
    """Every record is a repetition."""
    prompts = [tokens for record in records for tokens in record.prompts]
    context, rows = Fraction(sum(prompts), len(prompts)), tuple(range(len(records)))
    values = {
        "decode_tok_s": tuple(record.rates for record in records),
        "ttft": tuple(record.ttfts for record in records),
    }
    return [
        Figure(of=of, rows=rows, metric=metric, context=context, reps=reps, printed=printed)
        for metric, reps in values.items()
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounds:
    """What a server's log says of the measured requests, in the record's order.

    Attributes:
        committed: tokens after the first one.
        blocks: rounds.
        decodes: nanoseconds from the first token to the last round.
    """

    committed: tuple[int, ...]
    blocks: tuple[int, ...]
    decodes: tuple[int, ...]


def read_rounds(path: Path, record: Record) -> Rounds:
    """The lines of the log that belong to the record's measured requests: the last ones."""
    lines = _LOG_LINE.findall(path.read_text())[-len(record.tokens) :]
    assert tuple(int(line[0]) for line in lines) == record.tokens, "the log is of another record"
    return Rounds(
        committed=tuple(int(line[2]) for line in lines),
        blocks=tuple(int(line[1]) for line in lines),
        decodes=tuple(to_ns(Fraction(line[3]), "ms") for line in lines),
    )


def read_row_report(path: Path) -> list[Figure]:
    """A report of row runs: from the records that it names and the server's logs beside them."""
    report = parse(path.read_text())
    paths = [path.parents[1] / run["record"] for run in report["runs"]]
    records = [read_record(each) for each in paths]
    logs = [each.parents[1] / f"server-slice-{each.parent.name.removeprefix('raw-')}.log" for each in paths]
    rounds = [read_rounds(log, record) for log, record in zip(logs, records, strict=True)]
    printed: list[Printed] = []
    runs: list[dict[str, Fraction]] = []
    for record, blocks, run in zip(records, rounds, report["runs"], strict=True):
        runs.append(_run_statistics(record, blocks))
        printed += compare(runs[-1], run)
    for name in runs[0]:
        values = [run[name] for run in runs]
        spread = 100 * (max(values) - min(values)) / median(values)
        ends = {"median": median(values), "min": min(values), "max": max(values), "spread_pct": spread}
        found = compare({f"summary.{name}.{end}": value for end, value in ends.items()}, report)
        # A difference of doubles keeps the noise of what it is made of.
        printed += [replace(item, slack=100 * DOUBLE_NOISE if item.name.endswith("_pct") else _NONE) for item in found]
    figures = _figures(str(report["label"]), records, tuple(printed))
    per_round = {
        "tokens_per_round": tuple(_per_block(each.committed, each) for each in rounds),
        "ms_per_round": tuple(tuple(v / NS_PER_MS for v in _per_block(each.decodes, each)) for each in rounds),
    }
    return figures + [
        Figure(of=figures[0].of, rows=figures[0].rows, metric=name, context=figures[0].context, reps=reps)
        for name, reps in per_round.items()
    ]


def _per_block(values: Sequence[int], rounds: Rounds) -> tuple[Fraction, ...]:
    return tuple(Fraction(value, blocks) for value, blocks in zip(values, rounds.blocks, strict=True))


def _run_statistics(record: Record, rounds: Rounds) -> dict[str, Fraction]:
    """The report's statistics of one run, by their names; percentiles are nearest ranks."""
    rates = record.rates
    return {
        "n": Fraction(len(rates)),
        "mean": mean(rates),
        "p50": median(rates),
        "p90": nearest_rank(rates, 90),
        "max": max(rates),
        "ttft_p50_ms": median(record.ttfts),
        "wall_s": record.duration,
        "blocks": Fraction(sum(rounds.blocks)),
        "tok_blk": Fraction(sum(rounds.committed), sum(rounds.blocks)),
        "ms_blk": Fraction(sum(rounds.decodes), sum(rounds.blocks) * NS_PER_MS),
        "tok_blk_p50": median(_per_block(rounds.committed, rounds)),
        "ms_blk_p50": median(_per_block(rounds.decodes, rounds)) / NS_PER_MS,
    }


def read_block_ab(path: Path) -> list[Figure]:
    """A block A/B: every answer is a repetition of its state and workload, and has one mean over its rounds."""
    body = parse(path.read_text())
    groups: dict[tuple[str, str], list[int]] = {}
    for at, run in enumerate(body["runs"]):
        groups.setdefault((run["state"], run["workload"]), []).append(at)
    found = []
    for (state, workload), rows in groups.items():
        runs = [body["runs"][at] for at in rows]
        times = tuple((_block_time(run),) for run in runs)
        tokens = tuple((Fraction(len(run["out"]) - 1, run["blocks"]),) for run in runs)
        printed = [item for run in runs for item in compare(_block_statistics(run), run)]
        side = "base" if state == body["base"] else "other"
        values = [Fraction(run["block_ms"]) for run in runs]
        exact = {"median": median(values), "min": min(values), "max": max(values)}
        for verdict in body["verdicts"].values():
            printed += compare(exact, verdict["ms_blk"][workload][side])
        for name, reps in (("ms_per_round", times), ("tokens_per_round", tokens)):
            of = f"{state}/{workload}"
            figure = Figure(of=of, rows=tuple(rows), metric=name, context=None, reps=reps, printed=tuple(printed))
            found.append(figure)
    return found


def _block_time(run: dict[str, Any]) -> Fraction:
    """Milliseconds a round, of the whole nanoseconds that all rounds took."""
    blocks = run["blocks"]
    return Fraction(to_ns(Fraction(run["block_ms"]) * blocks, "ms"), blocks * NS_PER_MS)


def _block_statistics(run: dict[str, Any]) -> dict[str, Fraction]:
    tokens, blocks = Fraction(len(run["out"]) - 1), run["blocks"]
    return {
        "tokens": tokens,
        "tok_blk": tokens / blocks,
        "tok_s": 1000 * tokens / (Fraction(run["block_ms"]) * blocks),
    }


def read_forced(path: Path) -> list[Figure]:
    """A forced bench: every row of a configuration and a workload is a repetition, its rounds are the samples."""
    groups: dict[tuple[str, str], list[int]] = {}
    body = parse(path.read_text())
    for at, row in enumerate(body["rows"]):
        groups.setdefault((row["config"], row["workload"]), []).append(at)
    return [_forced_figure(of, [body["rows"][at] for at in rows], tuple(rows)) for of, rows in groups.items()]


def _forced_figure(of: tuple[str, str], rows: list[dict[str, Any]], at: tuple[int, ...]) -> Figure:
    printed: list[Printed] = []
    for row in rows:
        exact = {
            "tok_s": 1000 * Fraction(row["tokens"]) / Fraction(row["ms"]),
            "tpb": Fraction(row["tokens"], row["blocks"]),
            "mspb": Fraction(row["ms"]) / row["blocks"],
            "median_round_ms": median([Fraction(each[2]) for each in row["rounds"]]),
        }
        printed += compare(exact, row)
    reps = tuple(tuple(Fraction(to_ns(each[2], "ms"), NS_PER_MS) for each in row["rounds"]) for row in rows)
    context = Fraction(rows[0]["prompt"])
    return Figure(of="/".join(of), rows=at, metric="ms_per_round", context=context, reps=reps, printed=tuple(printed))
