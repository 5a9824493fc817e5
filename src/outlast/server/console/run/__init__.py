"""The page of one run, a module for each of its views."""
