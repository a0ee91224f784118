"""Google Benchmark, the member ``context``: where and when the tests of a file ran, and how the library was built.

The clock rate and the load are what they were at one moment: they are kept as printed, and are no facts of the node. A
user may add texts of his own (``AddCustomContext``); these are settings.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ledger.ingest.timed import (
    LOCAL_TIME,
    as_members,
    read_count,
    read_start,
    reported_value,
    setting_text,
    setting_texts,
)
from ledger.ingest.values import as_text, look

if TYPE_CHECKING:
    from ledger.canonical import JsonObject

_NODE = {"host_name": "host", "cpu_scaling_enabled": "cpu_scaling_enabled", "aslr_enabled": "aslr_enabled"}
_MOMENT = ("mhz_per_cpu", "load_avg")
_OTHER = ("date", "num_cpus", "caches", "executable", "library_build_type", "library_version", "json_schema_version")


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What all tests of a file share."""

    started_at: str
    cores: int
    environment: JsonObject
    settings: dict[str, str]
    harness: JsonObject
    reported: JsonObject
    notes: tuple[str, ...]


def read_context(value: object, where: str) -> Context:
    """Read it.

    Raises:
        MalformedError: ``E_FIELD`` with the place.
    """
    context = as_members(value, where)
    started_at = read_start(look(context, "date", where), f"{where}/date")
    cores = read_count(look(context, "num_cpus", where), f"{where}/num_cpus", "processors")
    extra = {ours: setting_text(context.get(theirs), f"{where}/{theirs}") for theirs, ours in _NODE.items()}
    extra = {name: text for name, text in extra.items() if text}
    version = context.get("library_version")
    debug = context.get("library_build_type") == "debug"
    return Context(
        started_at=started_at,
        cores=cores,
        environment={"cores": cores} | ({"extra": extra} if extra else {}),
        settings=_settings(context, where),
        harness={"name": "google-benchmark"}
        | ({"version": as_text(version, f"{where}/library_version")} if version else {}),
        reported={name: reported_value(context[name]) for name in _MOMENT if name in context},
        notes=(
            *([] if started_at.endswith("Z") else [LOCAL_TIME]),
            *(["F_DEBUG_BUILD: the benchmark library was built for debugging"] if debug else []),
        ),
    )


def _settings(context: JsonObject, where: str) -> dict[str, str]:
    known = {*_NODE, *_MOMENT, *_OTHER}
    own = {name: value for name, value in context.items() if name not in known}
    settings = setting_texts(own, where, "context/")
    if "library_build_type" in context:
        settings["library_build_type"] = as_text(context["library_build_type"], f"{where}/library_build_type")
    if "executable" in context:  # its folder is the machine's
        path = as_text(context["executable"], f"{where}/executable")
        settings["executable"] = path.replace("\\", "/").rpartition("/")[2]
    return settings
