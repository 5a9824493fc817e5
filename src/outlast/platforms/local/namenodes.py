"""What a user should know about the name nodes that folders play: where they are, and what a script cannot reach."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from outlast.inside.namenodes import LOOPBACK, led_here, needed


def node_notices(spec: Mapping[str, Any], sandboxed: bool) -> list[str]:
    """One sentence for each mapped name node that a run needs, and for each that its script will not find."""
    nodes = needed(spec)
    notices = [f"{node.folder} plays {node.address}: scripts reach it at {node.url} while the run is open"
               for node in nodes]  # fmt: skip
    if nodes and sandboxed and not spec.get("network", True):
        return [*notices, "the script has no network, so it reaches no mapped name node; allow it with --network"]
    for node in nodes:
        if not node.leads_here and not node.can_be_led_here:
            notices.append(
                f"{node.host} is a number, which no hosts file can lead to this machine: a script that uses it reaches "
                f"the real one; let it use a host name, or http://{LOOPBACK}:{node.port}"
            )
    names = led_here(nodes)
    if names and not sandboxed and not _in_containers(spec):
        notices.append(
            f"without the sandbox {' and '.join(names)} cannot be led to this machine: add the line "
            f"'{LOOPBACK} {' '.join(names)}' to /etc/hosts, or leave the sandbox on"
        )
    return notices


def _in_containers(spec: Mapping[str, Any]) -> bool:
    """Whether the run is a job whose roles run in their images: the engine leads the names here."""
    roles: Sequence[Mapping[str, Any]] = (spec.get("job") or {}).get("roles", ())
    return bool(roles) and all(role.get("engine") for role in roles)
