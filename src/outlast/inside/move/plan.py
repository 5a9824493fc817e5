"""From sources and a destination to what lands where, checked completely before anything moves.

The one slash rule, decided by the text alone: a slash after the destination means "into this folder", a slash after a
source means "what is in it". Whether the destination exists changes nothing.
"""

from __future__ import annotations

import os
from typing import Dict, Iterable, Iterator, List, NamedTuple, Sequence, Set, Tuple

from ..errors import NotFound, RequestError
from .address import BUCKETS, Address
from .base import FILE, FOLDER, USUAL, Item, Moving, Tree
from .names import clashes, complain, is_below, join, relative_to, shown

COMPLAINTS_SHOWN = 10


class Place(NamedTuple):
    """An address and the tree it lies in."""

    address: Address
    tree: Tree

    @property
    def is_local(self) -> bool:
        return self.address.scheme == "file"

    def real(self, path: str) -> str:
        """A path of the same tree behind all links."""
        return os.path.realpath(path) if self.is_local else path

    def show(self, path: str) -> str:
        """Any path of the same tree, as a user would write it."""
        return shown(str(self.address._replace(path=path, into=False)))


class Options(NamedTuple):
    """How a copy is done; every field may be left alone."""

    force: bool = False  # copy what is there already too
    checksum: bool = False  # decide by checksum what is there already
    delete: bool = False  # afterwards remove what the source does not have
    single: bool = False  # the sources are files, also where a folder has the same name
    how: Moving = USUAL


class Step(NamedTuple):
    """One thing that belongs at the destination."""

    item: Item  # as it is at the source
    origin: Place  # the source it comes from
    target: str  # its path in the destination's tree


class Plan(NamedTuple):
    """What a copy will do. Nothing of it has been done."""

    destination: Place
    landing: Address  # the file, or the folder, that will be the copy
    options: Options
    steps: List[Step]  # what has to be moved or made
    skipped: List[Step]  # what is there already
    extras: List[Item]  # what `delete` removes afterwards
    notices: List[str]

    @property
    def size_bytes(self) -> int:
        return sum(step.item.size_bytes for step in self.steps)

    @property
    def file_count(self) -> int:
        return sum(1 for step in self.steps if step.item.kind == FILE)


class Found(NamedTuple):
    """What a source turned out to be."""

    source: Place
    is_folder: bool
    items: List[Item]


def land(source: Address, destination: Address) -> str:
    """The slash rule: the path that a source's copy gets."""
    if source.into or not destination.into:
        return destination.path
    return join(destination.path, source.name)


def identify(source: Place, single: bool) -> Item:
    """The file, link or folder that a source names.

    `NotFound` when there is nothing, `RequestError` when the name has two meanings or the slash is wrong.
    """
    address, tree = source
    if not address.path:
        return Item("", 0, 0, FOLDER)
    item = tree.stat(address.path)
    if item is None:
        raise NotFound(str(address))
    if item.kind != FOLDER and address.into:
        if address.scheme not in BUCKETS or next(tree.children(address.path), None) is None:
            raise RequestError("%s is a file; write it without the slash" % str(address).rstrip("/"))
        return Item(address.path, 0, 0, FOLDER)
    if item.kind == FILE and address.scheme in BUCKETS and not single and next(tree.children(item.path), None):
        raise RequestError(
            "%s is a file and a folder; write %s/ for what is in the folder, or --single for the file"
            % (address, address)
        )
    return item


def check_ends(sources: Sequence[Place], destination: Place) -> None:
    """What can be told from the words alone, before anything is looked at."""
    if len(sources) > 1 and not destination.address.into:
        raise RequestError(
            "%d sources need a folder to go into; write it with a slash: %s/" % (len(sources), destination.address)
        )


def lay_out(found: Sequence[Found], destination: Place) -> List[Step]:
    """Where everything lands; `RequestError` names whatever cannot."""
    steps: List[Step] = []
    for one in found:
        base = land(one.source.address, destination.address)
        _refuse_overlap(one, base, destination)
        # What is in a source's folder follows the text of its items, whatever links stand above them.
        for item in one.items:
            relative = relative_to(item.path, one.source.address.path) if one.is_folder else ""
            steps.append(Step(item, one.source, join(base, relative) if relative else base))
    steps = [step for step in steps if step.target]  # the empty root of a bucket is there already
    refuse(_bad_names(steps, destination))
    return steps


def _refuse_overlap(found: Found, base: str, destination: Place) -> None:
    if found.source.address.root != destination.address.root:
        return
    source, target = found.source.real(found.source.address.path), destination.real(base)
    if source == target:
        raise RequestError("%s would be copied onto itself" % (found.source.address,))
    if found.is_folder and is_below(target, source):
        raise RequestError("%s cannot be copied into itself, to %s" % (found.source.address, destination.show(base)))


def _bad_names(steps: Sequence[Step], destination: Place) -> Iterator[Tuple[str, str]]:
    scheme, root = destination.address.scheme, destination.address.path
    kinds: Dict[str, str] = {}
    for step in steps:
        # What the user wrote is theirs; what a source adds to it is checked.
        added = relative_to(step.target, root) if is_below(step.target, root) else step.target.rpartition("/")[2]
        reason = complain(added, step.target, scheme)
        # In a bucket a key and the marker of a folder may share their name.
        key = step.target + "/" if step.item.kind == FOLDER and scheme in BUCKETS else step.target
        if reason:
            yield step.origin.show(step.item.path), reason
        elif key in kinds and not step.item.kind == kinds[key] == FOLDER:
            yield step.origin.show(step.item.path), "something else lands at %s too" % destination.show(step.target)
        kinds[key] = step.item.kind
    if scheme not in BUCKETS:
        for path, below in clashes(kinds):
            yield destination.show(path), "it would be a file and the folder of %s" % shown(below)


def refuse(complaints: Iterable[Tuple[str, str]]) -> None:
    """Raise when there is something to complain about, naming the first few."""
    found = list(complaints)
    if not found:
        return
    lines = ["%s: %s" % each for each in found[:COMPLAINTS_SHOWN]]
    if len(found) > COMPLAINTS_SHOWN:
        lines.append("and %d more" % (len(found) - COMPLAINTS_SHOWN))
    if len(lines) == 1:
        raise RequestError("cannot copy %s; nothing was moved" % lines[0])
    raise RequestError("cannot copy %d of these; nothing was moved\n%s" % (len(found), "\n".join(lines)))


def extras_of(present: Sequence[Item], steps: Sequence[Step]) -> List[Item]:
    """What is at the destination and not among the steps. A folder that will hold something is no extra."""
    wanted = _with_folders([step.target for step in steps])
    return [item for item in present if item.path not in wanted]


def _with_folders(paths: Sequence[str]) -> Set[str]:
    """The paths and every folder above them."""
    found = set(paths)
    for path in paths:
        parent = path.rpartition("/")[0]
        while parent and parent not in found:
            found.add(parent)
            parent = parent.rpartition("/")[0]
    return found


def emptied(extras: Sequence[Item], kept: Sequence[str], root: str) -> List[str]:
    """The folders below `root` that hold nothing but extras, the deepest first."""
    needed = _with_folders(kept)
    found = set()
    for item in extras:
        parent = item.path.rpartition("/")[0]
        while is_below(parent, root) and parent not in needed:
            found.add(parent)
            parent = parent.rpartition("/")[0]
    return sorted(found, key=lambda path: -path.count("/"))


def would_pay(steps: Sequence[Step]) -> bool:
    """True when these are so many small files that one stream of shards is several times faster."""
    files = [step.item.size_bytes for step in steps if step.item.kind == FILE]
    return len(files) > 2000 and sum(files) < len(files) * (64 << 10)
