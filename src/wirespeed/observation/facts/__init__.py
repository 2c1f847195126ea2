"""SHELF: one kind of fact per file, each defining one Collector."""
