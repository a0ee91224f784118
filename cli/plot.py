"""Step charts of a ladder and of a re-score, as SVG. matplotlib draws them; it comes with the extra ``plot``.

A filled mark is attested, a hollow one is only measured or imported. A rejected rung has no height.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ledger.errors import PolicyError, RefusedError
from ledger.scoring.history import History, Judged
from ledger.scoring.rung import Slot

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_SLOTS = 12
_HEIGHT = 3.2


def step_chart(history: History, rungs: Sequence[Judged], notes: Mapping[int, str] | None = None) -> bytes:
    """Draw rungs, one panel for each slot.

    Args:
        history: where the frontier comes from.
        rungs: what to draw, in the order of the receipts.
        notes: a word beside a rung, by receipt; its label when there is none.

    Returns:
        An SVG file, the same for the same input.

    Raises:
        PolicyError: ``E_PLOT`` when matplotlib is not installed.
        RefusedError: ``E_PLOT_SLOTS`` for no slot or too many.
    """
    slots = sorted({item.rung.slot for item in rungs})
    if not 1 <= len(slots) <= MOST_SLOTS:
        raise RefusedError(
            "E_PLOT_SLOTS", f"{len(slots)} slots; 1 to {MOST_SLOTS} can be drawn: use --slot", where="--plot"
        )
    try:
        import matplotlib as mpl  # noqa: PLC0415 - slow to import, and optional
        from matplotlib.figure import Figure  # noqa: PLC0415 - slow to import, and optional
    except ImportError as err:
        raise PolicyError("E_PLOT", "drawing needs matplotlib: install rungbook[plot]", where="--plot") from err
    with mpl.rc_context({"svg.hashsalt": "rungbook", "svg.fonttype": "none"}):
        figure = Figure(figsize=(9, _HEIGHT * len(slots)), layout="constrained")
        panels = figure.subplots(len(slots), squeeze=False)
        for (axes,), slot in zip(panels, slots, strict=True):
            _draw(axes, slot, history, [item for item in rungs if item.rung.slot == slot], notes or {})
        target = io.BytesIO()
        figure.savefig(target, format="svg", metadata={"Date": None})
    return target.getvalue()


def _draw(axes: Axes, slot: Slot, history: History, rungs: Sequence[Judged], notes: Mapping[int, str]) -> None:
    _draw_frontier(axes, slot, history, rungs)
    for attested, face in ((True, "tab:blue"), (False, "none")):
        shown = {
            item.rung.index: height
            for item in rungs
            if (height := _height(item)) is not None and (item.rung.evidence == "attested") is attested
        }
        if shown:
            name = "attested" if attested else "only measured or imported"
            (line,) = axes.plot(list(shown), list(shown.values()), "o", color="tab:blue", label=name)
            line.set_markerfacecolor(face)
    stopped = [item.rung.index for item in rungs if item.is_stopped]
    if stopped:
        at_the_foot = axes.get_xaxis_transform()
        axes.plot(stopped, [0.03] * len(stopped), "x", color="tab:red", transform=at_the_foot, label="rejected")
    for item in rungs:
        height, word = _height(item), notes.get(item.rung.index, item.verdict.label if item.verdict else "")
        if height is not None and word not in ("", "none"):
            place = (item.rung.index, height)
            axes.annotate(word, place, textcoords="offset points", xytext=(0, 6), ha="center", fontsize=8)
    axes.set_title(str(slot), fontsize=10)
    axes.set_xlabel("receipt")
    axes.locator_params(axis="x", integer=True)
    axes.margins(y=0.15)
    axes.set_ylabel(slot.metric)
    axes.legend(fontsize=8, loc="best")


def _draw_frontier(axes: Axes, slot: Slot, history: History, rungs: Sequence[Judged]) -> None:
    """The ledger's own frontier as it moved; for a history that recorded one, the recorded one."""
    own = [(move.index, float(move.holding.figure.value)) for move in history.slots[slot].moves if move.holding]
    recorded = [
        (item.rung.index, float(item.context.basis.used.value))
        for item in rungs
        if item.context and item.context.basis.used and item.context.basis.source == "recorded"
    ]
    for points, name in ((own, "frontier"), (recorded, "frontier, as recorded")):
        if points:
            last = max([points[-1][0], *(item.rung.index for item in rungs)])
            extended = [*points, (last, points[-1][1])]
            axes.step(*zip(*extended, strict=True), where="post", color="0.5", label=name)


def _height(item: Judged) -> float | None:
    return float(item.shown.value) if item.shown else None
