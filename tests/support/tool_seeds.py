"""Made-up sound files, one or two per adapter, for mutations to start from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support import serving, tandem, timed, vllm
from tests.support.aiperf import lines
from tests.support.aiperf import request as aiperf_request

if TYPE_CHECKING:
    from collections.abc import Mapping


def seeds() -> Mapping[str, tuple[tuple[str, bytes], ...]]:
    """By adapter: format, where an independent reader of it exists, and bytes."""
    requests = [aiperf_request(at) for at in range(3)]
    return {
        "aiperf": (("aiperf records", lines(*requests)),),
        "aiperf-summary": (("", serving.dump(serving.aiperf_summary())),),
        "asv": (("", timed.raw(timed.SAMPLES["asv"])),),
        "google-benchmark": (("google-benchmark", timed.raw(timed.SAMPLES["google-benchmark"])),),
        "hyperfine": (("hyperfine", timed.raw(timed.SAMPLES["hyperfine"])),),
        "pytest-benchmark": (("pytest-benchmark", timed.raw(timed.SAMPLES["pytest-benchmark"])),),
        "sglang-one-batch": (("", serving.dump(serving.one_batch())),),
        "sglang-serving": (
            ("", serving.dump(serving.sglang_run())),
            ("", serving.dump(serving.sglang_detailed())),
        ),
        "tandem-block-ab": (("", tandem.encode(tandem.block_ab())),),
        "tandem-forced": (("", tandem.encode(tandem.forced(tandem.forced_row("a", "prose", 0)))),),
        "tandem-record": (("", tandem.encode(tandem.record())),),
        "tandem-report": (("", tandem.encode(tandem.report())),),
        "trtllm-bench": (("", serving.dump(serving.trtllm_report())),),
        "vllm-latency": (("", vllm.as_json(vllm.latency())),),
        "vllm-serve": (
            ("", vllm.as_json(vllm.totals())),
            ("", vllm.as_json(vllm.detailed(vllm.request(), vllm.request()))),
        ),
        "vllm-throughput": (("", vllm.as_json(vllm.throughput())),),
    }
