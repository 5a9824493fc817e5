"""Repositories of projects, models and data sets, kept with git and LFS. No HTTP here: the server speaks it."""
