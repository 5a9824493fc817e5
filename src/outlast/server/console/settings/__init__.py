"""Settings: oneself, tokens, and for admins users, groups, queues and the log of what was done."""
