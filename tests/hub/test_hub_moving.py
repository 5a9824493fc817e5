"""Renaming and forking: old names lead on until they are taken, and copies depend on nothing."""

import contextlib
import dataclasses
import os
import random
import threading
import uuid

import pytest

from outlast.hub import hub as hub_module
from outlast.hub.hub import TakenError
from outlast.model.request import RunRequest
from outlast.model.visitor import Visitor
from outlast.operations.resolve import resolve

ROOT = Visitor("root", sees_all=True)


def _new(owner="ann"):
    return f"{owner}/named-{uuid.uuid4().hex[:8]}"


def _rename(hub_lab, user, path, to):
    return hub_lab.call(user, "POST", f"/api/v1/repositories/{path}/rename", json={"to": to})


def _fork(hub_lab, user, path, to, **words):
    return hub_lab.call(user, "POST", f"/api/v1/repositories/{path}/fork", json={"to": to, **words})


def _show(hub_lab, user, path):
    return hub_lab.call(user, "GET", f"/api/v1/repositories/{path}")


def _audit(hub_lab, action):
    found = hub_lab.call("root", "GET", "/api/v1/audit").json()["items"]
    return [(each["actor"], each["target"], each["detail"]) for each in found if each["action"] == action]


def _begin(hub_lab, work, kind="model", **words):
    """A repository with a plain and an LFS file, pushed."""
    path = hub_lab.make("ann", kind, **words)
    work.begin("ann", path)
    work.git("lfs", "install", "--local", cwd="repo")
    work.git("lfs", "track", "*.bin", cwd="repo")
    weights = random.Random(path).randbytes(50_000)
    work.commit({"a.txt": "one", "w.bin": weights})
    work.git("tag", "-a", "-m", "first", "v1", cwd="repo")
    work.git("push", "--quiet", "origin", "main", "v1", cwd="repo")
    return path, weights


def test_clones_of_the_old_name_go_on(hub_lab, work):
    old, weights = _begin(hub_lab, work)
    first, second = _new(), _new()
    renamed = _rename(hub_lab, "ann", old, first)
    assert renamed.status_code == 200 and renamed.json()["path"] == first, renamed.text
    assert renamed.json()["clone_url"].endswith(f"/{first}.git")
    assert ("ann", old, {"to": first}) in _audit(hub_lab, "repository.rename")
    assert _rename(hub_lab, "ann", first, second).status_code == 200
    work.commit({"a.txt": "two", "w.bin": weights[::-1]})
    told = work.run("git", "push", "origin", "main", cwd="repo")
    assert told.returncode == 0 and f"redirecting to {hub_lab.url}/{second}.git" in told.stderr, told.stderr
    for name in (old, first, second):
        cloned = work.clone("ann", name, uuid.uuid4().hex)
        assert (cloned / "a.txt").read_text() == "two" and (cloned / "w.bin").read_bytes() == weights[::-1]
        assert _show(hub_lab, "ann", name).json()["path"] == second
    listed = [each["path"] for each in hub_lab.call("ann", "GET", "/api/v1/repositories?limit=500").json()["items"]]
    assert second in listed and old not in listed and first not in listed


def test_a_name_that_is_taken_again_leads_to_the_new_one_only(hub_lab):
    old, new = hub_lab.make("ann"), _new()
    _rename(hub_lab, "ann", old, new)
    body = {"name": old.split("/")[1], "kind": "dataset"}
    assert hub_lab.call("ann", "POST", "/api/v1/repositories", json=body).status_code == 201
    assert _show(hub_lab, "ann", old).json()["kind"] == "dataset"
    assert hub_lab.call("ann", "DELETE", f"/api/v1/repositories/{old}").status_code == 200
    assert _show(hub_lab, "ann", old).status_code == 404, "it leads nowhere after that"
    assert _show(hub_lab, "ann", new).json()["path"] == new
    other = hub_lab.make("ann")
    assert _rename(hub_lab, "ann", other, new.upper().replace("ANN/", "ann/")).status_code == 409
    assert _rename(hub_lab, "ann", other, old).status_code == 200
    assert _rename(hub_lab, "ann", old, other).status_code == 200, "and back"
    assert _show(hub_lab, "ann", old).json()["path"] == other


def test_a_removed_repository_takes_its_old_names_along(hub_lab):
    old, new = hub_lab.make("ann"), _new()
    _rename(hub_lab, "ann", old, new)
    hub_lab.call("ann", "DELETE", f"/api/v1/repositories/{new}")
    assert _show(hub_lab, "ann", old).status_code == _show(hub_lab, "ann", new).status_code == 404


def test_only_the_case_may_change(hub_lab):
    old = hub_lab.make("ann")
    loud = f"ann/{old.split('/')[1].upper()}"
    assert _rename(hub_lab, "ann", old, loud).json()["path"] == loud
    assert _show(hub_lab, "ann", old).json()["path"] == loud
    assert _rename(hub_lab, "ann", loud, old).json()["path"] == old


def test_owners_rename_and_admins_give_away(hub_lab, work):
    old, weights = _begin(hub_lab, work)
    assert _rename(hub_lab, "cas", old, _new("cas")).status_code == 404
    for to in (_new("ben"), _new("vision")):
        assert _rename(hub_lab, "ann", old, to).status_code == 403
    given = _new("vision")
    assert _rename(hub_lab, "root", old, given).json()["group"] is True
    assert _show(hub_lab, "ben", old).json()["path"] == given, "a member sees it under the old name too"
    hidden, missing = (_show(hub_lab, "cas", each) for each in (old, "ann/there-is-none"))
    assert hidden.status_code == 404 and hidden.text.replace(old, "ann/there-is-none") == missing.text
    assert "not found" in work.refused("ls-remote", hub_lab.address("cas", old))
    assert (work.clone("ben", old, "bens") / "w.bin").read_bytes() == weights
    assert _rename(hub_lab, "root", given, "nobody-there/x").status_code == 404
    assert _rename(hub_lab, "root", given, _new("cas")).json()["group"] is False
    assert _show(hub_lab, "ben", given).status_code == 404


@pytest.mark.parametrize("to", ["ann", "ann/x/y", "ann/..", "api/x", "ann/x.git", ""])
def test_what_is_no_name_is_refused(hub_lab, to):
    path = hub_lab.make("ann")
    assert _rename(hub_lab, "ann", path, to).status_code == 400
    assert _fork(hub_lab, "ann", path, to).status_code == 400
    assert _show(hub_lab, "ann", path).status_code == 200


@pytest.mark.parametrize("step", ["before", "after"])
def test_a_renaming_that_is_killed_leaves_one_whole_repository(hub_lab, monkeypatch, step):
    """Killed right before the folder moves, and right after."""
    hub = hub_module.Hub(hub_lab.hub.root, hub_lab.hub.store)
    old, new = hub_lab.make("ann"), _new("vision")
    found = hub.find(ROOT, *old.split("/"))

    move = hub_module.Path.rename

    class Killed(BaseException):
        pass

    def rename(path, target):
        if step == "after":
            move(path, target)
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(hub_module.Path, "rename", rename)
        with pytest.raises(Killed):
            hub.rename(ROOT, found, new, group=True)
    here = old if step == "before" else new
    for name in (old, *([new] if step == "after" else [])):
        seen = hub.find(ROOT, *name.split("/"))
        assert (seen.path, seen.group, seen.id) == (here, step == "after", found.id)
    again = hub.rename(ROOT, seen, _new())
    assert hub.find(ROOT, *old.split("/")).path == again.path


def test_of_many_who_take_one_name_one_gets_it(hub_lab):
    hub, name = hub_lab.hub, _new()
    made = [hub.find(ROOT, *hub_lab.make("ann").split("/")) for _ in range(8)]
    got = []

    def take(each):
        with contextlib.suppress(TakenError):
            got.append(hub.rename(ROOT, each, name))

    threads = [threading.Thread(target=take, args=(each,)) for each in made]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(got) == 1 and hub.find(ROOT, *name.split("/")).id == got[0].id
    for each in made:
        assert hub.find(ROOT, *each.path.split("/")).id == each.id


def test_runs_that_named_the_old_one_still_resolve(hub_lab, work, tmp_path):
    old = _begin(hub_lab, work)[0]
    (tmp_path / "train.py").write_text("print(1)\n")
    request = RunRequest(str(tmp_path / "train.py"), cwd=tmp_path, data=(f"w=model:{old}/w.bin@v1",))
    settings = dataclasses.replace(hub_lab.settings, user="ann")
    before = resolve(request, settings).inputs[0]
    new = _new()
    _rename(hub_lab, "ann", old, new)
    after = resolve(request, settings).inputs[0]
    assert after.source == before.source and after.asset == before.asset.replace(old, new)


def test_a_fork_has_everything_and_depends_on_nothing(hub_lab, work):
    source, weights = _begin(hub_lab, work, visibility="public", description="as it was", tags=["vision"])
    to = _new("cas")
    made = _fork(hub_lab, "cas", source, to)
    assert made.status_code == 201, made.text
    shown = _show(hub_lab, "cas", to).json()
    assert (shown["visibility"], shown["description"], shown["tags"]) == ("private", "as it was", ["vision"])
    assert shown["forked_from"] == source and shown["versions"] == _show(hub_lab, "ann", source).json()["versions"]
    assert ("cas", to, {"source": source}) in _audit(hub_lab, "repository.fork")
    folder = hub_lab.hub.bare(hub_lab.hub._read(*to.split("/"))).folder
    assert not (folder / "objects" / "info" / "alternates").exists()
    assert all(path.stat().st_nlink == 1 for path in folder.rglob("*") if path.is_file())
    work.commit({"a.txt": "later"})
    work.push()
    assert hub_lab.call("ann", "DELETE", f"/api/v1/repositories/{source}").status_code == 200
    cloned = work.clone("cas", to, "mine")
    assert (cloned / "a.txt").read_text() == "one" and (cloned / "w.bin").read_bytes() == weights
    work.git("fsck", "--full", "--strict", cwd="mine")
    assert "tag" in work.git("cat-file", "-t", "v1", cwd="mine")
    work.commit({"a.txt": "mine", "new.bin": os.urandom(5000)}, "mine")
    work.push("mine")


def test_a_private_one_is_forked_by_those_who_see_it_and_its_name_stays_hidden(hub_lab, work):
    path = hub_lab.make("ann", "project", owner="vision")
    work.begin("ann", path, files={"train.py": "print(1)"})
    work.push()
    hidden, missing = (_fork(hub_lab, "cas", each, _new("cas")) for each in (path, "vision/none"))
    assert hidden.status_code == missing.status_code == 404
    assert hidden.text.replace(path, "vision/none") == missing.text
    assert _fork(hub_lab, "vic", path, _new("vic")).status_code == 403, "a viewer makes nothing"
    to = _new("ben")
    made = _fork(hub_lab, "ben", path, to, visibility="public", description="mine")
    assert made.status_code == 201 and made.json()["description"] == "mine"
    assert path not in _show(hub_lab, "cas", to).text
    assert _fork(hub_lab, "ben", path, to).status_code == 409
    assert _fork(hub_lab, "ben", path, _new("ann")).status_code == 403


def test_an_empty_one_and_one_that_does_not_fit(hub_lab, work):
    empty = hub_lab.make("ann", visibility="public")
    to = _new("cas")
    assert _fork(hub_lab, "cas", empty, to).status_code == 201
    assert _show(hub_lab, "cas", to).json()["commit"] is None
    path = hub_lab.make("ann", visibility="public")
    work.begin("ann", path)
    work.git("lfs", "install", "--local", cwd="repo")
    work.git("lfs", "track", "*.bin", cwd="repo")
    work.commit({"w.bin": os.urandom(150_000)})
    work.push()
    to = _new("tim")
    refused = _fork(hub_lab, "tim", path, to)
    assert refused.status_code == 429 and "the group tiny uses" in refused.text
    assert not (hub_lab.hub.root / to).exists()


def test_a_fork_that_fails_leaves_no_records(hub_lab, work, monkeypatch):
    from outlast.hub.forking import fork

    source, _ = _begin(hub_lab, work)
    hub = hub_module.Hub(hub_lab.hub.root, hub_lab.hub.store)
    found = hub.find(ROOT, *source.split("/"))
    before = {entry.key for entry in hub.store.list("lfs/")}
    monkeypatch.setattr(hub._redirects, "release", lambda path: (_ for _ in ()).throw(RuntimeError("broken")))
    to = _new()
    with pytest.raises(RuntimeError):
        fork(hub, ROOT, found, to)
    assert not (hub.root / to).exists()
    assert {entry.key for entry in hub.store.list("lfs/")} == before
