"""One server and one browser for all tests of the console, in each process of the tests."""

from console_lab import both, broken, browser_address, console, context, page, trained  # noqa: F401 - fixtures
