"""Paths: where each one in a script comes from, what it is for, and how the contract's folder takes its place."""
