"""What several rules see by joining records: cluster-wide facts, link rates, transfers, drops against receipts, pieces of evidence."""
