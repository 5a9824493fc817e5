"""Bytes from a socket into a file without passing through this program: a copy less for everything that is fetched."""

from __future__ import annotations

import fcntl
import os
from typing import Any

from .connection import CHUNK_BYTES, READ, Connection, Steps, Unreachable, words_of

#: From Python 3.10 on.
_splice: Any = getattr(os, "splice", None)
_SET_PIPE_SIZE = 1031  # F_SETPIPE_SZ, which the fcntl module names from Python 3.10 on
_DO_NOT_WAIT = 2  # SPLICE_F_NONBLOCK


class Pipe:
    """A pipe of the kernel's that holds as much as one read of a socket gives. For one thread."""

    def __init__(self) -> None:
        self.exit, self.entry = os.pipe()
        self.size = 65536
        try:
            self.size = fcntl.fcntl(self.entry, _SET_PIPE_SIZE, CHUNK_BYTES)
        except OSError:
            pass  # more than this user may have; the usual size works too

    @property
    def is_open(self) -> bool:
        return self.exit >= 0

    def close(self) -> None:
        if self.is_open:
            os.close(self.exit)
            os.close(self.entry)
            self.exit = -1

    __del__ = close


def can_splice(connection: Connection) -> bool:
    """Whether the next bytes of this connection's body can be spliced."""
    return _splice is not None and connection.is_bare()


def splice(connection: Connection, pipe: Pipe, descriptor: int, offset: int, limit: int) -> Steps[int]:
    """Move up to `limit` bytes of the body into a file; 0 when the connection ended."""
    while True:
        try:
            count: int = _splice(connection.fileno(), pipe.entry, min(limit, pipe.size), flags=_DO_NOT_WAIT)
            break
        except BlockingIOError:
            connection.wants = READ
        except OSError as error:
            connection.close()
            raise Unreachable("the connection to %s broke: %s" % (connection.where, words_of(error))) from None
        yield connection
    try:
        # Emptied before anything else happens: the pipe is shared by all connections of this thread.
        moved = 0
        while moved < count:
            moved += _splice(pipe.exit, descriptor, count - moved, offset_dst=offset + moved)
    except OSError:
        pipe.close()  # what is left in it belongs to nobody
        raise
    return count
