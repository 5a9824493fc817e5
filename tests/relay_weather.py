"""Histories of the simulated world: random weather from a seed, then calm, and what must hold at the end."""

from __future__ import annotations

import random

from outlast.model.states import EndReason, RunState
from relay_folder import Script, require
from relay_world import Keeper, World


def random_script(rng: random.Random) -> Script:
    save_every = rng.randint(1, 3)
    script = Script(total=rng.randint(3, 30), save_every=save_every, limit=save_every + rng.randint(1, 6))
    kind = rng.random()
    if kind < 0.08:
        script.saves = False
    elif kind < 0.16:
        script.fails_at = rng.randint(1, script.total)
    elif kind < 0.3:
        script.fails_once_at = rng.randint(1, script.total)
    return script


def play(seed: int, *, events: int = 60) -> tuple[World, RunState]:
    """One whole history: faults at random, then calm until the run is over. Raises `PromiseBroken`."""
    rng = random.Random(seed)
    world = World(random_script(rng))
    keepers = (Keeper(world), Keeper(world))
    chances = _CHANCES[rng.randrange(len(_CHANCES))]
    names, weights = zip(*chances, strict=True)
    for name in rng.choices(names, weights, k=events):
        _EVENTS[name](world, keepers, rng)
    return world, finish(world)


def finish(world: World) -> RunState:
    """Bring a history to its end and check what must hold there."""
    keeper = Keeper(world)
    script = world.script
    decision = world.calm(keeper)
    if decision.state is RunState.FAILED:
        require(bool(world.folder.why_failed(world.policy)), f"failed without a cause: {decision.message}")
    world.folder.check_history()
    can_finish = script.fails_at is None and (script.saves or script.total <= script.limit)
    if can_finish and decision.state is not RunState.SUCCEEDED:
        # A stop, or more faults in a row than a run puts up with; without faults, resuming brings it home.
        world.resume()
        decision = world.calm(keeper)
        if decision.state is RunState.FAILED and script.fails_once_at is not None:
            require(world.folder.why_failed(world.policy) == "script error", decision.message)
            world.resume()
            decision = world.calm(keeper)
        require(decision.state is RunState.SUCCEEDED, f"can make progress but ended {decision}")
    if decision.state is RunState.SUCCEEDED:
        last = world.folder.ends[max(world.folder.ends)]
        require(last.reason is EndReason.FINISHED and last.by == "runner", "succeeded without being finished")
        require(last.position == script.total, f"finished at {last.position} of {script.total}")
    elif not script.saves:
        require(decision.state in (RunState.FAILED, RunState.STOPPED), str(decision))
    world.folder.check_history()
    return decision.state


def _turn(world: World, keepers: tuple[Keeper, Keeper], rng: random.Random) -> None:
    keeper = keepers[0]
    keeper.look()
    while keeper.act():
        pass


def _look(world: World, keepers: tuple[Keeper, Keeper], rng: random.Random) -> None:
    keepers[rng.random() < 0.4].look()


def _act(world: World, keepers: tuple[Keeper, Keeper], rng: random.Random) -> None:
    keepers[rng.random() < 0.4].act()


_EVENTS = {
    "turn": _turn,
    "look": _look,
    "act": _act,
    "crash": lambda w, k, r: k[r.random() < 0.4].crash(),
    "start": lambda w, k, r: w.start(),
    "work": lambda w, k, r: w.work(r.randrange(8), r.randint(1, 5)),
    "wait": lambda w, k, r: setattr(w, "now", w.now + r.choice((0.1, 0.6, 2.0, 31.0, 70.0, 200.0))),
    "kill": lambda w, k, r: w.kill(preempted=r.random() < 0.4, zombie=r.random() < 0.5),
    "requeue": lambda w, k, r: w.requeue(),
    "forget": lambda w, k, r: w.forget(),
    "hide": lambda w, k, r: w.hide(r.randint(1, 4)),
    "twice": lambda w, k, r: w.start_twice(),
    "mute": lambda w, k, r: w.mute(),
    "blind": lambda w, k, r: w.blind(),
    "hear": lambda w, k, r: w.hear(),
    "unkillable": lambda w, k, r: setattr(w, "unkillable", r.random() < 0.5),
    "refuse": lambda w, k, r: w.refuse(*r.choices(("full", "lost", ""), k=r.randint(1, 4))),
    "down": lambda w, k, r: w.go_down(),
    "offer": lambda w, k, r: w.offer(),
    "stop": lambda w, k, r: w.stop(),
    "resume": lambda w, k, r: w.resume() if w.folder.want == "stop" else None,
}

# Four kinds of weather, so that long healthy chains are as well covered as storms.
_CHANCES = (
    (("turn", 8), ("start", 5), ("work", 8), ("wait", 3), ("kill", 1), ("crash", 1), ("look", 2), ("act", 2)),
    (
        ("turn", 3), ("look", 6), ("act", 9), ("crash", 3), ("start", 5), ("work", 8), ("wait", 4), ("kill", 2),
        ("requeue", 1), ("forget", 1), ("hide", 1), ("twice", 1), ("mute", 1), ("blind", 1), ("hear", 1),
        ("unkillable", 1),
    ),
    (
        ("turn", 6), ("look", 3), ("act", 4), ("crash", 1), ("start", 5), ("work", 8), ("wait", 3), ("kill", 3),
        ("twice", 2), ("mute", 2), ("blind", 2), ("unkillable", 1), ("stop", 1), ("resume", 2), ("forget", 2),
    ),
    (
        ("turn", 7), ("look", 3), ("act", 4), ("crash", 1), ("start", 5), ("work", 8), ("wait", 4), ("kill", 1),
        ("refuse", 3), ("down", 3), ("offer", 2), ("forget", 1), ("hide", 1), ("blind", 1),
    ),
)  # fmt: skip
