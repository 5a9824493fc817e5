"""One server with accounts for all tests of the hub, and working folders with the real git and git-lfs."""

from hub_lab import hub_lab, work  # noqa: F401 - fixtures
