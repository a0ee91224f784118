"""Write `ledger/schema_pins.py` from the files in `schemas/`: run it after a schema has changed on purpose."""

from __future__ import annotations

import hashlib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HEAD = '''"""SHA-256 of every schema file, written by `tests/tools/pin_schemas.py`; a test compares them."""

from __future__ import annotations

PINS = {
'''


def render() -> str:
    """The text of the module."""
    folder = ROOT / "schemas"
    lines = [
        f'    "{path.relative_to(folder).as_posix()}": "{hashlib.sha256(path.read_bytes()).hexdigest()}",\n'
        for path in sorted(folder.rglob("*.json"))
    ]
    return HEAD + "".join(lines) + "}\n"


if __name__ == "__main__":
    (ROOT / "ledger" / "schema_pins.py").write_text(render())
