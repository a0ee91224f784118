"""``rungbook rule``: check a rule file, adopt it, list, show and compare rules."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import orjson
import typer

from cli import output
from cli.context import find_ledger, load_private_key
from cli.history import adopted_rules, find_rule, open_log, read_rule_file
from cli.options import AttestOption, JsonOption, KeyOption, LedgerKeyOption, LedgerOption, LockTimeoutOption
from cli.outcome import seal_or_attest
from cli.status import reports_errors
from ledger.canonical import JsonObject
from ledger.draft import Draft
from ledger.log import LOCK_TIMEOUT_S
from ledger.rule import Rule

_PAIR = 2


def register(app: typer.Typer) -> None:
    """Add the commands."""
    rule = typer.Typer(name="rule", help="Scoring rules: the policy as data.", no_args_is_help=True)
    rule.command(epilog="Example: rungbook rule check rule.json")(check)
    rule.command(epilog="Example: rungbook rule adopt rule.json --key maintainer")(adopt)
    rule.command("list", epilog="Example: rungbook rule list --json")(list_rules)
    rule.command(epilog="Example: rungbook rule show 7")(show)
    rule.command(epilog="Example: rungbook rule diff 7 new-rule.json")(diff)
    app.add_typer(rule)


@reports_errors
def check(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Rule as JSON.")],
    *,
    as_json: JsonOption = False,
) -> None:
    """Check a rule file and print its digest. Needs no ledger."""
    _print_rule(read_rule_file(file), None, as_json=as_json)


@reports_errors
def adopt(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Rule as JSON.")],
    *,
    key: KeyOption,
    output_file: AttestOption = "",
    ledger: LedgerOption = None,
    ledger_key: LedgerKeyOption = None,
    lock_timeout: LockTimeoutOption = LOCK_TIMEOUT_S,
    as_json: JsonOption = False,
) -> None:
    """Put a rule into force for its slots, from this receipt on. Signed by maintainers."""
    rule = read_rule_file(file)
    draft = Draft(kind="rule", body=rule.body, signers=[load_private_key(path) for path in key])
    seal_or_attest(find_ledger(ledger), draft, output_file, ledger_key, lock_timeout=lock_timeout, as_json=as_json)


@reports_errors
def list_rules(*, ledger: LedgerOption = None, as_json: JsonOption = False) -> None:
    """List the rules that were adopted, the oldest first. Of those that cover a slot, the latest is in force."""
    rules = adopted_rules(open_log(find_ledger(ledger)))
    if as_json:
        listed = [
            {"index": index, "digest": rule.digest, "name": rule.name, "slots": list(rule.slots)}
            for index, rule in rules
        ]
        output.write_json("rules", {"rules": listed})
        return
    if not rules:
        typer.echo("no rule was adopted yet: rungbook rule adopt FILE --key MAINTAINER")
        return
    rows = [[str(index), rule.digest[:12], rule.name, _slots(rule)] for index, rule in rules]
    typer.echo(output.table([["receipt", "digest", "name", "slots"], *rows], right=frozenset({0})))


@reports_errors
def show(
    reference: Annotated[str, typer.Argument(metavar="RULE", help="File, receipt index, or start of a digest.")],
    *,
    ledger: LedgerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show a rule."""
    log = open_log(find_ledger(ledger))
    rule = find_rule(reference, log)
    index = next((at for at, each in adopted_rules(log) if each.digest == rule.digest), None)
    _print_rule(rule, index, as_json=as_json)


@reports_errors
def diff(
    before: Annotated[str, typer.Argument(metavar="RULE", help="File, receipt index, or start of a digest.")],
    after: Annotated[str, typer.Argument(metavar="RULE", help="The rule to compare it with.")],
    *,
    ledger: LedgerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compare two rules, member by member."""
    log = open_log(find_ledger(ledger))
    old, new = find_rule(before, log), find_rule(after, log)
    left, right = _flatten(old.body), _flatten(new.body)
    changes = [
        {"where": where, "before": left.get(where), "after": right.get(where)}
        for where in sorted({*left, *right})
        if left.get(where) != right.get(where)
    ]
    if as_json:
        output.write_json("rule-diff", {"before": old.digest, "after": new.digest, "changes": changes})
        return
    rows = [[str(item["where"]), item["before"] or "-", item["after"] or "-"] for item in changes]
    typer.echo(output.table([["member", old.digest[:12], new.digest[:12]], *rows]) if rows else "the same rule")


def _flatten(value: object, where: str = "") -> dict[str, str]:
    """Every leaf of a rule as text, by JSON pointer; an empty object or list is a leaf too."""
    if isinstance(value, dict) and value:
        return {key: text for name, item in value.items() for key, text in _flatten(item, f"{where}/{name}").items()}
    if isinstance(value, list) and value:
        return {key: text for at, item in enumerate(value) for key, text in _flatten(item, f"{where}/{at}").items()}
    return {where: str(value)}


def _slots(rule: Rule) -> str:
    texts = [" ".join(f"{axis}={value}" for axis, value in sorted(fixed.items())) for fixed in rule.slots]
    return "; ".join(texts[:_PAIR]) + (f"; and {len(texts) - _PAIR} more" if len(texts) > _PAIR else "")


def _print_rule(rule: Rule, index: int | None, *, as_json: bool) -> None:
    if as_json:
        value: JsonObject = {"digest": rule.digest, "name": rule.name, "index": index, "rule": rule.body}
        output.write_json("rule", value)
        return
    typer.echo(f"rule    {rule.name}")
    typer.echo(f"digest  {rule.digest}")
    if index is not None:
        typer.echo(f"receipt {index}")
    typer.echo(orjson.dumps(rule.body, option=orjson.OPT_INDENT_2).decode())
