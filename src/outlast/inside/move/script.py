"""`outlast.copy` within a stint: the keys come from the environment, and only the standard library is there."""

from __future__ import annotations

import os
from typing import Dict, Sequence, Union

from ..errors import PlaceError
from ..stores.access import from_environ
from .address import parse
from .base import Tree
from .engine import Listener, Outcome
from .engine import copy as copy_places
from .mapped import maps_in
from .packedcopy import copy_packed
from .plan import Options, Place
from .trees import open_tree

Where = Union[str, "os.PathLike[str]"]


def copy(
    source: Union[Where, Sequence[Where]],
    destination: Where,
    *,
    force: bool = False,
    checksum: bool = False,
    pack: bool = False,
    profile: str = "",
) -> Outcome:
    """Copy files and folders; the function that `outlast.copy` is outside, except that `profile` has no meaning here.

    Raises an `InsideError` when something could not be copied; calling again does the rest.
    """
    trees: Dict[str, Tree] = {}
    sources = [source] if isinstance(source, (str, os.PathLike)) else list(source)
    places = [_open(each, trees) for each in sources]
    target = _open(destination, trees)
    options = Options(force=force, checksum=checksum)
    if pack:
        outcome = copy_packed(places[0], target, options, Listener())
    else:
        outcome = copy_places(places, target, options, Listener())
    if outcome.failures:
        path, reason = outcome.failures[0]
        count = len(outcome.failures)
        raise PlaceError("%d files could not be copied, the first is %s: %s; call again" % (count, path, reason))
    return outcome


def _open(where: Where, trees: Dict[str, Tree]) -> Place:
    address = parse(os.fspath(where))
    if address.root not in trees:
        access = None if address.scheme == "file" else from_environ(address.scheme, os.environ)
        trees[address.root] = open_tree(address, access, maps_in(os.environ))
    return Place(address, trees[address.root])
