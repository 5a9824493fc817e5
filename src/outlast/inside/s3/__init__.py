"""S3 and OBS with the standard library: one client for both halves."""
