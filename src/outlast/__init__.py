"""Outlast trains your script on any machine you can borrow, for as long as it takes."""

__version__ = "0.1.0"
