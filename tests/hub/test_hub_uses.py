"""Which runs used a repository, whatever it was called then and whoever was called so before or later."""

import uuid

import pytest

from outlast.inside.records import now_text
from outlast.model.spec import CodePack

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def new(owner="ann"):
    return f"{owner}/used-{uuid.uuid4().hex[:8]}"


def train(lab, path, user="ann", kind="model", created_at=None):
    """A run of `user` that used a repository under this name; its id."""
    code = CodePack(sha256="0" * 64, size_bytes=0, files=1, asset=f"{kind}:{path}/w.bin@{COMMIT}")
    return lab.add_run(user, {}, code=code, created_at=created_at or now_text())


def uses(lab, path, user="ann", **query):
    answer = lab.call(user, "GET", f"/api/v1/repositories/{path}/runs", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def ids(lab, path, user="ann"):
    return [run["id"] for run in uses(lab, path, user)["runs"]]


def rename(lab, path, to, user="ann"):
    assert lab.call(user, "POST", f"/api/v1/repositories/{path}/rename", json={"to": to}).status_code == 200
    return to


def make(lab, path):
    owner, name = path.split("/")
    made = lab.call(owner, "POST", "/api/v1/repositories", json={"name": name, "kind": "model", "visibility": "public"})
    assert made.status_code == 201, made.text
    return path


def test_runs_are_remembered_under_every_name_that_a_repository_had(hub_lab):
    first = hub_lab.make("ann")
    runs = [train(hub_lab, first)]
    path = first
    for _ in range(3):
        path = rename(hub_lab, path, new())
        runs.append(train(hub_lab, path))
    path = rename(hub_lab, path, first)
    runs.append(train(hub_lab, path))
    late = train(hub_lab, path := rename(hub_lab, path, new()))
    page = uses(hub_lab, path)
    assert [run["id"] for run in page["runs"]] == [late, *reversed(runs)]
    assert all(run["uses"] == run["assets"] for run in page["runs"])
    cut, cursor = [], ""
    while cursor is not None:
        part = uses(hub_lab, path, limit=2, cursor=cursor)
        cut += [run["id"] for run in part["runs"]]
        cursor = part["next"]
    assert cut == [late, *reversed(runs)]


def test_a_repository_that_takes_a_name_inherits_no_runs_and_takes_none_along(hub_lab):
    name = hub_lab.make("ann")
    of_first = train(hub_lab, name)
    moved = rename(hub_lab, name, new())
    between = train(hub_lab, name)  # it had found the repository before it was renamed
    make(hub_lab, name)
    assert ids(hub_lab, name) == []
    of_second = train(hub_lab, name)
    assert ids(hub_lab, name) == [of_second] and ids(hub_lab, moved) == [between, of_first]
    aside = rename(hub_lab, name, new())
    rename(hub_lab, moved, name)
    assert ids(hub_lab, name) == [between, of_first] and ids(hub_lab, aside) == [of_second]


def test_a_removed_repository_leaves_its_runs_to_nobody(hub_lab):
    name = hub_lab.make("ann")
    train(hub_lab, name)
    moved = rename(hub_lab, name, new())
    train(hub_lab, moved)
    assert hub_lab.call("ann", "DELETE", f"/api/v1/repositories/{moved}").status_code == 200
    for path in (name, moved):
        make(hub_lab, path)
        assert ids(hub_lab, path) == []


def test_a_new_owner_sees_the_runs_that_they_may_see_and_no_old_name(hub_lab):
    name = hub_lab.make("ann", visibility="public")
    train(hub_lab, name)
    theirs = train(hub_lab, name, "cas")
    given = rename(hub_lab, name, new("cas"), "root")
    assert ids(hub_lab, given, "cas") == [theirs] and len(ids(hub_lab, given, "root")) == 2
    assert ids(hub_lab, given, "tim") == []
    assert name not in hub_lab.call("tim", "GET", f"/api/v1/repositories/{given}/runs").text


def test_names_that_lead_on_since_before_they_were_written_down_count(hub_lab):
    name = hub_lab.make("ann")
    run = train(hub_lab, name)
    moved = rename(hub_lab, name, new())
    log = hub_lab.hub.root / ".names.json"
    kept = log.read_bytes()
    try:
        log.unlink()
        assert ids(hub_lab, moved) == [run]
        log.write_text("{")
        broken = hub_lab.call("ann", "GET", f"/api/v1/repositories/{moved}/runs").json()
        assert broken["ok"] is False and "damaged" in broken["message"] and "remove that file" in broken["hint"]
    finally:
        log.write_bytes(kept)


@pytest.mark.parametrize("kind", ["dataset", "project"])
def test_another_kind_of_the_same_name_is_another_thing(hub_lab, kind):
    name = hub_lab.make("ann")
    train(hub_lab, name, kind=kind)
    assert ids(hub_lab, name) == []
