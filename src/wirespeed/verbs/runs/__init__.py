"""Runs that were kept: list them, look into one, compare two, take one elsewhere."""
