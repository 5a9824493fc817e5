"""Public fakes and conformance suites for those who extend Outlast.

The suites live in modules of their own, such as `outlast.testing.store_suite`, and need pytest.
"""

from outlast.testing.memory_store import MemoryStore

__all__ = ["MemoryStore"]
