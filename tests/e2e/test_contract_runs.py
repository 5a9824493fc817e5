"""Scripts of other systems, unchanged, through three stints with a kill in between: what they leave is the same."""

from __future__ import annotations

import json
import os
import shutil
import signal

import pytest
from lab import RELENTLESS, SCRIPTS, Lab

from outlast.keeper.home import Home
from outlast.store.profiles import Profiles

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")

#: After these epochs the first two stints wait to be ended, so that there are three of them on any machine.
HOLD = ("--", "--hold", "1:8,2:16")


@pytest.fixture
def shop(tmp_path):
    lab = Lab(tmp_path, RELENTLESS)
    for name in ("a.bin", "b.bin"):
        lab.write(f"project/mnist/{name}", name)
    lab.write("project/lenet.ckpt", "pretrained")
    yield lab
    lab.close()


def script(shop, name):
    return shop.write(f"project/{name}", (SCRIPTS / name).read_text()).name


def interrupted(shop, *words):
    """End the first stint by kill -9, the second as a platform takes its machine away; return the view of the run."""
    run = shop.outlast("run", "--detach", *words, *HOLD, cwd=shop.folder / "project").stdout.split()[0]
    for stint, signum in ((1, signal.SIGKILL), (2, signal.SIGTERM)):
        shop.until(lambda stint=stint: _saved_in(shop, run, stint) and shop.runners(), pause_s=0.1)
        os.kill(shop.runners()[0], signum)
    view = shop.wait(run)
    assert view.state == "succeeded", view.message
    assert [stint.reason for stint in view.stint_list] == ["lost", "preempted", "finished"]
    logs = shop.outlast("logs", run).stdout
    assert "resume from epoch 8\n" in logs and "resume from epoch 16\n" in logs
    return view


def _saved_in(shop, run, stint):
    """The epoch after which the stint waits is committed."""
    manifests = sorted((shop.home / "store" / "runs" / run / "checkpoints").glob(f"{stint:04d}-*.json"))
    return bool(manifests) and json.loads(manifests[-1].read_text())["progress"].get("epoch") == 8 * stint


def straight(shop, *words):
    return shop.outlast("run", *words, cwd=shop.folder / "project").stdout


def test_modelarts_of_the_second_generation(shop):
    boot = script(shop, "modelarts_boot.py")
    given = (boot, "--contract", "modelarts", "--data", "data_url=./mnist")
    params = ("--params", "batchsize=4;learning_rate=0.01")
    view = interrupted(shop, *given, "--output", "train_url=./out", *params, "--ma-log")
    said = straight(shop, *given, "--output", "train_url=./straight", *params)
    assert f"train_url in {shop.folder / 'project' / 'straight'}" in said
    out, other = (shop.folder / "project" / name for name in ("out", "straight"))
    assert sorted(path.name for path in out.iterdir()) == ["lenet.ckpt", "weights.txt"]
    assert (out / "weights.txt").read_text() == (other / "weights.txt").read_text()
    assert json.loads((out / "lenet.ckpt").read_text())["epoch"] == 32
    (log,) = (shop.folder / "project" / "MA_LOG").iterdir()
    assert log.name.startswith("modelarts-job-") and log.name.endswith("-worker-0.log")
    # The file has all stints one after the other.
    assert log.read_text().count("found ['a.bin', 'b.bin'] batch 4 hosts 1") == len(view.stint_list)
    # Neither results nor logs become code of the next run.
    assert view.spec["code"]["files"] == 2


def test_the_loop_of_one_hour_jobs(shop):
    boot = script(shop, "free_train.py")
    shop.outlast("store", "map", "obs://bucket", "./bucket", cwd=shop.folder / "project")
    shop.outlast("cp", "mnist", "obs://bucket/mnist", cwd=shop.folder / "project")
    given = (boot, "--contract", "modelarts-v1", "--data", "data_url=obs://bucket/mnist")
    view = interrupted(shop, *given, "--output", "train_url=obs://bucket/out")
    assert "found ['a.bin', 'b.bin'] at s3://bucket/mnist/" in shop.outlast("logs", view.id).stdout
    straight(shop, *given, "--output", "train_url=./straight")
    out, other = (shop.folder / "project" / name for name in ("bucket/out", "straight"))
    assert [path.name for path in out.iterdir()] == ["last_epoch.ckpt"]
    assert json.loads((out / "last_epoch.ckpt").read_text()) == json.loads((other / "last_epoch.ckpt").read_text())
    assert sorted(path.name for path in (shop.folder / "project" / "mnist").iterdir()) == ["a.bin", "b.bin"]


def test_xihe(shop):
    boot = script(shop, "xihe_train.py")
    given = (boot, "--contract", "xihe", "--data", "data_url=./mnist", "--data", "pretrain_url=./lenet.ckpt")
    interrupted(shop, *given, "--output", "output_path=./out")
    straight(shop, *given, "--output", "output_path=./straight")
    out, other = (shop.folder / "project" / name for name in ("out", "straight"))
    assert (out / "weights.txt").read_text() == (other / "weights.txt").read_text()

    done = shop.outlast(
        "run", *given, "--output", "output_path=./none", "--", "--download", check=False, cwd=shop.folder / "project"
    )
    assert done.returncode == 1
    assert "under --contract xihe there is no network: declare the data as an input: --data NAME=" in " ".join(
        done.stdout.split()
    )


def test_a_request_that_cannot_work_is_refused_before_anything_starts(shop):
    boot = script(shop, "xihe_train.py")
    refused = {
        ("--data", "./mnist"): "--data data_url=./mnist",
        ("--data", "data_url=dataset:ann/mnist"): "no folder plays it here",
        ("--data", "data_url=./mnist", "--network"): "no network under --contract xihe",
        ("--data", "data_url=./mnist", "--params", "lr"): "'lr' is not NAME=VALUE",
    }
    for words, said in refused.items():
        done = shop.outlast("run", boot, "--contract", "xihe", *words, check=False, cwd=shop.folder / "project")
        assert done.returncode == 2 and said in done.stderr, done.stderr
    assert shop.pids() == [] and not (shop.home / "store").exists()


@pytest.fixture
def rented(shop, seaweed):
    """A real bucket with the data in it, and keys for it."""
    shop.bucket = seaweed.bucket()
    for name in ("a.bin", "b.bin"):
        seaweed.boto.put_object(Bucket=shop.bucket, Key=f"mnist/{name}", Body=name.encode())
    Profiles(Home(shop.home).path).save("lab", seaweed.access, in_file=True)
    shop.root = f"s3://lab@{shop.bucket}"
    shop.listed = lambda: [
        each["Key"] for each in seaweed.boto.list_objects(Bucket=shop.bucket, Prefix="out/").get("Contents", ())
    ]
    return shop


def test_a_real_bucket_in_both_generations(rented):
    words = ("--data", f"data_url={rented.root}/mnist", "--output", f"train_url={rented.root}/out")
    straight(rented, script(rented, "modelarts_boot.py"), "--contract", "modelarts", *words, "--", "--epochs", "2")
    assert rented.listed() == ["out/lenet.ckpt", "out/weights.txt"]
    said = straight(
        rented, script(rented, "free_train.py"), "--contract", "modelarts-v1", *words, "--", "--epochs", "2"
    )
    assert "out/last_epoch.ckpt" in rented.listed()
    assert f"found ['a.bin', 'b.bin'] at s3://{rented.bucket}/mnist/" in said  # a profile is not the script's business
    done = rented.outlast(
        "run", "free_train.py", "--contract", "modelarts-v1", "--data", f"data_url={rented.root}/dogs",
        check=False, cwd=rented.folder / "project",
    )  # fmt: skip
    assert done.returncode == 2 and f"there is nothing at {rented.root}/dogs" in done.stderr
