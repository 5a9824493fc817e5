"""Store clients that need only the standard library, shared by both halves."""
