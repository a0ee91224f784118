"""What a round must satisfy beyond its schema: the checks that need two members at once.

They are made when a round is signed, when it is sealed and when it is verified. Each refuses a round that could not
mean what it says; none of them judges whether the number is good.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from operator import gt
from typing import TYPE_CHECKING, Any

from ledger.errors import MalformedError, RefusedError
from ledger.metrics import METRICS
from ledger.strict import is_time, parse_time

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ledger.canonical import JsonObject

SUBJECT_ORDER = ("candidate", "main", "reference")


def subject_arm(body: JsonObject) -> JsonObject:
    """The arm that a round is about: the candidate, else main, else the reference."""
    arms: dict[str, JsonObject] = {arm["role"]: arm for arm in body["arms"]}
    return next(arms[role] for role in SUBJECT_ORDER if role in arms)


def round_subject(body: JsonObject) -> tuple[str, str]:
    """Name and digest of what a round is about: the code of that arm."""
    arm = subject_arm(body)
    return arm["role"], arm["code_sha256"]


def says_the_same(one: JsonObject, other: JsonObject) -> bool:
    """Whether two bodies are one figure: equal but for the load of the node, which is of the moment of asking.

    A round that does not say which attempt it is, is the first.
    """
    return {"attempt": 1} | without_load(one) == {"attempt": 1} | without_load(other)


def without_load(body: JsonObject) -> JsonObject:
    """A body without the load of the node."""
    environment = body.get("environment")
    if not isinstance(environment, dict) or "load" not in environment:
        return body
    return body | {"environment": {name: value for name, value in environment.items() if name != "load"}}


def check_round(body: JsonObject) -> None:
    """Check a round that satisfies the schema ``round-input``.

    Raises:
        RefusedError: with a code and a JSON pointer into the round.
    """
    roles = check_arms(body["arms"])
    _check_attachments(body)
    _check_order(body["reps"])
    measured: dict[str, set[tuple[str, int]]] = {role: set() for role in roles}
    for at, rep in enumerate(body["reps"]):
        arm, context = measured.get(rep["arm"]), rep["context"]
        if arm is None:
            raise RefusedError("E_ARM_UNKNOWN", f"the round has no arm {rep['arm']!r}", where=f"/reps/{at}/arm")
        if not _is_plain(rep):
            _check_rep(rep, f"/reps/{at}")
        if not rep["warmup"]:
            arm.update([(metric, context) for metric in rep["metrics"]])
    _check_workloads(body["reps"])
    _check_measured(body, measured)
    _check_parity(body, roles)
    if body["purpose"] == "noise":
        _check_noise(body)


def check_arms(arms: list[JsonObject]) -> list[str]:
    """Roles of arms, each of which is listed once.

    Raises:
        RefusedError: ``E_ARM_TWICE``.
    """
    roles = [arm["role"] for arm in arms]
    _unique(roles, "E_ARM_TWICE", "an arm is listed twice", "/arms")
    return roles


def _unique(values: list[Any], code: str, message: str, where: str) -> None:
    if len(set(values)) != len(values):
        twice = next(value for value, count in Counter(values).items() if count > 1)
        raise RefusedError(code, f"{message}: {twice}", where=where)


def _check_attachments(body: JsonObject) -> None:
    names = [item["name"] for item in body.get("attachments", [])]
    _unique(names, "E_ATTACHMENT", "two attachments of one name", "/attachments")
    known = set(names)
    for name, where in _attachment_uses(body):
        if name not in known:
            raise RefusedError("E_ATTACHMENT", f"there is no attachment {name!r}", where=where)


def _attachment_uses(body: JsonObject) -> Iterator[tuple[str, str]]:
    for member in ("reps", "reported"):
        for at, item in enumerate(body.get(member, [])):
            if "source" in item:
                yield item["source"]["attachment"], f"/{member}/{at}/source/attachment"
    for at, item in enumerate(body.get("parity", [])):
        if "attachment" in item:
            yield item["attachment"], f"/parity/{at}/attachment"


def _check_order(reps: list[JsonObject]) -> None:
    owners: dict[int, str] = {}
    last = 0
    for at, rep in enumerate(reps):
        order = rep["order"]
        if order < last:
            raise RefusedError(
                "E_ORDER", f"order {order} after {last}; list repetitions in time", where=f"/reps/{at}/order"
            )
        if owners.setdefault(order, rep["arm"]) != rep["arm"]:
            raise RefusedError("E_ORDER", f"two arms share the run {order}", where=f"/reps/{at}/order")
        last = order


def _check_workloads(reps: list[JsonObject]) -> None:
    """What meets in one comparison must have measured the same: one user is not served at the rate of eight.

    The seed may differ from run to run. What only one of two repetitions says is another workload too: else a member
    would be left out where it differs.
    """
    asked = reps[0].get("workload")
    if all(rep.get("workload") == asked for rep in reps):
        return
    seen: dict[tuple[str, int], JsonObject] = {}
    for at, rep in enumerate(reps):
        said = {name: value for name, value in rep.get("workload", {}).items() if name != "seed"}
        for metric in rep["metrics"] if not rep["warmup"] else ():
            known = seen.setdefault((metric, rep["context"]), said)
            for name in sorted(known.keys() | said.keys()):
                one, other = known.get(name, "nothing"), said.get(name, "nothing")
                if one != other:
                    raise RefusedError(
                        "E_MIXED",
                        f"{metric} at context {rep['context']} was measured with {name} {one} and {other}; one "
                        "round has one workload",
                        where=f"/reps/{at}/workload/{name}",
                    )


def _is_plain(rep: JsonObject) -> bool:
    """Whether a repetition passes `_check_rep` at a glance: there is no null and no 0 in its records."""
    records: dict[str, list[Any]] = rep["records"]
    columns = records.values()
    return (
        is_time(rep["started_at"])
        and _suffices(tuple(rep["metrics"]), tuple(records))
        and len({*map(len, columns)}) == 1
        and all(columns)
        and all(map(all, columns))
        and not ("wall_ns" in records and max(records["wall_ns"]) > rep["wall_ns"])
        and not ("ttft_ns" in records and "e2e_ns" in records and any(map(gt, records["ttft_ns"], records["e2e_ns"])))
    )


@lru_cache(maxsize=256)
def _suffices(metrics: tuple[str, ...], columns: tuple[str, ...]) -> bool:
    """Whether these metrics, each listed once, can be worked out from these columns."""
    return len({*metrics}) == len(metrics) and all({*METRICS[metric].columns} <= {*columns} for metric in metrics)


def _check_rep(rep: JsonObject, where: str) -> None:
    _check_time(rep["started_at"], f"{where}/started_at")
    _unique(rep["metrics"], "E_METRIC_TWICE", "a metric is listed twice", f"{where}/metrics")
    _check_records(rep, where)
    if not rep["warmup"]:
        _check_observed(rep, where)


def _check_records(rep: JsonObject, where: str) -> None:
    records: dict[str, list[Any]] = rep["records"]
    lengths = {*map(len, records.values())}
    if len(lengths) != 1 or 0 in lengths:
        raise _uneven(records, where)
    for name in ("wall_ns", "e2e_ns"):
        if name in records and 0 in records[name]:
            at = records[name].index(0)
            raise RefusedError(
                "E_ZERO_TIME",
                "a duration of 0 was not measured; write null",
                where=f"{where}/records/{name}/{at}",
            )
    if "wall_ns" in records:
        longest = max((wall for wall in records["wall_ns"] if wall is not None), default=0)
        if longest > rep["wall_ns"]:
            raise RefusedError(
                "E_WALL",
                f"a sample of {longest} ns in a repetition of {rep['wall_ns']} ns",
                where=f"{where}/wall_ns",
            )
    if "ttft_ns" in records and "e2e_ns" in records:
        _check_stream_times(records["ttft_ns"], records["e2e_ns"], where)
    for metric in rep["metrics"]:
        missing = [name for name in METRICS[metric].columns if name not in records]
        if missing:
            raise RefusedError(
                "E_RECORDS_MISSING",
                f"{metric} needs the columns {', '.join(missing)}",
                where=f"{where}/records",
            )


def _check_observed(rep: JsonObject, where: str) -> None:
    """Refuse a repetition in which nothing was measured, however well-formed it is."""
    records = rep["records"]
    succeeded = records.get("ok")
    if succeeded is not None and not any(succeeded):
        raise RefusedError(
            "E_ALL_FAILED", "every request failed: there is nothing measured", where=f"{where}/records/ok"
        )
    for metric in rep["metrics"]:
        columns = [records[name] for name in METRICS[metric].columns]
        if not all(map(all, columns)) and any(None in column for column in columns):
            rows = zip(succeeded or [True] * len(columns[0]), *columns, strict=True)
            if not any(ok and None not in cells for ok, *cells in rows):
                raise RefusedError("E_EMPTY_RESULTS", f"no record gives a {metric}", where=f"{where}/records")


def _check_time(text: str, where: str) -> None:
    try:
        parse_time(text, what="started_at")
    except MalformedError as err:
        raise RefusedError(err.code, err.message, where=where) from err


def _uneven(records: dict[str, list[Any]], where: str) -> RefusedError:
    count = len(next(iter(records.values())))
    name = next(name for name, column in records.items() if len(column) != count or not count)
    return RefusedError(
        "E_COLUMN_LENGTH",
        f"columns have one length of at least 1; {name} has {len(records[name])}, another has {count}",
        where=f"{where}/records/{name}",
    )


def _check_stream_times(first: list[Any], end: list[Any], where: str) -> None:
    for at, (ttft, e2e) in enumerate(zip(first, end, strict=True)):
        if ttft is not None and e2e is not None and ttft > e2e:
            raise RefusedError(
                "E_TTFT_AFTER_END",
                f"first token after {ttft} ns, end after {e2e} ns: two clocks, or not a stream",
                where=f"{where}/records/ttft_ns/{at}",
            )


def _check_measured(body: JsonObject, measured: dict[str, set[tuple[str, int]]]) -> None:
    for role, pairs in measured.items():
        if not pairs:
            raise RefusedError("E_ARM_UNMEASURED", f"the arm {role} has no repetition but warm-up", where="/reps")
    slot = body["slot"]
    wanted = [((slot["metric"], slot["context"]), "E_CONTEXT_MISMATCH", "/slot")]
    wanted += [
        ((guard["metric"], guard["context"]), "E_GUARD_UNMEASURED", f"/guards/{at}")
        for at, guard in enumerate(body.get("guards", []))
    ]
    for pair, code, where in wanted:
        for role, pairs in measured.items():
            if pair not in pairs:
                found = ", ".join(f"{metric} at {context}" for metric, context in sorted(pairs))
                raise RefusedError(
                    code,
                    f"the arm {role} has no {pair[0]} at context {pair[1]}; it measured {found}",
                    where=where,
                )


def _check_parity(body: JsonObject, roles: list[str]) -> None:
    keys = []
    for at, item in enumerate(body.get("parity", [])):
        if item["arm"] not in roles:
            raise RefusedError("E_ARM_UNKNOWN", f"the round has no arm {item['arm']!r}", where=f"/parity/{at}/arm")
        keys.append(f"{item['arm']} at depth {item['depth']}")
    _unique(keys, "E_PARITY_TWICE", "parity is given twice for one arm and depth", "/parity")


def _check_noise(body: JsonObject) -> None:
    arms = body["arms"]
    codes = {arm["code_sha256"] for arm in arms}
    settings = [arm.get("settings", {}) for arm in arms]
    if len(arms) < 2 or len(codes) != 1 or any(each != settings[0] for each in settings):  # noqa: PLR2004
        raise RefusedError(
            "E_NOISE_ARMS",
            "a noise round runs the same code with the same settings in two arms",
            where="/arms",
        )
