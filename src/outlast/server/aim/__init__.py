"""Aim's own interface over the repository that a training wrote, through this server and for its owner alone."""
