"""Inputs that are named as in a hub, found in the folder that plays the repository."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from outlast.errors import SpecError
from outlast.operations.problems import guess_path
from outlast.store.assets import Asset


def find_in_repository(asset: Asset, where: str, repositories: Mapping[str, str]) -> Path:
    """The file or folder that an asset means on this machine; `SpecError` says what is missing."""
    if asset.root not in repositories:
        raise SpecError(
            f"{where}: {asset.root} lies in a hub, and no folder plays it here",
            hint=f"clone it, then: outlast store map {asset.root} ./FOLDER",
        )
    folder = Path(repositories[asset.root])
    if asset.revision:
        raise SpecError(
            f"{where}: the folder {folder} plays {asset.root} as it is, whatever its revision",
            hint=f"check out {asset.revision} there, and leave @{asset.revision} out",
        )
    path = folder / asset.path
    if ".." in PurePosixPath(asset.path).parts:
        raise SpecError(f"{where}: {asset.path} leads out of {asset.root}")
    if not path.exists():
        near = guess_path(asset.path, path) if asset.path else ""
        raise SpecError(f"{where}: there is no {asset.path or 'folder'} in {folder}, which plays {asset.root}{near}")
    return path
