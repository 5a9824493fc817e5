"""One region for all tests of a process."""

from cloud_lab import cloud, region  # noqa: F401 - fixtures
