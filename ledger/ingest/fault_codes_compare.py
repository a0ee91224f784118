"""The codes of `ledger.ingest.faults` that a comparison of two sides can have."""

from __future__ import annotations

COMPARE_REFUSED = (
    ("E_NOT_COMPARABLE", "two sides were measured under other conditions", "measure both under one"),
    ("E_PROMPT_DRIFT", "two runs answered other texts", "freeze the prompts; --rule row3-v1 only flags it"),
    ("E_SELF_COMPARE", "a side is compared with its own runs", "give the runs of the other build"),
    ("E_NO_PAIRS", "nothing was measured on both sides: that is no pass", "measure the same tests on both sides"),
    ("E_UNPAIRED", "a side lacks a test, a metric or a run of the other", "measure it, or name what both have"),
    ("E_FORMULA_MISMATCH", "figures of one unit by different formulas", "measure both sides with one tool"),
    ("E_TOO_FEW_RUNS", "fewer than three runs a side have no spread that says anything", "measure more, in turn"),
    ("E_REFERENCE", "one workload was forced to several texts", "make both from one reference text"),
    ("E_NOISE", "not a session of noise, or a side that does not say its slot", "give runs of one build in turn"),
    ("E_CODE_EMPTY", "no code below the folders that are hashed", "name the folders that hold it: --code main=DIR:src"),
    ("E_CODE_LINK", "a link or another irregular file among the code", "put the file itself there"),
    ("E_CODE_NAME", "a name among the code that is not UTF-8", "rename the file"),
)
COMPARE_FLAGGED = (
    ("F_SAME_CODE", "both sides are one code with one choice of settings", "none: a difference is noise"),
    ("F_AXIS_UNKNOWN", "a run does not say a fact of its node that another says", "give sides from one source"),
    ("F_ORDER_UNKNOWN", "runs do not say when they started", "measure in turn, and keep the starts"),
    ("F_NOT_IN_TURN", "the sides were not measured in turn, within the hour, one run at a time", "measure them so"),
    ("F_NOISE_LEFT", "a session of noise without the test, or out of turn, is left out", "measure it in turn"),
    ("F_BELOW_RESOLUTION", "a rate is resolved at less than 3 %, which rows do not decide", "use block A/B"),
    ("F_WALL_GATED", "the wall-clock time of a run, warm-up and all, is called worse", "look at the other statistics"),
)
