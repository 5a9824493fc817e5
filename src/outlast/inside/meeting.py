"""Where the nodes of a stint find each other: a few small documents in the run folder, and no connection of ours."""

from __future__ import annotations

import os
import socket
from typing import Dict, Optional

from .place import Place
from .processes import boot_id, is_same_process, start_ticks
from .records import Claim, Meeting, now_text

#: Nothing is sent there: asking for the way is enough to learn which of our addresses it begins at.
_FAR_AWAY = ("10.255.255.255", 1)


def own_address(place: Place) -> str:
    """How other machines reach this one: as the platform says, else the address that its way out begins at."""
    if place.address:
        return place.address
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(_FAR_AWAY)
            return str(probe.getsockname()[0])
        except OSError:  # no network but the machine's own
            return "127.0.0.1"


def free_port() -> int:
    """A port of this machine that nobody has at the moment."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind(("", 0))
        return int(probe.getsockname()[1])


def claim_for(token: str) -> Claim:
    """The claim of this process on its part of a stint."""
    pid = os.getpid()
    return Claim(token, socket.gethostname(), pid, now_text(), own_seat(), start_ticks(pid))


def own_seat() -> str:
    """Names the processes that we can see: whoever has the same seat can tell by the pid whether we live."""
    try:
        return "%s %s" % (boot_id(), os.readlink("/proc/self/ns/pid"))
    except OSError:
        return ""


def is_gone(claim: Claim) -> bool:
    """Whether the process of a claim has certainly ended; False when that cannot be seen from here."""
    if not claim.seat or claim.ticks is None or claim.seat != own_seat():
        return False
    return not is_same_process(claim.pid, claim.ticks)


def meeting_variables(meeting: Optional[Meeting], node: int) -> Dict[str, str]:
    """What every launcher of distributed training understands, one process on each node; nothing for one node."""
    if meeting is None:
        return {}
    count = str(len(meeting.addresses))
    return {
        "MASTER_ADDR": meeting.addresses[0],
        "MASTER_PORT": str(meeting.port),
        "NNODES": count,
        "NODE_RANK": str(node),
        "WORLD_SIZE": count,
        "RANK": str(node),
    }
