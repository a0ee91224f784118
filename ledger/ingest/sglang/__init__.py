"""Outputs of SGLang's benchmarks: ``bench_serving`` and ``bench_one_batch``."""
