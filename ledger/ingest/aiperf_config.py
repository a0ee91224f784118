"""What AIPerf's summary says of the run beside its figures: the configuration, and when it began."""

from __future__ import annotations

import datetime as dt
import re
from typing import TYPE_CHECKING

from ledger.ingest.fields import Fields, flatten, limited
from ledger.strict import format_time

if TYPE_CHECKING:
    from ledger.canonical import JsonObject

# Where the server listens and where files go is no setting, and a key or a header is for nobody to read.
_NO_SETTING = frozenset(
    ("url", "urls", "api_key", "headers", "output", "artifacts", "artifact_dir", "artifact_directory", "cli_command")
)
_START = re.compile(r"(?P<local>[12]\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d{1,9})?(?P<zone>Z|[+-]\d\d:\d\d)?", re.ASCII)
_MEASURED = "profiling"


def read_settings(config: Fields) -> dict[str, str]:
    """Everything that is set in the configuration, under names with dots: what is false may be on by itself."""
    members = flatten(config.values, "input_config", _NO_SETTING, unset=(None, ""))
    texts = config.recordable({name.removeprefix("input_config."): text for name, text in members.items()})
    return limited(texts, "input_config")


def read_weights(config: Fields) -> JsonObject:
    """The model, where there is one: the newer form lists objects, the older one names."""
    newer = isinstance(config.values.get("models"), dict)
    holder, name = (config.inner("models"), "items") if newer else (config.inner("endpoint"), "model_names")
    listed = holder.values.get(name)
    if not isinstance(listed, list) or len(listed) != 1:
        return {}
    models = Fields(values={"0": listed[0]}, where=holder.at(name))
    return {"name": models.inner("0").text("name") if newer else models.text("0")}


def read_workload(config: Fields, run: Fields) -> JsonObject:
    """What was asked for: requests at a time in the measured phase, the data set where there is one, and the seed."""
    found: JsonObject = {}
    phases = config.values.get("phases")
    measured = [each for each in phases if isinstance(each, dict)] if isinstance(phases, list) else []
    named = [each.get("concurrency") for each in measured if each.get("name") == _MEASURED]
    concurrency = named[0] if named else config.inner("loadgen").values.get("concurrency")
    if type(concurrency) is int and concurrency > 0:
        found["concurrency"] = concurrency
    found |= _dataset(config)
    seed = run.values.get("random_seed")
    return found | ({"seed": seed} if type(seed) is int and seed >= 0 else {})


def _dataset(config: Fields) -> JsonObject:
    """The one data set, by its name or that of its file; prompts that the tool makes up are settings."""
    listed = config.values.get("datasets")
    if not isinstance(listed, list) or len(listed) != 1:
        return {}
    only = Fields(values={"0": listed[0]}, where=config.at("datasets")).inner("0")
    if only.has("dataset"):
        return {"dataset": only.text("dataset")}
    file = only.text("path").replace("\\", "/").rpartition("/")[2] if only.has("path") else ""
    return {"dataset": file} if file else {}


def read_start(document: Fields) -> tuple[str, bool]:
    """When the run began, as `ledger.ingest.adapter.Row` takes it, and whether it is a local time without a zone."""
    if not document.has("start_time"):
        return "", False
    text = document.text("start_time")
    found = _START.fullmatch(text)
    try:
        moment = dt.datetime.fromisoformat(found["local"] + (found["zone"] or "")) if found else None
    except ValueError:  # the calendar has no such day
        moment = None
    if moment is None:
        raise document.refusal("start_time", "a time like 2026-11-29T20:00:00")
    return (moment.isoformat(), True) if moment.tzinfo is None else (format_time(moment), False)
