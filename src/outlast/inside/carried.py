"""A store that is carried to a container without network as an input, and back as an output.

    --run_url DIR       read-only: a snapshot of the store, as far as this stint needs it
    --output_path DIR   what is left below DIR/outlast belongs home

The stint works in the output folder, on a copy of the snapshot. What was only brought along is taken out again at
the end, so that the way home carries nothing that is there already.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from typing import Any, Dict, List, Mapping, Optional

from . import layout
from .errors import RequestError
from .move.address import parse
from .records import to_bytes

INPUT_OPTION, OUTPUT_OPTION = "run_url", "output_path"
#: The end of the address of an input that a mirror keeps a copy of.
_COPIED_INPUT = re.compile(r"/(inputs/[0-9a-f]{16}/.+)$")


class Carried:
    """One carried store while its stint works on it."""

    def __init__(self, root: str, brought: Dict[str, int]) -> None:
        self._root = root
        self._brought = brought  # path below the root -> mtime_ns as it was put there
        self.url = "file://" + root

    @classmethod
    def take(cls, told: Mapping[str, Any], options: Mapping[str, str]) -> Carried:
        """Copy the snapshot to where the stint works. `RequestError` when the platform did not say where that is."""
        source, output = options.get(INPUT_OPTION, ""), options.get(OUTPUT_OPTION, "")
        if not os.path.isdir(source) or not output:
            raise RequestError(
                "a carried store needs --%s with the folder of its snapshot, and --%s" % (INPUT_OPTION, OUTPUT_OPTION)
            )
        root = os.path.join(os.path.abspath(output), "outlast")
        run = str(told["run"])
        brought: Dict[str, int] = {}
        for relative in _files_below(source):
            # Inputs are read where they lie; another run's folder is none of ours.
            if relative.startswith(("blobs/", layout.run_prefix(run))):
                brought[relative] = _bring(os.path.join(source, relative), os.path.join(root, relative))
        _localize_inputs(root, source, run, told.get("arguments") or {}, options)
        brought[layout.spec_key(run)] = os.stat(os.path.join(root, layout.spec_key(run))).st_mtime_ns
        return cls(root, brought)

    def leave(self) -> None:
        """Take out what was only brought along and not written since."""
        for relative, stamp in self._brought.items():
            path = os.path.join(self._root, relative)
            try:
                # A blob is touched when a checkpoint names it again: it is at home all the same.
                if relative.startswith("blobs/") or os.stat(path).st_mtime_ns == stamp:
                    os.unlink(path)
            except OSError:
                pass


def _files_below(top: str) -> List[str]:
    found = []
    for folder, folders, names in os.walk(top):
        folders[:] = [name for name in folders if name != ".git"]
        found += [os.path.relpath(os.path.join(folder, name), top).replace(os.sep, "/") for name in names]
    return sorted(found)


def _bring(source: str, target: str) -> int:
    os.makedirs(os.path.dirname(target), exist_ok=True)
    shutil.copyfile(source, target)
    return os.stat(target).st_mtime_ns


def _localize_inputs(
    root: str, source: str, run: str, arguments: Mapping[str, str], options: Mapping[str, str]
) -> None:
    """Let the spec name its inputs by paths of this container.

    `arguments` says which option of the platform holds the folder of which input; copies of the mirror lie in the
    snapshot itself.
    """
    path = os.path.join(root, layout.spec_key(run))
    try:
        with open(path, encoding="utf-8") as file:
            spec = json.load(file)
    except OSError:
        raise RequestError("the snapshot in --%s holds no run %s" % (INPUT_OPTION, run)) from None
    given = {name: options[option] for option, name in arguments.items() if options.get(option)}
    for each in spec.get("inputs", ()):
        here = given.get(each["name"]) or _in_snapshot(str(each["source"]), source)
        if here:
            each["source"] = "file://" + os.path.abspath(here)
    with open(path, "wb") as file:
        file.write(to_bytes(spec))


def _in_snapshot(address: str, source: str) -> Optional[str]:
    match = _COPIED_INPUT.search(parse(address).path if "://" in address else address)
    path = os.path.join(source, match.group(1)) if match else ""
    return path if path and os.path.exists(path) else None
