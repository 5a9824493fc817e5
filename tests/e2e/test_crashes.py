"""Kill -9 anything at any moment: the final weights are those of the uninterrupted run, bit for bit."""

import functools
import hashlib
import os
import random
import time

import pytest
from lab import RELENTLESS, Lab, kill

from outlast.inside.checkpoints import Checkpoints
from outlast.inside.stores import open_store

#: In each of four ways: two hundred in one run of the tests, and `make soak` has the patience for many more.
KILLS = 500 if os.environ.get("OUTLAST_SOAK") else 50
#: Enough for about half a second of training between two kills.
EPOCHS = 8 * KILLS
WORK = 60000


@functools.cache
def straight_weights(script):
    """`counted.py` carries its weights from epoch to epoch as hexadecimal text, `answering.py` as bytes."""
    text = "0" * 64
    weights = text.encode()
    for _ in range(EPOCHS):
        for _ in range(WORK):
            weights = hashlib.sha256(weights).digest()
        if script == "counted.py":
            weights = weights.hex().encode()
    return weights.decode() if script == "counted.py" else weights.hex()


def seed_for(name):
    seed = int(os.environ.get("OUTLAST_TEST_SEED") or random.SystemRandom().randrange(10**6))
    print(f"seed {seed} for {name}: play it again with make test SEED={seed}")
    return random.Random(f"{seed} {name}")


def go_on(lab, run):
    """A script that is killed before it saves anything new fails its run, as it should: then a user resumes it."""
    view = lab.client.runs.get(run)
    if view.state == "failed":
        assert "signal 9" in view.message, view.message
        return lab.client.runs.resume(run).state
    return view.state


def victims(lab, kind):
    return {"script": lab.scripts, "runner": lab.runners, "keeper": lab.keepers}[kind]()


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("script", ["counted.py", "answering.py"])
@pytest.mark.parametrize("sandbox", ["auto", "off"])
def test_final_weights_survive_any_number_of_kills(tmp_path, script, sandbox):
    chance = seed_for(f"{script} {sandbox}")
    lab = Lab(tmp_path, RELENTLESS)
    try:
        train = lab.project(script)
        run = lab.submit(
            train, "--checkpoint", "ckpt", "--output", "out", "--retries", "100000", "--sandbox", sandbox,
            "--", "--epochs", EPOCHS, "--work", WORK,
        )  # fmt: skip
        store = open_store(f"file://{lab.home}/store")
        known = set()
        killed = {"script": 0, "runner": 0, "keeper": 0}
        while sum(killed.values()) < KILLS:
            if go_on(lab, run) == "succeeded":
                break
            kind = chance.choice(["script", "script", "runner", "runner", "keeper"])
            lab.wake()
            targets = lab.until(
                lambda kind=kind: victims(lab, kind) or lab.client.runs.get(run).state.is_final, pause_s=0.05
            )
            if targets is True:
                continue
            # A random moment: start-up takes about a fifth of a second, an epoch about a twentieth.
            pause_s = chance.choice([0.0, chance.uniform(0, 0.3), chance.uniform(0, 1.0)])
            lab.until(_later(pause_s), pause_s=0.002)
            killed[kind] += kill(chance.choice(targets))
            now = set(Checkpoints(store, run).ids())
            assert known <= now, f"checkpoints were lost: {sorted(known - now)}"
            known = now
        while go_on(lab, run) != "succeeded":
            lab.wake()
            lab.wait(run, 300)
        view = lab.client.runs.get(run)
        print(f"{killed} kills, {view.stints} stints, {len(known)} checkpoints")
        lab.outlast("fetch", run, "--to", tmp_path / "home-again")
        weights = next((tmp_path / "home-again").rglob("weights.txt")).read_text().strip()
        assert weights == straight_weights(script)
        assert sum(killed.values()) >= KILLS * 0.8, f"the training ended too early to be interrupted: {killed}"
    finally:
        lab.close()


def _later(seconds):
    end = time.monotonic() + seconds
    return lambda: time.monotonic() >= end
