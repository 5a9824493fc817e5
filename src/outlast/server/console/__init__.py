"""The web console: pages of the server for people, made in Python and served whole from the package."""

from outlast.server.console.mounting import mount

__all__ = ["mount"]
