"""One server for all tests of each door."""

from modelarts_lab import done, door  # noqa: F401 - fixtures
from pai_lab import pai  # noqa: F401
from stores_lab import base, shelf  # noqa: F401
