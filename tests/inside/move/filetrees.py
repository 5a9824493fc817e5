"""Short words for trees of files: make one, read one, copy one."""

from __future__ import annotations

import os
from pathlib import Path

from outlast.inside.move.address import parse
from outlast.inside.move.engine import Listener, copy
from outlast.inside.move.local import LocalTree
from outlast.inside.move.plan import Options, Place


def fill(folder, files):
    """Make files (name -> text), folders (None) and links (`-> target`)."""
    folder = Path(folder)
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if text is None:
            path.mkdir()
        elif isinstance(text, str) and text.startswith("-> "):
            path.symlink_to(text[3:])
        else:
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def contents(folder):
    """The same form back."""
    found = {}
    for top, folders, files in os.walk(folder):
        for path in [Path(top, name) for name in [*folders, *files]]:
            relative = str(path.relative_to(folder))
            if path.is_symlink():
                found[relative] = f"-> {path.readlink()}"
            elif not path.is_dir():
                found[relative] = path.read_bytes()
            elif not os.listdir(path):
                found[relative] = None
    return found


class Mover:
    """Copies between addresses; `s3://` ones lie in the trees given by bucket name."""

    def __init__(self, trees):
        self.trees = {"": LocalTree(), **trees}

    def place(self, text):
        address = parse(str(text))
        return Place(address, self.trees[address.authority])

    def __call__(self, *places, listener=None, **words):
        *sources, destination = [self.place(place) for place in places]
        return copy(sources, destination, Options(**words), listener or Listener())
