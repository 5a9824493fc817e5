"""Kill -9 of script, runner and keeper at random moments of a training."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import NamedTuple

from lab import Lab, kill

from outlast.inside.checkpoints import Checkpoints

_KINDS = ["script", "script", "runner", "runner", "keeper"]


class Pauses(NamedTuple):
    """How long a victim lives on after it was seen: none, some, or a while."""

    some_s: float
    while_s: float

    def draw(self, chance: random.Random) -> float:
        return chance.choice([0.0, chance.uniform(0, self.some_s), chance.uniform(0, self.while_s)])


def later(seconds: float) -> Callable[[], bool]:
    end = time.monotonic() + seconds
    return lambda: time.monotonic() >= end


def train_under_fire(
    lab: Lab, submit: Callable[[], str], store, kills: int, chance: random.Random, pauses: Pauses
) -> Iterator[str]:
    """Trainings that were killed again and again, each once it succeeded; as many as most of the kills need.

    One is enough as a rule. On some days it is quicker than those who kill: then another one has to suffer the rest.
    """
    killed = Counter()
    while killed.total() < kills * 0.8:
        run = submit()
        checkpoints, known = Checkpoints(store, run), set()
        while killed.total() < kills and _go_on(lab, run) != "succeeded":
            if kind := _kill_one(lab, run, chance, pauses):
                killed[kind] += 1
            now = set(checkpoints.ids())
            assert known <= now, f"checkpoints were lost: {sorted(known - now)}"
            known = now
        while _go_on(lab, run) != "succeeded":
            lab.wake()
            lab.wait(run, 300)
        print(f"{dict(killed)} kills so far, {lab.client.runs.get(run).stints} stints, {len(known)} checkpoints")
        yield run


def _kill_one(lab, run, chance, pauses):
    """Which kind was killed; empty when the run was over before, or the victim was gone already."""
    kind = chance.choice(_KINDS)
    lab.wake()
    seek = {"script": lab.scripts, "runner": lab.runners, "keeper": lab.keepers}[kind]
    targets = lab.until(lambda: seek() or lab.client.runs.get(run).state.is_final, pause_s=0.05)
    if targets is True:
        return ""
    lab.until(later(pauses.draw(chance)), pause_s=0.002)
    return kind if kill(chance.choice(targets)) else ""


def _go_on(lab, run):
    """A script that is killed before it saves anything new fails its run, as it should: then a user resumes it."""
    view = lab.client.runs.get(run)
    if view.state == "failed":
        assert "signal 9" in view.message, view.message
        return lab.client.runs.resume(run).state
    return view.state
