"""Validation of one round: the fast path, and jsonschema with its validators built beforehand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from ledger import canonical, schema
from ledger.round import check_round
from tests.bench.measure import cpu_ratio, cpu_time, in_turns, micro, table
from tests.bench.rounds import round_body

if TYPE_CHECKING:
    from collections.abc import Callable

_NAME = "round-input"
_ROUNDS = 200


def run(repeats: int) -> None:
    """Print the tables, for usual rounds and for rounds with the gaps between tokens."""
    _compare("Validate a round of {:.1f} kB", [round_body(number) for number in range(_ROUNDS)], repeats)
    heavy = [round_body(number, requests=4, gaps=True) for number in range(_ROUNDS)]
    _compare("Validate a round of {:.1f} kB that is mostly columns of gaps", heavy, repeats)


def _compare(title: str, bodies: list[canonical.JsonObject], repeats: int) -> None:
    raws = [canonical.encode(body) for body in bodies]
    few = bodies[:2]

    def each(check: Callable[[int], object]) -> Callable[[], None]:
        def action() -> None:
            for at in range(len(bodies)):
                check(at)

        return action

    def slowly() -> None:
        for body in few:
            schema.validate_slowly(_NAME, body)

    sides = {
        "parse": each(lambda at: orjson.loads(raws[at])),
        "bytes": each(lambda at: schema.validate(_NAME, bodies[at], raws[at])),
        "value": each(lambda at: schema.validate(_NAME, bodies[at])),
        "meaning": each(lambda at: check_round(bodies[at])),
        "jsonschema": slowly,
    }
    for action in sides.values():
        action()
    costs = in_turns(sides, repeats)
    slow = cpu_time(costs["jsonschema"]) / len(few)
    floor = micro(cpu_time(costs["parse"]), len(bodies))

    def row(what: str, side: str, target: str) -> tuple[str, str, str, str, str]:
        ratio = f"{cpu_ratio(costs[side], costs['parse']):.2f}"
        return what, micro(cpu_time(costs[side]), len(bodies)), floor, ratio, target

    table(
        title.format(sum(map(len, raws)) / len(raws) / 1000) + ", CPU time; floor: orjson.loads",
        [
            row("schema, canonical bytes at hand", "bytes", "<= 250 us"),
            row("schema, value only", "value", "<= 300 us"),
            row("what the schema cannot say", "meaning", ""),
            ("jsonschema alone", micro(slow), floor, f"{slow / cpu_time(costs['parse']) * len(bodies):.0f}", ""),
        ],
    )
