"""The hub's pages: repositories of projects, models and data sets, their files, history and settings."""
