"""Outputs of vLLM's benchmarks: ``bench serve``, ``bench latency`` and ``bench throughput``."""
