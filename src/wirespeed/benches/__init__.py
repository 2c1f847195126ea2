"""Load on purpose: measurements that need traffic of their own."""
