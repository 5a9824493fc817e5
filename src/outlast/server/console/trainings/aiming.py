"""The way from a training to Aim's own interface, where Aim can be shown."""

from __future__ import annotations

from outlast.hub.repository import Repository
from outlast.server.aim.process import has_aim
from outlast.server.console.shell import link
from outlast.server.console.words import say
from outlast.server.hub.trainings.progress import Seen


def aim_link(project: Repository, seen: Seen) -> None:
    """Opens Aim in another tab, which shall know nothing of this one; nothing when there is nothing to be opened."""
    if seen.found is not None and seen.training.body["enable_aim"] and has_aim():
        opened = link(f"/aim/{project.id}/{seen.training.id}/", say("Open Aim"), "o-button")
        opened.props('target=_blank rel="noopener noreferrer"')
