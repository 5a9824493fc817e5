"""What removed runs leave in the stores of platforms goes with them, at the latest with the next cleaning."""

from __future__ import annotations

import pytest

from outlast.errors import CredentialError
from outlast.inside import layout
from outlast.inside.records import End, Order
from outlast.inside.stores import open_store
from outlast.keeper.home import Home
from outlast.keeper.inbox import absorb
from outlast.operations import mirrors, runs
from outlast.operations.clean import clean
from outlast.operations.locate import open_index
from outlast.platforms.accounts import Account, Accounts
from outlast.testing.fake_platform import FakePlatform
from outlast.testing.runs import fake_settings, write_run


@pytest.fixture
def lab(tmp_path, monkeypatch):
    class Lab:
        settings = fake_settings(tmp_path / "home")
        away = open_store((tmp_path / "away").as_uri())
        reachable = True

        def create(self, name, settings):
            if not self.reachable:
                raise CredentialError("the account was closed")
            platform = FakePlatform()
            platform.store = self.away.url
            return platform

        def ended_run(self):
            store = open_store(self.settings.store)
            spec = write_run(store, self.settings, platforms=("far",))
            index = open_index(self.settings)
            absorb(Home(self.settings.home), index, take=True)
            index.close()
            for each in (store, self.away):
                order = Order(spec.id, 1, "t", "far", store=self.away.url)
                each.put(layout.order_key(spec.id, 1), order.to_bytes())
                each.put(layout.end_key(spec.id, 1), End("finished").to_bytes())
            return spec.id

        def left(self):
            return [entry.key for entry in self.away.list("runs/")]

    lab = Lab()
    Home(tmp_path / "home")
    Accounts(tmp_path / "home").save(Account("far", "fake", {}))
    monkeypatch.setattr(mirrors, "create", lab.create)
    return lab


def test_removing_a_run_removes_its_mirror_and_no_other(lab):
    first, second = lab.ended_run(), lab.ended_run()
    runs.remove_run(lab.settings, first)
    assert lab.left() == [layout.end_key(second, 1), layout.order_key(second, 1)]
    assert mirrors.retry_removals(lab.settings) == []


def test_mirror_that_is_out_of_reach_is_removed_by_a_later_cleaning(lab):
    run = lab.ended_run()
    lab.reachable = False
    runs.remove_run(lab.settings, run)
    assert len(lab.left()) == 2
    assert [notice for notice in clean(lab.settings).notices if lab.away.url in notice]
    lab.reachable = True
    assert clean(lab.settings, dry_run=True).notices == []
    assert len(lab.left()) == 2
    assert clean(lab.settings).notices == []
    assert lab.left() == []
