"""The server: the same verbs over HTTP, for a group that shares one home."""
