"""Metrics: what torchmetrics asks for since 0.11, by a table of what was run to give the same numbers."""
