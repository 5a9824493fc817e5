"""Runs whose folder lies in a bucket or in HDFS: the same promises as in a folder, with keys that nobody sees."""

from __future__ import annotations

import hashlib
import json
import os
import random
import time
from pathlib import Path

import pytest
from killing import Pauses, later, train_under_fire
from lab import RELENTLESS, Lab

from outlast.inside.checkpoints import Checkpoints
from outlast.inside.stores import open_store
from servers.faults import ALWAYS, slow_down
from servers.faulty import Faulty

WORK = 60000
KILLS = 60 if os.environ.get("OUTLAST_SOAK") else 15


def straight_weights(script, epochs, work=WORK):
    weights = b"0" * 64
    for _ in range(epochs):
        for _ in range(work):
            weights = hashlib.sha256(weights).digest()
        if script == "counted.py":
            weights = weights.hex().encode()
    return weights.decode() if script == "counted.py" else weights.hex()


def fetched_weights(lab, run):
    home = lab.folder / f"home-{run}"
    lab.outlast("fetch", run, "--to", home)
    return next(home.rglob("weights.txt")).read_text().strip()


def keys_of(seaweed, endpoint=""):
    return {
        "AWS_ENDPOINT_URL": endpoint or seaweed.endpoint, "AWS_ACCESS_KEY_ID": seaweed.key,
        "AWS_SECRET_ACCESS_KEY": seaweed.secret, "AWS_REGION": "us-east-1",
    }  # fmt: skip


@pytest.fixture
def bucket_lab(tmp_path, seaweed):
    lab = Lab(tmp_path, RELENTLESS, **keys_of(seaweed))
    yield lab
    lab.close()


@pytest.fixture
def store(seaweed):
    return f"s3://{seaweed.bucket()}/lab/outlast"


def assert_secret(lab, seaweed, *outputs):
    """The key's secret is in `secrets.json`, which only its owner may read, and nowhere else."""
    secret = seaweed.secret.encode()
    files = [path for path in lab.folder.rglob("*") if path.is_file() and not path.is_fifo()]
    assert {path.name for path in files if secret in path.read_bytes()} <= {"secrets.json"}
    assert (lab.home / "secrets.json").stat().st_mode & 0o777 == 0o600
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            try:
                assert secret not in Path("/proc", name, "cmdline").read_bytes()
            except OSError:
                continue
    assert not any(seaweed.secret in output for output in outputs)


@pytest.mark.timeout(180)
@pytest.mark.parametrize(("script", "epochs"), [("counted.py", 30), ("answering.py", 30)])
def test_chained_run_in_a_bucket_ends_like_a_straight_one(bucket_lab, seaweed, store, script, epochs):
    lab = bucket_lab
    train = lab.project(script)
    lab.write(f"{train.parent.name}/outlast.toml", f'[run]\nstore = "{store}/"\n')
    done = lab.outlast(
        "run", train, "--checkpoint", "ckpt", "--output", "out", "--limit", "8s",
        "--", "--epochs", epochs, "--pace", 0.4,
    )  # fmt: skip
    run = done.stdout.split()[1]
    view = lab.show(run)
    assert view["state"] == "succeeded" and view["stint_count"] >= 2 and view["store"] == store
    assert fetched_weights(lab, run) == straight_weights(script, epochs, 20000)
    # Another shell without any keys still finds the run's own.
    bare = dict.fromkeys(keys_of(seaweed), "")
    logs = lab.outlast("logs", run, **bare).stdout
    assert f"{'step' if script == 'answering.py' else 'epoch:'} {epochs - 1}" in logs
    assert "restored checkpoint" in logs
    for part in lab.home.glob("index.db*"):
        part.unlink()
    assert "1 run in the list" in lab.outlast("reindex", "--store", store).stdout
    assert run in lab.outlast("ps", "--all").stdout
    assert "freed" in lab.outlast("gc", "--yes").stdout
    assert_secret(lab, seaweed, done.stdout, done.stderr, logs, json.dumps(view))
    for entry in open_store(store, seaweed.access).list("runs/"):
        assert seaweed.secret.encode() not in open_store(store, seaweed.access).get(entry.key)
    lab.outlast("rm", run, "--yes")
    assert list(open_store(store, seaweed.access).list("runs/")) == []
    assert seaweed.secret.encode() not in (lab.home / "secrets.json").read_bytes()


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_kills_at_any_moment_leave_the_weights_of_an_uninterrupted_run(bucket_lab, seaweed, store):
    seed = int(os.environ.get("OUTLAST_TEST_SEED") or random.SystemRandom().randrange(10**6))
    print(f"seed {seed}: play it again with make test SEED={seed}")
    chance = random.Random(f"{seed} remote")
    lab = bucket_lab
    epochs, train = 8 * KILLS, lab.project("counted.py")

    def submit():
        return lab.submit(
            train, "--store", store, "--checkpoint", "ckpt", "--output", "out", "--retries", "100000",
            "--sandbox", "off", "--", "--epochs", epochs, "--work", WORK,
        )  # fmt: skip

    opened = open_store(store, seaweed.access)
    for run in train_under_fire(lab, submit, opened, KILLS, chance, Pauses(0.5, 1.5)):
        assert fetched_weights(lab, run) == straight_weights("counted.py", epochs)
        # Whatever was torn on the way stayed invisible: everything that is named is there and whole.
        checkpoints = Checkpoints(opened, run)
        assert checkpoints.restore(checkpoints.line(), str(lab.folder / f"again-{run}")).skipped == []


@pytest.mark.timeout(180)
def test_run_waits_for_a_store_that_is_away_and_says_so(tmp_path, seaweed, store):
    with Faulty(seaweed.endpoint) as proxy:
        lab = Lab(tmp_path, {"silence_limit_s": "4"}, **keys_of(seaweed, proxy.url))
        try:
            run = lab.submit(
                lab.project("counted.py"), "--store", store, "--checkpoint", "ckpt", "--output", "out",
                "--", "--epochs", 80, "--work", WORK * 2,
            )  # fmt: skip
            watching = lab.start("logs", "-f", run)
            checkpoints = Checkpoints(open_store(store, seaweed.access), run)
            # Whoever comes when the store is away is told so and sent home: this one has to be there before.
            lab.until(lambda: len(checkpoints.ids()) >= 3 and watching.output.stat().st_size)
            began = time.monotonic()
            proxy.add(slow_down(retry_after_s=None, times=ALWAYS))
            # `ps` does not need the store: it shows what the keeper has found out.
            lab.until(lambda: "503" in lab.outlast("ps", "--json").stdout, pause_s=0.2)
            # Longer than the silence after which a stint counts as lost.
            lab.until(later(max(0.0, began + 6.0 - time.monotonic())))
            proxy.clear()
            view = lab.wait(run)
            assert view.state == "succeeded" and view.stints == 1
            assert fetched_weights(lab, run) == straight_weights("counted.py", 80, WORK * 2)
            assert watching.wait(150) == 0
            text = watching.output.read_text()
            assert "the store is back after" in text and "epoch: 80/80" in text
        finally:
            lab.close()


def test_wrong_keys_are_one_clear_error_before_anything_starts(bucket_lab, seaweed, store):
    train = bucket_lab.project("counted.py")
    done = bucket_lab.outlast(
        "run", train, "--store", store, check=False, AWS_SECRET_ACCESS_KEY="not-the-secret-at-all"
    )
    assert done.returncode == 11
    assert f"the store {store} cannot be used: the keys for s3://" in done.stderr
    assert "outlast whoami --check" in done.stderr and "not-the-secret" not in done.stdout + done.stderr
    done = bucket_lab.outlast("run", train, "--store", store, check=False, AWS_ACCESS_KEY_ID="")
    assert done.returncode == 11 and "no keys for s3:// are known" in done.stderr and "outlast login s3" in done.stderr
    done = bucket_lab.outlast("run", train, "--store", "s3://no-such-bucket-here/x", check=False)
    assert done.returncode == 2 and "outlast mb s3://no-such-bucket-here" in done.stderr
    done = bucket_lab.outlast("run", train, "--store", "s3://Bad_Name/x", check=False)
    assert done.returncode == 2 and "--store 's3://Bad_Name/x': " in done.stderr
    assert list(open_store(store, seaweed.access).list("")) == []
    assert bucket_lab.pids() == [] and not (bucket_lab.home / "secrets.json").exists()


def test_stopped_run_is_resumed_with_new_keys_after_the_old_ones_are_refused(bucket_lab, seaweed, store):
    lab = bucket_lab
    run = lab.submit(
        lab.project("counted.py"), "--store", store, "--checkpoint", "ckpt", "--output", "out",
        "--", "--epochs", 20, "--pace", 0.5,
    )  # fmt: skip
    checkpoints = Checkpoints(open_store(store, seaweed.access), run)
    lab.until(lambda: len(checkpoints.ids()) >= 2)
    lab.outlast("stop", run)
    assert lab.wait(run).state == "stopped"
    # The keys that the run was submitted with are taken back, as those of a temporary log-in are.
    secrets = lab.home / "secrets.json"
    secrets.write_text(secrets.read_text().replace(seaweed.secret, "taken-back"))
    bare = dict.fromkeys(keys_of(seaweed), "")
    refused = lab.outlast("resume", "--detach", run, check=False, **bare)
    assert refused.returncode == 11
    lab.outlast("resume", "--detach", run)
    assert lab.wait(run).state == "succeeded"
    assert fetched_weights(lab, run) == straight_weights("counted.py", 20, 20000)


@pytest.mark.timeout(300)
def test_chained_run_in_hdfs_ends_like_a_straight_one(tmp_path, hadoop):
    folder = hadoop.folder()
    lab = Lab(tmp_path, HADOOP_USER_NAME=hadoop.access.user)
    try:
        done = lab.outlast(
            "run", lab.project("counted.py"), "--store", f"hdfs://{hadoop.authority}{folder}/runs",
            "--checkpoint", "ckpt", "--output", "out", "--limit", "6s", "--", "--epochs", 20, "--pace", 0.4,
        )  # fmt: skip
        run = done.stdout.split()[1]
        assert lab.show(run)["stint_count"] >= 2
        assert fetched_weights(lab, run) == straight_weights("counted.py", 20, 20000)
        assert "epoch: 20/20" in lab.outlast("logs", run).stdout
    finally:
        lab.close()
