from __future__ import annotations

import os

import pytest
from resolve_bench import ask, folder, refused, settings  # noqa: F401 - fixtures

from outlast.inside.stores import open_store
from outlast.keeper.home import Home
from outlast.keeper.keeper import Keeper
from outlast.keeper.wake import take_lock
from outlast.testing.fake_platform import FakePlatform, FakeStint
from outlast.testing.runs import fake_settings, write_run


class Bench:
    """A home whose keeper turns when the test says so. The lock is held, so no command starts another."""

    def __init__(self, root) -> None:
        self.settings = fake_settings(root / "home")
        self.store = open_store(self.settings.store)
        self.home = Home(self.settings.home)
        self.platform = FakePlatform()
        self._lock = take_lock(self.home)
        self._now = 0.0
        self.keeper = Keeper(self.settings, create_platform=lambda name: self.platform, clock=lambda: self._now)

    def run(self, **fields):
        return write_run(self.store, self.settings, **fields)

    def turn(self, times: int = 1) -> None:
        for _ in range(times):
            self._now += 1.0
            self.keeper.turn()

    def start(self) -> FakeStint:
        """Let the keeper submit, and the newest job claim its stint."""
        self.turn()
        stint = self.platform.start(self.store)
        stint.beat()
        return stint

    def end(self, stint: FakeStint, reason: str, **fields) -> None:
        stint.end(reason, **fields)
        self.turn(2)

    def close(self) -> None:
        self.keeper.close()
        os.close(self._lock)


@pytest.fixture
def bench(tmp_path):
    bench = Bench(tmp_path)
    yield bench
    bench.close()
