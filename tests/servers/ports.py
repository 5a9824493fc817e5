"""Ports on loopback that are free now."""

from __future__ import annotations

import contextlib
import random
import socket

#: Below what the kernel hands out by itself (32768 to 60999), with room for a second port 10000 above.
_FIRST, _LAST, OFFSET = 12_000, 21_999, 10_000


def free_ports(count: int) -> list[int]:
    """Ports that nobody uses and whose twins 10000 above are unused too: some servers take both."""
    chosen: list[int] = []
    with contextlib.ExitStack() as held:
        while len(chosen) < count:
            port = random.SystemRandom().randint(_FIRST, _LAST)
            if port not in chosen and _hold(held, port) and _hold(held, port + OFFSET):
                chosen.append(port)
    return chosen


def _hold(held: contextlib.ExitStack, port: int) -> bool:
    """Keep a port until the whole set is found."""
    probe = held.enter_context(socket.socket())
    try:
        probe.bind(("127.0.0.1", port))
    except OSError:
        return False
    return True
