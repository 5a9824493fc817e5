"""`shift('os', 'mox')`: Python's own file functions take urls as well."""

from __future__ import annotations

import builtins
import functools
import glob
import os
import shutil
from typing import Any, Callable, Dict, List, NamedTuple, Tuple

from . import changing, copying, listing, looking, opened
from .places import is_remote

Function = Callable[..., Any]


class _Patch(NamedTuple):
    module: Any
    name: str
    for_urls: Function


def _copytree(source: Any, target: Any, *_: Any, **__: Any) -> Any:
    copying.copy_parallel(source if str(source).endswith("/") else "%s/" % source, target)
    return target


def _copyfile(source: Any, target: Any, *_: Any, **__: Any) -> Any:
    copying.copy(source, target)
    return target


def _open(url: str, mode: str = "r", buffering: int = -1, encoding: Any = None, *_: Any, **__: Any) -> opened.File:
    return opened.File(url, mode, encoding)


#: What MoXing documents. A call goes to the function of this module when it is about a url, otherwise to the original.
_PATCHES: List[_Patch] = [
    _Patch(glob, "glob", lambda url, recursive=False, **_: listing.glob(url, recursive)),
    _Patch(os, "listdir", listing.list_directory),
    _Patch(os, "makedirs", changing.make_dirs),
    _Patch(os, "mkdir", changing.mk_dir),
    _Patch(os, "remove", lambda url, **_: changing.remove(url)),
    _Patch(os, "rename", lambda source, target, **_: changing.rename(source, target)),
    _Patch(os, "scandir", listing.scan_dir),
    _Patch(os, "stat", lambda url, **_: looking.stat(url)),
    _Patch(os, "walk", listing.walk),
    _Patch(os.path, "exists", looking.exists),
    _Patch(os.path, "getsize", looking.get_size),
    _Patch(os.path, "isdir", looking.is_directory),
    _Patch(builtins, "open", _open),
    _Patch(shutil, "copyfile", _copyfile),
    _Patch(shutil, "copytree", _copytree),
    _Patch(shutil, "rmtree", lambda url, *_, **__: changing.remove(url, recursive=True)),
]
#: What the originals call the argument that may be a url, a source before its target.
_PATH_WORDS = ("path", "name", "file", "filename", "pathname", "top", "src", "dst")
_originals: Dict[Tuple[Any, str], Function] = {}


def shift(src: str, dst: str) -> None:
    """`shift('os', 'mox')` lets Python's file functions take urls; `shift('mox', 'os')` takes that back."""
    if (src, dst) == ("os", "mox"):
        for patch in _PATCHES:
            _originals.setdefault((patch.module, patch.name), getattr(patch.module, patch.name))
            setattr(patch.module, patch.name, _either(_originals[patch.module, patch.name], patch.for_urls))
    elif (src, dst) == ("mox", "os"):
        for (module, name), original in _originals.items():
            setattr(module, name, original)
    else:
        raise ValueError("shift takes 'os' and 'mox', not %r and %r" % (src, dst))


def _either(original: Function, for_urls: Function) -> Function:
    @functools.wraps(original)
    def call(*args: Any, **words: Any) -> Any:
        named = [words[name] for name in _PATH_WORDS if name in words]
        # The first two are a source and a target where there are two.
        if not any(map(is_remote, (*args[:2], *named))):
            return original(*args, **words)
        rest = {name: value for name, value in words.items() if name not in _PATH_WORDS}
        return for_urls(*args, *named, **rest)

    return call


class cache:  # noqa: N801 - scripts call it as a function
    """Let checkpoints and summaries that Python writes to urls pass through a local file; also for a `with`.

    TensorFlow's own writers are no Python functions: give those a local folder and copy it.
    """

    def __init__(self, *_: Any, **__: Any) -> None:
        shift("os", "mox")

    def __enter__(self) -> cache:
        return self

    def __exit__(self, *_: object) -> None:
        shift("mox", "os")
