"""Metrics for other programs: one writer per file, all from the same runs."""
