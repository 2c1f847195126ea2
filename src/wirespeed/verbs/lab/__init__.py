"""A cluster in network namespaces to practise on: bring it up, break it on command, heal it."""
