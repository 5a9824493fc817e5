"""This machine as a platform: detached processes, a sandbox, a queue."""
