"""Help, usage errors, ``--json`` and the division of stdout and stderr, for every command at once."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
import typer.main
from typer.core import TyperArgument, TyperCommand, TyperGroup

import ledger
from cli.main import COMMANDS, build_app
from ledger.schema import schema_names
from tests.cli.conftest import ORIGIN, Desk
from tests.cli.program import CRASH, INTERRUPTED, OK, REFUSED, UNAVAILABLE, USAGE, Result, run
from tests.cli.samples import NODE, RUNS, slot_text, write_round
from tests.support.made_up_log import Source, write_log
from tests.support.scoring import rule_body

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def walk(group: TyperGroup, names: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], TyperCommand]]:
    for name, command in group.commands.items():
        if isinstance(command, TyperGroup):
            yield from walk(command, (*names, name))
        else:
            assert isinstance(command, TyperCommand)
            yield (*names, name), command


def all_commands() -> dict[tuple[str, ...], TyperCommand]:
    group = typer.main.get_command(build_app([]))
    assert isinstance(group, TyperGroup)
    return dict(walk(group))


ALL = all_commands()
NAMES = sorted(ALL)


def ids(names: tuple[str, ...]) -> str:
    return "-".join(names)


# Help.


def test_the_version_is_that_of_the_library() -> None:
    done = run("--version")
    assert (done.status, done.out, done.err) == (OK, f"rungbook {ledger.__version__}\n", "")


def test_every_command_of_the_design_is_there() -> None:
    expected = {"init", "grant", "revoke", "append", "attest", "seal", "verify", "log", "show", "export"}
    expected |= {"frontier", "pins", "ladder", "check-lock", "ruling", "rescore", "sql", "faults", "ingest", "compare"}
    groups = {
        "key": ("new", "show"),
        "rule": ("check", "adopt", "list", "show", "diff"),
        "incident": ("record", "list"),
        "views": ("rebuild", "extend", "follow", "status", "check"),
        "import": ("sparkinfer-log", "k3-baseline"),
    }
    grouped = {(group, name) for group, names in groups.items() for name in names}
    assert set(NAMES) == grouped | {(name,) for name in expected}
    assert {names[0] for names in NAMES} == COMMANDS.keys()


@pytest.mark.parametrize("names", NAMES, ids=ids)
@pytest.mark.parametrize("option", ["--help", "-h"])
def test_the_help_of_every_command_shows_an_example_of_it(names: tuple[str, ...], option: str) -> None:
    done = run(*names, option)
    text = " ".join(done.out.split())
    assert (done.status, done.err) == (OK, "")
    assert f"Example: rungbook {' '.join(names)} " in text


@pytest.mark.parametrize("names", NAMES, ids=ids)
def test_every_option_and_argument_is_explained(names: tuple[str, ...]) -> None:
    command = ALL[names]
    assert command.help
    unexplained = [param.name for param in command.params if not getattr(param, "help", None)]
    assert unexplained == []


@pytest.mark.parametrize("names", NAMES, ids=ids)
def test_every_command_takes_json(names: tuple[str, ...]) -> None:
    assert "--json" in {name for param in ALL[names].params for name in param.opts}


@pytest.mark.parametrize("names", NAMES, ids=ids)
def test_an_example_uses_only_options_that_there_are(names: tuple[str, ...]) -> None:
    command = ALL[names]
    known = {name for param in command.params for name in (*param.opts, *param.secondary_opts)}
    used = set(re.findall(r"(?<= )--?[a-z][a-z-]*", command.epilog or ""))
    assert used <= known
    required = [param for param in command.params if param.required and not isinstance(param, TyperArgument)]
    assert all(set(param.opts) & used for param in required)


def test_the_program_alone_shows_what_there_is() -> None:
    done = run()
    assert done.status == USAGE
    assert all(f"  {name}" in done.out + done.err for name in COMMANDS)
    assert run("--help").status == OK


@pytest.mark.parametrize("names", NAMES, ids=ids)
def test_an_unknown_option_is_a_usage_error_and_no_verdict(names: tuple[str, ...]) -> None:
    done = run(*names, "--no-such-option")
    assert (done.status, done.out) == (USAGE, "")
    assert "--no-such-option" in done.err


@pytest.mark.parametrize("words", [("verfy",), ("key", "mew"), ("--no-such-option",), ("verify", "extra")])
def test_an_unknown_command_or_a_word_too_many_is_a_usage_error(words: tuple[str, ...]) -> None:
    done = run(*words)
    assert (done.status, done.out) == (USAGE, "")
    assert words[-1] in done.err


# --json: stdout is one object of a schema; talk is on stderr.


def test_every_kind_of_output_has_a_schema() -> None:
    kinds = {name.removeprefix("output-") for name in schema_names() if name.startswith("output-")}
    assert kinds == {
        *(
            "append",
            "attest",
            "check-lock",
            "compare",
            "error",
            "export",
            "faults",
            "frontier",
            "import",
            "incidents",
            "ingest",
            "init",
        ),
        *("key", "ladder", "log", "pins", "rescore", "rule", "rule-diff", "rules", "show", "sql", "verify", "views"),
        "views-check",
    }


def one_of_each(desk: Desk, folder: Path) -> Iterator[tuple[str, Result]]:
    """Every command once, in an order in which each succeeds."""
    by_root = ("--key", desk.key("root"), "--json")
    by_scorer = ("--key", desk.key("scorer"), "--json")
    new = ("--origin", ORIGIN, "--root-key", desk.key("root"), "--ledger-key", desk.key("ledger"), "--json")
    yield "key", desk.run("key", "new", folder / "new-key", "--json")
    yield "key", desk.run("key", "show", folder / "new-key.pub", "--json")
    yield "init", desk.run("init", *new)
    yield "append", desk.run("grant", desk.pub("scorer"), "--role", "scorer", "--node", NODE, *by_root)
    yield "append", desk.run("grant", desk.pub("contributor"), "--role", "contributor", *by_root)
    yield "append", desk.run("revoke", desk.pub("contributor"), "--role", "contributor", *by_root)
    yield "append", desk.run("append", write_round(folder, 1), *by_scorer)
    yield "attest", desk.run("attest", write_round(folder, 2), *by_scorer)
    yield "append", desk.run("seal", "inbox", "--json")
    yield "verify", desk.run("verify", "--json")
    yield "verify", desk.run("verify", "--quick", "--json")
    yield "log", desk.run("log", "--json")
    yield "show", desk.run("show", "4", "--json")
    yield "export", desk.run("export", "4", "--json")
    ended = (
        "--round",
        "r",
        "--outcome",
        "infra",
        "--diagnosis",
        "hot",
        "--slot",
        slot_text(),
        "--code",
        "main=" + "a" * 64,
    )
    yield "append", desk.run("incident", "record", *ended, *by_scorer)
    yield "incidents", desk.run("incident", "list", "--json")
    yield from one_of_each_score(desk, folder)


def one_of_each_score(desk: Desk, folder: Path) -> Iterator[tuple[str, Result]]:
    """The commands that judge, likewise."""
    by_root = ("--key", desk.key("root"), "--json")
    rule, pin_file = folder / "rule.json", folder / "pins.json"
    rule.write_text(json.dumps(rule_body()))
    yield "rule", desk.run("rule", "check", rule, "--json")
    yield "append", desk.run("rule", "adopt", rule, *by_root)
    yield "rules", desk.run("rule", "list", "--json")
    yield "rule", desk.run("rule", "show", "7", "--json")
    yield "rule-diff", desk.run("rule", "diff", "7", rule, "--json")
    yield "frontier", desk.run("frontier", "--json")
    yield "pins", desk.run("pins", "--json")
    desk.run("pins", "--write", pin_file)
    yield "check-lock", desk.run("check-lock", pin_file, "--json")
    yield "ladder", desk.run("ladder", "--rule", rule, "--json")
    yield "rescore", desk.run("rescore", "--rule", rule, "--json")
    yield "append", desk.run("ruling", "void", "4", "--reason", "a dirty build", *by_root)
    yield "views", desk.run("views", "rebuild", "--json")
    yield "views", desk.run("views", "extend", "--json")
    yield "views", desk.run("views", "status", "--json")
    yield "views-check", desk.run("views", "check", "--json")
    yield "sql", desk.run("sql", "SELECT * FROM receipts", "--json")
    one, two = ("round1_1a_main.json", "round1_1b_candidate.json")
    yield "compare", desk.run("compare", RUNS / one, "--", RUNS / two, "--json", status=UNAVAILABLE)
    yield "import", desk.run("import", "sparkinfer-log", write_log(folder / "log", Source().seal()), *by_root)


def test_the_json_of_every_command_is_one_object_of_its_schema_and_nothing_is_said(
    empty_desk: Desk, tmp_path: Path
) -> None:
    for kind, done in one_of_each(empty_desk, tmp_path):
        done.document(kind)
        assert done.err == "", kind
        assert done.out.isascii() or "\\u" not in done.out
        assert done.out.endswith("}\n")


def failing(desk: Desk) -> dict[str, tuple[tuple[str | Path, ...], int, str]]:
    """A failure of every command, with its status and class."""
    key = ("--key", desk.key("scorer"))
    missing = ("--key", "none")
    again = ("--origin", "x", "--root-key", desk.key("root"), "--ledger-key", desk.key("ledger"))
    return {
        "key new": (("key", "new", desk.key("root")), REFUSED, "RefusedError"),
        "key show": (("key", "show", "none"), UNAVAILABLE, "StorageError"),
        "init": (("init", *again), REFUSED, "RefusedError"),
        "grant": (("grant", desk.pub("root"), "--role", "contributor", *key), REFUSED, "RefusedError"),
        "revoke": (("revoke", desk.pub("root"), "--role", "scorer", *missing), UNAVAILABLE, "StorageError"),
        "append": (("append", *key), REFUSED, "RefusedError"),
        "attest": (("attest", desk.pub("root"), *key), REFUSED, "MalformedError"),
        "seal": (("seal", "inbox", "--ledger-key", desk.key("root")), UNAVAILABLE, "StorageError"),
        "verify": (("verify", "--vkey", "x"), REFUSED, "MalformedError"),
        "log": (("log", "-C", "/"), UNAVAILABLE, "StorageError"),
        "show": (("show", "99"), REFUSED, "RefusedError"),
        "export": (("export", "0", "--format", "x"), REFUSED, "RefusedError"),
        "frontier": (("frontier", "--slot", "x=1"), REFUSED, "RefusedError"),
        "pins": (("pins", "--as-of", "99"), REFUSED, "RefusedError"),
        "ladder": (("ladder", "--rule", "99"), REFUSED, "RefusedError"),
        "check-lock": (("check-lock", desk.key("root")), REFUSED, "MalformedError"),
        "rule check": (("rule", "check", desk.key("root")), REFUSED, "MalformedError"),
        "rule adopt": (("rule", "adopt", "none", *key), UNAVAILABLE, "StorageError"),
        "incident record": (("incident", "record", "--round", "r", "--outcome", "bad", *key), REFUSED, "RefusedError"),
        "incident list": (("incident", "list", "-C", "/"), UNAVAILABLE, "StorageError"),
        "ingest": (("ingest",), REFUSED, "RefusedError"),
        "compare": (("compare", "none", "--", "none"), UNAVAILABLE, "StorageError"),
        "faults": (("faults", "E_NOTHING"), REFUSED, "RefusedError"),
        "rule list": (("rule", "list", "-C", "/"), UNAVAILABLE, "StorageError"),
        "rule show": (("rule", "show", "99"), REFUSED, "RefusedError"),
        "rule diff": (("rule", "diff", "99", "98"), REFUSED, "RefusedError"),
        "ruling": (("ruling", "void", "99", "--reason", "r", *key), REFUSED, "RefusedError"),
        "rescore": (("rescore", "--rule", "99"), REFUSED, "RefusedError"),
        "import sparkinfer-log": (("import", "sparkinfer-log", "inbox", *key), REFUSED, "MalformedError"),
        "import k3-baseline": (("import", "k3-baseline", desk.key("root"), *key), REFUSED, "MalformedError"),
        "views rebuild": (("views", "rebuild", "--url", "x"), REFUSED, "RefusedError"),
        "views extend": (("views", "extend"), UNAVAILABLE, "PolicyError"),
        "views follow": (("views", "follow", "--url", "x"), REFUSED, "RefusedError"),
        "views status": (("views", "status", "--url", "x"), REFUSED, "RefusedError"),
        "views check": (("views", "check"), UNAVAILABLE, "PolicyError"),
        "sql": (("sql", "INSERT"), REFUSED, "RefusedError"),
    }


@pytest.mark.parametrize("name", [" ".join(names) for names in NAMES])
def test_with_json_an_error_is_one_object_too_and_is_told_on_stderr_as_well(desk: Desk, name: str) -> None:
    words, status, kind = failing(desk)[name]
    done = desk.run(*words, "--json", status=status)
    document = done.document("error")
    error = document["error"]
    assert (document["status"], error["class"]) == (status, kind)
    assert done.err.startswith(f"rungbook: {error['code']}: {error['message']}")
    plain = desk.run(*words, status=status)
    assert (plain.out, plain.err) == ("", done.err)


def test_the_message_of_an_error_says_where(desk: Desk) -> None:
    raw = desk.receipt(1).read_bytes()
    desk.receipt(1).write_bytes(raw.replace(b'"scorer"', b'"sc0rer"'))
    done = run("log", "--json", cwd=desk.root)
    error = done.document("error")["error"]
    assert error["index"] == 2
    assert f"receipt {error['index']}" in done.err


# What nobody foresaw, and Ctrl-C.


def explode(*_: object, **__: object) -> None:
    raise ValueError("nobody foresaw this")


@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
def test_an_unforeseen_error_is_status_1_and_never_a_verdict(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, form: tuple[str, ...]
) -> None:
    monkeypatch.setattr("cli.commands.check.verify_ledger", explode)
    done = desk.run("verify", *form, status=CRASH)
    assert "nobody foresaw this" in done.err
    assert "verified" not in done.out


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("cli.commands.read.verify", ("log",)),
        ("cli.commands.read.verify", ("show", "0")),
        ("ledger.log.Log.append", ("append", "ROUND", "--key", "KEY")),
        ("cli.commands.write.attest_drafts", ("attest", "ROUND", "--key", "KEY")),
        ("ledger.log.Log.append", ("seal", "inbox")),
        ("ledger.keys.PrivateKey.generate", ("key", "new", "other")),
    ],
)
def test_an_unforeseen_error_of_any_command_is_status_1(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, target: str, words: tuple[str, ...]
) -> None:
    path = write_round(desk.root)
    desk.run("attest", path, "--key", desk.key("scorer"))
    monkeypatch.setattr(target, explode)
    given: dict[str, Any] = {"ROUND": path, "KEY": desk.key("scorer")}
    assert "nobody foresaw this" in desk.run(*[given.get(word, word) for word in words], status=CRASH).err
    monkeypatch.undo()
    desk.run("verify")


def interrupt(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_ctrl_c_before_the_commit_seals_nothing(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:  # `undo` would also forget where this test keeps its state
        patch.setattr("ledger.store.directory.DirectoryStore.swap_checkpoint", interrupt)
        done = desk.run("append", write_round(desk.root), "--key", desk.key("scorer"), status=INTERRUPTED)
    assert done.out == ""
    assert "interrupted" in done.err
    assert desk.size == 3
    desk.run("verify")
    desk.run("append", write_round(desk.root), "--key", desk.key("scorer"))
    desk.run("verify")


def test_ctrl_c_behind_the_commit_does_not_deny_what_was_sealed(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cli.commands.write.report_sealed", interrupt)
    done = desk.run("append", write_round(desk.root), "--key", desk.key("scorer"), status=INTERRUPTED)
    monkeypatch.undo()
    assert desk.size == 4
    assert "nothing else is" not in done.err
    desk.run("verify")


def test_ctrl_c_with_json_leaves_stdout_empty_or_one_object(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cli.commands.read.verify", interrupt)
    done = desk.run("log", "--json", status=INTERRUPTED)
    assert done.out == "" or json.loads(done.out)["rungbook"] == "error/v1"
