"""What a run recorded: metric series over all its stints, the ledger of its time, its output, and small charts."""
