"""Outputs of TandemLLM's tools: the runner's record, the row report with its logs, block A/B and forced bench."""
