"""`moxing` for scripts that were written for ModelArts: its file functions, over any store that Outlast knows.

The real one exists only in the cloud, and the package of that name on the public index is something else. This one is
importable within a stint of a ModelArts contract and nowhere else.
"""

from __future__ import annotations

import sys

from .framework import file
from .framework.file.places import say
from .framework.file.shifting import cache

__all__ = ["__version__", "cache", "file"]
__version__ = "2.5.0"  # the first whose `stat` gave times in GMT, as ours does

sys.modules[__name__ + ".file"] = file
say("Using MoXing-v%s-outlast" % __version__)
say("Using OBS-Python-SDK-outlast")
