"""Shelf: one family of counters a file, and how its bytes become numbers."""
