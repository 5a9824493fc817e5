"""Files that are written whole or not at all, from pieces that come one by one."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from outlast.errors import UsageError

#: Hears how many bytes there are so far.
Progress = Callable[[int], None]


@dataclass(frozen=True)
class Downloaded:
    """A revision that was written to a file."""

    path: str  # owner/name
    commit: str
    file: str
    size_bytes: int


def write_whole(target: Path, pieces: Iterable[bytes], progress: Progress | None = None) -> int:
    """Write pieces beside `target`, then give them its name; returns how many bytes they are.

    A file that is there is replaced; when the pieces break off it stays as it was.
    """
    aside = target.with_name(f".{uuid.uuid4().hex[:8]}.part")
    size_bytes = 0
    try:
        with aside.open("xb") as out:
            for piece in pieces:
                out.write(piece)
                size_bytes += len(piece)
                if progress is not None:
                    progress(size_bytes)
            out.flush()
            os.fsync(out.fileno())
        aside.replace(target)
    except OSError as error:
        raise UsageError(
            f"cannot write {target}: {error.strerror}", hint="choose another place with --output"
        ) from None
    finally:
        aside.unlink(missing_ok=True)
    return size_bytes
