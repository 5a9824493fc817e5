"""A copied folder under its own name too, for scripts that expect `copy_parallel` to work like `cp -r`.

MoXing puts what is in `obs://b/free_train/data` directly into `/cache/`. One tutorial in wide use expects it in
`/cache/data`. The text alone tells when that can be meant: the destination ends with a slash and the source does not.
Then both kinds of script find their files, and one line says so.

On this machine the second tree consists of real folders and hard links: no loops, no bytes, and `os.walk`, `glob` and
`rmtree` treat it like any other. In a store it costs space, so it is made only where the script itself asked for that
name, or where an empty folder waits for it.
"""

from __future__ import annotations

import os
import posixpath
from typing import List, Sequence, Set

from outlast.inside.move.base import FILE, FOLDER
from outlast.inside.move.names import join

from .moving import Found, move_files
from .places import Spot, below, say, was_asked

_linked: Set[str] = set()  # folders made here: theirs may be replaced, files of others never
_told: Set[str] = set()


def also_by_own_name(source: Spot, moved: Sequence[Found], target: Spot) -> None:
    """Make a copied folder reachable under its own name where a script may look for it."""
    name = posixpath.basename(source.path)
    if not target.into or source.into or not name or name == posixpath.basename(target.path):
        return
    place = below(target.url, name)
    rule = "what is in %s is directly in %s, as MoXing documents it" % (source.url, target.url)
    if any(each.relative.partition("/")[0] == name for each in moved):
        _say_once("%s; %s came with it" % (rule, place))
    elif target.is_local:
        try:
            _link_all(target.path, name, moved)
            _say_once("%s; also in %s" % (rule, place))
        except OSError as error:  # the document's rule is kept; that is all that was promised
            _say_once("%s; not in %s: %s" % (rule, place, (error.strerror or str(error)).lower()))
    elif _is_expected(target, name):
        _copy_again(moved, target, name)
        _say_once("%s; also in %s, which this script asks for" % (rule, place))
    else:
        _say_once("%s; for %s write that as the destination" % (rule, place))


def _say_once(sentence: str) -> None:
    if sentence not in _told:
        _told.add(sentence)
        say(sentence)


def _link_all(folder: str, name: str, moved: Sequence[Found]) -> None:
    """The same files once more below `folder/name`. Other files that are there stay; `OSError` when it is a file."""
    second = os.path.join(folder, name)
    is_ours = second in _linked or not os.path.lexists(second) or not os.listdir(second)
    made: Set[str] = set()
    for each in moved:
        link = os.path.join(second, each.relative)
        parent = link if each.item.kind == FOLDER else os.path.dirname(link)
        if parent not in made:
            made.add(parent)
            os.makedirs(parent, exist_ok=True)
        if each.item.kind == FILE and (is_ours or not os.path.lexists(link)):
            _link(os.path.join(folder, each.relative), link)
    if is_ours:
        _linked.add(second)


def _link(path: str, link: str) -> None:
    if os.path.lexists(link):
        os.unlink(link)
    try:
        os.link(path, link)
    except OSError:  # a file system without hard links
        os.symlink(path, link)


def _is_expected(target: Spot, name: str) -> bool:
    place = target._replace(path=join(target.path, name))
    if was_asked(place.whole):
        return True
    there = target.tree.stat(place.path)
    return there is not None and there.kind == FOLDER and next(target.tree.children(place.path), None) is None


def _copy_again(moved: Sequence[Found], target: Spot, name: str) -> None:
    """Within the store: the bytes do not travel twice."""
    again: List[Found] = []
    for each in moved:
        item = each.item._replace(path=join(target.path, each.relative), digest="", tag="")
        again.append(Found(each.relative, item))
    move_files(target, again, target._replace(path=join(target.path, name)))
