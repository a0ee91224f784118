"""Faults of one run: its figures, and what was recorded of how they were taken.

The detectors are like those of `ledger.ingest.sparkinfer.seals`.
"""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import TYPE_CHECKING

from ledger.ingest.sparkinfer.run import Fault, named_context, read_frontier, read_kl, read_slot, read_value
from ledger.ingest.values import as_decimal, as_object, as_text, exponent_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ledger.ingest.sparkinfer.run import Run

_EMPTY = (
    ("K_BUILD_HASH_EMPTY", "attestation/code/build_hash"),
    ("K_EVAL_SEED_EMPTY", "attestation/references/eval_seed"),
    ("K_NODE_UNKNOWN", "attestation/environment/driver_version"),
    ("K_NODE_UNKNOWN", "attestation/environment/gpu_name"),
    ("K_NODE_UNKNOWN", "attestation/environment/gpu_arch"),
    ("K_CUDA_VERSION_EMPTY", "attestation/environment/cuda_version"),
)
_MS_PER_S = 1000
# A rate with two decimals is off by up to 0.005; the rest is for a duration with enough digits.
_RATE_TOLERANCE = Decimal("0.006")
_COARSE_KL = 4  # decimals; the accuracy bars lie at 0.02 and 0.05, differences between builds at 0.0001 and below
_NO_KL = 99  # what the harness puts where no divergence was measured
_RAW = ("reps", "records", "samples")
_SOURCES = {"self_report_wall_clock_bounded", "wall_clock_differential"}
# From then on the harness scored the figure that the measured program printed; the clock only bounded it.
_SELF_REPORT_SINCE = dt.datetime(2026, 8, 1, 17, 41, tzinfo=dt.UTC)


def find_loose_clocks(run: Run) -> Iterator[Fault]:
    """A speed is only comparable at a known clock."""
    where = run.name("receipt.json/attestation/environment")
    pinned, clock = (run.sealed(f"attestation/environment/{name}") for name in ("clocks_pinned", "clock_mhz"))
    if pinned is not True:
        message = f"clocks_pinned is {pinned!r}; the clock told, {clock!r} MHz, is not a measurement"
        yield Fault(code="K_CLOCKS_NOT_PINNED", message=message[:300], where=where)
    if as_decimal(clock, f"{where}/clock_mhz") == 0:
        yield Fault(code="K_CLOCK_ZERO", message="clock_mhz is 0: not taken on the node", where=f"{where}/clock_mhz")


def find_empty_fields(run: Run) -> Iterator[Fault]:
    """Members that are there and say nothing."""
    for code, path in _EMPTY:
        if not run.sealed_text(path):
            name = path.rpartition("/")[2]
            yield Fault(code=code, message=f"{name} is empty", where=run.name(f"receipt.json/{path}"))
    if run.payload.get("llama_commit") == "" and (known := run.sealed_text("attestation/references/llamacpp_commit")):
        message = f"llama_commit is empty in the result, the receipt has {known!r}"
        yield Fault(code="K_LLAMA_COMMIT_EMPTY", message=message[:300], where=run.place("llama_commit"))


def find_guessed_context(run: Run) -> Iterator[Fault]:
    """The context is an axis of the slot: a run must name it, and name one."""
    payload, where = run.payload, run.place("scored_ctx")
    if named_context(run) is None:
        message = f"the run names no context; {read_slot(run)['context']} is what the harness of that time used"
        yield Fault(code="K_CONTEXT_INFERRED", message=message, where=where)
    names = {str(payload[name]) for name in ("scored_ctx", "scored_context") if payload.get(name) is not None}
    if len(names) > 1:
        yield Fault(code="K_CONTEXT_COPIES", message=f"two contexts are named: {sorted(names)}"[:300], where=where)


def find_duration_mismatch(run: Run) -> Iterator[Fault]:
    """Tokens per second and milliseconds per token are one figure, printed twice."""
    printed = run.payload.get("ms_per_token")
    if printed is None:
        return
    where = run.place("ms_per_token")
    duration, rate = as_decimal(printed, where), read_value(run)
    if duration <= 0:
        yield Fault(code="K_SENTINEL", message=f"ms_per_token is {duration}: not a measurement", where=where)
        return
    again = _MS_PER_S / duration
    if abs(again - rate) <= _RATE_TOLERANCE:
        return
    slowest, fastest = (_MS_PER_S / (duration + sign * _half_unit(duration)) for sign in (1, -1))
    agree = slowest <= rate + _half_unit(rate) and fastest >= rate - _half_unit(rate)
    message = f"1000 / {duration} = {again:.4f}, tps is {rate}"
    if agree:
        yield Fault(
            code="K_DURATION_ROUNDED", message=f"{message}: rounded too far to tell one from the other", where=where
        )
    else:
        yield Fault(code="K_DURATION_MISMATCH", message=f"{message}: no rounding explains it", where=where)


def _half_unit(number: Decimal) -> Decimal:
    """Half a unit in the last place printed."""
    return Decimal((0, (5,), exponent_of(number) - 1))


def find_derived_mismatch(run: Run) -> Iterator[Fault]:
    """Gains that were printed, worked out again."""
    frontier, result = read_frontier(run), run.result
    if frontier is None or result is None:
        return
    gain = read_value(run) - frontier[0]
    expected = {"delta_tps": gain}
    if frontier[0] > 0:
        expected["pct_over_frontier"] = 100 * gain / frontier[0]
    for name, computed in expected.items():
        if result.get(name) is None:
            continue
        where = run.place(name)
        printed = as_decimal(result[name], where)
        if abs(printed - computed) > _half_unit(printed):
            yield Fault(code="K_DERIVED_MISMATCH", message=f"{name} is {printed}, computed {computed:.4f}", where=where)


def find_coarse_kl(run: Run) -> Iterator[Fault]:
    """A divergence that lost its digits cannot be compared between builds."""
    kl = read_kl(run)
    if -exponent_of(kl) <= _COARSE_KL:
        message = f"kl is {kl}: rounded to {_COARSE_KL} decimals"
        yield Fault(code="K_KL_ROUNDED", message=message, where=run.place("kl"))


def find_absent_reps(run: Run) -> Iterator[Fault]:
    """A figure can only be computed again from the raw repetitions."""
    where, payload = run.name("receipt.json/attestation/measurements/primary"), run.payload
    primary = as_object(run.sealed("attestation/measurements/primary"), where)
    if not any(isinstance(payload.get(name), list) and len(payload[name]) > 1 for name in _RAW):
        message = "no raw repetition is kept: the figure is one reading and cannot be computed again"
        yield Fault(code="K_REPS_ABSENT", message=message, where=run.place("reps"))
    speeds = [primary[name] for name in primary if name.startswith("ctx_") and name.endswith("_tps")]
    if all(speed is None for speed in speeds):
        yield Fault(code="K_SPEEDS_NULL", message="the attested measurements hold no speed", where=where)


def find_sentinels(run: Run) -> Iterator[Fault]:
    """Numbers that stand for "not measured"."""
    frontier = read_frontier(run)
    found = {"tps": read_value(run), **({"frontier_tps": frontier[0]} if frontier else {})}
    if run.payload.get("decode_tps") is not None:
        found["decode_tps"] = as_decimal(run.payload["decode_tps"], run.place("decode_tps"))
    for name, number in found.items():
        if number <= 0:
            message = f"{name} is {number}: not a measurement"
            yield Fault(code="K_SENTINEL", message=message, where=run.place(name))
    if read_kl(run) >= _NO_KL:
        yield Fault(code="K_SENTINEL", message=f"kl is {read_kl(run)}: not measured", where=run.place("kl"))


def find_speed_source(run: Run) -> Iterator[Fault]:
    """The name of the method must be there, and be that of the figure scored."""
    source, where = run.payload.get("speed_source"), run.place("speed_source")
    if source is None:
        yield Fault(code="K_SPEED_SOURCE_ABSENT", message="it is not told how the speed was taken", where=where)
        return
    if as_text(source, where) not in _SOURCES:
        message = f"no method is known by the name {source!r}"
        yield Fault(code="K_SPEED_SOURCE_UNKNOWN", message=message[:300], where=where)
    elif read_slot(run)["metric"] == "prefill_tok_s":
        message = f"{source!r} is told of a prefill figure: neither a clock nor a ceiling bounds that"
        yield Fault(code="K_SPEED_SOURCE_UNTRUE", message=message, where=where)
    elif source == "wall_clock_differential" and run.at >= _SELF_REPORT_SINCE:
        message = f"{source!r} is told, and the program's own figure was scored by then"
        yield Fault(code="K_SPEED_SOURCE_UNTRUE", message=message, where=where)


def find_unmeasured_frontier(run: Run) -> Iterator[Fault]:
    """The figure to beat must be the one that main measured in the same session."""
    frontier = read_frontier(run)
    if frontier is None or frontier[0] <= 0:
        return
    if run.text is None or run.text.main is None:
        message = f"held against {frontier[0]}; nothing here says that main measured it"
        yield Fault(code="K_FRONTIER_UNSEEN", message=message, where=run.place("frontier_tps"))
    elif Decimal(run.text.main) != frontier[0]:
        message = f"held against {frontier[0]}; in that session main measured {run.text.main}"
        yield Fault(code="K_FRONTIER_DIFFERS", message=message, where=run.name("eval.log"))


def find_unsealed_overrides(run: Run) -> Iterator[Fault]:
    """A switch that changes what is measured or refused belongs into the receipt."""
    for switch in run.text.overrides if run.text else ():
        message = f"only the log of the session tells that the harness ran with {switch!r}"
        yield Fault(code="K_OVERRIDE_UNSEALED", message=message[:500], where=run.name("eval.log"))


DETECTORS = (
    find_loose_clocks,
    find_empty_fields,
    find_guessed_context,
    find_duration_mismatch,
    find_derived_mismatch,
    find_coarse_kl,
    find_absent_reps,
    find_sentinels,
    find_speed_source,
    find_unmeasured_frontier,
    find_unsealed_overrides,
)
