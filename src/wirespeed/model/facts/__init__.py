"""State of a machine at a moment: what is set up, with units in the names and a source for each value."""
