"""For every test: a state folder of its own, no settings of the caller, and in CI nothing skipped."""

from __future__ import annotations

import os
import signal
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

MEMORY = Path("/dev/shm")  # noqa: S108 - the folders inside it are made by tempfile


def pytest_configure() -> None:
    """Programs that tests start behave as from a person's shell, wherever the tests themselves were started.

    A background job of a script ignores Ctrl-C, and so would all that it starts; with an unbuffered stdout a fault that
    shows when a buffer is written at the end would not show.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.pop("PYTHONUNBUFFERED", None)


@pytest.fixture(autouse=True)
def _own_surroundings(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """A writer remembers in the user's state folder what it signed: no test may see what another one signed."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
    for name in [name for name in os.environ if name.startswith("RUNGBOOK_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def ram_path() -> Iterator[Path]:
    """An empty folder, in memory where the system has that: for tests that make thousands of files."""
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as name:
        yield Path(name)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Where the variable CI is set, a skipped test fails: what nobody ran must not look like what passed."""
    report = yield
    if report.skipped and not hasattr(report, "wasxfail"):
        _fail_in_ci(report, item.nodeid)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """As above, for a file that skips itself while it is collected."""
    report = yield
    if report.skipped:
        _fail_in_ci(report, collector.nodeid)
    return report


def _fail_in_ci(report: pytest.TestReport | pytest.CollectReport, name: str) -> None:
    if not os.environ.get("CI"):
        return
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    report.outcome = "failed"
    report.longrepr = f"{name} was skipped, and CI is set: {reason}"
