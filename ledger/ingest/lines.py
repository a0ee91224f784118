"""Lines of a log that got into a tool's output, because standard error went to the same file."""

from __future__ import annotations

_JSON_STARTS = frozenset(b'{}[]",')


def skip_log_lines(raw: bytes) -> tuple[bytes, int]:
    """The file without its lines of a log, and how many these are.

    Only lines of JSON begin with a bracket, a brace, a quote, a comma or white space. What is left must still be read
    whole by the adapter: a line of a log that looks like JSON is refused there.
    """
    lines = raw.split(b"\n")
    kept = [line for line in lines if not line.strip() or line[0] in _JSON_STARTS or line[:1].isspace()]
    return b"\n".join(kept), len(lines) - len(kept)
