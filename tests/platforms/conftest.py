"""The local platform with a stand-in for the runner."""

from local_bench import home, make  # noqa: F401 - fixtures
