"""Loops that a script writes itself: what they train and carry from round to round, kept and put back."""
