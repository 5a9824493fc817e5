"""Somewhere that gives machines. One folder per platform; they never import each other."""
