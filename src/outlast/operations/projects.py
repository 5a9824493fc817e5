"""The folders that a project needs in a store, as the tutorials of ModelArts lay them out."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

from outlast.errors import SpecError
from outlast.inside.move.address import BUCKETS, Address
from outlast.inside.move.base import FILE, Tree
from outlast.inside.move.mapped import folder_playing
from outlast.inside.move.trees import open_tree
from outlast.operations.buckets import access_to, open_bucket, read_address
from outlast.settings import Settings
from outlast.store.maps import load_maps
from outlast.store.registry import outside_errors

#: name -> what belongs there
FOLDERS = {
    "code": "scripts",
    "data": "what is trained on",
    "output": "results",
    "log": "logs of the platform",
    "checkpoints": "what a training continues from",
}


@dataclass(frozen=True)
class ProjectFolder:
    """One folder of a project."""

    name: str
    purpose: str
    address: str
    form: str  # as the forms of ModelArts want it written; empty outside of buckets
    existed: bool


@dataclass(frozen=True)
class Project:
    """A place for a project: what is there and what is, or would be, made."""

    address: str
    new_bucket: str  # the bucket that is, or would be, made; empty when it exists
    region: str
    folders: tuple[ProjectFolder, ...]

    @property
    def is_complete(self) -> bool:
        """Whether everything was there already."""
        return not self.new_bucket and all(folder.existed for folder in self.folders)


def init_store(settings: Settings, text: str, *, dry_run: bool = False) -> Project:
    """Make the folders of a project at an address, and its bucket if that is missing. What exists is left alone."""
    address = read_address(text)
    maps = load_maps(settings.home)
    is_mapped = folder_playing(address, maps) is not None
    access = None if is_mapped else access_to(settings, address)
    with outside_errors():
        new_bucket = address.scheme in BUCKETS and not is_mapped and _is_missing(settings, address, make=not dry_run)
        tree = open_tree(address, access, maps)
        folders = tuple(_folder(tree, address, name, is_new=new_bucket, make=not dry_run) for name in FOLDERS)
    return Project(str(address), address.root if new_bucket else "", access.region if access else "", folders)


def _is_missing(settings: Settings, address: Address, make: bool) -> bool:
    with contextlib.closing(open_bucket(settings, address)) as client:
        if client.head_bucket():
            return False
        if make:
            client.make_bucket()
        return True


def _folder(tree: Tree, address: Address, name: str, is_new: bool, make: bool) -> ProjectFolder:
    place = address.child(name)
    found = None if is_new else tree.stat(place.path)
    if found is not None and found.kind == FILE:
        raise SpecError(f"{place} is a file; a folder is needed there", hint="choose another place for the project")
    if found is None and make:
        tree.make_folder(place.path)
    form = f"/{address.authority}/{place.path}/" if address.scheme in BUCKETS else ""
    return ProjectFolder(name, FOLDERS[name], f"{place}/", form, found is not None)
