"""One look at a checkpoint place: every file in it by name, size, time and inode. Opens nothing."""

from __future__ import annotations

import functools
import os
import re
import stat
from typing import Dict, List, NamedTuple, Optional, Tuple

from .seen import SeenFile, see

# What a save goes through on its way: never part of a checkpoint, but a sign that one is being written. The last
# three are TensorFlow's, Orbax's and the Hugging Face Trainer's.
_TEMPORARY = re.compile(
    r"(?:\.~|\.tmp).*"
    r"|.*\.(?:tmp|part|temp|incomplete|lock)"
    r"|.*\.tmp\.?[A-Za-z0-9_-]*"
    r"|.*\.tempstate\d+|.*_temp"
    r"|.*\.orbax-checkpoint-tmp.*"
    r"|tmp-checkpoint-.*",
    re.IGNORECASE | re.DOTALL,
)
# Written to all the time; a log is no state that a training continues from.
_STREAM = re.compile(r".*\.tfevents\..*|.*\.log", re.IGNORECASE | re.DOTALL)
# A file that is held open to append text is a log under another name. MindSpore appends to its .ckpt files, so the
# extension has to agree.
_TEXT = re.compile(r"[^.]*|.*\.(?:json|jsonl|csv|tsv|txt|out|err)", re.IGNORECASE | re.DOTALL)

Key = Tuple[int, int, int]  # size, time, inode: a different key is a different version


class Look(NamedTuple):
    """What was there."""

    files: Dict[str, SeenFile]
    passing: Dict[str, Key]  # temporary files, for noticing that a save is under way
    escape: str = ""  # where the place leads, when that is outside the root


def key_of(file: SeenFile) -> Key:
    return file.size, file.mtime_ns, file.inode


@functools.lru_cache(maxsize=65536)
def is_temporary(name: str) -> bool:
    return _TEMPORARY.fullmatch(name) is not None


@functools.lru_cache(maxsize=65536)
def is_stream(path: str) -> bool:
    """A log by its name."""
    return _STREAM.fullmatch(path.rsplit("/", 1)[-1]) is not None


def may_be_stream(path: str) -> bool:
    """A log by its name, provided that somebody holds it open to append."""
    return _TEXT.fullmatch(path.rsplit("/", 1)[-1]) is not None


def look(root: str, place: str) -> Look:
    """All regular files of the place (a folder or one file), which need not exist.

    Links to files are followed when they stay below the root; links to folders, and whatever leads outside, are
    left out. Names that are not valid text cannot be written into a manifest and are left out too.
    """
    found = Look({}, {})
    top = os.path.join(root, place)
    real_root = os.path.realpath(root)
    real_top = os.path.realpath(top)
    if not _is_inside(real_top, real_root):
        return Look({}, {}, real_top)
    if os.path.isdir(top):
        _look_below(root, place.replace(os.sep, "/").rstrip("/"), real_root, found)
    else:
        file = see(root, place)
        if file is not None:
            found.files[file.path] = file
    return found


def _look_below(root: str, place: str, real_root: str, found: Look) -> None:
    folders: List[Tuple[str, bool]] = [(place, False)]
    while folders:
        folder, passing = folders.pop()
        try:
            with os.scandir(os.path.join(root, folder)) as entries:
                for entry in entries:
                    _look_at(entry, folder, passing, real_root, found, folders)
        except OSError:
            # Rotated away under our eyes.
            continue


def _look_at(
    entry: os.DirEntry[str],
    folder: str,
    passing: bool,
    real_root: str,
    found: Look,
    folders: List[Tuple[str, bool]],
) -> None:
    name = entry.name
    path = folder + "/" + name
    passing = passing or is_temporary(name)
    try:
        if entry.is_symlink():
            linked = None if passing else _follow(entry.path, path, real_root)
            if linked is not None:
                found.files[path] = linked
            return
        if entry.is_dir(follow_symlinks=False):
            folders.append((path, passing))
            return
        seen = entry.stat(follow_symlinks=False)
    except OSError:
        return
    if not stat.S_ISREG(seen.st_mode):
        return
    if passing:
        # An empty lock file comes and goes with every save, or stays for the whole training.
        if not name.endswith(".lock"):
            found.passing[path] = (seen.st_size, seen.st_mtime_ns, seen.st_ino)
    elif name.isascii() or _is_text(name):
        found.files[path] = SeenFile(path, seen.st_size, seen.st_mtime_ns, seen.st_ino, stat.S_IMODE(seen.st_mode))


def _follow(full: str, path: str, real_root: str) -> Optional[SeenFile]:
    if not _is_inside(os.path.realpath(full), real_root):
        return None
    seen = os.stat(full)
    if not stat.S_ISREG(seen.st_mode):
        return None
    return SeenFile(path, seen.st_size, seen.st_mtime_ns, seen.st_ino, stat.S_IMODE(seen.st_mode))


def _is_inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _is_text(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
