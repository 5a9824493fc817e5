"""Inputs that Xihe has itself: a repository there whose newest commit is the one that the run is pinned to."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from outlast.platforms.xihe.repository import Remote
from outlast.platforms.xihe.wire import FILE_CHARS, KEY_CHARS, OUTPUT_KEY, STATE_KEY, Wanted
from outlast.store.assets import Asset, read_asset

if TYPE_CHECKING:
    from outlast.model.spec import RunSpec

_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_OPTION = re.compile(rf"[A-Za-z_][A-Za-z0-9_]{{0,{KEY_CHARS - 1}}}")


def read_root(asset: Asset) -> tuple[str, str, str]:
    """Kind, owner and name of a repository."""
    kind, _, path = asset.root.partition(":")
    owner, _, name = path.partition("/")
    return kind, owner, name


def named_inputs(spec: RunSpec, remote: Remote) -> dict[Wanted, str]:
    """Inputs of an instance, each with the name of the run's input that it stands for.

    Xihe hands out the newest commit of a repository and no other. Where that is not the pinned one, or there is no
    such repository, the input travels with the state of the run instead.
    """
    found: dict[Wanted, str] = {}
    for number, given in enumerate(spec.inputs):
        asset = read_asset(given.asset) if given.asset else None
        if asset is None or not _fits(asset):
            continue
        kind, owner, name = read_root(asset)
        if remote.head(owner, name) == asset.revision:
            key = given.name if _OPTION.fullmatch(given.name) else f"input_{number}"
            key = f"input_{number}" if key in (STATE_KEY, OUTPUT_KEY) else key
            found[Wanted(key, kind, owner, name, asset.path)] = given.name
    return found


def _fits(asset: Asset) -> bool:
    is_input = asset.root.startswith(("model:", "dataset:"))
    return is_input and bool(_COMMIT.fullmatch(asset.revision)) and len(asset.path) <= FILE_CHARS
