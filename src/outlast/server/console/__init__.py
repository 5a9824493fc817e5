"""The web console: pages of the server for people, made in Python and served whole from the package."""
