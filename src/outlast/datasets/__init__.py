"""Data sets as people keep them: reading any place alike, comparing two, making a small copy of one."""
