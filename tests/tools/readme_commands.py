"""The commands of README.md: run them, and compare or rewrite the output that README shows.

A block marked ``console`` holds commands (lines that start with ``$ ``, continued by lines that start with ``> ``) and
below each what it printed. All blocks run in one shell, in their order, in an empty folder. What differs from run to
run (digests, keys, times, folders) is normalised before it is compared.

    python tests/tools/readme_commands.py          run and compare
    python tests/tools/readme_commands.py --write  run and rewrite README.md
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
RUNS = ROOT / "tests" / "data" / "own" / "llama-bench"
RULES = ROOT / "tests" / "data" / "own" / "rules"

_BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)
_MARK = "-=-=-"
_VARYING = (
    (re.compile(r"\+[0-9a-f]{8}\+[A-Za-z0-9+/=]{40,}"), "+VKEY"),
    (re.compile(r"AAAAC3NzaC1lZDI1NTE5[A-Za-z0-9+/=]+"), "BLOB"),
    (re.compile(r"SHA256:[A-Za-z0-9+/]{43}"), "KEYID"),
    (re.compile(r"\b[0-9a-f]{64}\b"), "DIGEST"),
    (re.compile(r"\b[0-9a-f]{24}\b"), "ROUND"),
    (re.compile(r"\b[0-9a-f]{12}\b"), "SHORT"),
    (re.compile(r"\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ"), "TIME"),
)


@dataclass(slots=True)
class Command:
    """One command of README.md, what README says it prints, and what it printed."""

    text: str
    shown: list[str] = field(default_factory=list)
    printed: list[str] = field(default_factory=list)


def read_commands(text: str) -> list[list[Command]]:
    """The commands of every ``console`` block."""
    blocks = []
    for block in _BLOCK.findall(text):
        commands: list[Command] = []
        for line in block.splitlines():
            if line.startswith("$ "):
                commands.append(Command(line[2:]))
            elif line.startswith("> ") and not commands[-1].shown:
                commands[-1].text += "\n" + line[2:]
            else:
                commands[-1].shown.append(line)
        blocks.append(commands)
    return blocks


def run_commands(blocks: list[list[Command]], folder: Path) -> None:
    """Run all commands in one shell in `folder` and keep what they print."""
    commands = [command for block in blocks for command in block]
    script = "".join(f"{command.text}\necho '{_MARK}'\n" for command in commands)
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "XDG_STATE_HOME": str(folder / ".state"),
        "RUNS": str(RUNS),
        "RULES": str(RULES),
        "CLONE": str(ROOT),
    }
    done = subprocess.run(
        ["bash", "-c", f"exec 2>&1\n{script}"],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
        timeout=300,
    )
    outputs = done.stdout.split(f"{_MARK}\n")
    for command, output in zip(commands, outputs, strict=False):
        command.printed = output.replace(str(folder), "/tmp/try").replace(str(ROOT), "rungbook").splitlines()  # noqa: S108 - text


def normalise(lines: list[str]) -> list[str]:
    """Lines without what differs from run to run."""
    result = []
    for line in lines:
        text = line.rstrip()
        for pattern, name in _VARYING:
            text = pattern.sub(name, text)
        result.append(text)
    return result


def render(text: str, blocks: list[list[Command]]) -> str:
    """README.md with the output that the commands printed."""
    rendered = iter(blocks)

    def replace(_: re.Match[str]) -> str:
        lines = []
        for command in next(rendered):
            first, *rest = command.text.split("\n")
            lines += [f"$ {first}", *(f"> {line}" for line in rest), *(line.rstrip() for line in command.printed)]
        return "```console\n" + "\n".join(lines) + "\n```"

    return _BLOCK.sub(replace, text)


def main() -> int:
    """Run, then compare or rewrite."""
    text = README.read_text()
    blocks = read_commands(text)
    with tempfile.TemporaryDirectory() as folder:
        run_commands(blocks, Path(folder))
    if "--write" in sys.argv[1:]:
        README.write_text(render(text, blocks))
        return 0
    differing = [
        command for block in blocks for command in block if normalise(command.shown) != normalise(command.printed)
    ]
    for command in differing:
        sys.stdout.write(f"$ {command.text}\nshown:   {command.shown}\nprinted: {command.printed}\n")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
