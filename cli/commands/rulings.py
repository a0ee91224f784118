"""``rungbook ruling``: what maintainers decide about an earlier receipt."""

from __future__ import annotations

from typing import Annotated

import typer

from cli.context import find_ledger, load_private_key
from cli.options import AttestOption, JsonOption, KeyOption, LedgerKeyOption, LedgerOption, LockTimeoutOption
from cli.outcome import seal_or_attest
from cli.status import reports_errors
from ledger.canonical import JsonObject
from ledger.draft import Draft
from ledger.errors import RefusedError
from ledger.kinds import REVIEWS, RULINGS, check_body
from ledger.log import LOCK_TIMEOUT_S
from ledger.metrics import METRICS
from ledger.verify import verify


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog='Example: rungbook ruling void 12 --reason "built in a dirty tree" --key maintainer')(ruling)


@reports_errors
def ruling(
    action: Annotated[str, typer.Argument(metavar="ACTION", help=f"{', '.join(RULINGS)}.")],
    reference: Annotated[str, typer.Argument(metavar="REF", help="Receipt: index, or start of its SHA-256.")],
    *,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why; kept in the receipt.")],
    key: KeyOption,
    by: Annotated[str, typer.Option(metavar="REF", help="supersede: the later receipt.")] = "",
    outcome: Annotated[str, typer.Option(metavar="WORD", help="review: accepted or rejected.")] = "",
    commit: Annotated[str, typer.Option(metavar="COMMIT", help="merged: commit under which it became main.")] = "",
    gate: Annotated[str, typer.Option(metavar="GATE", help="waiver: plausibility or guards.")] = "",
    guard: Annotated[
        str, typer.Option(metavar="METRIC@CONTEXT", help="waiver of guards: the guard, such as decode_tok_s@512.")
    ] = "",
    output_file: AttestOption = "",
    ledger: LedgerOption = None,
    ledger_key: LedgerKeyOption = None,
    lock_timeout: LockTimeoutOption = LOCK_TIMEOUT_S,
    as_json: JsonOption = False,
) -> None:
    """Void or supersede a receipt, close its review, say that it was merged, or waive a gate for it.

    The receipt itself stays: the ruling counts from its own index on. Signed by maintainers.
    """
    if action not in RULINGS:
        raise RefusedError("E_RULING", f"there is no ruling {action!r}; known: {', '.join(RULINGS)}", where="ACTION")
    if action == "review" and outcome not in REVIEWS:
        raise RefusedError("E_RULING", f"a review takes --outcome {' or '.join(REVIEWS)}", where="--outcome")
    found = find_ledger(ledger)
    log = verify(found.store, mode="quick").require_log()
    body: JsonObject = {"action": action, "receipt": log.entries[log.find(reference)].digest.hex(), "reason": reason}
    if by:
        body["by"] = log.entries[log.find(by)].digest.hex()
    if guard:
        body["guard"] = _read_guard(guard)
    body |= {name: text for name, text in (("outcome", outcome), ("commit", commit), ("gate", gate)) if text}
    check_body("ruling", body)
    draft = Draft(kind="ruling", body=body, signers=[load_private_key(path) for path in key])
    seal_or_attest(found, draft, output_file, ledger_key, lock_timeout=lock_timeout, as_json=as_json)


def _read_guard(text: str) -> JsonObject:
    """The guard that ``METRIC@CONTEXT`` names."""
    metric, _, context = text.partition("@")
    if metric not in METRICS or not (context.isascii() and context.isdigit()):
        raise RefusedError("E_RULING", f"expected METRIC@CONTEXT, found {text!r}", where="--guard")
    return {"metric": metric, "context": int(context)}
