"""Tests of adaptation share one stage."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from torch_stage import run_anew

__all__ = ["run_anew"]  # a fixture, for all
