"""One place for the weights of a whole program: what it reads itself, and what libraries fetch for it."""

from __future__ import annotations

from collections.abc import Sequence

from outlast.adapt.needs import Role
from outlast.adapt.placing.hub_files import told_text
from outlast.adapt.placing.sites import HUB, Site
from outlast.adapt.sight import Sight


def share_weights(sights: Sequence[Sight]) -> None:
    """Decide which of the weights that are fetched come from the contract's place; the others stay as they are.

    torch's folder can hold files of the program's own beside its own folder. A model that takes the place as a whole,
    be it a file or a folder, leaves room for nothing else.
    """
    hub = [sight for sight in sights if sight.pretrained.torch or sight.pretrained.told]
    others = [sight for sight in sights if sight.fetched and sight not in hub]
    if hub:
        for sight in others:
            sight.fetched.clear()
    elif len(others) > 1:
        for sight in others[1:]:
            sight.fetched.clear()
    readers = [sight for sight in sights if sight.has_weights]
    if not readers:
        return
    can_share = bool(hub) and all(_reads_files(sight) for sight in readers)
    for sight in sights:
        if can_share:
            sight.beside.append(_kept_in(hub))
        else:
            sight.fetched.clear()


def _kept_in(hub: Sequence[Sight]) -> Site:
    """The one folder that the program itself names for what torch fetches, or the one that torch has."""
    texts = {told_text(call) for sight in hub for call in sight.pretrained.told}
    is_told = len(texts) == 1 and "" not in texts and not any(sight.pretrained.torch for sight in hub)
    return Site(HUB.literal, texts.pop(), is_folder=True) if is_told else HUB


def _reads_files(sight: Sight) -> bool:
    """Whether all weights of a file are literals, which can lie below a folder."""
    paths = sight.paths
    sites = paths.sites.get(Role.WEIGHTS, [])
    is_elsewhere = any(each.get(Role.WEIGHTS) for each in (paths.options, paths.others, paths.wraps))
    is_entry = any(entry.role is Role.WEIGHTS for entry in paths.entries)
    return bool(sites) and not (is_elsewhere or is_entry or sight.takes_weights)
