"""Another database for a home: its accounts and its list of runs."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from outlast.keeper.home import Home
from outlast.keeper.wake import end_keeper, restart_keeper
from outlast.settings import Settings, read_database, write_setting


def use_database(settings: Settings, url: str) -> Settings:
    """The settings with another database. One that holds the list of runs is used by all commands from now on.

    Otherwise two keepers could look after one run, each with a list of its own. It is opened first: a home is never
    left with a database that cannot be used.
    """
    after = dataclasses.replace(settings, database=read_database(url))
    if after.database == settings.database or not (after.shares_index or settings.shares_index):
        return after
    from outlast.keeper.opening import index_of

    home = Home(settings.home)
    end_keeper(home)  # it has the list that was used until now; whoever needs a keeper starts one
    index_of(after, home).close()
    write_setting(home.path, "database", after.database)
    return after


def follow_database(path: Path) -> None:
    """After the setting was changed: a keeper that is there goes on with the list that counts from now on."""
    restart_keeper(Home(path))
