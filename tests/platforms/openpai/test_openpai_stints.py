"""A training on two clusters, one of each generation, with a real keeper, a real command line and a bad network."""

import dataclasses
import itertools
import json
import random
import subprocess
import sys

import pytest
from lab import RELENTLESS, Lab
from openpai_lab import account

from outlast.platforms.accounts import Accounts
from servers.faults import answer, drop, drop_after, server_error, too_many
from servers.faulty import Faulty

#: Knows nothing of clusters. After three epochs it says "saved, come back" (exit code 85): how many stints it takes
#: depends on nothing that the machine is doing otherwise.
TRAINING = """
import hashlib, json, os, pathlib, sys
epochs = int(sys.argv[1])
place = pathlib.Path("ckpt")
place.mkdir(exist_ok=True)
last = place / "weights.json"
state = json.loads(last.read_text()) if last.exists() else {"epoch": 0, "weights": [0.1, -0.2, 0.3]}
begun = state["epoch"]
print("from epoch", begun, "as", os.environ.get("PAI_JOB_NAME"), "with", len(os.environ.get("WORD", "")), flush=True)
while state["epoch"] < epochs:
    epoch = state["epoch"] = state["epoch"] + 1
    noise = hashlib.sha256(str(epoch).encode()).digest()
    state["weights"] = [weight * 0.9 + (noise[i] - 128) / 1280 for i, weight in enumerate(state["weights"])]
    print("epoch %d/%d loss=%.6f" % (epoch, epochs, sum(weight * weight for weight in state["weights"])), flush=True)
    aside = place / "aside.tmp"
    aside.write_text(json.dumps(state))
    aside.rename(last)
    if "straight" not in sys.argv and epoch - begun == 3 and epoch < epochs:
        sys.exit(85)
"""


@pytest.fixture
def lab(tmp_path):
    made = Lab(tmp_path, settings=RELENTLESS)
    made.write("p/train.py", TRAINING)
    yield made
    made.close()


def submit(lab, endpoint, store, generation, epochs):
    """A run of that many epochs on an account of its own; its id."""
    given = account(endpoint, generation=generation, password="any")
    Accounts(lab.home).save(dataclasses.replace(given, name=generation), in_file=True)
    return lab.outlast(
        "run", "--detach", lab.folder / "p" / "train.py", "--platform", generation, "--checkpoint", "ckpt",
        "--secret", "WORD", "--store", store, "--", epochs, WORD="open sesame",
    ).stdout.split()[0]  # fmt: skip


def straight(lab, epochs):
    """The weights of a training that nobody interrupts."""
    folder = lab.folder / "straight"
    folder.mkdir()
    command = [sys.executable, lab.folder / "p" / "train.py", str(epochs), "straight"]
    subprocess.run(command, cwd=folder, check=True, timeout=150)
    return json.loads((folder / "ckpt" / "weights.json").read_text())


def check(lab, pai, view, expected):
    """The weights are those of the straight run, and the cluster has one job for each stint."""
    assert view.state == "succeeded", lab.story()
    target = lab.folder / f"home-{view.id}"
    lab.outlast("fetch", view.id, "--what", "checkpoint", "--to", target)
    (found,) = target.rglob("weights.json")
    assert json.loads(found.read_text()) == expected
    shown = pai.call(None, "GET", "/rest-server/api/v2/jobs", params={"keyword": view.id}).json()
    names = sorted(each["name"] for each in shown)
    assert len(names) == len(set(names)) and len(names) >= expected["epoch"] // 3
    assert set(names) <= {f"{view.id}_{number:04d}" for number in range(1, len(view.stint_list) + 1)}


@pytest.mark.slow
@pytest.mark.timeout(900)  # a loaded machine takes its time
def test_trainings_on_both_generations_end_with_the_weights_of_the_straight_run(trusting, seaweed, lab):
    lab.environ.update(
        AWS_ENDPOINT_URL=seaweed.endpoint, AWS_ACCESS_KEY_ID=seaweed.key, AWS_SECRET_ACCESS_KEY=seaweed.secret,
    )  # fmt: skip
    stores = {"k8s": f"s3://{seaweed.bucket()}/runs", "yarn": f"hdfs://{trusting.authority}/yarn"}
    with Faulty(trusting.url) as proxy:
        proxy.add(
            drop_after(method="POST", path="/jobs$"), drop(method="POST", path="/jobs$", skip=1),
            server_error(path="/jobs/", skip=4, times=2), answer(401, path="/jobs/", skip=9),
            too_many(path="/jobs/", skip=14), answer(404, path="/jobs/", skip=25),
        )  # fmt: skip
        runs = {each: submit(lab, proxy.url, store, each, 9) for each, store in stores.items()}
        views = [lab.wait(run, 600) for run in runs.values()]
    expected = straight(lab, 9)
    for view in views:
        check(lab, trusting, view, expected)
        log = lab.outlast("logs", view.id).stdout
        assert "with 11" in log and f"as ann~{view.id}_000" in log
        assert "open sesame" not in log
    files = trusting.hdfs(None, "GET", f"/yarn/runs/{runs['yarn']}/stints/0001", "LISTSTATUS", **{"user.name": "ann"})
    assert "parcel.json" not in files.text  # its container has taken it


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_a_long_chain_survives_whatever_the_network_does(trusting, lab):
    seed = random.SystemRandom().randrange(1 << 30)
    print("seed", seed)
    weather = random.Random(seed)
    kinds = (drop, drop_after, server_error, too_many, lambda **to: answer(401, **to), lambda **to: answer(404, **to))
    with Faulty(trusting.url) as proxy:
        # One request in four to ten; never two in a row, which would be a cluster that has shut us out.
        at = itertools.accumulate(weather.randint(4, 10) for _ in range(300))
        proxy.add(*(weather.choice(kinds)(number=number) for number in at))
        hdfs = f"hdfs://{trusting.authority}"
        runs = [submit(lab, proxy.url, f"{hdfs}/{each}", each, 36) for each in ("k8s", "yarn")]
        views = [lab.wait(run, 3000) for run in runs]
    for view, expected in zip(views, [straight(lab, 36)] * 2, strict=True):
        check(lab, trusting, view, expected)
