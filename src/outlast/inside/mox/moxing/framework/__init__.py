"""Where scripts import `file` from."""

from __future__ import annotations

from . import file

__all__ = ["file"]
