"""Accounts: users, their keys, groups with quotas, queues, and the log of what was done."""
