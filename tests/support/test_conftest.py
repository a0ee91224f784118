"""The surroundings that every test gets, and the rule that in CI nothing is skipped."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).resolve().parents[1] / "conftest.py"
SKIPS = {
    "by_mark": "@pytest.mark.skip(reason='no machine')\ndef test_a():\n    pass\n",
    "by_condition": "@pytest.mark.skipif(True, reason='no machine')\ndef test_a():\n    pass\n",
    "while_it_runs": "def test_a():\n    pytest.skip('no machine')\n",
    "in_a_fixture": "@pytest.fixture\ndef no():\n    pytest.skip('no machine')\ndef test_a(no):\n    pass\n",
    "as_a_whole_file": "pytest.skip('no machine', allow_module_level=True)\n",
    "for_a_missing_package": "no = pytest.importorskip('no_such_package', reason='no machine')\n",
}
GOOD = {
    "passes": "def test_a():\n    pass\n",
    "fails_as_expected": "@pytest.mark.xfail(reason='known')\ndef test_a():\n    assert False\n",
    "has_own_surroundings": (
        "import os\ndef test_a():\n"
        "    assert not [name for name in os.environ if name.startswith('RUNGBOOK_')]\n"
        "    assert os.environ['XDG_STATE_HOME'] != '/home/somebody/state'\n"
    ),
}


def run_pytest(folder: Path, texts: dict[str, str], *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run test files with this project's conftest in a process of its own."""
    (folder / "conftest.py").write_bytes(CONFTEST.read_bytes())
    for name, text in texts.items():
        (folder / f"test_{name}.py").write_text(f"import pytest\n{text}")
    surroundings = {name: value for name, value in os.environ.items() if name != "CI"}
    options = ["-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", str(folder), *words, str(folder)]
    return subprocess.run(
        [sys.executable, "-m", "pytest", *options],
        env={**surroundings, **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.parametrize("workers", ["0", "1"])
def test_a_skipped_test_fails_in_ci(tmp_path: Path, workers: str) -> None:
    done = run_pytest(tmp_path, SKIPS | GOOD, "-n", workers, "--continue-on-collection-errors", CI="1")
    assert done.returncode == 1, done.stdout
    for name in SKIPS:
        assert f"test_{name}.py" in done.stdout
    assert done.stdout.count("was skipped, and CI is set: ") >= len(SKIPS)
    assert done.stdout.count("no machine") >= len(SKIPS)
    assert "2 passed" in done.stdout
    assert "1 xfailed" in done.stdout


def test_a_skipped_test_is_no_failure_elsewhere(tmp_path: Path) -> None:
    done = run_pytest(tmp_path, SKIPS | GOOD, "-n", "0")
    assert done.returncode == 0, done.stdout
    assert f"{len(SKIPS)} skipped" in done.stdout


def test_the_callers_settings_do_not_reach_a_test(tmp_path: Path) -> None:
    settings = {"RUNGBOOK_LEDGER_KEY": "x", "RUNGBOOK_PASSPHRASE": "y", "XDG_STATE_HOME": "/home/somebody/state"}
    done = run_pytest(tmp_path, GOOD, "-n", "0", CI="1", **settings)
    assert done.returncode == 0, done.stdout
    assert "2 passed" in done.stdout


@pytest.mark.parametrize("turn", [0, 1])
def test_every_test_has_a_state_folder_of_its_own(turn: int) -> None:
    state = Path(os.environ["XDG_STATE_HOME"])
    assert list(state.iterdir()) == []
    (state / str(turn)).write_text("only here")
