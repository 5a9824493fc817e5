"""Ports for every instance: chosen free, or exactly those that the job names."""

from __future__ import annotations

import contextlib
import socket
from typing import Dict, List, Tuple

from ...errors import PlaceError
from .job import Job, Role
from .variables import Endpoint

HOST = "127.0.0.1"


def choose_ports(job: Job, host: str = HOST) -> Dict[Tuple[str, int], Endpoint]:
    """Where each instance will be reached. `PlaceError` names a port that the job wants and that is taken.

    All ports are held until the last is chosen, so none is given twice. Between here and the moment that the script
    binds it, somebody else may take one, as on the cluster.
    """
    with contextlib.ExitStack() as held:
        return {
            (role.name, index): Endpoint(host, _of_instance(role, index, host, held))
            for role in job.roles
            for index in range(role.instances)
        }


def _of_instance(role: Role, index: int, host: str, held: contextlib.ExitStack) -> Dict[str, List[int]]:
    found: Dict[str, List[int]] = {}
    for label, count in role.ports.items():
        first = role.port_starts.get(label, 0)
        # On the cluster every instance has a host of its own; here the next one needs the next ports.
        first += index * count if first else 0
        found[label] = [_hold(host, first + step if first else 0, label, held) for step in range(count)]
    return found


def _hold(host: str, port: int, label: str, held: contextlib.ExitStack) -> int:
    listener = held.enter_context(socket.socket(socket.AF_INET, socket.SOCK_STREAM))
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        raise PlaceError("port %d (%s) cannot be used here: %s" % (port, label, error.strerror)) from None
    return int(listener.getsockname()[1])
