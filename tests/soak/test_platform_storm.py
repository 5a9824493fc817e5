"""Thirty stints over three platforms with a fault every few seconds: the weights are those of the straight run."""

from __future__ import annotations

import os
import random
import secrets
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "e2e"))

from platform_cloud import Cloud, straight

FAULTS = ("ok", "ok", "ok", "full", "down", "lost-after", "stuck", "vanish", "taken-away")
EPOCHS = 260


@pytest.mark.soak
def test_thirty_stints_over_three_platforms_in_a_storm(tmp_path):
    seed = int(os.environ.get("OUTLAST_TEST_SEED") or secrets.randbits(32))
    print(f"seed {seed}; repeat with OUTLAST_TEST_SEED={seed}")
    rng = random.Random(seed)
    cloud = Cloud(tmp_path, no_progress_limit="1000")
    try:
        for name in ("a", "b", "c"):
            cloud.sign_in(
                name, "queue_patience=2s", submit=" ".join(rng.choices(FAULTS, k=60)),
                poll=" ".join(rng.choices(("ok", "ok", "ok", "odd", "down"), k=400)),
            )  # fmt: skip
        run = cloud.train("--on", "a", "--on", "b", "--on", "c", "--limit", "4s", epochs=EPOCHS)
        view = cloud.wait(run, timeout_s=1500)
        assert view.state == "succeeded", view.message
        used = [stint for stint in view.stint_list if stint.reason != "refused"]
        assert len(used) >= 30 and {stint.platform for stint in used} == {"a", "b", "c"}
        assert cloud.weights(run) == straight(tmp_path / "straight", EPOCHS)
    finally:
        cloud.close()
