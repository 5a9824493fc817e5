"""Eight processes at once: nothing of theirs is lost, and of those that want the same key exactly one gets it."""

from __future__ import annotations

import hashlib
import random

import pytest

from outlast.inside.s3.store import S3Store
from outlast.inside.s3.tree import S3Tree

# SeaweedFS lets those that lose a race wait whole seconds.
pytestmark = [pytest.mark.soak, pytest.mark.timeout(900)]
WRITERS = 8


@pytest.fixture(params=["seaweed", "ceph"])
def server(request):
    return request.getfixturevalue(request.param)


def test_eight_processes_fill_one_bucket(server, start_task, tmp_path):
    seed = random.randrange(1 << 32)
    print("seed", seed)
    source = random.Random(seed)
    digests = {}
    for writer in range(WRITERS):
        folder = tmp_path / str(writer)
        folder.mkdir()
        for number in range(500):
            body = source.randbytes(source.randrange(20_000))
            (folder / f"{number} 图").write_bytes(body)
            digests[f"{writer}/{number} 图"] = "md5:" + hashlib.md5(body).hexdigest()
    bucket = server.bucket()
    tasks = [
        start_task(server.access, "send", bucket=bucket, folder=str(tmp_path / str(writer)), prefix=str(writer))
        for writer in range(WRITERS)
    ]
    assert [task.hear() for task in tasks] == [{"ended": 500, "trouble": []}] * WRITERS
    assert {item.path: item.digest for item in S3Tree(server.access, bucket).walk("")} == digests


def race(server, access, start_task, keys):
    """Let eight processes try every key at the same time; returns the winners of each."""
    bucket = server.bucket()
    tasks = [start_task(access, "claim", bucket=bucket, name=str(name)) for name in range(WRITERS)]
    assert {task.hear()["conditional"] for task in tasks} == {access.conditional is not False}
    winners = []
    for key in keys:
        for task in tasks:
            task.say(key)
        winners.append([str(name) for name, task in enumerate(tasks) if task.hear()["won"]])
    store = S3Store(access, bucket, "race")
    for key, names in zip(keys, winners, strict=True):
        assert len(names) == 1, f"{key} was won by {names}"
        assert store.get(key) == names[0].encode() * 1000
    assert sorted(entry.key for entry in store.list("")) == sorted(keys)


def test_exactly_one_of_eight_processes_gets_a_key(server, start_task):
    race(server, server.access, start_task, [f"stints/{number:04d}/claim.json" for number in range(50)])


def test_exactly_one_gets_it_where_the_server_would_not_refuse(seaweed, start_task):
    race(seaweed, seaweed.access._replace(conditional=False), start_task, ["a", "b/claim.json", "c d/数", "e"])
