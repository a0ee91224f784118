"""Lines of a log that got into a tool's output, because standard error went to the same file."""

from __future__ import annotations

from ledger.ingest.words import counted

_JSON_STARTS = frozenset(b'{}[]", \t')


def skip_log_lines(raw: bytes) -> tuple[bytes, str]:
    """The file with its lines of a log made empty, and a note of how many these are; an empty one when there is none.

    Of JSON Lines (a line holds a whole object) only lines that begin an object are kept; of one document over many
    lines, those that can be lines of JSON: they begin with a bracket, a brace, a quote, a comma or white space. What is
    left must still be read whole by the adapter: a line of a log that looks like JSON is refused there.
    """
    lines = raw.split(b"\n")
    whole = any(line[:1] == b"{" and line.rstrip()[-1:] == b"}" for line in lines)
    kept = [line if not line.strip() or _may_be_json(line, whole=whole) else b"" for line in lines]
    skipped = sum(one != other for one, other in zip(lines, kept, strict=True))
    note = f"F_SKIPPED_LINES: {counted(skipped, 'line')} of a log read past, as asked for" if skipped else ""
    return b"\n".join(kept), note


def _may_be_json(line: bytes, *, whole: bool) -> bool:
    return line[:1] == b"{" if whole else line[0] in _JSON_STARTS
