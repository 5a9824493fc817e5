"""Contracts: how a script is started and what it finds, for each system that scripts were written for."""
