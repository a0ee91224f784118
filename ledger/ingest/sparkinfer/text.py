"""The text log of an evaluation session (``eval.log``), as a further witness of a run.

One session measures main once and then one pull request after another; every run of the session has a copy of the
same text. What is read: what main measured, and from the part of the pull request that published the run its figure,
the tier that was applied, and switches that the operator set for the harness.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_MAIN = re.compile(r"^main: frontier = ((?:0|[1-9]\d{0,9})(?:\.\d{1,20})?) tok/s @ ([0-9a-f]+)\s*$", re.ASCII)
_EVALUATING = re.compile(r"^#(\d+): evaluating ([0-9a-f]+) on ", re.ASCII)
_PUBLISHED = re.compile(r"^>> #(\d+): published runs/([0-9a-f]+) to ", re.ASCII)
_FIGURE = re.compile(r"^#(\d+): tps=((?:0|[1-9]\d{0,9})(?:\.\d{1,20})?) ", re.ASCII)
_TIER = re.compile(r"^>> #(\d+): tier applied by \S+ — eval:([A-Za-z0-9-]+)\s*$", re.ASCII)
_OVERRIDES = re.compile(r"^\s*harness overrides from the controller: (.+?)\s*$", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundText:
    """What the text says.

    Attributes:
        found: whether it says that the run was published.
        main: tokens per second that main measured in the session, as printed.
        main_commit: commit of main, abbreviated.
        commit: commit of the run, abbreviated.
        tps: tokens per second of the run, as printed.
        tier: tier that was applied to its pull request afterwards, as printed.
        overrides: switches set for the harness while main or the run was measured.
    """

    found: bool = False
    main: str | None = None
    main_commit: str | None = None
    commit: str | None = None
    tps: str | None = None
    tier: str | None = None
    overrides: tuple[str, ...] = ()


def read_text(text: str, run_id: str) -> RoundText:
    """Read what a session's log says about one of its runs."""
    lines = text.splitlines()
    starts = [at for at, line in enumerate(lines) if _EVALUATING.match(line)]
    ends = [at for at, line in enumerate(lines) if (match := _PUBLISHED.match(line)) and match[2] == run_id]
    before = lines[: starts[0]] if starts else lines
    main = _last(_MAIN, before)
    part = _part_of(lines, starts, ends[0]) if ends else []
    head = _EVALUATING.match(part[0]) if part else None
    if head is None:
        return RoundText(main=main[1] if main else None, main_commit=main[2] if main else None)
    figure, tier = _last(_FIGURE, part, head[1]), _last(_TIER, part, head[1])
    switches = [match[1] for line in [*before, *part] if (match := _OVERRIDES.match(line))]
    return RoundText(
        found=True,
        main=main[1] if main else None,
        main_commit=main[2] if main else None,
        commit=head[2],
        tps=figure[2] if figure else None,
        tier=tier[2] if tier else None,
        overrides=tuple(dict.fromkeys(switches)),
    )


def _part_of(lines: list[str], starts: list[int], published: int) -> list[str]:
    """The lines from the evaluation that led to a publication up to the next evaluation."""
    begin = [at for at in starts if at < published]
    if not begin:
        return []
    end = next((at for at in starts if at > published), len(lines))
    return lines[begin[-1] : end]


def _last(pattern: re.Pattern[str], lines: list[str], pull: str | None = None) -> re.Match[str] | None:
    """The last line that matches, of one pull request if one is named."""
    found = [match for line in lines if (match := pattern.match(line)) and pull in {None, match[1]}]
    return found[-1] if found else None
