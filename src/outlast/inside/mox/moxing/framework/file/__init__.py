"""The file functions of MoXing. Every one takes paths of this machine and `obs://` or `s3://` urls alike."""

from __future__ import annotations

from . import file_io
from .changing import make_dirs, mk_dir, remove, rename
from .copying import copy, copy_parallel
from .errors import (
    MoxFileException,
    MoxFileNameDuplicateException,
    MoxFileNotExistsException,
    MoxFileReadException,
    MoxFileRespException,
)
from .listing import glob, list_directory, scan_dir, walk
from .looking import exists, get_size, is_directory, stat
from .manifest import copy_manifest
from .opened import File, append, append_remote, read, write
from .places import set_auth
from .shifting import shift

__all__ = [
    "File",
    "MoxFileException",
    "MoxFileNameDuplicateException",
    "MoxFileNotExistsException",
    "MoxFileReadException",
    "MoxFileRespException",
    "append",
    "append_remote",
    "copy",
    "copy_manifest",
    "copy_parallel",
    "exists",
    "file_io",
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
