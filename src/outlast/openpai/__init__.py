"""OpenPAI's documents, read as its own server and its VS Code client read them. Nothing here runs anything."""
