"""Pieces that several readers share: prefixes, excerpts, tool families. No reader stands here."""
