"""Cutting what is found into shards, and building one of them: here, or in a process beside this one."""

from __future__ import annotations

import os
from typing import Any, Callable, Iterable, Iterator, List, NamedTuple, Tuple

from ..beside import serve_hand
from .base import FILE
from .packed import Shard
from .scanning import Found
from .shardfile import BUFFER_BYTES, ShardWriter
from .tarshard import END, head_bytes, member_head, padding

MODULE = __name__
#: At most so many in a shard, however small they are: their names are held in memory, for several shards at once.
MOST_MEMBERS = 16384
_FIRST_BYTES, _SAME_SIZE = 8 << 20, 8


class Cut(NamedTuple):
    """What a shard will hold."""

    number: int
    members: List[Found]
    is_large: bool = False  # one file that does not fit into an ordinary shard


class Built(NamedTuple):
    """A shard, and for each member the offset of its data and its crc32."""

    shard: Shard
    places: List[Tuple[int, int]]


def growing(most_bytes: int) -> Callable[[int], int]:
    """Sizes of shards by their numbers: small at first, so that all who build or unpack them soon have something to
    do and end together; of full size later, so that a large set does not become thousands of them."""
    return lambda number: min(most_bytes, _FIRST_BYTES << number // _SAME_SIZE)


def cut(found: Iterable[Found], most_bytes: int, sizes: Callable[[int], int]) -> Iterator[Cut]:
    """Shards in the order of what is found, cut before the member that would make one too long; at least one.

    A member that fits into `most_bytes` shares its shard with others, or has one as long as itself.
    """
    limit_bytes = most_bytes - len(END)
    members: List[Found] = []
    number = size_bytes = 0
    for each in found:
        need_bytes = head_bytes(*_head_words(each)) + each.size_bytes + padding(each.size_bytes)
        end_bytes = size_bytes + need_bytes + len(END)
        if members and (end_bytes > sizes(number) or len(members) == MOST_MEMBERS):
            yield Cut(number, members)
            number, members, size_bytes = number + 1, [], 0
        if need_bytes > limit_bytes and each.kind == FILE:
            yield Cut(number, [each], is_large=True)
            number += 1
        else:
            members.append(each)
            size_bytes += need_bytes
    if members or not number:
        yield Cut(number, members)


def head_of(found: Found) -> bytes:
    return member_head(*_head_words(found))


def _head_words(found: Found) -> Tuple[str, str, int, int, int, str]:
    return found.path, found.kind, found.size_bytes, found.modified_ns // 10**9, found.mode, found.target


def build(path: str, members: List[Found], buffer: bytearray) -> Built:
    """Write a shard; no file is left when that fails."""
    writer = ShardWriter(path, buffer)
    try:
        places = [writer.add(found, head_of(found)) for found in members]
        return Built(writer.finish(), places)
    except BaseException:
        writer.discard()
        raise


def _make(folder: str) -> Callable[[Any], Built]:
    buffer = bytearray(BUFFER_BYTES)

    def do(body: Any) -> Built:
        name, members = body
        return build(os.path.join(folder, name), [Found(*fields) for fields in members], buffer)

    return do


def main() -> None:
    serve_hand(_make)
