"""The name under which older scripts import the same functions, and the knobs that some of them turn."""

from __future__ import annotations

from .changing import make_dirs, mk_dir, remove, rename
from .copying import copy, copy_parallel
from .listing import glob, list_directory, scan_dir, walk
from .looking import exists, get_size, is_directory, stat
from .manifest import copy_manifest
from .opened import File, append, append_remote, read, write
from .places import set_auth
from .shifting import shift

__all__ = [
    "File",
    "append",
    "append_remote",
    "copy",
    "copy_manifest",
    "copy_parallel",
    "exists",
    "get_size",
    "glob",
    "is_directory",
    "list_directory",
    "make_dirs",
    "mk_dir",
    "read",
    "remove",
    "rename",
    "scan_dir",
    "set_auth",
    "shift",
    "stat",
    "walk",
    "write",
]

# Scripts assign these to get around limits that are not here: files of any size go in parts of a fitting size.
_LARGE_FILE_METHOD = 1
_LARGE_FILE_TASK_NUM = 4
_NUMBER_OF_PROCESSES = 1
