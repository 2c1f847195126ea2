"""Faults that a lab can be given, one a file; each names the rule that must find it."""
