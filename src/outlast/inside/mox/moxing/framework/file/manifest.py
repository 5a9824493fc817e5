"""Data sets that ModelArts describes in a manifest: one JSON document a line, each naming a file of OBS."""

from __future__ import annotations

import json
import os
import posixpath
from typing import Dict, Iterator, List, Tuple

from .copying import copy, copy_parallel
from .errors import MoxFileNotExistsException
from .listing import list_directory
from .looking import is_directory
from .opened import read
from .places import Url, below


def copy_manifest(url: Url, dst: Url) -> None:
    """Copy a manifest and every file it names, annotations too, into a folder.

    The files keep their place below the folder that they have in common. A folder stands for its only manifest.
    """
    manifest, target = _manifest_of(os.fspath(url)), os.fspath(dst)
    sources = sorted(set(_named(read(manifest))))
    common = posixpath.commonpath([posixpath.dirname(_plain(source)) for source in sources]) if sources else ""
    for folder, names in _by_folder(sources):
        relative = posixpath.relpath(_plain(folder), common)
        place = target if relative == "." else below(target, relative)
        copy_parallel(folder + "/", place, file_list=names)
    copy(manifest, below(target, posixpath.basename(manifest)))


def _manifest_of(url: str) -> str:
    if not is_directory(url):
        return url
    names = [name for name in list_directory(url, skip_dir=True) if name.endswith(".manifest")]
    if len(names) != 1:
        raise MoxFileNotExistsException(below(url, "*.manifest"))
    return below(url, names[0])


def _named(text: str) -> Iterator[str]:
    for line in filter(str.strip, text.splitlines()):
        sample = json.loads(line)
        source = sample.get("source", "")
        if "://" in source and not source.startswith("content://"):  # text samples stand in the manifest itself
            yield source
        for annotation in sample.get("annotation", ()):
            if annotation.get("annotation-loc"):
                yield annotation["annotation-loc"]


def _plain(url: str) -> str:
    """A url as a path, whichever of the two schemes it is written with."""
    return "/" + url.partition("://")[2]


def _by_folder(sources: List[str]) -> List[Tuple[str, List[str]]]:
    folders: Dict[str, List[str]] = {}
    for source in sources:
        folder, _, name = source.rpartition("/")
        folders.setdefault(folder, []).append(name)
    return sorted(folders.items())
