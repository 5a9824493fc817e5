"""A packed place: a folder of tar shards and the index that says what is where in them.

    shard-000000.tar   ordinary tar archives, cut at files
    shard-000001.tar
    index.jsonl        written last: without it the place does not exist yet

The first line of the index describes the place, each further line one member, sorted by path.
"""

from __future__ import annotations

import json
import posixpath
import re
import tempfile
import zlib
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

from ..errors import Damaged, NotFound, RequestError
from .base import FILE, FOLDER, LINK, Item, Tree
from .names import join

INDEX_NAME = "index.jsonl"
FORMAT, VERSION = "outlast-packed", 1
SHARD_NAME = re.compile(r"^shard-[0-9]{6,}\.tar$")
_quote = json.encoder.encode_basestring_ascii
_LINES_AT_ONCE = 1000


class Shard(NamedTuple):
    """One archive of a packed place."""

    size_bytes: int
    crc32: str  # eight hexadecimal digits


class Member(NamedTuple):
    """One thing in a packed place."""

    path: str  # relative to the place
    shard: int
    offset: int  # of the data in the shard
    size_bytes: int
    modified_ns: int
    mode: int  # permission bits
    crc32: str  # eight hexadecimal digits; empty for a link or a folder
    kind: str = FILE
    target: str = ""  # of a link

    @property
    def sort_key(self) -> str:
        """Members stand in the order of this text; two with the same one cannot be in a place."""
        return self.path + "/" if self.kind == FOLDER else self.path


class Header(NamedTuple):
    """What the first line of an index says."""

    files: int
    members: int  # files, links and empty folders
    size_bytes: int  # of the data of all files
    shards: Tuple[Shard, ...]


def shard_name(number: int) -> str:
    return "shard-%06d.tar" % number


def header_line(header: Header) -> bytes:
    body = {"format": FORMAT, "version": VERSION, "files": header.files, "members": header.members,
            "bytes": header.size_bytes, "shards": [list(shard) for shard in header.shards]}  # fmt: skip
    return json.dumps(body, separators=(",", ":")).encode("ascii") + b"\n"


def file_line(path: str, shard: int, offset: int, size_bytes: int, modified_ns: int, mode: int, crc32: int) -> str:
    return '{"path":%s,"shard":%d,"offset":%d,"size":%d,"mtime":%d,"mode":%d,"crc32":"%08x"}\n' % (
        _quote(path), shard, offset, size_bytes, modified_ns, mode, crc32,
    )  # fmt: skip


def other_line(path: str, shard: int, modified_ns: int, mode: int, kind: str, target: str) -> str:
    """The line of a link or an empty folder."""
    return '{"path":%s,"shard":%d,"mtime":%d,"mode":%d,"kind":"%s","target":%s}\n' % (
        _quote(path), shard, modified_ns, mode, kind, _quote(target),
    )  # fmt: skip


class Packed:
    """A packed place in any tree. The index is read once for `header`, and streamed again for `members`."""

    def __init__(self, tree: Tree, path: str) -> None:
        self.tree = tree
        self.path = path
        self.index_path = join(path, INDEX_NAME)
        self.url = path if tree.url == "file://" else "%s/%s" % (tree.url, path.lstrip("/"))
        self.header = self._read_header()

    def shard_path(self, number: int) -> str:
        return join(self.path, shard_name(number))

    def members(self) -> Iterator[Member]:
        """Every member, in order, each checked: a path or a link that leaves the place is refused by name."""
        last, count = "", 0
        # Whoever asks may take an hour to unpack them: no server keeps a connection open for that long.
        with tempfile.TemporaryFile() as index:
            for piece in self.tree.read(self.index_path):
                index.write(piece)
            index.seek(0)
            index.readline()  # the header
            for member in _parsed(iter(index), self.url):
                self._check(member, last)
                last = member.sort_key
                count += 1
                yield member
        if count != self.header.members:
            raise Damaged("%s: the index names %d members of %d" % (self.url, count, self.header.members))

    def find(self, path: str) -> Member:
        """The member at that path; `NotFound` when there is none."""
        wanted = path.strip("/")
        for member in self.members():
            if member.path == wanted:
                return member
        raise NotFound("%s in %s" % (path, self.url))

    def read(self, member: Member) -> Iterator[bytes]:
        """The bytes of one file, read by range out of its shard; `Damaged` at the end when its crc32 is another."""
        if member.kind != FILE:
            raise RequestError("%s in %s is a %s, not a file" % (member.path, self.url, member.kind))
        crc, count = 0, 0
        if member.size_bytes:
            for piece in self.tree.read(self.shard_path(member.shard), member.offset, member.size_bytes):
                crc, count = zlib.crc32(piece, crc), count + len(piece)
                yield piece
        if count != member.size_bytes or "%08x" % crc != member.crc32:
            raise Damaged("%s in %s is not what its index says" % (member.path, self.url))

    def _check(self, member: Member, last: str) -> None:
        shards = self.header.shards
        if member.sort_key <= last:
            raise Damaged("%s: %r comes twice or out of order in the index" % (self.url, member.path))
        why = unsafe_path(member.path) or (unsafe_link(member.path, member.target) if member.kind == LINK else "")
        if why:
            raise RequestError("%s: refused member %r: %s" % (self.url, member.path, why))
        if member.kind not in (FILE, LINK, FOLDER):
            raise RequestError("%s: refused member %r: a %s" % (self.url, member.path, member.kind))
        if abs(member.modified_ns) >= 1 << 63:
            raise Damaged("%s: %r has an impossible time" % (self.url, member.path))
        if not 0 <= member.shard < len(shards) or min(member.offset, member.size_bytes) < 0:
            raise Damaged("%s: %r lies in no shard" % (self.url, member.path))
        if member.offset + member.size_bytes > shards[member.shard].size_bytes:
            raise Damaged("%s: %r reaches past the end of its shard" % (self.url, member.path))

    def _read_header(self) -> Header:
        try:
            return parse_header(first_line(self.tree, self.index_path), self.url)
        except NotFound:
            raise NotFound("%s (no packed place there)" % self.index_path) from None


def is_packed(tree: Tree, path: str) -> bool:
    """True when there is a finished packed place at that path."""
    found: Optional[Item] = tree.stat(join(path, INDEX_NAME))
    return found is not None and found.kind == FILE and tree.stat(join(path, shard_name(0))) is not None


def read_member(tree: Tree, place_path: str, member_path: str) -> Iterator[bytes]:
    """The bytes of one file of a packed place, read by range."""
    place = Packed(tree, place_path)
    return place.read(place.find(member_path))


def parse_header(line: bytes, url: str) -> Header:
    try:
        body: Dict[str, Any] = json.loads(line.decode("utf-8"))
        known = body["format"] == FORMAT
        version = int(body["version"])
        shards = tuple(Shard(int(size), str(crc)) for size, crc in body["shards"])
        header = Header(int(body["files"]), int(body["members"]), int(body["bytes"]), shards)
    except (ValueError, TypeError, KeyError):
        raise Damaged("%s: %s is not the index of a packed place" % (url, INDEX_NAME)) from None
    if not known:
        raise Damaged("%s: %s is not the index of a packed place" % (url, INDEX_NAME))
    if version > VERSION:
        raise RequestError("%s was packed by a newer version of outlast (format %d); upgrade this one" % (url, version))
    return header


def unsafe_path(path: str) -> str:
    """Why a member must not be written at that path; empty when it may."""
    if path.startswith("/"):
        return "an absolute path"
    if "\0" in path or any(part in ("", ".", "..") for part in path.split("/")):
        return "a path that does not stay in its folder"
    return ""


def unsafe_link(path: str, target: str) -> str:
    """Why a link must not be made; empty when it stays inside whatever else is in the place.

    `..` is allowed only at the front: behind a name that is itself a link it would climb from somewhere else.
    """
    if not target or "\0" in target or target.startswith("/"):
        return "a link to the absolute path %s" % target if target else "a link to nowhere"
    parts = [part for part in target.split("/") if part not in ("", ".")]
    climbs = 0
    while climbs < len(parts) and parts[climbs] == "..":
        climbs += 1
    if ".." in parts[climbs:] or climbs > posixpath.dirname(path).count("/") + bool(posixpath.dirname(path)):
        return "a link that leads out of its folder: %s" % target
    return ""


def first_line(tree: Tree, path: str) -> bytes:
    """The first line of a file, read no further than that."""
    start = b""
    for piece in tree.read(path):
        start += piece
        if b"\n" in piece:
            break
    return start.partition(b"\n")[0]


def _parsed(lines: Iterator[bytes], url: str) -> Iterator[Member]:
    """Parse many lines with one call: about a third of the time of one call for each."""
    batch: List[bytes] = []
    for line in lines:
        batch.append(line)
        if len(batch) == _LINES_AT_ONCE:
            yield from _members(batch, url)
            batch = []
    yield from _members(batch, url)


def _members(lines: List[bytes], url: str) -> List[Member]:
    try:
        bodies = json.loads(b"[" + b",".join(lines) + b"]")
        return [
            Member(str(body["path"]), int(body["shard"]), int(body.get("offset", 0)), int(body.get("size", 0)),
                   int(body["mtime"]), int(body["mode"]) & 0o777, str(body.get("crc32", "")),
                   str(body.get("kind", FILE)), str(body.get("target", "")))
            for body in bodies
        ]  # fmt: skip
    except (ValueError, TypeError, KeyError, AttributeError):
        raise Damaged("%s: %s cannot be read" % (url, INDEX_NAME)) from None
