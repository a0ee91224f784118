"""Options of the commands that take a tool's files: the same in ``append``, ``attest`` and ``ingest``.

They stand here once. `takes_tool_options` gives them to a command as one object and to the help as options.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any, cast, get_type_hints

import typer


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOptions:
    """Options that say how a tool's files become a round, as given."""

    tool: Annotated[
        str,
        typer.Option(
            "--from",
            metavar="TOOL",
            help="The tool that wrote the files (rungbook ingest --list has them); default: as they look.",
        ),
    ] = ""
    arm: Annotated[
        list[str],
        typer.Option(metavar="ROLE=FILE", help="One run of an arm (main, candidate, reference); repeat in time order."),
    ] = field(default_factory=list)
    each: Annotated[bool, typer.Option("--each", help="Every FILE is a round of its own, of the arm main.")] = False
    row: Annotated[
        list[str],
        typer.Option(metavar="ROLE=N,...", help="Only these rows of the files of an arm; rungbook ingest shows them."),
    ] = field(default_factory=list)
    slot: Annotated[
        list[str], typer.Option(metavar="AXIS=VALUE,...", help="project=P,node=N,quant=Q,context=C,metric=M")
    ] = field(default_factory=list)
    code: Annotated[
        list[str],
        typer.Option(
            metavar="ROLE=SHA256|FILE|DIR[:SUB,...]",
            help="The code that an arm ran: its digest, or a file or the folders of a tree to compute it from.",
        ),
    ] = field(default_factory=list)
    commit: Annotated[
        list[str], typer.Option(metavar="ROLE=COMMIT", help="Commit of an arm, in place of what the tool says.")
    ] = field(default_factory=list)
    weights: Annotated[str, typer.Option(metavar="SHA256|FILE", help="The weights, by digest.")] = ""
    harness: Annotated[str, typer.Option(metavar="SHA256|FILE", help="The benchmark program, by digest.")] = ""
    node: Annotated[
        bool,
        typer.Option("--node", help="Measured on this machine: take its facts for the environment."),
    ] = False
    environment: Annotated[
        list[str],
        typer.Option(metavar="FACT=VALUE", help="A fact of the node that the tool does not say, such as gpu=H200."),
    ] = field(default_factory=list)
    workload: Annotated[
        list[str],
        typer.Option(metavar="NAME=VALUE", help="What was asked for, if the tool is silent, such as gen_tokens=128."),
    ] = field(default_factory=list)
    started_at: Annotated[
        list[str],
        typer.Option(metavar="ROLE=TIME", help="Start of a run in UTC, if the tool is silent; one per run, in order."),
    ] = field(default_factory=list)
    zone: Annotated[
        str, typer.Option(metavar="+HH:MM", help="Zone of the node's clock, if the tool prints a local time.")
    ] = ""
    skip_log_lines: Annotated[
        bool, typer.Option("--skip-log-lines", help="Read past lines of a log that got into a file, and say so.")
    ] = False
    round_id: Annotated[
        str, typer.Option("--round", metavar="ID", help="Id of the round; default: made from its contents.")
    ] = ""
    attempt: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, max=1000, help="Which attempt at --round this is, if earlier ones failed."),
    ] = None
    purpose: Annotated[
        str, typer.Option(metavar="PURPOSE", help="score (default), noise (one code in both arms) or reference.")
    ] = ""
    extra: Annotated[
        Path | None, typer.Option(metavar="FILE", help="JSON with parity, shortcuts, overrides or protocol.")
    ] = None
    parity: Annotated[
        list[str],
        typer.Option(
            metavar="ROLE=FILE,...",
            help="Accuracy of an arm: what llama-perplexity --kl-divergence printed. Where FILE does not say them, add "
            "depth=TOKENS and trials=POSITIONS; path=TEXT names the code path that ran. Repeat it per arm and depth.",
        ),
    ] = field(default_factory=list)

    def given(self) -> list[str]:
        """Names of those that were given, but for ``--from``."""
        return [option_name(item.name) for item in fields(self) if item.name != "tool" and getattr(self, item.name)]


def option_name(field: str) -> str:
    """How an option of the class is written on the command line."""
    return {"tool": "--from", "round_id": "--round"}.get(field, "--" + field.replace("_", "-"))


def takes_tool_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command all options of `ToolOptions`, as its argument ``options``."""
    defaults = ToolOptions()
    hints = get_type_hints(ToolOptions, include_extras=True)
    names = [item.name for item in fields(ToolOptions)]

    @functools.wraps(command)
    def wrapped(*args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - whatever the command takes
        options = ToolOptions(**{name: kwargs.pop(name) or getattr(defaults, name) for name in names})
        command(*args, options=options, **kwargs)

    signature = inspect.signature(command, eval_str=True)
    own = [parameter for name, parameter in signature.parameters.items() if name != "options"]
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=getattr(defaults, name), annotation=hints[name])
        for name in names
    ]
    keyword = next(at for at, each in enumerate(own) if each.kind is inspect.Parameter.KEYWORD_ONLY)
    described = cast("Any", wrapped)
    described.__signature__ = signature.replace(parameters=[*own[:keyword], *added, *own[keyword:]])
    return wrapped
