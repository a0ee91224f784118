"""Other people's data, which tests read where it lies and never copy."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

_BESIDE = Path(__file__).resolve().parents[3]


def outside(*parts: str) -> Path:
    """A file or folder of the data that lies beside the repository, or where ``TEST_DATA`` says.

    Without it the test is skipped; in CI a skipped test fails.
    """
    named = os.environ.get("TEST_DATA")
    roots = [Path(named)] if named else sorted(_BESIDE.glob("*/data"))
    found = next((root.joinpath(*parts) for root in roots if root.joinpath(*parts).exists()), None)
    if found is None:
        pytest.skip(f"{'/'.join(parts)} is not in a folder */data beside the repository: set TEST_DATA")
    return found


def outside_json(*parts: str) -> Any:  # noqa: ANN401 - JSON has no narrower static type
    """The same, read as JSON."""
    return json.loads(outside(*parts).read_text())
