"""One run of the public log ``sparkinfer-k3-log``, as its files hold it, and what is read out of them in one place."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field
from decimal import Context, Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from ledger.errors import MalformedError
from ledger.ingest.values import as_decimal, as_label, as_object, as_text, look, read_json
from ledger.strict import b64decode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ledger.canonical import JsonObject
    from ledger.ingest.sparkinfer.text import RoundText

LOG = "sparkinfer-k3-log"
PROJECT = "sparkinfer-k3"

# The log is that of one node and one quantisation; a run that names others is taken at its word.
_NODE, _QUANT = "h200x8", "UD-IQ1_S"
_METRICS = {None: "decode_tok_s", "decode": "decode_tok_s", "prefill": "prefill_tok_s"}
# Until then the harness decoded behind 64 tokens whatever its slot was called ("128"), and printed no context.
_CONTEXT_NAMED_SINCE = dt.datetime(2026, 8, 1, 11, 30, 2, tzinfo=dt.UTC)
_CONTEXT_BEFORE = 64
_EXACT = Context(prec=2000)  # holds the difference of any two numbers that `as_decimal` gives


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Something in the source that does not hold.

    Attributes:
        code: key of `ledger.ingest.sparkinfer.faults.FAULTS`.
        message: what was expected and what was found.
        where: file and member; empty when the whole record is meant.
        record: run id of the other record concerned; empty when there is none.
    """

    code: str
    message: str
    where: str = ""
    record: str = ""


class SourceFile(NamedTuple):
    """A file of a run: its name, and digest and size of its untouched bytes."""

    name: str
    sha256: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run.

    Attributes:
        id: name of its folder.
        at: time that the receipt claims.
        receipt: ``receipt.json``.
        result: ``result.json``; none when it is missing.
        attestation: ``attestation.json``; none when it is missing.
        text: what the log of its session says about it; none when there is no ``eval.log``.
        rows: its rows in ``ledger`` and in ``index``; one each is right.
        files: the files of its folder, the receipt first.
        position: place among all runs in time order.
    """

    id: str
    at: dt.datetime
    receipt: JsonObject
    result: JsonObject | None
    attestation: JsonObject | None
    text: RoundText | None
    rows: Mapping[str, tuple[JsonObject, ...]]
    files: tuple[SourceFile, ...]
    position: int = field(default=0)

    @property
    def payload(self) -> JsonObject:
        """What the harness reported: the result, else the attested output; the oldest has part of it one level down."""
        found = self.attested if self.result is None else self.result
        inner = found.get("provenance")
        return {**inner, **found} if isinstance(inner, dict) else found

    @property
    def attested(self) -> JsonObject:
        """The attested output; empty when it cannot be read, which `ledger.ingest.sparkinfer.seals` finds."""
        try:
            return read_stdout(self)
        except MalformedError:
            return {}

    def name(self, member: str) -> str:
        """A place in this run, for errors and faults: ``runs/<id>/<member>``."""
        return f"runs/{self.id}/{member}"

    def place(self, member: str) -> str:
        """Where a reported member stands: in the result, or in the receipt when that is all there is."""
        return self.name(f"{'receipt.json' if self.result is None else 'result.json'}/{member}")

    def sealed(self, path: str) -> Any:  # noqa: ANN401 - any JSON value
        """A member of the receipt.

        Raises:
            MalformedError: ``E_FIELD`` when it is missing.
        """
        return look(self.receipt, path, self.name("receipt.json"))

    def sealed_text(self, path: str) -> str:
        """A text of the receipt.

        Raises:
            MalformedError: ``E_FIELD``.
        """
        return as_text(self.sealed(path), self.name(f"receipt.json/{path}"))


def read_stdout(run: Run) -> JsonObject:
    """The output that the quote attests, decoded.

    Raises:
        MalformedError: it is missing, is not base64, or is not a JSON object.
    """
    where = run.name("receipt.json/tdx/stdout_b64")
    return as_object(read_json(b64decode(run.sealed_text("tdx/stdout_b64"), what=where), where), where)


def read_commit(run: Run) -> str:
    """The attested commit, in full."""
    path = "attestation/code/commit"
    return as_label(run.sealed(path), run.name(f"receipt.json/{path}"))


def read_label(run: Run) -> str:
    """The published verdict: the result's, else the one in the receipt."""
    if run.result is None:
        return run.sealed_text("attestation/verdict/label")
    place = run.name("result.json")
    return as_text(look(run.result, "label", place), f"{place}/label")


def read_value(run: Run) -> Decimal:
    """Tokens per second as the result printed them, else as the verdict in the receipt did."""
    if run.result is None:
        return as_decimal(run.sealed("attestation/verdict/tps"), run.name("receipt.json/attestation/verdict/tps"))
    place = run.name("result.json")
    return as_decimal(look(run.result, "tps", place), f"{place}/tps")


def read_frontier(run: Run) -> tuple[Decimal, str] | None:
    """The figure that the run was held against and its origin, ``file`` or ``derived``; none when it is not told."""
    if run.result is not None:
        printed = run.result.get("frontier_tps")
        return None if printed is None else (as_decimal(printed, run.name("result.json/frontier_tps")), "file")
    delta = run.sealed("attestation/verdict/delta_tps")
    if delta is None:
        return None
    gain = as_decimal(delta, run.name("receipt.json/attestation/verdict/delta_tps"))
    return _EXACT.subtract(read_value(run), gain), "derived"


def read_kl(run: Run) -> Decimal:
    """The divergence as the result printed it, else as the receipt did."""
    if run.result is None:
        place = "attestation/measurements/primary/kl"
        return as_decimal(run.sealed(place), run.name(f"receipt.json/{place}"))
    return as_decimal(look(run.result, "kl", run.name("result.json")), run.name("result.json/kl"))


def read_slot(run: Run) -> JsonObject:
    """The slot.

    Raises:
        MalformedError: ``E_METRIC``, or ``E_CONTEXT`` when neither the run nor its time tells the context.
    """
    payload = run.payload
    metric = payload.get("scored_metric")
    if metric is not None and as_text(metric, run.place("scored_metric")) not in _METRICS:
        raise MalformedError(
            "E_METRIC", f"expected decode or prefill, found {metric!r}", where=run.place("scored_metric")
        )
    context = named_context(run)
    if context is None:
        if run.at >= _CONTEXT_NAMED_SINCE:
            raise MalformedError(
                "E_CONTEXT", "no context is named, and the harness of that time named it", where=run.place("scored_ctx")
            )
        context = _CONTEXT_BEFORE
    return {
        "project": PROJECT,
        "node": as_label(payload.get("node", _NODE), run.place("node")),
        "quant": as_label(payload.get("quant", _QUANT), run.place("quant")),
        "context": context,
        "metric": _METRICS[metric],
    }


def named_context(run: Run) -> int | None:
    """The context that the run names, if it names one.

    Raises:
        MalformedError: ``E_CONTEXT`` when it is not a count.
    """
    payload = run.payload
    for name in ("scored_ctx", "scored_context"):
        context = payload.get(name)
        if context is None:
            continue
        if type(context) is not int or context < 0:
            where = run.place(name)
            raise MalformedError("E_CONTEXT", f"expected a count of tokens, found {context!r}", where=where)
        return context
    return None
