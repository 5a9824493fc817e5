from __future__ import annotations

from collections.abc import Iterator

import pytest

from outlast.inside.stores import open_store
from outlast.keeper.keeper import Keeper
from outlast.testing.fake_platform import FakePlatform
from outlast.testing.runs import fake_settings


class Clock:
    """A monotonic clock that a test moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class World:
    """One home, one store, one fake platform, and keepers that come and go."""

    def __init__(self, folder) -> None:
        self.settings = fake_settings(folder / "home")
        self.store = open_store(self.settings.store)
        self.platform = FakePlatform()
        self.clock = Clock()
        self.keepers: list[Keeper] = []

    def keeper(self, *, alone: bool = True) -> Keeper:
        """A new keeper, as after a restart; unless `alone` is False it voids its predecessor's leases."""
        keeper = Keeper(
            self.settings,
            open_store=lambda url: self.store,
            create_platform=lambda name: self.platform,
            clock=self.clock,
        )
        if alone:
            keeper.take_over_leases()
        self.keepers.append(keeper)
        return keeper

    def turn(self, keeper: Keeper, seconds: float = 1.0) -> float:
        self.clock.now += seconds
        return keeper.turn()


@pytest.fixture
def make_world(tmp_path):
    """Worlds beside each other, by name."""
    return lambda name: World(tmp_path / name)


@pytest.fixture
def world(tmp_path) -> Iterator[World]:
    world = World(tmp_path)
    yield world
    for keeper in world.keepers:
        keeper.close()
