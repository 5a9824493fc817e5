"""The flavour for TensorFlow: the same files, and `cache`."""

from __future__ import annotations

from ..framework import file
from ..framework.file.shifting import cache

__all__ = ["cache", "file"]
