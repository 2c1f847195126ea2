"""Runs that are kept: written once, opened as far as they can be, and made fit to send away."""
