"""Measure with traffic of your own: links between hosts."""
