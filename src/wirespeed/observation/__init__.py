"""Look without disturbing: collectors ask a machine and yield facts. They never ask which kind of machine it is."""
