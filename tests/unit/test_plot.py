"""Step charts: what is attested looks different, and what is rejected has no height."""

from __future__ import annotations

import builtins
import re
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest

from cli.plot import MOST_SLOTS, step_chart
from ledger.errors import PolicyError, RefusedError
from tests.support.scoring import PREFILL, Fold, imported_body, make_rule, parity_point, recorded_rule, scored_body

if TYPE_CHECKING:
    from ledger.scoring.history import History

PARITY = {"top1_min": "0.9", "kl_max": "0.05"}


def texts(svg: bytes) -> list[str]:
    """Every text of a chart; the document is well-formed."""
    return [element.text or "" for element in ET.fromstring(svg).iter() if element.tag.endswith("}text")]  # noqa: S314 - made here


def mixed() -> History:
    fold = Fold(make_rule(parity=PARITY, evidence="measured"))
    fold.add("round", scored_body("a", [1150, 1150], [1000, 1000]))
    fold.add("round", scored_body("b", [1300, 1300], [1000, 1000]), attested=False)
    fold.add("round", scored_body("c", [7777, 7777], [1000, 1000], parity=[parity_point(kl="2")]))
    return fold.history


def test_labels_stand_beside_their_rungs_and_attested_is_told_from_measured() -> None:
    history = mixed()
    found = texts(step_chart(history, history.judged))
    assert {"l", "xl", "attested", "only measured or imported", "rejected", "frontier"} <= set(found)
    assert "p · n1 · q8 · 512 · prefill_tok_s" in found


def test_a_rejected_speed_is_nowhere_in_the_chart() -> None:
    history = mixed()
    svg = step_chart(history, history.judged)
    axis = [float(text) for text in texts(svg) if re.fullmatch(r"[0-9.]+", text)]
    assert b"7777" not in svg
    assert max(axis) < 2000


def test_the_same_history_gives_the_same_bytes() -> None:
    assert step_chart(mixed(), mixed().judged) == step_chart(mixed(), mixed().judged)


def test_notes_take_the_place_of_labels() -> None:
    history = mixed()
    assert "l → xs" in texts(step_chart(history, history.judged, {0: "l → xs"}))


def test_a_frontier_that_was_recorded_elsewhere_is_called_so() -> None:
    fold = Fold(recorded_rule())
    fold.add("imported", imported_body("a", "11", "10"))
    fold.add("imported", imported_body("b", "12", "11"))
    assert "frontier, as recorded" in texts(step_chart(fold.history, fold.history.judged))


def test_no_slot_or_too_many_are_refused() -> None:
    fold = Fold(make_rule())
    with pytest.raises(RefusedError) as caught:
        step_chart(fold.history, [])
    assert caught.value.code == "E_PLOT_SLOTS"
    for number in range(MOST_SLOTS + 1):
        fold.add("round", scored_body(f"r{number}", [1150] * 2, [1000] * 2, slot=PREFILL | {"quant": f"q{number}"}))
    with pytest.raises(RefusedError):
        step_chart(fold.history, fold.history.judged)
    assert step_chart(fold.history, fold.history.judged[1:])


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def refuse(name: str, *rest: Any, **named: Any) -> Any:  # noqa: ANN401 - signature of __import__
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", refuse)
    history = mixed()
    with pytest.raises(PolicyError) as caught:
        step_chart(history, history.judged)
    assert caught.value.code == "E_PLOT"
    assert "rungbook[plot]" in caught.value.message
