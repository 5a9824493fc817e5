"""A run that is pinned to a named environment: its packages first, the project's own requirements on top."""

from __future__ import annotations

import hashlib
import os
from typing import Any, Callable, Mapping, Optional

from . import environment
from .environment import Environment, RunCommand
from .errors import PlaceError


def prepare(
    pinned: Optional[Mapping[str, Any]],
    requirements_path: Optional[str],
    python: str,
    cache: str,
    run_command: RunCommand,
    log: Callable[[str], None],
) -> Environment:
    """The interpreter to run the script with, as `environment.prepare` makes it, built upon the pinned packages.

    Both layers are kept apart by what they hold, so many projects share one build of a framework. Where both name a
    package, the project's version counts.
    """
    if not pinned or not pinned.get("requirements"):
        return environment.prepare(requirements_path, python, cache, run_command, log)
    below = environment.prepare(_written(pinned, cache), python, cache, run_command, log)
    if requirements_path is None:
        return below
    above = environment.prepare(requirements_path, below.python, cache, run_command, log)
    variables = dict(below.env)
    variables.update(above.env)
    folders = [*above.folders, *(each for each in below.folders if each not in above.folders)]
    return Environment(above.python, variables, below.seconds + above.seconds, below.built or above.built, folders)


def _written(pinned: Mapping[str, Any], cache: str) -> str:
    """The pinned requirements as a file, which is named so that a complaint of the installer can be understood."""
    text = "\n".join(pinned["requirements"]) + "\n"
    folder = os.path.join(cache, "pins", hashlib.sha256(text.encode("utf-8")).hexdigest()[:32])
    path = os.path.join(folder, "%s.txt" % pinned["name"])
    aside = "%s.%d.tmp" % (path, os.getpid())
    try:
        os.makedirs(folder, exist_ok=True)
        with open(aside, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(aside, path)
    except OSError as error:
        raise PlaceError("cannot write %s: %s" % (path, error.strerror)) from None
    return path
