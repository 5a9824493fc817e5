"""Thirty stints over three servers that play three platforms, and a fault every few seconds: the weights are those of
the straight run."""

from __future__ import annotations

import os
import random
import secrets
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "e2e"))

from storm_lab import Storm
from storm_weather import Weather

from servers.faults import ALWAYS, too_many

#: A stint does so many epochs at most, then it leaves by itself; so there are at least STINTS of them.
STINTS, AT_ONCE, PACE_S = 30, 8, 0.25
EPOCHS = STINTS * AT_ONCE
PAUSES_S = (1.0, 4.0)
LONGEST_S = 3000


@pytest.mark.soak
@pytest.mark.timeout(LONGEST_S + 600)
def test_thirty_stints_over_three_servers_in_a_storm_end_with_the_weights_of_the_straight_run(tmp_path, seaweed):
    seed = int(os.environ.get("OUTLAST_TEST_SEED") or secrets.randbits(32))
    print(f"seed {seed}; repeat with OUTLAST_TEST_SEED={seed}")
    dice = random.Random(seed)
    storm = Storm(
        tmp_path, seaweed, clock_s=1200, free_limit_s="20", training_limit_s="40",
        limits={"modelarts": "4s", "openpai": "8s", "xihe": "15s"},
    )  # fmt: skip
    try:
        full = fill(storm)
        run = storm.train(EPOCHS, PACE_S, AT_ONCE, "--on", "local", "--limit", "20s")
        weather = Weather(storm, run, dice)
        view = blow(storm, run, weather, dice, full)
        print(weather.seen)
        assert len(used_in(view)) >= STINTS
        assert set(used_in(view)) >= {"modelarts", "openpai", "xihe"}
        storm.check(view, EPOCHS)
    finally:
        storm.close()


def fill(storm):
    """Have the first two take no job, so that the last of the three gets its turn; (fault, until which has had one)."""
    full = []
    for place, later in ((storm.region, storm.cluster), (storm.cluster, storm.hub)):
        fault = too_many(0, method="POST", path="/(training-)?jobs$", times=ALWAYS)
        place.proxy.add(fault)
        full.append((fault, later.kind))
    return full


def blow(storm, run, weather, dice, full):
    """One fault after the other until the run is over; its view."""
    deadline = time.monotonic() + LONGEST_S
    try:
        while True:
            weather.turn()
            due = time.monotonic() + dice.uniform(*PAUSES_S)
            while time.monotonic() < due:
                view = storm.client.runs.get(run)
                if view.state.is_final:
                    return view
                for fault in [fault for fault, later in full if later in used_in(view)]:
                    fault.left = 0
                time.sleep(0.2)
            assert time.monotonic() < deadline, f"{run} is still {view.state}: {view.message}\n{storm.story()}"
    finally:
        weather.calm()


def used_in(view):
    """The platforms of the stints that came to an end of their own, in order."""
    return [stint.platform for stint in view.stint_list if stint.reason not in (None, "refused")]
