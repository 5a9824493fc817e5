"""What a result file holds, by name: arrays and values, so that a difference can be named and not only noticed.

Reads NumPy, torch, safetensors, JSON and CSV files with the standard library alone, and never runs what a file says.
"""

from __future__ import annotations

import ast
import collections
import csv
import io
import json
import math
import pickle
import struct
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# struct codes by the last two characters of a NumPy type, and by the names that safetensors and torch use.
_CODES = {
    "f8": "d", "f4": "f", "f2": "e", "i8": "q", "i4": "i", "i2": "h", "i1": "b", "u8": "Q", "u4": "I", "u2": "H",
    "u1": "B", "b1": "?",
    "F64": "d", "F32": "f", "F16": "e", "I64": "q", "I32": "i", "I16": "h", "I8": "b", "U8": "B", "BOOL": "?",
    "DoubleStorage": "d", "FloatStorage": "f", "HalfStorage": "e", "LongStorage": "q", "IntStorage": "i",
    "ShortStorage": "h", "CharStorage": "b", "ByteStorage": "B", "BoolStorage": "?",
}  # fmt: skip
_BFLOAT = ("BF16", "BFloat16Storage")


@dataclass(frozen=True)
class Array:
    """Numbers as they lie in the file."""

    kind: str
    shape: tuple[int, ...]
    data: bytes
    big_endian: bool = False

    @property
    def width(self) -> int:
        """Bytes of one element; 0 when the kind is not known."""
        if self.kind in _BFLOAT:
            return 2
        return struct.calcsize("=" + _CODES[self.kind]) if self.kind in _CODES else 0

    def value(self, index: int) -> float | None:
        """One element by its place in the data; None when the kind is not known."""
        width = self.width
        if not width:
            return None
        piece = self.data[index * width : (index + 1) * width]
        if self.kind in _BFLOAT:
            return float(struct.unpack("<f", b"\0\0" + piece)[0])
        return struct.unpack((">" if self.big_endian else "<") + _CODES[self.kind], piece)[0]  # type: ignore[no-any-return]


Entry = Array | float | int | bool | str | None


@dataclass(frozen=True)
class Contents:
    """The names in a file, in its own order, and how to read one of them."""

    names: tuple[str, ...]
    read: Callable[[str], Entry]
    close: Callable[[], None] = lambda: None


def open_contents(path: Path) -> Contents | None:
    """What a file holds, or None when only its bytes can be compared. Close it after use."""
    try:
        with path.open("rb") as file:
            head = file.read(8)
        if head[:6] == b"\x93NUMPY":
            array = _npy(path.read_bytes())
            return Contents(("",), lambda name: array)
        if head[:2] == b"PK":
            return _zip(path)
        return _by_suffix(path)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError, SyntaxError, RecursionError):
        return None
    except (struct.error, zipfile.BadZipFile, pickle.UnpicklingError, EOFError):
        return None


def _by_suffix(path: Path) -> Contents | None:
    if path.suffix == ".safetensors":
        return _safetensors(path)
    if path.suffix == ".json":
        return _flat(_leaves(json.loads(path.read_text(encoding="utf-8"))))
    if path.suffix in (".csv", ".tsv"):
        return _csv(path)
    return None


def _flat(pairs: Iterator[tuple[str, Entry]]) -> Contents:
    entries = dict(pairs)
    return Contents(tuple(entries), entries.__getitem__)


def _npy(data: bytes) -> Array:
    if data[:6] != b"\x93NUMPY":
        raise ValueError("not a NumPy array")
    wide = data[6] >= 2
    (length,) = struct.unpack("<I", data[8:12]) if wide else struct.unpack("<H", data[8:10])
    start = 12 if wide else 10
    header = ast.literal_eval(data[start : start + length].decode("utf-8" if data[6] >= 3 else "latin-1"))
    descr = header["descr"]
    kind = descr[1:] if isinstance(descr, str) else str(descr)
    return Array(kind, tuple(header["shape"]), data[start + length :], str(descr).startswith(">"))


def _zip(path: Path) -> Contents:
    archive = zipfile.ZipFile(path)
    try:
        return _members(archive)
    except BaseException:
        archive.close()
        raise


def _members(archive: zipfile.ZipFile) -> Contents:
    names = archive.namelist()
    if names and all(name.endswith(".npy") for name in names):
        arrays = tuple(name[:-4] for name in names)
        return Contents(arrays, lambda name: _npy(archive.read(f"{name}.npy")), archive.close)
    if any(name.rpartition("/")[2] == "data.pkl" for name in names):
        return _torch(archive)
    return Contents(tuple(names), lambda name: _bytes(archive.read(name)), archive.close)


def _bytes(data: bytes) -> Array:
    return Array("u1", (len(data),), data)


def _safetensors(path: Path) -> Contents:
    with path.open("rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        if length > path.stat().st_size:
            raise ValueError("the header is longer than the file")
        header = json.loads(file.read(length))
    tensors = {name: facts for name, facts in header.items() if name != "__metadata__"}

    def read(name: str) -> Entry:
        start, end = tensors[name]["data_offsets"]
        with path.open("rb") as file:
            file.seek(8 + length + start)
            return Array(tensors[name]["dtype"], tuple(tensors[name]["shape"]), file.read(end - start))

    return Contents(tuple(sorted(tensors, key=lambda name: tensors[name]["data_offsets"])), read)


def _csv(path: Path) -> Contents:
    text = path.read_text(encoding="utf-8")
    rows = list(csv.reader(io.StringIO(text), delimiter="\t" if path.suffix == ".tsv" else ","))
    header = rows[0] if rows else []

    def cells() -> Iterator[tuple[str, Entry]]:
        for line, row in enumerate(rows[1:], start=2):
            for column, cell in enumerate(row):
                title = header[column] if column < len(header) else f"column {column + 1}"
                yield f"line {line}, {title}", _number(cell)

    return _flat(cells())


def _number(cell: str) -> Entry:
    try:
        return float(cell)
    except ValueError:
        return cell


def _leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Every value of a tree with its dotted path."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, f"{name}.{key}" if name else str(key))
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            yield from _leaves(inner, f"{name}[{index}]")
    elif isinstance(value, set | frozenset):
        yield name, str(sorted(map(repr, value)))
    elif isinstance(value, _Thing):
        yield from _leaves(value.parts, name)
    else:
        yield name, value


# -- torch -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Storage:
    kind: str
    key: str


@dataclass(frozen=True)
class _Tensor:
    storage: _Storage
    offset: int
    shape: tuple[int, ...]


class _Thing:
    """Stands for any other object of the file's pickle: only what it was made from is kept."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.parts: list[Any] = [*args, *kwargs.items()]

    def __setstate__(self, state: Any) -> None:
        self.parts.append(state)


def _rebuild(storage: Any, offset: Any, shape: Any, *rest: Any) -> Any:
    return _Tensor(storage, offset, tuple(shape)) if isinstance(storage, _Storage) else None


class _Reader(pickle.Unpickler):
    """Reads the structure of a torch file. Nothing is imported and nothing of the file's choosing is called."""

    def find_class(self, module: str, name: str) -> Any:
        if name.endswith("Storage"):
            return type(name, (), {})
        if (module, name) == ("collections", "OrderedDict"):
            return collections.OrderedDict
        if module == "torch._utils" and name.startswith("_rebuild_tensor"):
            return _rebuild
        if module == "torch._utils" and name == "_rebuild_parameter":
            return lambda tensor, *rest: tensor
        return _Thing

    def persistent_load(self, pid: Any) -> Any:
        _, kind, key, *_ = pid
        return _Storage(getattr(kind, "__name__", str(kind)), str(key))


def _torch(archive: zipfile.ZipFile) -> Contents:
    index = next(name for name in archive.namelist() if name.rpartition("/")[2] == "data.pkl")
    prefix = index[: -len("data.pkl")]
    tree = dict(_leaves(_Reader(io.BytesIO(archive.read(index))).load()))

    def read(name: str) -> Entry:
        leaf = tree[name]
        if not isinstance(leaf, _Tensor):
            return _plain(leaf)
        data = archive.read(f"{prefix}data/{leaf.storage.key}")
        array = Array(leaf.storage.kind, leaf.shape, data)
        start = leaf.offset * array.width
        size = math.prod(leaf.shape) * array.width
        # A transposed view is compared as it is stored; an unknown kind by its whole storage.
        return Array(leaf.storage.kind, leaf.shape, data[start : start + size]) if array.width else array

    return Contents(tuple(tree), read, archive.close)


def _plain(leaf: Any) -> Entry:
    if isinstance(leaf, bytes | bytearray):
        return _bytes(bytes(leaf))
    if leaf is None or isinstance(leaf, bool | int | float | str):
        return leaf
    return leaf.__name__ if isinstance(leaf, type) else repr(leaf)
