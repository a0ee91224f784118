"""The catalogue of what can be wrong with a measurement that is handed in: every code, what it means, what to do.

Codes are stable: scripts may branch on them, and nothing is ever renamed. How serious a code is shows in its first
letter and stands here:

==========  ====================================================================================================
severity    what happens
==========  ====================================================================================================
``refuse``  the file or the round is not accepted, and nothing is written
``flag``    it is accepted and the sentence is printed; for imported figures (``K_``) it is sealed with the figure
==========  ====================================================================================================
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from ledger.ingest.fault_codes_compare import COMPARE_FLAGGED, COMPARE_REFUSED
from ledger.ingest.sparkinfer_faults import FAULTS

if TYPE_CHECKING:
    from collections.abc import Mapping

Severity: TypeAlias = Literal["refuse", "flag"]


class FaultCode(NamedTuple):
    """One entry of the catalogue.

    Attributes:
        code: stable identifier.
        severity: see above.
        meaning: in one line.
        remedy: what to do about it, in one line.
    """

    code: str
    severity: Severity
    meaning: str
    remedy: str


_REFUSED = (
    # The bytes.
    ("E_UTF8", "the file is not UTF-8", "export it again as text"),
    ("E_JSON", "not JSON, or cut in the middle, or with lines of a log in it", "keep standard error out of the file"),
    ("E_DUPLICATE_KEY", "one name stands twice in a JSON object", "find out which of the two the writer meant"),
    ("E_NONFINITE", "NaN or Infinity, which are not JSON and no measurement", "find the division by zero behind it"),
    ("E_FRACTION", "a fraction where only whole numbers are exact", "write nanoseconds, or the decimal as text"),
    ("E_DEPTH", "nested too deeply to be read", "give the tool's own output"),
    ("E_SIZE", "larger than what is read at once", "split the run, or attach the file by its digest"),
    ("E_LFS_POINTER", "a Git LFS pointer, not the file", "git lfs pull"),
    # The tool's format.
    ("E_FORMAT", "not a result of the tool", "give the file that the tool wrote, and its name to --from"),
    ("E_TOOL", "there is no adapter of this name", "take one of those that the message lists"),
    ("E_FIELD", "a value is missing, or of another kind than the tool writes", "give the tool's untouched output"),
    ("E_COLUMN_COUNT", "a row has another number of values than the header has names", "do not read it by name"),
    ("E_NO_SAMPLES", "statistics without the samples that they were made of", "run the tool with its raw output on"),
    ("E_EMPTY_RESULTS", "there is a place for results, and none is in it", "look at the tool's own log"),
    ("E_ALL_FAILED", "no request succeeded", "seal an incident, not a round"),
    ("E_SAMPLE", "a sample is not a duration", "give the tool's untouched output"),
    ("E_WORKLOAD", "nothing was asked for: no prompt and no generation", "measure something"),
    ("E_TRUNCATED", "the last part of the samples is missing", "run it again without the cap on the raw output"),
    ("E_REPORTED_MISMATCH", "a printed figure is not that of the samples", "find out which of the two was changed"),
    ("E_PAYLOAD_DIGEST", "the record's digest is not that of its requests", "give the record as the runner wrote it"),
    ("E_RECORD_ID", "a name that is made of the record's contents does not fit them", "give the untouched record"),
    ("E_TOKEN_SOURCE", "tokens were not counted by the server", "ask the server for its usage block"),
    ("E_TTFT_MISSING", "a request succeeded and never had a first token", "turn the tools off in this workload"),
    ("E_UNUSABLE", "a measured request failed, or is too short for a rate", "run the row again: all must count"),
    ("E_TIME", "a time that is none, or not in UTC", "give the tool's untouched output"),
    ("E_DIGEST", "not a SHA-256 in lower-case hexadecimal digits", "give the tool's untouched output"),
    ("E_COMPANION", "a file that another one names is not there", "keep the folders as the tool wrote them"),
    ("E_ITERATIONS", "the report pools several iterations of one record", "run the row once a record"),
    ("E_NO_CODE", "the digest of the code is that of an empty folder", "give the tool the folder that holds the code"),
    ("E_STORE", "the drafter's store took in the answers of the runs", "run with the store off or read-only"),
    ("E_TOKENS_DIFFER", "answers that must be one text are several", "compare speeds of one text only"),
    ("E_SAMPLING", "answers were sampled at a temperature above 0", "measure at temperature 0"),
    # From files to a round.
    ("E_ARM", "there is no such role of an arm", "main, candidate or reference"),
    ("E_MISSING", "the tool does not say something that a round needs", "give the options that the message lists"),
    ("E_SLOT", "the slot lacks an axis, or has one that does not exist", "name all five axes"),
    ("E_STARTED_AT", "a start that is no time, or that the tool says otherwise", "one start in UTC per run, in order"),
    ("E_ZONE", "not an offset from UTC", "such as --zone +02:00: that of the node's clock"),
    ("E_MIXED", "files or rows differ in what one round has only once", "make two rounds, or select rows with --row"),
    ("E_ROW", "the file has no row of this number", "rungbook ingest FILE shows its rows"),
    ("E_COPIED_SAMPLES", "a row is given twice: it is one measurement", "select the rows of each arm with --row"),
    # The round.
    ("E_ARM_TWICE", "an arm is listed twice", "one entry per role"),
    ("E_ARM_UNKNOWN", "a repetition or parity of an arm that the round does not list", "list the arm"),
    ("E_ARM_UNMEASURED", "an arm has no repetition but warm-up", "measure it, or leave it out"),
    ("E_ATTACHMENT", "an attachment is named twice, or used without being listed", "list each file once, by digest"),
    ("E_ORDER", "repetitions are not in time order, or two arms share a run", "list them as they ran"),
    ("E_COLUMN_LENGTH", "columns of records have several lengths, or none", "one entry per record; null if not seen"),
    ("E_RECORDS_MISSING", "a metric needs columns that are not there", "record them, or do not claim the metric"),
    ("E_METRIC_TWICE", "a repetition lists a metric twice", "once"),
    ("E_ZERO_TIME", "a duration of 0", "what was not measured is null, never 0"),
    ("E_TTFT_AFTER_END", "the first token came after the end", "take both times from one clock"),
    ("E_WALL", "a sample took longer than its repetition", "find out which of the two clocks is wrong"),
    ("E_CONTEXT_MISMATCH", "an arm has no figure in the slot's metric and context", "name the one that was measured"),
    ("E_GUARD_UNMEASURED", "a guard names what an arm did not measure", "measure it, or drop the guard"),
    ("E_PARITY_TWICE", "parity is given twice for one arm and depth", "once"),
    ("E_NOISE_ARMS", "a noise round with two codes or settings", "run one code in both arms"),
)
_FLAGGED = (
    ("F_N1", "one sample, of which no deviation is known", "repeat it: one repetition is not a measurement"),
    ("F_REPORTED_MISMATCH", "a printed figure is not that of the samples", "ours is recomputed; ask its authors"),
    ("F_ROWS_LEFT", "rows of a file were left out, as asked for", "the attached file holds them all the same"),
    ("F_ORDER_TIME", "files are given in another order than they ran in", "give them in the order of time"),
    ("F_PREFIX_CACHE", "a cache supplied tokens of prompts", "turn it off, or keep the slot apart"),
    ("F_CHUNKED", "answers came in another number of pieces than tokens", "never read gaps between pieces as tokens"),
    ("F_RETOKENIZED", "server and client count other tokens", "the server's count is taken where there is one"),
    ("F_CONTEXT_NEAR", "a mean context within 2 % of the slot's is sealed as the slot's", "none; records keep lengths"),
    ("F_FINISH_CAP", "an answer ended for its length at another than was allowed", "look at the server's own limit"),
    ("F_SHORT_OUTPUT", "more than a tenth of the answers have fewer than 128 tokens", "claim no rate of rounds on it"),
    ("F_CONTEXT_DECLARED", "another context was asked for than was measured", "the slot takes the measured one"),
    ("F_PERCENTILE_METHOD", "a printed percentile is not the nearest rank", "never compare it with one that is"),
    ("F_PROMPT_DRIFT", "one prompt has several lengths: its text changed", "freeze the prompts, or keep their digests"),
    ("F_NONDETERMINISTIC", "one prompt has several answers at temperature 0", "find out what decodes at random"),
    ("F_CLOCK_GAP", "requests one after the other do not add up to their run", "look for a pause or an overlap"),
    ("F_CLOCK_ORDER", "a run ended before it began", "set the clock of the node"),
    ("F_THROTTLED", "the board lowered its clocks", "cool it, and run again"),
    ("F_MEAN_LIFTED", "the mean rate is more than 15 % above the median", "rely on the median"),
    ("F_CONTEXT_SPREAD", "the mean contexts of runs are more than 2 % apart", "freeze the prompts of the workload"),
    ("F_LOG_EMPTY", "the server's log has no line about a request", "turn off its buffer, or give the right log"),
    ("F_LOG_MISMATCH", "the server's log and the record do not fit", "keep one log per run; rounds are left out"),
    ("F_LOG_ABSENT", "figures of rounds without the log that they are from", "keep the part of the log of each run"),
    ("F_FACTORS", "the two factors of the rate are not the rate, by more than 3 %", "find out which clock is wrong"),
    ("F_RUNS_FEWER", "fewer runs than were asked for: the tool was stopped", "start again; never add runs by hand"),
    ("F_STORE_UNKNOWN", "what the drafter could look up is not said", "use a tool that says it"),
    ("F_CODE_UNTIED", "nothing ties the code to the server that answered", "let the tool start the server"),
    ("F_SETTINGS_DIFFER", "an option is said in two ways", "find out which of them was in force"),
    ("F_TOTALS_ONLY", "totals are kept, and not what they are of", "keep the raw output beside it next time"),
    ("F_ROUNDS_PARTIAL", "an answer has more steps than rounds that are listed", "its median is of those listed"),
    ("F_CAPTURE", "nothing was discarded before the first pair", "discard at least one pair"),
    ("F_LEARNING", "one text took another number of rounds from pair to pair", "freeze what the drafter learns"),
    ("F_DEPTH_UNPROVEN", "nothing shows that the context was filled", "measure it with a tool that fills it"),
    ("F_CONTEXT_PARTIAL", "not every request has the length of its prompt", "the context is the mean of the others"),
)

CATALOGUE: Mapping[str, FaultCode] = {
    entry.code: entry
    for entry in (
        *(FaultCode(code, "refuse", meaning, remedy) for code, meaning, remedy in (*_REFUSED, *COMPARE_REFUSED)),
        *(FaultCode(code, "flag", meaning, remedy) for code, meaning, remedy in (*_FLAGGED, *COMPARE_FLAGGED)),
        *(
            FaultCode(code, "flag", meaning, "none: what another log says is kept as it is, and never attested")
            for code, meaning in FAULTS.items()
        ),
    )
}
"""By code: what is refused, what is flagged, and what an imported figure can have."""
