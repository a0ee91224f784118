"""vLLM ``bench throughput --output-json``: how long a set of requests took, and how many tokens went in and out.

``tokens_per_second`` counts prompts as well as answers, so it is no rate of generation and never becomes one. What was
measured is the `wall` of the whole set. Only a file that says itself how many tokens were generated gives
`output_tok_s` too.

Source: ``main`` in vllm/benchmarks/throughput.py of github.com/vllm-project/vllm.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING

from ledger.errors import MalformedError
from ledger.ingest.adapter import Row
from ledger.ingest.direction import read_tool_json
from ledger.ingest.values import as_decimal
from ledger.ingest.vllm.fields import count_if_said, count_of, duration_of, reported_of, settings_of
from ledger.ingest.vllm.figures import compare

if TYPE_CHECKING:
    from ledger.canonical import JsonObject

_MARKS = ("elapsed_time", "num_requests", "total_num_tokens", "requests_per_second", "tokens_per_second")
_PROMPT = ("total_prompt_tokens", "total_input_tokens")
_PRINTED = re.compile(
    r"(avg|mean|median|std|p\d+(\.\d+)?)_.+|.+_(throughput|per_second)|elapsed_time|total_\w+_tokens|run_number",
    re.ASCII,
)
_PROMPT_AND_OUTPUT = "(in+out)/duration"


class VllmThroughput:
    """The adapter (see `ledger.ingest.adapter.Adapter`)."""

    name = "vllm-throughput"
    about = "vllm bench throughput --output-json"

    def recognises(self, raw: bytes) -> bool:
        """See `Adapter`."""
        return raw.lstrip()[:1] == b"{" and all(f'"{mark}"'.encode() in raw for mark in _MARKS)

    def read(self, raw: bytes, what: str) -> list[Row]:
        """See `Adapter`."""
        run = read_tool_json(raw, what)
        if not isinstance(run, dict) or not all(mark in run for mark in _MARKS):
            raise MalformedError("E_FORMAT", "expected a result of vllm bench throughput --output-json", where=what)
        wall, requests = duration_of(run, "elapsed_time", what), count_of(run, "num_requests", what)
        prompt, output = _tokens(run, what)
        if not requests or output == 0:
            raise MalformedError("E_EMPTY_RESULTS", "nothing was generated", where=what)
        said = {"prompt_tokens": prompt, "completion_tokens": output}
        row = Row(
            number=0,
            metrics=("wall",) if output is None else ("wall", "output_tok_s"),
            context=None if prompt is None else round(Fraction(prompt, requests)),
            workload=None,
            records={"wall_ns": [wall]} | {name: [count] for name, count in said.items() if count is not None},
            wall_ns=wall,
            started_at="",
            reported=reported_of(run, (), _is_printed, what),
            settings=settings_of(run, (), _is_printed, what),
            environment={},
            weights={},
            harness={"name": "vllm bench throughput"},
            commit=None,
            notes=(
                "F_TOTALS_ONLY: totals of a run without its requests; tokens_per_second counts prompts too",
                "F_WORKLOAD_GIVEN: the file does not say the lengths that were asked for: the caller does",
                *_compare(run, requests, output, what),
            ),
            mean_context=prompt is not None,
        )
        return [row]


def _is_printed(name: str) -> bool:
    return _PRINTED.fullmatch(name) is not None


def _tokens(run: JsonObject, what: str) -> tuple[int | None, int | None]:
    """Tokens of all prompts and of all answers, none where the file does not say them; one follows from the other."""
    both, output = count_of(run, "total_num_tokens", what), count_if_said(run, "total_output_tokens", what)
    prompt = next((count for name in _PROMPT if (count := count_if_said(run, name, what)) is not None), None)
    if not both:
        raise MalformedError("E_EMPTY_RESULTS", "no token went in or out", where=f"{what}/total_num_tokens")
    if output is None and prompt is None:
        return None, None
    prompt = both - (output or 0) if prompt is None else prompt
    output = both - prompt if output is None else output
    if prompt < 0 or output < 0 or prompt + output != both:
        raise MalformedError(
            "E_REQUEST_COUNT",
            f"{prompt} tokens of prompts and {output} of answers are not {both}",
            where=f"{what}/total_num_tokens",
        )
    return prompt, output


def _compare(run: JsonObject, requests: int, output: int | None, what: str) -> list[str]:
    seconds, both = Fraction(as_decimal(run["elapsed_time"], f"{what}/elapsed_time")), run["total_num_tokens"]
    counts = {"requests_per_second": requests, "tokens_per_second": both, "total_tokens_per_second": both}
    if output is not None:
        counts |= {"output_tokens_per_second": output}
    notes = []
    for name, count in counts.items():
        others = {} if count == both else {_PROMPT_AND_OUTPUT: both / seconds}
        notes += compare(name, run.get(name), count / seconds, others)
    return notes
