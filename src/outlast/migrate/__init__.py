"""Moving scripts between devices: CUDA, Ascend NPU, or whatever accelerator is there.

`source` reads files, `engine` walks one syntax tree past all rules, `rules/` holds one rewrite per file with its
examples beside it, `report` says what was done and what is left.
"""

from outlast.migrate.direction import TARGETS, Direction
from outlast.migrate.engine import Finding, Kind, Migrated, Rule, migrate_text
from outlast.migrate.source import Source, SourceError

__all__ = ["TARGETS", "Direction", "Finding", "Kind", "Migrated", "Rule", "Source", "SourceError", "migrate_text"]
