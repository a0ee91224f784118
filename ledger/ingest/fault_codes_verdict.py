"""The codes of `ledger.ingest.faults` that a verdict on a sealed round, or a verification, can have."""

from __future__ import annotations

VERDICTS = (
    ("E_REVIEW_REJECTED", "maintainers reviewed the round and rejected it", "read the ruling: rungbook show RECEIPT"),
    ("E_RELIABILITY", "requests of the candidate failed: how fast the others were is not looked at", "mend it first"),
    ("E_QUARANTINED", "a fault keeps the round out of frontier and pins", "rungbook ruling review, by a maintainer"),
    ("E_CONFOUNDED", "each arm ran in one go while the node changed: no review can tell", "let the arms take turns"),
    ("E_MIXED_CACHE", "a cache knew some of the prompts: no review can tell", "measure all cold, or all warm"),
    ("E_EVIDENCE", "the rule judges figures with more evidence behind them", "have a scorer of the node attest it"),
    ("E_NO_FIGURE", "no figure of a candidate in the slot", "measure the candidate in the slot's metric and context"),
    ("E_REPS", "fewer repetitions than the rule needs", "measure again, with more"),
    ("E_NO_MAIN", "main was not measured in the same session", "measure main and candidate in turn, in one round"),
    ("E_SELF_COMPARISON", "both arms are one code with one choice of settings", "measure two, or call it noise"),
    ("E_NO_FRONTIER", "the receipt names no frontier that it was held against", "judge it under a rule of this ledger"),
    ("E_DENOMINATOR", "the rule's reference gives no denominator here", "seal a reference round of this node and slot"),
    ("E_MAIN_FAR_BELOW", "main is far from the frontier: something is wrong with the session", "look at the node"),
    ("E_PARITY", "accuracy is below the bar at a depth: no speed makes up for it", "mend the accuracy"),
    ("E_PARITY_RATCHET", "accuracy is worse than main's by more than allowed", "mend the accuracy"),
    ("E_PARITY_MISSING", "no accuracy of the candidate", "measure it: append --parity candidate=FILE"),
    ("E_PARITY_DEPTH", "no accuracy at a depth that the rule asks for", "measure it at that depth"),
    ("E_PARITY_INCOMPLETE", "divergence or agreement is missing at a depth", "give both"),
    ("E_PARITY_PATH", "accuracy is of another code path than the rule names", "measure the path that was timed"),
    ("E_PARITY_TRIALS", "accuracy was measured at too few positions", "compare more positions"),
    ("E_CEILING", "faster than the rule believes of this reference", "rungbook ruling review, by a maintainer"),
    ("E_WALL_OVER", "samples take longer than the run that they are of", "find out which clock is wrong"),
    ("E_WALL_UNDER", "samples fill too little of their run", "find out what the rest of the time went to"),
    ("E_GUARD", "something that must not get worse did", "mend it, or waive that guard by a ruling"),
    ("E_GUARD_MISSING", "the candidate was not measured in what must not get worse", "measure it in the same round"),
    ("E_GUARD_BASE", "nothing is known that a guard could be held against", "measure main in it as well"),
    ("E_PIN_UNQUALIFIED", "all that a guard could be held against has too few repetitions", "measure main three times"),
    ("E_NO_NOISE", "the rule asks for the node's noise, which was never measured", "append --purpose noise"),
)
"""Code, meaning and remedy: the label of a rung is REJECT, REVIEW or UNRESOLVED for this reason."""

SAID = (
    (
        "F_ENVIRONMENT_CHANGED",
        "a fact of the node is another one than under the frontier",
        "measure the frontier again",
    ),
    ("F_KL_OVER_PREFERRED", "the divergence passes, and is above what the rule prefers", "look at the accuracy"),
    ("F_KL_ZERO", "a divergence of 0: what an echo of the reference looks like", "show that the candidate's code ran"),
    ("F_PARITY_DRIFT", "accuracy is worse than main's, within what is allowed", "look where it goes"),
    ("F_PIN_UNQUALIFIED", "a pin of too few repetitions is no base of a guard: main of the session is", "measure more"),
    ("F_PARITY_FAILS", "a claim whose own accuracy is below the bar: its speed is not shown", "mend the accuracy"),
    (
        "F_RATCHET_UNAVAILABLE",
        "main has no accuracy at a depth to hold the candidate's against",
        "measure that of main too",
    ),
    (
        "F_CLOCK_BACK",
        "a receipt claims an earlier time than the one before it",
        "set the clock; the order is the index",
    ),
    ("F_SEQ_GAP", "a key signed statements that are not in the ledger", "ask who holds the key, and who seals"),
)
"""Said of a rung or of the ledger, which holds all the same."""
