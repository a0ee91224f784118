"""Where the program starts: before anything that takes time to import, so that Ctrl-C ends it quietly at any moment."""

from __future__ import annotations

import sys

_INTERRUPTED = 130


def main() -> None:
    """Run the program."""
    try:
        from cli.main import main as run  # noqa: PLC0415 - Ctrl-C while it is imported must be caught too

        run()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        raise SystemExit(_INTERRUPTED) from None
