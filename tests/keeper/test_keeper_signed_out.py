"""Accounts that go while a run is there: its stints are not over, and the run is not stuck."""

from __future__ import annotations

import time

from test_keeper_platforms import Places
from world_rows import ask, row_of

from outlast.errors import PlatformError
from outlast.inside import layout
from outlast.inside.records import Order
from outlast.platforms.accounts import Account, Accounts
from outlast.platforms.base import Field, job_name
from outlast.testing.fake_platform import FakePlatform
from outlast.testing.runs import write_run


class SignedOut(Places):
    """Somebody signs out of `free` while the run is there, and perhaps in again."""

    def __init__(self, world) -> None:
        super().__init__(world, "free", "lab")
        for platform in self.platforms.values():
            platform.fields = (Field("token", "Token", secret=True),)
        self.keeper._platforms._create = self._create
        self.is_out = False

    def _create(self, name: str) -> FakePlatform:
        if name == "free" and self.is_out:
            raise PlatformError("nobody is signed in to free here")
        return self.platforms[name]

    def sign(self, *, out: bool) -> None:
        self.is_out = out
        Accounts(self.world.settings.home).save(Account(f"other-{out}", "fake", {}))  # the file has changed


def settle(places: SignedOut, look, seconds: float = 1.0):
    """Turns until something holds; distant platforms answer from threads of their own."""
    deadline = time.monotonic() + 150
    while not (found := look()):
        assert time.monotonic() < deadline, "this takes too long"
        places.turn(seconds)
        time.sleep(0.01)
    return found


def signed_out_in_a_stint(world, *platforms):
    """A run whose stint is at the first of these platforms, and an account there that is gone."""
    world.settings.home.mkdir(parents=True, exist_ok=True)
    spec = write_run(world.store, world.settings, platforms=platforms)
    places = SignedOut(world)
    settle(places, lambda: places.platforms["free"].jobs)
    stint = places.platforms["free"].start(world.store)
    stint.beat()
    places.turn()
    places.sign(out=True)
    return spec, places, stint


def test_stint_whose_account_is_gone_goes_on_and_the_next_one_goes_elsewhere(world):
    spec, places, stint = signed_out_in_a_stint(world, "free", "lab")
    for _ in range(5):
        stint.beat()
        places.turn(10)
    assert places.view(spec.id)["stints"] == 1
    last = stint.checkpoint()
    stint.end("hand-over")
    settle(places, lambda: places.platforms["lab"].jobs)
    order = places.order(spec.id, 2)
    assert (order.platform, order.resume_from) == ("lab", last)
    assert order.why == "free cannot be used: nobody is signed in to free here"


def test_stint_that_falls_silent_when_its_account_is_gone_is_lost_and_the_run_is_not(world):
    world.settings.home.mkdir(parents=True, exist_ok=True)
    spec = write_run(world.store, world.settings, platforms=("free", "lab"))
    places = SignedOut(world)
    settle(places, lambda: places.platforms["free"].jobs)
    places.platforms["free"].start(world.store).beat()
    places.turn()
    places.sign(out=True)
    settle(places, lambda: places.platforms["lab"].jobs, 30)
    assert places.end(spec.id, 1).reason == "lost" and places.order(spec.id, 2).platform == "lab"


def test_stint_that_was_ordered_but_not_sent_when_its_account_went_is_refused(world):
    """An earlier keeper wrote the order, and came no further."""
    world.settings.home.mkdir(parents=True, exist_ok=True)
    spec = write_run(world.store, world.settings, platforms=("free", "lab"))
    world.store.put_if_absent(layout.order_key(spec.id, 1), Order(spec.id, 1, "token", "free").to_bytes())
    places = SignedOut(world)
    places.sign(out=True)
    settle(places, lambda: places.platforms["lab"].jobs)
    assert places.end(spec.id, 1).reason == "refused" and not places.platforms["free"].jobs


def test_who_signs_in_again_is_used_again(world):
    spec, places, stint = signed_out_in_a_stint(world, "free")
    stint.checkpoint()
    stint.end("hand-over")
    settle(places, lambda: "free cannot be used" in places.view(spec.id)["message"])
    places.sign(out=False)
    places.keeper._platforms.breakers.close("free")  # as signing in does
    settle(places, lambda: job_name(spec.id, 2) in places.platforms["free"].jobs)


def test_run_that_ends_where_nobody_is_signed_in_any_more_is_over(world):
    spec, places, stint = signed_out_in_a_stint(world, "free")
    stint.end("finished")
    settle(places, lambda: places.view(spec.id)["state"] == "succeeded")
    settle(places, lambda: not row_of(world, spec.id).open)
    assert not places.keeper.has_work()


def test_run_that_is_stopped_where_nobody_is_signed_in_any_more_is_over_too(world):
    """Nobody can be told to end its job: the stint is given up when it has been silent for long enough."""
    spec, places, _ = signed_out_in_a_stint(world, "free")
    ask(world, spec.id, want="stop")
    settle(places, lambda: not row_of(world, spec.id).open, 30)
    assert places.view(spec.id)["state"] == "stopped"
