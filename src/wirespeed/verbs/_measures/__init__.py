"""Measurements that a live diagnosis can choose from: one a file."""
