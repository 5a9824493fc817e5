"""The mover: files between this machine and any store, in both halves, with the standard library alone."""
