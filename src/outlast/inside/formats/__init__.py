"""Is a checkpoint file whole? Answered from its first and last bytes, for the formats that trainings write.

Content decides first, the extension second. Nothing is ever unpickled, and of a large file only headers,
directories and the end are read.
"""

from __future__ import annotations

import os
from typing import BinaryIO, Callable, Optional

from .archive import check_gzip, check_json, check_zip
from .base import Verdict, torn, unknown
from .pickled import check_pickle
from .tensor import check_hdf5, check_npy, check_protobuf, check_safetensors, looks_like_safetensors
from .tensorflow import check_index, check_shard, check_state, is_index, is_shard, is_state

__all__ = ["Verdict", "check_file"]

_HEAD_BYTES = 32
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_HDF5 = b"\x89HDF\r\n\x1a\n"
_NPY = b"\x93NUMPY"
_GZIP = b"\x1f\x8b\x08"
_PICKLE = b"\x80"

# What an extension promises: the kind, and the beginnings that a file of that kind can have.
_PROMISES = {
    ".npz": ("zip", _ZIP),
    ".keras": ("zip", _ZIP),
    ".npy": ("npy", (_NPY,)),
    ".gz": ("gzip", (_GZIP,)),
    ".h5": ("hdf5", (_HDF5,)),
    ".hdf5": ("hdf5", (_HDF5,)),
    ".pt": ("torch", (*_ZIP, _PICKLE)),
    ".pth": ("torch", (*_ZIP, _PICKLE)),
    ".ckpt": ("checkpoint", (*_ZIP, _PICKLE, _HDF5)),
    ".bin": ("binary", (*_ZIP, _PICKLE)),
    ".pkl": ("pickle", (_PICKLE, *_ZIP)),
    ".pickle": ("pickle", (_PICKLE, *_ZIP)),
    ".joblib": ("pickle", (_PICKLE, _GZIP)),
    ".pdparams": ("pickle", (_PICKLE, *_ZIP)),
    ".pdopt": ("pickle", (_PICKLE, *_ZIP)),
    ".safetensors": ("safetensors", ()),
    ".json": ("json", ()),
    ".index": ("tensorflow-index", ()),
}
# A whole file with one of these extensions begins in a known way; the others have spellings we do not know.
_STRICT = (".npz", ".keras", ".npy", ".gz")
# Zeros at the start are a file whose space was reserved before its bytes were written.
_NEVER_ZEROS = (".pt", ".pth", ".ckpt", ".pkl", ".pickle", ".joblib", ".pdparams", ".pdopt")


def check_file(path: str) -> Verdict:
    """Whether the file at `path` is whole.

    A file that was cut short is never `ok=True`. `ok=None` means that nothing is known against it: its kind is
    unknown, or its form does not say where it should end.
    """
    try:
        with open(path, "rb") as file:
            return _check(path, file, os.fstat(file.fileno()).st_size)
    except OSError as error:
        return torn("missing", error.strerror or "cannot be read")


def _check(path: str, file: BinaryIO, size: int) -> Verdict:
    folder, name = os.path.split(path)
    extension = os.path.splitext(name)[1].lower()
    if is_shard(name):
        return check_shard(folder, name)
    if size == 0:
        return torn(_PROMISES[extension][0], "is empty") if extension in _PROMISES else unknown("empty")
    head = file.read(_HEAD_BYTES)
    check = _by_content(head, extension, size)
    if check is not None:
        return check(file, size)
    if is_state(name, head):
        return check_state(folder, file, size)
    if is_index(folder, name, file, size):
        return check_index(folder, name, file, size)
    return _by_promise(extension, head)


def _by_content(head: bytes, extension: str, size: int) -> Optional[Callable[[BinaryIO, int], Verdict]]:
    if head.startswith(_ZIP):
        return check_zip
    if head.startswith(_NPY):
        return check_npy
    if head.startswith(_HDF5) or extension in (".h5", ".hdf5"):
        return check_hdf5
    if head.startswith(_GZIP):
        return check_gzip
    if extension == ".json":
        return check_json
    if extension == ".safetensors" or looks_like_safetensors(head, size):
        return check_safetensors
    if head.startswith(_PICKLE) and head[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05"):
        return check_pickle
    # MindSpore: a protobuf message whose every field is number 1 with a length.
    if extension == ".ckpt" and head.startswith(b"\x0a"):
        return check_protobuf
    return None


def _by_promise(extension: str, head: bytes) -> Verdict:
    kind, beginnings = _PROMISES.get(extension, ("unknown", ()))
    if any(len(head) < len(beginning) and beginning.startswith(head) for beginning in beginnings):
        return torn(kind, "ends within its first bytes")
    if extension in _STRICT:
        return torn(kind, "does not begin like a %s file" % extension)
    if extension in _NEVER_ZEROS and not head.strip(b"\0"):
        return torn(kind, "begins with zeros")
    if extension in _NEVER_ZEROS and head == _PICKLE:
        return torn(kind, "ends within its first bytes")
    return unknown(kind)
