"""Facts of the node that this program runs on, for rounds that are measured here.

What cannot be found out is left out, never guessed: a fact that is absent is not known. Whoever hands in files of
another machine gives its facts instead.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ledger.canonical import JsonObject

_TIMEOUT_S = 20
_GPU_QUERY = ("--query-gpu=name,driver_version", "--format=csv,noheader")
_LONGEST = 400


def collect_facts(root: Path = Path("/")) -> JsonObject:
    """The schema's ``environment`` of this machine.

    Args:
        root: where ``proc``, ``sys`` and ``etc`` are.
    """
    facts: JsonObject = {
        "cpu": _member(root / "proc/cpuinfo", "model name") or platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "memory_bytes": _memory(root),
        "os": _member(root / "etc/os-release", "PRETTY_NAME", separator="=").strip('"') or platform.system(),
        "kernel": platform.release(),
        "governor": _first_line(root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "load": " ".join(_first_line(root / "proc/loadavg").split()[:3]),
        **_gpus(),
    }
    return {name: _clean(value) if isinstance(value, str) else value for name, value in facts.items() if value}


def _gpus() -> JsonObject:
    """What the driver's own tool says; nothing where there is none."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return {}
    try:
        done = subprocess.run(  # noqa: S603 - the words are constants
            [program, *_GPU_QUERY], capture_output=True, text=True, timeout=_TIMEOUT_S, check=True
        )
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return {}
    rows = [[cell.strip() for cell in line.split(",")] for line in done.stdout.splitlines() if "," in line]
    if not rows:
        return {}
    return {"gpu": "/".join(dict.fromkeys(row[0] for row in rows)), "gpus": len(rows), "driver": rows[0][1]}


def _memory(root: Path) -> int | None:
    words = _member(root / "proc/meminfo", "MemTotal").split()
    return int(words[0]) * 1024 if words[1:] == ["kB"] and words[0].isdecimal() else None


def _member(path: Path, name: str, separator: str = ":") -> str:
    """The first value of a name in a file of names and values; empty when it is not there."""
    for line in _text(path).splitlines():
        key, found, value = line.partition(separator)
        if found and key.strip() == name:
            return value.strip()
    return ""


def _first_line(path: Path) -> str:
    return _text(path).partition("\n")[0].strip()


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _clean(text: str) -> str:
    """A text as statements may hold it."""
    return "".join(each for each in text if each.isprintable())[:_LONGEST]
