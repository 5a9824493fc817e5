"""Folders that play name nodes: which of them a run needs, and which host names must lead to this machine.

A run needs a mapped name node when it carries out an OpenPAI job, or when one of its arguments, parameters, variables,
inputs or outputs names the node's HOST:PORT. One rule for both halves.
"""

from __future__ import annotations

import ipaddress
import os
import re
from typing import Any, Dict, Iterable, Iterator, List, Mapping, NamedTuple, Tuple
from urllib.parse import urlsplit

HOSTS = "/etc/hosts"
LOOPBACK = "127.0.0.1"
_HERE = ("localhost", LOOPBACK)


class NameNode(NamedTuple):
    """A name node that a folder plays; its server listens on the loopback address, whatever the host is called."""

    address: str
    folder: str
    host: str
    port: int

    @property
    def url(self) -> str:
        """What a script's client is given."""
        return "http://%s:%d" % (self.host, self.port)

    @property
    def leads_here(self) -> bool:
        """Whether the host means the address that the server listens on anyway."""
        return self.host in _HERE

    @property
    def can_be_led_here(self) -> bool:
        """Whether a line of the hosts file can make it mean this machine: a number always means itself."""
        return not self.leads_here and not _is_number(self.host)


def name_nodes(maps: Mapping[str, str]) -> List[NameNode]:
    """The name nodes among the mapped places."""
    return [_node(address, folder) for address, folder in sorted(maps.items()) if address.startswith("hdfs://")]


def needed(spec: Mapping[str, Any]) -> List[NameNode]:
    """The name nodes that a run needs while it is open."""
    nodes = name_nodes(spec.get("maps") or {})
    if spec.get("contract") == "openpai":
        return nodes
    texts = list(_texts(spec)) if nodes else []
    return [node for node in nodes if any(_names(node, text) for text in texts)]


def led_here(nodes: Iterable[NameNode]) -> List[str]:
    """The host names that the hosts file of a sandbox must lead to this machine."""
    return sorted({node.host for node in nodes if node.can_be_led_here})


def hosts_text(hosts: str, names: Iterable[str]) -> str:
    """A hosts file in which these names mean this machine and nothing else."""
    ours = {name.lower() for name in names}
    lines = ["%s\t%s" % (LOOPBACK, name) for name in sorted(ours)]
    for line in hosts.splitlines():
        number, *known = line.partition("#")[0].split() or [""]
        kept = [name for name in known if name.lower() not in ours]
        if len(kept) == len(known):
            lines.append(line)
        elif kept:
            lines.append("\t".join([number, *kept]))
    return "\n".join(lines) + "\n"


def show_hosts(spec: Mapping[str, Any], folder: str) -> List[Tuple[str, str]]:
    """Write the hosts file for a run's sandbox into a folder, and return it with the path at which it must appear.

    Empty when the run needs none, and on a machine without such a file, where none can appear.
    """
    names = led_here(needed(spec))
    if not names or not os.path.isfile(HOSTS):
        return []
    with open(HOSTS, encoding="utf-8", errors="surrogateescape") as file:
        hosts = file.read()
    path = os.path.join(folder, "hosts")
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(hosts_text(hosts, names))
    return [(path, HOSTS)]


def _node(address: str, folder: str) -> NameNode:
    parts = urlsplit(address)
    return NameNode(address, folder, parts.hostname or "", parts.port or _default_port())


def _default_port() -> int:
    from .hdfs.nodes import DEFAULT_PORT  # brings the network along, which few runs need

    return DEFAULT_PORT


def _texts(spec: Mapping[str, Any]) -> Iterator[str]:
    yield from spec.get("args") or ()
    for table in ("params", "env"):
        values: Dict[str, str] = spec.get(table) or {}
        yield from values.values()
    for table, key in (("inputs", "source"), ("outputs", "target")):
        for each in spec.get(table) or ():
            yield str(each.get(key) or "")


def _names(node: NameNode, text: str) -> bool:
    hosts = _HERE if node.leads_here else (node.host,)
    patterns = [r"(?<![\w.-])%s:%d(?!\d)" % (re.escape(host), node.port) for host in hosts]
    if urlsplit(node.address).port is None:
        patterns.append(r"(?<=://)%s(?![\w.:-])" % re.escape(node.host))
    return any(re.search(pattern, text, re.IGNORECASE) for pattern in patterns)


def _is_number(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
