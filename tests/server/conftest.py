"""One server for all tests of the REST API."""

from api_lab import api as api  # noqa: PLC0414 - the fixture
from server_lab import accounts, database, empty_lab, lab, shared_empty_lab  # noqa: F401 - fixtures too
