"""The shelf of link tests: one file a test, both ends in it."""
