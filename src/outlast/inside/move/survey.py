"""Look at the sources and at the destination, and make the plan."""

from __future__ import annotations

import os
from typing import Callable, Dict, Iterator, List, Sequence

from ..errors import NotFound, RequestError
from .address import BUCKETS, Address
from .base import FILE, FOLDER, LINK, Item
from .ground import Ground
from .links import Complaints, Links
from .local import scan
from .names import clashes, shown
from .plan import Found, Options, Place, Plan, Step, check_ends, extras_of, identify, land, lay_out, refuse
from .unchanged import is_same, looks_unchanged

# Asking for a few files one by one beats listing a folder of unknown size.
_FEW = 32
_WORKERS = 8

Tell = Callable[[str], None]


def survey(sources: Sequence[Place], destination: Place, options: Options, tell: Tell) -> Plan:
    """Everything that `copy` will do, checked. `tell` hears what is being looked at, for people who wait."""
    check_ends(sources, destination)
    complaints: Complaints = []
    notices: List[str] = []
    found = [_look(source, destination, options, complaints, notices, tell) for source in sources]
    refuse(complaints)
    steps = lay_out(found, destination)
    landing = _landing(found, destination)
    tell("looking at " + shown(str(destination.address)))
    present = _present(steps, found, destination, options)
    wanted: List[Step] = []
    skipped: List[Step] = []
    for step in steps:
        there = present.get(step.target)
        (skipped if there is not None and _is_there(step, there, destination, options) else wanted).append(step)
    extras = _extras(found, landing, steps, destination, options) if options.delete else []
    return Plan(destination, landing, options, wanted, skipped, extras, notices)


def _look(
    source: Place, destination: Place, options: Options, complaints: Complaints, notices: List[str], tell: Tell
) -> Found:
    tell("looking at " + shown(str(source.address)))
    item = find(source, options.single)
    if item.kind != FOLDER:
        return Found(source, False, [item])
    if source.is_local:
        items = list(_local_items(source, destination, complaints, notices))
    else:
        items = list(source.tree.walk(item.path))
        links = [each for each in items if each.kind == LINK]
        complaints += [(source.show(each.path), "links of another place cannot be copied") for each in links]
    # An empty folder is copied as what it is.
    return Found(source, True, items or [Item(source.address.path, 0, 0, FOLDER)])


def find(source: Place, single: bool) -> Item:
    """The file or folder that a source names; a local link that is named itself is followed, under its own name."""
    if not source.is_local:
        return identify(source, single)
    address = source.address
    item = identify(source._replace(address=address._replace(into=False)), single=True)
    if item.kind == LINK:
        real = source.tree.stat(os.path.realpath(item.path))
        if real is None or real.kind == LINK:
            raise NotFound("%s, to which the link %s leads" % (item.target, address))
        item = real._replace(path=item.path)
    if item.kind == FILE and address.into:
        raise RequestError("%s is a file; write it without the slash" % str(address).rstrip("/"))
    return item


def _local_items(source: Place, destination: Place, complaints: Complaints, notices: List[str]) -> Iterator[Item]:
    root = source.address.path
    links = Links(root, complaints)
    others: List[str] = []
    for item in scan(root, others):
        if item.kind != LINK:
            yield item
        elif destination.is_local:
            yield from links.keep(item)
        else:
            yield from links.follow(item, others)
    notices += ["%s is left out: it is neither file, folder nor link" % shown(path) for path in others]


def _landing(found: Sequence[Found], destination: Place) -> Address:
    """What the copy will be called afterwards."""
    if len(found) > 1:
        return destination.address
    path = land(found[0].source.address, destination.address)
    return destination.address._replace(path=path, into=found[0].is_folder)


def _extras(
    found: Sequence[Found], landing: Address, steps: Sequence[Step], destination: Place, options: Options
) -> List[Item]:
    """What `delete` will remove: only below the landing, and never everything by accident."""
    if len(found) != 1 or not found[0].is_folder:
        raise RequestError("--delete needs one folder as its source")
    if landing.path == "/":
        raise RequestError("--delete is refused for the root of %s" % (destination.tree.url or "this machine"))
    extras = extras_of(list(destination.tree.walk(landing.path)), steps)
    if extras and not options.force and all(step.item.kind == FOLDER for step in steps):
        raise RequestError(
            "%s holds no files; --delete would remove %d at %s; give --force if that is meant"
            % (found[0].source.address, len(extras), landing)
        )
    return extras


def _present(steps: Sequence[Step], found: Sequence[Found], destination: Place, options: Options) -> Dict[str, Item]:
    """What is at the targets now; `RequestError` when something there is in the way."""
    if destination.is_local:
        present = _present_here(steps, found, destination)
    elif len(steps) <= _FEW:
        present = _present_one_by_one(steps, destination)
    elif options.force:
        return {}
    else:
        present = _present_in_listings(found, destination)
        refuse(_in_the_way(steps, present, destination))
    return present


def _present_in_listings(found: Sequence[Found], destination: Place) -> Dict[str, Item]:
    present: Dict[str, Item] = {}
    for one in found:
        base = land(one.source.address, destination.address)
        alone = None if one.is_folder else destination.tree.stat(base)
        for item in destination.tree.walk(base) if one.is_folder else [alone] if alone else []:
            present[item.path] = item
    return present


def _present_here(steps: Sequence[Step], found: Sequence[Found], destination: Place) -> Dict[str, Item]:
    address = destination.address
    ground = Ground(address.path if address.into or found[0].is_folder else os.path.dirname(address.path))
    present: Dict[str, Item] = {}
    complaints: Complaints = []
    for step in steps:
        there = ground.look(step.target)
        reason = ground.complain(step.target, step.item.kind, there)
        if reason:
            complaints.append((destination.show(step.target), _with_advice(reason, step, destination)))
        elif there is not None:
            present[step.target] = there
    refuse(complaints)
    return present


def _present_one_by_one(steps: Sequence[Step], destination: Place) -> Dict[str, Item]:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(_WORKERS) as pool:
        looked = list(pool.map(destination.tree.stat, [step.target for step in steps]))
    present = {step.target: item for step, item in zip(steps, looked) if item is not None}
    refuse(
        (destination.show(step.target), _with_advice("a folder of that name is there", step, destination))
        for step in steps
        if step.item.kind == FILE and step.target in present and present[step.target].kind == FOLDER
    )
    return present


def _in_the_way(steps: Sequence[Step], present: Dict[str, Item], destination: Place) -> Complaints:
    """Files where folders must be, and the other way round."""
    kinds = {path: item.kind for path, item in present.items()}
    kinds.update((step.target, step.item.kind) for step in steps)
    if destination.address.scheme in BUCKETS:
        return []
    return [
        (destination.show(path), "it is a file, and the folder of %s" % shown(below)) for path, below in clashes(kinds)
    ]


def _with_advice(reason: str, step: Step, destination: Place) -> str:
    """A copy onto a folder's name is nearly always meant to go into it."""
    if destination.address.into or step.target != destination.address.path or step.item.kind == FOLDER:
        return reason
    return "%s; to copy into it write %s/" % (reason, destination.address)


def _is_there(step: Step, there: Item, destination: Place, options: Options) -> bool:
    if step.item.kind == FOLDER:
        return there.kind != FILE
    if options.force:
        return False
    if step.item.kind == LINK:
        return there.kind == LINK and there.target == step.item.target
    if options.checksum:
        return is_same(step.item, step.origin.tree, there, destination.tree)
    if looks_unchanged(step.item, there, destination.is_local):
        return True
    # Times differ: a file was touched, or changed in the second in which it was sent. Reading the local side and
    # comparing with what the other one knows is cheaper than moving it.
    knows = there.digest if step.origin.is_local else step.item.digest if destination.is_local else ""
    return bool(knows) and is_same(step.item, step.origin.tree, there, destination.tree)
