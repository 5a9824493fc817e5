"""The WebHDFS servers of a run, foreseen: what would keep the keeper from starting them is said before anything is."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from outlast.errors import SpecError
from outlast.inside.namenodes import NameNode, needed


def require_servers(spec: Mapping[str, Any], home: Path) -> None:
    """`UsageError` when a server that the run needs could not be started now. Starts and writes nothing."""
    by_port: dict[int, NameNode] = {}
    for node in needed(spec):
        other = by_port.setdefault(node.port, node)
        if other.folder != node.folder:
            raise SpecError(
                f"{other.address} and {node.address} share a port, and one port can play one folder only",
                hint=f"end one of them with: outlast store unmap {node.address}",
            )
        if not Path(node.folder).is_dir():
            raise SpecError(
                f"no folder {node.folder}, which plays {node.address}",
                hint=f"make it, or end the map with: outlast store unmap {node.address}",
            )
    for node in by_port.values():
        from outlast.webhdfs.running import require_port

        require_port(home, node.address, node.folder)
