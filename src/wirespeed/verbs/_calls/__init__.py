"""What an agent can be asked for: one question a file, each answered with records."""
