"""Kill -9 anything at any moment: the final weights are those of the uninterrupted run, bit for bit."""

import functools
import hashlib
import os
import random

import pytest
from killing import Pauses, train_under_fire
from lab import RELENTLESS, Lab

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


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("script", ["counted.py", "answering.py"])
@pytest.mark.parametrize("sandbox", ["auto", "off"])
def test_final_weights_survive_any_number_of_kills(tmp_path, script, sandbox):
    chance = seed_for(f"{script} {sandbox}")
    lab = Lab(tmp_path, RELENTLESS)
    try:
        train = lab.project(script)

        def submit():
            return lab.submit(
                train, "--checkpoint", "ckpt", "--output", "out", "--retries", "100000", "--sandbox", sandbox,
                "--", "--epochs", EPOCHS, "--work", WORK,
            )  # fmt: skip

        store = open_store(f"file://{lab.home}/store")
        # Start-up takes about a fifth of a second, an epoch about a twentieth.
        for run in train_under_fire(lab, submit, store, KILLS, chance, Pauses(0.3, 1.0)):
            lab.outlast("fetch", run, "--to", tmp_path / run)
            assert next((tmp_path / run).rglob("weights.txt")).read_text().strip() == straight_weights(script)
    finally:
        lab.close()
